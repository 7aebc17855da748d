"""No trap gets a yes; harmless look-alikes get one once a person has judged their columns."""

import numpy as np
import pytest
from tests.decision import traps

from incrowd import assess, check, protect, read_table
from incrowd.assessment import Question, judge_protected, judge_release
from incrowd.protection import write_protected

pytestmark = pytest.mark.usefixtures("quick_estimates")

YES = "within"


def decision(table, **question):
    return judge_release(table, Question(**{"recipient": "public", **question})).decision


def test_an_assessment_decides_as_the_judge_of_releases_does():
    for table in (traps.ten_in_pairs(), traps.rare_drug(2_000), traps.panel(60)):
        question = {"recipient": "public", "protection": False}
        found = assess(table, **question).verdict
        assert found.decision == decision(table)
        assert found.to_dict() == {
            **judge_release(table, Question(**question)).to_dict(),
            "actions": found.to_dict()["actions"],
        }


def test_guessed_roles_never_say_yes():
    assert decision(traps.survey()) != YES


def test_columns_that_nobody_judged_count_as_known():
    named = {"quasi_identifiers": ["age_group", "sex", "region"], "sensitive": ["answer"]}
    found = assess(traps.survey(), **named, recipient="public", protection=False)
    assert found.verdict.decision == "undecided"
    harmful = [column.column for column in found.verdict.undecided]
    assert set(harmful) == {"birth_year", "occupation_code", "municipality", "nationality", "marital"}
    assert [column.uniques for column in found.verdict.undecided] == sorted(
        (column.uniques for column in found.verdict.undecided), reverse=True
    )
    assert decision(traps.survey(), **named, other=harmful) == YES


@pytest.mark.parametrize("name", traps.PERSON_NUMBERS)
def test_an_all_different_number_is_no_amount(name):
    table = traps.numbered(name)
    assert decision(table) != YES
    assert decision(table, quasi_identifiers=["sex", "age_group"]) != YES
    assert not check(table, quasi_identifiers=["sex", "age_group"], max_identifiers=0).passed


VILLAGE = {"quasi_identifiers": ["village", "age"], "other": ["kept"], "rows_are_people": True}


def judge_villages(table):
    safe = protect(table, quasi_identifiers=["village", "age"], k=11, other=["kept"], identifiers=[])
    return judge_protected(safe, Question(**VILLAGE))


@pytest.mark.parametrize("altered", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("kind", ["rate", "type", "region", "rate of places"])
def test_a_column_of_areas_that_several_of_them_share_is_no_yes(kind, altered):
    verdict = judge_villages(traps.villages(kind, altered))
    assert (verdict.decision, verdict.blamed) == ("exposed", ("kept",))


def test_incomes_beside_coarsened_areas_are_a_yes():
    for seed in range(5):
        assert judge_villages(traps.villages("income", seed=seed)).decision == YES


def test_the_way_to_yes_leaves_out_the_rate_of_places():
    action = assess(traps.villages("rate of places"), **VILLAGE).verdict.actions[-1]
    assert action.protection["leave_out"] == ["kept"]
    assert action.expected["decision"] == YES
    assert "kept left out, from which an attacker learns who is who" in action.sentence


@pytest.mark.parametrize("altered", [0.0, 1 / 6_000, 0.01])
def test_a_kept_column_that_gives_back_a_coarsened_one_is_no_yes(altered):
    table = traps.kept_beside(altered)
    named = {"quasi_identifiers": ["town", "sex"], "other": ["town_name"]}
    safe = protect(table, quasi_identifiers=["town", "sex"], k=11, other=["town_name"], identifiers=[])
    assert decision(safe.table, **named) != YES


@pytest.mark.parametrize("altered", [0.0, 0.01])
@pytest.mark.parametrize(
    ("trap", "names", "kept"),
    [
        (traps.body_mass, ["sex", "height_cm"], ["weight_kg", "bmi"]),  # a ratio
        (traps.stays, ["sex", "los"], ["admitted", "discharged"]),  # a difference
    ],
)
def test_kept_columns_that_give_back_together_are_no_yes(trap, names, kept, altered, tmp_path):
    table, file = trap(altered), tmp_path / "safe.parquet"
    first, last = kept
    named = {"quasi_identifiers": names, "other": kept, "rows_are_people": True}
    safe = protect(table, quasi_identifiers=names, k=11, other=kept, identifiers=[])
    write_protected(safe, file)
    question = Question(**named, recipient="public")
    verdicts = [judge_release(read_table(file), question), judge_release(safe.table, question, original=table)]
    verdicts.append(judge_protected(safe, question))
    assert {verdict.decision for verdict in verdicts} == {"exposed"}
    assert all({*verdict.blamed} & {*kept} for verdict in verdicts)
    assert all("Kept columns find people" in verdict.exposures[0] for verdict in verdicts)
    assert not check(file, quasi_identifiers=names, question=question).passed
    fewer = protect(table, quasi_identifiers=names, k=11, other=[first], leave_out=[last], identifiers=[])
    assert judge_protected(fewer, question).decision == YES


def test_advice_leaves_out_one_of_the_columns_that_give_back_together():
    named = {"quasi_identifiers": ["sex", "height_cm"], "sensitive": ["weight_kg", "bmi"], "rows_are_people": True}
    found = assess(traps.body_mass(), **named, recipient="public")
    (action,) = found.verdict.actions
    assert len(action.protection["leave_out"]) == 1
    assert {*action.protection["leave_out"]} < {"weight_kg", "bmi"}


def test_a_panel_is_asked_about():
    named = {"quasi_identifiers": ["region", "status"], "sensitive": ["hours"], "other": ["wave"]}
    found = assess(traps.panel(), **named, recipient="public", protection=False)
    assert found.verdict.decision != YES
    assert decision(traps.panel(), **named, person="case") != YES


def test_households_and_communes_are_asked_about():
    assert decision(traps.households(), quasi_identifiers=["region", "age_group", "sex"]) != YES
    assert decision(traps.communes(), quasi_identifiers=["departement"]) != YES


def test_ten_people_at_one_half_are_not_for_the_public():
    named = {"quasi_identifiers": ["region", "sex"]}
    assert decision(traps.ten_in_pairs(), **named) != YES
    assert decision(traps.ten_in_pairs(), **named, recipient="trusted") != YES


def test_a_value_that_nearly_everybody_has_is_no_secret():
    assert decision(traps.rare_drug(), quasi_identifiers=["age_group", "sex"], sensitive=["examide"]) == YES


def test_a_question_that_was_not_asked_is_no_secret():
    assert decision(traps.skip_pattern(), quasi_identifiers=["age_group", "sex"], sensitive=["school_trouble"]) == YES


def test_reading_a_protected_table_back_changes_no_verdict():
    table = read_table(traps.survey())
    names = ["birth_year", "sex", "municipality"]
    others = [name for name in table.columns if name not in names]
    safe = protect(table, quasi_identifiers=names, k=11, other=others, identifiers=[])
    named = {"quasi_identifiers": names, "other": others}
    assert judge_release(safe.table, Question(**named), original=table).decision == YES
    assert decision(safe.table, **named) == decision(safe.table, quasi_identifiers=names) == "undecided"


def test_columns_that_give_back_together_are_judged_by_the_roles_of_the_release(tmp_path):
    table = traps.stays()
    names, kept = ["sex", "los"], ["admitted", "discharged"]
    safe = protect(table, quasi_identifiers=names, k=11, other=kept, identifiers=[])
    file = write_protected(safe, tmp_path / "=safe.csv")
    asked = {"recipient": "public", "rows_are_people": True}
    fewer = Question(**asked, quasi_identifiers=["los"], other=["sex", *kept])
    assert judge_release(read_table(file), fewer).decision != YES
    known = Question(**asked, quasi_identifiers=[*names, "discharged"], other=["admitted"])
    found = judge_release(read_table(file), known)
    assert found.decision != YES
    assert "discharged" not in found.blamed


def test_a_column_that_gives_back_nothing_new_hides_no_columns_that_do():
    generator = np.random.default_rng(2)
    site, age = generator.integers(0, 6, 1_200), generator.integers(20, 80, 1_200)
    letters = "ABCDEFGHIJKL"
    wave = 2000 + 3 * site
    kept = {"wave": wave.tolist(), "born": (wave - age).tolist()}
    pairs = zip(site, generator.integers(0, 2, 1_200), strict=True)
    original = {"age": age.tolist(), "site": [letters[2 * one + other] for one, other in pairs], **kept}
    release = {
        "age": [f"[{start};{start + 5}]" for start in ((age - 20) // 6 * 6 + 20).tolist()],
        "site": [f"{{{letters[2 * one]}, {letters[2 * one + 1]}}}" for one in site],
        **kept,
    }
    question = Question(
        quasi_identifiers=("age", "site"), other=("wave", "born"), rows_are_people=True, highest=0.1, threshold=0.2
    )
    assert judge_release(release, question, original=original).decision == "exposed"


@pytest.mark.parametrize("name", ["wave", "x7"])
def test_the_time_of_a_record_is_known_whatever_it_is_called_and_declared(name):
    answers = np.array([(0, 0)] * 100 + [(0, 1)] * 99 + [(1, 0)])  # of each person, of whom one changes the other way
    rows = np.random.default_rng(5).permutation(400)
    columns = {"case": np.repeat(np.arange(5_000, 5_200), 2), name: np.tile([1, 2], 200), "status": answers.ravel()}
    table = {column: values[rows] for column, values in columns.items()}
    named = {"quasi_identifiers": ["status"], "person": "case", "highest": 1 / 60, "recipient": "public"}
    without = {column: values for column, values in table.items() if column != name}
    assert judge_release(without, Question(**named)).decision == YES
    assert judge_release(table, Question(**named, other=(name,))).decision == "undecided"
    found = assess(table, **named, other=[name], protection=False)
    assert found.verdict.declared == ()
    assert any(
        f"{name} counts as known to others: it numbers the records of each person" in str(reason)
        for reason in found.verdict.internal_reasons
    )


@pytest.mark.parametrize("altered", [0, 1, 30])
@pytest.mark.parametrize("kind", ["towns", "ages"])
def test_finer_values_of_a_group_are_known_where_the_group_is(kind, altered):
    draw = np.random.default_rng(6)
    fine = draw.integers(0, 40, 3_000)
    group = fine // 8
    group[:altered] = draw.permutation(group[:altered])
    names = [f"county {number}" for number in draw.permutation(5)] if kind == "towns" else BANDS
    cells = [f"town {number}" for number in fine] if kind == "towns" else fine + 18
    table = {"group": [names[number] for number in group], "sex": draw.choice(["f", "m"], 3_000), "x7": cells}
    named = {"quasi_identifiers": ("group", "sex"), "highest": 1 / 100, "rows_are_people": True}
    found = judge_release(table, Question(**named, other=("x7",)))
    assert (found.decision, found.blamed) == ("exposed", ("x7",))
    table["x7"] = draw.permutation(table["x7"])
    assert judge_release(table, Question(**named, other=("x7",))).decision == YES


BANDS = ["18-25", "26-33", "34-41", "42-49", "50+"]
