"""Models of a secret, learned from some people and asked about others: the probability of each of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array, vstack

from incrowd.attacks.columns_as_numbers import Codes
from incrowd.attacks.likeness import Rows
from incrowd.attacks.trees import fit_trees, predict
from incrowd.special import Floats

Model = Callable[[Floats], csr_array]

_MOST_FITTED = 4_000  # rows that one model is fitted on
_MOST_VALUES = 12  # values that trees tell apart
_MOST_COUNTED = 12  # inputs, or pairs of them, by whose values secrets are counted
_HELD = 4  # one in so many fitted rows shows which model is best
_PRIOR = 0.5  # people whose value nobody knows, added to those who are counted
_HUGE = 700.0  # what exp still knows
_QUANTILES = np.arange(0.025, 1, 0.05)  # of the errors of a number


def fit_codes(inputs: Floats, codes: Codes, size: int, fitted: Rows, texts: Sequence[int]) -> Model:
    """A model of values without distances: trees, counts or overall shares, whichever does best on held rows."""
    rows = _some(fitted)
    held, taught = _split(rows)
    usual = np.bincount(codes[fitted], minlength=size) + 0.5
    usual = usual / usual.sum()
    models: list[Model] = [lambda asked: csr_array(np.tile(usual, (len(asked), 1)))]
    if taught.size:
        models.append(_trees_of_codes(inputs, codes, usual, taught, texts))
        models += _counts(inputs, codes, usual, taught)
    if not held.size:
        return models[0]
    losses = [_loss(model(inputs[held]), codes[held]) for model in models]
    return models[int(np.argmin(losses))]


def _some(rows: Rows) -> Rows:
    """Rows from the whole table, up to so many."""
    return rows[np.linspace(0, rows.size - 1, min(rows.size, _MOST_FITTED)).astype(np.int64)]


def _split(rows: Rows) -> tuple[Rows, Rows]:
    """Rows to try models on, and rows to fit them on: the last ones, which are of other classes, and the first."""
    taught = rows.size - rows.size // _HELD
    return rows[taught:], rows[:taught]


def _loss(chances: csr_array, values: Codes) -> float:
    chance = np.asarray(chances[np.arange(values.size), values]).ravel()
    return float(-np.log(np.maximum(chance, 1e-6)).mean())


def _trees_of_codes(inputs: Floats, codes: Codes, usual: Floats, taught: Rows, texts: Sequence[int]) -> Model:
    """Trees of the frequent values; the others are as likely among their like as overall."""
    tally = np.bincount(codes[taught], minlength=usual.size)
    few = np.argsort(-tally, kind="stable")[: min(_MOST_VALUES, int((tally > 0).sum()))]
    rare = np.setdiff1d(np.arange(usual.size), few)
    place = np.full(usual.size, few.size)
    place[few] = np.arange(few.size)
    mass = np.concatenate([np.ones(few.size), usual[rare] / max(usual[rare].sum(), 1e-300)])
    rows = np.concatenate([np.arange(few.size), np.full(rare.size, few.size)])
    spread = csr_array((mass, (rows, np.concatenate([few, rare]))), shape=(few.size + 1, usual.size))
    seen, value = np.unique(place[codes[taught]], return_inverse=True)
    if seen.size == 1:
        return lambda asked: csr_array(np.tile(spread[seen].toarray(), (len(asked), 1)))
    settings = {"objective": "multiclass", "num_class": seen.size} if seen.size > 2 else {"objective": "binary"}
    model = fit_trees(inputs[taught], value.astype(float), rounds=30, categories=texts, max_bin=255, **settings)

    def chances(asked: Floats) -> csr_array:
        said = predict(model, asked, raw=False)
        table = said if seen.size > 2 else np.column_stack([1 - said, said])
        return csr_array(csr_array(table) @ spread[seen])

    return chances


def _counts(inputs: Floats, codes: Codes, usual: Floats, taught: Rows) -> Iterator[Model]:
    """Counts of values by one input, and by two."""
    columns = [place for place in range(inputs.shape[1]) if np.unique(inputs[taught, place]).size > 1]
    groups = [*((place,) for place in columns), *combinations(columns, 2)]
    for group in groups[:_MOST_COUNTED]:
        yield _counter(inputs[taught], codes[taught], group, usual)


def _counter(inputs: Floats, codes: Codes, group: Sequence[int], usual: Floats) -> Model:
    """Shares of values among people with the same values of some inputs, or the nearest ones."""
    distinct = [np.unique(inputs[:, place]) for place in group]

    def cells_of(asked: Floats) -> Rows:
        cells = np.zeros(len(asked), dtype=np.int64)
        for column, known in zip(asked[:, group].T, distinct, strict=True):
            cells = cells * known.size + np.searchsorted((known[1:] + known[:-1]) / 2, column)
        return cells

    cells, cell = np.unique(cells_of(inputs), return_inverse=True)
    people = np.bincount(cell)
    seen = csr_array((1 / (people[cell] + _PRIOR), (cell, codes)), shape=(cells.size, usual.size))
    shares = vstack([seen, csr_array(usual[None, :])]).tocsr()

    def chances(asked: Floats) -> csr_array:
        wanted = cells_of(asked)
        place = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
        return csr_array(shares[np.where(cells[place] == wanted, place, cells.size)])

    return chances


def fit_numbers(inputs: Floats, truth: Floats, fitted: Rows, nearest: Callable[[Floats], Codes], size: int) -> Model:
    """A model of numbers, the last of which stands for none: the expected one, and how far others were from it."""
    rows = _some(fitted)
    is_filled = np.isfinite(truth)
    filled = rows[is_filled[rows]]
    is_missing = fit_codes(inputs, (~is_filled).astype(np.int64), 2, fitted, ())
    if not filled.size:
        nothing = csr_array(([1.0], ([0], [size - 1])), shape=(1, size))
        return lambda asked: csr_array(vstack([nothing] * len(asked)))
    held, taught = _split(filled)
    guessers = [_guesser(inputs, truth, taught, held, is_logarithm=False, with_trees=trees) for trees in (False, True)]
    if truth[filled].min() > 0:
        guessers += [
            _guesser(inputs, truth, taught, held, is_logarithm=True, with_trees=trees) for trees in (False, True)
        ]
    _, guess = min(guessers, key=lambda pair: pair[0])

    def chances(asked: Floats) -> csr_array:
        numbers = guess(asked)
        missing = is_missing(asked).toarray()[:, 1]
        mass = np.repeat((1 - missing) / numbers.shape[1], numbers.shape[1])
        people = np.repeat(np.arange(len(asked)), numbers.shape[1])
        everybody = np.arange(len(asked))
        places = np.concatenate([nearest(numbers.ravel()), np.full(len(asked), size - 1)])
        return csr_array(
            (np.concatenate([mass, missing]), (np.concatenate([people, everybody]), places)), shape=(len(asked), size)
        )

    return chances


def _guesser(
    inputs: Floats, truth: Floats, taught: Rows, held: Rows, *, is_logarithm: bool, with_trees: bool
) -> tuple[float, Callable[[Floats], Floats]]:
    """How far a model is from held rows (the median), and its quantiles for others."""
    scaled = np.log(np.where(truth > 0, truth, 1.0)) if is_logarithm else truth
    linear = _linear_model(inputs[taught], scaled[taught])
    trees = fit_trees(inputs[taught], scaled[taught] - linear(inputs[taught])) if with_trees else None

    def expected(asked: Floats) -> Floats:
        return linear(asked) if trees is None else linear(asked) + predict(trees, asked)

    tried = held if held.size else taught
    errors = scaled[tried] - expected(inputs[tried])
    quantiles = np.quantile(errors, _QUANTILES)
    unscaled = _exponential if is_logarithm else np.asarray
    distance = float(np.median(np.abs(truth[tried] - unscaled(scaled[tried] - errors))))
    return distance, lambda asked: np.asarray(unscaled(expected(asked)[:, None] + quantiles))


def _exponential(logarithms: Floats) -> Floats:
    """No number is larger than floats can tell: a guess that far off is wrong either way."""
    return np.asarray(np.exp(np.minimum(logarithms, _HUGE)))


def _linear_model(inputs: Floats, output: Floats) -> Callable[[Floats], Floats]:
    """Least squares; what is missing counts as the mean."""
    filled = np.isfinite(inputs)
    rows = np.maximum(filled.sum(axis=0), 1)
    mean = np.where(filled, inputs, 0.0).sum(axis=0) / rows
    spread = np.sqrt((np.where(filled, inputs - mean, 0.0) ** 2).sum(axis=0) / rows)
    spread = np.where(spread > 0, spread, 1.0)

    def design(asked: Floats) -> Floats:
        standard = np.where(np.isfinite(asked), (asked - mean) / spread, 0.0)
        return np.column_stack([np.ones(len(asked)), standard])

    weights = np.linalg.lstsq(design(inputs), output, rcond=None)[0]
    return lambda asked: np.asarray(design(asked) @ weights)
