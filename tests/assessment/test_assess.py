"""The journey as a whole: the same numbers as the rooms it passes through, and reasons where there is no answer."""

import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from incrowd import (
    InputError,
    assess,
    demo_table,
    forecast,
    leak_risk,
    measure,
    population_risk,
    protect,
    read_table,
    record_risk,
)
from incrowd.assessment import Question, api, judge_protected, propose_roles, way_to_yes
from incrowd.assessment.command_line import to_command, to_python
from incrowd.assessment.reasons import highest_risk
from incrowd.assessment.result import SECTIONS
from incrowd.assessment.sections import population as population_section
from incrowd.assessment.sections import protection as protection_section
from incrowd.assessment.sections.protection import risk_of_large_classes
from incrowd.assessment.sections.section import share_progress
from incrowd.assessment.verdict import decide
from incrowd.pitman_yor import fit_class_sizes
from incrowd.protection.api import memory_to_protect
from incrowd.recipients import limits_of
from incrowd.tables import Table

pytestmark = [
    pytest.mark.xdist_group("assess"),  # the whole assessment below is made once
    pytest.mark.usefixtures("quick_estimates"),
]
NAMES = ["age_yrs", "sex", "race", "patcnty", "adm_qtr"]


@pytest.fixture(scope="module")
def table():
    return demo_table(3_000)


@pytest.fixture(scope="module")
def found(table, quick_estimates):
    return assess(
        table,
        quasi_identifiers=NAMES,
        sensitive=["charge"],
        population=300_000,
        recipient="restricted",
        groups={"census": ["age_yrs", "sex"], "place": ["patcnty"]},
    )


def test_every_section_has_the_number_of_its_room(table, found):
    facts = measure(table, quasi_identifiers=NAMES, sensitive=["charge"])
    assert found.facts.to_dict() == facts.to_dict()
    risk = population_risk(table, population=300_000, quasi_identifiers=NAMES, seed=0)
    # another synthetic population
    assert pytest.approx(risk.sample_to_population, rel=0.03) == found.population.sample_to_population
    law = forecast(fit_class_sizes(facts.sizes), at=["city"], seed=0)
    assert (found.forecast.h, found.forecast.gamma) == (law.h, law.gamma)
    leak = next(one for one in found.leaks.risks if one.targets == 5 and one.leaked == 300)
    assert leak.probability == leak_risk(facts.sizes, 300, targets=5).probability
    assert [cost.k for cost in found.protection.costs] == [3, 5, 11]
    assert all(1 / cost.correctness >= cost.k for cost in found.protection.costs)
    assert found.skipped == {}


def test_the_risk_in_a_population_and_the_forecast_for_its_size_are_one_answer(found):
    place = found.forecast.at.tolist().index(300_000)
    assert found.forecast.correctness.value[place] == found.population.sample_to_population
    assert (found.forecast.correctness.low[place], found.forecast.correctness.high[place]) == found.population.interval
    alone = found.population.still_unique * found.facts.uniqueness
    assert found.forecast.uniqueness.value[place] == pytest.approx(alone)
    assert found.forecast.at.tolist() == sorted(set(found.forecast.at.tolist()))


def test_the_forecast_holds_what_is_counted_in_the_population_itself():
    everybody = demo_table(100_000, seed=3)
    names = ["age_yrs", "sex", "race", "patcnty"]
    drawn = everybody.take(np.random.default_rng(5).choice(100_000, 2_000, replace=False))
    found = assess(drawn, quasi_identifiers=names, population=100_000, protection=False)
    counted = measure(everybody, quasi_identifiers=names)
    place = found.forecast.at.tolist().index(100_000)
    curve = found.forecast.correctness
    assert curve.low[place] <= counted.correctness <= curve.high[place]
    assert curve.value[place] == pytest.approx(counted.correctness, rel=0.15)
    unique = found.forecast.uniqueness
    assert unique.low[place] <= counted.uniqueness <= unique.high[place]
    assert unique.value[place] == pytest.approx(counted.uniqueness, rel=0.3)
    assert "95% interval" in next(one for one in found.statements if one.name == "unique there too").sure


def test_contributions_add_up_to_the_average_risk(found):
    parts = found.knowledge.contributions
    assert sum(part.correctness for part in parts.columns) + parts.nothing_known == pytest.approx(
        found.facts.correctness
    )
    assert found.knowledge.sets == 2 ** len(NAMES) - 1
    assert found.knowledge.worst_by_size[-1].classes == found.facts.classes
    assert [risk.label for risk in found.knowledge.by_group] == ["census", "place", "census + place"]


def test_the_decision_is_the_risk_against_the_threshold(table, found):
    assert found.verdict.threshold == limits_of("restricted").average == 1 / 11
    assert (found.verdict.limits.highest, found.verdict.limits.class_size) == (1 / 3, 3)
    assert found.verdict.risk == found.population.overall
    strict = assess(table, quasi_identifiers=NAMES, protection=False)
    assert (strict.verdict.decision, strict.verdict.basis, strict.passed) == ("over", "table", False)
    assert strict.verdict.highest == 1 / strict.facts.k
    others = [name for name in table.column_names if name != "adm_qtr"]
    easy = assess(table, quasi_identifiers=["adm_qtr"], other=others, protection=False)
    assert (easy.verdict.decision, easy.passed) == ("within", True)
    assert set(easy.verdict.declared) == set(others)
    open_ = assess(table, quasi_identifiers=["adm_qtr"], protection=False)
    assert (open_.verdict.decision, open_.passed) == ("undecided", False)
    chosen = assess(table, quasi_identifiers=["adm_qtr"], other=others, threshold=0.0001, protection=False)
    assert (chosen.verdict.decision, chosen.verdict.threshold) == ("over", 0.0001)
    cautious = assess(table, quasi_identifiers=["adm_qtr"], other=others, highest=0.0001, protection=False)
    assert (cautious.verdict.decision, cautious.verdict.limits.class_size) == ("over", 10_000)


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
    most = {"age": without["age"], "illness": ["a"] * 60 + ["a", "b"] * 30}  # what three in four have is no news
    assert assess(most, quasi_identifiers=["age"], sensitive=["illness"], protection=False).passed
    named = assess(most, quasi_identifiers=["age"], sensitive=["illness"], secrets=["illness=a"], protection=False)
    assert (named.verdict.decision, named.verdict.disclosed) == ("exposed", ("illness",))


def test_a_weight_that_nobody_named_does_not_make_the_population():
    generator = np.random.default_rng(4)
    table = {"age": generator.integers(20, 60, 300).tolist(), "weight": generator.uniform(800, 5_000, 300).tolist()}
    guessed = assess(table, protection=False)
    assert (guessed.roles.weight, guessed.population, guessed.verdict.basis) == (None, None, "table")
    assert [note.hint for note in guessed.notes if "name it as the weight" in note.sentence] == [("weights",)]
    assert [one.column for one in guessed.evidence.undecided] == ["weight"]
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


def test_a_column_that_names_people_outranks_too_close_to_call(table, found):
    low, high = found.population.interval
    named = table.append_column("email", [[f"e{number}" for number in range(3_000)]])
    asked = {"quasi_identifiers": NAMES, "population": 300_000, "threshold": (low + high) / 2, "highest": 1.0}
    close = assess(named, **asked, protection=False).verdict
    assert (close.decision, close.headline) == ("exposed", "No: low on average, but not for everybody")
    assert "email" in close.exposures[0]
    assert "too close to the" in close.sentence


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
    known = {"facts": here.facts, "evidence": here.evidence}
    judged = decide(here.provenance.question, here.roles, **known, population=estimated)
    assert (judged.decision, judged.highest) == ("within", 0.2)
    wide = replace(estimated, highest_interval=(0.1, 0.5))
    unsure = decide(here.provenance.question, here.roles, **known, population=wide)
    assert unsure.decision == "borderline"
    assert any("whoever knows that one of them is in it" in str(reason) for reason in there.verdict.internal_reasons)


def test_every_sensitive_column_is_followed_through_protection(table):
    columns = ["charge", "ethncty"]
    found = assess(table, quasi_identifiers=["age_yrs", "patcnty"], sensitive=columns)
    for cost in found.protection.costs:
        assert [secret.column for secret in cost.secrets] == columns
        assert cost.t == max(secret.t for secret in cost.secrets)
        assert cost.leaks[-1] == (1.0, pytest.approx(cost.correctness))  # if all of it leaks
        assert [chance for _, chance in cost.leaks] == sorted(chance for _, chance in cost.leaks)
    safe = protect(table, quasi_identifiers=["age_yrs", "patcnty"], k=5, identifiers=[])
    for secret in found.protection.costs[1].secrets:
        (apart,) = measure(safe.table, quasi_identifiers=["age_yrs", "patcnty"], sensitive=[secret.column]).sensitive
        assert (secret.l, secret.t, secret.given_away) == (apart.distinct, apart.t, apart.given_away)


def test_a_threshold_inside_the_interval_is_too_close_to_call(table, found):
    low, high = found.population.interval
    middle = (low + high) / 2
    asked = {"quasi_identifiers": NAMES, "population": 300_000, "threshold": middle, "protection": False}
    close = assess(table, **asked, highest=1.0)
    assert close.verdict.decision == "borderline"
    assert not close.passed
    assert assess(table, **asked).verdict.decision == "exposed"  # somebody is alone, which is not too close to call


def test_every_number_says_what_it_means_how_sure_it_is_and_what_it_assumes(found):
    statements = found.statements
    assert {one.section for one in statements} == {
        "facts",
        "evidence",
        "secrets",
        "knowledge",
        "drivers",
        "population",
        "forecast",
        "leaks",
        "protection",
        "secrets left",
    }
    assert all(one.name and one.shown and one.meaning.endswith(".") and one.sure and one.assumed for one in statements)


def test_what_the_data_cannot_support_is_left_out_with_a_reason():
    alone = {"a": list(range(50)), "b": [1] * 50}
    found = assess(alone, quasi_identifiers=["a"])
    assert found.forecast is None
    assert "alone in their class" in found.skipped["forecast"].sentence
    assert "population" in found.skipped
    same = assess({"a": [1] * 50}, quasi_identifiers=["a"])
    assert "one class" in same.skipped["forecast"].sentence
    assert same.facts.k == 50


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_tiny_tables_are_assessed(rows):
    found = assess({"a": [1, 1, 2, 2, 3][:rows], "b": ["x", "y", "x", "x", "y"][:rows]}, quasi_identifiers=["a", "b"])
    assert found.facts.people == rows
    json.dumps(found.to_dict(), allow_nan=False)


def test_people_with_several_records_are_assessed_as_people():
    generator = np.random.default_rng(1)
    visits = {
        "patient_id": np.repeat(np.arange(200), 2).tolist(),
        "age": generator.integers(20, 30, 400).tolist(),
        "sex": generator.integers(0, 2, 400).tolist(),
    }
    found = assess(visits, quasi_identifiers=["age", "sex"], person="patient_id")
    assert (found.facts.people, found.facts.records) == (200, 400)
    histories = {}
    for person, age, sex in zip(*visits.values(), strict=True):
        histories.setdefault(person, []).append((age, sex))
    keys = {(0,): "age", (1,): "sex", (0, 1): "both"}
    alone = {}
    for positions, name in keys.items():
        seen = [tuple(sorted(tuple(row[at] for at in positions) for row in rows)) for rows in histories.values()]
        alone[name] = {person for person, history in enumerate(seen) if seen.count(history) == 1}
    single = found.knowledge.singling_out
    assert single.records == 200
    assert single.by_size == {1: len(alone["age"] | alone["sex"]), 2: len(alone["both"])}
    assert dict(single.sets)["age", "sex"] == len(alone["both"] - alone["age"] - alone["sex"])
    assert dict(single.sets).get(("age",), 0) == len(alone["age"])
    by_set = {risk.columns: (risk.classes, risk.uniques) for risk in found.knowledge.by_set}
    assert by_set["age", "sex"] == (found.facts.classes, found.facts.uniques)
    assert by_set["age",] == (
        measure(visits, quasi_identifiers=["age"], person="patient_id").classes,
        len(alone["age"]),
    )
    assert found.protection.costs[0].correctness <= 1 / 3


def test_seven_attributes_of_histories_are_counted_in_all_sets():
    generator = np.random.default_rng(1)
    visits = {f"c{i}": generator.integers(0, 3, 60).tolist() for i in range(7)}
    asked = {"quasi_identifiers": list(visits), "person": "patient_id", "protection": False}
    knowledge = assess({"patient_id": [number // 2 for number in range(60)], **visits}, **asked).knowledge
    assert (knowledge.sets, knowledge.contributions.orders, len(knowledge.worst_by_size)) == (127, None, 7)


def test_many_columns_are_sampled_and_said_to_be():
    generator = np.random.default_rng(2)
    wide = {f"c{i}": generator.integers(0, 3, 300).tolist() for i in range(15)}
    found = assess(wide, quasi_identifiers=list(wide), protection=False)
    assert found.knowledge.contributions.orders == 200
    assert any("too many" in note for note in found.knowledge.notes)
    assert len(found.knowledge.worst_by_size[-1].columns) == 15
    assert found.knowledge.worst_by_size[-1].classes == found.facts.classes


def test_guessed_roles_are_marked_as_guessed():
    people = {"age": [30, 41, 30, 52], "diagnosis": list("xyxx"), "email": list("abcd")}
    roles = propose_roles(people)
    assert (roles.quasi_identifiers, roles.sensitive, roles.identifiers) == (("age",), ("diagnosis",), ("email",))
    found = assess(people, protection=False)
    assert not found.roles.confirmed
    assert any("nobody confirmed" in str(note) for note in found.notes)
    assert "email" in found.verdict.exposures[0]
    assert assess(people, quasi_identifiers=["age"], protection=False).roles.confirmed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipient": "everybody"}, "restricted"),
        ({"threshold": 0}, "above 0"),
        ({"population": 10}, "smaller than the table"),
        ({"quasi_identifiers": ["agee"]}, "the table has"),
        ({"person": "whoever"}, "whoever"),
    ],
)
def test_questions_that_make_no_sense_are_refused(table, options, message):
    with pytest.raises(InputError, match=message):
        assess(table, **{"quasi_identifiers": NAMES, "protection": False, **options})


def test_the_same_seed_gives_the_same_answer(table, found):
    again = assess(
        table,
        quasi_identifiers=NAMES,
        sensitive=["charge"],
        population=300_000,
        recipient="restricted",
        groups={"census": ["age_yrs", "sex"], "place": ["patcnty"]},
    )
    first, second = found.to_dict(), again.to_dict()
    for plain in (first, second):
        plain["provenance"].pop("made")
        plain["provenance"].pop("seconds")
        plain["population"].pop("seconds")
    assert first == second


def test_advised_protection_is_told_to_programs_too():
    table = {
        "full, name": [f"person {n}" for n in range(400)],
        "-sex": ["f", "m"] * 200,
        "age": [20 + n % 40 for n in range(400)],
        "illness, chronic": ["a" if n % 40 < 3 else "abc"[n // 40 % 3] for n in range(400)],
    }
    known, secret = ("-sex", "age"), ("illness, chronic",)
    asked = {"quasi_identifiers": known, "sensitive": secret, "identifiers": ("full, name",), "rows_are_people": True}
    advice = assess(table, **asked).verdict.actions[-1]
    assert advice.protection == {
        "k": 11,
        "sensitive": ["illness, chronic"],
        "l": 2,
        "diversity": "recursive",
        "c": 19.0,  # nobody's value is shared by 95 % of a class: 0.95 / 0.05
        "leave_out": ["full, name"],
    }
    safe = protect(table, quasi_identifiers=list(known), **advice.protection)
    assert judge_protected(safe, Question(**asked)).decision == advice.expected["decision"] == "within"
    assert advice.to_dict()["protection"] == advice.protection


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
    assert "patzip" in found.verdict.actions[0].commands[0]
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
    assert (judged.decision, judged.giving_back) == ("exposed", ("patzip",))
    assert "patzip is kept and gives patcnty back" in judged.exposures[0]


def test_what_protection_leaves_is_on_the_scale_of_the_decision(found):
    costs = found.protection.costs
    assert found.verdict.basis == "population"
    assert all(cost.risk == cost.population_risk < cost.correctness for cost in costs)
    assert all(
        cost.population_limits[0] <= cost.risk <= cost.population_limits[1] == cost.correctness for cost in costs
    )
    assert found.protection.enough(0.09).k == 3
    tried = found.verdict.actions[-1]
    assert (tried.expected["decision"], tried.expected["k"]) == ("within", 2)  # the least that passes
    assert "the result may go to a restricted circle" in tried.sentence
    assert [row.value for row in found.statements if row.section == "protection"] == [cost.risk for cost in costs]


def test_the_risk_of_protected_classes_is_that_of_the_population_they_came_from():
    everybody = demo_table(60_000, seed=4).to_pandas()
    names = ["age_yrs", "sex"]
    sample = everybody.sample(3_000, random_state=1)
    safe = protect(sample, quasi_identifiers=names, k=5, warn=False)
    labels = safe.table.assign(original_age=sample["age_yrs"].to_numpy(), original_sex=sample["sex"].to_numpy())
    # a class holds the values of its own members, so it has at least everybody of the population with one of them
    size = everybody.groupby(names).size()
    truth = 0.0
    for _, members in labels.groupby(names):
        kinds = members[["original_age", "original_sex"]].drop_duplicates().itertuples(index=False, name=None)
        truth += len(members) / len(labels) / sum(int(size[kind]) for kind in kinds)
    assert risk_of_large_classes(safe.classes, 60_000) == pytest.approx(truth, rel=0.25)


def test_the_reason_of_a_role_says_who_chose_it(table):
    roles = assess(table, quasi_identifiers=["sex"], other=["patzip"], protection=False).roles
    assert roles.reason("sex") == "as you said"
    assert roles.reason("age_yrs").startswith("not named, though it looks like a quasi-identifier")
    assert roles.reason("patzip").startswith("as you said, though it looks like a quasi-identifier")
    assert "as you said" not in propose_roles(table).reason("sex")


def test_every_threshold_is_judged_as_the_decision_is(found):
    from incrowd.reports.document import verdict_figure

    low, high = found.verdict.interval
    rows = verdict_figure(found).table.rows
    assert [(row[0], row[1]) for row in rows] == [("trusted", 3), ("restricted", 3), ("public", 11), ("strict", 20)]
    for name, _, _, highest, _, average in rows:
        limits = limits_of(name)
        assert highest == ("above it" if found.verdict.highest > limits.highest else "within it")
        bound = limits.average
        assert average == (
            "–"
            if bound is None
            else "too close to call"
            if low <= bound < high
            else "above it"
            if found.verdict.risk > bound
            else "within it"
        )
    close = replace(found.verdict, interval=(0.05, 0.2))
    assert verdict_figure(replace(found, verdict=close)).table.rows[1][-1] == "too close to call"


def test_statements_and_suggested_roles_are_worked_out_once(table, found, monkeypatch):
    from incrowd import read_table
    from incrowd.tables.roles import suggest

    assert found.statements is found.statements
    looks = []
    look = suggest._suggest_all
    monkeypatch.setattr(suggest, "_suggest_all", lambda *given: looks.append(given) or look(*given))
    opened = read_table(table)
    proposed = propose_roles(opened)
    assert assess(opened, quasi_identifiers=["sex"], protection=False).roles.suggested == proposed.suggested
    assert len(looks) == 1


def test_what_is_known_early_comes_first_and_says_what_is_missing(table):
    early = []
    asked = {"quasi_identifiers": ["age_yrs", "sex"], "population": 60_000}
    last = assess(table, **asked, partial=early.append)
    assert [sorted(one.skipped) for one in early] == [["population", "protection"]] * 2 + [["protection"]]
    assert {str(reason) for one in early for reason in one.skipped.values()} == {"still being worked on"}
    assert all(one.forecast is not None for one in early)
    assert [one.population is None for one in early] == [True, True, False]
    assert "still being estimated" in early[0].verdict.reasons[1]
    assert last.skipped == {}
    assert early[-1].knowledge.to_dict() == last.knowledge.to_dict()


def test_a_section_is_a_field_with_statements_of_its_own(found):
    from dataclasses import fields

    from incrowd.assessment.result import SECTIONS

    others = {"verdict", "roles", "skipped", "notes", "provenance"}
    assert [section.name for section in SECTIONS] == [one.name for one in fields(found) if one.name not in others]
    assert [one for section in SECTIONS for one in section.statements(found)] == list(found.statements)


def test_sections_share_the_progress_by_weight_and_each_begins_where_the_one_before_it_ends():
    spans = share_progress(SECTIONS)
    assert list(spans)[:3] == ["facts", "evidence", "leaks"]
    assert set(spans) == {section.name for section in SECTIONS}
    ends = list(spans.values())
    assert [first[1] for first in ends[:-1]] == [second[0] for second in ends[1:]]
    assert (ends[0][0], ends[-1][1]) == (0.02, 0.98)
    weights = [next(one.weight for one in SECTIONS if one.name == name) for name in spans]
    shares = [(high - low) / 0.96 for low, high in ends]
    assert shares == pytest.approx([weight / sum(weights) for weight in weights])


def test_progress_never_goes_back_from_one_section_to_the_next():
    told = []
    table = {"age": [number % 7 for number in range(60)], "sex": [number % 2 for number in range(60)]}
    names = ["age", "sex"]
    assess(table, quasi_identifiers=names, protection=False, progress=lambda doing, share: told.append(share))
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] == 0.99


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


def test_columns_that_make_the_records_at_highest_risk_stand_out_are_told():
    draws = np.random.default_rng(3)
    table = {"age": draws.integers(0, 400, 1_500), "sex": draws.integers(0, 2, 1_500), "hand": [1, 2] * 750}
    found = assess(table, quasi_identifiers=list(table), population=20_000, protection=False)
    shares = found.population.telling_columns
    assert next(iter(shares)) == "age"
    assert sum(shares.values()) == pytest.approx(1)
    records = record_risk(table, population=20_000, quasi_identifiers=list(table))
    top = np.argsort(-records["risk"], kind="stable")[:100]
    counted = {name: float(np.mean(records["telling_column"][top] == name)) for name in shares}
    assert counted == pytest.approx(dict(shares))
    told = {one.name: one for one in found.statements if one.section == "population"}
    assert told["what makes records stand out"].shown.startswith("age (")
    assert told["record at highest risk in the population"].value == found.population.highest


def test_the_population_is_grown_only_for_ways_that_nothing_counted_refuses(monkeypatch):
    grown, judged, smallest = [], [], []
    estimate, judge = population_section.estimate_risks, api.judge_release

    def counted(sample, at, **options):
        grown.append(list(at))
        return estimate(sample, at, **options)

    def noted(released, *given, **options):
        verdict = judge(released, *given, **options)
        with one_at_a_time:  # trials go side by side
            judged.append(verdict)
            smallest.append(measure(released, quasi_identifiers=["age", "sex"]).k)
        return verdict

    one_at_a_time = threading.Lock()
    monkeypatch.setattr(population_section, "estimate_risks", counted)
    monkeypatch.setattr(api, "judge_release", noted)
    random = np.random.default_rng(0)
    ages = random.integers(20, 80, 600)
    table = {"age": ages, "sex": random.integers(0, 2, 600), "illness": np.array(["a", "b", "c"])[ages // 27]}
    found = assess(
        table,
        quasi_identifiers=["age", "sex"],
        sensitive=["illness"],
        population=20_000,
    )
    without = [verdict for verdict in judged if verdict.disclosed]
    assert without
    assert all(verdict.basis == "table" and verdict.decision != "within" for verdict in without)
    with_population = [verdict for verdict in judged if verdict.basis == "population"]
    assert len(with_population) == len(judged) - len(without)
    assert len(grown[0]) > 1  # for the forecast
    assert grown[1:] == [[20_000]] * len(with_population)
    expected = found.verdict.actions[0].expected
    passed = {k: verdict for k, verdict in zip(smallest, judged, strict=True) if verdict.decision == "within"}
    advised = min(k for k in passed if k >= expected["k"])  # the table whose classes have that size or little more
    assert expected["highest"] == passed[advised].highest


def test_a_verdict_that_stops_at_a_certain_no_mends_as_the_whole_one_does():
    ages = [age for age in range(20, 60) for _ in range(10)]
    table = {"age": ages, "illness": ["a" if age < 40 else "b" for age in ages]}
    question = Question(quasi_identifiers=("age",), sensitive=("illness",), population=4_000, recipient="public")
    whole, stopped = (api.judge_release(table, question, only_if_yes=short) for short in (False, True))
    assert whole.basis == "population"
    assert stopped.basis == "table"
    assert stopped.decision != "within"
    assert stopped.exposures[0] == whole.exposures[0]
    assert (stopped.disclosed, stopped.giving_back) == (whole.disclosed, whole.giving_back) == (("illness",), ())


def searched(monkeypatch, likely, passes, diverse=(), detail=lambda k: 1 / k, memory=10**9):
    """The class size that the search advises, or why none; and the sizes that it tried."""
    tried = []

    def try_size(work, k, progress):
        tried.append(k)
        plan = way_to_yes.Plan((), k, 0.95, diverse=diverse)
        return way_to_yes._Way(plan, None, lambda: way_to_yes._Cost(detail(k), 0)) if passes(k) else f"{k} is too few"

    monkeypatch.setattr(way_to_yes, "_sizes_to_try", lambda work: [2, 3, 5, 8, 11])
    monkeypatch.setattr(way_to_yes, "_likely_to_pass", lambda work, sizes: likely)
    monkeypatch.setattr(way_to_yes, "_try_size", try_size)
    monkeypatch.setattr(way_to_yes, "_protect_action", lambda work, way: way.plan.k)
    monkeypatch.setattr(way_to_yes, "_no_way", lambda question, why: why)
    table = SimpleNamespace(rows=100, columns=[], memory=memory)
    work = SimpleNamespace(progress=lambda doing, share: None, question=None, table=table)
    return way_to_yes.way_to_yes(work), tried


@pytest.mark.parametrize("least", [2, 3, 8, 11, 99])
@pytest.mark.parametrize("likely", range(5))
def test_the_least_class_size_that_passes_is_found_from_any_start(least, likely, monkeypatch):
    advised, tried = searched(monkeypatch, likely, lambda k: k >= least)
    assert advised == (least if least <= 11 else "11 is too few")
    assert len(tried) <= 5
    alone, one_by_one = searched(monkeypatch, likely, lambda k: k >= least, memory=0)
    assert alone == advised
    assert set(one_by_one) <= set(tried)  # none is begun before it is needed


@pytest.mark.parametrize("likely", range(5))
def test_where_secrets_must_differ_larger_classes_are_taken_if_they_keep_more(likely, monkeypatch):
    assert searched(monkeypatch, likely, lambda k: True, ("ill",), detail=lambda k: k / 100)[0] == 11
    assert searched(monkeypatch, likely, lambda k: True, ("ill",))[0] == 2


def test_the_class_size_that_is_likely_to_pass_comes_from_the_sampling_fraction():
    def likely(people, population):
        limits = SimpleNamespace(class_size=11)
        work = SimpleNamespace(
            question=SimpleNamespace(limits=limits),
            answers={"population": SimpleNamespace(people=people, population=population)},
        )
        sizes = [2, 3, 5, 8, 11]
        return sizes[way_to_yes._likely_to_pass(work, sizes)]

    assert likely(1_000, 1_000) == 11  # everybody is in the table
    assert likely(1_000_000, 3_985_166) == 8
    assert likely(200_000, 3_985_166) == 3
    assert likely(1_000, 10**6) == 2


class CancelledError(Exception):
    pass


_DRAWS = np.random.default_rng(0)
AGES = {"age": _DRAWS.integers(20, 80, 240).tolist(), "sex": _DRAWS.integers(0, 2, 240).tolist()}


def test_one_protection_at_a_time_where_the_memory_limit_does_not_allow_two_and_the_result_is_the_same(monkeypatch):
    asked = {"quasi_identifiers": ["age", "sex"], "population": 240}
    protect_one, running, most = protection_section.protect, [], []

    def counted(*given, **options):
        running.append(None)
        most.append(len(running))
        try:
            time.sleep(0.05)
            return protect_one(*given, **options)
        finally:
            running.pop()

    monkeypatch.setattr(protection_section, "protect", counted)
    monkeypatch.setattr(way_to_yes, "protect", counted)
    needed = memory_to_protect(read_table(AGES))
    found = []
    for memory, at_once in ((2 * needed, 2), (2 * needed - 1, 1)):
        monkeypatch.setattr(Table, "memory", property(lambda table, memory=memory: memory))
        most.clear()
        told = assess(AGES, **asked).to_dict()
        found.append({name: part for name, part in told.items() if name != "provenance"})
        assert max(most) == at_once
        assert len(most) > 3
    assert found[0] == found[1]


def test_only_protections_with_which_the_way_to_a_yes_begins_are_kept(monkeypatch):
    works = []
    monkeypatch.setattr(api, "next_actions", lambda work, verdict: works.append(work) or [])
    assess(AGES, quasi_identifiers=["age", "sex"])
    assess(AGES, quasi_identifiers=["age", "sex"], population=240)
    assess(AGES, quasi_identifiers=["age", "sex"], population=3_000)
    assert [way_to_yes.sizes_to_begin_with(work) for work in works] == [[11], [8, 11], [3, 5]]
    assert [sorted(work.shared["protected"]) for work in works] == [[11], [11], [3, 5]]


@pytest.mark.parametrize(("stage", "call"), [("protect", 3), ("protect", 20), ("trying", 1), ("trying", 6)])
def test_a_cancelled_assessment_stops_within_one_trial(stage, call, monkeypatch):
    told, finished = [], []

    def progress(doing, share):
        if doing.startswith(stage):
            told.append(doing)
            if len(told) == call:  # and not again
                raise CancelledError

    def noted(how):
        def run(*given, progress, **options):
            done = how(*given, **options, progress=progress)
            late = len(told) >= call
            progress("done", 1.0)
            finished.append(late)
            return done

        return run

    for room, name in ((protection_section, "protect"), (protection_section, "evaluate"), (way_to_yes, "protect")):
        monkeypatch.setattr(room, name, noted(getattr(room, name)))
    with pytest.raises(CancelledError):
        assess(AGES, quasi_identifiers=["age", "sex"], population=240, progress=progress)
    assert len(told) == call
    assert not any(finished)


def test_progress_does_not_go_back_while_protections_are_tried():
    told = []
    assess(AGES, quasi_identifiers=["age", "sex"], progress=lambda *said: told.append(said))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert any(doing.startswith("trying classes of") for doing, _ in told)
    assert max(shares) <= 1.0
