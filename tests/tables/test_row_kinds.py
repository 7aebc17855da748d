"""What a row is: a person, a person at one time, one of several records, or no person at all."""

import numpy as np
import pyarrow.parquet as pq
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
    numbers["sex"] = np.asarray(numbers["sex"])[numbers["pid"]]  # as people have it
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


def linked(draw, groups, sizes):
    """What is the same for the rows of a group, and what is not."""
    sex, born, home = draw.integers(1, 3, groups), draw.integers(1940, 2005, groups), draw.integers(0, 9, groups)
    shared = {name: np.repeat(values, sizes) for name, values in {"sex": sex, "born": born, "home": home}.items()}
    return shared, {"answer": draw.integers(0, 5, sizes.sum()), "score": draw.integers(0, 40, sizes.sum())}


CODES = {
    "texts": lambda draw, groups: np.array([f"{number:04x}" for number in draw.choice(60_000, groups, replace=False)]),
    "uneven numbers": lambda draw, groups: (draw.lognormal(9, 1, 2 * groups).round(3))[:groups],
    "numbers in a row": lambda draw, groups: np.arange(groups),
}


@pytest.mark.parametrize("form", CODES)
@pytest.mark.parametrize("altered", [0.0, 0.01])
@pytest.mark.parametrize("most", [4, 40])
def test_a_column_that_links_people_is_noticed_by_what_their_rows_share(form, altered, most):
    draw = np.random.default_rng(5)
    sizes = draw.integers(2, most, 300)
    shared, own = linked(draw, 300, sizes)
    sex = np.where(draw.random(sizes.sum()) < altered, 3 - shared["sex"], shared["sex"])
    order = draw.permutation(sizes.sum())
    table = {"zz": np.repeat(CODES[form](draw, 300), sizes), "sex": sex, "home": shared["home"], **own}
    found = describe(**{name: values[order] for name, values in table.items()})
    assert (found.kind, found.person) == ("transactions", None if form == "uneven numbers" else "zz")
    assert "zz" in found.reason


def test_an_exact_income_links_the_people_of_a_household():
    draw = np.random.default_rng(6)
    sizes = draw.integers(1, 6, 500)
    shared, own = linked(draw, 500, sizes)
    income = np.repeat(draw.lognormal(10, 0.5, 500).round(2), sizes)
    table = {"income": income, "tenure": np.repeat(draw.integers(0, 3, 500), sizes), "home": shared["home"], **own}
    found = describe(**table)
    assert (found.kind, found.person, found.household) == ("transactions", None, "income")


@pytest.mark.parametrize("seed", range(5))
def test_what_many_people_share_links_nobody(seed):
    """Codes of places, measurements and what is computed from columns, beside what follows from them or is noise."""
    draw = np.random.default_rng(seed)
    rows = 2_000
    place, height, weight = draw.integers(0, 400, rows), draw.integers(150, 200, rows), draw.integers(50, 110, rows)
    index = (weight / (height / 100) ** 2).round(3)
    table = {
        "sex": draw.integers(1, 3, rows),
        "zz": place**2,
        "coast": place // 50,
        "north": (place + 25) // 100,
        "urban": np.where(draw.random(rows) < 0.7, place % 2, draw.integers(0, 2, rows)),
        "index": index,
        "band": np.digitize(index, [18.5, 25, 30]),
        "fifth": np.digitize(index, np.quantile(index, [0.2, 0.4, 0.6, 0.8])),
        "height": height,
        "kg": weight,
        "amount": draw.lognormal(6, 1, rows).round(),
        "noise": draw.integers(0, 300, rows) ** 2,
    }
    assert describe(**table).kind == "people"


def test_ranges_that_classes_share_link_nobody():
    draw = np.random.default_rng(16)
    classes = np.repeat(np.arange(60), 12)
    sex, band = draw.integers(1, 3, 60)[classes], draw.integers(0, 3, 60)[classes]
    assert describe(sex=sex, band=band, paid=[f"[{one};{one + 5}]" for one in classes * 7]).kind == "people"
    assert describe(sex=sex, band=band, paid=draw.permutation(60)[classes]).kind == "transactions"


WAGES = [("atus", "hourly_wage"), ("atus", "weekly_earn"), ("cpssw8", "earnings"), ("adult", "capital_gain")]


@pytest.mark.parametrize("rows", [400, 700, 1_000, 2_000, 4_000])
@pytest.mark.parametrize(("name", "column"), WAGES)
def test_wages_that_many_are_paid_link_nobody(shared_data, name, column, rows):
    table = pq.read_table(shared_data / f"{name}.parquet")
    for seed in range(3):
        some = table.take(np.random.default_rng(seed).choice(table.num_rows, rows, replace=False))
        about = [one for one in ("age", "sex", "gender", "region") if one in some.column_names]
        assert describe_rows(read_table(some.select([*about, column]))).kind == "people"


@pytest.mark.parametrize("rows", [400, 3_000, 20_000])
def test_wages_of_a_scale_or_of_round_salaries_link_nobody(rows):
    draw = np.random.default_rng(rows)
    steps = np.round(12.07 * 1.031 ** np.arange(24), 2)  # of a pay scale
    scale = draw.choice(steps, rows, p=np.arange(24, 0, -1) / 300)
    salary = np.round(draw.lognormal(10.4, 0.5, rows), -3) / 2080
    quarters = np.round(draw.lognormal(2.9, 0.4, rows) * 4) / 4
    for wage in (scale, np.round(salary, 2), quarters):
        table = {"age": draw.integers(18, 65, rows), "sex": draw.integers(1, 3, rows), "hourly_wage": wage}
        assert describe(**table).kind == "people"


@pytest.mark.parametrize("homes", [150, 2_000])
def test_an_amount_to_the_cent_that_only_a_home_shares_links_its_people(homes):
    draw = np.random.default_rng(homes)
    sizes = draw.integers(1, 6, homes)
    people = int(sizes.sum())
    table = {"age": draw.integers(0, 90, people), "sex": draw.integers(1, 3, people)}
    allowance = np.where(draw.random(homes) < 0.5, 0.0, draw.lognormal(8, 0.7, homes).round(2))
    assert describe(**table, allowance=np.repeat(allowance, sizes)).kind == "transactions"


HOMES = [(24, 0), (30, 0), (35, 0), (39, 0), (100, 0.1), (500, 0.05), (500, 0.1), (2_000, 0.2)]


@pytest.mark.parametrize(("homes", "usual"), HOMES)
@pytest.mark.parametrize(("least", "digits"), [(2, 2), (1, 2), (2, 0)])
def test_an_amount_that_many_homes_have_hides_none_that_only_one_has(homes, usual, least, digits):
    draw = np.random.default_rng(homes)
    sizes = draw.integers(least, 6, homes)
    people = int(sizes.sum())
    income = np.where(draw.random(homes) < usual, round(1216.37, digits), draw.lognormal(10, 0.6, homes).round(digits))
    table = {"age": draw.integers(0, 3, people) * 30, "sex": draw.integers(1, 3, people)}
    order = draw.permutation(people)
    found = describe(**table, household_income=np.repeat(income, sizes)[order])
    assert found.kind == "transactions"
    assert "household_income" in found.reason


def homes(size=3, rounded_to=100):
    draws = np.random.default_rng(5)
    home = np.repeat(np.arange(400), size)
    return {
        "edad": draws.integers(0, 90, home.size),
        "municipio": np.array(["Getafe", "Parla", "Madrid"])[draws.integers(0, 3, 400)][home],
        "ingresos_hogar": (draws.lognormal(10, 0.5, 400) // rounded_to * rounded_to).astype(int)[home],
        "voto": draws.integers(0, 4, home.size),
    }


def test_an_income_of_the_household_links_its_members_even_where_homes_share_it():
    found = describe_rows(read_table(homes()))
    assert (found.kind, found.household, found.person) == ("transactions", "ingresos_hogar", None)
    assert "share a value of ingresos_hogar, and those that do agree in another column" in found.reason
    assert "last digit" not in found.reason  # many homes share a rounded income
    assert "to the last digit" in describe_rows(read_table(homes(rounded_to=1))).reason


def test_an_income_of_the_household_of_one_member_each_links_nobody():
    assert describe_rows(read_table(homes(size=1))).kind == "people"
    mixed = homes() | {"ingresos_hogar": np.random.default_rng(0).permutation(homes()["ingresos_hogar"])}
    assert describe_rows(read_table(mixed)).kind == "people"


def test_exact_amounts_link_rows_whose_only_other_common_column_is_where_they_live():
    draws = np.random.default_rng(6)
    table = homes() | {"importe": np.round(draws.lognormal(10, 0.5, 400), 2).repeat(3)}
    del table["ingresos_hogar"]
    assert "importe" in describe_rows(read_table(table)).reason


def test_probabilities_and_logarithms_number_nobody():
    """A stratum has a probability, and a household has the logarithm of what it spends: neither is a person."""
    draw = np.random.default_rng(8)
    stratum = draw.integers(0, 36, 1_400)
    region, sex, age = stratum // 6, stratum % 2, draw.integers(15, 90, 1_400)
    found = describe(prob=draw.random(36)[stratum] / 900, region=region, female=sex, age=age)
    assert (found.kind, found.person) == ("people", None)
    home = np.repeat(np.arange(500), draw.integers(2, 6, 500))
    spent, tenure, size = draw.normal(3, 1, 500)[home], draw.integers(0, 3, 500)[home], draw.integers(0, 9, 500)[home]
    found = describe(lnhhexp=spent, tenure=tenure, commune=size, age=draw.integers(0, 90, home.size))
    assert (found.kind, found.person, found.household) == ("transactions", None, "lnhhexp")
