"""Names in short notes, and numbers that tell who lives together: neither goes out because somebody says it may."""

import random

import numpy as np
import pytest
from tests.decision import traps

from incrowd import assess, protect, read_table
from incrowd.assessment import Question, judge_protected, judge_release
from incrowd.tables import suggest_roles

pytestmark = pytest.mark.usefixtures("quick_estimates")

NOTES = {
    "German": ("Frau Herr", "Schäfer Müller Weber Krause Lehmann Özdemir Hoffmann Vogel Huber", "{} kam zur Kontrolle"),
    "French": (
        "Mme M. Mlle",
        "Dupont Durand Moreau Lefebvre Petit Girard Roux Fontaine Blanc",
        "appel de {}, à revoir",
    ),
    "Spanish": ("Sr. Sra.", "García López Martínez Pérez Romero Torres Ruiz Navarro Díaz", "{} vino a la revisión"),
    "Polish": ("pan pani", "Kowalski Nowak Wiśniewska Wójcik Zieliński Mazur Krawczyk Lis", "{} ma kaszel"),
    "Dutch": ("dhr. mevr.", "de_Vries Jansen van_den_Berg Bakker Visser Smit Meijer Bos Dekker", "gebeld met {}"),
    "Italian": ("Sig. Sig.ra", "Rossi Russo Ferrari Bianchi Romano Colombo Ricci Marino", "telefonata di {}"),
    "Portuguese": ("Sr. senhora", "Silva Santos Ferreira Pereira Costa Almeida Ribeiro Pinto", "{} veio à consulta"),
    "English": ("Mr Mrs Dr.", "Smith Jones Brown Taylor Wilson Evans Walker Wright Baker", "{} came for a check-up"),
}


def notes_of(language, share=1.0, rows=240, seed=1):
    draw = random.Random(seed)
    titles, names, form = NOTES[language]
    people = [name.replace("_", " ") for name in names.split()]
    cells = []
    for _ in range(rows):
        who = f"{draw.choice(titles.split())} {draw.choice(people)}" if draw.random() < share else "-"
        cells.append(f"{form.format(who)} ({draw.randrange(1, 400)})")
    return cells


@pytest.mark.parametrize("language", NOTES)
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_surnames_in_short_notes_name_people(language, share):
    (note,) = suggest_roles(read_table({"note": notes_of(language, share)}))
    assert (note.role, note.topic, note.confidence) == ("identifier", "person name", "high")


@pytest.mark.parametrize("form", ["Frau A. {}", "Frau: {}", "Herr Dr. {}", "Mme J.-P. {}"])
def test_titles_and_initials_before_a_surname_hide_no_name(form):
    cells = [note.replace("Frau ", "Herr ").replace("Herr ", form.format("")) for note in notes_of("German")]
    (note,) = suggest_roles(read_table({"note": cells}))
    assert (note.role, note.confidence) == ("identifier", "high")


def test_notes_with_surnames_are_no_yes_whatever_they_are_declared():
    table = {"age": [30 + row % 4 for row in range(240)], "note": notes_of("German")}
    found = assess(table, quasi_identifiers=["age"], other=["note"], rows_are_people=True).verdict
    assert found.decision == "exposed"
    assert "note names people" in " ".join(found.exposures)
    assert found.actions[-1].protection["leave_out"] == ["note"]
    assert found.actions[-1].expected["decision"] == "within"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "forms",
    [
        ["Sr. Engineer", "Sr. Analyst", "Sr. Manager", "Dr. Assistant", "Prof. Services"],
        ["Frau mit Kind", "Herr oder Frau", "die Frau", "Frau und Mann"],
        ["pan Fried", "Pan American", "Pan Asian", "frying pan Large"],
        ["M. Tuberculosis", "M. Avium", "M. Leprae", "M. Bovis", "M. Kansasii", "M. Marinum"],
        ["Mrs Dalloway", "Mr Clean", "Dr Pepper", "Oak Dr North", "Dr. No", "Miss Saigon"],
        ["MS Patient", "Ms word", "SR tablet", "sr Release", "Sig. level"],
    ],
)
def test_titles_and_words_that_only_look_like_forms_of_address_name_nobody(forms, seed):
    draw = random.Random(seed)
    cells = [f"{draw.choice(forms)} {draw.randrange(400)}" for _ in range(200)]
    (column,) = suggest_roles(read_table({"text": cells}))
    assert column.topic != "person name"


def test_a_household_number_that_is_kept_is_no_yes_although_rows_are_people():
    table = traps.households()
    known = ("region", "age_group", "sex")
    homes = {"household": table["hh"], **{name: table[name] for name in known}}
    asked = {"quasi_identifiers": known, "other": ("household",), "rows_are_people": True}
    found = assess(homes, **asked).verdict
    assert found.decision == "exposed"
    assert found.exposures[0].startswith("household tells who lives together")
    advice = found.actions[-1]
    assert advice.protection["leave_out"] == ["household"]
    safe = protect(homes, quasi_identifiers=list(known), **advice.protection)
    assert judge_protected(safe, Question(**asked)).decision == advice.expected["decision"] == "within"


def homes(known=("age", "sex")):
    draw = np.random.default_rng(1)
    home = np.repeat(draw.permutation(400) + 1, draw.integers(1, 5, 400))
    table = {
        "household": home,
        "age": draw.integers(20, 60, home.size),
        "sex": draw.choice(["m", "f"], home.size),
        "region": draw.choice(["n", "s"], 401)[home],
    }
    mixed = draw.permutation(home.size)
    return {name: table[name][mixed] for name in ("household", *known)}


def test_random_numbers_of_households_link_people_where_no_classes_of_households_were_made():
    table, known = homes(), ("age", "sex")
    told = {"quasi_identifiers": list(known), "person": "household", "identifiers": [], "warn": False}
    asked = Question(quasi_identifiers=known, other=("household",), rows_are_people=True)
    rounded = protect(table, method="perturb", steps=[("age", "round=40")], **told)
    assert judge_protected(rounded, asked).linking == ("household",)
    assert judge_protected(rounded, asked).decision == "exposed"
    assert judge_protected(protect(table, k=11, **told), asked).decision == "within"


def test_a_household_number_links_people_who_have_numbers_of_their_own():
    table = homes(("sex", "region"))
    table["pid"] = np.random.default_rng(2).permutation(len(table["sex"])) + 1
    asked = {"quasi_identifiers": ("sex", "region"), "other": ("household",), "person": "pid"}
    found = assess(table, **asked).verdict
    assert (found.decision, found.linking) == ("exposed", ("household",))
    assert found.actions[-1].protection["leave_out"] == ["household"]
    assert found.actions[-1].expected["decision"] == "within"


@pytest.mark.parametrize(("shuffled", "decision"), [(False, "exposed"), (True, "within")])
def test_a_column_of_unknown_name_links_people_if_they_share_a_region(shuffled, decision):
    table = homes(("sex", "region"))
    table["grp"] = np.random.default_rng(3).permutation(table["household"]) if shuffled else table["household"]
    del table["household"]
    asked = Question(quasi_identifiers=("sex", "region"), other=("grp",), rows_are_people=True)
    found = judge_release(table, asked)
    assert (found.decision, found.linking) == (decision, () if shuffled else ("grp",))


def test_a_kept_income_of_the_household_is_left_out_by_the_advice():
    draws = np.random.default_rng(5)
    home = np.repeat(np.arange(300), 3)
    table = {
        "edad": draws.integers(0, 4, home.size) * 20,
        "municipio": np.array(["Getafe", "Parla", "Madrid"])[draws.integers(0, 3, 300)][home],
        "ingresos_hogar": draws.lognormal(10, 0.5, 300).round(-2).astype(int)[home],
    }
    asked = {"quasi_identifiers": ["edad", "municipio"], "sensitive": ["ingresos_hogar"], "recipient": "trusted"}
    assert assess(table, **asked, protection=False).verdict.decision == "undecided"
    found = assess(table, **asked, rows_are_people=True)
    assert found.verdict.linking == ("ingresos_hogar",)
    assert found.verdict.actions[0].protection["leave_out"] == ["ingresos_hogar"]
