"""Steps of perturbation that are asked for: read from text, refused in words, and never a promise of classes."""

import csv
import dataclasses
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.protection.test_perturbation import perturb

from incrowd import InputError, UnsupportedError, protect, read_table
from incrowd.assessment import Question, find_release, judge_protected
from incrowd.assessment.api import judge_release
from incrowd.protection import make_codebook, write_protected
from incrowd.protection.perturbation import (
    STEPS,
    Noise,
    Pram,
    RankSwap,
    Round,
    parse_step,
)


@pytest.mark.parametrize(
    ("matrix", "wrong"),
    [
        ({"a": {"a": 0.9}, "b": {"b": 1.0}}, "row 1 of the matrix adds up to 0.9, not to 1"),
        ({"a": {"a": 1.0}, "b": {"b": 1.2, "a": -0.2}}, "row 2 of the matrix holds a number that is no probability"),
        ({"a": {"a": 0.9, "c": 0.1}, "b": {"b": 1.0}}, "leads to a value that has no row"),
        ({"a": {"a": 1.0}}, "no row for 1 of the 2 values"),
        ({"a": {"a": math.nan}, "b": {"b": 1.0}}, "no probability"),
    ],
)
def test_a_matrix_that_is_none_is_refused(matrix, wrong, tmp_path):
    with pytest.raises(InputError, match=wrong):
        perturb({"town": ["a", "b"]}, Pram(("town",), matrix), known=["town"])
    values = sorted({*matrix, *(other for row in matrix.values() for other in row)})
    with open(tmp_path / "matrix.csv", "w", newline="") as file:
        lines = [[value, *(row.get(other, 0) for other in values)] for value, row in matrix.items()]
        csv.writer(file).writerows([["", *values], *lines])
    with pytest.raises(InputError, match=wrong):
        perturb({"town": ["a", "b"]}, ("town", f"pram={tmp_path}/matrix.csv"), known=["town"])


def test_a_matrix_is_read_from_a_file(tmp_path):
    (tmp_path / "swap.csv").write_text(",0,1\n0,0,1\n1,1,0\n")
    safe = perturb({"sex": [0, 1, 1, None]}, ("sex", f"pram={tmp_path}/swap.csv"), known=["sex"])
    assert safe.table["sex"].to_pylist() == [1, 0, 0, None]
    for text, wrong in (("a,b\nc\n", "no matrix"), ("a,b\nc,x\n", "no matrix"), ("", "no matrix")):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(InputError, match=wrong):
            perturb({"sex": [0, 1]}, Pram(("sex",), str(tmp_path / "bad.csv")), known=["sex"])
    with pytest.raises(InputError, match="cannot be read"):
        perturb({"sex": [0, 1]}, Pram(("sex",), str(tmp_path / "none.csv")), known=["sex"])


def test_without_a_seed_draws_differ_and_no_seed_is_told():
    table = {"pay": [float(number) for number in range(50)]}
    first, second = (perturb(table, Noise(("pay",), 1.0), known=["pay"], seed=None) for _ in range(2))
    assert not first.table.equals(second.table)
    told = perturb(table, Noise(("pay",), 1.0), known=["pay"], seed=987654321)
    assert "987654321" not in f"{told.to_dict()}{make_codebook(told).to_ddi()}{told.notes}"


def test_nothing_is_promised_and_the_risk_is_attacked(tmp_path):
    draws = np.random.default_rng(0)
    table = {"age": draws.integers(0, 90, 300), "sex": draws.integers(0, 2, 300), "note": ["x"] * 300}
    weak, strong = (perturb(table, Noise(("age",), size), known=["age", "sex"]) for size in (0.001, 5.0))
    assert weak.guarantee.asked_k is None
    assert weak.guarantee.perturbed == ("age",)
    assert weak.guarantee.sentence.startswith("no guarantee: age was changed by chance")
    assert weak.attack().risk.value > 0.4 > 0.1 > strong.attack().risk.value
    write_protected(strong, tmp_path / "safe.csv")
    assert read_table(tmp_path / "safe.csv").rows == 300


def test_the_file_alone_is_never_a_yes_either(tmp_path):
    table = {"age": [30] * 40 + [60] * 40}
    question = Question(quasi_identifiers=("age",), recipient="trusted")
    swapped = perturb(table, RankSwap(("age",), 0.1), known=["age"], shuffle=None)
    write_protected(swapped, tmp_path / "swapped.csv")
    verdict = judge_release(str(tmp_path / "swapped.csv"), question)
    assert verdict.decision == "borderline"
    assert (verdict.risk, verdict.highest_interval) == (
        judge_protected(swapped, question).risk,
        (verdict.interval[0], 1),
    )
    assert "age was changed by chance" in str(verdict.internal_reasons[0])
    (tmp_path / "swapped.csv.incrowd").unlink()  # without its mark nothing is known of it
    assert judge_release(str(tmp_path / "swapped.csv"), question).decision != "borderline"
    write_protected(perturb(table, Round(("age",), 10), known=["age"], shuffle=None), tmp_path / "rounded.csv")
    assert judge_release(str(tmp_path / "rounded.csv"), question).decision == "within"


def test_a_perturbed_table_is_never_a_yes():
    ages = [30] * 40 + [60] * 40
    table = {"age": ages}
    question = Question(quasi_identifiers=("age",), recipient="trusted")
    safe = perturb(table, RankSwap(("age",), 0.1), known=["age"], shuffle=None)
    assert safe.guarantee.k >= 40  # by classes it would be a yes
    verdict = judge_protected(safe, question)
    assert verdict.decision == "borderline"
    assert verdict.highest_interval[1] == 1.0
    assert "Values were changed by chance" in verdict.reasons[0]
    all_accepted = Question(quasi_identifiers=("age",), highest=1.0, threshold=1.0)
    assert judge_protected(safe, all_accepted).decision == "borderline"
    rounded = perturb(table, Round(("age",), 10), known=["age"], shuffle=None)
    assert judge_protected(rounded, question).decision == "within"
    steps = {"steps": [("age", "rankswap=0.1")], "method": "perturb", "quasi_identifiers": ["age"], "identifiers": []}
    found = find_release(table, question, **steps)
    assert len(found.trials) == 1
    assert not found.passes


def test_high_linkage_is_a_no_and_its_secrets_are_not_counted_by_classes():
    table = {"age": list(range(100)), "ill": ["yes", "no"] * 50}
    safe = perturb(table, Noise(("age",), 0.001), known=["age"], sensitive=["ill"])
    verdict = judge_protected(safe, Question(quasi_identifiers=("age",), sensitive=("ill",)))
    assert verdict.decision == "over"
    assert verdict.risk == 1.0
    assert verdict.disclosed == ()


@pytest.mark.parametrize(
    ("steps", "wrong"),
    [
        ([], "needs steps"),
        (["age"], "a step of perturbation is a pair"),
        ([("age", "blur=3")], "there is no step 'blur'"),
        ([("age", "noise")], "'noise' needs its numbers"),
        ([("age", "noise=much")], "'noise' needs its numbers"),
        ([("age", "noise=-1")], "give a number above 0"),
        ([("age", "noise=0.1,colour=red")], "does not take colour; it takes size"),
        ([("age", "noise=0.1,size=0.2")], "two values for size"),
        ([("ages", "noise=0.1")], "ages"),
        ([("town", "noise=0.1")], "holds categories"),
        ([("age", "correlated=0.1")], "name two columns"),
        ([("age", "microaggregate=1")], "2 or more"),
        ([("age", "microaggregate=50")], "groups of 50 from 4 rows"),
        ([("age", "microaggregate=2,by=magic")], "use partition or mdav"),
        ([("age", "rankswap=2")], "up to 1"),
        ([("town", "rankswap=0.5")], "has no order"),
        ([("town", "recordswap=0.9")], "up to 0.5"),
        ([("town", "recordswap=0.5,household=age")], "members in several places"),
        ([("town", "pram=1.5")], "0 up to 1"),
        ([("town", "shuffle")], "has no order"),
        ([("age", "shuffle=age")], "cannot be shuffled by itself"),
        ([("age", "round=0")], "above 0"),
        ([("day", "round=3")], "holds dates"),
        ([("age", "top=inf")], "give a number"),
        ([("age", "top=3,to=moon")], "'limit' or their 'mean'"),
    ],
)
def test_steps_that_make_no_sense_are_refused_in_words(steps, wrong):
    days = pa.array([1, 2, 3, 4], pa.date32())
    table = pa.table({"age": [1, 1, 8, 9], "town": ["secret-a", "secret-b", "secret-c", "secret-d"], "day": days})
    with pytest.raises(InputError, match=wrong) as error:
        perturb(table, *steps, known=["age"])
    assert "secret-" not in str(error.value)


@pytest.mark.parametrize("step", STEPS.values())
def test_text_can_set_every_field_of_a_step(step):
    assert list(step.reads) == [one.name for one in dataclasses.fields(step)[1:]]


def test_a_step_reads_a_file_only_where_it_may():
    assert parse_step(["town"], "pram=chances.csv") == Pram(("town",), Path("chances.csv"))
    for action in ("pram=chances.csv", "pram=/etc/passwd", "pram,matrix=chances.csv"):
        with pytest.raises(InputError, match="no file of this machine"):
            parse_step(["town"], action, files=False)
    assert parse_step(["town"], "pram=0.8", files=False) == Pram(("town",), 0.8)


def test_what_perturbation_cannot_promise_is_refused():
    table = {"age": [1, 2, 8, 9], "ill": ["a", "b", "a", "b"]}
    for asked in ({"l": 2}, {"t": 0.5}, {"beta": 1.0}, {"delta": 1.0}):
        with pytest.raises(UnsupportedError, match="promise no l, t, beta or delta"):
            perturb(table, ("age", "noise=1"), known=["age"], sensitive=["ill"], **asked)
    with pytest.raises(InputError, match="leave the output out"):
        perturb(table, ("age", "noise=1"), known=["age"], output="mean")
    with pytest.raises(InputError, match="does not take seed"):
        protect(table, quasi_identifiers=["age"], k=2, seed=3)


def test_a_removed_column_stays_removed_though_a_step_names_it():
    table = {"age": [1, 2, 8, 9], "email": [1, 2, 3, 4]}
    safe = protect(
        table, quasi_identifiers=["age"], method="perturb", steps=[("email", "noise=1")], identifiers=["email"]
    )
    assert safe.table.column_names == ["age"]
