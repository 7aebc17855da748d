"""Secrets learnt from a leak: every leak of every small table, one by one."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from incrowd import InputError
from incrowd.leaks import SharedSecrets, learnt_secrets, most_learnt, named_by_secret, smallest_l


def partitions(n, most=None):
    """Partitions of n into parts of at most `most`."""
    if n == 0:
        yield ()
        return
    for part in range(min(n, most or n), 0, -1):
        yield from ((part, *rest) for rest in partitions(n - part, part))


def tables(people):
    """Every table up to renaming of secrets within classes: each class is a partition by secrets."""
    kinds = [shape for size in range(1, people + 1) for shape in partitions(size)]

    def extend(rest, first):
        if rest == 0:
            yield []
            return
        for place in range(first, len(kinds)):
            if sum(kinds[place]) <= rest:
                yield from ([kinds[place], *more] for more in extend(rest - sum(kinds[place]), place))

    for shapes in extend(people, 0):
        yield ["".join(chr(97 + code) * size for code, size in enumerate(shape)) for shape in shapes]


def by_enumeration(classes, leaked):
    """(learnt, sure, learnt and leaked, highest) over all leaks and people; None is nobody's secret."""
    members = [(number, secret) for number, secrets in enumerate(classes) for secret in secrets]
    people, leaks = len(members), 0
    learnt = sure = both = 0
    each = [0] * people
    for leak in combinations(range(people), leaked):
        leaks += 1
        shown = [set() for _ in classes]
        for who in leak:
            shown[members[who][0]].add(members[who][1])
        for who, (number, secret) in enumerate(members):
            if len(shown[number]) == 1 and None not in shown[number]:
                sure += 1
                if secret in shown[number]:
                    learnt, both, each[who] = learnt + 1, both + (who in leak), each[who] + 1
    whole = leaks * people
    return Fraction(learnt, whole), Fraction(sure, whole), Fraction(both, whole), Fraction(max(each), leaks)


@pytest.mark.parametrize("people", range(1, 10))
def test_all_leaks_of_all_small_tables(people):
    for classes in tables(people):
        shared = SharedSecrets.from_classes(classes)
        for leaked in range(people + 1):
            found = learnt_secrets(shared, leaked)
            truth = [float(chance) for chance in by_enumeration(classes, leaked)]
            ours = [found.learnt, found.learnt + found.wrong, found.learnt_and_leaked, found.highest]
            assert ours == pytest.approx(truth, abs=1e-13), (classes, leaked)


def test_the_worked_example_rises_and_falls():
    shared = SharedSecrets.from_classes(["aab", "ccc", "abcd"])
    found = [learnt_secrets(shared, leaked) for leaked in (1, 3, 5, 7, 10)]
    assert [one.learnt for one in found] == pytest.approx([0.18, 0.3617, 0.396, 0.365, 0.30], abs=5e-4)
    assert [one.learnt_and_leaked for one in found] == pytest.approx([0.1, 0.2042, 0.2433, 0.2658, 0.30], abs=5e-5)
    assert (found[0].worst_leaked, found[0].worst_learnt) == (5, found[2].learnt)
    assert found[-1].wrong == 0 == learnt_secrets(shared, 0).learnt


def test_a_missing_secret_is_nobodys_and_a_value_of_the_class():
    random = np.random.default_rng(0)
    for _ in range(25):
        secrets = [None if code == 0 else "xabc"[code] for code in random.integers(0, 4, 6)]
        classes = [secrets[:2], secrets[2:]]
        if not any(secrets):
            continue
        for leaked in range(7):
            found = learnt_secrets(SharedSecrets.from_classes(classes), leaked)
            ours = [found.learnt, found.learnt + found.wrong, found.learnt_and_leaked, found.highest]
            assert ours == pytest.approx([float(one) for one in by_enumeration(classes, leaked)], abs=1e-13)
    with pytest.raises(InputError, match="every value is missing"):
        SharedSecrets.from_classes([[None, None]])


def test_the_worst_leak_is_the_worst_of_all_sizes():
    random = np.random.default_rng(1)
    for _ in range(20):
        classes = [random.integers(0, 4, random.integers(1, 12)).tolist() for _ in range(random.integers(1, 30))]
        shared = SharedSecrets.from_classes(classes)
        every = [shared.learnt(leaked) for leaked in range(1, shared.people + 1)]
        assert shared.learnt(shared.worst_leak()) == pytest.approx(max(every), abs=1e-12)


def test_no_leak_tells_more_than_the_bound():
    random = np.random.default_rng(2)
    for diverse in (2, 3, 5):
        even = SharedSecrets.from_classes([list(range(diverse)) * 3] * 3000)
        assert even.learnt(even.worst_leak()) == pytest.approx(most_learnt(1 / diverse), rel=2e-3)
        for _ in range(5):
            uneven = [np.repeat(range(2 * diverse), random.integers(1, 4, 2 * diverse)) for _ in range(400)]
            shared = SharedSecrets.from_classes([list(one) for one in uneven])
            worst = learnt_secrets(shared, 1)
            assert worst.worst_learnt <= worst.bound
            highest = max(shared.highest(leaked) for leaked in range(1, shared.people, 99))
            assert highest <= 1.002 * worst.bound  # finite tables exceed it by about s²/D
    assert [smallest_l(limit) for limit in (1, 0.25, 1 / 3, 0.148, 1 / 11, 1 / 20)] == [1, 2, 2, 4, 5, 8]


def named_by_enumeration(classes, values, leaked, accuracy):
    """Every leak, person and value that the attacker may hold to be theirs."""
    members = [(number, secret) for number, secrets in enumerate(classes) for secret in secrets]
    total, leaks = Fraction(0), list(combinations(range(len(members)), leaked))
    for leak in leaks:
        for who, (number, secret) in enumerate(members):
            alike = [one for one in leak if members[one][0] == number]
            for held in values:
                weight = accuracy if held == secret else (1 - accuracy) / (len(values) - 1)
                guesses = [one for one in alike if members[one][1] == held] or alike
                total += weight * Fraction(guesses.count(who), max(len(guesses), 1))
    return total / len(leaks) / len(members)


def test_partial_knowledge_of_secrets_by_all_leaks_of_all_small_tables():
    for numbers in product(range(3), repeat=4):
        if max(numbers) < 2:
            continue
        secrets = ["abc"[number] for number in numbers] + ["a"]
        for classes in ([secrets[:2], secrets[2:]], [secrets]):
            values = sorted(set(secrets))
            shared = SharedSecrets.from_classes(classes)
            for leaked, accuracy in product((1, 3, 5), (Fraction(1, len(values)), Fraction(3, 5), Fraction(1))):
                truth = named_by_enumeration(classes, values, leaked, max(accuracy, Fraction(1, len(values))))
                assert named_by_secret(shared, leaked, float(accuracy)) == pytest.approx(float(truth), abs=1e-12)
    with pytest.raises(InputError, match="a guess among the values"):
        named_by_secret(shared, 2, 0.1)


def test_a_table_with_and_without_people():
    table = {"age": [1, 1, 1, 2, 2, 2], "ill": ["a", "a", "b", None, "c", "c"]}
    found = learnt_secrets(table, 3, quasi_identifiers=["age"], sensitive="ill")
    same = learnt_secrets(SharedSecrets.from_classes(["aab", [None, "c", "c"]]), 3)
    assert (found.learnt, found.wrong, found.highest) == (same.learnt, same.wrong, same.highest)
    assert (found.values, found.commonest) == (3, 1 / 3)
    visits = {"who": [1, 1, 2, 2, 3, 4], "age": [1, 2, 2, 1, 3, 3], "ill": ["a", "b", "b", "a", "c", "d"]}
    people = learnt_secrets(visits, 2, quasi_identifiers=["age"], sensitive="ill", person="who")
    same = learnt_secrets(SharedSecrets.from_classes(["xx", "cd"]), 2)
    assert (people.people, people.learnt, people.largest_share) == (4, same.learnt, 1.0)
    with pytest.raises(InputError):
        learnt_secrets(table, 9, quasi_identifiers=["age"], sensitive="ill")
