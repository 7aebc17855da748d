"""Exact and near copies of people in a synthetic release, tested against chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.progress import part
from incrowd.attacks.gallery import SLACK
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.results import Result
from incrowd.tables import Table
from incrowd.tables.released_values import as_text
from incrowd.wording import listed, number, people

_MISSING = "\x00"  # stands for a null, because joins do not match nulls
_SIDE = "\x00side"  # a name that no column has
_NEAR = 0.2  # a released record nearer than this fraction of the distance to the most similar person is a near copy
_NEAREST = (20, 60, 200, 500)  # numbers of people, of both tables, with the nearest released records
_SURE = 0.05  # significance level of the tests


@dataclass(frozen=True, slots=True)
class CopiedPeople(Result):
    """Unique people of the original, and of the holdout, whose exact record is in the release."""

    columns: tuple[str, ...]  # the columns that are compared
    unique: int  # people of the original with no equal in all of these columns
    copied: int  # unique people whose record is in the release
    unique_others: int  # people of the holdout with no equal
    copied_others: int  # unique people of the holdout whose record is in the release by chance
    _derived: ClassVar[tuple[str, ...]] = ("by_chance", "proven")

    @property
    def by_chance(self) -> float:
        """Expected number of copied unique people if the release were independent of them."""
        return self.unique * self.copied_others / self.unique_others if self.unique_others else 0.0

    @property
    def proven(self) -> bool:
        """True if the number is significant by Fisher's exact test of two shares.

        Without unique people in the holdout nothing is proven; `attack_release` then says that it cannot decide.
        """
        return self.copied > 0 and _by_chance(self.copied, self.unique, self.copied_others, self.unique_others) < _SURE

    @property
    def sentence(self) -> str:
        """The number of copied people compared with chance, in words."""
        return (
            f"The release holds exact copies ({listed(self.columns)}) of {people(self.copied)} unique in the original; "
            f"chance explains about {number(self.by_chance, 2)}."
        )


@dataclass(frozen=True, slots=True)
class NearCopies(Result):
    """People of the original, and of the holdout, with a released record nearer than chance explains."""

    columns: tuple[str, ...]  # the columns that are compared
    people: int  # number of people of the original who were tested
    # number of them with a released record at less than a fifth of the distance to the most similar person of the
    # original and the holdout
    near: int
    others: int  # number of people of the holdout who were tested, and `near_others` those with such a record
    near_others: int
    # number of people of both tables with the nearest released records (20, 60, 200 or 500, plus ties, whichever is
    # most significant), and `nearest_known` how many of them are of the original
    nearest: int = 0
    nearest_known: int = 0
    _derived: ClassVar[tuple[str, ...]] = ("proven",)

    @property
    def proven(self) -> bool:
        """True if the number is significant by Fisher's exact tests of two shares.

        If the release were independent of the people, original and holdout would be exchangeable. So among the people
        with a near record, those of the original would be a draw without replacement, for any columns and distances.
        Each of the two tests has half of the significance level.
        """
        return min(self._chance_near, self._chance_nearest) < _SURE / 2

    @property
    def _chance_near(self) -> float:
        return _by_chance(self.near, self.people, self.near_others, self.others)

    @property
    def _chance_nearest(self) -> float:
        chance = _by_chance(self.nearest_known, self.people, self.nearest - self.nearest_known, self.others)
        return len(_NEAREST) * chance

    @property
    def sentence(self) -> str:
        """The number of near copies compared with chance, in words."""
        text = f"The release holds near copies ({listed(self.columns)}): of {people(self.people)} of the original "
        if self._chance_near <= self._chance_nearest:
            by_chance = self.people * self.near_others / self.others
            text += (
                f"{self.near:,} have a released record at less than a fifth of the distance of the person most like "
            )
            return f"{text}them; chance explains about {number(by_chance, 2)}."
        by_chance = self.nearest * self.people / (self.people + self.others)
        text += f"and {self.others:,} of the holdout, {self.nearest_known:,} of the {self.nearest:,} to whom released "
        return f"{text}records come nearest are of the original; chance explains about {number(by_chance, 2)}."


def find_near_copies(setting: Setting, columns: Sequence[str]) -> NearCopies:
    """Count the people of the original, and of the holdout, to whom a released record is nearer than any other person.

    Args:
        setting: the original, the release and the holdout on one scale, and the people to test.
    """
    counts: list[int] = []
    distances = []
    steps = iter([part(setting.progress, step / 6, (step + 1) / 6) for step in range(6)])
    for side, rows in ((ORIGINAL, setting.targets), (HOLDOUT, setting.controls)):
        probes = setting.probes(columns, side, rows)
        released = setting.gallery(columns, RELEASED, side).nearest(probes, progress=next(steps))[0][:, 0]
        to_others = [  # in a person's own table, the nearest record is their own: take the second
            setting.gallery(columns, other, side).nearest(probes, wanted=2, progress=step)[0][:, int(other == side)]
            for other, step in zip((ORIGINAL, HOLDOUT), steps, strict=False)
        ]
        counts += [rows.size, int(np.count_nonzero(released + SLACK < _NEAR * np.minimum(*to_others)))]
        distances.append(released)
    both = np.sort(np.concatenate(distances))
    people, _, others, _ = counts

    def nearest(size: int) -> tuple[int, int]:
        """The number of people with the nearest released records (all ties), and of known ones among them."""
        within = both[min(size, both.size) - 1] + SLACK
        of_original, of_holdout = (int(np.count_nonzero(one <= within)) for one in distances)
        return of_original + of_holdout, of_original

    significant = min(map(nearest, _NEAREST), key=lambda one: _by_chance(one[1], people, one[0] - one[1], others))
    counted = (*counts, *significant)
    return NearCopies(tuple(columns), *counted)


def _by_chance(copied: int, unique: int, copied_others: int, unique_others: int) -> float:
    """The p-value of Fisher's exact test: the chance of at least this many copies, given the total of both tables."""
    from scipy.stats import hypergeom  # a slow import

    return float(hypergeom.sf(copied - 1, unique + unique_others, unique, copied + copied_others))


def count_copied_people(original: Table, released: Table, holdout: Table, columns: Sequence[str]) -> CopiedPeople:
    """Count the unique people of the original, and of a holdout, whose exact record is in a release.

    A person is unique if alone in both tables together. Uniqueness in one table depends on its size, so counts from the
    single tables could not be compared.

    Args:
        original: the table that the release was made from.
        holdout: people of the same population whom the release was not made from.
        columns: the columns that are compared, which all three have.
    """
    names = list(columns)
    in_release = _as_texts(released, names).group_by(names).aggregate([])
    people = [
        _as_texts(table, names).append_column(_SIDE, pa.repeat(side, table.rows))
        for side, table in enumerate((original, holdout))
    ]
    groups = pa.concat_tables(people).group_by(names).aggregate([(_SIDE, "min"), ([], "count_all")])
    alone = groups.filter(pc.equal(groups["count_all"], 1))
    copied = alone.join(in_release, names, join_type="left semi")
    counts = []
    for side in range(2):
        counts += [pc.sum(pc.equal(table[f"{_SIDE}_min"], side)).as_py() or 0 for table in (alone, copied)]
    return CopiedPeople(tuple(names), *counts)


def _as_texts(table: Table, names: Sequence[str]) -> pa.Table:
    """The columns as text, so that equal numbers of different types are equal."""
    return pa.table({name: pc.fill_null(as_text(column), _MISSING) for name, column in table.read(names)})
