"""Hierarchies from files, rules and data, and the search for the best levels."""

import csv
import datetime
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import examples

from incrowd import Hierarchy, InputError
from incrowd import protect as protect_and_shuffle
from incrowd.backends import Coded, encode
from incrowd.protection import generalise, lattice
from incrowd.tables import read_table

protect = partial(protect_and_shuffle, shuffle=False)  # rows are compared by position


def column(values):
    (found,) = encode(read_table({"x": values}), ["x"])
    return found


def labels(hierarchy, values, level):
    found = hierarchy.levels(column(values))[level]
    by_value = dict(zip(column(values).values.to_pylist(), (found.labels[g] for g in found.groups), strict=True))
    return [by_value[value] for value in values]


def test_arx_files(tmp_path):
    (tmp_path / "sex.csv").write_text("m;person;*\nf;person;*\n")
    hierarchy = Hierarchy.from_csv(tmp_path / "sex.csv")
    assert labels(hierarchy, ["m", "f", None], 1) == ["person", "person", None]
    assert labels(hierarchy, ["m", "f", None], 2) == ["*", "*", "*"]
    with pytest.raises(InputError, match="cannot be read"):
        Hierarchy.from_csv(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_text("m;person;*\nf;person\n")
    with pytest.raises(InputError, match="same number of labels"):
        Hierarchy.from_csv(tmp_path / "bad.csv")
    crossed = Hierarchy.from_rows([("a", "x", "1"), ("b", "x", "2")])
    with pytest.raises(InputError, match="splits a group"):
        crossed.levels(column(["a", "b"]))


def test_rules():
    assert labels(Hierarchy.intervals([5, 10]), [23, 4, 31], 1) == ["[20;24]", "[0;4]", "[30;34]"]
    assert labels(Hierarchy.intervals([5, 10]), [23, 4, 31], 2) == ["[20;29]", "[0;9]", "[30;39]"]
    assert labels(Hierarchy.intervals([0.5]), [0.2, 0.7], 1) == ["[0;0.5)", "[0.5;1]"]
    assert labels(Hierarchy.prefixes([3]), ["93722", "93611"], 1) == ["937**", "936**"]
    assert labels(Hierarchy.prefixes([3]), [93722, 93611], 1) == ["937**", "936**"]
    day = [datetime.date(2020, 2, 29), datetime.date(2021, 12, 31)]
    assert labels(Hierarchy.dates(), day, 1) == ["[2020-02-01;2020-02-29]", "[2021-12-01;2021-12-31]"]
    assert labels(Hierarchy.dates(), day, 3) == ["[2020-01-01;2020-12-31]", "[2021-01-01;2021-12-31]"]


def test_automatic_hierarchies_fit_the_data():
    assert labels(Hierarchy.automatic(), ["93722", "93611", *(f"940{i:02}" for i in range(12))], 2)[:2] == [
        "937**",
        "936**",
    ]
    towns = ["a"] * 9 + ["b"] * 5 + ["c", "d", "e"]
    assert labels(Hierarchy.automatic(), towns, 1)[-3:] == ["{c,d,e}"] * 3
    assert labels(Hierarchy.automatic(), towns, 1)[0] == "a"


@settings(max_examples=examples(30))
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=6, max_size=25),
    st.integers(2, 4),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([0, generalise.MOST_LISTED]),
)
def test_the_search_finds_the_best_levels_there_are(rows, k, limit, listed):
    """Whether combinations of levels are listed, or too many for that."""
    table = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    ladders = {name: Hierarchy.intervals([2, 4]) for name in table}
    with pytest.MonkeyPatch.context() as patch:
        for module in (generalise, lattice):
            patch.setattr(module, "MOST_LISTED", listed)
        asked = {"k": k, "method": "generalise", "hierarchies": ladders, "suppress": limit}
        safe = protect(table, quasi_identifiers=["a", "b"], **asked)
    levels = {name: ladders[name].levels(column(table[name])) for name in table}

    def cost(chosen):
        groups = {
            name: dict(zip(column(table[name]).values.to_pylist(), levels[name][level].groups.tolist(), strict=True))
            for name, level in zip(table, chosen, strict=True)
        }
        keys = [(groups["a"][a], groups["b"][b]) for a, b in rows]
        small = sum(keys.count(key) < k for key in keys)
        lost = 0.0
        for index, name in enumerate(table):
            domain = sorted(set(table[name]))
            for row in rows:
                covered = sum(groups[name][v] == groups[name][row[index]] for v in domain)
                lost += (covered - 1) / max(len(domain) - 1, 1) / len(rows) / 2
        return lost + small / len(rows) * (1 - lost) if small <= limit * len(rows) and small < len(rows) else None

    costs = {c: cost(c) for c in product(*(range(len(levels[name])) for name in table))}
    best = min(value for value in costs.values() if value is not None)
    found = costs[tuple(safe.settings["levels"][name] for name in table)]
    assert found == pytest.approx(best)


def test_levels_of_a_coarsening():
    table = {"zip": ["93722", "93611", "93611"]}
    options = {"hierarchies": {"zip": Hierarchy.prefixes([3])}, "method": "coarsen"}
    safe = protect(table, quasi_identifiers=["zip"], levels={"zip": 1}, **options)
    assert safe.table["zip"].to_pylist() == ["937**", "936**", "936**"]
    with pytest.raises(InputError, match="levels 0 to 2"):
        protect(table, quasi_identifiers=["zip"], levels={"zip": 3}, **options)


def test_adult_with_arx_hierarchies(shared_data):
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    adult = pq.read_table(shared_data / "adult.parquet")
    adult = adult.filter(pc.equal(adult["split"], "train")).drop_null()
    names = ["age", "sex", "race", "education"]
    files = {name: shared_data / "adult_hierarchies" / f"{name}.csv" for name in names}
    safe = protect(adult, quasi_identifiers=names, k=5, method="generalise", hierarchies=files, suppress=0.05)
    found = safe.evaluate()
    assert found.k >= 5
    assert found.uniques == 0
    assert safe.suppressed_rows <= 0.05 * adult.num_rows


def test_hierarchies_from_a_short_text(tmp_path):
    ages = list(range(18, 60))
    assert labels(Hierarchy.parse("10,5"), ages, 1)[0] == "[15;19]"
    assert labels(Hierarchy.parse("10,5"), ages, 2)[0] == "[10;19]"
    assert labels(Hierarchy.parse("prefix:1,3"), ["93722", "93611"], 1) == ["937**", "936**"]
    (tmp_path / "5").write_text("m;person\nf;person\n")
    assert labels(Hierarchy.parse(tmp_path / "5"), ["m", "f"], 1) == ["person", "person"]
    for wrong in ("prefix:x", "quantiles:0", "prefix:2.5", "prefix:inf", "quantiles:nan"):
        with pytest.raises(InputError, match="whole numbers of 1 or more"):
            Hierarchy.parse(wrong)
    for wrong in ("5,-1", "0", "nan", "5,inf"):
        with pytest.raises(InputError, match="every width must be above 0 and finite: 5,10,20"):
            Hierarchy.parse(wrong)
    for wrong in ("month", ""):
        with pytest.raises(
            InputError, match="cannot be read: No such file or directory; what is no file is a rule: 5,10"
        ):
            Hierarchy.parse(wrong)


@settings(max_examples=examples(50))
@given(
    st.lists(st.one_of(st.none(), st.integers(-20, 40)), min_size=4, max_size=60).filter(any),
    st.lists(st.integers(-25, 45), min_size=1, max_size=6, unique=True),
)
def test_cut_points_begin_ranges_that_end_at_values_of_the_column(values, points):
    kept = sorted(points)[::2]
    rule = Hierarchy.parse(f"cuts:{','.join(map(str, points))}/{','.join(map(str, kept))}")
    filled = sorted({value for value in values if value is not None})
    for level, cuts in ((1, points), (2, kept)):
        if level >= len(rule.levels(column(values))) - 1:
            continue  # all values are together already
        for value, label in zip(values, labels(rule, values, level), strict=True):
            if value is None:
                assert label is None
                continue
            together = [one for one in filled if sum(cut <= one for cut in cuts) == sum(cut <= value for cut in cuts)]
            low = together[0] if together[0] != filled[0] else "*"  # the extremes of the column are told nowhere
            high = together[-1] if together[-1] != filled[-1] else "*"
            assert label == (str(low) if low == high else f"[{low};{high}]")


def test_cut_points_of_days_and_what_is_no_cut_point():
    born = [datetime.date(*day) for day in ((1970, 5, 1), (1979, 12, 31), (1980, 1, 1), (2001, 2, 3))]
    found = labels(Hierarchy.parse("cuts:1980-01-01"), born, 1)
    assert found == ["[1970-01-01;1979-12-31]"] * 2 + ["[1980-01-01;2009-12-31]"] * 2  # decades hide the extremes
    for wrong in ("cuts:", "cuts:a", "cuts:1,,2", "cuts:inf", "cuts:1980-13-01"):
        with pytest.raises(InputError, match="no cut points"):
            Hierarchy.parse(wrong)
    with pytest.raises(InputError, match="must be days"):
        Hierarchy.parse("cuts:1980").levels(column(born))
    with pytest.raises(InputError, match="must be numbers"):
        Hierarchy.parse("cuts:1980-01-01").levels(column([1, 2]))
    with pytest.raises(InputError, match="which is text"):
        Hierarchy.parse("cuts:5").levels(column(["a", "b"]))
    with pytest.raises(InputError, match="splits a group"):
        Hierarchy.parse("cuts:5/7").levels(column([4, 6, 8]))


@settings(max_examples=examples(50))
@given(st.lists(st.one_of(st.none(), st.integers(0, 40)), min_size=4, max_size=60), st.integers(2, 12))
def test_quantiles_are_ranges_of_about_equally_many(values, groups):
    if all(value is None for value in values):
        return
    filled = [value for value in values if value is not None]
    commonest = max(filled.count(value) for value in filled)
    named = labels(Hierarchy.quantiles(groups), values, 1)
    for label in {label for label in named if label is not None} - {"*"}:
        inside = [value for value, other in zip(values, named, strict=True) if other == label]
        assert len(inside) < len(filled) / groups + commonest + 1
        low, high = label.strip("[]").split(";") if label.startswith("[") else (label, label)
        assert low == ("*" if min(inside) == min(filled) else str(min(inside)))  # the extremes are told nowhere
        assert high == ("*" if max(inside) == max(filled) else str(max(inside)))
    assert all(label == "*" or (label is None) == (value is None) for label, value in zip(named, values, strict=True))


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (list(range(17, 91)), "[15;19]"),
        ([100.0 * i for i in range(1000)], "[0;1000)"),
        ([i / 1000 for i in range(1000)], "[0;0.01)"),
        ([0.3, 0.31, 0.9], "[0.3;0.31)"),
    ],
)
def test_automatic_ranges_of_numbers_have_round_limits(values, first):
    assert labels(Hierarchy.automatic(), values, 1)[0] == first


def test_intervals_end_where_the_calendar_does():
    days = [datetime.date(2020, 1, 1)] * 5 + [datetime.date(9999, 12, 31)] * 5 + [datetime.date(1, 1, 1)] * 5
    assert labels(Hierarchy.dates(), days, 1)[5] == "[9999-12-01;9999-12-31]"
    assert labels(Hierarchy.dates(), days, 4)[5::5] == ["[9990-01-01;9999-12-31]", "[0001-01-01;0009-12-31]"]
    assert labels(Hierarchy.intervals([1000]), days, 1)[5::5] == ["[9997-07-18;9999-12-31]", "[0001-01-01;0001-06-11]"]
    for method in ("generalise", "partition"):
        safe = protect(
            {"day": days}, quasi_identifiers=["day"], k=6, method=method, identifiers=[], hierarchies={"day": "dates"}
        )
        assert safe.guarantee.k >= 6


def test_narrow_intervals_over_a_wide_domain_are_numbered_where_values_are():
    values = [0.0, 0.5, 1e6]
    assert labels(Hierarchy.intervals([1e-7]), values, 1) == [
        "[0;1e-07)",
        "[0.5;0.5000001)",
        "[1000000;1000000.0000001]",
    ]
    assert labels(Hierarchy.intervals([0.5]), [0, 5, 10**13, 10**13 + 1], 1)[2:] == [str(10**13), str(10**13 + 1)]
    for width in (1e-11, 1e-300):
        with pytest.raises(InputError, match="too narrow for the numbers of 'x'"):
            Hierarchy.intervals([width]).levels(column(values))
    with pytest.raises(InputError, match="width inf"):
        Hierarchy.intervals([float("inf")]).levels(column(values))
    table = {"pay": [0.0, 0.0, 1e6, 1e6]}
    safe = protect(table, quasi_identifiers=["pay"], k=2, method="generalise", widest={"pay": 1e-7}, identifiers=[])
    assert safe.guarantee.k == 2


def test_a_file_with_a_huge_cell_is_refused_without_the_cell(tmp_path):
    (tmp_path / "town.csv").write_text("York;North\n" + "secret" * 30_000 + ";South\n")
    before = csv.field_size_limit(131_072)  # readers of tables raise it for the whole process
    try:
        with pytest.raises(InputError, match=r"town\.csv cannot be read") as refused:
            Hierarchy.from_csv(tmp_path / "town.csv")
    finally:
        csv.field_size_limit(before)
    assert "secret" not in str(refused.value)


def test_edges_between_decimals_are_written_short_and_hold_their_values():
    values = [round(0.07 + 0.04 * step, 2) for step in range(100)]
    safe = protect({"x": values}, quasi_identifiers=["x"], k=2, method="coarsen", resolution=10, identifiers=[])
    labels = safe.table["x"].to_pylist()
    assert max(map(len, labels)) <= len("[0.47;0.87)") + 4
    for label, value in zip(labels, values, strict=True):
        low, high = map(float, label[1:-1].split(";"))
        assert low <= value < high or (value == high and label.endswith("]"))


@pytest.mark.parametrize(
    "values", [[datetime.date(1, 1, 1), datetime.date(9999, 12, 31)], [-1e308, 1e308], [-0.5, 2.5, 1.7e308]]
)
def test_intervals_that_no_float_holds_are_refused(values):
    with pytest.raises(InputError, match="too wide"):
        Hierarchy.parse("1.2e308").levels(column(values))


def test_limits_of_huge_numbers_are_written_as_short_as_the_numbers():
    found = Hierarchy.parse("1e301").levels(column([-3e300, 0.0, 3e300]))[1]
    assert found.labels == ["[-1e+301;0)", "[0;1e+301]"]


def test_a_value_with_two_parents_is_refused(tmp_path):
    file = tmp_path / "towns.csv"
    file.write_text("Ham;south\nHam;north\nYork;north\n")
    with pytest.raises(
        InputError, match=r"towns\.csv lists 1 value twice, with different labels; keep one line of each"
    ):
        Hierarchy.from_csv(file)
    file.write_text("Ham;south\nHam ; south\nYork;north\n")
    safe = protect({"town": ["Ham", "York"]}, quasi_identifiers=["town"], k=2, hierarchies={"town": file})
    assert safe.table["town"].to_pylist() == ["*", "*"]


@pytest.mark.parametrize("near", [1, 4, 10_000])
def test_combinations_of_levels_come_by_their_loss_and_each_once(monkeypatch, near):
    costs = [[0.0, 0.1, 0.4], [0.0, 0.25], [0.0, 0.1, 0.15, 0.6]]
    by_heap, listed = [], []
    for most, found in ((0, by_heap), (100, listed)):
        monkeypatch.setattr(lattice, "MOST_LISTED", most)
        monkeypatch.setattr(lattice, "_NEAR", near)
        found += lattice.ascending_nodes(costs)
    assert [loss for loss, _ in listed] == sorted(loss for loss, _ in by_heap)
    assert {node: loss for loss, node in listed} == {node: loss for loss, node in by_heap}
    assert {node for _, node in listed} == {*product(range(3), range(2), range(4))}
    assert len(listed) == 24


def test_combinations_of_levels_that_are_ruled_out_meanwhile_are_left_out(monkeypatch):
    monkeypatch.setattr(lattice, "_BLOCK", 1)
    ruled_out, found = np.zeros((3, 4), dtype=np.bool_), []
    for _, node in lattice.ascending_nodes([[0.0, 0.1, 0.4], [0.0, 0.01, 0.02, 0.6]], ruled_out):
        found.append(node)
        ruled_out[:2] = True
    assert found == [(0, 0), (2, 0), (2, 1), (2, 2), (2, 3)]


@pytest.mark.parametrize("method", ["partition", "generalise", "mask"])
@pytest.mark.parametrize("kind", [None, "range", "bounds", "midpoint"])
@pytest.mark.parametrize("has_hours", [False, True])
def test_the_largest_and_the_smallest_value_are_told_in_no_way(method, kind, has_hours):
    pay = [7, *range(100, 140), 9_999]
    rules = {"pay": "quantiles:4", "born": "quantiles:2"}
    asked = {"hierarchies": rules, "suppress": 0.1}
    if method == "mask":  # a row in another town is dropped, so that labels are made anew
        asked = {"steps": [(name, Hierarchy.parse(rule)) for name, rule in rules.items()]}
    born = [datetime.date(1931, 5, 7), *(datetime.date(1970, 1, day // 2 + 1) for day in range(40)), datetime.date.max]
    if has_hours:
        last = datetime.datetime(2024, 7, 8, 9, 10)
        born = [*(datetime.datetime.combine(day, datetime.time(3, 4)) for day in born[:-1]), last]
    towns = ["Ham"] * 42 + ["York" if method == "mask" else "Ham"]
    table = {"pay": [*pay, 120], "born": [*born, born[7]], "town": towns}
    safe = protect(table, quasi_identifiers=["pay", "born", "town"], **asked, k=5, method=method, output=kind)
    assert method != "mask" or {0, 41} < {*safe.kept_rows.tolist()} < {*range(42)}
    cells = {str(cell) for row in safe.table.to_pylist() for cell in row.values()}
    assert not any(told in cell for cell in cells for told in ("[7;", ";9999]", "1931-05-07", "2024-07-08"))
    assert cells.isdisjoint({"7", "9999", "1931-05-07"})
    assert safe.evaluate().k >= 5
    assert safe.evaluate().contradicting == 0


def test_a_column_without_values_has_no_quantiles():
    column = Coded("pay", np.zeros(3, dtype=np.uint32), pa.nulls(1, pa.int64()))
    assert [level.labels for level in Hierarchy.quantiles(2).levels(column)] == [[None], [None], ["*"]]
