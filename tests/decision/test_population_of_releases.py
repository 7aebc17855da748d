"""A population makes no locally recoded release a yes: its boxes are as tight as the sample allows."""

import json

import numpy as np
import pyarrow as pa
import pytest

from incrowd import assess, check, protect, read_table
from incrowd.assessment import Question, judge_protected, judge_release
from incrowd.assessment.solver import find_release
from incrowd.protection.release import write_protected
from incrowd.tables import parse_generalised
from incrowd.tables.release_marks import mark_of

pytestmark = pytest.mark.usefixtures("quick_estimates")

NAMES = ("age", "town", "income")
PEOPLE = 20_000


@pytest.fixture(scope="module")
def everybody():
    draw = np.random.default_rng(7)
    ages, towns = draw.integers(18, 90, PEOPLE), draw.integers(0, 30, PEOPLE)
    return {"age": ages, "town": towns, "income": (draw.gamma(3, 10, PEOPLE) + ages / 4).astype(int)}


@pytest.fixture(scope="module")
def sample(everybody):
    drawn = np.random.default_rng(8).choice(PEOPLE, 1_500, replace=False)
    return pa.table({name: values[drawn] for name, values in everybody.items()})


def asked(**more):
    return Question(**{"quasi_identifiers": NAMES, "rows_are_people": True, "population": PEOPLE, **more})


def people_in_boxes(everybody, released):
    """The people of the population who fit each released class."""

    def fit(name, label):
        meaning = parse_generalised(str(label))
        if meaning is None:
            return everybody[name] == int(label)
        return np.array([meaning.covers(value) for value in everybody[name].tolist()])

    classes = released.group_by(list(NAMES)).aggregate([]).to_pylist()
    masks = {(name, row[name]): None for row in classes for name in NAMES}
    masks = {cell: fit(*cell) for cell in masks}
    return [int(np.logical_and.reduce([masks[name, row[name]] for name in NAMES]).sum()) for row in classes]


def test_boxes_around_the_sample_hold_fewer_people_than_their_size_tells(everybody, sample):
    safe = protect(sample, quasi_identifiers=NAMES, k=5, identifiers=[])
    truth = people_in_boxes(everybody, safe.table)
    assert min(truth) < 11  # above 1/11 for whoever knows the population
    verdict = judge_protected(safe, asked())
    assert verdict.basis == "table"
    assert verdict.decision != "within"
    assert verdict.highest == 1 / 5 >= 1 / min(truth)
    assert any("The population is not used" in reason and "overlap" in reason for reason in verdict.reasons)
    assert judge_release(safe.table, asked()).basis == "table"
    assert not check(safe.table, quasi_identifiers=list(NAMES), question=asked()).passed


def test_the_advice_and_the_release_for_a_recipient_pass_in_the_population_itself(everybody, sample):
    action = assess(sample, quasi_identifiers=NAMES, rows_are_people=True, population=PEOPLE).verdict.actions[-1]
    assert action.protection["k"] >= 11
    assert action.expected["decision"] == "within"
    advised = protect(sample, quasi_identifiers=NAMES, identifiers=[], **action.protection)
    found = find_release(sample, asked(), quasi_identifiers=NAMES, methods=("partition", "generalise"), identifiers=[])
    assert found.passes
    for safe in (advised, found.protected):
        verdict = judge_protected(safe, asked())
        assert verdict.decision == "within"
        assert verdict.highest >= 1 / min(people_in_boxes(everybody, safe.table))


def test_one_coding_for_all_is_judged_in_the_population(sample):
    safe = protect(sample, quasi_identifiers=NAMES, k=2, method="generalise", identifiers=[])
    assert judge_protected(safe, asked()).basis == "population"
    assert judge_release(sample, asked()).basis == "population"


def test_a_release_without_its_rare_rows_is_no_sample(sample):
    safe = protect(sample, quasi_identifiers=NAMES, k=3, method="generalise", suppress=0.1, identifiers=[])
    assert safe.suppressed_rows
    verdict = judge_protected(safe, asked())
    assert verdict.basis == "table"
    assert any("left out" in reason for reason in verdict.reasons)


def test_the_mark_tells_of_ranges_that_do_not_show(sample, tmp_path):
    """Disjoint ranges of one column, and numbers in place of ranges, were made class by class all the same."""
    one = sample.select(["income"])
    for safe in (
        protect(one, quasi_identifiers=["income"], k=3, identifiers=[]),
        protect(sample, quasi_identifiers=NAMES, k=5, output="midpoint", identifiers=[]),
    ):
        names = safe.quasi_identifiers
        question = asked(quasi_identifiers=names)
        assert judge_protected(safe, question).basis == "table"
        file = tmp_path / f"{len(names)}.parquet"
        write_protected(safe, file)
        found = judge_release(file, question)
        assert found.basis == "table"
        assert any("around the people of each class" in reason for reason in found.reasons)
        mark = json.loads(mark_of(file).read_text())
        assert mark.pop("coding") == "by class"
        mark_of(file).write_text(json.dumps(mark))  # as an older version wrote it
        assert judge_release(file, question).basis == "table"


def test_ranges_of_which_nobody_knows_how_they_were_made_are_judged_by_the_table(sample):
    ages = [f"[{age // 10 * 10};{age // 10 * 10 + 9}]" for age in sample["age"].to_pylist()]
    table, question = {"age": ages}, asked(quasi_identifiers=("age",))
    verdict = judge_release(table, question)
    assert verdict.basis == "table"
    assert any("nothing beside the file says" in reason for reason in verdict.reasons)
    assert judge_release(table, question, original=table).basis == "population"  # collected so
    assert judge_release(table, question, original=read_table({"age": sample["age"]})).basis == "table"
