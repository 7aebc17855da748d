"""Kept texts that repeat what was made coarser, counted in plain Python."""

from collections import Counter

import numpy as np
import pytest

from incrowd import assess, protect
from incrowd.measures import kept_column_facts

ROWS = 2_000
FORMS = ("{}-year-old with a cough", "Age {}: cough", "seen (aged {})")


def notes(share, own=True, seed=3):
    """Ages, towns and notes, of which a share says an age: the person's own, or anybody's."""
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 90, ROWS)
    town = draw.choice(["Bad Aibling", "York", "Oslo", "Bonn"], ROWS)
    said = age if own else draw.permutation(age)
    note = [
        FORMS[i % 3].format(said[i]) if draw.random() < share else f"cough for {draw.integers(1, 60)} days"
        for i in range(ROWS)
    ]
    note = [f"{text}, case x{i}" for i, text in enumerate(note)]
    before = {"age": age, "town": town, "note": note}
    return before, {**before, "age": [f"[{a // 10 * 10};{a // 10 * 10 + 9}]" for a in age]}


@pytest.mark.parametrize("share", [0.02, 0.4, 1.0])
def test_notes_that_say_the_age_give_it_back(share):
    before, after = notes(share)
    (fact,) = kept_column_facts(before, after, ["age", "town"], ["note"], coarse=["age"])
    says = [
        str(age) in note.replace("-", " ").replace(":", " ").replace(")", " ").replace(",", " ").split()
        for age, note in told(before)
    ]
    classes = Counter(key for key, is_said in zip(keys(before, after), says, strict=True) if is_said)
    assert (fact.column, fact.gives_back, fact.k_without) == ("note", "age", min(Counter(released(after)).values()))
    assert fact.told == pytest.approx(np.mean(says))
    assert fact.by_chance < 0.05
    assert (fact.k, fact.uniques) == (min(classes.values()), list(classes.values()).count(1))


def told(before):
    return zip(before["age"], before["note"], strict=True)


def released(after):
    return list(zip(after["age"], after["town"], strict=True))


def keys(before, after):
    return list(zip(after["age"], after["town"], before["age"], strict=True))


def test_towns_of_two_words_and_days_of_birth_are_found_as_they_are_written():
    before, _ = notes(0.0)
    draw = np.random.default_rng(4)
    born = np.datetime64("1950-01-01") + draw.integers(0, 20_000, ROWS)
    written = [f"{day.astype(object):%d.%m.%Y}" for day in born]
    kept = {"home": [f"lives in {town.upper()}, alone" for town in before["town"]]}
    kept |= {"remark": [f"born {day}; no pets" for day in written]}
    original = {"born": born, "town": before["town"], **kept}
    release = {"born": ["[1950-01-01;2004-12-31]"] * ROWS, "town": ["{Bad Aibling,Bonn,Oslo,York}"] * ROWS, **kept}
    facts = kept_column_facts(original, release, ["born", "town"], list(kept))
    assert {(fact.column, fact.gives_back) for fact in facts} == {("home", "town"), ("remark", "born")}


@pytest.mark.parametrize("seed", range(4))
def test_ages_of_other_people_give_nothing_back(seed):
    before, after = notes(1.0, own=False, seed=seed)
    assert kept_column_facts(before, after, ["age", "town"], ["note"], coarse=["age"]) == ()


@pytest.mark.usefixtures("quick_estimates")
@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_such_a_note_is_no_yes_and_the_advice_leaves_it_out(role):
    before, _ = notes(0.3)
    asked = {"quasi_identifiers": ["age", "town"], role: ["note"], "recipient": "public"}
    safe = protect(before, quasi_identifiers=["age", "town"], k=11, **{role: ["note"]})
    assert any("note is kept and gives age back" in warning for warning in safe.kept_column_warnings)
    assert assess(safe.table, **asked, original=before, protection=False).verdict.giving_back == ("note",)
    (action,) = [one for one in assess(before, **asked).verdict.actions if one.protection]
    assert "note" in action.protection["leave_out"]
    assert action.expected["decision"] == "within"


def test_codes_whose_digits_go_with_ages_give_nothing_back():
    before, after = notes(0.0)
    codes = {"code": [f"V{age % 7}.{age}" for age in before["age"]], "dose": [f"dose {age}.5" for age in before["age"]]}
    mixed = {"mixed": [f"dose of {age}.5 units" for age in np.random.default_rng(2).permutation(before["age"])]}
    kept = {name: np.random.default_rng(1).permutation(cells) for name, cells in codes.items()} | mixed
    assert kept_column_facts(before | kept, after | kept, ["age", "town"], list(kept), coarse=["age"]) == ()
    texts = {"told": [f"a dose of {age}.5 units, {n}" for n, age in enumerate(before["age"])]}
    assert kept_column_facts(before | texts, after | texts, ["age", "town"], ["told"], coarse=["age"]) == ()
