"""Records written by an engine: all of them, of one state of the table, or nothing."""

import gc
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd import ClassSizes, read_table
from incrowd.backends import class_size_writer
from incrowd.backends.duckdb_backend import Workspace
from incrowd.backends.relational import count_in_engine
from incrowd.classes import write_class_sizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations import write_record_risk

BEFORE = pa.table({"town": ["a", "a", "b", "c"]})
AFTER = pa.table({"town": ["a"] * 7 + ["b"]})


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(BEFORE, path)
    return path


def changes_before_writing(monkeypatch, path, rows, *, noticed=True):
    """Replace the file after it was counted; without `noticed`, as where a change cannot be seen."""
    joined = class_size_writer._with_class_sizes

    def replaced(backend, names):
        pq.write_table(rows, path)
        if not noticed:
            monkeypatch.setattr(type(backend), "check_unchanged", lambda backend: None)
        return joined(backend, names)

    monkeypatch.setattr(class_size_writer, "_with_class_sizes", replaced)


def write(verb, table, out):
    options = {"population": 100} if verb is write_record_risk else {}
    verb(table, out, quasi_identifiers=["town"], **options)


@pytest.mark.parametrize("verb", [write_record_risk, write_class_sizes])
@pytest.mark.parametrize("noticed", [True, False])
def test_a_file_that_changed_after_it_was_counted_is_not_written(people, tmp_path, monkeypatch, verb, noticed):
    changes_before_writing(monkeypatch, people, AFTER, noticed=noticed)
    with pytest.raises(InputError, match="changed while it was read"):
        write(verb, read_table(people), tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def test_other_classes_in_as_many_records_are_not_written(people, tmp_path, monkeypatch):
    changes_before_writing(monkeypatch, people, pa.table({"town": ["a", "a", "b", "b"]}), noticed=False)
    with pytest.raises(InputError, match="their classes differ"):
        write(write_record_risk, read_table(people), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("verb", [write_record_risk, write_class_sizes])
def test_a_table_that_stays_is_written_whole(people, tmp_path, verb):
    write(verb, read_table(people), tmp_path / "out.parquet")
    found = read_table(tmp_path / "out.parquet").to_arrow()
    assert sorted(found["class_size"].to_pylist()) == [1, 1, 2, 2]
    assert ClassSizes.from_table(found, quasi_identifiers=["town"]).histogram() == {1: 2, 2: 1}


def test_a_disk_that_is_full_stops_the_count_and_leaves_nothing(tmp_path, monkeypatch):
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spilled))
    numbers = np.arange(1_500_000)
    pq.write_table(pa.table({"a": numbers * 7919 % 1_500_007, "b": numbers}), tmp_path / "wide.parquet")
    table = read_table(tmp_path / "wide.parquet", memory="50MB")
    monkeypatch.setattr(Workspace, "_close_off", lambda workspace, connection: None)  # a limit can be set
    table.backend.connection().execute("SET max_temp_directory_size = '1MB'")
    with pytest.raises(UnsupportedError, match="temporary disk space ran out; nothing was kept"):
        count_in_engine(table.backend, ["a", "b"])
    with pytest.raises(UnsupportedError, match="temporary disk space ran out; nothing was kept"):
        write_class_sizes(table, tmp_path / "out.parquet", quasi_identifiers=["a", "b"])
    del table
    gc.collect()
    assert list(spilled.iterdir()) == []
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["spilled", "wide.parquet"]
