"""Tables larger than memory are measured part by part, to the same numbers."""

import datetime
import gc
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd import ClassSizes, demo_table, measure, read_table
from incrowd.backends import MemoryNeeds
from incrowd.backends.class_parts import split_by_class
from incrowd.backends.duckdb_backend import Workspace
from incrowd.backends.relational import count_in_engine
from incrowd.errors import InputError, UnsupportedError

DEMO = ["age_yrs", "sex", "race", "patcnty"]


def in_little_memory(source):
    """A table with the smallest limit, and records that weigh a megabyte: more than fifty do not fit."""
    table = read_table(source, memory="50MB")
    table.backend.needs = MemoryNeeds(record_class=10**6, class_value=10**6, split_record=10**6)
    return table


def written(tmp_path, table):
    pq.write_table(table, tmp_path / "table.parquet")
    return str(tmp_path / "table.parquet")


def test_the_facts_of_a_table_in_parts_are_those_of_the_whole(tmp_path):
    table = demo_table(600)
    table = table.append_column("seen", pa.array([datetime.date(2020, 1, 1 + row % 7) for row in range(600)]))
    sensitive = ["charge", "diag_p", "seen"]
    file = written(tmp_path, table)
    found = measure(in_little_memory(file), quasi_identifiers=DEMO, sensitive=sensitive).to_dict()
    coarse = measure(in_little_memory(file), quasi_identifiers=["adm_qtr"], sensitive=["seen"]).to_dict()
    assert found == measure(file, quasi_identifiers=DEMO, sensitive=sensitive).to_dict()
    assert coarse == measure(file, quasi_identifiers=["adm_qtr"], sensitive=["seen"]).to_dict(), (
        "crowds larger than a part"
    )
    assert coarse["sensitive"][0]["recursive_c"] is not None


def test_long_texts_are_split_by_what_they_take(tmp_path):
    rows = 80_000
    texts = pa.array([f"{number % 50_000:0400}" for number in range(rows)])
    turned = texts.take(pa.array(np.arange(rows)[::-1]))
    file = written(tmp_path, pa.table({"a": texts, "b": turned, "s": np.arange(rows) % 9}))
    little, much = read_table(file, memory="50MB"), read_table(file, memory="4GB")
    assert little.backend.way_to_compare(["a", "b"]) == "parts"
    assert much.backend.way_to_compare(["a", "b"]) == "rows"
    found, expected = (measure(one, quasi_identifiers=["a", "b"], sensitive=["s"]).to_dict() for one in (little, much))
    assert found == expected


CELLS = {
    "number": (pa.float64(), [0.0, -0.0, float("nan"), 1.5, None]),
    "text": (pa.string(), ["a", "A", "", None]),
    "day": (pa.date32(), [datetime.date(1999, 1, 1), datetime.date(2000, 1, 1), None]),
}


@pytest.mark.parametrize("seed", range(3))
def test_histories_in_parts_are_those_of_the_whole(tmp_path, seed):
    generator, rows = np.random.default_rng(seed), 120
    drawn = {
        name: pa.array([cells[place] for place in generator.integers(0, len(cells), rows)], kind)
        for name, (kind, cells) in CELLS.items()
    }
    table = pa.table({**drawn, "person": generator.integers(0, 90, rows), "ill": np.arange(rows) % 3})
    names = list(CELLS)
    parts = in_little_memory(written(tmp_path, table))
    split = split_by_class(parts.backend, names, ["ill"], "person")
    assert len(split.files) > 1
    assert sum(part.rows for part in split) == rows
    sizes = ClassSizes.from_table(parts, quasi_identifiers=names, person="person")
    found = measure(parts, quasi_identifiers=names, sensitive=["ill"], person="person").to_dict()
    assert sizes == ClassSizes.from_table(table, quasi_identifiers=names, person="person")
    assert found == measure(table, quasi_identifiers=names, sensitive=["ill"], person="person").to_dict()


def test_a_record_without_a_person_is_refused(tmp_path):
    table = pa.table({"a": [1] * 99, "person": [None, *range(98)]})
    with pytest.raises(InputError, match="no value in the person column 'person'"):
        ClassSizes.from_table(in_little_memory(written(tmp_path, table)), quasi_identifiers=["a"], person="person")


def test_a_full_disk_is_said_and_nothing_is_left(tmp_path, monkeypatch):
    table = in_little_memory(written(tmp_path, demo_table(300_000)))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(Workspace, "_close_off", lambda workspace, connection: None)  # limits can be set
    connection = table.backend.connection()
    connection.execute("SET max_temp_directory_size = '1MB'")
    connection.execute("SET memory_limit = '10MB'")
    with pytest.raises(UnsupportedError, match="memory and temporary disk space ran out; nothing was kept"):
        count_in_engine(table.backend, list(table.columns))
    del connection, table
    gc.collect()  # Python 3.13 finds the cycle of an error and its frames only then
    assert list(scratch.iterdir()) == []


def test_a_frame_that_cannot_be_split_is_refused():
    table = in_little_memory(pa.table({"a": list(range(99)), "b": list(range(99))}))
    with pytest.raises(UnsupportedError, match="write the frame to Parquet"):
        measure(table, quasi_identifiers=["a"], sensitive=["b"])
