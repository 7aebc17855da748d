"""The one reader of labels: what each released label covers, against meanings that are known by construction."""

import time
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.tables.labels import read_labels


def covered(label, values, **options):
    """The values that one label covers."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    labels = label if isinstance(label, pa.Array) else pa.array([label], None if label is not None else pa.string())
    cover = read_labels(labels, array, **options)
    if cover.unread.size:
        return "unread"
    return [array.to_pylist()[place] for place in cover.values_of(0)]


AGES = [9, 17, 18, 20, 29, 30, 84, 85, 86]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[18;30]", [18, 20, 29, 30]),
        ("[18;30)", [18, 20, 29]),
        ("(18;30]", [20, 29, 30]),
        ("(18, 30]", [20, 29, 30]),  # cut() of R and pandas
        ("[20, 30[", [20, 29]),  # ARX
        ("[20.0, 30.0)", [20, 29]),
        ("[18-30]", [18, 20, 29, 30]),
        ("18-30", [18, 20, 29, 30]),
        ("18 to 30", [18, 20, 29, 30]),
        ("(64,Inf]", [84, 85, 86]),
        ("[-Inf,18)", [9, 17]),
        ("[85;*]", [85, 86]),
        ("[*;18]", [9, 17, 18]),
        ("≥ 85", [85, 86]),
        (">=85", [85, 86]),
        (">85", [86]),
        ("<18", [9, 17]),
        ("≤18", [9, 17, 18]),
        ("85+", [85, 86]),
        ("{18,20}", [18, 20]),
        ("{18, 20}", [18, 20]),
        ("{9,[84;86]}", [9, 84, 85, 86]),
        ("2*", [20, 29]),
        ("*", AGES),
        ("***", AGES),
        ("30", [30]),
        ("30.0", [30]),
        ("3e1", [30]),
        ("30.5", []),
        ("[29.5;30.5]", [30]),
        ("[31;83]", []),
        ("adult", "unread"),
        ("[30;18]", "unread"),
        ("{18,adult}", "unread"),
        ("[a;b]", "unread"),
        ("", "unread"),
    ],
)
def test_labels_of_numbers(label, expected):
    assert covered(label, AGES) == expected
    if label != "{9,[84;86]}":
        assert covered(label, pa.array(AGES, pa.float64())) == expected
        assert covered(label, pa.array(AGES, pa.decimal128(9, 2))) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[-12;-1]", [-12, -5]),
        ("[-5--2]", [-5]),
        ("-1*", [-12]),
        ("-**", [-12]),
        ("-*", [-5]),
        ("'-1*", [-12]),  # with the apostrophe that keeps spreadsheets from running it
    ],
)
def test_labels_of_negative_numbers(label, expected):
    assert covered(label, [-123, -12, -5, 0, 3]) == expected


def test_large_whole_numbers_are_told_apart():
    for start in (2**53, 2**63 - 4, 2**64 - 6, -(2**63)):
        values = pa.array([start + step for step in range(6)], pa.uint64() if start > 2**62 else pa.int64())
        cover = read_labels(pa.array([f"[{start + 1};{start + 2}]", str(start + 3)]), values)
        assert [cover.values_of(label).tolist() for label in (0, 1)] == [[1, 2], [3]]
        assert cover.high[0] - cover.low[0] == 1


def test_decimals_are_compared_by_their_digits():
    values = pa.array([Decimal("12345678901234567890.11"), Decimal("12345678901234567890.12")])
    assert covered("[12345678901234567890.12;2e25]", values) == [Decimal("12345678901234567890.12")]
    assert covered("12345678901234567890.110", values) == [Decimal("12345678901234567890.11")]


def test_numbers_that_a_file_of_doubles_rounded():
    values = pa.array([2**53, 2**53 + 1, 2**53 + 5])
    assert covered(pa.array([float(2**53)]), values) == [2**53, 2**53 + 1]
    assert covered(pa.array([0.1], pa.float32()), pa.array([0.1, 0.25])) == [0.1]
    assert covered(pa.array([0.1]), pa.array([0.1, 0.25], pa.float32())) == pa.array([0.1], pa.float32()).to_pylist()


def test_a_number_that_never_ends_is_read_at_once():
    started = time.process_time()
    for label in ("1e999999999", "1e-999999999", "9" * 1_000_000, "[1e999999999;2]", "-" * 100_000, "[" * 100_000):
        assert covered(label, [1, 2]) in ("unread", [])
    assert time.process_time() - started < 2


DAYS = [date(2019, 12, 31), date(2020, 1, 1), date(2020, 1, 31), date(2020, 2, 1)]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("[2020-01-01;2020-01-31]", DAYS[1:3]),
        ("[2020-01-01, 2020-01-31[", DAYS[1:2]),
        ("2020-01-01", DAYS[1:2]),
        ("2020-01-01 00:00:00", DAYS[1:2]),  # as spreadsheets write a day
        ("01.01.2020", DAYS[1:2]),
        ("2020/01/31", DAYS[2:3]),
        ("[01.01.2020;31.01.2020]", DAYS[1:3]),
        ("2020-01", DAYS[1:3]),
        ("2019", DAYS[:1]),
        ("2019-2020", DAYS),
        ("<2020-01-01", DAYS[:1]),
        ("[*;2020-01-01]", DAYS[:2]),
        ("{2020-01-01,2020-02-01}", [DAYS[1], DAYS[3]]),
        ("2020-13", "unread"),
        ("2020-02-30", "unread"),
        ("43831", "unread"),  # days of Excel, R and SAS differ
    ],
)
def test_labels_of_dates(label, expected):
    assert covered(label, DAYS) == expected
    moments = pa.array([datetime(day.year, day.month, day.day) for day in DAYS])
    got = covered(label, moments)
    assert got if isinstance(got, str) else [moment.date() for moment in got] == expected


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_labels_of_moments(unit, zone):
    start = datetime(2020, 1, 1, 10, tzinfo=None if zone is None else UTC)
    values = pa.array([start + timedelta(minutes=30 * step) for step in range(30)], pa.timestamp(unit, zone))
    whole = values.to_pylist()
    assert covered("[2020-01-01 10:30:00;2020-01-01 11:00:00]", values) == whole[1:3]
    assert covered("[2020-01-01 10:30:00.000000Z;2020-01-01 11:00:00.000000Z]", values) == whole[1:3]
    assert covered("[2020-01-01T12:30:00+02:00;2020-01-01T13:00:00+0200]", values) == whole[1:3]
    assert covered("2020-01-01", values) == whole[:28]
    assert covered("[2020-01-02;2020-01-03]", values) == whole[28:]
    assert covered(values.slice(4, 1), values) == whole[4:5]
    assert covered(values.slice(4, 1).cast(pa.timestamp("us", "UTC")), values) == whole[4:5]
    assert covered("[0001-01-01;9999-12-31]", values) == whole
    assert covered("2020-01-01 25:00", values) == "unread"


def test_labels_of_times():
    values = pa.array([clock(9, 59, 59), clock(10), clock(10, 0, 30), clock(12)])
    assert covered("[10:00;11:30:00]", values) == [clock(10), clock(10, 0, 30)]
    assert covered("10:00:00.000000", values) == [clock(10)]
    assert covered("10:00", values) == [clock(10), clock(10, 0, 30)]
    assert covered(pa.array([clock(12)], pa.time32("s")), values) == [clock(12)]


@pytest.mark.parametrize(
    ("label", "values", "expected"),
    [
        ("{a, b}", ["a", "b", "c"], ["a", "b"]),
        ('{"a,b",c}', ["a,b", "a", "b", "c"], ["a,b", "c"]),
        ('{"x ""y""",{z}}', ['x "y"', "{z}", "z"], ['x "y"', "{z}"]),
        ("{a,}", ["a", None, ""], ["a", None]),
        ('{a,""}', ["a", None, ""], ["a", ""]),
        ("12*", ["12", "123", "1234", "223"], ["123"]),
        ("12**", ["12", "123", "1234", "223"], ["1234"]),
        ("12***", ["12", "123", "1234", "223"], ["12", "123", "1234"]),  # not one star for each character
        ("9*", ["12"], "unread"),
        ("Europe", ["Rome", "Oslo"], "unread"),
        ("{Rome,Europe}", ["Rome", "Oslo"], "unread"),
        ("b", ["a", "b"], ["b"]),
        ("'=b", ["=b", "b"], ["=b"]),
        (" b", [" b", "b"], [" b"]),
        ("b", [" b", "b"], [" b", "b"]),  # some files drop blanks
        ("\u2028b", ["\u2028b", "a"], ["\u2028b"]),
        ("\nb", ["\nb", "a"], ["\nb"]),
        ("20-29", ["20-29", "30-39"], ["20-29"]),
        ("[20;29]", ["19", "20", "20.5", "029", "x"], ["20", "20.5", "029"]),
        ("30.0", ["30", "31"], ["30"]),
        ("7", ["7", "07"], ["7"]),
        ("12", ["1201", "1202"], "unread"),
        ("[2020-01-01;2020-01-31]", ["2020-01-15", "2020-02-15"], ["2020-01-15"]),
        ('{"a": 1}', ['{"a": 1}', "b"], ['{"a": 1}']),
        ("*", ["*", "a"], ["*", "a"]),
        ("{*}", ["*", "a"], ["*"]),
        ("a*", ["a*", "ab", "abc"], ["a*", "ab"]),
    ],
)
def test_labels_of_texts(label, values, expected):
    assert covered(label, values) == expected


def test_a_label_that_looks_like_a_value_means_a_set_where_such_values_are_escaped():
    values = pa.array(["{a,b}", "a", "b", "*"])
    assert read_labels(pa.array(["{a,b}"]), values).counts.tolist() == [3]
    cover = read_labels(pa.array(["{a,b}", '{"{a,b}"}', "{*}"]), values)
    assert [cover.values_of(label).tolist() for label in range(3)] == [[1, 2], [0], [3]]


def test_missing_cells():
    labels = pa.array([None], pa.string())
    assert covered(labels, ["a", None]) == [None]
    assert covered(labels, ["a", "b"]) == ["a", "b"]
    assert covered(labels, ["a", None], missing_hides=True) == ["a", None]
    assert covered(labels, ["a", "b"], missing_hides=False) == []
    assert covered(pa.nulls(1), [1, None]) == [None]
    assert covered(pa.array([float("nan")]), pa.array([1.0, float("nan")]))[0] is not None
    assert covered("*", [1, None]) == [1, None]
    assert covered("[0;9]", [1, None]) == [1]


def test_truth_values_of_files_without_them():
    for label in ("true", "TRUE", "True", "T", "1"):
        assert covered(label, [True, False]) == [True]
    assert covered(pa.array([True]), ["TRUE", "FALSE"]) == ["TRUE"]
    assert covered(pa.array([False]), [0, 1]) == [0]
    assert covered(pa.array([1.0]), [True, False]) == [True]
    assert covered("{true,false}", [True, False, None]) == [True, False]
    assert covered("yes", [True, False]) == "unread"


def test_codes_and_their_labels_stand_for_each_other():
    known = {1.0: "male", 2.0: "female"}
    assert covered("2", ["female", "male"], value_labels=known) == ["female"]
    assert covered(pa.array([2.0]), ["female", "male"], value_labels=known) == ["female"]
    assert covered("{male,female}", [1, 2, 3], value_labels=known) == [1, 2]
    assert covered("3", ["female", "male"], value_labels=known) == "unread"


def test_names_of_a_hierarchy():
    values = ["Rome", "Oslo", "Lima"]
    named = {"Europe": [0, 1], "Rome": [0]}
    assert covered("Europe", values, named=named) == ["Rome", "Oslo"]
    assert covered("Asia", values, named=named) == "unread"
    cover = read_labels(pa.array(["young", "[20;30]"]), pa.array([5, 10, 25]), named={"young": [1, 0]})
    assert (cover.low.tolist(), cover.high.tolist()) == ([5, 20], [10, 30])


def test_coarser_codes_of_a_known_system():
    values = ["J45.9", "J45", "I21"]
    assert covered("J45", values, name="diagnosis") == ["J45.9", "J45"]
    assert covered("J00-J99", values, name="diagnosis") == ["J45.9", "J45"]
    assert covered("J00-J99", values) == "unread"


def test_bounds_are_on_the_scale_of_positions():
    labels = pa.array(["[20;30)", "[85;*]", "*", "{5,9}", "20"])
    cover = read_labels(labels, pa.array([5, 9, 20, 29, None]))
    np.testing.assert_array_equal(cover.positions, [5, 9, 20, 29, np.nan])
    np.testing.assert_array_equal(cover.low, [20, 85, np.nan, 5, 20])
    np.testing.assert_array_equal(cover.high, [29, np.inf, np.nan, 9, 20])
    assert cover.hides_all.tolist() == [False, False, True, False, False]
    cover = read_labels(labels, pa.array([5.5, 29.9]))
    assert (cover.high[0], cover.excludes_high[0], cover.excludes_low[0]) == (30, True, False)
    days = read_labels(pa.array(["[2020-01-01;2020-01-31]"]), pa.array(DAYS))
    assert (days.high - days.low, days.positions[0]) == (30, 18_261)


numbers = st.integers(-30, 30)


@st.composite
def meant_labels(draw):
    """A label of numbers as text, and the numbers from -40 to 40 by quarters that it covers."""
    low, high = sorted((draw(numbers), draw(numbers)))
    kind = draw(st.sampled_from(["plain", "range", "set", "any", "open"]))
    if kind == "plain":
        return draw(st.sampled_from([str(low), f"{low}.0", f"{low}e0"])), lambda x: x == low
    if kind == "range":
        opening, closing = draw(st.sampled_from("[(")), draw(st.sampled_from("])"))
        mark = draw(st.sampled_from([";", "; ", ","]))
        return (
            f"{opening}{low}{mark}{high}{closing}",
            lambda x: (low < x if opening == "(" else low <= x) and (x < high if closing == ")" else x <= high),
        )
    if kind == "set":
        members = draw(st.lists(st.integers(low, high) | st.none(), min_size=1, max_size=4))
        return "{" + ",".join("" if one is None else str(one) for one in members) + "}", lambda x: x in members
    if kind == "any":
        return "*" * draw(st.integers(1, 3)), lambda x: True
    sign, compare = draw(
        st.sampled_from([("≥", lambda x: x >= low), (">", lambda x: x > low), ("<", lambda x: x < low)])
    )
    return f"{sign}{low}", lambda x: x is not None and compare(x)


TYPES = {
    "int64": pa.int64(), "uint64": pa.uint64(), "float64": pa.float64(), "float32": pa.float32(),
    "decimal": pa.decimal128(12, 2), "wide decimal": pa.decimal256(50, 30), "string": pa.string(),
}  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*TYPES]), st.lists(meant_labels(), min_size=1, max_size=6), st.data())
def test_numbers_are_covered_as_brute_force_says(type_name, labels, data):
    kind = TYPES[type_name]
    quarters = [Fraction(n, 4) for n in range(-160, 161)]
    if "int" in type_name:
        quarters = [x for x in quarters if x.denominator == 1 and (x >= 0 or kind == pa.int64())]
    chosen = data.draw(st.lists(st.sampled_from(quarters), min_size=1, max_size=9, unique=True))
    cells = [Decimal(x.numerator) / x.denominator for x in chosen]
    if "dec" not in type_name:
        cells = [int(x) if "int" in type_name else float(x) for x in chosen]
    if type_name == "string":
        cells = [str(cell) for cell in cells]
    values, truth = pa.array([*cells, None], kind), [*chosen, None]
    labels = list(dict(labels).items())
    cover = read_labels(pa.array([text for text, _ in labels]), values)
    covers = cover.matrix().toarray()
    for label, (text, meaning) in enumerate(labels):
        expected = [False if x is None and text[0] in "[(" else bool(meaning(x)) for x in truth]
        if cover.is_unread[label]:
            assert type_name == "string"
            assert not any(expected[:-1])
            continue
        assert covers[label].tolist() == expected, text
        assert cover.pairs(label, np.arange(len(truth))).tolist() == expected
        assert cover.values_of(label).tolist() == np.flatnonzero(expected).tolist()
        assert cover.counts[label] == sum(expected)
        for value, position in enumerate(cover.positions[:-1]):
            if expected[value] and not cover.hides_all[label]:
                assert cover.low[label] <= position <= cover.high[label]
    for value in range(len(truth)):
        assert cover.labels_of(value).tolist() == np.flatnonzero(covers[:, value]).tolist()


words = st.text(st.sampled_from("ab,{}[];\"* \t\n\u2028\u00a0'=-1"), max_size=5)


@settings(max_examples=150, deadline=None)
@given(st.lists(words, min_size=1, max_size=8, unique=True), st.data())
def test_sets_of_texts_cover_their_members_whatever_these_look_like(texts, data):
    from incrowd.protection.recoding import format_set
    from incrowd.tables.released_values import as_written, quote_members

    members = [data.draw(st.sets(st.integers(0, len(texts) - 1), min_size=2)) for _ in range(3 * (len(texts) > 1))]
    quoted = quote_members(pa.array(texts)).to_pylist()
    labels = [*as_written(pa.array(texts)).to_pylist(), *(format_set([quoted[at] for at in one]) for one in members)]
    distinct = pa.array(labels).unique()
    cover = read_labels(distinct, pa.array(texts))
    assert not cover.unread.size
    place = {label: number for number, label in enumerate(distinct.to_pylist())}
    for at, label in enumerate(labels[: len(texts)]):
        assert at in cover.values_of(place[label])
    for label, one in zip(labels[len(texts) :], members, strict=True):
        assert one <= {*cover.values_of(place[label]).tolist()}


def test_many_labels_are_read_quickly_and_in_little_memory():
    size = 50_000
    numbers = np.arange(size)
    low = np.random.default_rng(0).integers(0, size, size)
    labels = pa.array([f"[{a};{a + 20_000}]" for a in low.tolist()]).unique()
    for values in (pa.array(numbers), pa.array(numbers * 1.5), pa.array(numbers).cast(pa.decimal128(30, 3))):
        started = time.process_time()
        cover = read_labels(labels, values)
        assert cover.run_start.size <= size
        assert time.process_time() - started < 2  # measured: 0.2 seconds
    sets = pa.array([f"{{w{a},w{a + 1},w{a + 2}}}" for a in range(size)])
    started = time.process_time()
    cover = read_labels(sets, pa.array([f"w{a}" for a in range(size + 2)]))
    assert cover.counts.tolist() == [3] * size
    assert time.process_time() - started < 2
