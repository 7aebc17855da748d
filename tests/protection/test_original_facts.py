"""What only the original tells about a released file, and the mark that keeps it."""

import json
import random

import pytest

from incrowd import assess, check, protect, read_table
from incrowd._support import files
from incrowd.assessment import Question, judge_protected
from incrowd.attacks.learned_result import POSITION
from incrowd.errors import ColumnNotFoundError, InputError
from incrowd.protection import Hierarchy, write_protected
from incrowd.protection.marks import copy_release, read_mark, remove_release
from incrowd.protection.original_facts import facts_of_protected
from incrowd.tables.release_marks import mark_of

pytestmark = pytest.mark.usefixtures("quick_estimates")

LADDER = Hierarchy.from_rows([[f"t{number}", f"region {number // 5}"] for number in range(50)])
ATTACK = {"known": [], "coarse": [], "kept": [], "people": 1, "looks": [], "secrets": [], "blamed": [], "person": None}
LOOK = {"share": 1.0, "people": 10, "found": 1, "low": 0.0}
NAMED = {"quasi_identifiers": ["town"], "other": ["code"]}


def table_of(altered=0):
    """Towns, and codes that tell them."""
    towns = [number % 50 for number in range(400)]
    codes = [100 + 7 * number for number in towns]
    return {"town": [f"t{number}" for number in towns], "code": [*codes[altered:], *codes[:altered]]}


def undone():
    """Labels hide the towns, and codes that are kept give them back: the file alone does not show it."""
    return protect(table_of(), **NAMED, k=40, method="generalise", hierarchies={"town": LADDER}, identifiers=[])


def unrelated(seed=0, output=None):
    draw = random.Random(seed)
    table = {"age": [draw.randrange(18, 90) for _ in range(300)], "score": [draw.randrange(40) for _ in range(300)]}
    named = {"quasi_identifiers": ["age"], "other": ["score"]}
    return table, named, protect(table, **named, k=11, identifiers=[], output=output)


def answers(file, named, **more):
    """The decisions of `assess` and of `check`, which must not differ."""
    found = assess(str(file), **named, recipient="public", protection=False, **more)
    question = Question(**named, recipient="public")
    gate = check(str(file), quasi_identifiers=named["quasi_identifiers"], question=question, **more)
    assert found.verdict.decision == gate.verdict.decision
    assert found.passed == gate.passed
    return found.verdict


@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "dta"])
def test_a_file_that_protect_says_no_to_gets_no_yes_later(tmp_path, ending):
    safe = undone()
    assert judge_protected(safe, Question(**NAMED)).decision == "exposed"
    file = write_protected(safe, tmp_path / f"safe.{ending}")
    found = answers(file, NAMED)
    assert (found.decision, found.blamed) == ("exposed", ("code",))


@pytest.mark.parametrize("output", [None, "midpoint"])
def test_a_file_that_protect_says_yes_to_gets_a_yes_later(tmp_path, output):
    _, named, safe = unrelated(output=output)
    assert judge_protected(safe, Question(**named)).decision == "within"
    assert answers(write_protected(safe, tmp_path / "safe.csv"), named).decision == "within"


def test_ranges_without_their_mark_are_undecided_until_the_original_is_given(tmp_path):
    table, named, safe = unrelated()
    file = write_protected(safe, tmp_path / "safe.csv")
    mark_of(file).unlink()
    found = answers(file, named)
    assert found.decision == "undecided"
    assert found.unanswered[0].hint == ("original",)
    assert answers(file, named, original=table).decision == "within"
    assert answers(file, named, original=str(file)).decision == "within"  # collected in ranges
    assert answers(file, {"quasi_identifiers": ["age", "score"]}).decision != "undecided"  # nothing is kept beside


def test_an_original_tells_what_a_mark_would(tmp_path):
    safe = undone()
    file = write_protected(safe, tmp_path / "safe.csv")
    mark_of(file).unlink()
    assert answers(file, NAMED, original=table_of()).blamed == ("code",)
    assert answers(file, NAMED, original={**table_of(), "further": [1] * 400}).blamed == ("code",)
    with pytest.raises(ColumnNotFoundError, match="code"):
        answers(file, NAMED, original={"town": table_of()["town"]})


def test_a_mark_holds_for_the_bytes_of_its_file_alone(tmp_path):
    _, named, safe = unrelated()
    file = write_protected(safe, tmp_path / "safe.csv")
    file.write_text(file.read_text() + file.read_text().splitlines()[-1] + "\n")
    found = answers(file, named)
    assert found.decision == "undecided"
    assert "is of another file, or the file was changed after it was written" in found.unanswered[0].sentence
    advice = assess(file, **named, protection=False).verdict.actions
    assert len({action.sentence for action in advice}) == len(advice)
    assert sum("Give the table that this one was made from" in action.sentence for action in advice) == 1
    for damaged in ("", "[]", "{", '{"schema": "incrowd/release/9", "sha256": "", "attack": null}'):
        mark_of(file).write_text(damaged)
        assert answers(file, named).decision == "undecided"


def test_a_protected_file_that_is_not_enough_sends_back_to_its_original(tmp_path):
    _, named, safe = unrelated()
    file = write_protected(safe, tmp_path / "safe.csv")
    few = assess(file, **named, highest=0.0001, protection=False).verdict
    assert few.decision in ("exposed", "over")
    assert "protect the table that it was made from" in few.actions[-1].sentence
    assert not few.actions[-1].commands


def test_no_mark_makes_a_no_a_yes(tmp_path):
    ages = [age for age in range(20, 60) for _ in range(10)]
    table = {"age": ages, "born": [2000 - age for age in ages]}
    named = {"quasi_identifiers": ["age"], "other": ["born"]}
    file = write_protected(protect(table, **named, k=11, identifiers=[]), tmp_path / "safe.parquet")
    forged = json.loads(mark_of(file).read_text())
    forged["attack"]["looks"] = []
    mark_of(file).write_text(json.dumps(forged))
    assert answers(file, named).decision == "undecided"
    crowded = {"quasi_identifiers": ["age", "born"]}
    assert answers(file, crowded).decision == "over"


def test_a_column_that_the_mark_does_not_speak_of_is_open(tmp_path):
    _, named, safe = unrelated()
    file = write_protected(safe, tmp_path / "safe.parquet")
    forged = json.loads(mark_of(file).read_text())
    forged["attack"]["kept"] = []
    mark_of(file).write_text(json.dumps(forged))
    assert answers(file, named).decision == "undecided"


def test_people_whose_numbers_were_removed_are_asked_about_later_too(tmp_path):
    people = [person for person in range(60) for _ in range(4)]
    table = {"id": people, "age": [30 + person % 2 for person in people]}
    safe = protect(table, quasi_identifiers=["age"], k=11, identifiers=["id"])
    file = write_protected(safe, tmp_path / "safe.csv")
    named = {"quasi_identifiers": ["age"]}
    assert answers(file, named).decision == "undecided"
    assert assess(str(file), **named, rows_are_people=True, protection=False).passed


def test_a_mark_holds_no_cell_and_goes_with_its_file(tmp_path):
    table = {"=age": [f"cellar{number // 12}" for number in range(48)], "+note": ["hidden", "buried"] * 24}
    safe = protect(table, quasi_identifiers=["=age"], k=11, other=["+note"], identifiers=[])
    file = write_protected(safe, tmp_path / "safe.csv")
    text = mark_of(file).read_text()
    assert "cellar" not in text
    assert "hidden" not in text
    assert "buried" not in text
    assert "'+note" in read_mark(read_table(str(file))).attack.kept
    copy = copy_release(file, tmp_path / "copy.csv")
    assert read_mark(read_table(str(copy))) == read_mark(read_table(str(file)))
    remove_release(copy)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["safe.csv", "safe.csv.incrowd"]
    assert read_table(str(tmp_path)).rows == 48  # a folder of releases is still read as one table


def test_a_file_of_somebody_else_is_not_replaced_by_a_mark(tmp_path):
    other = tmp_path / "safe.csv.incrowd"
    other.write_text('[{"age": 30}]')
    safe = protect({"age": [30, 31, 62, 64], "ward": [1, 2, 1, 2]}, quasi_identifiers=["age"], k=2)
    with pytest.raises(InputError, match="with other content"):
        write_protected(safe, tmp_path / "safe.csv")
    assert [path.name for path in tmp_path.iterdir()] == [other.name]
    assert other.read_text() == '[{"age": 30}]'


def test_a_file_that_gets_no_name_leaves_no_mark(tmp_path, monkeypatch):
    safe = protect({"age": [30, 31, 62, 64], "ward": [1, 2, 1, 2]}, quasi_identifiers=["age"], k=2)

    for kind in (files._NamelessDraft, files._HiddenDraft):

        def fail(draft, *, force, publish=kind.publish):
            if draft._target.suffix == ".csv":
                raise OSError(28, "No space left on device")
            publish(draft, force=force)

        monkeypatch.setattr(kind, "publish", fail)
    with pytest.raises(InputError, match="the disk is full"):
        write_protected(safe, tmp_path / "safe.csv")
    assert list(tmp_path.iterdir()) == []


SHAKEN = {"quasi_identifiers": ["sex", "age"]}


def shaken(tmp_path, step=("age", "pram=0.9")):
    """A table that would pass as it is, its file, and the file of its release with values changed by chance."""
    draw = random.Random(1)
    columns = {"sex": [draw.choice("mf") for _ in range(400)], "age": [draw.randrange(30, 34) for _ in range(400)]}
    original = tmp_path / "original.csv"
    original.write_text("sex,age\n" + "".join(f"{sex},{age}\n" for sex, age in zip(*columns.values(), strict=True)))
    safe = protect(columns, **SHAKEN, method="perturb", steps=[step], identifiers=[], seed=1)
    return original, write_protected(safe, tmp_path / "safe.csv")


def test_an_original_does_not_hide_that_values_were_changed_by_chance(tmp_path):
    original, file = shaken(tmp_path)
    assert answers(original, SHAKEN).decision == "within"
    for more in ({}, {"original": str(original)}, {"original": str(file)}):
        found = answers(file, SHAKEN, **more)
        assert (found.decision, found.highest_interval[1]) == ("borderline", 1.0)  # by the attack that the mark holds
        assert "age was changed by chance" in found.internal_reasons[0].sentence
    draw = random.Random(2)
    holdout = {"sex": [draw.choice("mf") for _ in range(100)], "age": [draw.randrange(30, 34) for _ in range(100)]}
    attacked = assess(str(original), **SHAKEN, released=str(file), holdout=holdout, protection=False).verdict
    assert attacked.decision == "borderline"
    assert "changed by chance" in attacked.internal_reasons[0].sentence


def test_an_original_does_not_replace_a_damaged_mark(tmp_path):
    original, file = shaken(tmp_path)
    mark_of(file).write_text("{}")
    found = answers(file, SHAKEN, original=str(original))
    assert found.decision == "undecided"
    assert "cannot be read" in found.unanswered[0].sentence
    mark_of(file).unlink()  # then nothing says that values were changed, but rows are nobody's
    assert answers(file, SHAKEN, original=str(original)).decision == "undecided"


def test_an_original_that_was_changed_by_chance_itself_says_so(tmp_path):
    _, file = shaken(tmp_path)
    again = tmp_path / "again.csv"
    again.write_bytes(file.read_bytes())
    assert answers(again, SHAKEN).decision == "within"
    assert answers(again, SHAKEN, original=str(file)).decision == "undecided"


@pytest.mark.parametrize("damaged", [False, True])
def test_protecting_again_does_not_hide_that_values_were_changed_by_chance(tmp_path, damaged):
    _, file = shaken(tmp_path)
    if damaged:
        mark_of(file).write_text("{}")
    safe = protect(str(file), **SHAKEN, k=11, identifiers=[])
    assert judge_protected(safe, Question(**SHAKEN)).decision == "undecided"
    again = write_protected(safe, tmp_path / "again.csv")
    mark = read_mark(read_table(str(again)))
    assert (mark.perturbed, mark.is_damaged) == ((), True) if damaged else (("age",), False)
    assert answers(again, SHAKEN).decision == "undecided"


def test_protecting_again_carries_over_what_an_attacker_learned(tmp_path):
    file = write_protected(undone(), tmp_path / "safe.csv")
    safe = protect(str(file), **NAMED, k=40, identifiers=[])
    assert judge_protected(safe, Question(**NAMED)).blamed == ("code",)
    again = write_protected(safe, tmp_path / "again.csv")
    assert answers(again, NAMED).blamed == ("code",)
    without = protect(str(file), quasi_identifiers=["town"], leave_out=["code"], k=40, identifiers=[])
    assert judge_protected(without, Question(quasi_identifiers=["town"])).blamed == ()


def test_protecting_again_keeps_what_was_compared_and_whose_the_rows_are(tmp_path):
    people = [person for person in range(60) for _ in range(4)]
    table = {"id": people, "age": [30 + person % 20 for person in people], "score": [row % 3 for row in range(240)]}
    safe = protect(table, quasi_identifiers=["age"], other=["score"], k=11, identifiers=["id"])
    file = write_protected(safe, tmp_path / "safe.csv")
    forged = json.loads(mark_of(file).read_text())
    mark_of(file).write_text(json.dumps({**forged, "attack": None, "pseudonymised": ["score", "gone"]}))
    facts = facts_of_protected(protect(str(file), quasi_identifiers=["age"], other=["score"], k=11, identifiers=[]))
    assert facts.attack is None
    assert facts.pseudonymised == ("score",)
    assert facts.rows.kind != "people"


def test_a_secret_that_was_changed_by_chance_is_not_judged_as_if_it_were_told(tmp_path):
    draw = random.Random(0)
    wards = [ward for ward in "abcdefgh" for _ in range(40)]
    ill = ["HIV" if ward == "a" else draw.choice(["flu", "cold", "HIV", "none"]) for ward in wards]
    named = {"quasi_identifiers": ["ward"], "sensitive": ["ill"]}
    table = {"ward": wards, "ill": ill}
    assert assess(table, **named, protection=False).verdict.decision == "exposed"
    safe = protect(table, **named, method="perturb", steps=[("ill", "pram=0.8")], identifiers=[], seed=3)
    assert safe.guarantee.perturbed == ()
    found = judge_protected(safe, Question(**named))
    assert found.decision == "undecided"
    assert "which secrets are certain" in found.unanswered[0].sentence
    file = write_protected(safe, tmp_path / "safe.csv")
    assert read_mark(read_table(str(file))).perturbed == ("ill",)
    assert answers(file, named).decision == "undecided"
    assert answers(file, {"quasi_identifiers": ["ward"], "other": ["ill"]}).decision == "within"  # nobody knows it


@pytest.mark.parametrize(
    "hostile",
    [
        {"attack": 1},
        {"attack": {"looks": []}},
        {"attack": {**ATTACK, "looks": [{**LOOK, "people": 0}]}},
        {"attack": {**ATTACK, "looks": [{**LOOK, "found": 11}]}},
        {"attack": {**ATTACK, "looks": [{**LOOK, "low": "x"}]}},
        {"attack": {**ATTACK, "kept": "code"}},
        {"attack": {**ATTACK, "kept": [["code"]]}},
        {"attack": {**ATTACK, "blamed": [["code", 2]]}},
        {"attack": {**ATTACK, "secrets": [{"column": "code"}]}},
        {"rows": {"kind": [1], "reason": "", "confidence": "high"}},
        {"rows": {"kind": "people", "reason": "", "confidence": "high", "person": 1}},
        {"rows": ["people"]},
        {"perturbed": {"town": 1}},
        {"pseudonymised": None},
        {"keyed": None},
    ],
)
def test_a_hostile_mark_is_refused_in_words(tmp_path, hostile):
    _, named, safe = unrelated()  # a yes with its mark
    file = write_protected(safe, tmp_path / "safe.csv")
    assert answers(file, named).decision == "within"
    saved = json.loads(mark_of(file).read_text())
    mark_of(file).write_text(json.dumps(saved | hostile))
    with pytest.raises(InputError, match=r"safe\.csv\.incrowd cannot be read"):
        read_mark(read_table(str(file)))
    assert answers(file, named).decision == "undecided"


def test_an_attack_is_read_back_from_a_mark(tmp_path):
    _, _, safe = unrelated()
    file = write_protected(safe, tmp_path / "safe.parquet")
    attack = read_mark(read_table(str(file))).attack
    assert attack == facts_of_protected(safe).attack
    assert (attack.known, attack.coarse, attack.kept) == (("age",), ("age",), ("score", POSITION))


@pytest.mark.parametrize("text", ["[" * 200_000, '{"kept": ' * 100_000, "\ud800", "null", "1" * 10_000])
def test_a_mark_that_is_no_mark_is_refused_in_words(tmp_path, text):
    file = write_protected(undone(), tmp_path / "safe.csv")
    mark_of(file).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match="cannot be read"):
        read_mark(read_table(str(file)))


JOBS = ["none"] * 15 + ["clerk"] * 15 + ["cook"] * 15 + ["smith"] * 12
FEW_WITHOUT = ["none"] * 2 + ["clerk"] * 10 + ["cook"] * 7 + ["smith"] * 5
ASKED = {"quasi_identifiers": ["job", "town"]}


def at_work(jobs):
    """Jobs in forty towns, and how much people like theirs: missing for those who have none."""
    draw = random.Random(4)
    towns = [f"t{town}" for town in range(40) for _ in jobs]
    jobs = jobs * 40
    likes = [None if job == "none" else draw.choice("abc") for job in jobs]
    return {"job": jobs, "town": towns, "likes": likes}


def with_jobs_joined(tmp_path, groups, role, k=12, jobs=JOBS):
    """The table, its release in which jobs are joined so, and the file of that."""
    table, named = at_work(jobs), {**ASKED, role: ["likes"]}
    joined = Hierarchy.from_rows([[job, group] for group, jobs in groups.items() for job in jobs])
    towns = Hierarchy.from_rows([[f"t{number}", f"t{number}"] for number in range(40)])
    safe = protect(table, **named, k=k, method="generalise", hierarchies={"job": joined, "town": towns}, identifiers=[])
    return table, named, safe, write_protected(safe, tmp_path / "safe.csv")


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_which_cells_of_a_kept_column_are_missing_counts_as_known_where_it_follows(tmp_path, role):
    groups = {"x": ["none", "clerk"], "y": ["cook", "smith"]}
    table, named, safe, file = with_jobs_joined(tmp_path, groups, role, jobs=FEW_WITHOUT)
    assert judge_protected(safe, Question(**named)).blamed == ("likes",)
    for asked in (named, {**ASKED, "sensitive": ["likes"]}):
        for more in ({}, {"original": table}):
            found = answers(file, asked, **more)
            assert (found.decision, found.blamed) == ("exposed", ("likes",))
    mark_of(file).unlink()
    assert answers(file, named, original=table).decision == "undecided"  # nothing says what its labels cover
    assert assess(table, **named, protection=False).verdict.blamed == ()  # exact jobs: it adds nothing


@pytest.mark.parametrize("role", ["sensitive", "other"])
@pytest.mark.parametrize("k", [11, 13])
def test_missing_cells_that_the_released_classes_tell_anyway_stop_no_yes(tmp_path, role, k):
    groups = {"idle": ["none"], "working": ["clerk", "cook", "smith"]}
    table, named, safe, file = with_jobs_joined(tmp_path, groups, role, k)
    assert safe.changed_cells["job"] == (0 if k == 11 else 2_280)
    assert safe.kept_column_warnings == ()
    assert judge_protected(safe, Question(**named)).decision == "within"
    assert answers(file, named).decision == "within"
    mark_of(file).unlink()
    assert answers(file, named, original=table).decision == ("within" if k == 11 else "undecided")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1", "1" + "0" * 400])
def test_a_mark_with_a_number_that_cannot_be_is_refused(tmp_path, number):
    file = write_protected(undone(), tmp_path / "safe.csv")
    saved = json.loads(mark_of(file).read_text())
    for name in ("people", "low"):
        looks = [{**LOOK, name: "HERE"}]
        hostile = json.dumps(saved | {"attack": {**ATTACK, "looks": looks}})
        mark_of(file).write_text(hostile.replace('"HERE"', number))
        with pytest.raises(InputError, match="cannot be read"):
            read_mark(read_table(str(file)))


def test_a_mark_that_says_something_twice_is_refused(tmp_path):
    file = write_protected(undone(), tmp_path / "safe.csv")
    mark_of(file).write_text(mark_of(file).read_text().rstrip()[:-1] + ', "attack": null}')
    with pytest.raises(InputError, match="cannot be read"):
        read_mark(read_table(str(file)))
    assert answers(file, NAMED).decision != "within"
