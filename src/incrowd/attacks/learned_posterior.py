"""The posterior of a person's row: which row of a class is theirs, by what kept columns say of exact known values.

A classifier tells own pairs (q_i, x_i) from pairs of two people of one class (q_i, x_j) by their likenesses. Its log
odds are log P(x_j | q_i) / P(x_j | class) plus a constant. Normalised over people, because a row that suits everybody
says nothing of anybody, and then over rows, they are the posterior.

Whole classes fall into three parts. Likenesses are fitted on one, the classifier on the second, and people of the third
are attacked; no model has seen them. Were likenesses fitted on those who are attacked and tried on the second part,
columns without information would seem to tell: what two parts have in common by chance has one sign in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.columns_as_numbers import Feature
from incrowd.attacks.likeness import KnownColumn, Likeness, Rows, count_likenesses, even_shares, residual_likenesses
from incrowd.attacks.trees import fit_trees, gains, predict
from incrowd.special import Floats

LARGEST_GROUP = 250  # members of a class that are compared with each other
_FEWEST_TAUGHT = 20  # people by whom the classifier is taught; with fewer it does not see what finds people
_FEW_PEOPLE = 8_000  # up to which everybody is attacked once; of more people, some
_MOST_PAIRS = 50_000  # for the classifier, and as many for the attack
_MOST_RESIDUALS, _MOST_COUNTS, _MOST_NEAR, _MOST_RAW = 12, 3, 3, 10
_PARTS = 6
_ORDER_OF_PARTS = (0, 3, 1, 4, 2, 5)  # so that the first three groups are fitted, taught and attacked


@dataclass(frozen=True, slots=True)
class _Turn:
    """Parts of the classes: those on which likenesses are fitted, the classifier is taught, and people are attacked."""

    fit: tuple[int, ...]
    teach: tuple[int, ...]
    attack: tuple[int, ...]


_TURNS = (_Turn((0, 1), (2, 3), (4, 5)), _Turn((2, 3), (4, 5), (0, 1)), _Turn((4, 5), (0, 1), (2, 3)))
_TURNS_OF_MANY = (_Turn((0, 1), (2, 3), (4, 5)), _Turn((0, 1), (4, 5), (2, 3)))
_TREES = {"rounds": 60, "objective": "binary", "min_data_in_leaf": 40, "learning_rate": 0.07}


@dataclass(frozen=True, slots=True, eq=False)
class RowPosterior:
    """The posterior over the rows of one class for each of its members.

    Attributes:
        members: the rows of the class that were compared.
        weights: for each member (by row of the matrix) the probability that each row is theirs.
        size: the number of members of the class.
    """

    members: Rows
    weights: Floats
    size: int


def posteriors(
    known: Sequence[KnownColumn],
    features: Sequence[Feature],
    classes: Rows,
    rng: np.random.Generator,
    blame: dict[str, float],
) -> Iterator[RowPosterior]:
    """Posteriors of people in a sample of classes.

    Args:
        known: what the attacker knows of the person of every row.
        features: the kept columns of every row.
        classes: the class of every row, numbered from 0.
        rng: draws the parts and samples.
        blame: by kept column, how much of the odds comes from it; added to here.
    """
    groups = _groups(classes, rng)
    if not features or not any(column.is_coarse for column in known):  # nothing tells the members of a class apart
        for group in _some_pairs(groups):
            yield RowPosterior(group.rows, np.full((group.rows.size, group.rows.size), 1 / group.rows.size), group.size)
        return
    in_part = [groups[part::_PARTS] for part in _ORDER_OF_PARTS]
    fit: tuple[int, ...] = ()
    for turn in _TURNS if classes.size < _FEW_PEOPLE else _TURNS_OF_MANY:
        if turn.fit != fit:
            fit = turn.fit
            rows = [group.rows for part in fit for group in in_part[part]]
            fitted = rng.permutation(np.concatenate(rows)) if rows else np.empty(0, dtype=np.int64)
            likenesses = _fit(known, features, fitted) if fitted.size else None
        taught, attacked = (
            _some_pairs([group for part in parts for group in in_part[part] if group.rows.size > 1])
            for parts in (turn.teach, turn.attack)
        )
        is_enough = sum(group.rows.size for group in taught) >= _FEWEST_TAUGHT
        if likenesses and is_enough and attacked:
            yield from _attack(likenesses, taught, attacked, blame)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Members of one class who are compared, all of them or some, and the size of the class."""

    rows: Rows
    size: int


def _groups(classes: Rows, rng: np.random.Generator) -> list[_Group]:
    """Classes in random order; a large one is several groups, and so is one without enough others to learn from."""
    largest = min(LARGEST_GROUP, max(2, classes.size // _PARTS))
    groups = []
    for rows in np.split(np.argsort(classes, kind="stable"), np.cumsum(np.bincount(classes))[:-1]):
        parts = np.array_split(rng.permutation(rows), -(-rows.size // largest))
        groups += [_Group(part, rows.size) for part in parts]
    return [groups[place] for place in rng.permutation(len(groups))]


@dataclass(frozen=True, slots=True, eq=False)
class _Likenesses:
    """All features of pairs: residuals, counts by known columns, and plain numbers of rows and people."""

    residuals: Sequence[Likeness]
    counts: Sequence[Sequence[Likeness]]
    plain: Sequence[Likeness]


def _fit(known: Sequence[KnownColumn], features: Sequence[Feature], fitted: Rows) -> _Likenesses:
    single = [feature for feature in features if len(feature.columns) == 1 and np.isfinite(feature.values).any()]
    plain = []
    for column in known:
        if column.is_coarse and column.values is not None:
            values = column.values
            alike = [-_correlation(feature.values[fitted], values[fitted]) for feature in single]
            near = [single[place] for place in np.argsort(alike, kind="stable")[:_MOST_NEAR]]
            plain += [Likeness(_less(feature.values, values), even_shares(feature.columns)) for feature in near]
            plain.append(Likeness(_less(np.zeros(values.size), values)))
    for feature in single[:_MOST_RAW]:
        plain.append(Likeness(_less(feature.values, np.zeros(feature.values.size)), even_shares(feature.columns)))
    return _Likenesses(
        list(residual_likenesses(known, features, fitted)), list(count_likenesses(known, features, fitted)), plain
    )


def _less(of_rows: Floats, of_people: Floats) -> Callable[[Rows, Rows], Floats]:
    return lambda people, candidates: of_rows[candidates] - of_people[people]


def _correlation(first: Floats, second: Floats) -> float:
    filled = np.isfinite(first) & np.isfinite(second)
    if filled.sum() < 3 or np.ptp(first[filled]) == 0 or np.ptp(second[filled]) == 0:
        return 0.0
    return float(abs(np.corrcoef(first[filled], second[filled])[0, 1]))


def _some_pairs(groups: Sequence[_Group]) -> list[_Group]:
    """The first groups, up to so many pairs of members."""
    pairs = np.cumsum([group.rows.size**2 for group in groups])
    return list(groups[: 1 + int(np.searchsorted(pairs, _MOST_PAIRS))])


def _attack(
    likenesses: _Likenesses,
    taught: Sequence[_Group],
    attacked: Sequence[_Group],
    blame: dict[str, float],
) -> Iterator[RowPosterior]:
    """Teach the classifier on some classes and attack the people of others."""
    groups = [group.rows for group in (*taught, *attacked)]
    people = np.concatenate([np.repeat(rows, rows.size) for rows in groups])
    candidates = np.concatenate([np.tile(rows, rows.size) for rows in groups])
    split = sum(group.rows.size**2 for group in taught)
    is_own = people[:split] == candidates[:split]
    columns, shares = _pair_features(likenesses, people, candidates, is_own)
    classifier = fit_trees(columns[:split], is_own.astype(float), **_TREES)  # type: ignore[arg-type]
    score = predict(classifier, columns[split:])
    for gain, share in zip(gains(classifier), shares, strict=True):
        for name, part in share.items():
            blame[name] = blame.get(name, 0.0) + gain * part
    start = 0
    for group in attacked:
        pairs = group.rows.size**2
        odds = np.exp(score[start : start + pairs].reshape(group.rows.size, -1))
        start += pairs
        odds /= odds.sum(axis=0, keepdims=True)
        odds /= odds.sum(axis=1, keepdims=True)
        yield RowPosterior(group.rows, odds, group.size)


def _pair_features(
    likenesses: _Likenesses, people: Rows, candidates: Rows, is_own: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], list[dict[str, float]]]:
    """The numbers of all pairs, and the shares of kept columns in each; residuals that shrink most for own pairs."""
    numbers, shares = [], []
    residuals = [(likeness.of_pairs(people, candidates), likeness.shares) for likeness in likenesses.residuals]
    ranked = sorted(residuals, key=lambda pair: -_shrinkage(pair[0][: is_own.size], is_own))
    for values, share in ranked[:_MOST_RESIDUALS]:
        numbers.append(values.astype(np.float32))
        shares.append(dict(share))
    for counted in likenesses.counts:
        made = [likeness.of_pairs(people, candidates).astype(np.float32) for likeness in counted]
        numbers += [*made[:_MOST_COUNTS], np.sum(made, axis=0)]
        shares += [dict(likeness.shares) for likeness in counted[:_MOST_COUNTS]]
        names = [name for likeness in counted for name in likeness.shares]
        shares.append({name: names.count(name) / len(names) for name in names})
    for likeness in likenesses.plain:
        numbers.append(likeness.of_pairs(people, candidates).astype(np.float32))
        shares.append(dict(likeness.shares))
    return np.column_stack(numbers), shares


def _shrinkage(residual: Floats, is_own: NDArray[np.bool_]) -> float:
    """By how much a residual is smaller for own pairs than for others, by squares or by medians.

    A relation that holds for a part of the rows leaves large residuals for the others, which medians leave out.
    """
    own, others = (np.abs(residual[side & np.isfinite(residual)]) for side in (is_own, ~is_own))
    if not own.size or not others.size:
        return 0.0
    by_squares = 1 - (own**2).mean() / max((others**2).mean(), 1e-300)
    by_medians = 1 - np.median(own) / max(np.median(others), 1e-300)
    return float(max(by_squares, by_medians))
