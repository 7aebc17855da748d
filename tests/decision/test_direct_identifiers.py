"""Cells that name people by themselves, declared to be known to nobody: no yes stands on that."""

import numpy as np
import pytest

from incrowd import InputError, protect, read_table
from incrowd.assessment import Question, judge_release
from incrowd.tables import suggest_roles

ROWS = 400
FIRST = ["Anna", "Ben", "Carla", "David", "Eva", "Frank", "Greta", "Hugo", "Irina", "Jonas"]
LAST = ["Alpha", "Berger", "Cremona", "Dupontel", "Eriksen", "Faltskog", "Grabowska", "Hallstein"]
FORMS = {
    "full names": lambda number: f"{FIRST[number % 10]} {LAST[number // 10]}",
    "family name first": lambda number: f"{LAST[number // 10].upper()}, {FIRST[number % 10]}",
    "initials": lambda number: f"{FIRST[number % 10][0]}. {LAST[number // 10]}",
    "titles": lambda number: f"Dr {LAST[number // 10]}-{LAST[number % 8]}",
    "Chinese names": lambda number: "王李张刘陈杨黄赵"[number // 10] + "伟芳娜敏静丽强磊军洋"[number % 10],
    "patronymics": lambda number: (
        f"{['Анна', 'Ольга', 'Иван', 'Пётр'][number % 4]} Иванович {'абвгдежз'[number // 10]}"
    ),
    "e-mail addresses": lambda number: f"someone{number}@example.org",
    "telephone numbers": lambda number: f"+49 30 1{number:06}",
    "addresses": lambda number: f"{LAST[number // 10]}straße {number % 10 + 1}",
    "addresses in English": lambda number: f"{number + 1} {LAST[number // 10]} Road",
    "social security numbers": lambda number: f"1{number:02}-45-67{number:02}",
}


def crowd(**columns):
    draw = np.random.default_rng(0)
    return {"age": draw.integers(3, 6, ROWS) * 10, "sex": draw.choice(["f", "m"], ROWS), **columns}


def decide(table, **roles):
    question = Question(quasi_identifiers=["age", "sex"], recipient="public", rows_are_people=True, **roles)
    return judge_release(table, question)


@pytest.mark.parametrize("name", ["x7", "region", "reviewed"])
@pytest.mark.parametrize("form", FORMS)
def test_eighty_people_named_in_a_column_are_no_yes_in_any_role(form, name):
    cells = [FORMS[form](number) for number in np.random.default_rng(1).integers(0, 80, ROWS)]
    for role in ("other", "sensitive"):
        found = decide(crowd(**{name: cells}), **{role: [name]})
        assert found.decision == "exposed"
        assert any(exposure.startswith(f"{name} names people") for exposure in found.exposures)
    assert decide(crowd(), other=[]).decision == "within"


@pytest.mark.parametrize("name", ["x7", "region", "school"])
@pytest.mark.parametrize("form", FORMS)
def test_sets_of_people_are_no_yes_where_they_are_named_as_a_quasi_identifier(form, name):
    original = crowd(**{name: [FORMS[form](number) for number in np.arange(ROWS) % 80]})
    known = ["age", "sex", name]
    safe = protect(original, quasi_identifiers=known, k=11, identifiers=[], warn=False)
    for table in (original, safe.table):
        asked = Question(quasi_identifiers=known, recipient="public", rows_are_people=True)
        found = judge_release(table, asked, original=original)
        assert found.decision == "exposed"
        assert found.exposures[0].startswith(f"The table still names people or their records: {name}.")


def test_sets_of_towns_name_nobody():
    towns = [f"{LAST[row % 8]}{['burg', 'dorf', 'stadt'][row % 3]}" for row in range(ROWS)]
    safe = protect(crowd(town=towns), quasi_identifiers=["age", "sex", "town"], k=30, warn=False)
    found = judge_release(safe.table, Question(quasi_identifiers=["age", "sex", "town"], rows_are_people=True))
    assert found.decision == "within"


@pytest.mark.parametrize("made_coarser", [["*"], ["{a,b}"], ["*"] * (ROWS // 2)], ids=["one star", "one set", "half"])
@pytest.mark.parametrize("form", FORMS)
def test_a_few_coarse_cells_do_not_hide_the_people_in_the_others(form, made_coarser):
    cells = [FORMS[form](number) for number in np.arange(ROWS) % 80]
    cells[: len(made_coarser)] = made_coarser
    assert decide(crowd(x7=cells), other=["x7"]).decision == "exposed"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("city", ["Santa Clara", "San Jose", "Santa Rosa", "San Diego", "Santa Ana", "Santa Maria", "San Carlos"] * 2),
        ("school", ["Rosa Parks", "Anne Frank", "John Adams", "Marie Curie", "Helen Keller", "Maria Montessori"]),
        ("telephone", ["landline", "mobile", "none"]),
        ("name", ["Bonn", "Trier", "Mainz"]),
    ],
)
def test_places_and_kinds_that_a_person_calls_known_to_others_are_counted(name, values):
    """A person named them as quasi-identifiers, and the cells do not clearly name people."""
    table = crowd(**{name: [values[row % len(values)] for row in range(ROWS)]})
    asked = Question(quasi_identifiers=["age", "sex", name], recipient="public", rows_are_people=True)
    found = judge_release(table, asked)
    assert not [one for one in found.exposures if "names people" in one]


def test_where_all_quasi_identifiers_name_people_the_error_says_so():
    table = crowd(who=[FORMS["e-mail addresses"](number) for number in np.arange(ROWS) % 80])
    with pytest.raises(InputError, match="the cells of who name people"):
        judge_release(table, Question(quasi_identifiers=["who"], recipient="public", rows_are_people=True))


def test_protecting_by_a_column_of_names_is_told():
    table = crowd(who=[FORMS["e-mail addresses"](number) for number in np.arange(ROWS) % 80])
    safe = protect(table, quasi_identifiers=["age", "who"], k=5, identifiers=[])
    assert any("the cells of who name people" in note for note in safe.notes)


def test_addresses_in_a_tenth_of_the_cells_name_people_too():
    cells = [FORMS["e-mail addresses"](row) if row % 10 == 0 else f"answer {row % 7}" for row in range(ROWS)]
    assert decide(crowd(contacted=cells), other=["contacted"]).decision == "exposed"


@pytest.mark.parametrize("answers", [["fine"], ["fine", "too long"], [f"answer {number}" for number in range(60)]])
@pytest.mark.parametrize(
    "said",
    [
        "Maria Schmidt, 0171 2345678",
        "call me: +44 20 7946 0958",
        "Paul 06 12 34 56 78",
        "Jo (415) 555-2671",
        "write to m.smith@example.org please",
        "+49 171 2345678",
        "+48 601 234 567",
        "+33.6.12.34.56.78",
        "0171/2345678",
        "Nagy Csaba, tel. 06-30-7319570",
        "06 30 731 9570",
        "020 7946 0958",
        "06.12.34.56.78",
        "(030) 123456-78",
        "415-555-2671",
        "Tel.:0049 171 2345678",
        "Tel.0171 2345678",
        "my number is 01712345678",
        "Rufen Sie an: Handy +4917123456789",
    ],
)
def test_one_answer_with_the_number_or_address_of_a_person_is_no_yes(said, answers):
    cells = [answers[row % len(answers)] for row in range(ROWS)]
    cells[123] = said
    for role in ("other", "sensitive"):
        found = decide(crowd(remark=cells), tolerate=0.5, **{role: ["remark"]})
        assert found.decision == "exposed"
    (remark,) = (one for one in suggest_roles(read_table(crowd(remark=cells))) if one.column == "remark")
    assert remark.reason == "1 of its cells has an e-mail address or a telephone number in the text"


@pytest.mark.parametrize(
    "said",
    [
        "seen on 01.02.2003 10:15",
        "paid 0.50 to 1 200 300 EUR",
        "ICD C50.9, 2019-2020",
        "room 012-34",
        "between 10000000 and 20000000",
        "version 1.2.3-004",
        "ask info@example.org",
    ],
)
def test_dates_amounts_and_an_office_in_answers_are_no_numbers_of_people(said):
    cells = [said if row % 4 == 0 else f"answer {row % 9}" for row in range(ROWS)]
    (remark,) = (one for one in suggest_roles(read_table(crowd(remark=cells))) if one.column == "remark")
    assert remark.role != "identifier" or (remark.confidence, "many rows have" in remark.reason) == ("medium", True)


OFFICE = "for questions call 555-123-4567 (office)"
FOOTER = "fine -- sent via survey@uni.example"


@pytest.mark.parametrize(
    ("usual", "said", "times"),
    [
        ([OFFICE, "fine"], "Maria Schmidt, m.schmidt@example.org", 1),
        ([FOOTER, FOOTER.replace("fine", "too long")], f"Maria Schmidt, 0171 2345678 -- {FOOTER}", 1),
        (["fine", "too long"], "reach me: m.schmidt@example.org", 6),
    ],
)
def test_an_office_or_several_visits_do_not_hide_a_person(usual, said, times):
    cells = [said if row < times else usual[row % 2] for row in range(ROWS)]
    (remark,) = (one for one in suggest_roles(read_table(crowd(remark=cells))) if one.column == "remark")
    assert (remark.role, remark.reason.split()[0]) == ("identifier", str(times))
    cells[:times] = usual[:1] * times
    (remark,) = (one for one in suggest_roles(read_table(crowd(remark=cells))) if one.column == "remark")
    assert remark.role != "identifier" or (remark.confidence, "many rows have" in remark.reason) == ("medium", True)


@pytest.mark.parametrize("words", ["{}", "seen {} again"])
@pytest.mark.parametrize(
    "said",
    [
        "01.02.2003",
        "01/02/2003 10:15",
        "2003-02-01T10:15:00+01:00",
        "03 02 2021",
        "20030201",
        "08.30-09.45, 10.30-11.15",
        "0830-1230 1330-1700",
        "+1 200 300 400",
        "+0.123456789",
        "-1.234.567,89",
        "1 000 000 - 2 000 000",
        "0.50-1.25-3.75",
        "1.10.123.4567",
        "+52.5200066+013.4049540/",
        "52.520008, 13.404954",
        "978-0-306-40615-7",
        "0-306-40615-2",
        "0317-8471",
        "0012345678",
        "000123-456789",
        "2019 (2020) 1234-1245",
        "0045 12/03/2019",
        "192.168.100.2000",
    ],
)
def test_one_date_amount_range_code_or_place_is_no_number_of_a_person(said, words):
    cells = ["fine", "too long"] * (ROWS // 2)
    cells[7] = words.format(said)
    (remark,) = (one for one in suggest_roles(read_table(crowd(remark=cells))) if one.column == "remark")
    assert remark.role != "identifier" or (remark.confidence, "many rows have" in remark.reason) == ("medium", True)


def test_codes_that_sometimes_have_the_form_of_a_telephone_number_are_none():
    cells = [f"{row % 7:02}.{row % 5:02}" + ".03.04.05" * (row % 90 == 0) for row in range(ROWS)]
    (found,) = (one for one in suggest_roles(read_table(crowd(budget=cells))) if one.column == "budget")
    assert found.role != "identifier"


OTHER_WORDS = {
    "countries": "Albania|Chad|Georgia|Jordan|Kenya|New Zealand|Puerto Rico|South Africa|United States|Zambia",
    "cities": "San Antonio|San Diego|New York|Los Angeles|Santa Ana|Baton Rouge|El Paso|Fort Worth|Saint Paul|"
    "Kansas City|Long Beach|Oklahoma City|Salt Lake City|San Jose|Las Vegas|Virginia Beach|Colorado Springs",
    "jobs": "Machine Operator|Sales Clerk|Truck Driver|School Teacher|Registered Nurse|Chief Executive|Farm Worker|"
    "Office Clerk|Civil Engineer|Dental Assistant|Bank Teller|Retail Manager",
    "doses": "1 tablet|2 tablets|3 drops at night|1 st dose|10 mg|20 mg|30 mg|40 mg|50 mg|60 mg|70 mg|80 mg",
    "codes of illnesses": "|".join(f"C50.{digit}" for digit in range(10)) + "|D05.1|D05.9",
    "species": "E. coli|S. aureus|K. pneumoniae|P. aeruginosa|E. faecalis|C. difficile|H. influenzae|N. gonorrhoeae|"
    "L. monocytogenes|B. cereus|C. albicans",
    "provinces": "江苏|北京|上海|广东|浙江|山东|河南|四川|湖北|湖南|福建|安徽|辽宁",
    "towns": "St. Louis|St. Paul|Mt. Vernon|Ft. Worth|St. George|St. Cloud|Mt. Holly|Ft. Wayne|Ft. Myers|Mt. Airy",
    "places by number": "|".join(f"place {number}" for number in range(40)),
    "months": "Jan 2020|Feb 2020|Mar 2020|Apr 2020|May 2020|Jun 2020|Jul 2020|Aug 2020|Sep 2020|Oct 2020|Nov 2020",
    "illnesses": "Crohn disease|Parkinson disease|Down syndrome|Marfan syndrome|Addison disease|Paget disease|Graves "
    "disease|Hodgkin lymphoma|Wilson disease|Alzheimer disease|Angina pectoris",
}


@pytest.mark.parametrize("kind", OTHER_WORDS)
def test_other_words_are_not_taken_for_people(kind):
    cells = np.random.default_rng(2).choice(OTHER_WORDS[kind].split("|"), ROWS)
    (suggested,) = suggest_roles(read_table({"x7": cells}))
    assert suggested.role != "identifier"
