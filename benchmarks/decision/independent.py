"""Tables whose kept columns are drawn independently of the known ones: no attacker can gain anything from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.decision.laws import adults

_NOTES = (
    "no complaints",
    "seen again in 6 weeks",
    "room 12, left",
    "3 tablets a day",
    "blood pressure 120/80",
    "tired",
)
Draw = Callable[[np.random.Generator, int], NDArray[Any]]


def make_independent(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Known columns and two to ten kept ones of random kinds, one of them secret."""
    rng = np.random.default_rng([seed, 2])
    people = int(rng.choice([800, 1_500, 3_000, 5_000]))
    known = adults(people, seed + 500)
    if seed % 3 == 1:
        known["born"] = _days(rng, people)
        known = known.drop(columns=["age"])
    if seed % 3 == 2:
        known["size"] = rng.integers(1, 7, people)
    kinds = rng.choice(list(_KINDS), int(rng.integers(2, 11)))
    kept = pd.DataFrame({f"{kind} {place}": _KINDS[kind](rng, people) for place, kind in enumerate(kinds)})
    kept["illness"] = rng.choice(list("abcdefgh"), people)
    return known, kept


def _days(rng: np.random.Generator, people: int) -> NDArray[Any]:
    return np.datetime64("1950-01-01") + rng.integers(0, 20_000, people).astype("timedelta64[D]")


def _amounts(rng: np.random.Generator, people: int) -> NDArray[Any]:
    return np.round(rng.lognormal(rng.uniform(2, 9), 1, people), int(rng.integers(-2, 3)))


def _answers(rng: np.random.Generator, people: int) -> NDArray[Any]:
    is_missing = rng.random(people) < rng.uniform(0, 0.6)
    return np.where(is_missing, np.nan, rng.integers(1, 8, people).astype(float))


def _texts(rng: np.random.Generator, people: int) -> NDArray[Any]:
    pairs = zip(rng.choice(_NOTES, people), rng.choice(_NOTES, people), strict=True)
    return np.array([f"{before}; {after}" for before, after in pairs])


def _codes(rng: np.random.Generator, people: int) -> NDArray[Any]:
    parts = zip(rng.choice(list("ABCDEFGH"), people), rng.integers(0, 100, people), strict=True)
    return np.array([f"{letter}{number:02d}" for letter, number in parts])


def _skewed(rng: np.random.Generator, people: int) -> NDArray[Any]:
    weights = 1 / np.arange(1, 31) ** 1.3
    return np.array([f"s{place}" for place in rng.choice(30, people, p=weights / weights.sum())])


_KINDS: dict[str, Draw] = {
    "normal": lambda rng, people: np.round(rng.normal(rng.uniform(-50, 500), rng.uniform(1, 80), people), 1),
    "amount": _amounts,
    "count": lambda rng, people: rng.poisson(rng.uniform(0.2, 30), people),
    "choice": lambda rng, people: rng.choice([f"c{place}" for place in range(int(rng.integers(2, 60)))], people),
    "skewed": _skewed,
    "date": _days,
    "answer": _answers,
    "note": _texts,
    "code": _codes,
    "flag": lambda rng, people: rng.random(people) < rng.uniform(0.01, 0.5),
    "weight": lambda rng, people: np.round(np.exp(rng.normal(5, 0.4, people)), 3),
}
