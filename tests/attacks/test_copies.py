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
    sides = [[*zip(*table.values(), strict=True)] for table in (original, holdout)]
    times = Counter(sides[0] + sides[1])
    for rows in sides:
        alone = [row for row in rows if times[row] == 1]
        expected += [len(alone), sum(row in released for row in alone)]
    assert [found.unique, found.copied, found.unique_others, found.copied_others] == expected


def test_a_number_is_the_same_whatever_its_type():
    table = {"age": [30, 31], "pay": [1.0, 2.5]}
    other = {"age": [30.0, 40.0], "pay": [1, 7]}
    holdout = {"age": [50, 60], "pay": [3, 9]}
    assert count_copied_people(*map(read_table, (table, other, holdout)), ["age", "pay"]).copied == 1


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


def wide(generator, rows):
    """People by numbers that hardly anybody else has, so that a near copy is nearer than anybody else."""
    return {
        "age": generator.integers(20, 80, rows),
        "height": generator.normal(170, 9, rows).round(),
        "income": generator.lognormal(8, 0.6, rows).round(),
        "rent": generator.lognormal(6, 0.4, rows).round(),
    }


def attacked(original, release, holdout):
    return attack_release(
        original,
        release,
        known=["age", "height", "income"],
        secret="rent",
        holdout=holdout,
        kinds=kinds_for(["rent"], synthetic=True),
    )


def test_a_few_near_copies_are_proven_and_are_no_yes():
    generator = np.random.default_rng(11)
    original, release, holdout = (wide(generator, 600) for _ in range(3))
    assert not attacked(original, release, holdout).near_copies.proven
    rows = np.arange(50)
    for name in release:
        release[name][rows] = original[name][rows]
    release["age"][rows] += generator.choice([-1, 1], 50)
    for name in ("income", "rent"):
        release[name][rows] = (release[name][rows] * 1.01 + 1).round()
    found = attacked(original, release, holdout)
    assert not found.copied.proven
    assert found.near_copies.proven
    assert found.copies == (found.near_copies.sentence,)
    assert "near copies" in found.reason_against(1.0)
    asked = {"quasi_identifiers": ["age", "height", "income"], "sensitive": ["rent"], "protection": False}
    asked |= {"holdout": holdout, "synthetic": True, "rows_are_people": True}
    verdict = assess(original, released=release, **asked).verdict
    assert verdict.decision == "exposed"
    assert found.near_copies.sentence in verdict.exposures


def test_near_copies_are_those_that_plain_python_counts():
    generator = np.random.default_rng(12)
    original, release, holdout = ({"x": generator.integers(0, 10_000, rows)} for rows in (90, 120, 70))
    release["x"][:15] = original["x"][:15] + 1
    found = attack_release(original, release, known=["x"], holdout=holdout, kinds=["linkability"])
    near, released = found.near_copies, release["x"].tolist()
    everybody = [*original["x"].tolist(), *holdout["x"].tolist()]
    is_near = []
    for place, one in enumerate(everybody):
        alike = min(abs(one - other) for row, other in enumerate(everybody) if row != place)
        is_near.append(5 * min(abs(one - other) for other in released) < alike)
    assert (near.people, near.near, near.others, near.near_others) == (90, sum(is_near[:90]), 70, sum(is_near[90:]))
    assert not CopiedPeople(("x",), near.people, near.near, near.others, near.near_others).proven
    assert near.proven  # by the people who have the nearest records, of whom the fifth of a distance leaves out some


def test_releases_that_know_nobody_seldom_come_nearer_to_the_original():
    accused = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        original, release, holdout = (wide(generator, rows) for rows in (150, 200, 120))
        found = attack_release(original, release, known=list(release), holdout=holdout, kinds=["linkability"])
        accused += found.near_copies.proven
    assert accused <= 5  # of 40, at 5 % each


@pytest.mark.parametrize(("people", "others"), [(200, 3_000), (3_000, 200)])
def test_a_holdout_of_another_size_accuses_nobody_and_hides_no_copies(people, others):
    accused, missed = 0, 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        original, holdout, release = (
            {"a": generator.geometric(0.02, n), "b": generator.geometric(0.3, n)} for n in (people, others, people)
        )
        accused += count_copied_people(*map(read_table, (original, release, holdout)), ["a", "b"]).proven
        missed += not count_copied_people(*map(read_table, (original, original, holdout)), ["a", "b"]).proven
    assert (accused <= 5, missed) == (True, 0)  # of 30 at 5 %, more than 5 have a chance below 0.4 %


def test_near_copies_are_found_whoever_is_named_last():
    generator = np.random.default_rng(3)
    original, holdout = ({name: generator.normal(size=400).round(6) for name in "xyz"} for _ in range(2))
    release = {name: np.concatenate([original[name][:120] + 1e-6, generator.normal(size=280)]) for name in "xyz"}
    for known in ({"one": ["x", "y"], "two": ["z"]}, {"two": ["z"], "one": ["x", "y"]}):
        found = attack_release(original, release, known=known, holdout=holdout, kinds=["distances"], targets=400)
        assert found.near_copies.proven


def test_copies_of_which_two_columns_were_moved_are_proven():
    accused, found = 0, 0
    for seed in range(5):
        generator = np.random.default_rng(seed)
        original, release, holdout = (
            {
                "age": generator.integers(18, 90, 967),
                "sex": generator.integers(0, 2, 967),
                "region": generator.integers(0, 8, 967),
                "income": generator.lognormal(10, 0.5, 967).round(),
            }
            for _ in range(3)
        )
        asked = {"known": list(original), "holdout": holdout, "kinds": ["linkability"]}
        accused += attack_release(original, release, **asked).near_copies.proven
        rows = generator.permutation(967)[:120]
        for name in release:
            release[name][:120] = original[name][rows]
        release["age"][:120] += generator.choice([-1, 1], 120)
        release["income"][:120] += generator.integers(-300, 301, 120)
        near = attack_release(original, release, **asked).near_copies
        found += near.proven
    assert (accused <= 1, found >= 4) == (True, True)  # two wrongly accused of five have a chance of 2 %


def test_the_nearest_people_are_those_that_plain_python_counts():
    generator = np.random.default_rng(14)
    original, release, holdout = ({"x": generator.permutation(10_000)[:rows]} for rows in (90, 120, 70))
    release["x"][:30] = original["x"][:30]
    near = attack_release(original, release, known=["x"], holdout=holdout, kinds=["linkability"]).near_copies
    everybody = [(value, True) for value in original["x"].tolist()] + [
        (value, False) for value in holdout["x"].tolist()
    ]
    away = sorted((min(abs(value - other) for other in release["x"].tolist()), known) for value, known in everybody)
    within = [known for distance, known in away if distance <= away[near.nearest - 1][0]]
    assert (len(within), sum(within)) == (near.nearest, near.nearest_known)
    assert near.proven
