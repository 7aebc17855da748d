"""k-map: whoever is looked up in the population fits at least so many of its people."""

import datetime as dt
from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import run
from tests.protection.plain import covers, examples, rows_of

from incrowd import InputError, UnsupportedError, protect, read_table
from incrowd.backends import encode
from incrowd.protection import Hierarchy, k_map, write_protected
from incrowd.protection.k_map import PopulationTable, RandomSample, edges_of_classes, read_population
from incrowd.protection.marks import read_log
from incrowd.protection.problem import Demand, Problem
from incrowd.protection.recoding import Grouping

ROW = st.tuples(st.integers(0, 30), st.sampled_from(["f", "m", "x"]), st.integers(1, 4))
QIS = ["age", "sex", "rooms"]


def table_of(rows):
    return {name: list(cells) for name, cells in zip(QIS, zip(*rows, strict=True), strict=True)}


def fits_range(person, rows):
    """Whether somebody lies within what all rows together, as one class, cover."""
    ages, sexes, rooms = zip(*rows, strict=True)
    return min(ages) <= person[0] <= max(ages) and person[1] in sexes and min(rooms) <= person[2] <= max(rooms)


@settings(max_examples=examples(30))
@given(
    st.lists(ROW, min_size=4, max_size=25),
    st.lists(ROW, min_size=0, max_size=40),
    st.integers(2, 9),
    st.sampled_from(["partition", "generalise"]),
    st.booleans(),
)
def test_every_row_fits_k_people_of_the_population(rows, others, k_map, method, with_hierarchy):
    everybody = [*rows, *others]
    wishes = {"hierarchies": {"age": "5,10,20"}} if with_hierarchy else {}
    asked = {"quasi_identifiers": QIS, "k": 2, "method": method, "identifiers": [], **wishes}
    try:
        safe = protect(table_of(rows), k_map=k_map, population_table=table_of(everybody), **asked)
    except UnsupportedError:
        within = everybody if method == "generalise" else [person for person in everybody if fits_range(person, rows)]
        assert len(within) < k_map
        return
    fitting = [
        sum(all(covers(row[name], value) for name, value in zip(QIS, person, strict=True)) for person in everybody)
        for row in rows_of(safe.table)
    ]
    assert min(fitting) >= k_map
    assert safe.guarantee.k_map == min(fitting)
    assert safe.guarantee.k >= 2


def test_classes_are_joined_only_where_the_population_is_thin():
    people = {"age": [20, 21, 40, 41, 60, 61]}
    everybody = {"age": [*people["age"], 20, 21, 20, 40, 41, 41]}
    safe = protect(people, quasi_identifiers=["age"], k=2, k_map=5, population_table=everybody, identifiers=[])
    assert Counter(safe.table["age"].to_pylist()) == {"[20;21]": 2, "[40;61]": 4}
    assert safe.guarantee.k_map == 5
    assert "fits at least 5 people of the population" in safe.guarantee.sentence


def test_values_that_only_the_population_has_count_where_a_label_covers_them():
    days = [dt.date(2000, 1, 1), dt.date(2000, 1, 9)]
    people = {"born": days * 2, "town": ["York", "Ham", "York", "Ham"]}
    everybody = {
        "born": [*days * 2, *[dt.date(2000, 1, 5)] * 6],
        "town": [*people["town"], *["York"] * 3, *["Rye"] * 3],
    }
    safe = protect(
        people,
        quasi_identifiers=["born", "town"],
        k=2,
        k_map=8,
        population_table=everybody,
        hierarchies={"town": Hierarchy.from_rows([["York", "North"], ["Ham", "South"], ["Rye", "South"]])},
        identifiers=[],
    )
    assert set(safe.table["born"].to_pylist()) == {"[2000-01-01;2000-01-09]"}
    assert set(safe.table["town"].to_pylist()) == {"*"}
    assert safe.guarantee.k_map == 10


def test_generalise_takes_the_finest_levels_that_cover_enough():
    people = {"age": list(range(20, 40)) * 2}
    everybody = {"age": list(range(80)) * 3}
    options = {"method": "generalise", "k_map": 15, "population_table": everybody}
    safe = protect(people, quasi_identifiers=["age"], k=2, **options, hierarchies={"age": "5,10,20"})
    assert safe.settings["levels"] == {"age": 1}
    assert safe.guarantee.k_map == 15


def test_what_cannot_be_counted_is_refused(tmp_path):
    people, asked = {"age": [1, 2, 3, 4], "who": [1, 1, 2, 2]}, {"quasi_identifiers": ["age"], "k": 2}
    everybody = {"age": [1, 2, 3, 4]}
    with pytest.raises(InputError, match="give how many a class must cover, and either a table of everybody or"):
        protect(people, k_map=3, **asked)
    with pytest.raises(InputError, match="whole number of 1 or more"):
        protect(people, k_map=2.5, population_table=everybody, **asked)
    with pytest.raises(InputError, match="no column named 'age'"):
        protect(people, k_map=2, population_table={"sex": ["f"]}, **asked)
    with pytest.raises(InputError, match="holds other values in the population"):
        protect(people, k_map=2, population_table={"age": ["a"]}, **asked)
    with pytest.raises(UnsupportedError, match="cover fewer than 9 people"):
        protect(people, k_map=9, population_table=everybody, **asked)
    with pytest.raises(UnsupportedError, match="not for histories"):
        protect(people, k_map=2, population_table=everybody, person="who", **asked)
    with pytest.raises(InputError, match="'blank' does not take k_map"):
        protect(people, k_map=2, population_table=everybody, method="blank", **asked)
    safe = protect(people, k_map=3, population_table=everybody, **asked)
    log = read_log(write_protected(safe, tmp_path / "safe.csv"))
    assert "people of a population" in log.closed


def test_the_command_line_counts_a_population(capsys, tmp_path):
    people, everybody, out = (tmp_path / f"{name}.csv" for name in ("people", "everybody", "safe"))
    people.write_text("age\n" + "".join(f"{age}\n" for age in (20, 21, 40, 41)))
    everybody.write_text("age\n" + "".join(f"{age}\n" for age in (20, 21, 22, 40, 41, 20)))
    asked = ("protect", people, "--qi", "age", "--k", 2, "--k-map", 3, "--population-table", everybody, "--out", out)
    code, shown, err = run(capsys, *asked)
    assert code == 0, err
    assert "people of the population" in " ".join(shown.split())
    assert set(read_table(out).to_arrow()["age"].to_pylist()) == {"[20;41]"}


@pytest.mark.parametrize("method", ["partition", "generalise"])
def test_a_null_covers_the_people_of_the_population_with_a_null(method):
    people = {"town": ["York"] * 4 + [None] * 4 + ["Ham"] * 4}
    everybody = {"town": ["York"] * 9 + [None] * 5 + ["Ham"] * 8}
    asked = {"quasi_identifiers": ["town"], "k": 4, "method": method, "population_table": everybody, "identifiers": []}
    safe = protect(people, k_map=5, **asked)
    assert Counter(safe.table["town"].to_pylist()) == {"York": 4, None: 4, "Ham": 4}
    assert safe.guarantee.k_map == 5
    wider = protect(people, k_map=6, **asked)
    fitting = [sum(covers(row["town"], town) for town in everybody["town"]) for row in rows_of(wider.table)]
    assert wider.guarantee.k_map == min(fitting) >= 6


def test_whole_numbers_that_ranges_cannot_tell_apart_are_refused():
    large, small = 2**53, 2**40
    asked = {"quasi_identifiers": ["code"], "k": 2, "k_map": 3, "identifiers": []}
    around = {"code": [large + step for step in range(-3, 4)]}
    for people, everybody in [([large, large + 1], around), ([large + 1, large + 2], {"code": [large - 1, large] * 2})]:
        with pytest.raises(InputError, match="'code' holds whole numbers beyond 2\\^53") as refused:
            protect({"code": people}, population_table=everybody, **asked)
        assert str(large)[:6] not in str(refused.value)
    for scale in (small, -small, large // 8, -large):
        everybody = {"code": [scale + step for step in range(5)]}
        safe = protect({"code": [scale, scale + 2]}, population_table=everybody, **asked)
        assert safe.guarantee.k_map == 3
    text = {"code": [str(code) for code in around["code"] * 2]}
    safe = protect({"code": [str(large), str(large + 1)] * 2}, population_table=text, **asked)
    assert safe.guarantee.k_map == 4


def test_labels_that_lose_the_values_of_suppressed_rows_still_cover_enough():
    ages, towns = [0, 1, 1, 2, 2, 3, 3, 3], list("uvxuwuxy")
    everybody = list(zip([0, 0, 0, 0, 1, 1, 1, 2, 3, 3], "wyyzvwzwuw", strict=True))
    safe = protect(
        {"age": ages, "town": towns},
        quasi_identifiers=["age", "town"],
        k=2,
        k_map=3,
        population_table={"age": [age for age, _ in everybody], "town": [town for _, town in everybody]},
        method="generalise",
        suppress=0.4,
        identifiers=[],
    )
    rows = rows_of(safe.table)
    fitting = [sum(covers(row["age"], age) and covers(row["town"], town) for age, town in everybody) for row in rows]
    assert safe.guarantee.k_map == min(fitting) >= 3
    assert len(rows) >= 0.6 * len(ages)


DAYS = [dt.date(2000, 1, day) for day in range(1, 9)]


@pytest.mark.parametrize(
    ("values", "covered"),
    [
        ([3, -2, None, 7, 3], {None: 1, "3": 2, "4": 0, "[-2;3]": 3, "[4;*]": 1, "[*;0]": 1, "{3,}": 3, "*": 5}),
        ([0.5, None, 2.25], {None: 1, "0.5": 1, "[0.5;2.25]": 2, "[0.6;2.2]": 0, "[2000-01-01;2000-01-02]": 0}),
        ([*DAYS, None], {None: 1, "2000-01-03": 1, "[2000-01-02;2000-01-05]": 4, "[1;99999]": 0, "*": 9}),
        (["None", None, "Nord", "a,b", "", "12"], {None: 1, "No**": 2, '{"a,b","",x}': 2, "{,12}": 2, "[1;20]": 1}),
    ],
)
def test_labels_cover_the_values_that_they_stand_for(values, covered):
    table = {"value": values}
    population = read_population(table, encode(read_table(table), ["value"]), {})
    found = population.count(["value"], [(np.arange(len(covered)), list(covered))])
    assert dict(zip(covered, found.tolist(), strict=True)) == covered


def test_only_joined_classes_are_counted_again_and_cells_are_read_once(monkeypatch):
    counted, read = [], []
    count, as_text = PopulationTable.count, k_map.as_text
    monkeypatch.setattr(k_map, "as_text", lambda values: read.append(1) or as_text(values))
    monkeypatch.setattr(
        PopulationTable,
        "count",
        lambda self, names, labels, *enough: counted.append(labels[0][0].size) or count(self, names, labels, *enough),
    )
    people = {"age": [*range(20, 60, 2)] * 2}
    everybody = {"age": [*people["age"], *people["age"][2:20]]}
    safe = protect(people, quasi_identifiers=["age"], k=2, k_map=3, population_table=everybody, identifiers=[])
    assert safe.guarantee.k_map == 3
    assert counted == [20, 1, 19]  # every class, the one that two were joined to, and the rows of the release
    assert len(read) == 1  # the cells of the release


@settings(max_examples=examples(60))
@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 14))
def test_the_class_that_an_estimate_asks_for_is_that_of_plain_hypergeometric_sums(records, others, people):
    """Fewer people than asked for would put so many of them into the sample in 1 of 40 samples at most."""
    population = records + others

    def chance_of_at_least(size, fit):
        ways = [comb(fit, i) * comb(population - fit, records - i) for i in range(size, min(fit, records) + 1)]
        return Fraction(sum(ways), comb(population, records))

    fit = min(people, population + 1) - 1
    expected = next(size for size in range(population + 2) if chance_of_at_least(size, fit) <= Fraction(1, 40))
    sample = RandomSample(records, population)
    assert sample.smallest_class(people) == expected
    assert sample.fewest_people(expected, people) == people
    assert sample.fewest_people(expected - 1, people) < people


@pytest.mark.parametrize("method", ["partition", "generalise"])
def test_an_estimated_k_map_holds_in_the_population_that_the_sample_came_from(method):
    draws = np.random.default_rng(5)
    age = draws.normal(40, 12, 6_000).astype(int)
    everybody = {"age": age, "town": draws.choice(list("abcdef"), 6_000), "size": draws.geometric(0.5, 6_000)}
    rows = draws.choice(6_000, 600, replace=False)
    table = {name: cells[rows] for name, cells in everybody.items()}
    asked = {"quasi_identifiers": list(table), "method": method, "identifiers": [], "k": 2}
    safe = protect(table, k_map=25, population=6_000, **asked)
    counted = PopulationTable.count
    counts = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PopulationTable, "count", lambda *given: counts.append(counted(*given)) or counts[-1])
        people = read_population(everybody, encode(read_table(table), list(table)), safe.hierarchies)
        people.smallest(read_table(safe.table), list(table))
    assert np.mean(counts[0] >= 25) >= 0.975
    assert safe.guarantee.k_map == 25
    assert safe.guarantee.k_map_is_estimated
    assert safe.guarantee.k >= RandomSample(600, 6_000).smallest_class(25) > 2
    assert "by an estimate, which guarantees nothing, every row is likely to fit at least 25" in safe.guarantee.sentence


def people_who_fit(safe, everybody):
    """How many people every class of a release covers, label by label."""
    fitting = []
    for labels in {tuple(row.values()) for row in rows_of(safe.table)}:
        fits = np.ones(len(next(iter(everybody.values()))), dtype=bool)
        for label, values in zip(labels, everybody.values(), strict=True):
            if label == "*":
                continue
            if values.dtype.kind == "f":
                ends = np.array(str(label).strip("[]").split(";"), dtype=float)
                fits &= (ends[0] <= values) & (values <= ends[-1])
            else:
                fits &= np.isin(values, label.strip("{}").split(","))
        fitting.append(fits.sum())
    return fitting


@pytest.mark.parametrize(
    ("ranges", "sets", "values", "k_map", "records", "population"),
    [
        (1, 0, 0, 25, 600, 6_000),
        (2, 0, 0, 25, 600, 6_000),
        (4, 0, 0, 25, 600, 6_000),
        (2, 0, 0, 200, 1_000, 100_000),
        (0, 1, 3_000, 25, 600, 6_000),
        (0, 3, 40, 25, 600, 6_000),
        (1, 2, 30, 25, 600, 6_000),
    ],
)
def test_ranges_and_sets_around_their_own_records_cover_what_was_estimated(
    ranges, sets, values, k_map, records, population
):
    """Drawn around seven records, ranges of four columns covered too few in 45 of 100 classes, large sets in 90."""
    fitting = []
    for seed in range(4):
        draws = np.random.default_rng(seed)
        everybody = {f"range {number}": draws.normal(size=population) for number in range(ranges)}
        names = np.array([f"v{number}" for number in range(values)])
        everybody |= {f"set {number}": draws.choice(names, population) for number in range(sets)}
        rows = draws.choice(population, records, replace=False)
        table = {name: cells[rows] for name, cells in everybody.items()}
        asked = {"quasi_identifiers": list(table), "identifiers": [], "k": 2, "warn": False}
        safe = protect(table, k_map=k_map, population=population, **asked)
        fitting += people_who_fit(safe, everybody)
        bound = RandomSample(records, population).smallest_class(k_map)
        assert safe.guarantee.asked_k == bound + 2 * ranges
    expected = 0.025 * len(fitting)
    assert np.sum(np.array(fitting) < k_map) <= expected + 2 * expected**0.5


def test_the_records_that_labels_are_drawn_around_are_counted():
    table = {
        "age": [1, 2, 3, 4, 5, 5, 6, 7],
        "town": ["a", "b", "c", "a", "a", "a", "a", "b"],
        "zip": [11, 12, 21, 22, 11, 11, 12, 12],
    }
    columns = encode(read_table(table), list(table))
    problem = Problem(columns, 8, Demand(2), hierarchies={"zip": Hierarchy.intervals([10])})
    grouping = Grouping(np.arange(8), np.array([4, 6, 8]))
    assert edges_of_classes(problem, grouping).tolist() == [2 + 2 + 1, 0, 1 + 1 + 0]


def test_as_many_records_as_people_are_enough_whatever_they_are_written_as():
    people = {"age": [float(age) for age in range(40)], "town": [f"v{number}" for number in range(40)]}
    asked = {"quasi_identifiers": ["age", "town"], "k": 2, "identifiers": []}
    safe = protect(people, k_map=5, population=40, **asked)
    assert safe.guarantee.asked_k == safe.guarantee.k == 5
    assert min(Counter(safe.table["town"].to_pylist()).values()) == 5
    with pytest.raises(UnsupportedError, match="together cover, by an estimate, fewer than 50 people"):
        protect({"town": people["town"]}, **asked | {"quasi_identifiers": ["town"]}, k_map=50, population=500)
    with pytest.raises(InputError, match="k-map of 500 takes, by an estimate, classes of more than the 40 records"):
        protect({"age": people["age"]}, **asked | {"quasi_identifiers": ["age"]}, k_map=500, population=500)


def test_largest_widths_are_refused_where_sets_need_larger_classes():
    people = {"town": [f"v{number // 2}" for number in range(60)]}
    asked = {"quasi_identifiers": ["town"], "k": 2, "identifiers": [], "k_map": 20, "population": 600}
    assert protect(people, **asked).guarantee.k >= RandomSample(60, 600).smallest_class(20) + 3
    with pytest.raises(UnsupportedError, match="60 of 60 records have no class within the wishes"):
        protect(people, widest={"town": 4}, **asked)


@pytest.mark.parametrize("population", [{"population": 1_000}, {"population_table": {"age": [1, 2, 3]}}])
def test_histories_of_people_are_refused_before_anything_is_counted(population):
    visits = {"age": [20 + number % 40 for number in range(1_200)], "who": [number // 4 for number in range(1_200)]}
    with pytest.raises(UnsupportedError, match="not for histories of people; leave the person column or k-map out"):
        protect(visits, quasi_identifiers=["age"], k=2, k_map=20, person="who", **population)


def test_an_estimate_needs_a_population_that_the_table_can_be_a_sample_of():
    people = {"age": [30, 31, 62, 64]}
    for wrong in (3, 10.5, float("inf"), float("nan")):
        with pytest.raises(InputError, match="4 records of a population of"):
            protect(people, quasi_identifiers=["age"], k=2, k_map=2, population=wrong)
    for wrong in ({"population": 10}, {"k_map": 3}, {"k_map": 3, "population": 10, "population_table": people}):
        with pytest.raises(InputError, match="either a table of everybody or how many people"):
            protect(people, quasi_identifiers=["age"], k=2, **wrong)


def test_the_command_estimates_a_k_map(tmp_path, capsys):
    file, out = tmp_path / "people.csv", tmp_path / "safe.csv"
    file.write_text("age\n" + "\n".join(str(20 + number % 9) for number in range(200)) + "\n")
    asked = ["--qi", "age", "--k", "3", "--k-map", "50", "--population", "2e3", "--out", out]
    code, said, _ = run(capsys, "protect", file, *asked)
    assert code == 0
    estimated = "by an estimate, which guarantees nothing, every row is likely to fit at least 50 people"
    assert estimated in " ".join(said.split())


def test_a_population_that_is_open_already_is_read_on_the_scales_of_the_table():
    zips = {"zip code": [93722, 93711, 93611, 93612] * 3}
    safe = protect(zips, quasi_identifiers=["zip code"], k=2, k_map=4, population_table=read_table(zips))
    assert safe.guarantee.k_map >= 4
