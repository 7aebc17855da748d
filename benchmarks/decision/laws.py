"""Relations between kept and known columns, each with its law: P(kept | known) can be drawn from and computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Known = pd.DataFrame
Function = Callable[[Known], NDArray[Any]]
IMPOSSIBLE = -60.0  # log probability of what a law excludes (not -inf: a row must keep some posterior)
_FILL = ("came for a check", "no complaints today", "to be seen again", "pain in the left knee", "tired, sleeps badly")
RATES = np.random.default_rng(7).permutation(np.round(0.01 + 0.001 * np.arange(40), 4))


@dataclass(frozen=True, slots=True)
class Family:
    """One relation: `sample` draws the kept columns, `loglik` gives their log probability, pair by pair."""

    name: str
    noise: str
    sample: Callable[[Known, np.random.Generator], dict[str, Any]]
    loglik: Callable[[pd.DataFrame, Known], Any]


def adults(people: int, seed: int = 0) -> Known:
    """Age, sex, one of 40 regions (Zipf), height in cm."""
    rng = np.random.default_rng(seed)
    is_younger = rng.random(people) < 0.7
    age = np.where(is_younger, rng.normal(42, 14, people), rng.normal(68, 10, people)).round()
    sex = rng.choice(["f", "m"], people)
    weights = 1 / np.arange(1, 41) ** 0.8
    region = rng.choice(40, people, p=weights / weights.sum())
    height = np.clip(rng.normal(np.where(sex == "m", 178, 165), 7).round(), 140, 205).astype(int)
    regions = [f"R{number:02d}" for number in region]
    return pd.DataFrame(
        {"age": np.clip(age, 18, 95).astype(int), "sex": sex, "region": regions, "height": height},
    )


def make(family: Family, people: int, seed: int = 0) -> tuple[Known, pd.DataFrame]:
    """The known and the kept columns of one table: those of the relation, and two that tell nothing."""
    known, rng = adults(people, seed), np.random.default_rng(seed + 1000)
    kept = pd.DataFrame(family.sample(known, rng))
    kept["visits"], kept["illness"] = rng.poisson(3, people), rng.choice(list("abcdefgh"), people)
    return known, kept


def _age(known: Known) -> NDArray[Any]:
    return known["age"].to_numpy()


def _height(known: Known) -> NDArray[Any]:
    return known["height"].to_numpy()


def _rate(known: Known) -> NDArray[Any]:
    return 1000 * RATES[known["region"].str[1:].astype(int).to_numpy()]


def log_normal(residual: Any, spread: float) -> Numbers:
    """Log density of an error; without spread, whether there is none."""
    error = np.asarray(residual, float)
    if spread == 0:
        return np.where(np.abs(error) < 1e-6, 0.0, IMPOSSIBLE)
    return np.maximum(-0.5 * (error / spread) ** 2, IMPOSSIBLE)


def noisy(name: str, function: Function, spread: float) -> Family:
    """y = f(known) + N(0, spread)."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        error = rng.normal(0, spread, len(known)) if spread else 0
        return {"y": np.round(function(known) + error, 2)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        return log_normal(kept["y"].to_numpy() - np.round(function(known), 2), spread)

    return Family(name, f"sd {spread:g}", sample, loglik)


def _equal(name: str, function: Function, share: float) -> Family:
    """y = f(known) for a share of the rows, that of another person for the rest."""
    frequency: dict[Any, float] = {}

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        own = function(known)
        values, counts = np.unique(own, return_counts=True)
        frequency.clear()
        frequency.update(zip(values.tolist(), (counts / len(own)).tolist(), strict=True))
        is_own = rng.random(len(known)) < share
        return {"y": np.where(is_own, own, own[rng.permutation(len(known))])}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        is_own = kept["y"].to_numpy() == function(known)
        by_chance = kept["y"].map(frequency).to_numpy(float)
        return np.asarray(np.log(np.maximum(share * is_own + (1 - share) * by_chance, 1e-26)), float)

    return Family(name, f"{share:.0%} hold", sample, loglik)


def _noted(name: str, share: float) -> Family:
    """A note that says the age in a share of the rows, and nothing in the rest."""

    def said(known: Known) -> NDArray[Any]:
        return np.array([f"{age} years old," for age in _age(known)])

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        words = np.where(rng.random(len(known)) < share, said(known), "")
        fills = zip(words, rng.choice(_FILL, len(known)), rng.choice(_FILL, len(known)), strict=True)
        return {"note": [f"{word} {before}, {after}".strip() for word, before, after in fills]}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        pairs = zip(kept["note"], said(known), strict=True)
        says_own = np.array([note.startswith(f"{own} ") for note, own in pairs])
        says_nothing = kept["note"].str.startswith(_FILL).to_numpy() & (share < 1)
        silent = np.where(says_nothing, np.log(max(1 - share, 1e-26)), IMPOSSIBLE)
        return np.where(says_own, np.log(share), silent)

    return Family(name, f"{share:.0%} say", sample, loglik)


def _asked(name: str, is_asked: Function, refused: float) -> Family:
    """A question that only some are asked, and some of them refuse."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        answers = is_asked(known) & (rng.random(len(known)) >= refused)
        return {"y": np.where(answers, rng.integers(1, 6, len(known)).astype(float), np.nan)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        has, asked = kept["y"].notna().to_numpy(), is_asked(known)
        missing = np.log(refused) if refused else IMPOSSIBLE
        return np.where(asked, np.where(has, np.log(1 - refused), missing), np.where(has, IMPOSSIBLE, 0.0))

    return Family(name, f"{refused:.0%} refuse", sample, loglik)


def _body_mass(spread: float) -> Family:
    """A weight and the body mass index, whose second input is the height."""

    def index(weight: Any, known: Known) -> Any:
        return weight / (_height(known) / 100) ** 2

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        weight = np.round(rng.normal(0.9 * _height(known) - 75, 12).clip(40), 2)
        error = 1 + rng.normal(0, spread, len(known)) if spread else 1
        return {"input": weight, "y": np.round(index(weight, known) * error, 1)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        exact = index(kept["input"].to_numpy(), known)
        if spread == 0:
            return log_normal(kept["y"].to_numpy() - np.round(exact, 1), 0)
        scale = np.hypot(spread * exact, 0.029)
        log: Numbers = -0.5 * ((kept["y"].to_numpy() - exact) / scale) ** 2 - np.log(scale)
        return np.maximum(log, IMPOSSIBLE)

    return Family("BMI", f"sd {spread:.0%}", sample, loglik)


def _years_since(offset: int, broken: float) -> Family:
    """Years of something that began after an age: 0 to age - offset, but for a share of errors."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        most = _age(known) - offset
        is_error = rng.random(len(known)) < broken
        return {
            "y": np.where(is_error, rng.integers(0, 80, len(known)), (rng.random(len(known)) * (most + 1)).astype(int))
        }

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        most = _age(known) - offset
        in_order = (kept["y"].to_numpy() <= most) / (most + 1)
        return np.asarray(np.log(np.maximum((1 - broken) * in_order + broken / 80, 1e-26)), float)

    return Family(f"order, offset {offset}", f"{broken:.0%} break", sample, loglik)


def _sum_of_three(spread: float) -> Family:
    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        first, second = rng.integers(0, 2000, (2, len(known)))
        error = rng.normal(0, spread, len(known)) if spread else 0
        return {"a": first, "b": second, "c": np.round(10 * _age(known) + 3000 - first - second + error)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        total = (kept["a"] + kept["b"] + kept["c"]).to_numpy()
        return log_normal(total - 3000 - 10 * _age(known), spread)

    return Family("sum of 3", f"sd {spread / 10:g} years", sample, loglik)


def _items(columns: int, spread: float) -> Family:
    """Many columns, each weakly correlated with the age."""
    names = [f"item{number}" for number in range(columns)]

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {name: np.round(_age(known) + rng.normal(0, spread, len(known))) for name in names}

    def loglik(kept: pd.DataFrame, known: Known) -> Any:
        return sum(log_normal(kept[name].to_numpy() - _age(known), spread) for name in names)

    return Family(f"{columns} items", f"sd {spread:g} each", sample, loglik)


def _income() -> Family:
    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {"y": np.round(np.exp(9.5 + 0.01 * _age(known) + rng.normal(0, 0.6, len(known))), -2)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        return log_normal(np.log(np.maximum(kept["y"].to_numpy(), 1)) - 9.5 - 0.01 * _age(known), 0.6)

    return Family("income", "r 0.27 with age", sample, loglik)


def _education() -> Family:
    levels = np.array(["low", "middle", "high"])

    def shares(known: Known) -> Numbers:
        low = 1 / (1 + np.exp(-(_age(known) - 60) / 15))
        return np.stack([0.4 * low + 0.1, np.full(len(known), 0.4), 0.5 - 0.4 * low])

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        reached = rng.random(len(known)) > np.cumsum(shares(known), axis=0)
        return {"y": levels[reached.sum(axis=0).clip(0, 2)]}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        code = kept["y"].map({"low": 0, "middle": 1, "high": 2}).to_numpy()
        return np.log(shares(known)[code, np.arange(len(known))])

    return Family("education", "shares by age", sample, loglik)


def families() -> list[Family]:
    """All relations; the last three tell nothing, or next to nothing."""
    return [
        *(noisy("linear", _age, spread) for spread in (0, 1, 3)),
        noisy("linear in 2", lambda known: 2 * _age(known) + _height(known), 1),
        *(_equal("partly equal", lambda known: 2024 - _age(known), share) for share in (0.94, 0.5)),
        _years_since(14, 0),
        *(_body_mass(spread) for spread in (0, 0.01)),
        *(noisy("region's rate", _rate, spread) for spread in (0, 1)),
        *(_asked("asked from 65", lambda known: _age(known) >= 65, refused) for refused in (0, 0.15)),
        *(_sum_of_three(spread) for spread in (0, 30)),
        _items(20, 5),
        *(_noted("note with the age", share) for share in (1.0, 0.2)),
        noisy("independent", lambda known: np.zeros(len(known)), 1),
        _income(),
        _education(),
    ]
