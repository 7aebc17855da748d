"""Kept columns that follow from quasi-identifiers, counted in plain Python."""

from collections import Counter

import numpy as np
import pytest

from incrowd.measures import kept_column_facts

ROWS = 3_000


def in_tens(values):
    return [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in values]


def people(draw):
    table = {"age": draw.integers(20, 70, ROWS), "region": draw.integers(0, 12, ROWS)}
    return table, {"age": in_tens(table["age"]), "region": [f"{{{value // 4}}}" for value in table["region"]]}


def altered(cells, share, draw):
    wrong = draw.random(len(cells)) < share
    return np.where(wrong, draw.permutation(cells), cells)


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_column_that_follows_from_two_coarsened_ones_counts_as_known(share):
    draw = np.random.default_rng(0)
    before, after = people(draw)
    tariffs = draw.choice(list("abcdef"), (70, 12))  # of no order, so that no formula tells them
    tariff = altered(tariffs[before["age"], before["region"]], share, draw)
    kept = {"tariff": tariff, "noise": draw.choice(list("xyz"), ROWS)}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], list(kept))
    classes = Counter(zip(after["age"], after["region"], tariff, strict=True))
    assert (fact.column, {fact.gives_back, *fact.others}) == ("tariff", {"age", "region"})
    assert fact.k == min(classes.values())
    assert fact.told >= 1 - 3 * share


def test_bands_that_cross_the_released_ranges_count_as_known():
    draw = np.random.default_rng(1)
    before, after = people(draw)
    kept = {"band": np.array(["low", "middle", "high", "top"])[np.digitize(before["age"], [24, 35, 57])]}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["band"])
    classes = Counter(zip(after["age"], after["region"], kept["band"], strict=True))
    assert (fact.column, fact.gives_back, fact.k) == ("band", "age", min(classes.values()))


def test_a_value_that_nobody_expects_makes_no_class_smaller():
    """Children are not asked, and nobody outside knows who of the others said yes."""
    draw = np.random.default_rng(2)
    before, after = people(draw)
    asked = np.where(before["age"] < 30, "not asked", np.where(draw.random(ROWS) < 0.004, "yes", "no"))
    facts = kept_column_facts({**before, "a": asked}, {**after, "a": asked}, list(before), ["a"])
    assert not any(fact.undoes for fact in facts)
    moved = np.where(before["age"] < 35, "not asked", np.where(draw.random(ROWS) < 0.004, "yes", "no"))
    (fact,) = kept_column_facts({**before, "a": moved}, {**after, "a": moved}, list(before), ["a"])
    expected = Counter(cells for cells in zip(after["age"], after["region"], moved, strict=True) if cells[2] != "yes")
    assert (fact.column, fact.k) == ("a", min(expected.values()))


def test_parts_of_a_code_that_only_together_give_it_back_follow_from_it():
    draw = np.random.default_rng(3)
    before, after = people(draw)
    letters = np.array(list("qwertyuiop"))
    mixed = draw.permutation(100)[before["age"]]  # parts of a code that no number tells
    kept = {"first": letters[mixed // 10], "second": letters[::-1][mixed % 10]}
    facts = kept_column_facts(before | kept, after | kept, ["age", "region"], list(kept))
    assert [(fact.column, fact.gives_back) for fact in facts] == [("first", "age"), ("second", "age")]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [200, 1_000, 3_000])
def test_noise_follows_from_nothing(rows, seed):
    draw = np.random.default_rng(seed)
    before, after = people(draw)
    before, after = ({name: values[:rows] for name, values in table.items()} for table in (before, after))
    kept = {f"x{size}": draw.choice([f"v{number}" for number in range(size)], rows) for size in (2, 3, 5, 20, 60)}
    kept["rare"] = np.where(draw.random(rows) < 0.03, "yes", "no")
    kept["older"] = np.where(draw.random(rows) < before["age"] / 70, "yes", "no")
    assert kept_column_facts(before | kept, after | kept, ["age", "region"], list(kept)) == ()
