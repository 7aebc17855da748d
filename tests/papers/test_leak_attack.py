"""The leak paper: its formulas in whole numbers, small tables listed, and the whole paper as it is reproduced."""

import math
from dataclasses import replace
from fractions import Fraction
from math import comb, factorial, perm

import pytest
from papers.leak_attack import mixed_class_sizes, partial_histories, several_targets, single_target
from papers.leak_attack.mixed_class_sizes import count_riskier_tables
from papers.leak_attack.partial_histories import ATTACKERS, reproduce_partial_histories
from papers.leak_attack.reference_values import (
    PEOPLE,
    draw_class_sizes,
    enumerate_attacks,
    leak_chances,
    partitions_of_people,
    published_sum,
    share_at_risk,
)
from papers.leak_attack.several_targets import answers
from papers.page import write_pages

from incrowd.classes import ClassSizes
from incrowd.leaks import leak_risk, leak_risk_uniform
from papers import Context, paper, reproduce


@pytest.mark.parametrize("k", [1, 2, 5, 10])
@pytest.mark.parametrize("leaked", [1, 1_000, 4_000, 10_000])
@pytest.mark.paper("leak-attack", "eq. 5", "Figure 2")
def test_the_printed_sum_is_the_closed_form(k, leaked):
    exact = leak_risk_uniform(people=PEOPLE, k=k, leaked=leaked).probability
    assert exact == pytest.approx(float(published_sum(PEOPLE, k, leaked)), rel=1e-12)


def test_people_at_risk_are_those_who_leaked():
    shares = [share_at_risk(100, 5, 30, h) for h in range(1, 6)]
    assert sum(shares) == pytest.approx(0.3)
    assert sum(share / h for h, share in enumerate(shares, 1)) == pytest.approx(float(published_sum(100, 5, 30)))


@pytest.mark.parametrize(
    ("sizes", "leaked", "targets"), [((3, 2, 1), 4, 2), ((2, 2), 3, 2), ((3, 3), 6, 3), ((4, 1), 2, 1)]
)
@pytest.mark.paper("leak-attack", "Figure 4")
def test_the_exact_answer_is_what_listing_every_case_gives(sizes, leaked, targets):
    listed = enumerate_attacks(sizes, leaked, targets)
    assert leak_risk(ClassSizes.from_sizes(sizes), leaked, targets=targets).probability == pytest.approx(float(listed))
    people = sum(sizes)
    scale = Fraction(factorial(targets), perm(people, targets) * comb(people, leaked))
    assert leak_chances(sizes)[leaked, targets] * scale == listed


def test_every_table_is_listed_once():
    assert sorted(partitions_of_people(7, 2)) == [(3, 2, 2), (4, 3), (5, 2), (7,)]


@pytest.mark.paper("leak-attack", "Figure 5")
def test_equal_classes_are_never_less_risky_in_small_tables():
    compared, above = count_riskier_tables(7)
    assert compared > 500
    assert above == 0


@pytest.mark.parametrize("deviation", [1, 2, 8])
@pytest.mark.paper("leak-attack", "Figure 5")
def test_drawn_classes_hold_everybody_and_none_is_below_five(deviation):
    sizes = draw_class_sizes(deviation)
    assert sizes.people == PEOPLE
    assert sizes.smallest >= 5


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The whole paper, every point and figure of it, with fewer trials a point."""
    out = tmp_path_factory.mktemp("leak")
    with pytest.MonkeyPatch.context() as fewer:
        for module, trials in ((single_target, 500), (several_targets, 2_000), (mixed_class_sizes, 1_000)):
            fewer.setattr(module, "TRIALS", trials)
        fewer.setattr(partial_histories, "PEOPLE", 200)
        fewer.setattr(partial_histories, "TRIALS", 100)
        kept = reproduce(paper("leak-attack"), out, Context())
    return {part.name: part for part in kept}, write_pages(out, paper("leak-attack"), kept)


def rows_of(part):
    return {row.quantity: row for table in part.tables for row in getattr(table, "rows", ())}


def test_simulations_hold_the_exact_numbers(made):
    parts, _ = made
    simulated = rows_of(parts["one-person"])["simulated 95 % intervals that hold the exact number, k > 1"]
    held, _, points = simulated.ours.split()
    assert int(points) == 20
    assert int(held) >= 17
    near, _, compared = rows_of(parts["several"])[
        "simulations within 3 standard errors of the exact chance"
    ].ours.split()
    assert int(compared) >= 36
    assert int(near) >= int(compared) - 1


def test_the_recursion_is_off_where_the_tables_are_small_enough_to_tell(made):
    parts, _ = made
    small = parts["several"].tables[0]
    assert all(abs(row.ours / row.paper - 1) > 0.01 for row in small.rows)
    assert rows_of(parts["several"])["Figure 4b: 5 people, 4,000 leak"].ours == "2.1350e-04"


def test_equal_classes_are_an_upper_bound(made):
    parts, _ = made
    bounds = [row for what, row in rows_of(parts["mixed"]).items() if row.paper == "none: an upper bound"]
    assert len(bounds) == 2
    assert all(row.ours.startswith("0 of ") for row in bounds)


def test_every_figure_is_on_the_page(made):
    parts, written = made
    text = written[0].read_text(encoding="utf-8")
    for number in ("Figure 1", "Figure 2", "Figure 3a, left", "Figure 3a, right", "Figure 3b, left", "Figure 3b, right",
                   "Figure 4a", "Figure 4b", "Figure 5"):  # fmt: skip
        assert f"![{number}" in text
    assert sum(len(part.figures) for part in parts.values()) == 10


def test_a_wrong_simulation_without_error_does_not_agree():
    """Where every attack is worth the same there is no noise: what differs is wrong."""
    right = answers(ClassSizes.from_sizes([5] * 4), 20, 1, trials=50)
    assert right.distance == 0.0
    wrong = replace(right, exact=replace(right.exact, probability=0.1))
    assert wrong.distance == math.inf


def test_partial_leaks_name_fewer_and_protection_fewer_still():
    claims, rates = reproduce_partial_histories(Context(quick=True)).tables
    assert all(float(row.remark.split(" ")[0]) < 4.5 for row in claims.rows)  # the whole case is eq. 7
    by = {(row[0], row[1]): [float(cell.rstrip("%")) for cell in row[2:]] for row in rates.cells}
    whole, *parts = (attacker.words for attacker in ATTACKERS)
    for k in (1, 10):
        assert all(by[k, part][0] <= by[k, whole][0] + 3 for part in parts)
    assert by[1, whole][0] > by[5, whole][0] > by[10, whole][0]
    assert by[10, whole][0] < 30
