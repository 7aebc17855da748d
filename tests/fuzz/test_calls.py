"""Random calls of the library: every answer keeps its own rules, and every refusal is one in words."""

import json
import math
import os
import random

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
CALLS = int(os.environ.get("INCROWD_CALLS", "400"))


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
    return [*([] if again == plain else ["JSON does not say the same"]), *_broken(plain, "")]


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
    value, low, high = (part.get(name) for name in ("value", "low", "high"))
    triples = (
        zip(value, low, high, strict=True)
        if isinstance(value, list) and isinstance(low, list)
        else [(value, low, high)]
    )
    for one, least, most in triples:
        if None not in (one, least, most) and not least <= one <= most:
            yield f"{place}: {one} is not in [{least}, {most}]"


@pytest.mark.parametrize("part", range(8))
def test_random_calls_are_answered_by_the_rules_or_refused_in_words(part):
    seed = part if "CI" in os.environ else random.randrange(10**9)
    for number in range(CALLS // 8):
        rng = random.Random(f"{seed} {part} {number}")
        try:
            found = call(rng)
        except IncrowdError:
            continue
        except Exception as error:
            raise AssertionError(f"random.Random('{seed} {part} {number}'): {type(error).__name__}: {error}") from error
        assert rules_broken(found) == [], f"random.Random('{seed} {part} {number}')"
