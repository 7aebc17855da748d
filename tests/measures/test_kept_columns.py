"""Kept columns that give back what was coarsened, with the original and without it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd import measure, protect
from incrowd.measures import kept_column_facts, released_column_facts
from incrowd.measures.determination import determination, set_determination
from incrowd.measures.kept_columns import _may_tell

ROWS = 4_000


def people(altered=0.0, seed=5):
    """Schooling in words beside its number of years, which agree but for a share of altered cells."""
    generator = np.random.default_rng(seed)
    years = generator.integers(1, 17, ROWS)
    wrong = generator.random(ROWS) < altered
    wrong[0] = altered > 0
    told = np.where(wrong, generator.integers(1, 17, ROWS), years)
    return {
        "schooling": [f"level {year}" for year in years],
        "age": generator.integers(20, 80, ROWS),
        "years": told,
        "noise": generator.integers(0, 16, ROWS),
        "born": 2000 - generator.integers(20, 80, ROWS),
    }


@pytest.mark.parametrize("altered", [0.0, 1 / ROWS, 0.01])
def test_altered_cells_do_not_silence_the_facts(altered):
    table = people(altered)
    safe = protect(table, quasi_identifiers=["schooling", "age"], k=5, other=["years", "noise", "born"])
    (fact,) = kept_column_facts(table, safe.table, ["schooling", "age"], ["years", "noise", "born"])
    known = measure(safe.table, quasi_identifiers=["schooling", "age", "years"])
    assert (fact.column, fact.gives_back) == ("years", "schooling")
    assert (fact.k, fact.uniques, fact.k_without) == (known.k, known.uniques, safe.guarantee.k)
    assert fact.told == pytest.approx(1 - altered, abs=0.01)
    assert fact.undoes
    (warning,) = safe.kept_column_warnings
    assert warning.startswith("years is kept and gives schooling back")
    assert ("of the records" in warning) == (fact.told < 1)
    assert fact.to_dict()["undoes"] is True


@pytest.mark.parametrize("altered", [0.0, 1 / ROWS, 0.01])
def test_ranges_and_sets_of_a_released_table_give_the_same_facts(altered):
    table = people(altered)
    table["born"] = 2000 - table["age"]
    safe = protect(table, quasi_identifiers=["schooling", "age"], k=5, other=["years", "noise", "born"])
    facts = released_column_facts(safe.table, ["schooling", "age"], ["years", "noise", "born"])
    assert [(fact.column, fact.gives_back) for fact in facts] == [("years", "schooling"), ("born", "age")]
    with_original = kept_column_facts(table, safe.table, ["schooling", "age"], ["years", "noise", "born"])
    assert [(fact.k, fact.uniques) for fact in facts] == [(fact.k, fact.uniques) for fact in with_original]


def test_dates_labels_nulls_and_stars_are_read():
    generator = np.random.default_rng(1)
    month = generator.integers(1, 13, 900)
    quarter = np.array(["winter", "spring", "summer", "autumn"])[(month - 1) // 3]
    days = [f"[2001-{m:02}-01;2001-{m:02}-28]" if i % 7 else "*" for i, m in enumerate(month)]
    days[5] = None
    table = {"day": days, "season": quarter, "month": month, "noise": generator.integers(1, 13, 900)}
    found = released_column_facts(table, ["day"], ["month", "noise"])
    assert [(fact.column, fact.gives_back) for fact in found] == [("month", "day")]
    found = released_column_facts(table, ["season"], ["month", "noise"])
    assert [(fact.column, fact.gives_back) for fact in found] == [("month", "season")]
    stars = {"day": ["*"] * 900, "month": month}
    assert released_column_facts(stars, ["day"], ["month"]) == ()
    assert released_column_facts(stars, ["day"], []) == kept_column_facts(stars, stars, ["day"], []) == ()


def test_a_column_that_never_varies_is_given_back_by_nothing():
    same = np.zeros(500, dtype=np.int64)
    assert not determination(np.arange(500) % 10, same).gives_away


def test_people_with_several_records_are_counted_as_people():
    generator = np.random.default_rng(4)
    item = generator.integers(0, 40, 800)
    table = {"who": np.repeat(np.arange(400), 2), "item": item, "name": [f"item {number}" for number in item]}
    safe = protect(table, quasi_identifiers=["item"], k=4, person="who", identifiers=[])
    (fact,) = kept_column_facts(table, safe.table, ["item"], ["name"], person="who")
    known = measure(safe.table, quasi_identifiers=["item", "name"], person="who")
    assert (fact.k, fact.uniques) == (known.k, known.uniques)
    assert any("name is kept and gives item back" in note for note in safe.notes)


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True)),
        min_size=2,
        max_size=25,
    )
)
def test_sets_with_a_common_member_are_counted_group_by_group(rows):
    one = np.array([code for code, _ in rows])
    found = set_determination(one, np.arange(len(rows)), [np.array(members) for _, members in rows])
    told = records = 0
    for code in set(one.tolist()):
        sets = [members for other, members in rows if other == code]
        if len(sets) > 1:
            records += len(sets)
            told += max(sum(value in members for members in sets) for value in range(5))
    assert found.records == records
    assert found.told == pytest.approx(told / records if records else 0.0)


def test_large_tables_are_looked_at_by_examples_first():
    generator = np.random.default_rng(2)
    town = generator.integers(0, 20_000, 300_000)
    county = town // 500
    county[generator.random(town.size) < 0.03] = 0
    county[[0, -1]] = 1
    assert _may_tell(town, county)
    assert not _may_tell(town, generator.integers(0, 40, town.size))
    columns = {"county": county, "town": town, "other": generator.integers(0, 20_000, town.size)}
    table = pa.table(columns)
    assert [fact.column for fact in kept_column_facts(table, table, ["county"], ["town", "other"])] == ["town"]


def test_a_question_that_is_skipped_with_another_gives_nothing_back():
    draws = np.random.default_rng(5)
    child = draws.random(2_000) < 0.3
    status = np.where(child, None, draws.choice(["single", "married", "widowed"], 2_000))
    smokes = np.where(child, None, draws.choice(["yes", "no"], 2_000))
    before = {"status": status.tolist(), "smokes": smokes.tolist()}
    after = {"status": ["{single,married}" if one else None for one in status], "smokes": smokes.tolist()}
    assert kept_column_facts(before, after, ["status"], ["smokes"]) == ()


def test_a_question_that_only_some_were_asked_gives_nothing_back():
    draw = np.random.default_rng(0)
    adult = np.arange(400) < 300
    smokes = np.where(adult, draw.choice(["yes", "no"], 400), None)  # a question for adults
    head = np.where(adult, None, "*")  # measured of infants, and made coarser until nothing is left
    status = np.where(adult, draw.choice(["{married,single}", "{married,widowed}"], 400), None)
    table = {"head": head, "status": status, "smokes": smokes}
    assert released_column_facts(table, ["head", "status"], ["smokes"]) == ()
    area = np.where(adult, draw.choice(["937**", "938**"], 400), None)
    told = {**table, "area": area, "town": np.where(area == "937**", "a", np.where(adult, "b", None))}
    assert [fact.column for fact in released_column_facts(told, ["area"], ["smokes", "town"])] == ["town"]


def test_amounts_written_as_text_show_the_steps_of_a_coarsened_number():
    income = np.random.default_rng(0).integers(1_000, 9_000, 2_000)
    table = {"income": income // 1_000 * 1_000, "paid": [f"{amount} EUR" for amount in income // 10]}
    (fact,) = released_column_facts(table, ["income"], ["paid"], coarse=[])
    assert (fact.column, fact.gives_back) == ("paid", "income")


def test_what_a_column_tells_by_a_known_column_that_is_released_as_it_is_is_not_given_back():
    draw = np.random.default_rng(3)
    year = np.repeat(np.arange(8), 250)
    work = 3 * year + draw.integers(0, 12, year.size)  # years of work grow with the year, in ranges that overlap
    age, shift = draw.integers(0, 100, year.size), draw.integers(0, 5, year.size)
    table = {
        "year": year,
        "work": [f"[{low};{low + 12}]" for low in work],
        "age": [f"[{low};{low + 5}]" for low in age - shift],
        "wage": draw.permutation(year.size // 2)[np.arange(year.size) // 2],  # shared by two of one year
        "code": draw.permutation(800)[100 * year + age],  # tells the year, and the age within it
    }
    facts = released_column_facts(table, ["year", "work", "age"], ["wage", "code"], coarse=["work", "age"])
    assert [(fact.column, fact.gives_back) for fact in facts] == [("code", "age")]
