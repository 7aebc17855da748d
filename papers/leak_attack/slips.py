"""Slips in the leak-attack paper, each with the numbers that prove it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from incrowd.classes import ClassSizes
from incrowd.leaks import leak_risk, simulate_leak, uniform_sizes
from papers.leak_attack.printed_tables import TABLE_1, TABLE_3, rows_without_a_place
from papers.leak_attack.reference_values import chance_named, enumerate_attacks, published_sum
from papers.parts import Comparison, Context, PartResult, Row

SIZES, LEAKED, TARGETS = (3, 2, 1), 4, 2


def probability_as_printed(
    classes: Mapping[int, int], leaked: int, people: int, targets: int, *, base_case: bool = False, minus: bool = False
) -> Fraction:
    """The pseudo-code of section 2.3, line by line; `base_case` and `minus` mend what is missing in it.

    >>> classes = {3: 1, 2: 1, 1: 1}
    >>> probability_as_printed(classes, 4, 6, 2), probability_as_printed(classes, 4, 6, 2, base_case=True, minus=True)
    (Fraction(0, 1), Fraction(1799, 8100))
    """
    if targets == 0 and base_case:
        return Fraction(1)
    total = Fraction(0)
    if leaked <= 0 or targets < 0:
        return total  # the printed function calls itself without an end; here it ends where nobody is left
    for size, count in classes.items():
        if size < 1 or count < 1 or size > people:
            continue
        chance = Fraction(count, sum(n for s, n in classes.items() if s > 0)) * chance_named(size, leaked, people)
        after = {**classes, size: count + (-1 if minus else 1)}
        after[size - 1] = after.get(size - 1, 0) + 1
        total += chance * probability_as_printed(
            after, leaked - 1, people - 1, targets - 1, base_case=base_case, minus=minus
        )
    return total


def reproduce_slips(context: Context) -> PartResult:
    """What the paper says, what it should say, and a number that tells the two apart."""
    return PartResult((Comparison("Slips", (*_of_tables(), *_of_recursion(), *_of_simulation(context)), _REMARK),))


_REMARK = (
    "Each is proved by a test, in `tests/papers/test_slips.py`. The people are in classes of 3, 2 and 1, four of them "
    "leak and two are looked for, unless a row says otherwise."
)


def _of_tables() -> tuple[Row, ...]:
    told = "; ".join(f"{who}: {column}" for who, column in rows_without_a_place())
    return (
        Row(
            "records: Table 1, Table 3",
            f"{len(TABLE_1)}, {len(TABLE_3)}",
            "the same people",
            "Table 3 leaves out the third admission (16 days) of patient 878 452 0908",
        ),
        Row(
            "records of Table 1 that no row of Table 3 covers",
            len(rows_without_a_place()),
            0,
            f"{told}. Stays of 16 and 27 days are outside 6–15 and 20–25, and a white patient became “Mixed”: a "
            "generalisation would have had to widen the ranges instead",
        ),
    )


def _of_recursion() -> tuple[Row, ...]:
    classes, people = dict.fromkeys(SIZES, 1), sum(SIZES)
    printed, based, mended = (
        float(probability_as_printed(classes, LEAKED, people, TARGETS, base_case=base, minus=minus))
        for base, minus in ((False, False), (True, False), (True, True))
    )
    by_people, whole = (
        leak_risk(ClassSizes.from_sizes(SIZES), leaked, targets=TARGETS, method="recursion_by_people").probability
        for leaked in (LEAKED, people)
    )
    exact, everybody = (float(enumerate_attacks(SIZES, leaked, TARGETS)) for leaked in (LEAKED, people))
    return (
        Row(
            "the recursion, line by line",
            exact,
            printed,
            "it has no base case: P starts at 0 and nothing ever returns 1, so that every answer is 0. For n = 0 it "
            "must return 1",
        ),
        Row(
            "with a base case",
            exact,
            based,
            "first error: step 5 adds the class to its old size (a'_i = a_i + 1) instead of taking it off "
            "(a'_i = a_i − 1), which the example above it does",
        ),
        Row(
            "and with a'_i = a_i − 1",
            exact,
            mended,
            "second error: eq. 10 weighs a class size by its share of classes, not by its share of people",
        ),
        Row(
            "and weighed by people",
            exact,
            by_people,
            "third error: each step draws a new leak of L − 1 from D − 1 people, while an attack has one leak",
        ),
        Row("the same where everybody leaks", everybody, whole, "then there is one leak only"),
    )


def _of_simulation(context: Context) -> tuple[Row, ...]:
    sizes, leaked = uniform_sizes(100, 5), 40
    drawn = simulate_leak(sizes, leaked, trials=2_000, seed=context.seed, targets_from="leak").probability
    formula = float(published_sum(100, 5, leaked))
    outside = dict(simulate_leak(uniform_sizes(100, 1), leaked, trials=20, seed=context.seed).risks)[0.0]
    return (
        Row(
            "step 3 of the simulation, 100 people in classes of 5, 40 leak",
            formula,
            drawn,
            "it averages over the people in the leak, which gives D/L = 2.5 times eq. 5; over all people it is eq. 5",
        ),
        Row(
            "risk 0 with k = 1 (text on Figure 3a)",
            f"{outside:.0%} of people, those not in the leak",
            "patient ∈ L",
            "0 and 1 are swapped in the sentence: whoever is in the leak has risk 1",
        ),
    )
