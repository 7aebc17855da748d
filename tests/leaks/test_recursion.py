"""The published recursion, against the paper's pseudo-code run as it stands."""

from fractions import Fraction
from math import comb

import pytest

from incrowd import ClassSizes, UnsupportedError, leak_risk


def as_printed(classes: dict[int, int], leaked: int, people: int, targets: int, by_people: bool) -> Fraction:
    """Section 2.3 without a memo, with a'_i = a_i − 1 in step 5."""
    if targets == 0:
        return Fraction(1)
    total = Fraction(0)
    for size, count in classes.items():
        if size == 0 or count == 0:
            continue
        share = (
            Fraction(size * count, people) if by_people else Fraction(count, sum(n for s, n in classes.items() if s))
        )
        risk = sum(
            Fraction(leaked, people)
            * Fraction(comb(size - 1, j) * comb(people - size, leaked - j - 1), comb(people - 1, leaked - 1))
            / (j + 1)
            for j in range(min(size, leaked))
        )
        after = {**classes, size: count - 1}
        after[size - 1] = after.get(size - 1, 0) + 1
        total += share * risk * as_printed(after, leaked - 1, people - 1, targets - 1, by_people)
    return total


@pytest.mark.parametrize("by_people", [False, True])
@pytest.mark.parametrize("sizes", [[3, 2, 1], [2, 2, 2], [5, 5, 1, 1], [4, 6, 6, 9]])
@pytest.mark.paper("leak-attack", "recursion", "eq. 8", "eq. 10", "eq. 12")
def test_the_walk_over_states_is_the_printed_recursion(sizes, by_people):
    classes = {size: sizes.count(size) for size in sizes}
    method = "recursion_by_people" if by_people else "recursion"
    for leaked in range(3, sum(sizes) + 1):
        risk = leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=3, method=method)
        known = as_printed(classes, leaked, sum(sizes), 3, by_people)
        assert risk.probability == pytest.approx(float(known), rel=1e-12)


@pytest.mark.paper("leak-attack", "recursion")
def test_both_recursions_differ_from_the_exact_number():
    sizes = ClassSizes.from_sizes([3, 2, 1])
    risks = [
        leak_risk(sizes, 4, targets=2, method=method).probability
        for method in ("exact", "recursion", "recursion_by_people")
    ]
    assert risks == pytest.approx([0.1866667, 0.2220988, 0.1906667], abs=1e-6)


def test_the_recursion_says_how_it_differs():
    risk = leak_risk(ClassSizes.from_sizes([3, 2, 1]), 4, targets=2, method="recursion")
    assert "new leak is drawn for every target" in risk.in_words


def test_one_target_in_equal_classes_is_the_same_by_all_methods():
    sizes = ClassSizes.from_counts({5: 2_000})
    assert leak_risk(sizes, 4_000, method="recursion").probability == pytest.approx(
        leak_risk(sizes, 4_000).probability, rel=1e-12
    )


def test_it_runs_at_the_papers_size():
    risk = leak_risk(ClassSizes.from_counts({5: 2_000}), 10_000, targets=15, method="recursion_by_people")
    assert risk.probability == pytest.approx(3.311404484995e-11, rel=1e-9)


def test_too_many_states_are_refused():
    with pytest.raises(UnsupportedError, match="too many states"):
        leak_risk(ClassSizes.from_sizes(range(1, 200)), 5_000, targets=20, method="recursion")


def test_by_people_is_exact_for_one_target_and_both_are_for_unique_people():
    sizes = ClassSizes.from_sizes([1, 2, 3, 7])
    by_people = leak_risk(sizes, 5, method="recursion_by_people").probability
    assert by_people == pytest.approx(leak_risk(sizes, 5).probability, rel=1e-12)
    unique = ClassSizes.from_counts({1: 9})
    for method in ("recursion", "recursion_by_people"):
        found = leak_risk(unique, 5, targets=3, method=method).probability
        assert found == pytest.approx(leak_risk(unique, 5, targets=3).probability, rel=1e-12)
