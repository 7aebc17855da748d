"""More relations with a known law, of kinds for which no feature was made: `families --laws further_laws.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.decision.laws import IMPOSSIBLE, RATES, Family, Function, Known, Numbers, log_normal, make, noisy

__all__ = ["families", "make"]

_TODAY = np.datetime64("2024-07-01")
_DIGITS = np.random.default_rng(11).permutation(200)
_CELLS = np.random.default_rng(12).normal(0, 1, (40, 2))


def _age(known: Known) -> NDArray[Any]:
    return known["age"].to_numpy()


def _height(known: Known) -> NDArray[Any]:
    return known["height"].to_numpy()


def _region(known: Known) -> NDArray[Any]:
    return known["region"].str[1:].astype(int).to_numpy()


def _is_man(known: Known) -> NDArray[Any]:
    return (known["sex"] == "m").to_numpy()


def _texts(name: str, function: Callable[[Known], Any], share: float = 1.0) -> Family:
    """A text of the known columns, that of another person for the other rows."""
    frequency: dict[str, float] = {}

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        own = pd.Series(function(known)).astype(str)
        frequency.clear()
        values, counts = np.unique(own, return_counts=True)
        frequency.update(zip(values.tolist(), (counts / len(own)).tolist(), strict=True))
        is_own = rng.random(len(known)) < share
        return {"text": np.where(is_own, own, own.to_numpy()[rng.permutation(len(known))])}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        own = pd.Series(function(known)).astype(str).to_numpy()
        is_own = (kept["text"].to_numpy() == own).astype(float)
        usual = kept["text"].map(frequency).to_numpy(float)
        return np.asarray(np.log(np.maximum(share * is_own + (1 - share) * usual, 1e-26)), float)

    return Family(name, f"{share:.0%} hold", sample, loglik)


def _bounded(name: str, least: Function, width: float, *, digits: int = 0) -> Family:
    """y is uniform between a function of the known columns and this plus a width."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {"y": np.round(least(known) + rng.random(len(known)) * width, digits)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        offset = kept["y"].to_numpy() - least(known)
        slack = 0.5 * 10.0**-digits
        return np.where((offset >= -slack) & (offset <= width + slack), 0.0, IMPOSSIBLE)

    return Family(name, f"within {width:g}", sample, loglik)


def _flags(name: str, chance: Callable[[Known, int], NDArray[Any]], columns: int) -> Family:
    """Many flags that depend weakly on the known columns."""
    names = [f"flag{number}" for number in range(columns)]

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {flag: rng.random(len(known)) < chance(known, place) for place, flag in enumerate(names)}

    def loglik(kept: pd.DataFrame, known: Known) -> Any:
        parts = []
        for place, flag in enumerate(names):
            probability = chance(known, place)
            parts.append(np.log(np.where(kept[flag].to_numpy(), probability, 1 - probability)))
        return np.sum(parts, axis=0)

    return Family(name, f"{columns} columns", sample, loglik)


def _formula(name: str, inputs: int, function: Callable[..., Any], spread: float, digits: int = 2) -> Family:
    """Some free columns, and one that follows from them and from the known columns."""
    names = [f"x{number}" for number in range(inputs)]

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        free = {column: np.round(rng.uniform(10, 1000, len(known)), 1) for column in names}
        exact = function(known, *free.values())
        return free | {"y": np.round(exact + (rng.normal(0, spread, len(known)) if spread else 0), digits)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        exact = function(known, *(kept[column].to_numpy() for column in names))
        return log_normal(kept["y"].to_numpy() - (np.round(exact, digits) if spread == 0 else exact), spread)

    return Family(name, f"sd {spread:g}", sample, loglik)


def _missing(name: str, chance: Function) -> Family:
    """A column whose cells are missing with a chance that depends on the known columns."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        answers = rng.integers(1, 6, len(known)).astype(float)
        return {"y": np.where(rng.random(len(known)) < chance(known), np.nan, answers)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        probability = np.clip(chance(known), 1e-9, 1 - 1e-9)
        return np.asarray(np.log(np.where(kept["y"].isna(), probability, 1 - probability)), float)

    return Family(name, "by chance", sample, loglik)


def _dates(name: str, *, as_text: bool, days: int = 365) -> Family:
    """A date of birth: a day of the year in which somebody of this age was born, or of the years around it."""

    def first(known: Known) -> NDArray[Any]:
        return _TODAY - ((_age(known) + 1) * 365.25).astype(int).astype("timedelta64[D]")

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        born = first(known) + rng.integers(0, days, len(known)).astype("timedelta64[D]")
        texts = pd.Series(born.astype("datetime64[ns]")).dt.strftime("born %d.%m.%Y")
        return {"born": texts.to_numpy() if as_text else born.astype("datetime64[ns]")}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        texts = kept["born"].str.slice(5) if as_text else kept["born"]
        born = pd.to_datetime(texts, format="%d.%m.%Y") if as_text else texts
        offset = (born.to_numpy().astype("datetime64[D]") - first(known)).astype(int)
        return np.where((offset >= 0) & (offset < days), 0.0, IMPOSSIBLE)

    return Family(name, f"{days} days", sample, loglik)


def _between_dates(spread: int) -> Family:
    """Two dates whose distance is the age."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        entry = np.datetime64("1990-01-01") + rng.integers(0, 12_000, len(known)).astype("timedelta64[D]")
        days = _age(known) * 365 + rng.integers(0, spread, len(known))
        return {
            "entry": entry.astype("datetime64[ns]"),
            "born": (entry - days.astype("timedelta64[D]")).astype("datetime64[ns]"),
        }

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        days = (kept["entry"] - kept["born"]).dt.days.to_numpy() - 365 * _age(known)
        return np.where((days >= 0) & (days < spread), 0.0, IMPOSSIBLE)

    return Family("between dates", f"{spread} days", sample, loglik)


def _heavy_tails(spread: float) -> Family:
    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {"y": np.round(_age(known) + spread * rng.standard_cauchy(len(known)), 1)}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        return np.asarray(-np.log1p(((kept["y"].to_numpy() - _age(known)) / spread) ** 2), float)

    return Family("Cauchy errors", f"scale {spread:g}", sample, loglik)


def _factor(spread: float) -> Family:
    """y is the age times a random factor."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {"y": np.round(1000 * _age(known) * np.exp(rng.normal(0, spread, len(known))))}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        return log_normal(np.log(kept["y"].to_numpy()) - np.log(1000 * _age(known)), spread)

    return Family("age times a factor", f"sd {spread:.0%}", sample, loglik)


def _counts() -> Family:
    """A number of events whose expectation depends on the region."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        return {"events": rng.poisson(1000 * RATES[_region(known)])}

    def loglik(kept: pd.DataFrame, known: Known) -> Numbers:
        expected = 1000 * RATES[_region(known)]
        return np.asarray(kept["events"].to_numpy() * np.log(expected) - expected, float)

    return Family("counts by region", "Poisson", sample, loglik)


def _least_of_two(spread: float) -> Family:
    """Two columns, each the age plus a waiting time."""

    def sample(known: Known, rng: np.random.Generator) -> dict[str, Any]:
        waits = rng.exponential(spread, (2, len(known)))
        return {f"y{place}": np.round(_age(known) + wait) for place, wait in enumerate(waits)}

    def loglik(kept: pd.DataFrame, known: Known) -> Any:
        waits = [kept[f"y{place}"].to_numpy() - _age(known) for place in range(2)]
        return np.sum([np.where(wait >= 0, -wait / spread, IMPOSSIBLE) for wait in waits], axis=0)

    return Family("least of two", f"mean {spread:g}", sample, loglik)


def _hashed(known: Known) -> NDArray[Any]:
    rows = known[["age", "sex", "region"]].astype(str).agg("|".join, axis=1)
    return np.array([int(hashlib.md5(row.encode()).hexdigest()[:6], 16) for row in rows])


def _decade(known: Known) -> NDArray[Any]:
    names = np.array(["ten", "twen", "thir", "for", "fif", "six", "seven", "eigh", "nine"])
    return np.array([f"a person in the {name}ties" for name in names[np.minimum(_age(known) // 10 - 1, 8)]])


def _survey_weight(known: Known) -> NDArray[Any]:
    people = 1000 / (1 + _region(known)) ** 0.8 + 17 * _is_man(known)
    return np.asarray(1e5 / people)


def families() -> list[Family]:
    """Relations of one known column, of two and more, of texts and dates; hashes and modulo of three; harmless ones."""
    return [
        noisy("square", lambda known: (_age(known) - 50.0) ** 2, 0),
        noisy("square", lambda known: (_age(known) - 50.0) ** 2, 20),
        noisy("sine", lambda known: 100 * np.sin(_age(known) / 5), 5),
        noisy("last digit", lambda known: _age(known) % 10, 0),
        noisy("last digit", lambda known: _age(known) % 10, 0.7),
        noisy("modulo 50 of two", lambda known: (_age(known) + _height(known)) % 50, 0),
        noisy("modulo 97 of three", lambda known: (_age(known) * 7 + _height(known) + 13 * _region(known)) % 97, 0),
        noisy("hash of three", _hashed, 0),
        noisy("hash of one", lambda known: _DIGITS[_age(known)], 0),
        noisy("odd or even by sex", lambda known: (_age(known) % 2) ^ _is_man(known), 0),
        noisy("age or height", lambda known: np.where(_is_man(known), _age(known), _height(known)), 1),
        noisy("table of two", lambda known: 100 * _CELLS[_region(known), _is_man(known).astype(int)], 5),
        noisy("inches", lambda known: np.round(_height(known) / 2.54), 0),
        noisy("shoe size", lambda known: 0.23 * _height(known), 1),
        noisy("threes of years", lambda known: _age(known) // 3, 0),
        noisy("step of two", lambda known: 50 * ((_age(known) > 60) & (_height(known) > 170)), 0),
        noisy("score by sex", lambda known: (_height(known) - np.where(_is_man(known), 178, 165)) / 7, 0.1),
        noisy("difference", lambda known: np.abs(_age(known) - _height(known) / 3), 0.5),
        noisy("product of two", lambda known: _age(known) * _height(known), 20),
        noisy("survey weight", _survey_weight, 0),
        noisy("rate and age", lambda known: 1000 * RATES[_region(known)] + 2 * _age(known), 1),
        _bounded("heart rate", lambda known: 200.0 - _age(known), 10),
        _bounded("end of school", lambda known: 2024.0 - _age(known) + 16, 4),
        _bounded("at least the height", lambda known: 3.0 * _height(known), 60),
        _factor(0.02),
        _factor(0.1),
        _heavy_tails(0.5),
        _counts(),
        _least_of_two(5),
        _missing("missing by age", lambda known: 1 / (1 + np.exp(-(_age(known) - 60) / 3))),
        _missing("missing by region", lambda known: np.where(_region(known) % 4 == 0, 0.95, 0.02)),
        _flags("flags by age", lambda known, place: 0.1 + 0.8 / (1 + np.exp(-(_age(known) - 20 - 2 * place) / 8)), 36),
        _flags("flags by region", lambda known, place: np.where((_region(known) * (place + 3)) % 7 < 2, 0.8, 0.2), 24),
        _formula("metabolic rate", 1, lambda known, x: 10 * x + 6.25 * _height(known) - 5 * _age(known), 0),
        _formula("metabolic rate", 1, lambda known, x: 10 * x + 6.25 * _height(known) - 5 * _age(known), 10),
        _formula("filtration rate", 1, lambda known, x: 1e5 * x**-1.1 * 0.993 ** _age(known), 0),
        _formula("product", 1, lambda known, x: x * _age(known), 0),
        _formula("quotient", 1, lambda known, x: 100 * x / _age(known), 0),
        _formula("tax by region", 1, lambda known, x: x * (1 + RATES[_region(known)]), 0),
        _formula("sum of six", 5, lambda known, *x: 3 * _height(known) - sum(x), 0),
        _formula("product of three", 2, lambda known, x, y: x * y * _age(known), 0, digits=0),
        _dates("date of birth", as_text=False),
        _dates("date of birth in a text", as_text=True),
        _dates("date of birth, 8 years around", as_text=False, days=2920),
        _between_dates(365),
        _texts("decade in words", _decade),
        _texts("keys in a text", lambda known: "a=" + known["age"].astype(str) + ";r=" + known["region"], 0.9),
        _texts("code of the region", lambda known: known["region"].map(lambda name: f"{hash_of(name):06x}")),
        _texts("code of age and sex", lambda known: (known["age"].astype(str) + known["sex"]).map(hash_of)),
        _texts("postal code", lambda known: (100 * _region(known) + 10_000 + _age(known) % 7).astype(int), 0.8),
        _texts("long text", lambda known: pd.Series(["x" * age for age in _age(known)])),
        noisy("harmless: height and noise", lambda known: 0.1 * _height(known), 20),
        noisy("harmless: sex", lambda known: 2 * _is_man(known), 3),
        _flags("harmless: flags", lambda known, place: np.full(len(known), 0.1 + 0.02 * place), 20),
    ]


def hash_of(text: str) -> int:
    """A short number of a text that says nothing of it."""
    return int(hashlib.md5(text.encode()).hexdigest()[:6], 16)
