"""Tables of many columns: what is done once a table is not done once a column, and what once a column not twice."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd import protect, read_table
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.protection import write_protected
from incrowd.tables.roles import column_facts

QIS = ["age", "sex"]


def write_wide(file, columns, rows=12):
    draw = np.random.default_rng(3)
    cells = {"age": draw.integers(20, 60, rows), "sex": draw.integers(0, 2, rows)}
    for number in range(columns):
        numbers = draw.integers(0, 4, rows)
        cells[f"q{number}"] = numbers if number % 2 else np.array(["yes", "no", "often", "never"])[numbers]
    pq.write_table(pa.table(cells), file)
    return file


def operations(folder, columns, monkeypatch):
    """How often types are asked for, files are opened and a column is looked at, to protect and write a table."""
    done = Counter()

    def count(patches, place, name):
        inner = getattr(place, name)

        def outer(*given, **named):
            done[name] += 1
            return inner(*given, **named)

        patches.setattr(place, name, outer)

    file = write_wide(folder / f"{columns}.parquet", columns)
    with monkeypatch.context() as patches:
        count(patches, FileBackend, "types")
        count(patches, pq, "ParquetFile")
        count(patches, column_facts, "_look")
        safe = protect(read_table(file), quasi_identifiers=QIS, k=3)
        write_protected(safe, folder / f"{columns} safe.parquet")
    return done


def test_four_times_the_columns_take_four_times_the_work_at_most(tmp_path, monkeypatch):
    few, many = operations(tmp_path, 10, monkeypatch), operations(tmp_path, 40, monkeypatch)
    assert few["types"] == many["types"] > 0
    assert few["ParquetFile"] == many["ParquetFile"] > 0
    assert (few["_look"], many["_look"]) == (10 + len(QIS), 40 + len(QIS))  # of the release, the ranges alone


@pytest.mark.parametrize("columns", [1, 600])
def test_all_columns_of_a_short_file_are_read_with_one_look_at_its_footer(tmp_path, monkeypatch, columns):
    file, opened = write_wide(tmp_path / "wide.parquet", columns), []
    inner = pq.ParquetFile
    monkeypatch.setattr(pq, "ParquetFile", lambda *given, **named: opened.append(given) or inner(*given, **named))
    table = read_table(file)
    table.to_arrow()
    assert len(opened) == 1
