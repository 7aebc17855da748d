"""What a person says of columns is looked at: columns to drop, weights, secrets that are nearly certain, rows."""

from dataclasses import replace

import numpy as np
import pytest
from tests.decision import traps

from incrowd import assess, check, protect, read_table
from incrowd.assessment import Question, judge_protected, judge_release
from incrowd.errors import InputError
from incrowd.evaluation import frontier
from incrowd.protection import write_protected
from incrowd.reports import key_numbers
from incrowd.tables import describe_rows

pytestmark = pytest.mark.usefixtures("quick_estimates")

CROWD = {"age": [30] * 40 + [40] * 40, "sex": (["f"] * 20 + ["m"] * 20) * 2}


def decide(table, **question):
    return judge_release(table, Question(**{"recipient": "public", "rows_are_people": True, **question}))


def rounded(altered, how, rows=4_000, seed=0):
    """Ages made coarser as plain numbers, beside years of birth of which some are altered."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 78, rows)
    born = 2_000 - age
    wrong = draw.choice(rows, altered, replace=False)
    born[wrong] = draw.integers(1_922, 1_983, altered)
    coarse = {"decades": age // 10 * 10, "middles": age // 10 * 10 + 5, "codes": np.digitize(age, [30, 40, 50, 60])}
    return {"age": coarse[how], "sex": draw.choice(["f", "m"], rows), "born": born}


@pytest.mark.parametrize("altered", [0, 1, 40])
@pytest.mark.parametrize("how", ["decades", "middles", "codes"])
def test_a_kept_number_that_plain_steps_were_made_of_is_no_yes(how, altered):
    found = decide(rounded(altered, how, rows=1_000), quasi_identifiers=["age", "sex"], other=["born"])
    assert (found.decision, found.blamed) == ("exposed", ("born",))


def test_a_kept_number_that_has_nothing_to_do_with_steps_gives_nothing_back():
    table = rounded(0, "decades")
    table["born"] = np.random.default_rng(5).permutation(table["born"])
    assert decide(table, quasi_identifiers=["age", "sex"], other=["born"]).decision == "within"


def test_a_secret_counts_from_a_share_that_can_be_set():
    illness = ["hiv"] * 39 + ["none"] + ["a", "b", "c", "d"] * 10  # 39 of the 40 people of thirty
    named = {"quasi_identifiers": ["age"], "other": ["sex"], "sensitive": ["illness"]}
    table = {**CROWD, "illness": illness}
    found = decide(table, **named)
    assert (found.decision, found.disclosed) == ("exposed", ("illness",))
    assert "certain, or nearly so, for 39 records" in found.exposures[0]
    assert decide(table, **named, certain=0.98).decision == decide(table, **named, certain=1.0).decision == "within"
    assert decide(table, **named, certain=39 / 40).decision == "exposed"


@pytest.mark.parametrize("share", [0.5, 0.0, 1.1, float("nan")])
def test_a_share_that_makes_nothing_certain_is_refused(share):
    with pytest.raises(InputError, match="certain from a share"):
        decide(CROWD, quasi_identifiers=["age", "sex"], certain=share)


def test_the_way_to_yes_makes_no_value_nearly_certain():
    draw = np.random.default_rng(1)
    town = np.repeat(np.arange(20), 60)
    illness = np.where(town == 0, 1, draw.integers(0, 5, 1_200))  # in one town all have the same
    found = assess({"town": town, "illness": illness}, quasi_identifiers=["town"], sensitive=["illness"])
    assert found.verdict.disclosed == ("illness",)
    way = found.verdict.actions[-1]
    assert way.expected["decision"] == "within"
    assert "--l 2 --diversity recursive --c 19" in way.commands[0]


def test_a_secret_that_no_class_hides_is_left_out():
    table = {"town": np.repeat([1, 2], 30), "illness": ["a"] * 30 + ["b"] * 30, "noise": [1, 2, 3] * 20}
    question = {"quasi_identifiers": ["town"], "sensitive": ["illness"], "other": ["noise"], "rows_are_people": True}
    way = assess(table, **question, secrets=["illness=a,b"]).verdict.actions[-1]
    assert way.expected["decision"] == "within"
    assert "--drop illness" in way.commands[0]
    assert "illness left out, which classes of 11 do not hide" in way.sentence


def test_secrets_that_need_no_different_values_are_said_to_be_hidden_without():
    town = np.repeat(np.arange(20), 60)
    illness = np.where(town == 0, 1, np.random.default_rng(1).integers(0, 5, 1_200))  # in one town all have the same
    table = {"town": town, "illness": illness, "union": np.tile([0, 1, 2], 400)}
    way = assess(table, quasi_identifiers=["town"], sensitive=["illness", "union"]).verdict.actions[-1]
    assert way.expected["decision"] == "within"
    assert "union needs no such rule" in way.sentence
    assert all(words in way.commands[0] for words in ("--sensitive illness,union", "--diverse illness", "--l 2"))
    assert "--sensitive illness,union" in way.commands[1]


def test_what_is_to_go_stops_a_yes_and_is_dropped_by_the_advice():
    table = {**CROWD, "note": [f"n{number % 7}" for number in range(80)]}
    found = assess(table, quasi_identifiers=["age", "sex"], drop=["note"], rows_are_people=True)
    assert found.verdict.decision == "exposed"
    assert "The table still holds what you want left out: note." in found.verdict.exposures
    way = found.verdict.actions[-1]
    assert (way.expected["decision"], "--drop note" in way.commands[0]) == ("within", True)
    assert found.roles.role("note") == "drop"
    with pytest.raises(InputError, match="two roles"):
        decide(table, quasi_identifiers=["age", "sex"], drop=["note"], other=["note"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["heavy"] * 80, "not numeric"),
        ([-1.5] * 80, "negative"),
        ([0.0] + [2.5] * 79, "zero"),
        ([None] + [2.5] * 79, "no weight"),
    ],
)
def test_a_weight_is_a_positive_number(values, message):
    for more in ({}, {"population": 10_000}):
        with pytest.raises(InputError, match=message):
            decide({**CROWD, "x": values}, quasi_identifiers=["age", "sex"], weights="x", **more)


@pytest.mark.parametrize("name", ["income", "birth_year", "weight"])
def test_what_is_clearly_something_else_is_no_weight(name):
    values = np.random.default_rng(0).normal(75, 9, 80) if name == "weight" else 1_950 + np.arange(80) % 40
    table = {**CROWD, "height": np.arange(80) % 30 + 150, name: values}
    with pytest.raises(InputError, match="no sampling weight"):
        decide(table, quasi_identifiers=["sex"], other=["age", "height"], weights=name)


def test_check_leaves_declared_columns_alone():
    table = {**CROWD, "postcode": [10, 20] * 40, "case": range(1, 81), "notes_on_visit": ["x", "y"] * 40}
    names = {"quasi_identifiers": ["age", "sex"], "min_k": 2}
    assert any("postcode" in note for note in check(table, **names).notes)
    judged = check(table, **names, other=["postcode", "notes_on_visit"], drop=["case"], max_identifiers=0)
    assert judged.passed
    assert judged.notes == ("these columns are to be left out and are still there: case",)
    assert not check(table, **names, identifiers=["postcode"], drop=["case"], max_identifiers=0).passed


def test_the_person_column_is_no_identifier_to_check():
    table = {"patient_id": np.repeat(np.arange(100, 140), 2), "sex": ["f", "f", "m", "m"] * 20}
    found = check(table, quasi_identifiers=["sex"], person="patient_id", min_k=2, max_identifiers=0)
    assert found.passed
    assert found.notes == (
        "it is assumed that no other file has the numbers in patient_id; protect replaces them by random ones",
    )


def test_a_number_of_records_is_no_number_of_people_to_check():
    table = {"id": range(1000, 1240), "age": [30 + number % 4 for number in range(240)]}
    named = {"quasi_identifiers": ["age"], "person": "id"}
    assert not check(table, **named, max_identifiers=0).passed
    found = assess(table, **named, recipient="public")
    assert found.verdict.decision == "exposed"
    assert found.verdict.actions[0].expected["decision"] == "within"  # by random numbers in their place


def test_a_threshold_says_that_it_is_one_on_the_average():
    found = assess(CROWD, quasi_identifiers=["age", "sex"], threshold=0.2, protection=False)
    assert any("limit on the average risk" in note.sentence and "1/11" in note.sentence for note in found.notes)
    settled = assess(CROWD, quasi_identifiers=["age", "sex"], threshold=0.2, highest=0.5, protection=False)
    assert not any("threshold" in note.sentence for note in settled.notes)


def test_no_protection_is_advised_before_somebody_says_what_rows_are():
    named = {"quasi_identifiers": ["region", "status"], "sensitive": ["hours"], "other": ["wave"]}
    found = assess(traps.panel(), **named, drop=["case"])
    assert found.verdict.decision != "within"
    assert not [command for action in found.verdict.actions for command in action.commands if " protect " in command]
    assert "case" in found.verdict.actions[0].sentence


def test_a_number_within_the_household_is_not_the_person():
    found = assess(traps.households(), protection=False)
    assert found.roles.person is None
    assert set(found.roles.identifiers) == {"hh", "person_no"}


def test_rows_that_a_protection_leaves_out_are_told_before_what_it_keeps():
    draw = np.random.default_rng(4)
    pid = np.repeat(np.arange(40), [20] * 30 + [300] * 10)  # ten long histories are too few for a class
    table = {"pid": pid, "age": draw.integers(20, 60, 3_600), "shift": draw.integers(1, 3, 3_600)}
    guessed = assess(table, protection=False)
    assert guessed.roles.person is None  # ninety records each and no time: asked about, and not taken
    assert "name pid as the person" in guessed.verdict.actions[0].sentence
    advice = assess(table, quasi_identifiers=["age", "shift"], person="pid").verdict.actions[-1]
    lost = advice.expected["rows_left_out"]
    assert advice.expected["decision"] == "within"
    assert 1_800 < lost < 3_600
    assert f"{lost:,} of 3,600 rows are left out, which is most of the table; the result may go" in advice.sentence
    safe = protect(table, quasi_identifiers=["age", "shift"], person="pid", **advice.protection)
    assert safe.table.num_rows == 3_600 - lost


def test_a_frontier_has_the_classes_that_limits_ask_for_and_every_point_once():
    table = read_table({"sex": ["f", "m"] * 50, "age": [30, 30, 40, 40] * 25})
    points = frontier(table, quasi_identifiers=["sex", "age"], methods=["partition"]).points
    assert [point.setting for point in points] == ["k=20"]  # the table has classes of 25: every k makes the same
    spread = read_table({"age": list(range(20, 80)) * 4})
    found = frontier(spread, quasi_identifiers=["age"], methods=["partition"]).points
    assert [point.setting for point in found][-2:] == ["k=11", "k=20"]


@pytest.mark.parametrize("flag", ["VIP", 1.0])
def test_a_column_that_only_one_person_has_filled_is_no_column_of_one_value(flag):
    named = {"quasi_identifiers": ["age", "sex"]}
    found = decide({**CROWD, "flag": [None] * 79 + [flag]}, **named)
    assert (found.decision, [(one.column, one.uniques) for one in found.undecided]) == ("undecided", [("flag", 1)])
    assert decide({**CROWD, "flag": [flag] * 80}, **named).decision == "within"
    assert decide({**CROWD, "flag": [None] * 80}, **named).decision == "within"


LISTS = {**CROWD, "events": [[number] for number in range(80)]}


def test_lists_are_the_word_of_whoever_judged_them_and_open_where_nobody_did():
    named = {"quasi_identifiers": ["age", "sex"]}
    judged = decide(LISTS, **named, other=["events"])
    assert (judged.decision, judged.declared) == ("within", ("events",))
    unjudged = decide(LISTS, **named)
    assert unjudged.decision == "undecided"
    assert any("What events would tell was not counted" in str(one) for one in unjudged.internal_reasons)
    with pytest.raises(InputError, match="'events' holds lists or records"):
        decide(LISTS, **named, sensitive=["events"])


def test_lists_do_not_keep_a_table_of_counts_or_the_way_to_yes_from_being_found():
    table = {**LISTS, "age": [30 + number // 10 for number in range(80)], "count": [number % 7 for number in range(80)]}
    named = {"quasi_identifiers": ["age"], "other": ["events", "count", "sex"], "rows_are_people": True}
    found = assess(table, **named, recipient="public")
    (way,) = [one for one in found.verdict.actions if any(" protect " in command for command in one.commands)]
    assert "events" in way.commands[0].partition("--other ")[2].partition(" --")[0]


def test_people_in_households_are_advised_to_be_said_so():
    table = traps.households()
    table["pid"] = table.pop("person_no")
    found = assess(table, protection=False)
    assert found.roles.identifiers == ("hh", "pid")
    rows, columns = found.verdict.actions[:2]
    assert "hh groups people by household" in rows.sentence
    assert rows.hint == ("rows_are_people", "person")
    assert "--rows-are-people" not in columns.commands[0]  # nobody said so


def test_households_that_protect_numbered_anew_are_no_names(tmp_path):
    draw = np.random.default_rng(2)
    sizes = np.repeat([1, 2, 3], 60)
    rows = int(sizes.sum())
    table = {"hhid": np.repeat(np.arange(180) + 10_000, sizes), "age": draw.integers(20, 60, rows)}
    roles = {"quasi_identifiers": ["age"], "person": "hhid"}
    advice = assess(table, **roles).verdict.actions[-1]
    assert "--household hhid" in advice.commands[0]
    assert "--person hhid" in advice.commands[1]
    safe = protect(table, **roles, **advice.protection)
    written = read_table(write_protected(safe, tmp_path / "safe.csv"))
    found = assess(written, **roles, protection=False)
    assert found.verdict.decision == "within"
    households = key_numbers(found)[0]
    assert (households.name, households.value, "by hhid" in households.meaning) == ("households", 180.0, True)
    apart = assess(written, quasi_identifiers=["age"], rows_are_people=True, other=["hhid"], protection=False)
    assert (apart.verdict.decision, apart.roles.identifiers, apart.facts.people) == ("within", (), rows)
    raw = assess(table, quasi_identifiers=["age"], rows_are_people=True, protection=False)
    assert raw.roles.identifiers == ("hhid",)


def test_only_limits_that_are_held_are_shown():
    asked = {"quasi_identifiers": ["age", "sex"], "protection": False}
    accepted = [assess(CROWD, **asked, recipient=recipient) for recipient in ("public", "restricted")]
    shown = [[number.meaning for number in key_numbers(found)] for found in accepted]
    assert "1/11 is accepted" in shown[0][2]
    assert "accepted" not in shown[0][3]
    assert "9.09% is accepted" in shown[1][3]


def test_advice_that_was_followed_is_not_asked_again_what_a_row_is(tmp_path):
    draw = np.random.default_rng(12)
    codes = np.tile(np.arange(1_000, 1_400), 6)
    table = {
        "age": draw.integers(20, 60, 2_400),
        "sex": draw.integers(1, 3, 2_400),
        "v3": draw.permutation(codes),  # by its form alone it may number people
        "staff_code": [f"S{number:05d}" for number in draw.permutation(2_400)],
    }
    roles = {"quasi_identifiers": ["age", "sex"], "identifiers": ["staff_code"], "other": ["v3"]}
    advice = assess(table, **roles).verdict.actions[-1]
    assert advice.expected["decision"] == "within"
    safe = protect(table, quasi_identifiers=["age", "sex"], **advice.protection)
    assert judge_protected(safe, Question(**roles)).decision == "within"
    write_protected(safe, tmp_path / "safe.csv")
    written = read_table(tmp_path / "safe.csv")
    assert describe_rows(written).kind == "transactions"
    asked = {"quasi_identifiers": ["age", "sex"], "other": ["v3"], "protection": False}
    assert assess(written, **asked).verdict.decision == "within"
    alone = assess(read_table(safe.table), **asked)  # without the mark nobody knows what was in the original
    assert alone.verdict.decision == "undecided"


def test_a_frontier_chooses_nothing_that_the_judge_of_its_release_refuses():
    table = {
        "age": [30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62],
        "ill": ["flu", "flu", "flu", "hiv", "flu", "no", "no", "no", "flu", "hiv", "no", "flu"],
    }
    named = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    found = frontier(table, **named, k=[2, 3, 5], methods=["partition"], recipient="trusted")
    refused = next(point for point in found.points if point.k == 3)
    assert refused.disclosure == 0.25
    for point in found.points:
        safe = protect(table, **named, k=int(point.setting.removeprefix("k=")))
        known = {**named, "recipient": "trusted", "rows_are_people": True, "protection": False, "original": table}
        if point is found.chosen:
            assert assess(safe.table, **known).verdict.exposures == ()
        elif point.k >= 3:
            assert assess(safe.table, **known).verdict.disclosed == ("ill",)


def test_a_secret_that_follows_from_a_quasi_identifier_is_judged_alike_by_protect_and_assess(tmp_path):
    draw = np.random.default_rng(8)
    age = draw.integers(10, 70, 600)
    tariff = draw.permutation(list("abcdefghijklmnopqrstuvwx"))[age // 3]  # bands that cross those of the release
    table = read_table({"age": age, "sex": draw.choice(["f", "m"], 600), "tariff": tariff})
    file = tmp_path / "safe.parquet"
    known = {"quasi_identifiers": ["age", "sex"]}
    write_protected(protect(table, **known, k=11, other=["tariff"], identifiers=[]), file)
    question = Question(**known, rows_are_people=True, tolerate=0.5)
    assert judge_release(file, replace(question, other=("tariff",))).decision == "exposed"
    as_secret = judge_release(file, replace(question, sensitive=("tariff",)))
    assert (as_secret.decision, as_secret.blamed) == ("exposed", ("tariff",))  # everybody computes it
    write_protected(protect(table, **known, k=11, sensitive=["tariff"], identifiers=[]), file, force=True)
    assert judge_release(file, replace(question, other=("tariff",))).decision == "exposed"  # as it was told above


def test_the_way_to_yes_says_how_columns_that_it_leaves_out_tell_too_much():
    draw = np.random.default_rng(3)
    rows = 3_000
    age = draw.integers(18, 90, rows)
    height, weight = draw.integers(150, 200, rows), draw.integers(50, 110, rows)
    table = {
        "age": age,
        "height": height,
        "born": 2_020 - age,
        "kg": weight,
        "index": np.round(weight / (height / 100) ** 2, 2),
        "noise": draw.integers(0, 3, rows),
    }
    kept = ["born", "kg", "index", "noise"]
    asked = {"quasi_identifiers": ["age", "height"], "other": kept, "rows_are_people": True, "recipient": "public"}
    way = assess(table, **asked).verdict.actions[-1]
    assert way.expected["decision"] == "within"
    assert "left out, from which an attacker learns who is who" in way.sentence
    assert "born" in way.protection["leave_out"]
    assert len({*way.protection["leave_out"]} & {"kg", "index"}) == 1
    untried = assess(table, **asked, protection=False).verdict.actions[-1]
    assert "--drop" not in untried.commands[0]
    assert "No protection was tried here" in untried.sentence


def test_without_a_trial_no_column_of_a_release_is_advised_to_go(tmp_path):
    table = {"age": [f"[{age // 10 * 10};{age // 10 * 10 + 9}]" for age in range(20, 80) for _ in range(8)]}
    table["born"] = [2_000 - age for age in range(20, 80) for _ in range(8)]
    asked = {"quasi_identifiers": ["age"], "other": ["born"], "rows_are_people": True}
    original = {**table, "age": [age for age in range(20, 80) for _ in range(8)]}
    found = assess(table, **asked, protection=False, original=original).verdict
    assert found.blamed == ("born",)
    assert all("--drop" not in command for action in found.actions for command in action.commands)
