"""What protected columns are written as: values of their own type that a plain recount finds, and a codebook."""

import datetime
import json
import statistics
from collections import Counter
from decimal import Decimal
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import examples

from incrowd import Hierarchy, InputError, evaluate
from incrowd import protect as protect_and_shuffle
from incrowd.attacks import attack
from incrowd.protection import OUTPUTS, make_codebook, parse_range, write_protected
from incrowd.tables import read_table

protect = partial(protect_and_shuffle, shuffle=False)  # rows are compared by position

QIS = ["age", "born", "pay", "town"]
ROW = st.tuples(
    st.one_of(st.none(), st.integers(18, 40)),
    st.dates(datetime.date(2000, 1, 1), datetime.date(2000, 3, 1)),
    st.integers(0, 400).map(lambda cents: cents / 4),
    st.sampled_from(["Ham", "York", "{x}", "*", "Oslo"]),
)


def table_of(rows):
    age, born, pay, town = zip(*rows, strict=True)
    return pa.table({"age": pa.array(age, pa.int16()), "born": born, "pay": pay, "town": town})


def has_ages(rows):
    return any(row[0] is not None for row in rows)


TABLES = st.lists(ROW, min_size=9, max_size=40).filter(has_ages).map(table_of)


def rounded(value):
    """Whole numbers are rounded, halves to the even one."""
    return round(value)


def expected(kind, name, label, members):
    """The cells of one class by the plainest reading: `label` is its range as text, `members` its original values."""
    if kind == "mode":
        counts = Counter(members)
        most = max(counts.values())
        return min((value for value in counts if counts[value] == most), key=lambda value: (value is None, value))
    if None in members:
        return None
    if kind == "mean" and name == "born":
        return statistics.fmean(value.toordinal() for value in members)
    if kind == "mean":
        return rounded(statistics.fmean(members)) if name == "age" else pytest.approx(statistics.fmean(members))
    low, high = parse_range(str(label))
    if name == "born":
        return (low.toordinal() + high.toordinal()) / 2 if kind == "midpoint" else (low, high)
    middle = (low + high) / 2
    return (low, high) if kind == "bounds" else rounded(middle) if name == "age" else middle


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.integers(2, 4), st.sampled_from(["bounds", "midpoint", "mean", "mode"]))
def test_cells_are_what_a_plain_recount_finds(table, k, kind):
    options = {"quasi_identifiers": QIS, "k": k, "identifiers": [], "warn": False}
    ranges = protect(table, **options).table.to_pylist()
    safe = protect(table, output=kind, **options)
    after, before = safe.table.to_pylist(), table.to_pylist()
    classes = Counter(tuple(row[name] for name in safe.released_quasi_identifiers) for row in after)
    assert min(classes.values()) >= k
    assert safe.guarantee.k == min(classes.values())
    for name in ("age", "pay", "born"):
        for row, cells in zip(ranges, after, strict=True):
            alike = [at for at, other in enumerate(ranges) if all(other[qi] == row[qi] for qi in QIS)]
            wanted = expected(kind, name, row[name], [before[at][name] for at in alike])
            found = (cells[f"{name}_low"], cells[f"{name}_high"]) if kind == "bounds" else cells[name]
            if name == "born" and kind in ("midpoint", "mean"):
                assert abs(found.toordinal() - wanted) <= 0.5 + 1e-9  # rounded to a day
            elif kind == "bounds" and wanted is None:
                assert found == (None, None)
            else:
                assert found == wanted
    types = {name: safe.table.schema.field(name).type for name in safe.released_quasi_identifiers}
    for name in ("age", "born", "pay"):
        for released in (f"{name}_low", f"{name}_high") if kind == "bounds" else (name,):
            assert types[released] == table.schema.field(name).type


@settings(max_examples=examples(30), deadline=None)
@given(TABLES, st.integers(2, 4))
def test_text_comes_out_as_its_commonest_value(table, k):
    options = {"quasi_identifiers": QIS, "k": k, "identifiers": [], "warn": False}
    ranges = protect(table, **options).table.to_pylist()
    after = protect(table, output={"town": "mode"}, **options).table.to_pylist()
    before = table.to_pylist()
    for row, cells in zip(ranges, after, strict=True):
        alike = [before[at]["town"] for at, other in enumerate(ranges) if all(other[qi] == row[qi] for qi in QIS)]
        mode = expected("mode", "town", None, alike)
        assert cells["town"] in (mode, "{" + mode + "}", '{"' + mode + '"}')


def test_labels_of_a_hierarchy_as_numbers_and_as_what_they_cover():
    ages = {"age": [23, 24, 61, 63], "zip": [93722, 93711, 93611, 93612]}
    rows = [(str(age), "young" if age < 50 else "old") for age in ages["age"]]
    options = {"quasi_identifiers": ["age", "zip"], "k": 2, "identifiers": []}
    options["hierarchies"] = {"age": Hierarchy.from_rows(rows), "zip": "prefix:3"}

    def column(name, kind):
        table = protect(ages, output={name: kind}, **options).table
        return [table[one].to_pylist() for one in table.column_names if one.startswith(name)]

    assert column("age", "label") == [["young", "young", "old", "old"]]
    assert column("age", "range") == [["[23;24]", "[23;24]", "[61;63]", "[61;63]"]]
    assert column("age", "bounds") == [[23, 23, 61, 61], [24, 24, 63, 63]]
    assert column("zip", "bounds") == [[93700, 93700, 93600, 93600], [93799, 93799, 93699, 93699]]
    assert column("age", "midpoint") == [[24, 24, 62, 62]]
    towns = {"town": ["Ham", "York", "Oslo", "Bern"]}
    tree = Hierarchy.from_rows([("Ham", "a"), ("York", "a"), ("Oslo", "b"), ("Bern", "b")])
    safe = protect(towns, quasi_identifiers=["town"], k=2, output="range", hierarchies={"town": tree}, identifiers=[])
    assert safe.table["town"].to_pylist() == ["{Ham,York}", "{Ham,York}", "{Bern,Oslo}", "{Bern,Oslo}"]


@pytest.mark.parametrize("notation", ["[{}-{}]", "({},{}]", "[{};{}]"])
def test_ranges_in_a_users_notation_have_limits_and_open_ones_keep_their_open_end(notation):
    young, old = notation.format(18, 25), notation.format(30, 40)
    ages = {"age": [18, 20, 25, 30, 33, 40, 90, 91, 92, 3, 4, 5]}
    labels = [young] * 3 + [old] * 3 + ["[85;*]"] * 3 + ["[*;17]"] * 3
    tree = Hierarchy.from_rows([(str(age), label) for age, label in zip(ages["age"], labels, strict=True)])
    options = {"quasi_identifiers": ["age"], "k": 3, "identifiers": [], "hierarchies": {"age": tree}}
    tables = {kind: protect(ages, output=kind, **options).table for kind in ("range", "bounds", "midpoint")}
    ranges = ["[18;25]", "[30;40]", "[85;*]", "[*;17]"]
    assert tables["range"]["age"].to_pylist() == [text for text in ranges for _ in range(3)]
    assert tables["bounds"]["age_low"].to_pylist()[::3] == [18, 30, 85, None]
    assert tables["bounds"]["age_high"].to_pylist()[::3] == [25, 40, None, 17]
    assert tables["midpoint"]["age"].to_pylist()[::3] == [22, 35, None, None]


@pytest.mark.parametrize(
    ("values", "middle"),
    [
        (pa.array([2**60, 2**60 + 2], pa.int64()), 2**60 + 1),
        (pa.array([Decimal("1.10"), Decimal("1.30")]), Decimal("1.20")),
        (
            pa.array([datetime.datetime(2020, 1, 1, 6), datetime.datetime(2020, 1, 1, 8)], pa.timestamp("us")),
            datetime.datetime(2020, 1, 1, 7),
        ),
        (
            pa.array([datetime.datetime(2020, 1, 1, 6), datetime.datetime(2020, 1, 1, 8)], pa.timestamp("s", "UTC")),
            datetime.datetime(2020, 1, 1, 7, tzinfo=datetime.UTC),
        ),
        (pa.array([1.0, 2.0], pa.float32()), 1.5),
        (pa.array([datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)], pa.date64()), datetime.date(2020, 1, 2)),
        (
            pa.array([datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 4)], pa.timestamp("us")),
            datetime.datetime(2020, 1, 3),  # times without hours stay days: halves go to the even one since 1970
        ),
    ],
)
@pytest.mark.parametrize("kind", ["midpoint", "mean"])
def test_every_type_of_number_survives(values, middle, kind):
    safe = protect(pa.table({"x": values}), quasi_identifiers=["x"], k=2, output=kind, identifiers=[])
    expected = (
        pa.date32() if values.type == pa.date64() else values.type
    )  # days are read as days, however they are stored
    assert safe.table["x"].type == expected
    assert safe.table["x"].to_pylist() == [middle, middle]


def test_written_files_keep_numbers_and_are_counted_again(tmp_path):
    table = {"age": [23, 25, 24, 61, 64, 62], "town": ["Ham", "York", "Ham", "Oslo", "Oslo", "Oslo"]}
    safe = protect(table, quasi_identifiers=["age", "town"], k=3, output={"age": "bounds"}, identifiers=[])
    for name in ("safe.csv", "safe.parquet"):
        written = read_table(write_protected(safe, tmp_path / name)).to_arrow()
        assert written["age_low"].to_pylist() == [23, 23, 23, 61, 61, 61]
        assert written["age_high"].to_pylist() == [25, 25, 25, 64, 64, 64]
    assert safe.evaluate().granularity < 1  # detail is that of the ranges, not of the two columns


@settings(max_examples=examples(12))
@given(TABLES, st.integers(2, 4))
def test_limits_are_evaluated_and_attacked_as_the_ranges_that_they_are(table, k):
    asked = {"quasi_identifiers": QIS, "k": k, "identifiers": []}
    safe = protect(table, **asked).table
    ranges = evaluate(table, safe, quasi_identifiers=QIS)
    limits = protect(table, **asked, output="bounds").table
    found = evaluate(table, limits, quasi_identifiers=QIS)
    assert (found.uniques, found.contradicting) == (0, 0)
    if table["age"].null_count:  # limits of a null and of anything are both missing: such classes look alike
        assert found.k >= ranges.k
        assert found.granularity <= ranges.granularity
        return
    assert found == ranges
    assert attack(table, limits, kind="linkage", known=QIS) == attack(table, safe, kind="linkage", known=QIS)


def test_columns_of_the_original_that_are_named_like_limits_are_no_limits():
    table = {"pain": [3, 4, 5, 6] * 5, "pain_low": [1, 1, 2, 2] * 5, "pain_high": [8, 8, 9, 9] * 5}
    released = {name: cells for name, cells in table.items() if name != "pain"}
    known = ["pain_low", "pain_high"]
    assert evaluate(table, released, quasi_identifiers=known).k == 10
    assert attack(table, released, kind="linkage", known=known).attack.value == pytest.approx(0.1)


def test_an_evaluation_of_a_protected_table_explains_an_outcome():
    table = {"age": [20, 21, 40, 41, 60, 61] * 5, "pay": [10.0, 12, 31, 28, 55, 51] * 5}
    safe = protect(table, quasi_identifiers=["age"], k=10, identifiers=[])
    utility = safe.evaluate(outcome="pay").utility
    assert utility == evaluate(table, safe.table, quasi_identifiers=["age"], outcome="pay").utility
    assert utility.coefficients


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": {"zip": "mean"}}, "an output for 'zip', not a quasi-identifier"),
        ({"output": {"age": "median"}}, "there is no output 'median'"),
        ({"output": {"town": "mean"}}, "holds categories"),
        ({"output": {"age": "mean"}, "nominal": ["age"]}, "holds categories"),
        ({"output": {"age": "label"}}, "has no hierarchy"),
        ({"output": {"age": "mean"}, "method": "coarsen", "resolution": 2}, "promises no class of k"),
        ({"output": {"age": "bounds"}}, "need the name 'age_low'"),
    ],
)
def test_outputs_that_make_no_sense_are_refused(options, message):
    table = {"age": [1, 2, 3, 4], "town": ["a", "b", "a", "b"], "age_low": [0, 0, 0, 0]}
    with pytest.raises(InputError, match=message):
        protect(table, quasi_identifiers=["age", "town"], k=2, **options)


def test_ranges_are_parsed_back():
    assert parse_range("[2.5;3]") == (2.5, 3)
    assert parse_range("2020-02-29") == (datetime.date(2020, 2, 29),) * 2
    assert parse_range(None) == (None, None)
    with pytest.raises(InputError, match="neither a range"):
        parse_range("{a,b}")


@settings(max_examples=examples(20), deadline=None)
@given(TABLES, st.sampled_from([None, *OUTPUTS]))
def test_a_codebook_names_columns_and_holds_no_cell(table, kind):
    table = table.set_column(3, "town", pa.array([f"secret {town}" for town in table["town"].to_pylist()]))
    safe = protect(table, quasi_identifiers=QIS, k=2, output=kind, identifiers=[], warn=False)
    book = make_codebook(safe)
    assert [one.name for one in book.variables] == safe.table.column_names
    assert {one.role for one in book.variables} == {"quasi-identifier"}
    for text in (book.to_markdown(), json.dumps(book.to_ddi())):
        assert "secret " not in text
        assert "2000-" not in text


def test_a_codebook_says_what_was_done(tmp_path):
    table = {"who": [1, 1, 2, 2], "age": [30, 31, 30, 31], "ill": ["a", "b", "a", "b"]}
    safe = protect(table, quasi_identifiers=["age"], k=2, person="who", sensitive=["ill"])
    roles = {one.name: (one.role, one.treatment) for one in make_codebook(safe).variables}
    assert roles["who"][1].startswith("replaced by random numbers")
    assert roles["age"] == ("quasi-identifier", "as in the original")
    assert roles["ill"] == ("sensitive", "as in the original")
    written = json.loads(make_codebook(safe).write(tmp_path / "book.json").read_text())
    assert written["codeBook"]["fileDscr"]["fileTxt"]["dimensns"] == {"caseQnty": 4, "varQnty": 3}
    with pytest.raises(InputError, match=r"\.json or \.md"):
        make_codebook(safe).write(tmp_path / "book.txt")


def test_a_codebook_tells_analysts_how_to_correct_for_what_is_written():
    ages = list(range(20, 60))
    table = {"age": ages, "pay": [100 * age for age in ages], "sex": ["f", "m"] * 20}
    options = {"quasi_identifiers": ["age", "pay", "sex"], "k": 4, "identifiers": [], "warn": False}
    safe = protect(table, **options, output={"age": "mean", "pay": "bounds"}, shuffle=True)
    text = make_codebook(safe).to_markdown()
    assert "Records are in random order." in text
    assert "- age: totals and means are kept, but for rounding; variances are too small" in text
    assert "- pay_low: treat the value as interval-censored between the two columns." in text
    plain = make_codebook(protect(table, **options, keep=["sex"], shuffle=False))
    assert {one.name: bool(one.correction) for one in plain.variables} == {"age": True, "pay": True, "sex": False}
    assert "random order" not in plain.to_markdown()
