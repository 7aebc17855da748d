"""Suggested roles, each with a reason."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import UnsupportedError, assess, demo_table, read_table, suggest_roles
from incrowd.tables.roles import column_facts
from incrowd.tables.roles.column_facts import look_at_columns
from incrowd.tables.roles.linked_rows import find_linked_rows


def roles(table):
    return {column.column: column.role for column in suggest_roles(read_table(table))}


def test_the_demo_table():
    found = roles(demo_table(5_000))
    assert found.pop("charge") == "sensitive"
    assert found.pop("diag_p") == "sensitive"
    assert set(found.values()) == {"quasi-identifier"}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("email", ["a", "b", "c"], "identifier"),
        ("patient_id", [1, 1, 2], "person"),
        ("patient_id", list(range(100)), "identifier"),
        ("pid", list(range(5)), "identifier"),
        ("kundennummer", [f"K{number}" for number in range(20)], "identifier"),
        ("sampling_weight", [1.5, 2.5, 1.0], "weight"),
        ("dateOfBirth", ["1990-01-01", "1990-01-01", "1990-01-02"], "quasi-identifier"),
        ("Diagnosis", ["a", "a", "b"], "sensitive"),
        ("constant", [1, 1, 1], "other"),
        ("empty", [None, None, None], "other"),
        ("comment", ["x" * 60, "y" * 60, "y" * 60], "identifier"),
        ("record", [f"r{number}" for number in range(50)], "identifier"),
        ("q17", [1, 2, 1], "other"),
        ("lists", [[1], [2], [3]], "other"),
    ],
)
def test_a_column_by_name_and_values(name, values, role):
    (found,) = suggest_roles(read_table({name: values}))
    assert found.role == role
    assert found.reason


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("drug_name", "sensitive"),
        ("hospital_name", "quasi-identifier"),
        ("product_name", "other"),
        ("lastName", "identifier"),
        ("Prénom", "identifier"),
        ("email_status", "other"),
        ("immobile", "other"),
        ("toxicity", "other"),
        ("prostate_volume", "other"),
        ("placebo", "other"),
        ("examination", "other"),
        ("available", "other"),
        ("zipcode", "quasi-identifier"),
        ("birthdate", "quasi-identifier"),
        ("patcnty", "quasi-identifier"),
        ("ori_hid", "identifier"),
        ("id_fall", "identifier"),
        ("injury", "sensitive"),
        ("alcabuse", "sensitive"),
        ("pioglitazone", "sensitive"),
        ("jobtitle", "quasi-identifier"),
        ("racegroup", "quasi-identifier"),
        ("latitude", "quasi-identifier"),
        ("phoneme", "other"),
        ("accountant", "other"),
        ("n_emails", "other"),
        ("voice_level", "other"),
    ],
)
def test_whole_words_of_a_name_count_and_not_parts_of_them(name, role):
    assert roles({name: [f"v{number % 90}" for number in range(300)]}) == {name: role}


NAMING = [
    "homeaddress",
    "streetname",
    "emailadresse",
    "mailadresse",
    "accountnumber",
    "insurancenumber",
    "phoneno",
    "ssnlast4",
    "kundenname",
    "deviceid",
    "geburtsname",
    "email_contact",
    "phone_contact",
    "email_user",
    "num_tel",
    "n_passport",
    "telefonnummer",
    "steuernummer",
    "kontonr",
    "sozialversicherungsnummer",
    "Hausnummer",
    "passportNumber",
    "ip_address",
    "E-Mail",
    "credit_card_no",
    "bank_account",
    "imei",
    "cpf",
]


@pytest.mark.parametrize("name", NAMING)
def test_names_in_one_word_and_numbers_of_people_are_identifiers(name):
    assert roles({name: [f"v{number % 90}" for number in range(300)]}) == {name: "identifier"}


def test_zero_with_a_sign_is_zero():
    (found,) = suggest_roles(read_table({"a": [0.0, -0.0, 1.5, None]}))
    assert found.distinct == 2


def test_numbers_with_few_values_name_nobody_whatever_they_are_called():
    assert roles({"mobile": [0, 1] * 100, "hourly_wage": [9.5, 12.0] * 100}) == {
        "mobile": "other",
        "hourly_wage": "sensitive",
    }


def test_the_weight_of_a_body_is_no_sampling_weight():
    generator = np.random.default_rng(0)
    kilograms = generator.normal(75, 12, 300)
    for name in ("weight_kg", "weight", "body_weight", "Gewicht"):
        assert roles({name: kilograms}) == {name: "quasi-identifier"}
    people = generator.uniform(800, 5_000, 300)
    assert roles({"weight": people})["weight"] == "weight"
    assert roles({"weight": people, "bmi": kilograms})["weight"] == "quasi-identifier"
    assert roles({"weight": [None, *people[1:]]})["weight"] == "quasi-identifier"
    assert roles({"fnlwgt": people.astype(int)})["fnlwgt"] == "weight"
    both = suggest_roles(read_table({"household_weights": people, "sampling_weight": [100] * 300}))
    assert [(one.role, one.secondary) for one in both] == [("weight", True), ("weight", False)]


def test_generalised_columns_are_seen():
    (found,) = suggest_roles(read_table({"age": ["[20;30]", "[20;30]", "41"]}))
    assert found.generalised


def test_amounts_that_all_differ_are_no_identifiers_and_numbers_given_out_are():
    generator = np.random.default_rng(0)
    table = {
        "turnover": generator.permutation(np.unique((10 ** generator.uniform(2, 7, 400)).astype(int)))[:200],
        "counter": np.arange(200),
        "badge": generator.choice(np.arange(10_000_000, 99_999_999), 200, replace=False),
    }
    assert roles(table) == {"turnover": "other", "counter": "identifier", "badge": "identifier"}


def test_no_reason_is_made_up_where_a_name_or_a_form_says_less():
    table = {"schidkn": [(7 * number) % 79 + 1 for number in range(4_000)], "hired": ["yes", "no"] * 2_000}
    table["Please state which of these apply to your household in general"] = table["hired"]
    found = suggest_roles(read_table(table))
    assert {(column.topic, column.role, column.guess) for column in found} == {("", "other", "")}


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("grade", "quasi-identifier"),
        ("gradelevel", "quasi-identifier"),
        ("final_grade", "sensitive"),
        ("grades", "sensitive"),
    ],
)
def test_the_grade_that_somebody_is_in_is_known_and_the_one_that_they_got_is_not(name, role):
    (found,) = suggest_roles(read_table({name: [1, 2, 3, 4, 5, 6] * 20}))
    assert found.role == role


def test_what_is_seen_in_a_column_does_not_depend_on_the_order_of_rows():
    draw = np.random.default_rng(0)
    rows = 6_000
    columns = {
        "number": draw.integers(0, 10**9, rows),
        "amount": np.round(draw.lognormal(7, 1, rows), 2),
        "text": np.array([f"{'Anna Meyer' if n % 50 == 0 else 'nobody'} {n}" for n in draw.integers(0, 5_000, rows)]),
        "day": np.datetime64("1950-01-01") + draw.integers(0, 20_000, rows),
        "code": np.repeat(draw.permutation(rows // 3), 3),
        "sex": np.repeat(draw.integers(1, 3, rows // 3), 3),
    }
    mixed = draw.permutation(rows)
    tables = [read_table(columns), read_table({name: values[mixed] for name, values in columns.items()})]
    seen, again = (look_at_columns(table, table.columns) for table in tables)
    assert seen == again
    linked, as_well = (find_linked_rows(table, suggest_roles(table)) for table in tables)
    assert linked == as_well == ("code", ("sex",))


_ENTRIES = st.lists(st.sampled_from(["a", "b", "ann@home.example", "[1;2]", None]), min_size=1, max_size=6)


@given(_ENTRIES, st.lists(st.lists(st.integers(0, 5) | st.none(), min_size=1), min_size=1, max_size=3))
def test_a_column_of_a_dictionary_tells_what_its_texts_tell(entries, chunks):
    numbers = [[None if one is None else one % len(entries) for one in chunk] for chunk in chunks]
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(one, pa.int32()), pa.array(entries, pa.string())) for one in numbers
    ]
    column = pa.chunked_array(parts)
    tables = [read_table(pa.table({"x": one})) for one in (column, column.cast(pa.string()))]
    found, written_out = (look_at_columns(table, ["x"]) for table in tables)
    assert found == written_out


@pytest.mark.parametrize("kind", ["float64", "int64", "uint8"])
def test_numbers_are_counted_alike_whether_many_or_few_differ(kind):
    draw = np.random.default_rng(4)
    for most in (3, 250):
        cells = [None, *draw.integers(0, most, 300).tolist()]
        cells += [-0.0, 0.0, float("nan")] if kind == "float64" else []
        column = pa.array(cells, pa.float64()).cast(kind)
        (found,) = suggest_roles(read_table(pa.table({"q17": column})))
        assert found.distinct == len({cell for cell in cells if cell is not None and cell == cell})


def test_texts_that_take_more_memory_than_there_is_are_refused_before_they_are_counted(tmp_path, monkeypatch):
    pq.write_table(pa.table({"code": [f"code {number}" for number in range(5_000)]}), tmp_path / "codes.parquet")
    table = read_table(tmp_path / "codes.parquet", memory="50MB")
    monkeypatch.setattr(column_facts, "_BYTES_A_TEXT", 20_000)
    with pytest.raises(
        UnsupportedError, match=r"texts of column code takes about 100 MB, more than .* 50 MB"
    ) as refused:
        suggest_roles(table)
    assert refused.value.hint == ("memory",)
    same = pa.array(["a", "b"] * 50).dictionary_encode()
    (found,) = suggest_roles(read_table(pa.table({"code": pa.chunked_array([same] * 100)})))
    assert found.distinct == 2  # what parts share is counted once


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_a_few_surnames_in_notes_are_a_no_whatever_the_notes_are_called(role):
    surnames = ("Schäfer", "Müller", "Weber", "Becker")
    notes = [f"Frau {name} kam zur Kontrolle" for name in surnames]
    rows = {"sex": ["m", "w"] * 200, "note": [*notes * 5, *["unauffällig", "Kontrolle"] * 190]}
    assert suggest_roles(read_table(rows))[1].topic == "person name"
    verdict = assess(
        rows, quasi_identifiers=["sex"], rows_are_people=True, recipient="public", **{role: ["note"]}
    ).verdict
    assert verdict.decision == "exposed"
    assert any("note names people" in one for one in verdict.exposures)


def test_words_for_sex_are_no_surnames():
    found = suggest_roles(read_table({"x": ["Frau", "Herr", "Divers"] * 100}))[0]
    assert (found.role, found.topic) == ("quasi-identifier", "sex")


def test_measured_numbers_are_no_size_of_a_household_and_number_nobody():
    draw = np.random.default_rng(1)
    heights = (draw.integers(110, 140, 900) / 2).tolist()
    ranges = [f"[{height};{height + 1.5}]" if at % 3 else f"{height}" for at, height in enumerate(heights)]
    found = {one.column: one for one in suggest_roles(read_table({"childHeight": heights, "mother": ranges}))}
    assert "how people look" in found["childHeight"].reason
    assert {one.role for one in found.values()} == {"quasi-identifier"}
    assert roles({"mother": np.repeat(np.arange(300), 3)})["mother"] == "identifier"
    assert "household" in suggest_roles(read_table({"children": draw.integers(0, 6, 900)}))[0].topic


def test_insurance_is_no_stay_in_hospital():
    (found,) = suggest_roles(read_table({"insurance": ["yes", "no"] * 300}))
    assert (found.role, "insured" in found.reason) == ("quasi-identifier", True)


def test_a_weight_of_the_sample_in_one_word_and_one_of_crashes_are_weights():
    draw = np.random.default_rng(0)
    people = draw.uniform(800, 30_000, 300)
    for name in ("perweight", "trimwt", "xyzweights"):
        assert roles({name: people}) == {name: "weight"}
        assert roles({name: draw.integers(1, 9, 300)}) == {name: "other"}
    assert roles({"lwt": draw.normal(130, 20, 300)}) == {"lwt": "quasi-identifier"}
    assert roles({"weight": np.append(0.0, people), "height": draw.integers(150, 190, 301)})["weight"] == "weight"
    assert roles({"dwt": draw.integers(110, 260, 300), "ht": draw.integers(60, 76, 300)})["dwt"] == "quasi-identifier"


def test_scores_and_shares_of_a_year_are_no_weights():
    draw = np.random.default_rng(0)
    shares = np.where(draw.random(900) < 0.995, 1.0, draw.random(900))
    assert roles({"x": draw.normal(35, 8, 900).clip(7, 62), "y": shares}) == {"x": "other", "y": "other"}


def test_amounts_of_a_household_number_none():
    draw = np.random.default_rng(0)
    (found,) = suggest_roles(read_table({"household": draw.integers(8, 90, 3_000) * 1_000}))
    assert (found.role, found.topic) == ("sensitive", "income")
    assert roles({"household": np.repeat(np.arange(300), 3)})["household"] == "identifier"


@pytest.mark.parametrize("unit", [1, 100])
def test_a_weight_of_a_body_may_have_a_code_or_be_in_hundredths(unit):
    draw = np.random.default_rng(0)
    weight = draw.normal(75, 15, 2_000).round() * unit
    weight[:40] = 99_999
    assert roles({"weight": weight, "height": draw.normal(170, 10, 2_000).round()})["weight"] == "quasi-identifier"


def test_households_with_many_rows_each_are_numbered():
    draw = np.random.default_rng(0)
    numbers = draw.integers(1, 1_001, 20_000)
    assert roles({"household": numbers, "spent": draw.gamma(2, 5, 20_000).round(2)})["household"] == "identifier"
    assert roles({"hh": [f"H{number:05d}" for number in numbers]})["hh"] == "identifier"


def test_years_of_a_diagnosis_are_dates():
    years = np.random.default_rng(0).integers(1960, 1995, 900)
    assert roles({"dxyr": years, "dx": years % 7}) == {"dxyr": "quasi-identifier", "dx": "sensitive"}


def test_a_name_that_starts_with_age_holds_ages_if_its_values_can_be():
    draw = np.random.default_rng(0)
    assert roles({"agefst": draw.integers(14, 33, 900)})["agefst"] == "quasi-identifier"
    assert roles({"agefst": draw.integers(0, 90_000, 900) * 3})["agefst"] != "quasi-identifier"


def test_an_id_with_several_rows_tells_whose_they_are():
    assert roles({"id": np.repeat(np.arange(300), 3)}) == {"id": "person"}
    assert roles({"id": np.arange(300)}) == {"id": "identifier"}
