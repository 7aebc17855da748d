"""Contributions of attributes against the definition: every order, with fractions."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from incrowd import InputError, measure
from incrowd.measures.contribution import contributions


def random_table(columns, rows, seed=0):
    generator = np.random.default_rng(seed)
    return {f"c{i}": generator.integers(0, 2 + i % 4, rows).tolist() for i in range(columns)}


def by_definition(table, names, count):
    """Average what each column adds over all orders."""
    people = len(table[names[0]])
    worth = {(): Fraction(count == "classes", people)}
    total = dict.fromkeys(names, Fraction(0))
    orders = list(permutations(names))
    for order in orders:
        for size, name in enumerate(order):
            before, after = tuple(sorted(order[:size])), tuple(sorted(order[: size + 1]))
            if after not in worth:
                rows = list(zip(*(table[name] for name in after), strict=True))
                sizes = [rows.count(row) for row in set(rows)]
                worth[after] = Fraction(len(sizes) if count == "classes" else sizes.count(1), people)
            total[name] += worth[after] - worth[before]
    return {name: total[name] / len(orders) for name in names}


@pytest.mark.parametrize("seed", range(3))
def test_exact_contributions_are_the_average_over_all_orders(seed):
    table = random_table(5, 40, seed)
    names = list(table)
    found = {part.column: part for part in contributions(table, names).columns}
    correctness, uniqueness = by_definition(table, names, "classes"), by_definition(table, names, "uniques")
    for name in names:
        assert found[name].correctness == pytest.approx(float(correctness[name]), abs=1e-12)
        assert found[name].uniqueness == pytest.approx(float(uniqueness[name]), abs=1e-12)


def test_contributions_add_up_to_the_risk():
    table = random_table(9, 500)
    found = contributions(table, list(table))
    total = sum(part.correctness for part in found.columns) + found.nothing_known
    assert total == pytest.approx(measure(table, quasi_identifiers=list(table)).correctness, abs=1e-12)
    assert found.orders is None


def test_sampled_contributions_add_up_too_and_their_intervals_hold_the_truth():
    table = random_table(8, 300)
    names = list(table)
    truth = {part.column: part.correctness for part in contributions(table, names).columns}
    held = []
    for seed in range(40):
        found = contributions(table, names, orders=100, exact_up_to=3, seed=seed)
        held += [part.interval[0] <= truth[part.column] <= part.interval[1] for part in found.columns]
    assert 0.9 <= sum(held) / len(held) <= 0.99
    assert found.orders == 100
    total = sum(part.correctness for part in found.columns) + found.nothing_known
    assert total == pytest.approx(measure(table, quasi_identifiers=names).correctness, abs=1e-12)
    assert found == contributions(table, names, orders=100, exact_up_to=3, seed=39)


def test_a_column_that_tells_nothing_contributes_nothing():
    table = random_table(3, 50) | {"same": [1] * 50}
    found = {part.column: part.correctness for part in contributions(table, list(table)).columns}
    assert found["same"] == pytest.approx(0, abs=1e-15)


def test_histories_of_people_are_counted_as_such():
    table = {"who": [1, 1, 2, 2, 3], "a": [1, 2, 1, 2, 1], "b": [1, 1, 1, 2, 1]}
    found = contributions(table, ["a", "b"], person="who")
    whole = measure(table, quasi_identifiers=["a", "b"], person="who").correctness
    assert sum(part.correctness for part in found.columns) + found.nothing_known == pytest.approx(whole)


def test_fewer_than_two_orders_are_refused():
    with pytest.raises(InputError, match="2 or more"):
        contributions({"a": [1, 2]}, ["a"], orders=1)
