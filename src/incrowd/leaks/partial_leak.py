"""Simulated leaks of partial histories, and attackers with partial or wrong knowledge: true and false positives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import class_numbers, encode, pack
from incrowd.classes import check_person
from incrowd.errors import InputError
from incrowd.leaks.inputs import check_leak, check_trials, whole_number
from incrowd.results import Result, Statement
from incrowd.tables import TableLike, read_table
from incrowd.wording import percent


@dataclass(frozen=True, slots=True)
class PartialLeak(Result):
    """Frequencies of right and wrong names in simulated leaks.

    `right`, `wrong_in_leak` and `wrong_outside` are sums over the trials: a guess among three people who fit equally
    well counts as a third right. Wrong names are split by whether the target had leaked.
    """

    people: int
    leaked: int
    share_of_records: float
    known_records: int | None
    error_rate: float
    trials: int
    seed: int
    trials_in_leak: int
    right: float
    wrong_in_leak: float
    wrong_outside: float
    variance: float
    _derived: ClassVar[tuple[str, ...]] = (
        "probability", "standard_error", "true_positive_rate", "false_positive_rate", "precision",
    )  # fmt: skip

    @property
    def probability(self) -> float:
        """The chance that a person of the table is named correctly."""
        return self.right / self.trials

    @property
    def standard_error(self) -> float:
        """Standard error of the probability."""
        return math.sqrt(self.variance / self.trials)

    @property
    def true_positive_rate(self) -> float | None:
        """Share of leaked targets who are named correctly; None if no target had leaked."""
        return self.right / self.trials_in_leak if self.trials_in_leak else None

    @property
    def false_positive_rate(self) -> float | None:
        """Share of targets who did not leak for whom somebody else is named; None if every target had leaked."""
        outside = self.trials - self.trials_in_leak
        return self.wrong_outside / outside if outside else None

    @property
    def precision(self) -> float | None:
        """Share of the attacker's names that are right; None if no name is given."""
        named = self.right + self.wrong_in_leak + self.wrong_outside
        return self.right / named if named else None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The rates of right and wrong names."""
        rates = (
            ("chance to be named", self.probability, "anybody in the table, whether they leaked or not"),
            ("true positives", self.true_positive_rate, "of people who leaked: named rightly"),
            ("false positives", self.false_positive_rate, "of people who did not leak: another is named for them"),
            ("names that are right", self.precision, "of all names that the attacker gives"),
        )
        sure = f"{self.trials:,} simulated leaks"
        return tuple(
            Statement("partial leak", name, rate, "–" if rate is None else percent(rate), meaning, sure)
            for name, rate, meaning in rates
        )


def simulate_partial_leak(
    data: TableLike,
    leaked: int,
    *,
    quasi_identifiers: Sequence[str],
    person: str,
    share_of_records: float = 1.0,
    known_records: int | None = None,
    error_rate: float = 0.0,
    trials: int = 2_000,
    seed: int = 0,
    progress: Progress = silent,
) -> PartialLeak:
    """Simulate leaks of some records of each person, and attackers who know only some records, or have wrong values.

    In each trial `leaked` people leak, each with a share of their records, rounded up. One person of the table is the
    target. The attacker knows some of the target's records, and names one of the leaked people who fit best: those who
    have the most of the known records. A person who has none does not fit.

    If the attacker knows all records of the target, a leaked record that is not known is evidence against a match. If
    all records of a person leak, so is a known record that is missing. For an attacker who makes no errors, either
    excludes the person.

    Args:
        data: a table: a file's path, a frame or a `Table`.
        leaked: people in the leak.
        quasi_identifiers: the columns that the attacker knows of a record.
        person: the column that identifies the person of each record.
        share_of_records: the share of a leaked person's records that leak.
        known_records: number of records of the target that the attacker knows; all if None.
        error_rate: the chance that the attacker has a wrong value in a column of a record, that of a random record.
        trials: number of simulated leaks.
        seed: seed of the random numbers.
        progress: callback that receives the current step and the share done.

    Returns:
        True and false positives, and the chance of being named.

    Raises:
        InputError: a share is not one, or there are fewer people than leak.

    >>> stays = {"who": ["a", "a", "b", "b", "c"], "days": [1, 2, 1, 3, 1]}
    >>> found = simulate_partial_leak(stays, 2, quasi_identifiers=["days"], person="who", known_records=1, trials=500)
    >>> 0 < found.true_positive_rate < 1
    True
    """
    histories = _Histories.of(data, quasi_identifiers, person)
    leaked, _ = check_leak(histories.people, leaked)
    trials, seed = check_trials(trials, seed)
    _check(share_of_records, known_records, error_rate)
    random = np.random.default_rng(seed)
    in_leak, results = 0, np.zeros((trials, 2))
    outside = 0.0
    for trial in range(trials):
        if trial % 256 == 0:
            progress("simulating leaks", trial / trials)
        order = random.permutation(histories.people)
        target = int(random.integers(histories.people))
        leaked_people = set(order[:leaked].tolist())
        known_by_attacker = histories.recall(target, known_records, error_rate, random)
        fitting = histories.fitting(
            known_by_attacker,
            leaked_people,
            share_of_records,
            whole=known_records is None,
            exact=error_rate == 0,
            random=random,
        )
        inside = target in leaked_people
        in_leak += inside
        right = 1 / len(fitting) if target in fitting else 0.0
        results[trial] = right, (1.0 - right if fitting else 0.0) * inside
        outside += bool(fitting) and not inside
    return PartialLeak(
        histories.people, leaked, share_of_records, known_records, error_rate, trials, seed, in_leak,
        float(results[:, 0].sum()), float(results[:, 1].sum()), outside, float(results[:, 0].var(ddof=1)),
    )  # fmt: skip


def _check(share: float, known: int | None, errors: float) -> None:
    if not 0 < share <= 1:
        raise InputError(f"a share of {share:g} of the records; give a number above 0, up to 1")
    if known is not None and whole_number(known, "a number of known records", "a whole number") < 1:
        raise InputError(f"{known} known records; give 1 or more")
    if not 0 <= errors <= 1:
        raise InputError(f"an error rate of {errors:g}; give 0 to 1")


@dataclass(frozen=True, slots=True)
class _Histories:
    """The records of every person. Equal records have one number, their kind.

    `records` are the kinds of each person's records, `holders` the people who have each kind, `codes` the columns as
    codes, `kinds` the kind of each combination of codes, and `values` its inverse.
    """

    records: list[list[int]]
    holders: dict[int, list[int]]
    codes: NDArray[np.int64]
    kinds: dict[tuple[int, ...], int]
    values: dict[int, tuple[int, ...]]

    @property
    def people(self) -> int:
        return len(self.records)

    @classmethod
    def of(cls, data: TableLike, quasi_identifiers: Sequence[str], person: str) -> _Histories:
        table = read_table(data)
        names = table.require(quasi_identifiers, "quasi-identifiers")
        check_person(table, names, person)
        columns = encode(table, names)
        (who,) = encode(table, [person])
        if who.has_null:
            raise InputError(f"some records have no value in {person!r}; fill them or leave them out")
        kind = class_numbers(pack(columns))[0].tolist()
        codes = np.stack([column.codes.astype(np.int64) for column in columns])
        records: list[list[int]] = [[] for _ in range(who.size)]
        holders: dict[int, list[int]] = {}
        for owner, number in zip(who.codes.tolist(), kind, strict=True):
            records[owner].append(number)
            holders.setdefault(number, []).append(owner)
        kinds = dict(zip(map(tuple, codes.T.tolist()), kind, strict=True))
        owners = {number: sorted(set(listed)) for number, listed in holders.items()}
        return cls(records, owners, codes, kinds, {number: values for values, number in kinds.items()})

    def recall(self, target: int, known: int | None, errors: float, random: np.random.Generator) -> Counter[int]:
        """The attacker's knowledge of the target: some records, with wrong values at a given rate per column."""
        records = self.records[target]
        if known is not None and known < len(records):
            records = [records[at] for at in random.choice(len(records), known, replace=False)]
        if not errors:
            return Counter(records)
        return Counter(self._misremembered(self.values[number], errors, random) for number in records)

    def _misremembered(self, record: tuple[int, ...], errors: float, random: np.random.Generator) -> int:
        """The kind of a record with wrong values in some columns; −1 if the table has no such record."""
        wrong = random.random(len(record)) < errors
        others = random.integers(self.codes.shape[1], size=len(record))
        return self.kinds.get(
            tuple(int(self.codes[at, others[at]]) if wrong[at] else value for at, value in enumerate(record)), -1
        )

    def fitting(
        self,
        known: Counter[int],
        leak: set[int],
        share: float,
        *,
        whole: bool,
        exact: bool,
        random: np.random.Generator,
    ) -> list[int]:
        """The leaked people who fit best; `whole` if the attacker knows whole histories, `exact` if without errors."""
        best, fitting = -math.inf, list[int]()
        candidates = {one for number in known for one in self.holders.get(number, ()) if one in leak}
        for one in sorted(candidates):
            records = self.records[one]
            if share < 1:
                leaked = random.choice(len(records), math.ceil(share * len(records) - 1e-12), replace=False)
                records = [records[at] for at in leaked]
            seen = Counter(records)
            shared = (seen & known).total()
            contradicting = (seen - known).total() * whole + (known - seen).total() * (share == 1)
            if not shared or (exact and contradicting):
                continue
            score = shared - contradicting
            if score > best:
                best, fitting = score, []
            if score == best:
                fitting.append(one)
        return fitting
