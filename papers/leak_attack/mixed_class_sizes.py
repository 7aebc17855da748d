"""Figure 5: classes of several sizes against classes of one size."""

from __future__ import annotations

import math

from incrowd.classes import ClassSizes
from incrowd.leaks import LeakRisk, LeakSimulation, leak_risk, simulate_leak, uniform_sizes
from papers.leak_attack.reference_values import PEOPLE, draw_class_sizes, leak_chances, partitions_of_people
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value

K = 5
TARGET_COUNTS = range(1, 21)
DEVIATIONS = (1, 2, 4, 8)  # of the normal distribution that class sizes are drawn from
TRIALS = 10_000  # of every point; a tenth when quick
_SHOWN = (1, 5, 10, 20)
_MOST_PEOPLE = {False: 12, True: 8}  # all tables of up to so many people are enumerated


def reproduce_mixed_class_sizes(context: Context) -> PartResult:
    """Equal classes of 5 against classes of at least 5, everybody leaked, as the paper draws them."""
    tables = {"all classes of 5": uniform_sizes(PEOPLE, K)}
    tables |= {
        f"5 or more, deviation {deviation}": draw_class_sizes(deviation, context.seed) for deviation in DEVIATIONS
    }
    lines = {name: [leak_risk(sizes, PEOPLE, targets=n) for n in TARGET_COUNTS] for name, sizes in tables.items()}
    trials = TRIALS // 10 if context.quick else TRIALS
    context.progress("simulating attacks", 0.2)
    shown = list(tables)[:2]
    dots = {
        name: [simulate_leak(tables[name], PEOPLE, targets=n, trials=trials, seed=context.seed) for n in _SHOWN]
        for name in shown
    }
    context.progress("going through all small tables", 0.6)
    compared, above = count_riskier_tables(_MOST_PEOPLE[context.quick])
    published = leak_risk(tables[shown[1]], PEOPLE, targets=5, method="recursion").probability
    return PartResult(
        (_claims(lines, compared, above, published, context.quick), _grid(tables, lines)),
        (_picture(lines, dots),),
        (
            "The paper draws class sizes from a normal law with mean 5, cut off below 5, and does not say how wide it "
            "is; standard deviations of 1, 2, 4 and 8 are taken here, rounded to whole people.",
            "For one person the bound is proved: the chance that somebody of a class of s leaks, "
            "g(s) = 1 − C(D−s, L)/C(D, L), is concave in s with g(0) = 0, so g(s)/s falls with s, and "
            "(1/D) Σ g(s_b) = (1/D) Σ s_b · g(s_b)/s_b ≤ g(k)/k. For several people it is only counted here, over all "
            "small tables.",
        ),
    )


def count_riskier_tables(most: int) -> tuple[int, int]:
    """Over all tables of up to so many people, all leaks and all numbers of targets: questions compared with equal
    classes of the smallest size, and those in which a table was riskier."""
    compared = above = 0
    for people in range(2, most + 1):
        for k in (k for k in range(1, people) if people % k == 0):
            equal = leak_chances((k,) * (people // k))
            for sizes in partitions_of_people(people, k):
                if set(sizes) == {k}:
                    continue
                other = leak_chances(sizes)
                for at, chance in equal.items():
                    if at[1] > 0:
                        compared += 1
                        above += other.get(at, 0) > chance
    return compared, above


def _claims(lines: dict[str, list[LeakRisk]], compared: int, above: int, published: float, quick: bool) -> Comparison:
    above_equal, five = _differences(lines), list(lines.values())[1][4]
    return Comparison(
        "Classes of at least 5 against classes of 5, everybody leaks",
        (
            Row(
                "drawn tables and numbers of people for which equal classes are not the riskiest",
                f"{sum(difference > 0 for difference in above_equal)} of {len(above_equal)}",
                "none: an upper bound",
                f"the riskiest drawn table has {math.exp(max(above_equal)):.1%} of the chance in equal classes",
            ),
            Row(
                f"the same over all tables of up to {_MOST_PEOPLE[quick]} people, all leaks, all targets",
                f"{above} of {compared:,}",
                "none: an upper bound",
                "counted in fractions, also where only part of the table leaks, which the paper does not show",
            ),
            Row(
                "5 people, first drawn table",
                f"{five.probability:.4e}",
                f"{published:.4e}",
                f"the recursion is {published / five.probability - 1:+.1%} off, though everybody leaks: it counts "
                "classes instead of people, which matters where classes differ in size",
            ),
        ),
    )


def _differences(lines: dict[str, list[LeakRisk]]) -> list[float]:
    """Logs of the chances of all other tables against those of the first, whose classes are equal."""
    equal, *others = lines.values()
    return [
        one.log_probability - same.log_probability for other in others for one, same in zip(other, equal, strict=True)
    ]


def _grid(tables: dict[str, ClassSizes], lines: dict[str, list[LeakRisk]]) -> Grid:
    cells: list[list[Value]] = []
    for name, sizes in tables.items():
        risks = [lines[name][n - 1] for n in _SHOWN]
        cells.append([name, sizes.classes, *(f"{risk.probability:.3e}" for risk in risks)])
    return Grid(
        "Figure 5 in numbers", ("", "classes", *("1 person" if n == 1 else f"{n} people" for n in _SHOWN)), cells
    )


def _picture(lines: dict[str, list[LeakRisk]], dots: dict[str, list[LeakSimulation]]) -> Picture:
    from incrowd.figures.leak_charts import against_targets

    chart = against_targets(lines, simulations=dots, dashed=list(lines)[1:], title="Equal classes and larger ones")
    below = all(difference <= 0 for difference in _differences(lines))
    return Picture(
        "fig-5",
        "Figure 5: classes of 5 (solid) against classes of at least 5 (broken), everybody leaks",
        chart,
        "As in the paper, equal classes lie above all others." if below else "Not all lines lie below equal classes.",
    )
