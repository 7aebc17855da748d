"""Appendix A: the two risks by their formulas and by carrying out the attacks they are about."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from incrowd.pitman_yor.model import PitmanYor
from papers.parts import Comparison, Context, PartResult, Row

Numbers = NDArray[np.int64]


def reproduce_formulas(context: Context) -> PartResult:
    """Draw a sample, attack it both ways, and compare the successes with the formulas."""
    random = np.random.default_rng(context.seed)
    people, attacks = (20_000, 200_000) if context.quick else (200_000, 2_000_000)
    sizes = PitmanYor.from_entropy(h=9, gamma=0.3).sample(people, context.seed)
    classes = random.permutation(np.repeat(np.arange(sizes.size), sizes))
    sample = random.choice(people, people // 10, replace=False)
    seen = np.bincount(classes[sample], minlength=sizes.size)
    reached = _into_sample(random, classes, sample, attacks), _into_population(random, classes, sizes, sample, attacks)
    expected = float((seen > 0).sum() / people), float((1 / sizes[classes[sample]]).mean())
    table = Comparison(
        f"{people:,} generated people, a sample of 10 %, {attacks:,} attacks each way",
        (
            Row("A: a person's record found in the sample, by attack", reached[0]),
            Row("A by formula, classes of the sample / N", expected[0]),
            Row("B: a record's person found in the population, by attack", reached[1]),
            Row("B by formula, mean of 1 / F", expected[1]),
            Row("κ(N), what B is on average over samples", sizes.size / people),
        ),
        f"The paper gives formulas only; {_remark_on_noise(reached, expected, attacks)}",
    )
    return PartResult((table,))


def _remark_on_noise(reached: tuple[float, ...], expected: tuple[float, ...], attacks: int) -> str:
    """How far the attacks are from the formulas, in standard errors of as many attacks."""
    away = [
        abs(found - formula) / math.sqrt(formula * (1 - formula) / attacks)
        for found, formula in zip(reached, expected, strict=True)
    ]
    remark = f"the attacks are {away[0]:.1f} (A) and {away[1]:.1f} (B) standard errors away from them, "
    return remark + ("no more than chance." if max(away) < 4 else "more than chance: one of the two is wrong.")


def _into_population(
    random: np.random.Generator, classes: Numbers, sizes: Numbers, sample: Numbers, attacks: int
) -> float:
    """A record of the sample is looked for: one of the population's people who look alike is picked."""
    return float((random.random(attacks) < 1 / sizes[classes[random.choice(sample, attacks)]]).mean())


def _into_sample(random: np.random.Generator, classes: Numbers, sample: Numbers, attacks: int) -> float:
    """A person of the population is looked for: one of the sample's records that look alike is picked."""
    order = sample[np.argsort(classes[sample], kind="stable")]
    held = classes[order]
    targets = random.choice(classes.size, attacks)
    first, last = np.searchsorted(held, classes[targets]), np.searchsorted(held, classes[targets], side="right")
    there = last > first
    picked = order[(first + np.floor(random.random(attacks) * (last - first)).astype(np.int64))[there]]
    return float((picked == targets[there]).sum() / attacks)
