"""Nothing of the original is released but the released cells: not in dictionaries, buffers, statistics or metadata."""

import pickle
import re
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import run
from tests.protection.planted import (
    FORMATS,
    METHODS,
    gone,
    planted,
    protected,
    raw_bytes,
    rows_of_file,
    smallest_class,
    unpacked_files,
)

from incrowd import UnsupportedError, protect
from incrowd.protection import append_release, registry, release, write_protected
from incrowd.protection.marks import waiting_of
from incrowd.protection.perturbation import STEPS
from incrowd.tables import write_table
from incrowd.tables.release_marks import mark_of

pytestmark = pytest.mark.usefixtures("no_child_processes")


def buffers_of(array):
    """All bytes that an Arrow array can reach."""
    if pa.types.is_dictionary(array.type):
        yield from buffers_of(array.dictionary)
        array = array.indices
    yield from (buffer.to_pybytes() for buffer in array.buffers() if buffer is not None)


def bytes_of(table):
    reachable = [part for column in table.columns for chunk in column.chunks for part in buffers_of(chunk)]
    return b"\n".join([*reachable, str(table.schema.metadata).encode(), table.schema.serialize().to_pybytes()])


def assert_absent(texts, raw):
    found = [text for text in texts if text in raw]
    assert not found, f"{len(found)} values that no cell holds, such as {found[0]}"


def test_every_method_is_searched_for_originals():
    assert {asked.get("method", "partition") for asked in METHODS.values()} == set(registry.PROTECTION_METHODS)


def test_every_step_is_searched_for_originals():
    steps = [action for asked in METHODS.values() for _, action in asked.get("steps", ())]
    assert {re.split("[=,]", action)[0] for action in steps} >= set(STEPS)


@pytest.mark.parametrize("name", METHODS)
def test_a_file_holds_the_values_of_its_cells_only(tmp_path, monkeypatch, name):
    unpacked_files(monkeypatch)
    table = planted(1)
    safe = protected(table, METHODS[name], warn=True)  # kept columns are reviewed once, not for each file
    missing = gone(table, safe.table)
    assert missing
    released = safe.released_quasi_identifiers or safe.quasi_identifiers
    for ending in FORMATS:
        file = write_protected(safe, tmp_path / f"safe{ending}")
        assert_absent(missing, raw_bytes(file))
        rows = rows_of_file(file)
        assert len(rows) == safe.rows
        assert {row["note"] for row in rows} == set(safe.table["note"].to_pylist())
        assert smallest_class(rows, released) >= (3 if safe.guarantee.asked_k and "person" not in METHODS[name] else 1)
        assert smallest_class(rows, released) == smallest_class(safe.table.to_pylist(), released)


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv"])
def test_a_batch_that_joins_a_file_brings_the_values_of_its_cells_only(tmp_path, monkeypatch, ending):
    unpacked_files(monkeypatch)
    first, batch = planted(1), planted(2, rows=30)
    before = write_protected(protected(first, {}), tmp_path / f"one{ending}")
    after = tmp_path / f"two{ending}"
    found = append_release(batch, before, after, widest={"age": 8}, delay=2)
    assert found.batch.released
    assert found.batch.waiting
    released = pa.Table.from_pylist(rows_of_file(after))
    raw = raw_bytes(after) + mark_of(after).read_bytes()
    assert any(text in raw_bytes(waiting_of(after)) for text in gone(batch, released))  # the search finds what is there
    for table in (first, batch):
        missing = gone(table, released)
        assert missing
        assert_absent(missing, raw)


@pytest.mark.parametrize("name", METHODS)
def test_frames_hold_the_values_of_their_cells_only(name):
    table = planted(4)
    frame = table.replace_schema_metadata(None).to_pandas()
    assert "illness-of-nobody" in frame["illness"].cat.categories
    frame.attrs["about"] = "metadata-of-the-original"
    safe = protected(table, METHODS[name])
    assert safe.table.schema.metadata is None
    assert_absent(gone(table, safe.table), bytes_of(safe.table))
    in_pandas = protected(frame, METHODS[name]).table
    assert in_pandas.attrs == {}
    for column in in_pandas.columns:
        if isinstance(in_pandas[column].dtype, pd.CategoricalDtype):
            assert set(in_pandas[column].cat.categories) == set(in_pandas[column].dropna())
    raw = bytes_of(pa.Table.from_pandas(in_pandas)) + pickle.dumps(in_pandas)
    assert_absent(gone(table, pa.Table.from_pandas(in_pandas)), raw)
    in_polars = protected(pl.DataFrame(table), METHODS[name]).table
    assert isinstance(in_polars, pl.DataFrame)
    assert_absent(gone(table, in_polars.to_arrow()), bytes_of(in_polars.to_arrow()))
    lazy = protected(pl.DataFrame(table).lazy(), METHODS[name]).table.collect()
    assert_absent(gone(table, lazy.to_arrow()), bytes_of(lazy.to_arrow()))


@pytest.mark.parametrize("name", METHODS)
def test_statistics_and_dictionary_pages_are_those_of_the_cells(tmp_path, name):
    table = planted(5)
    file = write_protected(protected(table, METHODS[name]), tmp_path / "safe.parquet")
    found = pyarrow.parquet.ParquetFile(file)
    assert set(found.metadata.metadata) == {b"ARROW:schema"}
    for place, column in enumerate(found.schema_arrow.names):
        limits = found.metadata.row_group(0).column(place).statistics
        cells = [cell for cell in found.read([column])[column].to_pylist() if cell is not None]
        assert (limits.min, limits.max) == (min(cells), max(cells)) if cells else not limits.has_min_max


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(METHODS)))
def test_no_dictionary_has_an_entry_that_no_cell_has(seed, name):
    try:
        safe = protected(planted(seed, rows=30), METHODS[name])
    except UnsupportedError:
        return
    for column in safe.table.columns:
        if pa.types.is_dictionary(column.type):
            (chunk,) = column.chunks
            assert sorted(chunk.dictionary.to_pylist()) == sorted(column.drop_null().unique().to_pylist())
    assert_absent(gone(planted(seed, rows=30), safe.table), bytes_of(safe.table))


def test_rows_outside_a_slice_and_values_under_nulls_are_not_reached():
    ages = pa.array(np.array([30, 31, 62, 64, 777_777]), mask=np.array([False, False, False, False, True]))
    under = pa.array(np.array([1, 2, 3, 888_888, 5]), mask=np.array([False, False, False, True, False]))
    table = pa.table({"age": ages, "rest": under, "text": ["a", "b", "c", "d", "outside-the-slice"]}).slice(0, 4)
    safe = protect(table, quasi_identifiers=["age"], k=2, identifiers=[])
    raw = bytes_of(safe.table)
    assert b"outside-the-slice" not in raw
    assert all(np.int64(number).tobytes() not in raw for number in (777_777, 888_888))
    assert safe.table["rest"].to_pylist() == [1, 2, 3, None]


def test_nested_columns_are_rebuilt_without_dictionaries():
    entries = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 1], pa.int32()), ["a", "b", "of-nobody"])
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4], pa.int32()), entries)
    parts = pa.StructArray.from_arrays([entries], fields=[pa.field("x", entries.type, metadata={"of": "of-nobody"})])
    table = pa.table({"age": [30, 31, 62, 64], "lists": lists, "parts": parts})
    kept = {"identifiers": [], "other": ["lists", "parts"]}
    safe = protect(table, quasi_identifiers=["age"], k=2, **kept).table
    assert safe["lists"].to_pylist() == [["a"], ["a"], ["b"], ["b"]]
    assert safe["parts"].to_pylist() == [{"x": "a"}, {"x": "a"}, {"x": "b"}, {"x": "b"}]
    assert b"of-nobody" not in bytes_of(safe)


def test_a_zero_has_no_sign_and_a_dictionary_no_entry_twice(tmp_path):
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 2, 2, 2], pa.int8()), ["a", "a", "b"])
    table = pa.table(
        {"height": [0.0, -0.0, 0.0, 1.5, 1.5, 1.5], "town": twice, "rest": [0.0, -0.0, 1.0, 2.0, 3.0, 4.0]}
    )
    safe = protect(table, quasi_identifiers=["height", "town"], k=3, identifiers=[])
    assert [str(number) for number in safe.table["height"].to_pylist()] == ["0.0"] * 3 + ["1.5"] * 3
    assert str(safe.table["rest"][1].as_py()) == "0.0"
    assert safe.table["town"].chunk(0).dictionary.to_pylist() == ["a", "b"]
    file = write_protected(safe, tmp_path / "safe.csv")
    lines = file.read_text().splitlines()[1:]
    assert sorted({line.rsplit(",", 1)[0] for line in lines}) == ['0,"a"', '1.5,"b"']


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *((kind, wrong) for kind in ("parquet", "feather") for wrong in ("an entry too many", "metadata", "field")),
        ("feather", "an entry twice"),  # Parquet's writer joins those
    ],
)
def test_a_file_that_holds_more_than_its_cells_is_not_left(tmp_path, kind, wrong):
    table = pa.table({"age": [30, 31, 62, 64], "town": pa.array(["a", "a", "b", "b"]).dictionary_encode()})
    safe = protect(table, quasi_identifiers=["age"], k=2, identifiers=[])
    entries = ["a", "b", "of-nobody"] if wrong == "an entry too many" else ["a", "b", "b"]
    codes = pa.array([0, 0, 1, 1] if wrong == "an entry too many" else [0, 0, 1, 2], pa.int32())
    spoiled = safe.table.set_column(1, "town", pa.DictionaryArray.from_arrays(codes, entries))
    if wrong == "metadata":
        spoiled = safe.table.replace_schema_metadata({"pandas": "{}"})
    elif wrong == "field":
        spoiled = safe.table.set_column(
            1, pa.field("town", safe.table["town"].type, metadata={"of": "x"}), safe.table[1]
        )
    file = tmp_path / f"safe.{kind}"
    with pytest.raises(UnsupportedError, match=r"differs from its cells|metadata"):
        write_protected(replace(safe, table=spoiled), file)
    assert list(tmp_path.iterdir()) == []


def test_the_check_of_a_file_finds_an_entry_that_no_cell_has(tmp_path):
    """A file that `write_table` makes of a dictionary with an unused entry is refused: the check can fail."""
    table = pa.table({"town": pa.array(["a", "b", "secret"]).dictionary_encode()}).slice(0, 2)
    file = write_table(table, tmp_path / "plain.parquet")
    with pytest.raises(UnsupportedError, match="differs from its cells"):
        release.check_metadata(file)


def people(rows=400):
    draw = np.random.default_rng(7)
    who = [f"id{code:04}" for code in draw.permutation(rows // 2).repeat(2)]
    return pa.table({"who": who, "age": draw.integers(20, 90, rows), "note": [f"n{row}" for row in range(rows)]})


def test_pseudonyms_cannot_be_drawn_again_from_what_is_printed(capsys, tmp_path):
    table = people()
    file = write_table(table, tmp_path / "people.parquet")
    out = tmp_path / "safe.parquet"
    asked = ["protect", file, "--qi", "age", "--k", 4, "--person", "who", "--identifier", "none", "--out", out]
    code, shown, told = run(capsys, *asked, "--json")
    assert code == 0, told
    ids = np.array(sorted(set(table["who"].to_pylist())))
    safe = pyarrow.parquet.read_table(out)
    truth = dict(zip(table["note"].to_pylist(), table["who"].to_pylist(), strict=True))
    owner = {row["who"]: truth[row["note"]] for row in safe.to_pylist()}
    pseudonyms = np.array(list(owner))
    assert len(set(owner.values())) == len(owner) == ids.size
    # whoever knows all ids and every number that is printed draws the same numbers, ranks or orders by chance only
    numbers = {0, 1, ids.size, len(safe), *map(int, re.findall(r"\d+", shown + told))}
    for seed in numbers:
        draws = np.random.default_rng(seed)
        guesses = draws.permutation(ids.size) + 1
        assert not set(guesses.tolist()) & set(pseudonyms.tolist())
        by_rank = dict(zip(np.sort(pseudonyms).tolist(), ids[np.argsort(guesses)].tolist(), strict=True))
        assert sum(owner[number] == name for number, name in by_rank.items()) < 10
    for order in (np.sort(pseudonyms), pseudonyms):
        assert sum(owner[number] == name for number, name in zip(order.tolist(), ids.tolist(), strict=True)) < 10
    assert not any(str(number) in shown + told for number in pseudonyms.tolist())
    again = tmp_path / "again.parquet"
    assert run(capsys, *asked[:-1], again)[0] == 0
    assert set(pyarrow.parquet.read_table(again)["who"].to_pylist()).isdisjoint(pseudonyms.tolist())


def test_pseudonyms_are_as_many_as_people_and_fit_a_spreadsheet():
    safe = protect(people(), quasi_identifiers=["age"], k=4, person="who", warn=False).table
    assert pc.max(safe["who"]).as_py() < 2**53
    assert len(safe["who"].unique()) == 200
    ranks = np.argsort(np.argsort(safe["who"].to_numpy()))
    assert abs(np.corrcoef(ranks, np.arange(400))[0, 1]) < 0.35


def test_a_release_is_encoded_once_for_all_that_is_counted_on_it(monkeypatch):
    encoding, encoded = sys.modules["incrowd.backends.encode"], Counter()

    def encode_column(name, column, scale=None, inner=encoding.encode_column):
        encoded[name, column.type] += 1
        return inner(name, column, scale)

    monkeypatch.setattr(encoding, "encode_column", encode_column)
    ages = np.arange(600) // 10
    protect({"age": ages, "born": 2000 - ages, "sex": ["f", "m"] * 300}, quasi_identifiers=["age", "sex"], k=20)
    assert {name for name, _ in encoded} == {"age", "born", "sex"}
    assert all(times <= 2 for times in encoded.values())  # in the original, and where it is the same in the release
