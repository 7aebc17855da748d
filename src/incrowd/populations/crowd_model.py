"""The crowd model: the distribution of every column given the columns before it, with back-off to fewer columns.

Columns are in ascending order of entropy. A column's value is drawn given all earlier columns. If that context is rare,
the model backs off to the two earlier columns with most information about the column, then to one, to the column's own
distribution, and last to a value that nobody has. Each level is a Pitman–Yor process whose base is the level below. In
a context of c records with T distinct values, value v with count c_v has the probability

    (c_v − d + (θ + d T) · base(v)) / (c + θ).

Discount d and strength θ of each level maximise the leave-one-out likelihood. No order among the values of a column is
used.

If records were sampled with unequal chances, the stratum of a record (`design.py`) is the first column. It is not drawn
from the model: each stratum grows to the number of people it represents. Other columns are conditioned on the stratum
only if that raises the likelihood, so similar strata share their records.

If whole clusters (households, villages) were sampled, the likelihood leaves out each record's whole cluster, and the
growth is based on one person of each cluster, chosen anew for every growth. Further people belong to other clusters, so
the similarity of people within a cluster must not influence them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd.errors import UnsupportedError
from incrowd.populations.design import Design

_DISCOUNTS = np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9])
_MARGIN_DISCOUNTS = np.append(_DISCOUNTS, 0.97)  # of most values of a column there may be one record
_STRENGTHS = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0])
_MARGIN_STRENGTHS = np.array([1e-4, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0, 1e4])
_PARENTS = 2  # largest number of selected columns in a context, besides the context of all earlier columns
_WORTHWHILE = 1.0  # nats by which a context must raise the log-likelihood, or it is left out
_FITTED = 20_000  # records over which the likelihood is summed; counts are those of all records
_FEW_CELLS = 4  # possible combinations per record up to which no hash table is needed to number them
_COMPARED = 100_000  # smallest number of records from which the information between two columns is estimated

Codes = NDArray[np.int32]
Clusters = NDArray[np.int64] | None


@dataclass(frozen=True, slots=True, eq=False)
class CrowdLevel:
    """One level of a column: the columns that it conditions on, and its discount and strength."""

    column: int
    given: tuple[int, ...]
    discount: float
    strength: float


@dataclass(frozen=True, slots=True, eq=False)
class CrowdModel:
    """A fitted model of whole records."""

    # the sample's columns as codes from 0, in the order of the model; columns of one value are left out
    codes: tuple[Codes, ...]
    margins: NDArray[np.float64]  # discount and strength of each column's own distribution
    levels: tuple[CrowdLevel, ...]  # the contexts, column by column, the most specific first
    # log probability of each record's values by the model without that record (or its cluster)
    log_chances: NDArray[np.float64]
    # log probability that the next person has each record's values, by the model of all records
    log_next_chances: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    # the share of each stratum among further people, if the first column is the stratum; else empty
    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    # for each column of the model without the stratum, its index among the columns given to the fit
    order: tuple[int, ...] = ()
    clusters: Clusters = None  # the cluster of each record, numbered from 0, for a cluster sample; else None

    @property
    def hidden(self) -> int:
        """Number of columns that are not part of a record's class: 1 if there are strata, else 0."""
        return 1 if self.shares.size else 0

    @property
    def people(self) -> int:
        """Number of people in the sample."""
        return int(self.codes[0].size)

    def draw_of_clusters(self, seed: Sequence[int]) -> NDArray[np.int64]:
        """Indexes of one random record of each cluster, in ascending order; empty if there are no clusters."""
        if self.clusters is None:
            return np.empty(0, dtype=np.int64)
        mixed = np.random.default_rng([*seed, 0xC1]).permutation(self.people)
        return np.sort(mixed[np.unique(self.clusters[mixed], return_index=True)[1]])

    def class_sizes(self) -> NDArray[np.int64]:
        """The size of each record's class in the sample."""
        numbers = join_codes(list(self.codes[self.hidden :]))
        return np.bincount(numbers)[numbers]

    def people_to_come(self, population: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Two numbers for each record: expected further people with its values, and further people per sample record.

        With strata, both are those of the record's stratum, averaged over equal records in different strata.
        """
        chances = np.exp(self.log_next_chances)
        more = max(population - self.people, 1)
        if not self.hidden:
            return more * chances, np.full(self.people, more / self.people)
        coming = more * self.shares / np.bincount(self.codes[0], minlength=self.shares.size)
        expected = self.mean_of_class(more * self.shares[self.codes[0]] * chances)
        return np.maximum(expected, 1e-9), self.mean_of_class(np.maximum(coming[self.codes[0]], 1e-9))

    def mean_of_class(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each record, the mean of `values` over the records of its class, from all strata."""
        numbers = join_codes(list(self.codes[self.hidden :]))
        return np.asarray((np.bincount(numbers, weights=values) / np.bincount(numbers))[numbers])


def fit_crowd_model(columns: list[NDArray[Any]], design: Design | None = None) -> CrowdModel:
    """Fit the model to a sample.

    Args:
        columns: the quasi-identifiers as codes, one array a column, all of one length.
        design: the strata and clusters of the records, where they were not drawn one by one with equal chances.

    Returns:
        The model, with the sample in it.

    Raises:
        UnsupportedError: every column has one value only.
    """
    coded = [_recode(column) for column in columns]
    not_constant = [place for place, column in enumerate(coded) if column.max(initial=0) > 0]
    coded = [coded[place] for place in not_constant]
    if not coded:
        raise UnsupportedError("every column has one value only, so there is nothing to model")
    entropies = [_entropy(column) for column in coded]
    order = np.argsort(entropies, kind="stable")
    coded = [coded[place] for place in order]
    clusters = None if design is None else design.clusters
    hidden = 0 if design is None or design.strata is None else 1
    if design is not None and design.strata is not None:
        coded = [design.strata.astype(np.int32), *coded]
    some = np.unique(np.linspace(0, coded[0].size - 1, min(_FITTED, coded[0].size)).astype(np.int64))
    margins, levels, prefix = [], [], np.zeros(coded[0].size, dtype=np.int64)
    log_chances, log_next = np.zeros(coded[0].size), np.zeros(coded[0].size)
    for column, codes in enumerate(coded):
        discount, strength, base = _fit_margin(codes, some, clusters)
        margins.append((discount, strength))
        seen = np.bincount(codes)[codes].astype(np.float64)
        following = (seen - discount) / (codes.size + strength)
        chain, joined = [], join_codes([prefix, codes])
        for before in _contexts(coded, column, hidden):
            context, pair_of = _join_context(coded, column, before, prefix, joined)
            fitted = _fit_level(context, pair_of, base, following, some, clusters)
            if fitted is not None:
                chain.append(CrowdLevel(column, before, *fitted))
        levels += chain[::-1]
        if column >= hidden:
            log_chances += np.log(base)
            log_next += np.log(following)
        prefix = joined
    shares = np.empty(0) if not hidden or design is None else design.shares
    indexes = tuple(not_constant[place] for place in order)
    return CrowdModel(tuple(coded), np.array(margins), tuple(levels), log_chances, log_next, shares, indexes, clusters)


def _recode(column: NDArray[Any]) -> Codes:
    """Codes from 0 without gaps."""
    places: Codes = (np.cumsum(np.bincount(column) > 0) - 1).astype(np.int32)
    codes: Codes = places[column]
    return codes


def _contexts(coded: list[Codes], column: int, hidden: int) -> list[tuple[int, ...]]:
    """Candidate contexts of a column, the smallest first: the most informative earlier columns, then all earlier ones.

    The context of all earlier columns is tried without the stratum (the first `hidden` columns) and then with it.
    """
    subset = slice(None, None, max(1, coded[0].size // _COMPARED))
    own = _entropy(coded[column][subset])
    information = [
        _entropy(coded[other][subset]) + own - _entropy(join_codes([coded[other][subset], coded[column][subset]]))
        for other in range(column)
    ]
    ranked = np.argsort(information, kind="stable")[::-1]
    contexts = [tuple(sorted(ranked[:size].tolist())) for size in range(1, min(_PARENTS, column) + 1)]
    contexts += [tuple(range(start, column)) for start in range(hidden, -1, -1)]
    return [given for place, given in enumerate(contexts) if given and given not in contexts[place + 1 :]]


def join_codes(columns: list[Any]) -> NDArray[np.int64]:
    """Codes of the combinations of several columns."""
    from incrowd.populations import kernels_crowd

    joined: NDArray[np.int64] = columns[0].astype(np.int64)
    for column in columns[1:]:
        codes = column.astype(np.int64)
        width = int(codes.max(initial=0)) + 1
        cells = width * (int(joined.max(initial=0)) + 1)
        if cells <= _FEW_CELLS * joined.size and min(codes.min(initial=0), joined.min(initial=0)) >= 0:
            joined = kernels_crowd.number_cells(joined, codes, width, cells)
        else:
            joined = kernels_crowd.number_groups(joined, codes, 2 << int(joined.size).bit_length())
    return joined


def _join_context(
    coded: Sequence[Codes],
    column: int,
    given: tuple[int, ...],
    prefix: NDArray[np.int64],
    joined: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes of a context, and of the context with the column's value.

    For the context of all earlier columns these are known: `prefix` and `joined`.
    """
    if len(given) == column:
        return prefix, joined
    context = join_codes([coded[place] for place in given])
    return context, join_codes([context, coded[column]])


def _entropy(codes: NDArray[Any]) -> float:
    """Entropy in nats, with the correction of Miller and Madow for small samples."""
    counts = np.bincount(codes)
    share = counts[counts > 0] / codes.size
    return float(-(share * np.log(share)).sum() + (share.size - 1) / (2 * codes.size))


def _left_out(groups: NDArray[Any], clusters: Clusters) -> Any:
    """For each record, the number of records of its group in its cluster (1 without clusters): those left out."""
    if clusters is None:
        return 1
    own = join_codes([groups, clusters])
    return np.bincount(own)[own]


def _lost_values(alone: NDArray[np.bool_], first: NDArray[np.int64], context: Any, clusters: Clusters) -> Any:
    """For each record, the number of values that disappear from its context if the record or its cluster is left out.

    `alone` is the mask of records whose value nobody else in the context has, `first` the index of one record for every
    value.
    """
    if clusters is None:
        return alone
    own = join_codes([context, clusters])
    return np.bincount(own[first[alone[first]]], minlength=int(own.max()) + 1)[own]


def _fit_margin(codes: Codes, some: NDArray[np.int64], clusters: Clusters) -> tuple[float, float, NDArray[np.float64]]:
    """Discount and strength of a column's own distribution, and the leave-one-out probability of each record's value.

    A value that no other record has counts as new, and has the probability of a new value.
    """
    counts, everybody = np.bincount(codes), np.zeros(codes.size, dtype=np.int64)
    others = counts[codes] - _left_out(codes, clusters)
    alone = others == 0
    distinct = counts.size - _lost_values(alone, first_places(codes), everybody, clusters)
    rest = codes.size - _left_out(everybody, clusters) + everybody

    counted = others, alone, distinct, rest
    kind = join_codes([others[some], distinct[some], rest[some]])  # records with equal counts: equal probabilities
    of_kinds = [one[some[first_places(kind)]] for one in counted]

    def chances(d: float, theta: float, others: Any, alone: Any, distinct: Any, rest: Any) -> NDArray[np.float64]:
        seen = np.maximum(others - d, 1e-300)
        probability: NDArray[np.float64] = np.where(alone, theta + d * distinct, seen) / (rest + theta)
        return probability

    best = max(
        ((d, theta) for d in _MARGIN_DISCOUNTS for theta in _MARGIN_STRENGTHS),
        key=lambda pair: float(np.log(np.maximum(chances(*pair, *of_kinds), 1e-300))[kind].sum()),
    )
    return float(best[0]), float(best[1]), chances(*best, *counted)


def _fit_level(
    context: NDArray[np.int64],
    pair_of: NDArray[np.int64],
    base: NDArray[np.float64],
    following: NDArray[np.float64],
    some: NDArray[np.int64],
    clusters: Clusters,
) -> tuple[float, float] | None:
    """Discount and strength of one context; None if it hardly raises the likelihood of the level below.

    `context` and `pair_of` are the codes of each record's context, without and with the value. `base` is each record's
    leave-one-out probability by the level below, and `following` the probability that the next person has its value.
    Unless None is returned, both are replaced by those of this level. The likelihood is summed over the records `some`.
    """
    from incrowd.populations import kernels_crowd

    counts = context, pair_of, *kernels_crowd.count_contexts(context, pair_of)
    left_out = _count_left_out(context, pair_of, clusters)
    without = kernels_crowd.counts_without(some, *counts, left_out)
    likelihood = kernels_crowd.level_likelihoods(base[some], *without, _DISCOUNTS, _STRENGTHS)
    if likelihood.max() - np.log(base[some]).sum() < _WORTHWHILE:
        return None
    d_at, theta_at = np.unravel_index(np.argmax(likelihood), likelihood.shape)
    d, theta = float(_DISCOUNTS[d_at]), float(_STRENGTHS[theta_at])
    kernels_crowd.update_chances(*counts, left_out, d, theta, base, following)
    return d, theta


def _count_left_out(context: NDArray[np.int64], pair_of: NDArray[np.int64], clusters: Clusters) -> NDArray[np.int64]:
    """Counts to subtract if a record's cluster is left out: records of its context, records with its value, values.

    Empty if there are no clusters: then only the record is left out.
    """
    if clusters is None:
        return np.empty((3, 0), dtype=np.int64)
    of_pair = _left_out(pair_of, clusters)
    alone = np.bincount(pair_of)[pair_of] == of_pair
    lost = _lost_values(alone, first_places(pair_of), context, clusters)
    return np.stack([_left_out(context, clusters), of_pair, lost])
