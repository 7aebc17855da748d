"""Random calls of the library: every answer keeps its own rules, and every refusal is one in words."""

import json
import math
import os
import random
import time
from itertools import pairwise

import pytest

from incrowd import (
    ClassSizes,
    check,
    correctness_curve,
    fit_curve,
    forecast,
    leak_risk,
    measure,
    population_risk,
    protect,
)
from incrowd.errors import IncrowdError
from incrowd.leaks import smallest_k

ODD = [0, -1, 1, 2, 3, 0.5, 5e-324, 1e-308, -0.0, math.inf, -math.inf, math.nan, 1e308, 2**63, 10**30, -(10**30)]
CALLS = int(os.environ.get("INCROWD_CALLS", "1600"))
SECONDS = 60  # of processor time that a call may take, the compilation of its kernels included


def odd(rng, usual):
    """Usually a usual value, else an odd one."""
    return rng.choice(ODD) if rng.random() < 0.4 else rng.choice(usual)


def sizes_of(rng):
    return ClassSizes.from_sizes([rng.choice([1, 1, 1, 2, 3, 5, 40]) for _ in range(rng.randrange(1, 30))])


def table_of(rng):
    rows = rng.choice([1, 2, 5, 30])
    values = [
        [0.0, -0.0, 1.5, math.nan, math.inf, 5e-324, 1e308],
        ["a", "", " ", "é", "a" * 300, None],
        [1, 2, None, -(2**62)],
    ]
    names = rng.sample(["a", "b", "", " ", "é", "a,b", "select", "c" * 300, '"'], 3)
    return {name: [rng.choice(kind) for _ in range(rows)] for name, kind in zip(names, values, strict=True)}


def names_of(rng, table):
    return rng.sample([*table, "missing"], rng.randrange(0, len(table) + 1)) if rng.random() < 0.2 else list(table)[:2]


def call(rng):
    """One call with random arguments."""
    kind = rng.randrange(9)
    if kind == 0:
        return leak_risk(sizes_of(rng), odd(rng, [1, 2, 5]), targets=odd(rng, [1, 2]))
    if kind == 1:
        return smallest_k(
            people=odd(rng, [10, 100]), leaked=odd(rng, [5, 50]), targets=odd(rng, [1]), at_most=odd(rng, [0.1, 0.5])
        )
    if kind == 2:
        return population_risk(
            sizes_of(rng), population=odd(rng, [100, 1e6]), method=rng.choice(["posterior", "combined", "", "é"])
        )
    if kind == 3:
        return correctness_curve(sizes_of(rng), [odd(rng, [1, 2, 3])])
    if kind == 4:
        points = sorted(rng.sample([10, 100, 1_000, 10_000], rng.choice([1, 2, 4])))
        fit = fit_curve(
            points, correctness=[odd(rng, [0.9, 0.5, 0.2]) for _ in points], people=odd(rng, [None, 10_000])
        )
        return forecast(fit, [odd(rng, [10**5, "city"])], seed=1)
    table = table_of(rng)
    names = names_of(rng, table)
    if kind == 5:
        return measure(table, quasi_identifiers=names, sensitive=rng.choice([(), list(table)[2:]]))
    if kind == 6:
        return check(table, quasi_identifiers=names, min_k=odd(rng, [1, 2]), max_uniqueness=odd(rng, [0.5]))
    secret = rng.choice([None, list(table)[2:]])
    method = rng.choice(["partition", "sorted", "coarsen", "generalise", "tcloseness", ""])
    return protect(
        table,
        quasi_identifiers=names,
        k=odd(rng, [2, 3]),
        l=odd(rng, [None, 2]) if secret else None,
        sensitive=secret,
        method=method,
    )


def rules_broken(found):
    """What a result says that cannot be: numbers outside their range or interval, JSON that cannot be read again."""
    plain = found.to_dict()
    try:
        again = json.loads(json.dumps(plain, allow_nan=False))
    except ValueError as error:
        return [f"JSON: {error}"]
    return [*([] if again == plain else ["JSON does not say the same"]), *_broken(plain, ""), *_sums_broken(plain)]


SHARES = {"probability", "uniqueness", "correctness", "share", "granularity", "given_away", "share_leaked"}


def _broken(part, place):
    if isinstance(part, list):
        for one in part:
            yield from _broken(one, place)
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        if name in SHARES and isinstance(value, int | float) and not 0 <= value <= 1:
            yield f"{place}.{name} = {value}"
        yield from _broken(value, f"{place}.{name}")
    for name in part:
        one = part.get("overall" if name == "interval" else name.removesuffix("_interval"))
        if name.endswith("interval") and part[name] and one is not None and not part[name][0] <= one <= part[name][1]:
            yield f"{place}.{name}: {one} is not in {part[name]}"
    value, low, high = (part.get(name) for name in ("value", "low", "high"))
    triples = (
        zip(value, low, high, strict=True)
        if isinstance(value, list) and isinstance(low, list)
        else [(value, low, high)]
    )
    for one, least, most in triples:
        if None not in (one, least, most) and not least <= one <= most:
            yield f"{place}: {one} is not in [{least}, {most}]"


def _sums_broken(plain):
    """Totals that are not the sums of their parts, and curves that rise."""
    if "histogram" in plain and "people" in plain:
        sizes = {int(size): count for size, count in plain["histogram"].items()}
        told = [plain[name] for name in ("people", "classes", "uniques", "k", "largest_class")]
        summed = [sum(size * count for size, count in sizes.items()), sum(sizes.values()), sizes.get(1, 0)]
        if told != [*summed, min(sizes), max(sizes)]:
            yield f"totals {told} of the classes {sizes}"
        if abs(plain["correctness"] * plain["people"] - plain["classes"]) > 1e-6 * plain["classes"]:
            yield "correctness is not the share of classes"
    if "suppressed_rows" in plain and sum(s * c for s, c in zip(*_class_sizes(plain), strict=True)) != plain["rows"]:
        yield "the classes of a protected table are not its rows"
    for name in ("correctness", "uniqueness"):
        values = plain.get(name)
        if isinstance(values, list) and "sizes" in plain and sorted(plain["sizes"]) == plain["sizes"]:
            yield from (f"{name} rises to {after}" for before, after in pairwise(values) if after > before + 1e-12)


def _class_sizes(plain):
    return plain["classes"]["sizes"], plain["classes"]["counts"]


def relations_broken(rng):
    """What answers to two questions say that cannot both be: larger crowds hide better, larger leaks tell more."""
    sizes = ClassSizes.from_sizes([rng.choice([1, 1, 2, 3, 5, 40]) for _ in range(rng.randrange(2, 30))])
    fewer, more = sorted(rng.sample(range(1, sizes.people + 2), 2))
    more = min(more, sizes.people)
    small, large = (leak_risk(sizes, leaked).probability for leaked in (fewer, more))
    if small > large * (1 + 1e-12):
        yield f"a leak of {fewer} tells more than one of {more}"
    targets = rng.randrange(1, 4)
    both = [leak_risk(sizes, more, targets=number).probability for number in (targets, targets + 1) if number <= more]
    if any(after > before * (1 + 1e-12) for before, after in pairwise(both)):
        yield f"{targets + 1} targets are named more often than {targets}"
    curve = correctness_curve(sizes, sorted({1, fewer, more})).to_dict()
    yield from _sums_broken(curve)
    crowds = sorted(sizes.people * rng.choice([1, 2, 10, 1_000, 10**6]) for _ in range(2))
    kappa = [population_risk(sizes, population=people).to_dict() for people in crowds]
    if kappa[1]["overall"] > kappa[0]["overall"] * (1 + 1e-9):
        yield f"kappa rises from {crowds[0]} to {crowds[1]} people"
    unique = [found["still_unique"] or 0.0 for found in kappa]  # None where nobody is unique in the sample
    if unique[1] > unique[0] * (1 + 1e-9) + 1e-12:
        yield f"uniqueness rises from {crowds[0]} to {crowds[1]} people"


@pytest.mark.parametrize("part", range(4))
def test_answers_to_two_questions_agree(part):
    seed = random.randrange(10**9) if "INCROWD_CALLS" in os.environ else part
    for number in range(CALLS // 100):  # six or seven calls each
        broken = list(relations_broken(random.Random(f"{seed} {part} {number}")))
        assert broken == [], f"random.Random('{seed} {part} {number}')"


@pytest.mark.parametrize("part", range(8))
def test_random_calls_are_answered_by_the_rules_or_refused_in_words(part):
    seed = random.randrange(10**9) if "INCROWD_CALLS" in os.environ else part
    for number in range(CALLS // 8):
        rng = random.Random(f"{seed} {part} {number}")
        started = time.process_time()
        try:
            found = call(rng)
        except IncrowdError:
            continue
        except Exception as error:
            raise AssertionError(f"random.Random('{seed} {part} {number}'): {type(error).__name__}: {error}") from error
        assert rules_broken(found) == [], f"random.Random('{seed} {part} {number}')"
        assert time.process_time() - started < SECONDS, f"random.Random('{seed} {part} {number}')"
