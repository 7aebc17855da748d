"""What a row is: a person, a person at one time, one of several records, or no person at all."""

import numpy as np
import pytest

from incrowd import read_table
from incrowd.tables import describe_rows, suggest_roles

GENERATOR = np.random.default_rng(3)
PEOPLE, TIMES = 400, 5
ROWS = PEOPLE * TIMES


def people(rows):
    return {"age": GENERATOR.integers(18, 90, rows), "sex": GENERATOR.integers(1, 3, rows)}


def describe(**columns):
    return describe_rows(read_table(columns))


@pytest.mark.parametrize(("person", "time"), [("pid", "wave"), ("num_individu", "annee"), ("persnr", "syear")])
def test_a_panel_is_people_at_several_times(person, time):
    numbers = np.repeat(GENERATOR.choice(np.arange(10_000, 99_999), PEOPLE, replace=False), TIMES)
    found = describe(**{person: numbers, time: np.tile(np.arange(1, TIMES + 1), PEOPLE)}, **people(ROWS))
    assert (found.kind, found.person, found.time) == ("panel", person, time)
    assert time in found.reason


def test_several_records_for_each_person_are_transactions():
    found = describe(patient_id=np.sort(GENERATOR.integers(1, PEOPLE, ROWS)), item=GENERATOR.integers(1, 60, ROWS))
    assert (found.kind, found.person) == ("transactions", "patient_id")


def test_people_within_households():
    sizes = GENERATOR.integers(1, 6, PEOPLE)
    household = np.repeat(np.arange(PEOPLE), sizes)
    number = np.concatenate([np.arange(1, size + 1) for size in sizes])
    for columns in ({"serial": household, "pernum": number}, {"hhid": household}):
        found = describe(**columns, **people(len(household)))
        assert found.kind == "households"
        assert found.household == next(iter(columns))


def families(rows=3_000):
    """Numbers of families that no name tells, and numbers of their members, most of them small."""
    sizes = np.random.default_rng(8).integers(1, 5, rows)
    member = np.concatenate([np.arange(1, size + 1) for size in sizes])
    return np.repeat(np.arange(rows) * 3 + 4, sizes), np.where(member > 2, member + 168, member)


def test_members_of_families_are_numbered_by_two_columns():
    family, member = families()
    table = read_table({"intnum": family, "persnum": member, **people(len(family))})
    roles = {one.column: one for one in suggest_roles(table)}
    assert [(roles[name].role, roles[name].topic) for name in ("intnum", "persnum")] == [
        ("identifier", "household number"),
        ("identifier", "person within household"),
    ]
    rows = describe_rows(table)
    assert (rows.kind, rows.household, rows.person) == ("households", "intnum", None)


def test_numbers_that_do_not_differ_within_a_column_are_no_members_of_its_groups():
    family, member = families()
    draw = np.random.default_rng(9)
    shuffled = read_table({"intnum": draw.permutation(family), "persnum": member, **people(len(family))})
    roles = {one.column: one for one in suggest_roles(shuffled)}
    assert roles["intnum"].topic != "household number"
    assert roles["persnum"].topic != "person within household"


def test_very_many_records_for_each_person_at_no_time_are_doubted():
    numbers = {"pid": np.arange(ROWS) % 30, **people(ROWS)}
    doubtful = describe(**numbers)
    assert doubtful.confidence == "low"
    assert "pid may say whose record it is" in doubtful.reason
    assert describe(**numbers, year=2000 + np.arange(ROWS) % 4).confidence == "high"


def test_one_row_for_each_person():
    assert describe(id=np.arange(ROWS), **people(ROWS)).kind == "people"
    assert describe(**people(ROWS)).kind == "people"


def test_communes_firms_and_tables_of_counts_are_no_people():
    names = [f"place {number}" for number in range(300)]
    population = GENERATOR.integers(100, 90_000, 300)
    assert describe(commune=names, population=population, surface=GENERATOR.uniform(1, 90, 300)).kind == "not people"
    firms = describe(siren=np.arange(10**8, 10**8 + 300), turnover=population * 7, employees=population // 100)
    assert firms.kind == "not people"
    region, sex = np.repeat(np.arange(1, 21), 2), np.tile([1, 2], 20)
    assert describe(region=region, sex=sex, count=GENERATOR.integers(5, 900, 40)).kind == "not people"


def test_a_year_is_not_held_against_itself():
    """As many rows a year as a panel would have, and years as many: the year is a number that fits its own times."""
    found = describe(year=np.tile(np.arange(1950, 2022), 5), **people(360))
    assert (found.kind, found.time) == ("people", None)


def test_where_nothing_says_what_a_row_is_the_answer_is_unsure():
    found = describe(q1=GENERATOR.integers(1, 5, ROWS), q2=GENERATOR.integers(1, 5, ROWS))
    assert (found.kind, found.confidence) == ("people", "low")


def test_kinds_of_rows_of_public_tables(shared_data):
    kinds = {
        "adult": "people",
        "hdv2003": "people",
        "diabetes130": "transactions",
        "eusilc_population": "households",
        "sdc_testdata": "households",
        "happy": "panel",  # its numbers start again each year, which the reason says
        "nhanes": "people",
        "msweb_visits": "transactions",
        "groceries": "transactions",
    }
    found = {name: describe_rows(read_table(shared_data / f"{name}.parquet")).kind for name in kinds}
    assert found == kinds


def test_a_number_that_repeats_asks_what_a_row_is_without_any_time():
    number, session = np.repeat(np.arange(500), 3), np.tile([1, 2, 3], 500)
    draws = np.random.default_rng(3)
    found = describe_rows(read_table({"id": number, "session": session, "age": draws.integers(20, 60, 1_500)}))
    assert (found.kind, found.person) == ("transactions", "id")
    assert describe_rows(read_table({"id": np.arange(1_500), "age": draws.integers(20, 60, 1_500)})).kind == "people"


def test_a_number_by_its_name_goes_before_one_by_its_values():
    draws = np.random.default_rng(4)
    number, days = np.repeat(np.arange(900), 2), draws.integers(8, 3_300, 1_800)
    by_values = read_table({"time": days, "age": draws.integers(20, 60, 1_800)})
    both = read_table({"id": number, "time": days, "age": draws.integers(20, 60, 1_800)})
    assert {one.column: one.role for one in suggest_roles(by_values)}["time"] == "person"
    assert {one.column: one.role for one in suggest_roles(both)}["time"] == "other"
    assert describe_rows(both).person == "id"
