"""Boosted trees, in the one way in which attacks learn from other people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import UnsupportedError
from incrowd.special import Floats

if TYPE_CHECKING:
    from lightgbm import Booster

_SETTINGS: Mapping[str, Any] = {
    "num_leaves": 15,
    "learning_rate": 0.1,
    "min_data_in_leaf": 15,
    "max_bin": 63,
    "cat_smooth": 5,
    "min_data_per_group": 10,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


def fit_trees(
    inputs: NDArray[Any], output: NDArray[Any], *, rounds: int = 40, categories: Sequence[int] = (), **settings: Any
) -> Booster:
    """Fit trees to an output; `categories` are the inputs that are codes without an order."""
    try:
        import lightgbm
    except OSError as error:
        raise UnsupportedError(f"attacks learn by LightGBM, which needs a library of the system: {error}") from None
    chosen = {"objective": "regression", **_SETTINGS, **settings}
    data = lightgbm.Dataset(inputs, output, params=chosen, categorical_feature=list(categories))
    return lightgbm.train(chosen, data, rounds)


def predict(model: Booster, inputs: NDArray[Any], *, raw: bool = True) -> Floats:
    """Predictions; those of classes are scores if `raw`, and probabilities otherwise."""
    return np.asarray(model.predict(inputs, raw_score=raw, num_threads=1), dtype=np.float64)


def gains(model: Booster) -> Floats:
    """How much each input explains."""
    return np.asarray(model.feature_importance("gain"), dtype=np.float64)
