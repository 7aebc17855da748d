"""The journey as a whole: the same numbers as the rooms it passes through, and reasons where there is no answer."""

import json
from dataclasses import replace

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
from incrowd.assessment import propose_roles
from incrowd.assessment.result import SECTIONS
from incrowd.assessment.sections.protection import risk_of_large_classes
from incrowd.assessment.sections.section import SEARCH, share_progress
from incrowd.pitman_yor import fit_class_sizes
from incrowd.recipients import RECIPIENTS, limits_of

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


@pytest.mark.usefixtures("exact_estimates")
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


def test_a_column_that_names_people_outranks_too_close_to_call(table, found):
    low, high = found.population.interval
    named = table.append_column("email", [[f"e{number}" for number in range(3_000)]])
    asked = {"quasi_identifiers": NAMES, "population": 300_000, "threshold": (low + high) / 2, "highest": 1.0}
    close = assess(named, **asked, protection=False).verdict
    assert (close.decision, close.headline) == ("exposed", "No: somebody is found, or a secret is known")
    assert "email" in close.exposures[0]
    assert "too close to the" in close.sentence


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
    answered = {section.name for section in SECTIONS} - {"attacks"}
    assert {one.section for one in statements} == answered | {"secrets", "drivers", "secrets left"}
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


def test_what_protection_leaves_is_on_the_scale_of_the_decision(found):
    costs = found.protection.costs
    assert found.verdict.basis == "population"
    # ranges that are made class by class say nothing about a population: their classes are judged by the table
    assert all(cost.population_risk is cost.population_limits is None for cost in costs)
    assert all(cost.risk == cost.correctness <= 1 / cost.k for cost in costs)
    assert found.protection.enough(0.09).k == 11
    tried = found.verdict.actions[-1]
    assert tried.expected["decision"] == "within"
    assert tried.expected["highest"] == pytest.approx(1 / tried.expected["k"])
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


def test_every_threshold_is_judged_as_the_decision_is(found):
    from incrowd.reports.document import verdict_figure

    low, high = found.verdict.interval
    rows = verdict_figure(found).table.rows
    assert [(row[0], row[1]) for row in rows] == [(one.name, one.limits.class_size) for one in RECIPIENTS]
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
    from incrowd.tables.roles import suggest

    assert found.statements is found.statements
    looks = []
    look = suggest.find_evidence
    monkeypatch.setattr(suggest, "find_evidence", lambda *given: looks.append(given) or look(*given))
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


def test_the_search_for_the_way_to_a_yes_moves_the_progress_trial_by_trial():
    told = []
    draws = np.random.default_rng(5)
    values = {"age": (20, 60), "sex": (0, 2), "illness": (0, 3), "score": (0, 90)}
    table = {name: draws.integers(*ends, 300) for name, ends in values.items()}
    asked = {"quasi_identifiers": ["age", "sex"], "sensitive": ["illness"], "other": ["score"], "rows_are_people": True}
    found = assess(table, **asked, progress=lambda doing, share: told.append((doing, share)))
    assert found.verdict.decision != "within"
    searched = [share for doing, share in told if doing.startswith("trying classes of 11: ")]
    assert len({*searched}) > 3  # within a trial too
    parts = {doing.partition(": ")[2] for doing, _ in told}  # what takes long may be stopped
    assert "learning what kept columns say" in parts
    assert SEARCH == min(searched) < max(searched) < 1
    assert max(share for doing, share in told if not doing.startswith("trying")) == SEARCH


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
