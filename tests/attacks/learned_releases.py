"""Releases with a known truth for the learned attack: ages in classes of neighbours, and kept columns of a law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from incrowd.attacks.learned_result import LearnedAttack
from incrowd.attacks.learned_tables import attack_release_by_learning
from incrowd.tables import read_table

K = 11


def people_of(size: int, seed: int = 0) -> pd.DataFrame:
    """Ages and regions."""
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 6, size)
    return pd.DataFrame({"age": rng.integers(18, 95, size), "region": [f"R{number}" for number in region]})


def classes_of(known: pd.DataFrame, k: int = K) -> np.ndarray:
    """Neighbours by age within each region, at least k of them."""
    order = known.sort_values([*known.columns[1:], "age"], kind="stable").index.to_numpy()
    number = np.empty(len(known), dtype=int)
    start = 0
    for _, members in known.loc[order].groupby([*known.columns[1:]], sort=False):
        count = max(1, len(members) // k)
        number[members.index] = start + np.minimum(np.arange(len(members)) // k, count - 1)
        start += count
    return number


def released(known: pd.DataFrame, classes: np.ndarray) -> pd.DataFrame:
    """Ages as ranges of their class; the other known columns as they are."""
    ages = known["age"].groupby(classes)
    low, high = ages.transform("min"), ages.transform("max")
    return known.assign(age=[f"[{least};{most}]" for least, most in zip(low, high, strict=True)])


def attacked(
    known: pd.DataFrame, kept: dict[str, Any], *, left_out: dict[str, Any] | None = None, k: int = K, **options: Any
) -> LearnedAttack:
    """Attack the release of known and kept columns."""
    others = pd.DataFrame(kept, index=known.index)
    original = pd.concat([known, others, pd.DataFrame(left_out or {}, index=known.index)], axis=1)
    release = pd.concat([released(known, classes_of(known, k)), others], axis=1)
    options = {"rows": np.arange(len(known)), "shuffled": True, **options}
    return attack_release_by_learning(
        read_table(original), read_table(release), known=known.columns.tolist(), **options
    )
