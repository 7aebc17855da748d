"""What is wrong in the papers' print, each with a proof: the printed thing, and the truth that it is not."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from papers.leak_attack.printed_tables import LEAKED_PATIENTS, TABLE_1, TABLE_3, rows_without_a_place
from papers.leak_attack.reference_values import enumerate_attacks, published_sum
from papers.leak_attack.slips import probability_as_printed
from papers.leak_attack.slips import reproduce_slips as leak_slips
from papers.proper_anonymization.worked_tables import (
    KNOWN,
    SHARED_ALREADY,
    TABLE_S2,
    reproduce_worked_tables,
    table_s6_as_printed,
)
from papers.scaling_law.slips import FREQUENCIES, correctness_as_printed, known_correctness_as_printed, pooled_error
from papers.scaling_law.slips import reproduce_slips as scaling_slips

from incrowd import evaluate, measure, protect
from incrowd.curves import Curve, KnownDistribution
from incrowd.leaks import leak_risk, simulate_leak, uniform_sizes
from incrowd.pitman_yor import PitmanYor, fit_curve
from incrowd.protection.paper_methods import bound_on_t, strata_for
from papers import Context


@pytest.mark.paper("scaling-law", "eq. 3", "eq. 13")
@pytest.mark.parametrize(("d", "alpha"), [(0.5, 10), (0.9, 3), (-2.0, 40)])
def test_equation_3_has_the_wrong_sign(d, alpha):
    """Samples of the process show a positive κ; the printed expression is its negative."""
    model = PitmanYor(d=d, alpha=alpha)
    drawn = np.mean([model.sample(200, seed).size / 200 for seed in range(300)])
    assert correctness_as_printed(model, 200) == pytest.approx(-drawn, abs=0.01)
    assert model.correctness(200) == pytest.approx(-correctness_as_printed(model, 200), rel=1e-9)


@pytest.mark.paper("scaling-law", "eq. 9")
def test_equation_9_lacks_one_minus():
    assert known_correctness_as_printed(FREQUENCIES, 1) == 2.0  # more than everybody is named
    for n in (1, 2, 5):
        mended = sum(1 / n for _ in FREQUENCIES) - known_correctness_as_printed(FREQUENCIES, n)
        assert KnownDistribution(FREQUENCIES).correctness(n) == pytest.approx(mended)


def test_the_papers_own_example_needs_a_discount_below_0():
    fit = fit_curve(Curve.from_points([100, 1_000], [0.99, 0.80])).pitman_yor
    assert fit.d < 0
    assert fit.correctness(10_000) == pytest.approx(0.21, abs=0.006)
    best = min(
        (PitmanYor.from_entropy(h=h, gamma=gamma) for h in np.linspace(6, 14, 81) for gamma in np.linspace(0, 1, 21)),
        key=lambda model: (model.correctness(100) - 0.99) ** 2 + (model.correctness(1_000) - 0.80) ** 2,
    )
    assert best.correctness(10_000) > 0.3  # within 0 ≤ d ≤ 1 the two points forecast another number


@pytest.mark.paper("scaling-law", "eq. 14")
@pytest.mark.parametrize(("n", "k"), [(10, 3), (50, 2), (200, 7)])
@pytest.mark.parametrize(("d", "alpha"), [(0.3, 4.0), (0.1, 9.0)])
def test_equation_14_as_printed_is_the_finite_sum(n, k, d, alpha):
    with mp.workdps(40):
        series = mp.hyp3f2(1, n, n - k + 1 + d + alpha, n - k + 2, n + 1 + alpha, 1)
        gammas = mp.gamma(k - d) * mp.gamma(n - k + 1 + d + alpha) / mp.gamma(n + 1 + alpha)
        printed = mp.binomial(n - 1, n - k + 1) * gammas * series / mp.beta(1 - d, d + alpha)
    assert PitmanYor(d=d, alpha=alpha).violations(n, k) == pytest.approx(float(printed), rel=1e-12)


@pytest.mark.paper("leak-attack", "Table 1", "Table 3")
def test_table_3_alters_rows_of_table_1():
    assert len(TABLE_1) - len(TABLE_3) == 1
    assert rows_without_a_place() == [
        ("878 452 0908", "stay"), ("763 356 4625", "stay"), ("878 663 2210", "ethnicity"),
    ]  # fmt: skip
    stays = [(who, stay) for who, *_, stay, _ in TABLE_1 if stay in (16, 27)]
    assert stays == [("878 452 0908", 16), ("763 356 4625", 27)]


@pytest.mark.paper("leak-attack", "recursion")
def test_the_printed_recursion_is_always_0():
    for classes, leaked, people in (({1: 4}, 4, 4), ({3: 1, 2: 1, 1: 1}, 4, 6)):
        assert probability_as_printed(classes, leaked, people, 2) == 0


@pytest.mark.paper("leak-attack", "recursion")
def test_each_error_of_the_recursion_changes_the_answer():
    sizes, leaked, targets = (3, 2, 1), 4, 2
    classes = dict.fromkeys(sizes, 1)
    truth = enumerate_attacks(sizes, leaked, targets)
    plus = probability_as_printed(classes, leaked, 6, targets, base_case=True)
    minus = probability_as_printed(classes, leaked, 6, targets, base_case=True, minus=True)
    assert len({truth, plus, minus, Fraction(0)}) == 4
    table = {"x": [size for size in sizes for _ in range(size)]}
    library, people = (
        leak_risk(table, leaked, quasi_identifiers=["x"], targets=targets, method=method).probability
        for method in ("recursion", "recursion_by_people")
    )
    assert library == pytest.approx(float(minus), rel=1e-12)
    assert people != pytest.approx(float(truth), rel=1e-3)  # weighed by people it still draws a leak for each target
    everybody = leak_risk(table, 6, quasi_identifiers=["x"], targets=2, method="recursion_by_people").probability
    assert everybody == pytest.approx(float(enumerate_attacks(sizes, 6, 2)), rel=1e-12)


@pytest.mark.paper("leak-attack", "simulation, steps 1–4")
def test_step_3_averages_over_the_wrong_people():
    of_leaked = simulate_leak(uniform_sizes(100, 5), 40, trials=5_000, seed=1, targets_from="leak")
    of_all = simulate_leak(uniform_sizes(100, 5), 40, trials=5_000, seed=1)
    assert of_leaked.agrees_with(2.5 * float(published_sum(100, 5, 40)), errors=4)
    assert of_all.agrees_with(float(published_sum(100, 5, 40)), errors=4)


@pytest.mark.paper("proper-anonymization", "Table S2", "Table S6")
def test_table_s6_omits_a_patient_of_35():
    printed = evaluate(TABLE_S2, table_s6_as_printed(), quasi_identifiers=KNOWN)
    assert printed.contradicting == 1
    mended = table_s6_as_printed() | {"Age": ["[35;52]"] * 3 + ["[57;70]"] * 3}
    assert evaluate(TABLE_S2, mended, quasi_identifiers=KNOWN).contradicting == 0


@pytest.mark.paper("proper-anonymization", "Algorithm S2")
def test_s2_changes_records_that_are_k_anonymous_already():
    table = {"x": list(SHARED_ALREADY)}
    assert measure(table, quasi_identifiers=["x"]).k == 2
    runs = protect(table, quasi_identifiers=["x"], k=2, method="sorted", identifiers=[]).table["x"].to_pylist()
    assert [str(cell) for cell in runs] == ["1", "1", "[1;2]", "[1;2]", "[1;2]"]
    ours = protect(table, quasi_identifiers=["x"], k=2, identifiers=[]).table["x"].to_pylist()
    assert [str(cell) for cell in ours] == ["1", "1", "1", "2", "2"]


@pytest.mark.paper("proper-anonymization", "eq. 6", "eq. 7", "Algorithm S4")
def test_leftovers_break_the_bound_of_equation_6():
    """23 records by 2: the one left over has the highest value, and joins a class that has a high one already."""
    n, k = 23, 2
    values = {"a": list(range(n, 0, -1)), "z": list(range(n))}
    safe = protect(values, quasi_identifiers=["a"], k=k, t="bound", method="tcloseness", sensitive=["z"])
    classes = {}
    for label, z in zip(safe.table["a"].to_pylist(), values["z"], strict=True):
        classes.setdefault(str(label), []).append(z)

    def distance(members):
        """Earth mover's distance to the whole, records being a step apart."""
        steps = np.cumsum([(z in members) / len(members) - 1 / n for z in range(n)])
        return float(np.abs(steps).sum() / (n - 1))

    worst = max(map(distance, classes.values()))
    assert strata_for(n, k, bound_on_t(n, k)) == k
    assert worst > bound_on_t(n, k) == pytest.approx((n - k) / (2 * (n - 1) * k))
    assert math.ceil(n / (2 * (n - 1) * bound_on_t(n, k) + 1) - 1e-9) == k  # eq. 7 is eq. 6 turned round


def test_every_slip_stands_on_its_page():
    told = {
        "scaling": scaling_slips(Context()).tables[0],
        "leak": leak_slips(Context()).tables[0],
        "anonymization": reproduce_worked_tables(Context()).tables[2],
    }
    texts = {name: " ".join(f"{row.quantity} {row.remark}" for row in table.rows) for name, table in told.items()}
    assert "1 − u" in texts["scaling"]
    assert "“1 −” is missing" in texts["scaling"]
    for words in ("Table 3 leaves out", "no base case", "first error", "second error", "third error", "step 3"):
        assert words in texts["leak"]
    for words in ("omit 35", "do not need to be modified", "left over"):
        assert words in texts["anonymization"]
    for table in told.values():
        assert all(row.ours != row.paper for row in table.rows if row.quantity != "the same where everybody leaks")
    assert len(LEAKED_PATIENTS) == 3


@pytest.mark.paper("scaling-law", "Table 1")
def test_the_error_of_the_introduction_is_that_of_exact_matching_alone():
    assert pooled_error(0.1) == pytest.approx(0.0598, abs=1e-4)
    assert pooled_error(0.1) > 0.051 + 0.005  # the introduction gives 5.1 p.p. for all kinds together
