"""Figure 4: naming several people in one attack; the exact chance, the paper's recursion and simulations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from incrowd._support.progress import Progress, part, silent
from incrowd.classes import ClassSizes
from incrowd.leaks import LeakRisk, LeakSimulation, leak_risk, simulate_leak, uniform_sizes
from papers.leak_attack.reference_values import PEOPLE, enumerate_attacks
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value

K = 5
TARGETS = (1, 5, 10, 15)
CLASS_SIZES = (5, 10, 15, 20)  # class sizes of Figure 4a
TARGET_COUNTS = range(1, 21)
LEAKS = range(1_000, PEOPLE + 1, 1_000)
TRIALS = 20_000  # of every point, a quarter where everybody leaks; a twentieth when quick


@dataclass(frozen=True, slots=True)
class Answers:
    """One question answered by every method."""

    exact: LeakRisk
    published: LeakRisk
    by_people: LeakRisk
    simulated: LeakSimulation

    @property
    def distance(self) -> float | None:
        """From the exact chance to the simulated one, in standard errors; None with too few trials to tell."""
        error = self.simulated.standard_error
        if error is None:
            return None
        off = self.simulated.probability - self.exact.probability
        if error > 1e-12 * self.exact.probability:
            return off / error
        # where every leak is worth the same there is no error, and nothing but rounding may differ
        return 0.0 if abs(off) <= 1e-9 * self.exact.probability else math.copysign(math.inf, off)

    def relative_error(self, other: LeakRisk) -> float:
        """The error of another answer relative to the exact one."""
        return math.expm1(other.log_probability - self.exact.log_probability)


def answers(sizes: ClassSizes, leaked: int, targets: int, *, trials: int, seed: int = 0) -> Answers:
    """The exact chance, both recursions and a simulation."""
    return Answers(
        leak_risk(sizes, leaked, targets=targets),
        leak_risk(sizes, leaked, targets=targets, method="recursion"),
        leak_risk(sizes, leaked, targets=targets, method="recursion_by_people"),
        simulate_leak(sizes, leaked, targets=targets, trials=trials, seed=seed),
    )


def grid(trials: int, seed: int = 0, leaks: Sequence[int] = LEAKS, progress: Progress = silent) -> list[Answers]:
    """The paper's grid: 10,000 people in classes of 5, leaks of 1,000 to everybody, 1 to 15 targets."""
    sizes, found = uniform_sizes(PEOPLE, K), []
    for done, leaked in enumerate(leaks):
        progress("simulating attacks", done / len(leaks))
        found += [answers(sizes, leaked, targets, trials=trials, seed=seed) for targets in TARGETS]
    return found


def reproduce_several_targets(context: Context) -> PartResult:
    """Figure 4a where everybody leaks, Figure 4b over the leak, and where the recursion is off."""
    trials = TRIALS // 20 if context.quick else TRIALS
    over_leaks = grid(trials, context.seed, LEAKS[::3] if context.quick else LEAKS, part(context.progress, 0.0, 0.6))
    everybody = _answers_if_all_leak(trials // 4, context, part(context.progress, 0.6, 1.0))
    return PartResult(
        (
            _small_tables(),
            _claims(over_leaks, everybody, trials, context.seed),
            _as_grid(
                "Figure 4a in numbers: everybody leaks", "k", [(k, one) for k in CLASS_SIZES for one in everybody[k]]
            ),
            _as_grid("Figure 4b in numbers: classes of 5", "leaked", [(one.exact.leaked, one) for one in over_leaks]),
        ),
        _pictures(over_leaks, everybody),
        (
            "Step 5 of the pseudo-code says a'_i = a_i + 1; the class that lost a person must be taken off its old "
            "size, a'_i = a_i − 1, as the paper's own example does. It is read so here.",
            "Two more things keep the recursion from the exact chance: eq. 10 weighs a target's class by its share of "
            "classes (a_i / Σa), while a random person is in it by its share of people (i·a_i / D); and every step "
            "draws a new leak of L − 1 from D − 1, while in one attack there is one leak. The first vanishes for one "
            "target in equal classes, the second where everybody leaks.",
            f"Every simulated point is {trials:,} leaks, {trials // 4:,} where everybody leaks, seed {context.seed}. "
            "With many targets a few lucky leaks make up most of the mean, so intervals are a little too narrow; "
            "points whose trials are too few for so many targets stand without one.",
        ),
    )


def _answers_if_all_leak(trials: int, context: Context, progress: Progress) -> dict[int, list[Answers]]:
    found: dict[int, list[Answers]] = {}
    for done, k in enumerate(CLASS_SIZES):
        progress("simulating attacks on everybody", done / len(CLASS_SIZES))
        sizes = uniform_sizes(PEOPLE, k)
        found[k] = [answers(sizes, PEOPLE, n, trials=trials, seed=context.seed) for n in (1, 5, 10, 15, 20)]
    return found


def _small_tables() -> Comparison:
    """Tables small enough to list every leak and every order of targets."""
    rows = []
    for listed, leaked, targets in (
        ([3, 2, 1], 4, 2),
        ([2, 2], 3, 2),
        ([2, 2, 2], 3, 3),
        ([3, 3], 6, 3),
    ):
        sizes = ClassSizes.from_sizes(listed)
        truth = enumerate_attacks(listed, leaked, targets)
        exact, published = (
            leak_risk(sizes, leaked, targets=targets, method=method).probability for method in ("exact", "recursion")
        )
        if abs(exact - truth) > 1e-12:
            raise ArithmeticError(f"the exact chance is {exact}, by listing {truth}")
        off = published / float(truth) - 1
        remark = f"every case listed: {truth}; the recursion is {off:+.1%} off"
        shown = ", ".join(map(str, listed))
        rows.append(Row(f"classes of {shown}; {leaked} leak; {targets} targets", exact, published, remark))
    return Comparison(
        "The recursion is not the chance: tables small enough to list every case",
        tuple(rows),
        "Every leak and every order of targets was gone through in fractions: the exact answer is that number, the "
        "recursion is not, even where all classes are of one size, or where everybody leaks.",
    )


def _claims(found: list[Answers], everybody: dict[int, list[Answers]], trials: int, seed: int) -> Comparison:
    return Comparison(
        "Several people, 10,000 in classes of 5",
        (*_agreement(found, everybody), *_five_people(found, trials, seed), _worst(found)),
    )


def _agreement(found: list[Answers], everybody: dict[int, list[Answers]]) -> tuple[Row, Row]:
    distances = [one.distance for one in found if one.distance is not None]
    whole = [one for series in everybody.values() for one in series]
    published = max(abs(one.relative_error(one.published)) for one in whole)
    by_people = max(abs(one.relative_error(one.by_people)) for one in whole)
    return (
        Row(
            "simulations within 3 standard errors of the exact chance",
            f"{sum(abs(distance) <= 3 for distance in distances)} of {len(distances)}",
            "recursion and simulation agree",
            "the paper compares the two only where everybody leaks",
        ),
        Row(
            "Figure 4a: the recursion against the exact chance, everybody leaks",
            f"at most {published:.2%} off",
            "agrees with simulation",
            f"weighed by people it is the exact chance (to {by_people:.0e})",
        ),
    )


def _five_people(found: list[Answers], trials: int, seed: int) -> tuple[Row, Row]:
    """Figure 4b at 4,000 of 10,000, also by the paper's simulation as it is written."""
    sizes = uniform_sizes(PEOPLE, K)
    at = {(one.exact.leaked, one.exact.targets): one for one in found}
    four = at[4_000, 5] if (4_000, 5) in at else answers(sizes, 4_000, 5, trials=trials, seed=seed)
    of_leaked = simulate_leak(sizes, 4_000, targets=5, trials=trials, seed=seed, targets_from="leak")
    share = math.exp(math.fsum(math.log((PEOPLE - i) / (4_000 - i)) for i in range(5)))
    return (
        Row(
            "Figure 4b: 5 people, 4,000 leak",
            f"{four.exact.probability:.4e}",
            f"{four.published.probability:.4e}",
            f"the recursion is {four.relative_error(four.published):+.2%} off; simulated "
            f"{four.simulated.probability:.4e} ({_interval(four.simulated)})",
        ),
        Row(
            "the same 5 people by the simulation loop as written",
            f"{of_leaked.probability:.3e}",
            f"{four.published.probability:.3e}",
            "the loop draws its targets from the leak, so it skips the chance that all of them leaked, "
            f"a factor of {share:.1f} here; it answers the recursion's question "
            "only where everybody leaks, the one case the paper shows",
        ),
    )


def _worst(found: list[Answers]) -> Row:
    partial = [one for one in found if one.exact.leaked < PEOPLE and one.exact.targets > 1]
    worst = max(partial, key=lambda one: abs(one.relative_error(one.published)))
    return Row(
        "Figure 4b: where the recursion is worst",
        f"{worst.exact.probability:.3e}",
        f"{worst.published.probability:.3e}",
        f"{worst.relative_error(worst.published):+.1%}: {worst.exact.targets} people, {worst.exact.leaked:,} leak; "
        "hard to see on the figure's log scale",
    )


def _interval(found: LeakSimulation) -> str:
    return "too few trials for an interval" if found.interval is None else "{:.2e} – {:.2e}".format(*found.interval)


def _signed(share: float) -> str:
    return f"{share:+.2%}".replace("-0.00%", "+0.00%")


def _as_grid(title: str, first: str, found: Sequence[tuple[int, Answers]]) -> Grid:
    cells: list[list[Value]] = [
        [
            key,
            one.exact.targets,
            f"{one.exact.probability:.4e}",
            f"{one.simulated.probability:.4e}",
            _interval(one.simulated),
            _signed(one.relative_error(one.published)),
            _signed(one.relative_error(one.by_people)),
        ]
        for key, one in found
    ]
    columns = (first, "targets", "exact", "simulated", "95 % interval", "recursion", "recursion by people")
    return Grid(title, columns, cells, "The last two columns say how far the recursion is from the exact chance.")


def _pictures(over_leaks: list[Answers], everybody: dict[int, list[Answers]]) -> tuple[Picture, ...]:
    from incrowd.figures.leak_charts import against_leak, against_targets
    from papers.figures.leaks import error_against_leak

    off = max(abs(one.relative_error(one.published)) for series in everybody.values() for one in series)
    lines = {
        f"k = {k}": [leak_risk(uniform_sizes(PEOPLE, k), PEOPLE, targets=n, method="recursion") for n in TARGET_COUNTS]
        for k in CLASS_SIZES
    }
    dots = {f"k = {k}": [one.simulated for one in series] for k, series in everybody.items()}
    sizes, leaks = uniform_sizes(PEOPLE, K), range(1_000, PEOPLE + 1, 500)
    exact = {f"{n} people": [leak_risk(sizes, leaked, targets=n) for leaked in leaks] for n in TARGETS[1:]}
    shown = {f"{n} people": [one.simulated for one in over_leaks if one.exact.targets == n] for n in TARGETS[1:]}
    errors = [
        (one.exact.leaked, f"{one.exact.targets} people", kind, one.relative_error(other))
        for one in over_leaks
        if one.exact.targets > 1
        for kind, other in (("as published", one.published), ("weighed by people", one.by_people))
    ]
    return (
        Picture(
            "fig-4a",
            "Figure 4a: naming several people, everybody leaks",
            against_targets(lines, simulations=dots, subtitle="Lines are the published recursion"),
            f"The exact chance is at most {off:.2%} away from the lines.",
        ),
        Picture(
            "fig-4b",
            "Figure 4b: naming several people, classes of 5",
            against_leak(exact, simulations=shown),
            "The exact chance and the simulation, over leaks of 1,000 to all 10,000 people.",
        ),
        Picture(
            "fig-4b-recursion",
            "Figure 4b: how far the recursion is from the exact chance",
            error_against_leak(errors),
            "In classes of 5; where everybody leaks only the weights by class are left of it.",
        ),
    )
