"""Accuracy by group and by confidence, against plain counting."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run

from incrowd import InputError
from incrowd.curves import PartAccuracy, robust_curve_from_ranks, study_accuracy

PROBES = st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.integers(0, 5)), min_size=1, max_size=40)


@given(PROBES)
def test_parts_are_counted(probes):
    right, groups, sure = (list(column) for column in zip(*probes, strict=True))
    found = study_accuracy(right, groups=groups, confidence=sure)
    assert found.overall.correct == sum(right)
    assert {one.part: (one.people, one.correct) for one in found.groups} == {
        group: (groups.count(group), sum(r for r, g in zip(right, groups, strict=True) if g == group))
        for group in groups
    }
    for one, share in zip(found.confident, (1.0, 0.5, 0.2, 0.1, 0.05, 0.01), strict=True):
        least = sorted(sure, reverse=True)[max(int(np.ceil(share * len(sure))), 1) - 1]
        inside = [r for r, s in zip(right, sure, strict=True) if s >= least]
        assert (one.people, one.correct) == (len(inside), sum(inside))


def test_the_interval_holds_the_truth_19_times_in_20():
    random = np.random.default_rng(0)
    held = [
        low <= 0.9 <= high
        for low, high in (PartAccuracy("x", 60, float(random.binomial(60, 0.9))).interval for _ in range(2_000))
    ]
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)
    assert PartAccuracy("x", 5, 5.0).interval[1] == 1.0
    assert PartAccuracy("x", 5, 0.0).interval[0] == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"correct": []},
        {"correct": [2]},
        {"correct": [1], "groups": ["a", "b"]},
        {"correct": [1], "confidence": [np.nan]},
    ],
)
def test_other_than_a_study_is_refused(wrong):
    with pytest.raises(InputError):
        study_accuracy(**wrong)


def test_a_study_on_the_command_line(tmp_path, capsys):
    file = tmp_path / "study.csv"
    rows = [(1, "f", 0.9), (1, "f", 0.8), (3, "m", 0.2), (1, "m", 0.6), (2, "m", 0.1)]
    file.write_text("place,sex,margin\n" + "".join(f"{r},{g},{s}\n" for r, g, s in rows))
    columns = ("--ranks", "place", "--group", "sex", "--confidence", "margin")
    code, out, _ = run(capsys, "curve", file, *columns, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["correctness"][-1] == pytest.approx(robust_curve_from_ranks([1, 1, 3, 1, 2]).correctness[-1])
    assert [(one["part"], one["accuracy"]) for one in found["study"]["groups"]] == [
        ("f", 1.0),
        ("m", pytest.approx(1 / 3)),
    ]
    assert [one["accuracy"] for one in found["study"]["confident"][:2]] == [0.6, 1.0]
    code, out, _ = run(capsys, "curve", file, *columns)
    assert "Among those the attacker is most sure of" in out
    assert run(capsys, "forecast", file, "--ranks", "place", "--at", "1e4")[0] == 0
    assert run(capsys, "curve", file, "--qi", "sex", "--group", "sex")[0] == 2
    assert run(capsys, "curve", file, "--qi", "sex", "--ranks", "place")[0] == 2
