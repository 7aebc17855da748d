"""What a protected column says is what its original was: nothing contradicts, whatever the values look like."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from incrowd import Hierarchy, evaluate, protect
from incrowd.errors import InputError


def cost(values, **options):
    given = {"identifiers": [], "k": 2, **options}
    safe = protect(pa.table({"x": values}), quasi_identifiers=["x"], **given)
    return safe.table["x"].to_pylist(), safe.evaluate()


def test_text_that_reads_as_a_set_is_told_from_a_set():
    cells, found = cost(["{a,b}", "{a,b}", "a", "b", "c", "c"])
    assert cells == ['{"{a,b}"}', '{"{a,b}"}', "{a,b}", "{a,b}", "c", "c"]
    assert found.contradicting == 0
    assert found.granularity == pytest.approx(1 - 2 / 6 / 3)


def test_text_that_reads_as_a_wildcard_or_prefix():
    cells, found = cost(["*", "*", "a", "b"], method="mask", steps=[("x", "*")])
    assert cells == ["{*}", "{*}", "*", "*"]
    assert (found.contradicting, found.granularity) == (0, pytest.approx(0.5))
    cells, found = cost(["a*", "a*", "ab", "ac"], method="mask", steps=[("x", "keep=1")])
    assert cells == ["{a*}", "{a*}", "a*", "a*"]
    assert (found.contradicting, found.granularity) == (0, pytest.approx(0.5))


def test_a_column_that_did_not_change_says_itself_too():
    for values in (["*", "*", "a", "a"], ["[1;2]", "[1;2]", "a*", "a*"]):
        cells, found = cost(values)
        assert cells != values
        assert (found.contradicting, found.granularity, found.uniques) == (0, 1.0, 0)
        assert evaluate({"x": values}, {"x": values}, quasi_identifiers=["x"]).granularity == 1.0


def test_an_empty_text_is_not_a_null():
    cells, found = cost(pa.array(["", None, "", None, "a", "a"]), k=4)
    assert set(cells[:4]) <= {'{"",}', '{"",a,}'}
    assert found.contradicting == 0
    assert found.granularity < 1.0


def test_labels_of_a_hierarchy_that_are_values_too():
    ladder = Hierarchy.from_rows([("a", "b"), ("b", "c"), ("c", "c")])
    cells, found = cost(["a", "a", "b", "b", "c", "c"], method="coarsen", levels={"x": 1}, hierarchies={"x": ladder})
    assert cells == ["b", "b", "c", "c", "c", "c"]
    assert found.contradicting == 0
    assert found.granularity == pytest.approx(0.5)  # b may be a or b, c may be b or c


@pytest.mark.parametrize("method", ["partition", "generalise", "coarsen"])
@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns")])
def test_times_with_hours(method, kind):
    hours = pa.array([datetime(2020, 1, 1, 0, 30) + timedelta(hours=i) for i in range(30)]).cast(kind)
    _, found = cost(hours, method=method, k=5, **({"resolution": 2} if method == "coarsen" else {}))
    assert found.contradicting == 0
    assert found.granularity < 1.0
    assert found.uniques == 0


def test_a_date_among_times_is_that_whole_day():
    hours = pa.array([datetime(2020, 1, 1, 0, 30) + timedelta(hours=i) for i in range(6)])
    cells, found = cost(hours, method="coarsen", resolution=1)
    assert set(cells) == {"2020-01-01"}
    assert (found.contradicting, found.granularity) == (0, 0.0)


@pytest.mark.parametrize("values", [pa.array([12.5, 12.25, 13.5, 99.0]), pa.array([1, 2, 3, 4], pa.date32())])
def test_first_characters_are_of_codes_only(values):
    with pytest.raises(InputError, match="first characters"):
        cost(values, method="mask", steps=[("x", "keep=2")])
    with pytest.raises(InputError, match="first characters"):
        cost(values, method="generalise", hierarchies={"x": Hierarchy.prefixes([2])})


def test_whole_numbers_beyond_what_floats_can_tell():
    start = 2**60
    values = pa.array([start + i for i in range(8)])
    cells, found = cost(values, method="coarsen", resolution=2)
    assert cells == [f"[{start};{start + 3}]"] * 4 + [f"[{start + 4};{start + 7}]"] * 4
    assert (found.contradicting, found.granularity) == (0, pytest.approx(1 - 3 / 7))
    cells, found = cost(values, method="partition")
    assert (found.contradicting, found.uniques) == (0, 0)
    ladder = {"x": Hierarchy.intervals([4])}
    cells, _ = cost(values, method="coarsen", levels={"x": 1}, hierarchies=ladder)
    assert cells[0] == f"[{start};{start + 3}]"
