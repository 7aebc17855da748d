"""Boosted trees, as every learner of the attacks uses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.special import Floats

if TYPE_CHECKING:
    from lightgbm import Booster

_SETTINGS: Mapping[str, Any] = {
    "num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 15, "verbose": -1, "num_threads": 1, "seed": 1,
    "deterministic": True, "force_row_wise": True, "cat_smooth": 5, "min_data_per_group": 10, "max_bin": 63,
}  # fmt: skip


def fit_trees(inputs: Floats, output: Floats, *, rounds: int = 40, categories: Sequence[int] = (), **settings: Any) -> Booster:
    import lightgbm

    chosen = {"objective": "regression", **_SETTINGS, **settings}
    data = lightgbm.Dataset(inputs, output, params=chosen, categorical_feature=list(categories), free_raw_data=True)
    return lightgbm.train(chosen, data, rounds)


def predict(model: Booster, inputs: Floats) -> Floats:
    return np.asarray(model.predict(inputs, raw_score=True, num_threads=1), dtype=np.float64)
