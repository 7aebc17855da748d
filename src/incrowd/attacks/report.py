"""All attacks on one release: the worst attack, attacks that could not be run, and people found by several attacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.attacks.copies import CopiedPeople, NearCopies
from incrowd.attacks.result import AttackRisk, Rate, wilson
from incrowd.backends import encode
from incrowd.errors import UnsupportedError
from incrowd.recipients import is_within
from incrowd.results import Result
from incrowd.tables import read_table
from incrowd.tables.released_values import as_text
from incrowd.wording import counted, percent, percent_interval

_POINTING = ("linkage", "singling-out", "linkability", "membership")
_FEWEST_IN_GROUP = 20  # fewest attacks on a group that is shown; fewer say little and may disclose a person


@dataclass(frozen=True, slots=True)
class ExposedRow(Result):
    """A row of the original: the number of attacks tried on it, and of successes (ties count in part)."""

    row: int
    attacks: int
    succeeded: float


@dataclass(frozen=True, slots=True)
class GroupRisk(Result):
    """The success rate of attacks on the people of one group."""

    column: str
    group: str
    attacks: int
    success: Rate


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseAttacks(Result):
    """The results of all attacks on a release.

    Attributes:
        original: the name of the original, and `released` that of the release.
        rows: rows of the original, and `released_rows` of the release.
        attackers: for each attack the label of its attacker.
        attacks: the attacks that were run.
        not_run: the reasons why others could not be run; an attack that was not run is not known to fail.
        seed: seed of every random choice.
        copied: exact copies in a synthetic release, if there is a holdout.
        near_copies: near copies in a synthetic release, if there is a holdout.
    """

    original: str
    released: str
    rows: int
    released_rows: int
    attackers: tuple[str, ...]
    attacks: tuple[AttackRisk, ...]
    not_run: Mapping[str, str]
    seed: int
    copied: CopiedPeople | None = None
    near_copies: NearCopies | None = None
    _derived: ClassVar[tuple[str, ...]] = ("sentence",)

    @property
    def copies(self) -> tuple[str, ...]:
        """A sentence that proves copies of people in the release: exact ones, otherwise near ones; else empty."""
        proven = [one for one in (self.copied, self.near_copies) if one is not None and one.proven]
        return tuple(one.sentence for one in proven[:1])

    @property
    def worst(self) -> AttackRisk | None:
        """The attack with the highest upper end of its risk interval; None without any.

        Distances are left out, because they prove nothing.
        """
        return max(self.deciding, key=lambda one: (one.risk.high, one.risk.value), default=None)

    @property
    def deciding(self) -> tuple[AttackRisk, ...]:
        """The attacks that count in a decision: all but distances."""
        return tuple(one for one in self.attacks if one.kind != "distances")

    @property
    def not_tried(self) -> tuple[str, ...]:
        """The attacks that a decision needs but that could not be run."""
        # a name is label, secret, kind and method; distances have no method, so theirs ends with the kind
        return tuple(name for name in self.not_run if name.rpartition(" ")[2] != "distances")

    @property
    def notes(self) -> tuple[str, ...]:
        """The attacks that were not run, with the reason, and the notes of the others, each once."""
        not_run = [f"Not run: {name}: {reason}." for name, reason in self.not_run.items()]
        return (*not_run, *dict.fromkeys(note for one in self.attacks for note in one.notes))

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if self.worst is None:
            return "No attack could be run, so nothing is known about the release."
        proven = [one.about for one in self.deciding if one.proven]
        number_run = counted(len(self.attacks), "attack was", "attacks were")
        text = f"{number_run} run; " + (
            f"more than chance or the control explains: {', '.join(dict.fromkeys(proven))}"
            if proven
            else "none succeeds more often than chance or the control explains"
        )
        worst = self.worst.risk
        return (
            f"{text}. The highest risk that the data do not rule out is that of {self.worst.about}: "
            f"{percent(worst.value)}, and up to {percent(worst.high)}."
        )

    def within(self, limit: float) -> bool:
        """True if every attack was run and no interval reaches above the limit; an attack that was not run is not safe.

        Distances do not count, because they prove nothing.
        """
        return self.reason_against(limit) is None

    def reason_against(self, limit: float) -> str | None:
        """The reason why the release is not within a limit; None if it is."""
        reasons = []
        if self.worst is not None and not is_within(self.worst.risk.high, limit):
            reasons.append(f"the risk of {self.worst.about} may be as high as {percent(self.worst.risk.high)}")
        reasons += [sentence.rstrip(".") for sentence in self.copies]
        if self.worst is None or self.not_tried:
            missing = ", ".join(self.not_tried) or "only distances were asked for"
            reasons.append(f"not every attack could be run ({missing}), and what was not tried is not known to fail")
        return "; ".join(reasons) or None

    def as_text(self) -> list[tuple[str, str, str, str, str]]:
        """For each attack: its name, its success, the success without the release, the risk and its 95 % interval."""
        return [
            (
                f"{label}: {one.about}" if label else one.about,
                percent(one.attack.value),
                "not known" if one.lacks_control else _shown(one.control),
                percent(one.risk.value),
                percent_interval(one.risk.low, one.risk.high),
            )
            for label, one in zip(self.attackers, self.attacks, strict=True)
        ]

    def exposed(self, least: float = 2.0) -> list[ExposedRow]:
        """The rows of the original that at least a given number of attacks found, most often found first.

        Only attacks that identify a person count: linkage, singling out, linkability and membership, each once per
        person.
        """
        tried, succeeded = np.zeros(self.rows), np.zeros(self.rows)
        for one in self.attacks:
            if one.kind in _POINTING:
                best_success, is_person = np.zeros(self.rows), one.rows >= 0
                np.maximum.at(best_success, one.rows[is_person], one.successes[is_person])
                tried[np.unique(one.rows[is_person])] += 1
                succeeded += best_success
        order = np.argsort(-succeeded, kind="stable")
        order = order[succeeded[order] >= least]
        return [ExposedRow(int(row), int(tried[row]), float(succeeded[row])) for row in order]

    def by_group(self, data: Any, column: str) -> list[GroupRisk]:
        """The success rate of attacks on the people of each group of a column, the most exposed group first.

        Groups with too few attacks are left out.

        Args:
            data: the original, as it was attacked.
            column: the column of the groups.

        Raises:
            UnsupportedError: the table is not the one that was attacked, or no group has enough attacks.
        """
        table = read_table(data)
        if table.rows != self.rows:
            raise UnsupportedError(f"{table.name} has {table.rows:,} rows, the table that was attacked {self.rows:,}")
        (coded,) = encode(table, [column])
        names = ["missing" if text is None else text for text in as_text(coded.values).to_pylist()]
        tried, succeeded = np.zeros(coded.size), np.zeros(coded.size)
        for one in self.deciding:
            if one.kind == "singling-out":
                continue  # its rows are the people that were risks, not the people that were attacked
            tried += np.bincount(coded.codes[one.rows], minlength=coded.size)
            succeeded += np.bincount(coded.codes[one.rows], one.successes, minlength=coded.size)
        risks = [
            GroupRisk(column, names[code], int(tried[code]), wilson(float(succeeded[code]), int(tried[code])))
            for code in np.flatnonzero(tried >= _FEWEST_IN_GROUP).tolist()
        ]
        if not risks:
            raise UnsupportedError(f"no group of {column!r} was attacked {_FEWEST_IN_GROUP} times; give more targets")
        return sorted(risks, key=lambda one: -one.success.value)

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each attack."""
        pairs = zip(self.attackers, self.attacks, strict=True)
        return [{"attacker": label, **row} for label, one in pairs for row in one._rows()]


def _shown(rate: Rate | None) -> str:
    return "–" if rate is None else percent(rate.value)
