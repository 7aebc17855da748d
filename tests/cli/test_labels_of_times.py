"""Releases of moments with time zones, in any unit, are attacked and evaluated as they are written."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.running import run

from incrowd.tables import write_table

PEOPLE = 120
KINDS = [("s", "Europe/Berlin"), ("s", "UTC"), ("ns", "America/New_York"), ("ns", None)]


def made_calls(unit, zone):
    draws = np.random.default_rng(5)
    start = datetime(2016, 10, 30, tzinfo=None if zone is None else UTC)  # clocks go back in this night
    seconds = draws.integers(0, 40 * 86_400, PEOPLE).tolist()
    moments = pa.array([start + timedelta(seconds=number) for number in seconds], pa.timestamp(unit, zone))
    return pa.table({"called": moments, "problem": [f"p{number % 7}" for number in seconds]})


def attacked(capsys, original, released, *options):
    given = ("--known", "called", "--kind", "linkage", *options)
    code, out, said = run(capsys, "attack", original, released, *given, "--json")
    assert code == 0, said
    (found,) = json.loads(out)["attacks"]
    return found


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("unit", "zone"), KINDS)
def test_a_release_of_moments_is_attacked_and_evaluated(unit, zone, ending, tmp_path, capsys):
    original, released = tmp_path / "calls.parquet", tmp_path / f"released.{ending}"
    write_table(made_calls(unit, zone), original)
    rows = ("--kept-rows", tmp_path / "rows.txt")
    options = ("--qi", "called", "--sensitive", "problem", "--k", "5", "--out", released)
    code, _, said = run(capsys, "protect", original, *options, *rows)
    assert code == 0, said
    found = attacked(capsys, original, released, *rows)
    assert 1 / PEOPLE < found["attack"]["value"] < 0.21
    code, out, said = run(capsys, "evaluate", original, released, "--qi", "called", "--json")
    assert code == 0, said
    cost = json.loads(out)
    assert not cost["contradicting"]
    assert (cost["k"], cost["uniques"]) == (5, 0)
    assert 0.5 < cost["granularity"] < 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("unit", "zone"), KINDS)
def test_moments_that_are_released_as_they_are_give_everybody_away(unit, zone, ending, tmp_path, capsys):
    original, released = tmp_path / "calls.parquet", tmp_path / f"released.{ending}"
    calls = made_calls(unit, zone)
    for file in (original, released):
        write_table(calls, file)
    assert attacked(capsys, original, released)["attack"]["value"] == 1


def test_labels_of_moments_that_cannot_be_read_are_counted(tmp_path, capsys):
    original, released = tmp_path / "calls.parquet", tmp_path / "released.csv"
    write_table(made_calls("s", "UTC"), original)
    released.write_text("called\n" + "in the morning\nat night\n2016-10-30\n" * (PEOPLE // 3))
    code, _, said = run(capsys, "attack", original, released, "--known", "called")
    assert code == 2
    assert "'called'" in said
    assert "2 of its 3 labels" in " ".join(said.split())
    code, _, said = run(capsys, "evaluate", original, released, "--qi", "called")
    assert code == 2
    assert "2 labels of the protected column 'called'" in " ".join(said.split())
    assert "morning" not in said
