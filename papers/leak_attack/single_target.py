"""Figures 2 and 3: the chance of naming one person, and how the chances of single people are spread."""

from __future__ import annotations

from typing import Any

from incrowd._support.progress import part
from incrowd.leaks import LeakSimulation, leak_risk, simulate_leak, uniform_sizes
from incrowd.recipients import RECIPIENTS
from papers.leak_attack.reference_values import PEOPLE, published_sum, share_at_risk
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row

SIZES = (1, 2, 5, 10, 15, 20)
LEAKS = (1_000, 2_000, 3_000, 4_000)
LEAKED = 4_000  # L of Figure 3a
TRIALS = 2_000  # of every point; a tenth when quick
_MANY_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)


def reproduce_single_target(context: Context) -> PartResult:
    """Eq. 5, the exact chance and simulations over the leak, over k, and person by person."""
    trials = TRIALS // 10 if context.quick else TRIALS
    tell = part(context.progress, 0.0, 0.7)
    simulated = {}
    for done, k in enumerate(SIZES):
        for leaked in LEAKS:
            simulated[k, leaked] = simulate_leak(uniform_sizes(PEOPLE, k), leaked, trials=trials, seed=context.seed)
        tell("simulating leaks", (done + 1) / len(SIZES))
    points, cells = _points(simulated)
    by_k = {
        k: simulate_leak(uniform_sizes(PEOPLE, k), LEAKED, trials=trials, seed=context.seed + 1) for k in _MANY_SIZES
    }
    claims = Comparison("One person, 10,000 people", _claims(simulated, by_k, points, context, trials))
    return PartResult(
        (claims, Grid("Figure 2 in numbers", ("k", "leaked", "eq. 5", "exact", "simulated", "95 % interval"), cells)),
        _pictures(simulated, by_k),
        (
            "The sum of eq. 5 has a closed form, (1/k)[1 − C(D−k, L) / C(D, L)], which is what is computed here: by "
            "Vandermonde's identity its terms with h = 0 are all that is missing from 1.",
            f"Every simulated point is {trials:,} leaks, seed {context.seed}; its interval is for the mean of its "
            "trials, where the paper shows the spread of single simulations.",
        ),
    )


def _points(
    simulated: dict[tuple[int, int], LeakSimulation],
) -> tuple[list[tuple[float, float, bool]], list[list[Any]]]:
    """For every point eq. 5, the exact number and whether the simulation's interval holds it; and the table's cells."""
    points, cells = [], []
    for (k, leaked), found in simulated.items():
        published = float(published_sum(PEOPLE, k, leaked))
        exact = leak_risk(uniform_sizes(PEOPLE, k), leaked).probability
        low, high = found.interval or (found.probability, found.probability)
        slack = 1e-9 * exact  # where everybody is alone every leak is worth the same
        points.append((published, exact, low - slack <= exact <= high + slack))
        figures = [f"{value:.5f}" for value in (published, exact, found.probability)]
        cells.append([k, leaked, *figures, f"{low:.5f} – {high:.5f}"])
    return points, cells


def _claims(
    simulated: dict[tuple[int, int], LeakSimulation],
    by_k: dict[int, LeakSimulation],
    points: list[tuple[float, float, bool]],
    context: Context,
    trials: int,
) -> tuple[Row, ...]:
    held = [holds for (k, _), (*_, holds) in zip(simulated, points, strict=True) if k > 1]
    return (
        *_against_eq_5(simulated, points),
        Row(
            "simulated 95 % intervals that hold the exact number, k > 1",
            f"{sum(held)} of {len(held)}",
            "the two agree",
            "19 in 20 are expected to; with k = 1 everybody in the leak is named, and there is nothing to simulate",
        ),
        *_classes_of_five(context, trials),
        *_over_k(by_k),
    )


def _against_eq_5(
    simulated: dict[tuple[int, int], LeakSimulation], points: list[tuple[float, float, bool]]
) -> tuple[Row, Row]:
    away = {
        divides: max(
            abs(exact / published - 1)
            for (k, _), (published, exact, _) in zip(simulated, points, strict=True)
            if (PEOPLE % k == 0) == divides
        )
        for divides in (True, False)
    }
    remark = "rounding" if away[True] < 1e-9 else "more than rounding: one of the two is wrong"
    return (
        Row("largest relative difference to eq. 5, k = 1, 2, 5, 10, 20", f"{away[True]:.0e}", 0, remark),
        Row(
            "the same for k = 15",
            f"{away[False]:.0e}",
            0,
            "eq. 5 needs D/k classes of k, and 15 does not divide 10,000: here 656 classes have 15 people, 10 have 16",
        ),
    )


def _classes_of_five(context: Context, trials: int) -> tuple[Row, ...]:
    five = uniform_sizes(PEOPLE, 5)
    published, exact = float(published_sum(PEOPLE, 5, LEAKED)), leak_risk(five, LEAKED).probability
    of_leaked = simulate_leak(five, LEAKED, trials=trials, seed=context.seed, targets_from="leak").probability
    return (
        Row(
            "everybody leaks, k = 5",
            leak_risk(five, PEOPLE).probability,
            0.2,
            "1/k, as the paper's dotted line; not for any caution in its assumptions, as it says, but because with the "
            "whole table a guess within the class is all that is left",
        ),
        Row("40 % leak, k = 5", exact, published, f"{exact * 5:.0%} of the chance when everybody leaks"),
        Row(
            "the same by step 3 of the simulation as written",
            of_leaked,
            published,
            f"{of_leaked / published:.3g} times eq. 5: step 3 averages over the people in the leak, which gives "
            "D/L = 2.5 times; averaged over all people, those outside with risk 0, it is eq. 5",
        ),
    )


def _over_k(by_k: dict[int, LeakSimulation]) -> tuple[Row, ...]:
    exact = {k: leak_risk(uniform_sizes(PEOPLE, k), LEAKED).probability for k in (1, 10, 20)}
    away = max(
        abs(share - share_at_risk(PEOPLE, 10, LEAKED, round(1 / risk))) for risk, share in by_k[10].risks if risk
    )
    return (
        Row(
            "k from 1 to 10, then to 20, 40 % leak",
            " → ".join(f"{exact[k]:.4f}" for k in (1, 10, 20)),
            "plateaus for k > 10",
            f"in absolute terms; from 10 to 20 the chance still falls to {exact[20] / exact[10]:.0%}, for it is close "
            "to 1/k",
        ),
        Row(
            "share of people with risk 0, k = 1, 40 % leak",
            dict(by_k[1].risks)[0.0],
            "those in the leak",
            "those outside the leak have risk 0, those in it 1; the paper's sentence on Figure 3a has them swapped",
        ),
        Row(
            "shares of people by risk, k = 10: largest difference to the exact",
            f"{away:.1e}",
            None,
            "Figure 3's distribution has a closed form: (h/k) C(k, h) C(D−k, L−h) / C(D, L) of people have risk 1/h",
        ),
    )


def _pictures(simulated: dict[tuple[int, int], LeakSimulation], by_k: dict[int, LeakSimulation]) -> tuple[Picture, ...]:
    from incrowd.figures.leak_charts import against_leak, single_risks
    from papers.figures.leaks import against_k

    leaks = range(250, PEOPLE + 1, 250)
    tables = {f"k = {k}": uniform_sizes(PEOPLE, k) for k in SIZES}
    lines = {name: [leak_risk(sizes, leaked) for leaked in leaks] for name, sizes in tables.items()}
    dots = {f"k = {k}": [simulated[k, leaked] for leaked in LEAKS] for k in SIZES}
    exact = {k: leak_risk(uniform_sizes(PEOPLE, k), LEAKED).probability for k in range(1, 21)}
    return (
        Picture(
            "fig-2",
            "Figure 2: naming one person, by the leak and k",
            against_leak(lines, simulations=dots, thresholds=[kind.limits.highest for kind in RECIPIENTS]),
            "The lines go on to a leak of everybody, where they reach 1/k; the paper's stop at 4,000. Dashed: the "
            "thresholds that the paper quotes, each for a single person: 0.33 for a trusted recipient, 0.09 to 0.05 "
            "for the public. They are classes of 3, 11 and 20 people, rounded to two digits.",
        ),
        Picture(
            "fig-3-k",
            "Figure 3a, left: naming one person by k, 4,000 of 10,000 leak",
            against_k(exact, by_k),
            "The exact line and the simulated points.",
        ),
        Picture(
            "fig-3a",
            "Figure 3a, right: the risk of single people by k, 4,000 leak",
            single_risks({f"k = {k}": by_k[k] for k in (1, 10, 20)}),
            "With k = 1 the risk is 0 or 1; with larger classes it moves towards 0.",
        ),
        Picture(
            "fig-3b-leak",
            "Figure 3b, left: naming one person by the leak, k = 5",
            against_leak({"k = 5": lines["k = 5"]}, simulations={"k = 5": dots["k = 5"]}),
            "The line of Figure 2 for k = 5 by itself.",
        ),
        Picture(
            "fig-3b",
            "Figure 3b, right: the risk of single people by the leak, k = 5",
            single_risks({f"L = {leaked:,}": simulated[5, leaked] for leaked in LEAKS}),
            "The more leak, the more people are at risk, but among more lookalikes.",
        ),
    )
