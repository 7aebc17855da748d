"""How well a released row goes with a person: what kept columns say of the exact values that the person is known by.

For a person i with known values q_i and a row j with kept columns x_j, every feature says how much better x_j goes with
q_i than with anybody. All are learned from other people:

- residuals: each kept column explained by known columns and the other kept ones, and each coarsened known number
  explained by the kept columns; first linear in values and logarithms, then trees. Such a residual is the difference of
  a row's part and a person's part, so that pairs cost nothing.
- counts: log P(x_j | q_i) / P(x_j) for values of one or two known columns, without the two people of the pair.
- mentions: whether a text of the row has a word or number of what is known of the person.

See docs/dev/maths.md on learned posteriors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.columns_as_numbers import MOST_CODES, Codes, Feature, bin_codes, count_codes, numbers_of
from incrowd.attacks.trees import fit_trees, predict
from incrowd.backends import Coded
from incrowd.special import Floats

MOST_FITTED = 8_000  # rows that one model is fitted on
MOST_MODELS = 24  # features that are explained
MOST_RESIDUALS = 12  # of them, those that are kept
MOST_COUNTED = 24  # features that are counted by each coarsened column
_CATEGORIES = 40  # most frequent values of a known column that have an effect of their own
_SKILL = 0.005  # least share of a residual's variance that a person's own values must explain
_PRIOR = 3.0  # weight of the overall shares of values where they are counted within one value of a known column
_RIDGE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class KnownColumn:
    """What an attacker knows exactly: one value for every row; `values` is None for texts."""

    name: str
    values: Floats | None
    codes: Codes
    is_coarse: bool

    @classmethod
    def of(cls, column: Coded, rows: NDArray[Any], *, is_coarse: bool) -> KnownColumn:
        """A known column of the original, in the order of the released rows."""
        numbers = numbers_of(column.values)
        codes = column.codes[rows]
        values = None if numbers is None else numbers[codes]
        return cls(column.name, values, codes.astype(np.int64), is_coarse)

    @property
    def counted(self) -> Codes:
        """Codes for counting."""
        if self.values is not None and np.unique(self.codes).size > MOST_CODES:
            return bin_codes(self.values, 60)
        return count_codes(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """One feature of pairs of a person and a row, and the kept columns that it is made of."""

    name: str
    columns: tuple[str, ...]
    of_pairs: Any  # callable (people, rows) -> numbers


def _design(values: Floats) -> Iterator[Floats]:
    """A number as inputs of a linear model: its value, and its logarithm if it is positive and far from even."""
    filled = np.isfinite(values)
    mean = values[filled].mean() if filled.any() else 0.0
    yield np.where(filled, values, mean)
    if filled.any() and values[filled].min() > 0:
        logs = np.log(np.where(filled, values, 1.0))
        yield np.where(filled, logs, logs[filled].mean())


def _standardised(columns: Sequence[Floats]) -> Floats:
    table = np.column_stack(columns)
    table -= table.mean(axis=0)
    spread = table.std(axis=0)
    return table / np.where(spread > 0, spread, 1.0)


class _LinearModels:
    """Least squares of any column by any others, from one table of cross products for each fold."""

    def __init__(self, table: Floats, fitted: NDArray[np.int64]) -> None:
        self.table = table
        self.products = table[fitted].T @ table[fitted] / fitted.size

    def weights(self, inputs: NDArray[np.int64], output: int) -> Floats:
        products = self.products
        gram = products[np.ix_(inputs, inputs)]
        ridged = gram + _RIDGE * np.eye(inputs.size)
        wanted = products[inputs, output]
        weights = np.linalg.solve(ridged, wanted)
        return weights + np.linalg.solve(ridged, wanted - gram @ weights)  # one refinement takes the ridge back


def residual_likenesses(known: Sequence[KnownColumn], features: Sequence[Feature], fitted: NDArray[np.int64]) -> Iterator[Likeness]:
    """Residuals of kept columns by known ones, and of coarsened numbers by kept columns, fitted on some rows."""
    rows = fitted[:MOST_FITTED]
    parts: list[Floats] = []
    of_known: dict[str, list[int]] = {}
    of_feature: dict[int, list[int]] = {}
    for column in known:
        if column.values is not None:
            inputs = list(_design(column.values))
        else:
            tops = np.argsort(-np.bincount(column.codes), kind="stable")[:_CATEGORIES]
            inputs = [(column.codes == top).astype(float) for top in tops]
        of_known[column.name] = list(range(len(parts), len(parts) + len(inputs)))
        parts += inputs
    for place, feature in enumerate(features):
        if np.isfinite(feature.values).any():
            inputs = list(_design(feature.values))
            of_feature[place] = list(range(len(parts), len(parts) + len(inputs)))
            parts += inputs
    table = _standardised(parts)
    models = _LinearModels(table, rows)
    from_known = np.array([place for places in of_known.values() for place in places])
    q_table = np.column_stack(
        [column.values if column.values is not None else count_codes(column.codes, 60) for column in known]
    )
    q_is_code = [place for place, column in enumerate(known) if column.values is None]
    raw = [place for place in of_feature if len(features[place].columns) == 1]
    x_table = np.column_stack([features[place].values for place in raw])
    for column in known:  # a coarsened number from the kept columns and the other known ones
        if not column.is_coarse or column.values is None:
            continue
        y = of_known[column.name][0]
        from_q = np.setdiff1d(from_known, of_known[column.name])
        from_x = np.array([place for feature in raw for place in of_feature[feature]])
        weights = models.weights(np.concatenate([from_q, from_x]), y)
        by_row = table[:, from_x] @ weights[from_q.size :]
        by_person = table[:, y] - table[:, from_q] @ weights[: from_q.size]
        by_row = by_row + predict(fit_trees(x_table[rows], by_person[rows] - by_row[rows]), x_table)
        columns = tuple(dict.fromkeys(name for place in raw for name in features[place].columns))
        yield _residual(f"rest of {column.name}", columns, -by_row, -by_person, rows)
    for place in list(of_feature)[:MOST_MODELS]:
        feature = features[place]
        skewed = len(of_feature[place]) > 1 and not feature.is_flag and _skewness(feature.values) > 1
        y = of_feature[place][1 if skewed else 0]
        others = [one for one in raw if set(features[one].columns).isdisjoint(feature.columns)]
        from_x = np.array([at for one in others for at in of_feature[one]], dtype=int)
        weights = models.weights(np.concatenate([from_known, from_x]), y)
        by_row = table[:, y] - table[:, from_x] @ weights[from_known.size :]
        by_person = table[:, from_known] @ weights[: from_known.size]
        filled = np.isfinite(feature.values)
        some = rows[filled[rows]]
        trees = fit_trees(q_table[some], by_row[some] - by_person[some], categories=q_is_code)
        by_person = by_person + predict(trees, q_table)
        yield _residual(f"rest of {feature.name}", feature.columns, by_row, by_person, some, filled)


def _residual(name, columns, of_row, of_person, rows, filled=None):
    scale = max(float(np.std(of_row[rows] - of_person[rows])), 1e-6)

    def of_pairs(i, j):
        rest = (of_row[j] - of_person[i]) / scale
        return rest if filled is None else np.where(filled[j], rest, np.nan)

    return Likeness(name, columns, of_pairs)


def _skewness(values: Floats) -> float:
    filled = values[np.isfinite(values)]
    spread = filled.std()
    return float(((filled - filled.mean()) ** 3).mean() / spread**3) if spread > 0 else 0.0


def count_likenesses(known: Sequence[KnownColumn], features: Sequence[Feature], fitted: NDArray[np.int64]) -> Iterator[list[Likeness]]:
    """Counts of kept values by the values of each coarsened column, and of each two, the most informative first."""
    coarse = [column for column in known if column.is_coarse]
    by_one = [(column.name, column.counted) for column in coarse]
    by_two = []
    for first, second in combinations(coarse, 2):
        _, joint = np.unique(first.counted * (second.counted.max() + 1) + second.counted, return_inverse=True)
        by_two.append((f"{first.name} and {second.name}", joint.astype(np.int64)))
    for name, q in [*by_one, *by_two]:
        counted = [(_information(q[fitted], feature.codes[fitted]), feature) for feature in features]
        best = sorted((pair for pair in counted if pair[0] > 0), key=lambda pair: -pair[0])[:MOST_COUNTED]
        made = [Likeness(f"count of {feature.name} by {name}", feature.columns, _counter(q, feature.codes, fitted)) for _, feature in best]
        if made:
            yield made


def _information(q: Codes, x: Codes) -> float:
    """Mutual information of two codes per row, less what chance gives (Miller and Madow)."""
    keys, counts = np.unique(q * (x.max() + 1) + x, return_counts=True)
    of_q, of_x = np.bincount(q), np.bincount(x)
    n = q.size
    entropy = lambda tally: -float((tally[tally > 0] / n) @ np.log(tally[tally > 0] / n))  # noqa: E731
    cells = (of_q > 0).sum() + (of_x > 0).sum() - keys.size - 1
    return entropy(of_q) + entropy(of_x) - entropy(counts) + cells / (2 * n)


def _counter(q: Codes, x: Codes, fitted: NDArray[np.int64]) -> Any:
    """log P(x_j | q_i) / P(x_j), by smoothed counts of other people."""
    values = int(x.max()) + 1
    keys, seen = np.unique(q[fitted] * values + x[fitted], return_counts=True)
    people = np.bincount(q[fitted], minlength=int(q.max()) + 1)
    share = np.bincount(x[fitted], minlength=values) + 0.5
    share = share / share.sum()

    def of_pairs(i: NDArray[np.int64], j: NDArray[np.int64]) -> Floats:
        wanted = q[i] * values + x[j]
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        count = np.where(keys[place] == wanted, seen[place], 0)
        usual = share[x[j]]
        return np.log((count + _PRIOR * usual) / (people[q[i]] + _PRIOR) / usual)

    return of_pairs
