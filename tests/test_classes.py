"""ClassSizes: the frequency of frequencies."""

import pytest

from incrowd import ClassSizes, InputError


def test_sizes_and_counts_tell_the_same():
    assert ClassSizes.from_sizes([3, 2, 1, 1]) == ClassSizes.from_counts({1: 2, 2: 1, 3: 1})


def test_facts_of_a_small_table():
    sizes = ClassSizes.from_sizes([3, 2, 1, 1])
    assert (sizes.people, sizes.classes, sizes.uniques, sizes.smallest, sizes.largest) == (7, 4, 2, 1, 3)
    assert sizes.correctness == 4 / 7
    assert sizes.uniqueness == 2 / 7
    assert sizes.below(3) == 4
    assert sizes.histogram() == {1: 2, 2: 1, 3: 1}


def test_disjoint_tables_add():
    left, right = ClassSizes.from_sizes([3, 1]), ClassSizes.from_sizes([1, 2])
    assert left + right == ClassSizes.from_sizes([3, 1, 1, 2])


@pytest.mark.parametrize("sizes", [[], [0], [-1, 2], [1.5], [float("nan")], ["a"], [[1, 2]]])
def test_sizes_that_are_not_counts_of_people_are_refused(sizes):
    with pytest.raises(InputError):
        ClassSizes.from_sizes(sizes)


def test_fewer_records_than_people_are_refused():
    with pytest.raises(InputError, match="at least one record"):
        ClassSizes.from_counts({2: 2}, records=3)
