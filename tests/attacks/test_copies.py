"""People who stand in a synthetic release as they are, counted in plain Python and judged against chance."""

from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from incrowd import assess, read_table
from incrowd.attacks import attack_release, kinds_for
from incrowd.attacks.copies import CopiedPeople, count_copied_people

pytestmark = pytest.mark.usefixtures("quick_estimates")

COLUMNS = ["age", "town", "pay"]


def draw(generator, rows):
    return {
        "age": generator.integers(20, 80, rows).tolist(),
        "town": generator.choice(["Ulm", "Bonn", None], rows).tolist(),
        "pay": generator.integers(0, 3_000, rows).tolist(),
    }


def with_copies(release, original, rows):
    return {name: [*release[name][: -len(rows)], *(original[name][row] for row in rows)] for name in COLUMNS}


@pytest.mark.parametrize("seed", range(5))
def test_copies_are_those_that_plain_python_counts(seed):
    generator = np.random.default_rng(seed)
    original, holdout, release = draw(generator, 300), draw(generator, 200), draw(generator, 250)
    release = with_copies(release, original, range(seed))
    found = count_copied_people(read_table(original), read_table(release), read_table(holdout), COLUMNS)
    released = {*zip(*release.values(), strict=True)}
    expected = []
    for table in (original, holdout):
        alone = [row for row, times in Counter(zip(*table.values(), strict=True)).items() if times == 1]
        expected += [len(alone), sum(row in released for row in alone)]
    assert [found.unique, found.copied, found.unique_others, found.copied_others] == expected


def test_a_number_is_the_same_whatever_its_type():
    table = {"age": [30, 31], "pay": [1.0, 2.5]}
    other = {"age": [30.0, 40.0], "pay": [1, 7]}
    assert count_copied_people(read_table(table), read_table(other), read_table(other), ["age", "pay"]).copied == 1


@pytest.mark.parametrize("counts", [(50, 3, 50, 0), (50, 6, 50, 0), (400, 9, 100, 2), (400, 9, 100, 0), (20, 0, 20, 3)])
def test_chance_is_ruled_out_as_exact_fractions_do(counts):
    unique, copied, others, copied_others = counts
    both = copied + copied_others
    as_many = sum(
        Fraction(comb(unique, hits) * comb(others, both - hits), comb(unique + others, both))
        for hits in range(copied, min(both, unique) + 1)
    )
    assert CopiedPeople(("age",), *counts).proven == (copied > 0 and as_many < Fraction(1, 20))


def test_releases_that_know_nobody_are_seldom_accused():
    accused = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        tables = [
            {"age": generator.integers(20, 30, rows), "pay": generator.integers(0, 40, rows)}
            for rows in (300, 250, 300)
        ]
        accused += count_copied_people(*map(read_table, tables), ["age", "pay"]).proven
    assert accused <= 5  # of 40, at 5 % each


def test_a_synthetic_release_with_a_few_copies_is_no_yes():
    generator = np.random.default_rng(7)
    original, holdout, release = (draw(generator, 600) for _ in range(3))
    asked = {"quasi_identifiers": ["age", "town"], "sensitive": ["pay"], "recipient": "public", "protection": False}
    asked |= {"holdout": holdout, "synthetic": True, "rows_are_people": True}
    copied = with_copies(release, original, range(12))
    verdict = assess(original, released=copied, **asked).verdict
    assert verdict.decision == "exposed"
    assert "exact copies (age, town, pay) of 13 people unique in the original" in verdict.exposures[0]  # one by chance
    attacks = attack_release(
        original,
        copied,
        known=["age", "town"],
        secret=["pay"],
        holdout=holdout,
        kinds=kinds_for(["pay"], synthetic=True),
    )
    assert "13 people" in attacks.reason_against(1.0)
    assert not assess(original, released=release, **asked).verdict.exposures


def test_copies_that_no_holdout_tells_from_chance_leave_the_answer_open():
    generator = np.random.default_rng(3)
    original, release = draw(generator, 300), draw(generator, 300)
    copied = with_copies(release, original, range(9))
    twins = {name: values * 2 for name, values in draw(generator, 100).items()}
    kinds = kinds_for(["pay"], synthetic=True)
    attacks = attack_release(original, copied, known=["age", "town"], secret="pay", holdout=twins, kinds=kinds)
    assert attacks.copied.unique_others == 0
    assert "copies" in attacks.not_tried
    assert "copies" in attacks.reason_against(1.0)
