"""Roles that values give away: record numbers under plain names, dates, weights without a name, multiple choice."""

import datetime as dt
import time
import uuid

import numpy as np
import pyarrow as pa
import pytest

from incrowd import UnsupportedError, read_table, suggest_roles
from incrowd.tables import ROLES
from incrowd.tables.roles import column_facts
from incrowd.tables.roles.column_facts import ColumnFacts
from incrowd.tables.roles.direct_identifiers import find_direct_identifier

ROWS = 2_000
GENERATOR = np.random.default_rng(5)
AGES = GENERATOR.integers(0, 95, ROWS)


def suggest(**columns):
    return {one.column: one for one in suggest_roles(read_table(columns))}


def role_of(name, values):
    return suggest(**{name: values})[name].role


@pytest.mark.parametrize(
    "words",
    [*("yes no", "JA Nein", "oui non", "true FALSE", "t f", "Y N", "sí no", "sim não", "tak nie")],
)
def test_words_for_yes_and_no_are_told_as_such_and_stay(words):
    yes, no = words.split()
    cells = [yes, no, None, yes] * 30
    table = read_table({"smokes": cells})
    (found,) = suggest_roles(table)
    assert (found.kind, found.distinct, table.scale_of("smokes")) == ("yes/no", 2, "nominal")
    assert table.to_arrow()["smokes"].to_pylist() == cells
    assert found.role == role_of("smokes", [None if cell is None else cell == yes for cell in cells])


@pytest.mark.parametrize(
    "cells", [["yes", "no", "maybe"], ["yes", "nein"], ["yes", "yes"], ["0", "1"], [0, 1], ["f", "m"]]
)
def test_other_words_are_no_yes_or_no(cells):
    assert suggest(smokes=cells * 30)["smokes"].kind != "yes/no"


PLAIN_NAMES = [
    "x",
    "ref",
    "dossier",
    "IPP",
    "num_adherent",
    "case",
    "nummer",
    "clave",
    "kod",
    "chiave",
    "sleutel",
    "lp",
]


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_whole_numbers_that_all_differ_are_identifiers_under_any_name(name):
    consecutive = GENERATOR.permutation(np.arange(1, ROWS + 1))
    with_gaps = GENERATOR.choice(np.arange(1, 50_000_000), ROWS, replace=False)
    skewed = np.unique((10 ** GENERATOR.uniform(1, 8, 2 * ROWS)).astype(int))[:ROWS]
    with_nulls = [None, *consecutive[1:].tolist()]
    nearly = [*consecutive[:-20].tolist(), *consecutive[:20].tolist()]
    for values in (consecutive, with_gaps, skewed, with_nulls, nearly, consecutive.astype(float)):
        assert role_of(name, values) in {"identifier", "person"}, values[:3]


@pytest.mark.parametrize("name", ["visit", "student", "house", "member", "employee", "client", "family", "patient"])
def test_a_word_for_a_person_or_a_case_over_numbers_that_all_differ_is_an_identifier(name):
    assert role_of(name, np.arange(1, ROWS + 1)) == "identifier"


@pytest.mark.parametrize("name", ["price", "Preis", "income", "umsatz", "montant", "gasto", "balance"])
def test_amounts_that_all_differ_are_no_identifiers(name):
    assert role_of(name, np.unique((10 ** GENERATOR.uniform(2, 9, ROWS)).astype(int))) != "identifier"


@pytest.mark.parametrize("name", ["income", "credit", "area", "date", "score"])
def test_numbers_that_count_up_are_identifiers_even_under_the_name_of_a_quantity(name):
    assert role_of(name, GENERATOR.permutation(np.arange(1, ROWS + 1))) == "identifier"
    assert role_of("year", np.arange(1950, 2020)) == "quasi-identifier"


def test_measurements_with_decimals_are_no_identifiers():
    assert role_of("x", GENERATOR.normal(0, 1, ROWS)) == "other"
    assert role_of("x", [f"{value:.4f}" for value in GENERATOR.normal(0, 1, ROWS)]) == "other"


def test_numbers_of_people_with_several_records_each_are_the_person_column():
    people = np.sort(GENERATOR.choice(np.arange(100_000, 999_999), 500, replace=False))
    for name in ("x", "basket", "client", "num_patient", "subject_id"):
        assert role_of(name, np.repeat(people, 4)) == "person", name


def test_counts_and_codes_are_no_numbers_of_people():
    assert role_of("steps", GENERATOR.poisson(40, ROWS) * 10) == "other"
    assert role_of("x", GENERATOR.geometric(0.002, ROWS)) == "other"
    assert role_of("x", GENERATOR.choice([1, 2, 3, 9], ROWS)) == "other"


@pytest.mark.parametrize(
    ("cell", "role"),
    [
        (lambda number: f"person{number}@example.org", "identifier"),
        (lambda number: str(uuid.UUID(int=number * 7**30 % 2**128)), "identifier"),
        (lambda number: f"{number * 7**30 % 2**128:032x}", "identifier"),
        (lambda number: f"+49 170 {number:07d}", "identifier"),
        (lambda number: f"P-{number:06d}", "identifier"),
        (lambda number: str(dt.date(1930, 1, 1) + dt.timedelta(days=number * 11)), "quasi-identifier"),
        (lambda number: f"{number % 28 + 1:02d}/{number % 12 + 1:02d}/{1930 + number % 80}", "quasi-identifier"),
        (lambda number: f"{1000 + number % 90} {'ABCD'[number % 4]}K", "quasi-identifier"),
        (lambda number: ["m", "f", "f"][number % 3], "quasi-identifier"),
        (lambda number: ["verheiratet", "ledig", "geschieden"][number % 3], "quasi-identifier"),
        (lambda number: f"{'EIJK'[number % 4]}{number % 90 + 10}.{number % 9}", "sensitive"),
        (lambda number: f"{'ABCN'[number % 4]}{number % 9:02d}AA{number % 20:02d}", "sensitive"),
        (lambda number: ["often", "sometimes", "never"][number % 3], "other"),
        (lambda number: f"on day {number} the patient said that pain was {number % 7} of ten again", "identifier"),
    ],
)
def test_the_form_of_cells_tells_what_they_are(cell, role):
    assert role_of("v17", [cell(number) for number in range(400)]) == role


def test_numbers_that_are_dates_or_years_are_quasi_identifiers():
    years = GENERATOR.integers(1930, 2010, ROWS)
    days = years * 10_000 + GENERATOR.integers(1, 13, ROWS) * 100 + GENERATOR.integers(1, 29, ROWS)
    found = suggest(a=years, b=days, c=days // 100, d=np.array(days, dtype="datetime64[s]"))
    assert {one.role for one in found.values()} == {"quasi-identifier"}
    assert [found[name].topic for name in "abcd"] == ["time", "birth", "date", "date"]


def test_long_answers_to_choose_from_are_no_free_text():
    choices = [f"I {how} agree with what the government did about this in the last year" for how in ("do", "do not")]
    found = suggest(q5=[choices[number % 2] for number in range(400)])["q5"]
    assert found.role == "other"
    assert found.reason.startswith("answers to choose from")


WEIGHT_NAMES = [
    "w", "wt", "wgt", "weight", "poids", "peso", "gewicht", "hochrechnungsfaktor", "coef", "fac", "fex_c", "pond",
    "ipondi", "perwt", "hhwt", "PWGTP", "wtssall", "coeffy", "V1028", "factor_expansion", "facteur", "waga", "extri",
    "LLCPWT",
]  # fmt: skip


@pytest.mark.parametrize("name", WEIGHT_NAMES)
def test_weights_are_found_by_their_names_in_many_languages(name):
    grossing = GENERATOR.lognormal(6, 0.5, ROWS)
    scaled = grossing / grossing.mean()
    for values in (grossing, scaled, grossing.astype(int)):
        assert role_of(name, values) == "weight"


def test_weights_without_a_telling_name_are_found_by_their_values():
    weights = GENERATOR.lognormal(6, 0.5, ROWS)
    for values in (weights, weights / weights.mean()):
        found = suggest(age=AGES, zz=values)["zz"]
        assert (found.role, found.confidence) == ("weight", "low")
    assert role_of("zz", np.round(weights, 2)) == "other"
    assert role_of("zz", -weights) == "other"


def test_of_several_weights_one_is_proposed_and_replicates_are_named_as_such():
    main = GENERATOR.lognormal(5, 0.3, ROWS)
    replicates = {f"repwt{number}": main * GENERATOR.uniform(0.5, 1.5, ROWS) for number in range(1, 41)}
    found = suggest(**replicates, hhweight=main, age=AGES, perwt=main)
    assert {found[name].role for name in (*replicates, "hhweight", "perwt")} == {"weight"}
    assert [name for name in found if found[name].role == "weight" and not found[name].secondary] == ["perwt"]
    assert "40 replicate weights" in found["repwt7"].reason


def test_twenty_questions_are_no_replicate_weights():
    found = suggest(**{f"q{number}": GENERATOR.integers(1, 6, ROWS) for number in range(1, 31)})
    assert {one.role for one in found.values()} == {"other"}


def test_design_columns_are_left_to_a_person():
    found = suggest(stratum=GENERATOR.integers(1, 30, ROWS), psu=GENERATOR.integers(1, 3, ROWS))
    assert {(one.role, one.confidence) for one in found.values()} == {("other", "low")}
    assert "can stand for an area" in found["psu"].reason


def test_a_column_without_evidence_is_left_to_a_person():
    found = suggest(q17=GENERATOR.integers(1, 6, ROWS))["q17"]
    assert (found.role, found.confidence) == ("other", "low")
    assert found.reason.endswith("a person must decide")


def test_no_reason_contains_a_cell_and_every_suggestion_is_complete():
    names = ["Marjorie Featherstonehaugh", "Zbigniew Wolski", "Ana Lourdes Quispe"]
    table = {"who": names * 20, "email": [f"{name[:3]}{number}@corp.example" for number in range(20) for name in names]}
    for one in suggest(**table, secret=["unobtainium poisoning", "flu", "flu"] * 20).values():
        assert one.role in ROLES
        assert one.confidence in {"high", "medium", "low"}
        assert not any(word in one.reason for word in ("Marjorie", "Zbigniew", "corp", "unobtainium"))
        assert one.to_dict()["confidence"] == one.confidence


def test_long_cells_are_looked_at_in_a_time_that_grows_as_they_do():
    cells = tuple(f"{number}" + "Иванович " * 4_000 + "\n" for number in range(30))
    started = time.process_time()
    assert find_direct_identifier(ColumnFacts("x", "text", 30, 0, 30, sample=cells)) is not None
    assert time.process_time() - started < 2  # half a minute where the time is quadratic


def test_each_text_is_searched_for_contacts_once_and_offices_are_no_persons(monkeypatch):
    """Texts with an address of their own, or with one that 21 or more rows share."""
    own = [f"write to me at person{number}@example.org please" for number in range(12_000)]
    offices = [f"ask office{number % 50}@example.org about case {number}" for number in range(30 * 50)]
    both = ["me@example.org or office1@example.org"] * 3
    searched = []
    addresses = column_facts._addresses
    monkeypatch.setattr(column_facts, "_addresses", lambda text: searched.append(text) or addresses(text))
    table = read_table({"note": own + offices + both})
    (facts,) = column_facts.look_at_columns(table, ["note"])
    assert (facts.contacts, facts.shared_contacts) == (12_000 + 3, 30 * 50)
    assert len(searched) == len({*searched}) == 12_000 + 1_500 + 1


def test_a_telephone_number_in_many_rows_is_not_passed_over():
    notes = ["Herr Müller, Tel. 0351-448710, bitte Tochter anrufen", "nüchtern", "Allergie"] * 200
    (note,) = suggest_roles(read_table({"note": notes}))
    assert (note.role, note.confidence) == ("identifier", "medium")
    assert note.reason.startswith("200 of its cells have an e-mail address or a telephone number that many rows have")


def test_long_texts_that_take_more_memory_than_there_is_are_refused():
    texts = pa.array([f"{number} {'word ' * 60}" for number in range(60_000)]).dictionary_encode()
    table = read_table({"note": texts}, memory="50MB")
    with pytest.raises(UnsupportedError, match="looking at the texts of column note takes about 59 MB"):
        suggest_roles(table)
