"""Disclosure of sensitive values by classes: l-diversity, t-closeness and related measures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.measures.class_values import ClassValueCounts, count_class_values
from incrowd.results import Count, Result, Share, Statement
from incrowd.wording import number, percent

ALL_KNOWN = (
    "the attacker knows every quasi-identifier, and that the person is in the table; a missing value is a value, so "
    "that two people without an age look alike"
)


@dataclass(frozen=True, slots=True)
class Diversity(Result):
    """Protection of one sensitive column, in the worst class unless stated otherwise.

    A missing value counts as a value, as in the published definitions and in other tools. `filled_distinct` is l
    without missing values.

    - `distinct`: l of distinct l-diversity, the fewest different values in a class.
    - `entropy_l`: l of entropy l-diversity, e to the smallest entropy of a class.
    - `recursive_c`: recursive (c, l)-diversity holds for every c above this, l being `distinct`; None where l is 1.
    - `ordered_t`, `equal_t`: t of t-closeness, the largest earth mover's distance between a class and the table, with
      values as far apart as their ranks (None for nominal values, as text is; a null ranks last), or all equally far.
    - `alpha`: α of (α, k)-anonymity, the largest share one value has of a class.
    - `beta`: basic β-likeness, the largest relative gain in a value's share. `enhanced_beta`: the smallest β for which
      enhanced β-likeness holds, None where none does.
    - `delta`: δ-disclosure, the largest |ln| of the ratio of a value's share in a class to its share in the table, over
      the values the class has.
    - `homogeneous`: records in classes where everybody has the same value, so that it is certain.
    - `commonest`: the share of the most common value in the table, which anybody can guess.
    - `filled_distinct`: `distinct` without missing values, in the classes where somebody has a value.
    """

    column: str
    values: Count
    records: Count
    distinct: Count
    entropy_l: float
    recursive_c: float | None
    ordered_t: float | None
    equal_t: float
    alpha: Share
    beta: float
    enhanced_beta: float | None
    delta: float
    homogeneous: int
    commonest: float
    filled_distinct: int
    _derived: ClassVar[tuple[str, ...]] = ("t", "given_away")

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What the worst class discloses."""
        distance = "values by rank" if self.ordered_t is not None else "all values equally far"
        filled = "" if self.filled_distinct == self.distinct else f" ({self.filled_distinct} without missing values)"
        homogeneous = "Records in homogeneous classes: all who look alike have the same value, be it missing or common."
        far = f"How far the most unusual class is from the whole table ({distance}): 0 tells nothing, 1 everything."
        gain = "Largest relative gain in knowing a value, from its share in the table."
        ratio = "Largest |ln| of a value's share in a class over its share in the table."
        numbers = [
            ("one value in the whole class", self.given_away, percent(self.given_away), homogeneous, False),
            (
                "l",
                self.distinct,
                f"{self.distinct:,}",
                f"Fewest different values among people who look alike{filled}.",
                False,
            ),
            ("t", self.t, f"{self.t:.3f}", far, False),
            (
                "entropy l",
                self.entropy_l,
                number(self.entropy_l),
                "Fewest values in a class, counting rare ones less.",
                True,
            ),
            ("α", self.alpha, number(self.alpha), "Largest share one value has of a class.", True),
            ("β", self.beta, number(self.beta), gain, True),
            ("δ", self.delta, number(self.delta), ratio, True),
        ]
        if self.recursive_c is not None:
            above = f"(c, {self.distinct})-diverse for every c above this."
            numbers.append(("c", self.recursive_c, number(self.recursive_c), above, True))
        return tuple(
            Statement(
                "secrets", f"{self.column}: {name}", value, shown, meaning, assumed=ALL_KNOWN, is_detail=is_detail
            )
            for name, value, shown, meaning, is_detail in numbers
        )

    @property
    def l(self) -> int:  # noqa: E743
        """`distinct`, by its name in the literature."""
        return self.distinct

    @property
    def t(self) -> Share:
        """t by the distance for the scale: ordered for numbers, dates and ordered values, equal for nominal ones."""
        return self.equal_t if self.ordered_t is None else self.ordered_t

    @property
    def given_away(self) -> Share:
        """The share of records in homogeneous classes, including missing and common values.

        `count_disclosed_secrets` counts only those that are news.
        """
        return self.homogeneous / self.records


def measure_diversity(classes: NDArray[Any], column: Coded, times: NDArray[np.int64] | None = None) -> Diversity:
    """Measure one sensitive column within classes, from the counts of each value in each class.

    Args:
        classes: the number of every record's class.
        column: the sensitive column as codes.
        times: the number of records that each entry stands for; None: one each.

    Returns:
        l, t and the related measures.

    >>> from incrowd.backends import encode
    >>> from incrowd.tables import read_table
    >>> (illness,) = encode(read_table({"illness": ["flu", "cold", "flu"]}), ["illness"])
    >>> measure_diversity(np.array([0, 0, 1], dtype=np.uint64), illness).homogeneous
    1
    """
    tally = np.bincount(column.codes, weights=times, minlength=column.size)
    return diversity_of_counts(column, tally, count_class_values(classes, column.codes, column.size, times))


def diversity_of_counts(column: Coded, tally: NDArray[Any], parts: Iterable[ClassValueCounts]) -> Diversity:
    """The measures of the worst class in all parts of a table.

    Args:
        column: the sensitive column.
        tally: the number of records with each value, in the whole table.
        parts: class × value counts; iterated twice, because the recursive ratio needs l first, so not an iterator.
    """
    from incrowd.measures import kernels

    size, records = column.size, int(tally.sum())
    share, cumulative = tally / records, np.cumsum(tally) / records
    before = np.concatenate([[0.0], np.cumsum(cumulative)])
    scanned, filled = [], []
    for part in parts:
        scanned.append(kernels.scan_classes(*part, size, share, cumulative, before))
        filled += [_fewest_filled(part, size)] if column.has_null else []
    distinct, entropy, equal, ordered, alpha, beta, enhanced, delta, homogeneous = zip(*scanned, strict=True)
    l = int(min(distinct))  # noqa: E741
    recursive = max(kernels.recursive_ratio(*part, size, l) for part in parts) if l > 1 else None
    return Diversity(
        column=column.name,
        values=size,
        records=records,
        distinct=l,
        entropy_l=math.exp(min(entropy)),
        recursive_c=recursive,
        ordered_t=float(max(ordered)) if column.has_order else None,
        equal_t=float(max(equal)),
        alpha=float(max(alpha)),
        beta=float(max(beta)),
        enhanced_beta=float(max(beta)) if all(enhanced) else None,
        delta=float(max(delta)),
        homogeneous=int(sum(homogeneous)),
        commonest=float(tally.max()) / records,
        filled_distinct=min([l, *filled]),
    )


def _fewest_filled(part: ClassValueCounts, size: int) -> int:
    """The fewest different values in a class, without missing ones, whose code is the last of `size` codes."""
    codes, starts = part.split(size)
    filled = np.add.reduceat((codes != size - 1).astype(np.int64), starts)
    return int(filled[filled > 0].min(initial=size))
