"""What makes a verdict a yes or a no: averages, people alone, secrets, columns that name people or give back."""

from dataclasses import replace

import numpy as np
import pytest

from incrowd import (
    InputError,
    assess,
    demo_table,
    measure,
    population_risk,
    protect,
)
from incrowd.assessment import Question, api, propose_roles
from incrowd.assessment.command_line import to_command, to_python
from incrowd.assessment.reasons import highest_risk
from incrowd.assessment.verdict import decide
from incrowd.protection import write_protected

pytestmark = pytest.mark.usefixtures("quick_estimates")


@pytest.fixture(scope="module")
def table():
    return demo_table(3_000)


def test_a_low_average_with_somebody_alone_is_no_plain_yes():
    crowd = {"age": [30] * 60 + [40] * 60 + [99], "illness": ["a", "b"] * 60 + ["a"]}
    found = assess(crowd, quasi_identifiers=["age"], recipient="trusted")
    assert found.facts.correctness < found.verdict.threshold
    assert (found.verdict.decision, found.passed) == ("exposed", False)
    assert "1 person (0.83%)" in found.verdict.exposures[0]
    assert "1 of them alone" in found.verdict.exposures[0]
    assert found.verdict.recommendation.startswith("Do not give it to a trusted recipient as it is")
    assert "Protect it with classes of at least 3" in found.verdict.actions[-1].sentence
    assert found.verdict.actions[-1].expected["decision"] == "within"
    without = {name: values[:-1] for name, values in crowd.items()}
    assert assess(without, quasi_identifiers=["age"], sensitive=["illness"], protection=False).passed
    told = {"age": without["age"], "illness": ["c"] * 60 + ["a", "b"] * 30}
    given = assess(told, quasi_identifiers=["age"], sensitive=["illness"]).verdict
    assert (given.decision, len(given.exposures), given.disclosed) == ("exposed", 1, ("illness",))
    assert "certain, or nearly so, for 60 records (50.0%)" in given.exposures[0]
    assert "it is not one that most people have" in given.exposures[0]
    most = {"age": without["age"], "illness": ["a"] * 60 + ["a", "b"] * 30}  # what three in four have is no news
    assert assess(most, quasi_identifiers=["age"], sensitive=["illness"], protection=False).passed
    named = assess(most, quasi_identifiers=["age"], sensitive=["illness"], secrets=["illness=a"], protection=False)
    assert (named.verdict.decision, named.verdict.disclosed) == ("exposed", ("illness",))
    assert "nearly all who look alike have what you named as secret (attribute" in named.verdict.exposures[0]


def test_a_weight_that_nobody_named_does_not_make_the_population():
    generator = np.random.default_rng(4)
    table = {"age": generator.integers(20, 60, 300).tolist(), "weight": generator.uniform(800, 5_000, 300).tolist()}
    guessed = assess(table, protection=False)
    assert (guessed.roles.weight, guessed.population, guessed.verdict.basis) == (None, None, "table")
    assert [note.hint for note in guessed.notes if "name it as the weight" in note.sentence] == [("weights",)]
    assert {column.column for column in guessed.evidence.undecided} == {"weight", "age"}
    assert not guessed.passed
    said = assess(table, weights="weight", protection=False)
    assert said.population.population == pytest.approx(sum(table["weight"]), abs=1)
    assert "(the sum of weight)" in said.verdict.reasons[0]
    assert not any("weights" in note.hint for note in said.notes)


def test_a_certain_secret_is_no_yes_however_large_the_population():
    table = {"age": [30] * 60 + [40] * 60, "illness": ["c"] * 60 + ["a", "b"] * 30}
    asked = {"quasi_identifiers": ["age"], "sensitive": ["illness"], "population": 30_000_000, "protection": False}
    told = assess(table, **asked).verdict
    assert (told.decision, told.basis, told.risk < told.threshold) == ("exposed", "population", True)
    assert "certain, or nearly so, for 60 records (50.0%)" in told.exposures[0]
    assert assess(table, **asked, threshold=0.5).verdict.decision == "exposed"  # the risk of being named is another one
    assert assess(table, **asked, tolerate=0.5).verdict.decision == "within"
    every = {**table, "illness": ["a"] * 60 + ["b"] * 60}
    assert assess(every, **asked, tolerate=0.5).verdict.decision == "exposed"
    most = {"age": [30] * 84 + [40] * 36, "illness": ["a"] * 84 + ["b"] * 36}  # certain for all, news for 30 %
    assert assess(most, **asked, tolerate=0.2).verdict.decision == "exposed"
    assert assess(most, **asked, tolerate=0.33).verdict.decision == "within"
    named = assess(most, **asked, tolerate=0.33, secrets=["illness=a"]).verdict  # 70 % have it, and it is a secret
    assert named.decision == "exposed"
    rare = assess({**table, "illness": ["a"] * 118 + ["b"] * 2}, **asked)  # nearly everybody has it, so it tells little
    assert (rare.verdict.decision, rare.facts.sensitive[0].given_away) == ("within", 0.5)


def test_somebody_alone_in_the_table_need_not_be_alone_in_the_population():
    generator = np.random.default_rng(3)
    ages = [*generator.integers(0, 40, 400).tolist(), 77]
    here = assess({"age": ages}, quasi_identifiers=["age"], recipient="trusted", protection=False)
    there = assess({"age": ages}, quasi_identifiers=["age"], recipient="trusted", protection=False, population=10**6)
    assert here.verdict.decision == "exposed"
    assert there.facts.uniques * there.population.still_unique < 1
    own = there.population.highest  # of the record at highest risk; where it was not estimated, that in the table holds
    assert there.verdict.highest == (1 / there.facts.k if own is None else own)
    sizes, interval = there.facts.sizes, (0.1, 0.3)
    estimated = replace(there.population, highest=0.2, highest_interval=interval)
    assert highest_risk(sizes, estimated) == (0.2, interval)
    alone = replace(estimated, still_unique=0.8, still_unique_interval=(0.5, 1.0))  # by the upper end, one is
    assert highest_risk(sizes, alone) == (1.0, None)
    assert highest_risk(sizes, None) == (1.0, None)
    asked = there.provenance.question, there.roles
    bound = decide(*asked, facts=there.facts, evidence=there.evidence, population=alone)
    assert "in the population may be named with a chance of up to 100%" in bound.sentence
    expected = replace(alone, still_unique=1.0)
    certain = decide(*asked, facts=there.facts, evidence=there.evidence, population=expected)
    assert "in the population is named with a chance of 100%" in certain.sentence
    assert bound.decision == certain.decision == "exposed"
    known = {"facts": here.facts, "evidence": here.evidence}
    judged = decide(here.provenance.question, here.roles, **known, population=estimated)
    assert (judged.decision, judged.highest) == ("within", 0.2)
    wide = replace(estimated, highest_interval=(0.1, 0.5))
    unsure = decide(here.provenance.question, here.roles, **known, population=wide)
    assert unsure.decision == "borderline"
    for verdict in (there.verdict, judged):  # beside a no, and beside a yes
        (assumed,) = (str(one) for one in verdict.internal_reasons if "no attacker knows who is in it" in str(one))
        assert "a random sample of 1,000,000 people" in assumed
        assert "with a chance of up to 100%; 1 person (0.25%) looks like nobody else in it" in assumed


def test_guessed_roles_are_marked_as_guessed():
    people = {"age": [30, 41, 30, 52], "diagnosis": list("xyxx"), "email": list("abcd")}
    roles = propose_roles(people)
    assert (roles.quasi_identifiers, roles.sensitive, roles.identifiers) == (("age",), ("diagnosis",), ("email",))
    found = assess(people, protection=False)
    assert not found.roles.confirmed
    assert any("nobody has judged them" in str(note) for note in found.notes)
    assert "email" in found.verdict.exposures[0]
    assert assess(people, quasi_identifiers=["age"], protection=False).roles.confirmed


def test_columns_that_name_people_stop_a_yes():
    table = {
        "name": [f"person {number}" for number in range(400)],
        "sex": ["f", "m"] * 200,
        "illness": ["a", "b", "b", "a"] * 100,
    }
    found = assess(table, quasi_identifiers=["sex"], protection=False)
    assert (found.verdict.decision, found.passed) == ("exposed", False)
    assert "names people" in found.verdict.exposures[0]
    assert "name" in found.verdict.exposures[0].partition(": ")[2]
    tried = assess(table, quasi_identifiers=["sex"], other=["illness"]).verdict.actions[-1]
    assert tried.expected["decision"] == "within"
    assert "name left out" in tried.sentence
    assert "--drop name" in tried.commands[0]
    kept = assess(table, quasi_identifiers=["sex"], other=["name", "illness"], protection=False)
    assert kept.verdict.decision == "exposed"  # what names people is no yes, whatever is said of it
    said = assess(table, quasi_identifiers=["sex"], identifiers=["illness"], protection=False)
    assert said.roles.identifiers == ("name", "illness")
    with pytest.raises(InputError, match="two roles"):
        assess(table, quasi_identifiers=["sex"], other=["sex"], protection=False)


def test_a_person_column_that_is_not_used_stops_a_yes():
    table = {"patient_id": [number // 2 for number in range(400)], "sex": ["f", "m"] * 200}
    found = assess(table, quasi_identifiers=["sex"], protection=False)
    assert found.verdict.decision == "exposed"
    assert "name patient_id as the person" in found.verdict.actions[0].sentence
    assert found.verdict.actions[0].hint == ("person", "rows_are_people")
    named = assess(table, quasi_identifiers=["sex"], person="patient_id", protection=False)
    assert named.facts.people == 200
    assert not any("looks like whose record" in text for text in named.verdict.exposures)


def test_columns_left_out_that_others_may_know_are_counted_and_said(table):
    found = assess(table, quasi_identifiers=["adm_qtr"], sensitive=["ethncty"], protection=False)
    assert found.verdict.decision == "undecided"
    names = [one.column for one in found.verdict.undecided]
    assert "patzip" in names
    assert [one.uniques for one in found.verdict.undecided] == sorted(one.uniques for one in found.verdict.undecided)[
        ::-1
    ]
    for one in found.verdict.undecided[:3]:
        alone = measure(table, quasi_identifiers=["adm_qtr", one.column])
        assert (one.k, one.uniques, one.correctness) == (alone.k, alone.uniques, alone.correctness)
    together = measure(table, quasi_identifiers=["adm_qtr", *names])
    assert found.evidence.if_known == {
        "k": together.k,
        "uniques": together.uniques,
        "correctness": together.correctness,
    }
    assert f"nobody has judged {len(names)} columns" in found.verdict.recommendation
    assert "patzip" in found.verdict.actions[0].sentence
    assert not any(
        "patzip" in command for command in found.verdict.actions[0].commands
    )  # a guess travels in no command
    quiet = assess(table, quasi_identifiers=["adm_qtr"], sensitive=["ethncty"], other=names, protection=False)
    assert (quiet.verdict.decision, quiet.verdict.undecided) == ("within", ())
    assert set(quiet.verdict.declared) == set(names)
    assert "as you said" in quiet.verdict.recommendation


def test_a_coarsened_table_with_a_column_that_undoes_it_is_no_yes(table):
    names = ["age_yrs", "sex", "patcnty"]
    safe = protect(table, quasi_identifiers=names, k=30)
    found = assess(safe.table, quasi_identifiers=names, protection=False)
    assert found.facts.k >= 30
    assert (found.verdict.decision, found.passed) == ("undecided", False)
    assert "patzip" in [one.column for one in found.verdict.undecided]
    others = [name for name in table.column_names if name not in names]
    judged = assess(safe.table, quasi_identifiers=names, other=others, protection=False).verdict
    assert judged.decision != "within"
    assert judged.reasons[-1].startswith("By the 3 attributes nobody is alone: every equivalence class has")


def test_advice_on_a_protected_table_names_the_kept_columns_that_undo_it(tmp_path):
    ages = np.repeat(np.arange(20, 60), 6)
    safe = protect({"age": ages, "square": ages**2}, quasi_identifiers=["age"], other=["square"], k=11, warn=False)
    write_protected(safe, tmp_path / "safe.parquet")
    asked = {"quasi_identifiers": ["age"], "other": ["square"], "rows_are_people": True, "protection": False}
    found = assess(tmp_path / "safe.parquet", **asked).verdict
    assert found.blamed == ("square",)
    (action,) = found.actions
    assert action.sentence == (
        "This table was protected already: protect the table that it was made from, without square, and assess the "
        "result."
    )


def test_the_reason_of_a_role_says_who_chose_it(table):
    roles = assess(table, quasi_identifiers=["sex"], other=["patzip"], protection=False).roles
    assert roles.reason("sex") == "as you said"
    assert roles.reason("age_yrs").startswith("not named, though it looks like a quasi-identifier")
    assert roles.reason("patzip").startswith("as you said, though it looks like a quasi-identifier")
    assert "as you said" not in propose_roles(table).reason("sex")


def _households(people):
    home = np.repeat(np.arange(people // 4), 4)
    draws = np.random.default_rng(5)
    place = draws.integers(0, 12, people // 4)[home]
    return {
        "age": draws.integers(18, 80, people), "sex": draws.integers(0, 2, people), "place": place, "home": home,
        "region": place % 3, "weight": np.where(place % 3 == 0, 30.0, 6.0),
    }  # fmt: skip


def test_strata_and_clusters_are_used_as_the_population_estimate_uses_them():
    table = _households(800)
    known = {"quasi_identifiers": ["age", "sex", "place"]}
    drawn = {"weights": "weight", "strata": "region", "cluster": "home"}
    found = assess(table, **known, **drawn, other=["home", "region"], protection=False)
    alone = population_risk(table, **known, **drawn)
    assert found.population.sample_to_population == alone.sample_to_population
    assert found.population.interval == alone.interval
    plain = assess(table, **known, weights="weight", other=["home", "region"], protection=False)
    assert plain.population.interval[1] < alone.interval[1]
    question = found.provenance.question
    assert "    strata='region',\n    cluster='home'," in to_python(question)
    assert "--stratum region --cluster home" in (to_command(question) or "")
    with pytest.raises(InputError, match="no column named 'nowhere'"):
        assess(table, **known, cluster="nowhere")
    with pytest.raises(InputError, match="how many people are in each"):
        assess(table, **known, strata="region", population=5_000, protection=False)


def test_a_release_without_its_column_of_clusters_is_judged_by_its_own_classes():
    table = _households(400)
    released = {name: table[name] for name in ("age", "sex", "place")}
    known = {"quasi_identifiers": ["age", "sex", "place"], "population": 10_000, "protection": False}
    found = assess(table, released=released, cluster="home", **known)
    assert found.population is None
    assert "drawn by home, which this table does not have" in str(found.skipped["population"])
    lost = assess(table | {"home": [None, *table["home"][1:].tolist()]}, cluster="home", **known)
    assert "some records have no cluster" in str(lost.skipped["population"])


def test_a_verdict_that_stops_at_a_certain_no_mends_as_the_whole_one_does():
    ages = [age for age in range(20, 60) for _ in range(10)]
    table = {"age": ages, "illness": ["a" if age < 40 else "b" for age in ages]}
    question = Question(quasi_identifiers=("age",), sensitive=("illness",), population=4_000, recipient="public")
    whole, stopped = (api.judge_release(table, question, only_if_yes=short) for short in (False, True))
    assert whole.basis == "population"
    assert stopped.basis == "table"
    assert stopped.decision != "within"
    assert stopped.exposures[0] == whole.exposures[0]
    assert (stopped.disclosed, stopped.blamed) == (whole.disclosed, whole.blamed) == (("illness",), ())
