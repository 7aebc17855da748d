"""Numbers and points as people in any country write them; what can be read in two ways is refused."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from incrowd.recipients import smallest_class

SCRIPT = Path(__file__).parents[2] / "src" / "incrowd" / "web" / "static" / "numbers.js"
ASK = """
import { parseNumber, parsePoints, smallestClass } from "./numbers.mjs";
const answer = (ask) => { try { return ask(); } catch (error) { return error.message; } };
const asked = JSON.parse(process.argv[2]);
const all = (texts, read) => texts.map((text) => answer(() => read(text)));
const points = all(asked.points, parsePoints), numbers = all(asked.numbers, parseNumber);
console.log(JSON.stringify([points, numbers, asked.limits.map(smallestClass)]));
"""
POINTS = {  # a first line, and what it says; the second line is "100; 0.5"
    "10,000 0.86": (10_000, 0.86),
    "10000,0.86": (10_000, 0.86),
    "10000, 0.86": (10_000, 0.86),
    "10 000 0,86": (10_000, 0.86),
    "10.000 0,86": (10_000, 0.86),
    "10.000;0,86": (10_000, 0.86),
    "10,000\t86%": (10_000, 0.86),
    "1,000,000; 0.5": (1_000_000, 0.5),
    "1.000.000 0,5": (1_000_000, 0.5),
    "2.5k 0.9": (2_500, 0.9),
    "1 million; 12,5 %": (1_000_000, 0.125),
}
REFUSED = {
    "10.000 0.86": "may be 10 or 10000 people",
    "10,000,0.86": "write two numbers",
    "10000,0,86": "write two numbers",
    "10 0.5 7": "write two numbers",
    "10.5 0.86": "whole people",
    "100 1.5": "a share from 0 to 1",
    "100": "write two numbers",
}
LIMITS = [0.33, 0.09, 0.05, 0.3, 1 / 11, 1 / 3, 0.2, 0.5, 1, 0.0909, 0.0899, 0.0901, 0.332, 0.329, 0.06, 0.01, 1e-6]
NUMBERS = {
    "3,200,000": 3.2e6,
    "0,05": 0.05,
    "5 %": 0.05,
    "1/4": 0.25,
    "60M": 6e7,
    "1.1 million": 1.1e6,
    "": None,
    "-3.5": -3.5,
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    folder = tmp_path_factory.mktemp("numbers")
    shutil.copy(SCRIPT, folder / "numbers.mjs")
    (folder / "ask.mjs").write_text(ASK)
    lines = [f"people, found\n{line}\n100; 0.5" for line in (*POINTS, *REFUSED)]
    asked = {"points": lines, "numbers": list(NUMBERS), "limits": LIMITS}
    done = subprocess.run(
        [node, folder / "ask.mjs", json.dumps(asked)], capture_output=True, text=True, check=True, cwd=folder
    )
    points, numbers, sizes = json.loads(done.stdout)
    return dict(zip((*POINTS, *REFUSED), points, strict=True)), dict(zip(NUMBERS, numbers, strict=True)), sizes


@pytest.mark.parametrize("line", POINTS)
def test_points_are_read_as_they_are_meant(answers, line):
    people, share = POINTS[line]
    assert answers[0][line] == [{"n": people, "correctness": share}, {"n": 100, "correctness": 0.5}]


@pytest.mark.parametrize("line", REFUSED)
def test_what_can_be_read_in_two_ways_is_refused_with_its_line(answers, line):
    assert answers[0][line].startswith("Line 2: ")
    assert REFUSED[line] in answers[0][line]


def test_numbers_in_several_notations(answers):
    assert answers[1] == NUMBERS


def test_a_limit_asks_for_the_class_that_the_library_reads_from_it(answers):
    assert answers[2] == [smallest_class(limit) for limit in LIMITS]
