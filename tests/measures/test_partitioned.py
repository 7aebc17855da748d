"""Tables larger than memory are measured part by part, to the same numbers."""

import datetime
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd import ClassSizes, demo_table, measure, read_table
from incrowd.backends import count_in_engine, split_by_class
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import class_values

DEMO = ["age_yrs", "sex", "race", "patcnty"]


@pytest.fixture
def small_memory(monkeypatch):
    """The smallest limit, and records that weigh a megabyte: more than fifty do not fit."""
    monkeypatch.setattr("incrowd.classes._BYTES_A_RECORD", 10**6)
    monkeypatch.setattr(class_values, "_BYTES_A_PAIR", 10**6)
    monkeypatch.setattr("incrowd.backends.disk_parts._BYTES_A_RECORD", 10**6)
    return "50MB"


def written(tmp_path, table):
    pq.write_table(table, tmp_path / "table.parquet")
    return str(tmp_path / "table.parquet")


def test_the_facts_of_a_table_in_parts_are_those_of_the_whole(tmp_path, monkeypatch, small_memory):
    table = demo_table(600)
    table = table.append_column("seen", pa.array([datetime.date(2020, 1, 1 + row % 7) for row in range(600)]))
    sensitive = ["charge", "diag_p", "seen"]
    file = written(tmp_path, table)
    found = measure(read_table(file, memory=small_memory), quasi_identifiers=DEMO, sensitive=sensitive).to_dict()
    coarse = measure(read_table(file, memory=small_memory), quasi_identifiers=["adm_qtr"], sensitive=["seen"]).to_dict()
    monkeypatch.undo()
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
    assert class_values.exceeds_memory(little, ["a", "b"])
    assert not class_values.exceeds_memory(much, ["a", "b"])
    found, expected = (measure(one, quasi_identifiers=["a", "b"], sensitive=["s"]).to_dict() for one in (little, much))
    assert found == expected


CELLS = {
    "number": (pa.float64(), [0.0, -0.0, float("nan"), 1.5, None]),
    "text": (pa.string(), ["a", "A", "", None]),
    "day": (pa.date32(), [datetime.date(1999, 1, 1), datetime.date(2000, 1, 1), None]),
}


@pytest.mark.parametrize("seed", range(3))
def test_histories_in_parts_are_those_of_the_whole(tmp_path, monkeypatch, small_memory, seed):
    generator, rows = np.random.default_rng(seed), 120
    drawn = {
        name: pa.array([cells[place] for place in generator.integers(0, len(cells), rows)], kind)
        for name, (kind, cells) in CELLS.items()
    }
    table = pa.table({**drawn, "person": generator.integers(0, 90, rows), "ill": np.arange(rows) % 3})
    names = list(CELLS)
    parts = read_table(written(tmp_path, table), memory=small_memory)
    split = split_by_class(parts, names, ["ill"], "person")
    assert len(split.files) > 1
    assert sum(part.rows for part in split) == rows
    sizes = ClassSizes.from_table(parts, quasi_identifiers=names, person="person")
    found = measure(parts, quasi_identifiers=names, sensitive=["ill"], person="person").to_dict()
    monkeypatch.undo()
    assert sizes == ClassSizes.from_table(table, quasi_identifiers=names, person="person")
    assert found == measure(table, quasi_identifiers=names, sensitive=["ill"], person="person").to_dict()


def test_a_record_without_a_person_is_refused(tmp_path, small_memory):
    table = pa.table({"a": [1] * 99, "person": [None, *range(98)]})
    with pytest.raises(InputError, match="no value in the person column 'person'"):
        ClassSizes.from_table(
            read_table(written(tmp_path, table), memory=small_memory), quasi_identifiers=["a"], person="person"
        )


def test_a_full_disk_is_said_and_nothing_is_left(tmp_path, monkeypatch, small_memory):
    table = read_table(written(tmp_path, demo_table(300_000)), memory=small_memory)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    connection = table._reader._connection()
    connection.execute("SET max_temp_directory_size = '1MB'")
    connection.execute("SET memory_limit = '10MB'")
    with pytest.raises(UnsupportedError, match="memory and temporary disk space ran out; nothing was kept"):
        count_in_engine(table, list(table.columns))
    del connection, table
    assert list(scratch.iterdir()) == []


def test_a_frame_that_cannot_be_split_is_refused(small_memory):
    table = read_table(pa.table({"a": list(range(99)), "b": list(range(99))}), memory=small_memory)
    with pytest.raises(UnsupportedError, match="write the frame to Parquet"):
        measure(table, quasi_identifiers=["a"], sensitive=["b"])
