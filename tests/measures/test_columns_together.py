"""Kept numbers and dates that only together give back what was made coarser."""

import warnings
from collections import Counter

import numpy as np
import pytest
from tests.decision import traps

from incrowd import measure, protect, read_table
from incrowd.backends import encode
from incrowd.measures import kept_column_facts
from incrowd.measures.columns_together import facts_of_columns_together
from incrowd.measures.compared_release import ComparedRelease

ROWS = 3_000


def facts_of(table, names, kept, k=11, **options):
    safe = protect(table, quasi_identifiers=names, k=k, other=kept, identifiers=[], warn=False)
    return safe, kept_column_facts(table, safe.table, names, kept, **options)


def altered(column, share, draw):
    """A column in which a share of the cells is somebody else's."""
    wrong = draw.random(len(column)) < share
    return np.where(wrong, draw.permutation(column), column)


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_weight_and_body_mass_index_give_height_back(share):
    table = traps.body_mass(share)
    safe, (fact,) = facts_of(table, ["sex", "height_cm"], ["weight_kg", "bmi"])
    assert (fact.column, fact.others, fact.gives_back) == ("bmi", ("weight_kg",), "height_cm")
    assert fact.told >= 1 - 2 * share - 0.01
    assert fact.undoes
    heights = np.array(table["height_cm"])[safe.kept_rows] if safe.kept_rows is not None else table["height_cm"]
    by_truth = measure(safe.table.append_column("truth", [heights]), quasi_identifiers=["sex", "height_cm", "truth"])
    if share == 0:  # the guesses are the true heights
        assert (fact.k, fact.uniques) == (by_truth.k, by_truth.uniques)


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_two_dates_give_the_days_between_them_back(share):
    safe, (fact,) = facts_of(traps.stays(share), ["sex", "los"], ["admitted", "discharged"])
    assert (fact.column, fact.others, fact.gives_back) == ("discharged", ("admitted",), "los")
    assert fact.k < 11 == fact.k_without
    assert safe.given_back is None


def incomes(seed):
    draw = np.random.default_rng(seed)
    wage, rent, pension = (np.round(draw.lognormal(9, 0.6, ROWS)) * (draw.random(ROWS) < 0.8) for _ in range(3))
    return {
        "income": wage + rent + pension,
        "wage": wage,
        "rent": rent,
        "pension": pension,
        "noise": draw.normal(0, 1, ROWS),
        "more_noise": draw.integers(0, 9, ROWS),
    }


def test_parts_give_their_total_back_and_no_other_column_is_accused():
    table = incomes(1)
    _, (fact, *below) = facts_of(table, ["income"], ["wage", "noise", "rent", "more_noise", "pension"])
    assert fact.columns == ("pension", "wage", "rent")
    of_some, *ordered = below  # two parts are the total of those without the third, and each is below it
    assert (of_some.columns, of_some.narrows, of_some.told < 0.3) == (("rent", "wage"), False, True)
    assert [(one.columns, one.narrows) for one in ordered] == [(("wage",), True)]
    _, (fact, *below) = facts_of(table, ["income"], ["wage", "noise", "rent", "pension"], secrets=["pension", "rent"])
    assert fact.columns == ("wage", "rent", "pension")
    assert {frozenset(one.columns) for one in below if not one.narrows} == {frozenset(["rent", "pension"])}
    below = facts_of(table, ["income"], ["wage", "noise", "rent"])[1]
    assert [(one.columns, one.narrows) for one in below] == [(("rent", "wage"), False), (("wage",), True)]


def test_missing_cells_of_other_columns_hide_nothing():
    table, draw = incomes(2), np.random.default_rng(3)
    table["noise"] = np.where(draw.random(ROWS) < 0.7, np.nan, table["noise"])
    table["rent"] = np.where(draw.random(ROWS) < 0.2, np.nan, table["rent"])
    _, (fact, *below) = facts_of(table, ["income"], ["wage", "noise", "rent", "pension"])
    assert fact.columns == ("pension", "wage", "rent")
    assert [(one.columns, one.narrows) for one in below] == [(("rent", "wage"), False), (("wage",), True)]


def test_a_rescaled_copy_of_which_no_value_occurs_twice_gives_back_by_itself():
    draw = np.random.default_rng(4)
    height = draw.normal(170, 8, ROWS).round()
    table = {"height": height, "inches": altered(height / 2.54 + draw.normal(0, 0.01, ROWS), 0.01, draw)}
    _, (fact,) = facts_of(table, ["height"], ["inches"])
    assert (fact.columns, fact.gives_back) == (("inches",), "height")


def test_every_set_that_tells_loses_a_column_in_one_go():
    table = traps.body_mass()
    table["weight_lb"] = np.round(np.array(table["weight_kg"]) * 2.2046, 1)
    kept = ["weight_kg", "weight_lb", "bmi"]
    _, facts = facts_of(table, ["sex", "height_cm"], kept)
    left = [name for name in kept if name not in {fact.column for fact in facts}]
    assert left
    assert facts_of(table, ["sex", "height_cm"], left)[1] == ()


def test_a_quasi_identifier_that_stays_fine_tells_something_beside_a_kept_column():
    draw = np.random.default_rng(5)
    asked = draw.integers(1950, 2004, ROWS)
    age = np.minimum(draw.geometric(0.04, ROWS), 99)
    table = {"age": age, "asked": asked, "born": asked - age}
    after = {**table, "age": np.where(age > 20, "[21;99]", "[1;20]")}
    (fact,) = kept_column_facts(table, after, ["age", "asked"], ["born"], coarse=["age"])
    assert (fact.column, fact.undoes) == ("born", True)


@pytest.mark.parametrize("share", [0, 0.01])
def test_a_kept_column_that_is_computed_from_coarsened_ones_counts_as_known(share):
    draw = np.random.default_rng(6)
    height, weight = draw.integers(150, 200, ROWS), draw.integers(50, 110, ROWS)
    index = np.round(weight / (height / 100) ** 2, 2)
    index[: int(share * ROWS)] += 3
    table = {"height": height, "weight": weight, "index": index, "noise": draw.normal(0, 1, ROWS)}
    after = {**table, "height": [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in height]}
    after["weight"] = [f"[{value // 20 * 20};{value // 20 * 20 + 19}]" for value in weight]
    (fact,) = kept_column_facts(table, after, ["height", "weight"], ["index", "noise"])
    classes = Counter(zip(after["height"], after["weight"], index, strict=True))
    assert (fact.column, fact.gives_back, fact.others) == ("index", "height", ("weight",))
    assert fact.k == min(classes.values()) == 1
    assert fact.uniques == sum(times == 1 for times in classes.values()) or share


def test_a_kept_column_that_only_goes_with_coarsened_ones_is_not_accused():
    draw = np.random.default_rng(7)
    height = draw.integers(150, 200, ROWS)
    table = {"height": height, "weight": np.round(0.9 * height - 90 + draw.normal(0, 12, ROWS), 1)}
    after = {**table, "height": [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in height]}
    assert [fact for fact in kept_column_facts(table, after, ["height"], ["weight"]) if fact.undoes] == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("rows", "columns"), [(80, 60), (300, 40), (1_000, 8)])
def test_noise_is_not_accused(rows, columns, seed):
    draw = np.random.default_rng(seed)
    noise = {f"x{number}": draw.normal(0, 1, rows) for number in range(columns - 2)}
    noise |= {"count": draw.poisson(2, rows), "amount": draw.lognormal(3, 1, rows)}
    age = draw.integers(18, 90, rows)
    noise["x0"] = age + draw.normal(0, 10, rows)  # related, and no closer than ranges tell
    noise |= {
        "written": as_amounts(draw.lognormal(5, 2, rows), "EUR"),
        "at": [f"{minute // 60}:{minute % 60:02}" for minute in draw.integers(0, 1_440, rows)],
        "on": as_days(np.datetime64("1990-01-01") + draw.integers(0, 9_000, rows)),
    }
    table = {"age": age, "zip": draw.integers(100, 160, rows), **noise}
    assert facts_of(table, ["age", "zip"], list(noise), k=5)[1] == ()


def test_columns_that_are_accused_do_not_depend_on_the_order_of_the_quasi_identifiers():
    generator = np.random.default_rng(1)
    one = np.concatenate([np.repeat(np.arange(90), 50), np.full(20, 95)])
    other = generator.integers(0, 100, one.size)
    kept = {"total": one + other, "difference": one - other}
    before = {"one": one, "other": other, **kept}
    after = {"one": [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in one], "other": ["[0;99]"] * one.size}
    columns = dict(zip(before, encode(read_table(before), list(before)), strict=True))
    given = []
    for names in (["one", "other"], ["other", "one"]):
        known = [columns[name] for name in names]
        facts = facts_of_columns_together(
            [columns[name] for name in kept], ComparedRelease(known, read_table(after | kept), names)
        )
        given.append({(frozenset(fact.columns), fact.gives_back, fact.k) for fact in facts})
    assert given[0] == given[1] == {(frozenset(kept), "other", 1)}


@pytest.mark.parametrize("size", [1e200, 1e-310, 1e-200])
def test_numbers_whose_squares_are_none_are_left_out_without_a_warning(size):
    draw = np.random.default_rng(8)
    age = draw.integers(18, 90, ROWS)
    after = {"age": [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in age]}
    kept = {"huge": size * draw.integers(1, 50, ROWS), "other": draw.integers(0, 9, ROWS), "years": age * size}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept_column_facts({"age": age, **kept}, after | kept, ["age"], list(kept))
        kept_column_facts(
            {"age": kept["years"], "huge": kept["huge"]}, {**after, "huge": kept["huge"]}, ["age"], ["huge"]
        )


def as_amounts(numbers, unit):
    """Numbers as a European writes them: 1.234,5 kg."""
    return [f"{number:,.1f} {unit}".translate(str.maketrans(",.", ".,")) for number in numbers]


def as_days(dates):
    return [day.strftime("%d/%m/%y") for day in dates.tolist()]


def test_amounts_with_units_give_back_what_they_are_a_formula_of():
    table = traps.body_mass()
    table |= {
        "weight_kg": as_amounts(np.array(table["weight_kg"]) * 50, "kg"),
        "bmi": [f"{b} kg/m²" for b in table["bmi"]],
    }
    _, (fact,) = facts_of(table, ["sex", "height_cm"], ["weight_kg", "bmi"])
    assert (fact.columns, fact.gives_back, fact.undoes) == (("bmi", "weight_kg"), "height_cm", True)


def test_dates_with_years_of_two_digits_give_the_days_between_them_back():
    table = traps.stays(0.01)
    table |= {name: as_days(table[name]) for name in ("admitted", "discharged")}
    _, (fact,) = facts_of(table, ["sex", "los"], ["admitted", "discharged"])
    assert (fact.columns, fact.gives_back, fact.undoes) == (("discharged", "admitted"), "los", True)


def test_clock_times_give_the_minutes_between_them_back():
    draw = np.random.default_rng(9)
    minutes, start = draw.integers(5, 300, ROWS), draw.integers(300, 1_000, ROWS)
    clock = {
        name: [f"{m // 60}:{m % 60:02}" for m in times] for name, times in (("in", start), ("out", start + minutes))
    }
    table = {"stay": minutes, **clock, "noise": [f"{euros} EUR" for euros in draw.integers(1, 999, ROWS)]}
    _, (fact,) = facts_of(table, ["stay"], ["in", "out", "noise"])
    assert (fact.columns, fact.gives_back, fact.undoes) == (("out", "in"), "stay", True)


def test_texts_of_rows_that_are_left_out_are_read_as_in_the_original():
    draw = np.random.default_rng(10)
    wage, rent = draw.integers(500, 3_000, ROWS), draw.integers(300, 900, ROWS)
    written = [f"{value:,}".replace(",", ".") for value in wage]
    table = {"total": wage + rent, "wage": written, "rent": rent}
    rows = np.flatnonzero(wage < 1_000)  # none of which has a mark between thousands
    after = {"total": ["[0;9999]"] * rows.size, "wage": [written[row] for row in rows], "rent": rent[rows]}
    (fact, below) = kept_column_facts(table, after, ["total"], ["wage", "rent"])
    assert (fact.narrows, below.narrows) == (False, True)
    totals = Counter((wage + rent)[rows].tolist())
    assert (fact.k, fact.uniques) == (min(totals.values()), sum(times == 1 for times in totals.values()))
