"""Planning against trying every k and every leak."""

import numpy as np
import pytest

from incrowd import ClassSizes, InputError, UnsupportedError, leak_risk
from incrowd.leaks import largest_leak, leak_risk_uniform, leak_table, share_of, smallest_k
from incrowd.leaks.planning import limits_on_a_person
from incrowd.recipients import is_within


@pytest.mark.parametrize("at_most", [0.33, 0.09, 0.05, 0.01])
@pytest.mark.parametrize(("people", "leaked", "targets"), [(200, 80, 1), (97, 97, 1), (50, 20, 2)])
@pytest.mark.paper("leak-attack", "thresholds")
def test_the_smallest_k_is_the_first_that_keeps_the_bound(people, leaked, targets, at_most):
    risks = [leak_risk_uniform(people=people, k=k, leaked=leaked, targets=targets) for k in range(1, people + 1)]
    if not is_within(risks[-1].judged, at_most):
        with pytest.raises(UnsupportedError, match="no k"):
            smallest_k(people=people, leaked=leaked, targets=targets, at_most=at_most)
        return
    chosen = smallest_k(people=people, leaked=leaked, targets=targets, at_most=at_most)
    kept = [k for k, risk in enumerate(risks, 1) if is_within(risk.judged, at_most)]
    assert chosen.k == kept[0]
    assert kept == list(range(kept[0], people + 1))  # a larger k never raises the risk, so the search is right
    assert is_within(chosen.risk.judged, at_most)


@pytest.mark.parametrize("at_most", [0.33, 0.09, 0.05, 0.001])
@pytest.mark.parametrize("targets", [1, 3])
def test_the_largest_leak_is_the_last_that_keeps_the_bound(targets, at_most):
    sizes = ClassSizes.from_sizes([1, 1, 2, 3, 5, 8, 13, 21])
    chosen = largest_leak(sizes, targets=targets, at_most=at_most)
    kept = [n for n in range(sizes.people + 1) if is_within(leak_risk(sizes, n, targets=targets).judged, at_most)]
    assert chosen.leaked == kept[-1] == len(kept) - 1
    assert chosen.share == chosen.leaked / sizes.people


@pytest.mark.parametrize("leaked", [1, 3, 9, 20])
def test_the_person_at_highest_risk_is_in_the_smallest_class(leaked):
    sizes = ClassSizes.from_sizes([1, 4, 5, 10])
    found = leak_risk(sizes, leaked)
    assert found.highest == found.judged == pytest.approx(leaked / 20)  # alone: named if in the leak
    classes = [leak_risk(ClassSizes.from_sizes([size, *[1] * (20 - size)]), leaked) for size in (1, 4, 5, 10)]
    of_class = [  # the chance in a class of each size, by the averages of tables that have it once
        (one.probability * 20 - (20 - size) * leaked / 20) / size
        for one, size in zip(classes, (1, 4, 5, 10), strict=True)
    ]
    assert of_class == pytest.approx(sorted(of_class, reverse=True))
    assert found.probability == pytest.approx(sum(np.array(of_class) * (1, 4, 5, 10)) / 20)


def test_an_average_within_the_limit_is_not_enough():
    sizes = ClassSizes.from_sizes([1, *[50] * 20])
    leak = leak_risk(sizes, share_of(0.2, sizes.people))
    assert leak.probability < 1 / 11 < leak.judged
    assert largest_leak(sizes, at_most=0.09).leaked == sizes.people // 11


def test_a_bound_no_leak_can_break_lets_everybody_leak():
    assert largest_leak(ClassSizes.from_counts({20: 50}), at_most=0.05).leaked == 1_000


def test_no_k_is_enough_for_too_strict_a_bound():
    with pytest.raises(UnsupportedError, match="no k"):
        smallest_k(people=10, leaked=10, at_most=0.05)


@pytest.mark.parametrize("at_most", [0, -1, 1.5, float("nan")])
def test_a_bound_that_is_no_chance_is_refused(at_most):
    with pytest.raises(InputError):
        smallest_k(people=10, leaked=5, at_most=at_most)
    with pytest.raises(InputError):
        largest_leak(ClassSizes.from_sizes([2]), at_most=at_most)


def test_the_table_marks_the_strictest_threshold_kept():
    table = leak_table(people=10_000, ks=[2, 5, 20], shares=[0.01, 0.1, 1.0])
    marks = [[table.meets(row, column) for column in range(3)] for row in range(3)]
    assert marks == [[1 / 20, 1 / 3, None], [1 / 20, 1 / 11, 1 / 3], [1 / 20, 1 / 20, 1 / 20]]
    cells = table.to_dict()["cells"]
    assert cells[4] == {
        "k": 5, "share_leaked": 0.1, "leaked": 1_000, "probability": table.risks[1][1].probability, "meets": 1 / 11
    }  # fmt: skip


def test_recipients_who_accept_the_same_risk_of_a_person_share_a_limit():
    limits = limits_on_a_person()
    assert list(limits) == [1 / 3, 1 / 11, 1 / 20]
    assert limits[1 / 3] == "a trusted recipient and a restricted circle"


def test_shares_are_rounded_up_as_written_in_decimals():
    assert share_of(0.07, 100) == 7  # 0.07 * 100 is 7.000000000000001 in floats
    assert share_of(0.1, 48_842) == 4_885
    assert (share_of(0, 5), share_of(1, 5)) == (0, 5)


@pytest.mark.parametrize("share", [1.1, -0.1])
def test_shares_above_all_are_refused(share):
    with pytest.raises(InputError, match="0 to 100%"):
        share_of(share, 100)


def test_a_table_for_several_targets_meets_no_threshold_for_one():
    table = leak_table(people=1_000, ks=[5], shares=[0.1], targets=3)
    assert table.risks[0][0].probability < 0.05
    assert table.meets(0, 0) is None


def test_ks_go_as_far_as_the_people():
    assert leak_table(people=3, shares=[1.0]).ks == (2, 3)
    assert leak_table(people=1, shares=[1.0]).ks == (1,)


@pytest.mark.parametrize("wrong", [{"k": 2.5}, {"people": 1e4}, {"people": 10.5}, {"k": True}])
def test_a_plan_takes_whole_numbers_only(wrong):
    with pytest.raises(InputError, match="whole"):
        leak_risk_uniform(**{"people": 100, "k": 5, "leaked": 10} | wrong)
