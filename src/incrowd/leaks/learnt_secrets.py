"""Secrets learnt from a leak: whose class shows one secret only, and theirs.

A class of s people, m of whom share a secret, shows that secret alone if none of the s − m others leaks and somebody of
the m does. With c(j) = C(D − j, L) / C(D, L), the chance that none of j people is among the L of D who leak, that is
c(s − m) − c(s). Some of those who are learnt about did not leak themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import encode
from incrowd.classes import assign_classes
from incrowd.errors import InputError
from incrowd.leaks.binomial import log_none
from incrowd.leaks.inputs import check_leak
from incrowd.measures.class_values import require_columns
from incrowd.results import Result
from incrowd.special import Floats
from incrowd.tables import TableLike, read_table

_TRIED = 60  # sizes of leaks at either end, before the worst is searched among its neighbours


@dataclass(frozen=True, slots=True, eq=False)
class SharedSecrets:
    """How many people of each class share each secret: pairs of a class and a secret, equal pairs counted together.

    A missing secret is a value, but nobody's secret. `values` is the number of different secrets, `commonest` the share
    of people who have the most common secret.
    """

    people: int
    values: int
    commonest: float
    class_sizes: NDArray[np.int64]
    sharing: NDArray[np.int64]
    is_secret: NDArray[np.bool_]
    counts: NDArray[np.int64]

    @classmethod
    def from_classes(cls, classes: Iterable[Sequence[object]]) -> SharedSecrets:
        """From the secrets of the people of every class; None is a missing secret.

        >>> shared = SharedSecrets.from_classes(["aab", "ccc", "abcd"])
        >>> shared.people, shared.values, shared.largest_share
        (10, 4, 1.0)
        """
        members = [(number, secret) for number, secrets in enumerate(classes) for secret in secrets]
        codes = {secret: code for code, secret in enumerate(dict.fromkeys(secret for _, secret in members))}
        return cls._count(
            np.array([number for number, _ in members], dtype=np.int64),
            np.array([codes[secret] for _, secret in members], dtype=np.int64),
            np.array([secret is None for secret in codes]),
        )

    @classmethod
    def from_table(
        cls, data: TableLike, *, quasi_identifiers: Sequence[str], sensitive: str, person: str | None = None
    ) -> SharedSecrets:
        """From a table. With a person column, the secret of a person is all values of their records together."""
        table = read_table(data)
        names, (column,) = require_columns(table, quasi_identifiers, [sensitive])
        classes = assign_classes(table, names, person).numbers.astype(np.int64)
        (coded,) = encode(table, [column])
        if person is None:
            is_missing = np.asarray(coded.values.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
            return cls._count(classes, coded.codes.astype(np.int64), is_missing)
        secrets = assign_classes(table, [column], person).numbers.astype(np.int64)
        _, first = np.unique(encode(table, [person])[0].codes, return_index=True)
        return cls._count(classes[first], secrets[first], np.zeros(int(secrets.max()) + 1, dtype=np.bool_))

    @classmethod
    def _count(
        cls, classes: NDArray[np.int64], secrets: NDArray[np.int64], is_missing: NDArray[np.bool_]
    ) -> SharedSecrets:
        """From the class and the secret of each person as numbers, and which secrets are missing."""
        sizes = np.bincount(classes)
        pairs, sharing = np.unique(classes * is_missing.size + secrets, return_counts=True)
        of_class, secret = np.divmod(pairs, is_missing.size)
        held = np.bincount(secrets, minlength=is_missing.size)[~is_missing]
        if not held.any():
            raise InputError("nobody has a secret; every value is missing")
        rows = np.stack([sizes[of_class], sharing, ~is_missing[secret]], axis=1)
        kinds, counts = np.unique(rows, axis=0, return_counts=True)
        values, commonest = int(np.count_nonzero(held)), float(held.max() / classes.size)
        return cls(classes.size, values, commonest, kinds[:, 0], kinds[:, 1], kinds[:, 2].astype(np.bool_), counts)

    @property
    def largest_share(self) -> float:
        """The largest share that one secret has of a class."""
        return float((self.sharing / self.class_sizes)[self.is_secret].max())

    def learnt(self, leaked: int) -> float:
        """Chance that the class of a random person shows one secret only, and theirs."""
        return float(self.counts * self.sharing @ self._shown_alone(leaked)) / self.people

    def sure(self, leaked: int) -> float:
        """Chance that the class of a random person shows one secret only, theirs or not."""
        return float(self.counts * self.class_sizes @ self._shown_alone(leaked)) / self.people

    def learnt_if_leaked(self, leaked: int) -> float:
        """Chance that nobody of the class with another secret leaked, for a person who did leak."""
        if leaked == 0:
            return 0.0
        none = np.exp(log_none(self.class_sizes - self.sharing, leaked - 1, self.people - 1))
        return float(self.counts * self.sharing * self.is_secret @ none) / self.people

    def highest(self, leaked: int) -> float:
        """The chance of the person at highest risk that their secret is learnt."""
        return float(self._shown_alone(leaked).max())

    def _shown_alone(self, leaked: int) -> Floats:
        """Chance that a class shows this secret only: c(s − m) − c(s), without cancellation; 0 if none is."""
        others = log_none(self.class_sizes - self.sharing, leaked, self.people)
        nobody = log_none(self.class_sizes, leaked, self.people)
        possible = np.isfinite(others)
        gap = np.where(possible, nobody - np.where(possible, others, 0.0), 0.0)
        return np.asarray(np.where(self.is_secret, np.exp(others) * -np.expm1(gap), 0.0))

    def worst_leak(self) -> int:
        """The size of leak from which most secrets are learnt."""
        near = np.unique(np.geomspace(1, self.people, _TRIED).round()).astype(np.int64)
        tried = np.unique(np.concatenate([near, self.people - near, [self.people]]))
        tried = tried[tried > 0]
        chances = [self.learnt(int(leaked)) for leaked in tried]
        best = int(np.argmax(chances))
        low, high = int(tried[max(best - 1, 0)]), int(tried[min(best + 1, tried.size - 1)])
        while high - low > 8:
            step = (high - low) // 3
            if self.learnt(low + step) < self.learnt(high - step):
                low += step
            else:
                high -= step
        return max(range(low, high + 1), key=self.learnt)


@dataclass(frozen=True, slots=True)
class LearntSecrets(Result):
    """What a leak tells about a secret: of everybody, of those who leaked, and in the worst leak.

    `learnt` is the chance that the class of a random person, leaked or not, shows one secret only, and theirs. `wrong`
    is the chance that it shows only a secret that is not theirs. `learnt_if_leaked` is the chance for somebody who
    leaked. `worst_leaked` is the size of leak from which most is learnt about everybody. No secret has more than
    `largest_share` of a class.
    """

    column: str
    people: int
    leaked: int
    values: int
    commonest: float
    learnt: float
    wrong: float
    learnt_if_leaked: float
    highest: float
    worst_leaked: int
    worst_learnt: float
    largest_share: float
    _derived: ClassVar[tuple[str, ...]] = ("learnt_and_leaked", "bound")

    @property
    def learnt_and_leaked(self) -> float:
        """The share of all people who leaked and whose secret is learnt."""
        return self.learnt_if_leaked * self.leaked / self.people

    @property
    def bound(self) -> float:
        """The most that a leak of any size tells about classes of this `largest_share`, if the table is large."""
        return most_learnt(self.largest_share)


def learnt_secrets(
    data: SharedSecrets | TableLike,
    leaked: int,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: str = "secret",
    person: str | None = None,
) -> LearntSecrets:
    """How likely a leak of `leaked` people tells a person's secret, without naming their record. Exact.

    An attacker who sees one secret only among the leaked members of the class is sure of it. From a part of a class
    that can be too early, so a leak of half of a table may tell more than the whole.

    Args:
        data: shared secrets, or a table: a file's path, a frame or a `Table`.
        leaked: people in the leak.
        quasi_identifiers: for a table, the columns that the attacker knows.
        sensitive: for a table, the column that is secret.
        person: for a table, the column that identifies the person of each record.

    Returns:
        The chances, and the leak from which most is learnt.

    Raises:
        InputError: there are fewer people than leak, or a column is missing.

    >>> found = learnt_secrets(SharedSecrets.from_classes(["aab", "ccc", "abcd"]), leaked=5)
    >>> round(found.learnt, 3), round(found.learnt_and_leaked, 4), found.worst_leaked
    (0.396, 0.2433, 5)
    """
    if isinstance(data, SharedSecrets):
        shared = data
    else:
        shared = SharedSecrets.from_table(data, quasi_identifiers=quasi_identifiers, sensitive=sensitive, person=person)
    leaked, _ = check_leak(shared.people, leaked)
    worst = shared.worst_leak()
    learnt = shared.learnt(leaked)
    return LearntSecrets(
        column=sensitive,
        people=shared.people,
        leaked=leaked,
        values=shared.values,
        commonest=shared.commonest,
        learnt=learnt,
        wrong=max(shared.sure(leaked) - learnt, 0.0),
        learnt_if_leaked=shared.learnt_if_leaked(leaked),
        highest=shared.highest(leaked),
        worst_leaked=worst,
        worst_learnt=shared.learnt(worst),
        largest_share=shared.largest_share,
    )


def most_learnt(largest_share: float) -> float:
    """The most that a leak of any size tells if no secret has more than this share b of a class: b (1 − b)^((1 − b)/b).

    With q the share of people who do not leak and m of a class of s sharing a secret, the class shows it alone with a
    chance of q^(s − m) − q^s, which grows with m up to m = bs. There it is y^(1/b − 1) − y^(1/b), y = q^(bs), and has
    its maximum at y = 1 − b. It holds for everybody in tables so large that people leak independently; with thousands
    of people it is exceeded by less than a thousandth of itself.

    Args:
        largest_share: the largest share that one secret has of a class.

    Returns:
        The chance.

    Raises:
        InputError: it is no share.

    >>> [round(most_learnt(1 / l), 4) for l in (1, 2, 3, 5)]
    [1.0, 0.25, 0.1481, 0.0819]
    """
    if not 0.0 < largest_share <= 1.0:
        raise InputError(f"the largest share of a class is above 0 and at most 1; {largest_share:g} was given")
    if largest_share == 1.0:
        return 1.0
    return largest_share * math.exp((1.0 - largest_share) / largest_share * math.log1p(-largest_share))


def smallest_l(at_most: float) -> int:
    """The smallest l with which no leak tells anybody's secret with a chance above `at_most`, in a large table.

    In every class no secret may have more than a share of 1/l: frequency l-diversity, or t-closeness with t = 1/l minus
    the share of the most common secret in the table.

    Args:
        at_most: the largest chance that is accepted.

    Returns:
        The l.

    Raises:
        InputError: the bound is not a chance.

    >>> smallest_l(1 / 3), smallest_l(1 / 11)
    (2, 5)
    """
    if not 0.0 < at_most <= 1.0:
        raise InputError(f"a chance of at most {at_most:g}; give a number above 0, up to 1")
    size = max(int(1.0 / (math.e * at_most)) - 1, 1)  # the bound is between 1/(e l) and 1/(e (l − 1))
    while most_learnt(1.0 / size) > at_most:
        size += 1
    return size


def named_by_secret(shared: SharedSecrets, leaked: int, accuracy: float) -> float:
    """Chance to name a person by quasi-identifiers and a secret that is right with the chance `accuracy`. Exact.

    The attacker holds one of the values to be the person's; if it is wrong, each of the others is equally likely. By
    Bayes' rule they guess among the leaked members of the class who have it, or among all of them if none has.

    Args:
        shared: how many people of each class share each secret.
        leaked: people in the leak.
        accuracy: the chance that what the attacker knows is right.

    Returns:
        The chance for a random person, whether they leaked or not.

    Raises:
        InputError: the knowledge is no better than a guess among the values, or there are fewer people than leak.

    >>> shared = SharedSecrets.from_classes(["aab"])
    >>> [round(named_by_secret(shared, leaked=3, accuracy=share), 4) for share in (1.0, 0.75, 0.5)]
    [0.6667, 0.5, 0.3333]
    """
    leaked, _ = check_leak(shared.people, leaked)
    values = shared.values + (not shared.is_secret.all())  # a missing value can be known too
    if not 1.0 / values <= accuracy <= 1.0:
        raise InputError(
            f"a secret that is known rightly with a chance of {accuracy:g}; give 1/{values}, a guess among the "
            "values, to 1"
        )
    wrong = (1.0 - accuracy) / (values - 1) if values > 1 else 0.0
    holder = -np.expm1(log_none(shared.sharing, leaked, shared.people))  # somebody who shares the secret leaked
    member = -np.expm1(log_none(shared.class_sizes, leaked, shared.people))
    # a wrong value that somebody leaked has leads away; a value that nobody of the class has leads to all of them
    classes = shared.counts * shared.sharing / shared.class_sizes  # a class counts by its shares, which add up to 1
    named = shared.counts @ (accuracy * holder + wrong * (member - holder))
    named += wrong * (values * (classes @ member) - shared.counts @ member)
    return float(named) / shared.people
