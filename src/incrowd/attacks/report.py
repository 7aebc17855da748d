"""All attacks on one release: the worst of them, what could not be run, and who is found again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.attacks.copies import CopiedPeople, NearCopies
from incrowd.attacks.result import AttackRisk, Rate, wilson
from incrowd.backends import encode
from incrowd.errors import UnsupportedError
from incrowd.protection.recoding import as_text
from incrowd.recipients import is_within
from incrowd.results import Result
from incrowd.tables import read_table
from incrowd.wording import counted, percent, percent_interval

_POINTING = ("linkage", "singling-out", "linkability", "membership")
_NEEDS_NO_CONTROL = ("linkage", "membership")
_FEWEST_IN_GROUP = 20  # attacks on a group that are shown; fewer tell nothing, and may tell who it was


@dataclass(frozen=True, slots=True)
class ExposedRow(Result):
    """A row of the original: how many attacks were tried on it, and how many succeeded (ties count in part)."""

    row: int
    attacks: int
    succeeded: float


@dataclass(frozen=True, slots=True)
class GroupRisk(Result):
    """How often attacks on the people of one group succeed."""

    column: str
    group: str
    attacks: int
    success: Rate


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseAttacks(Result):
    """What attackers achieve on a release.

    Attributes:
        original: the name of the original, and `released` that of the release.
        rows: rows of the original, and `released_rows` of the release.
        attackers: for each attack the label of who made it.
        attacks: the attacks that were run.
        not_run: why others could not be; what was not run was not shown to fail.
        seed: of every random choice.
        copied: of a synthetic release with a holdout, who stands in it as they are.
        near_copies: of the same, whom released records come nearer than they come to others.
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
        """What proves that people stand in the release as they are, or nearly; copies that are exact go first."""
        found = [one for one in (self.copied, self.near_copies) if one is not None and one.proven]
        return tuple(one.sentence for one in found[:1])

    @property
    def worst(self) -> AttackRisk | None:
        """The attack with the highest risk that the data do not rule out, its upper end; None without any.

        Distances are left out, because they prove nothing.
        """
        return max(self.deciding, key=lambda one: (one.risk.high, one.risk.value), default=None)

    @property
    def deciding(self) -> tuple[AttackRisk, ...]:
        """The attacks that a decision rests on: all but distances."""
        return tuple(one for one in self.attacks if one.kind != "distances")

    @property
    def not_tried(self) -> tuple[str, ...]:
        """The attacks that a decision would need and that could not be run."""
        # a name is label, secret, kind and method; distances have no method, so theirs ends with the kind
        return tuple(name for name in self.not_run if name.rpartition(" ")[2] != "distances")

    @property
    def sentence(self) -> str:
        """What it comes to."""
        if self.worst is None:
            return "No attack could be run, so nothing is known about the release."
        proven = [one.about for one in self.deciding if one.proven]
        tried = counted(len(self.attacks), "attack was", "attacks were")
        text = f"{tried} run; " + (
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
        """Whether every attack was run, and no interval reaches above the limit; what was not run is not safe.

        Distances count for nothing either way, because they prove nothing.
        """
        return self.reason_against(limit) is None

    def reason_against(self, limit: float) -> str | None:
        """Why the release is not within a limit; None where it is."""
        reasons = []
        if self.worst is not None and not is_within(self.worst.risk.high, limit):
            reasons.append(f"the risk of {self.worst.about} may be as high as {percent(self.worst.risk.high)}")
        reasons += [sentence.rstrip(".") for sentence in self.copies]
        if self.worst is None or self.not_tried:
            missing = ", ".join(self.not_tried) or "only distances were asked for"
            reasons.append(f"not every attack could be run ({missing}), and what was not tried is not known to fail")
        return "; ".join(reasons) or None

    def as_text(self) -> list[tuple[str, str, str, str, str]]:
        """For each attack: its name, the success, that without the release, the risk and its 95 % interval."""
        return [
            (
                f"{label}: {one.about}" if label else one.about,
                percent(one.attack.value),
                "not known" if one.control is None and one.kind not in _NEEDS_NO_CONTROL else _shown(one.control),
                percent(one.risk.value),
                percent_interval(one.risk.low, one.risk.high),
            )
            for label, one in zip(self.attackers, self.attacks, strict=True)
        ]

    def exposed(self, least: float = 2.0) -> list[ExposedRow]:
        """The rows of the original that at least so many attacks found, most often found first.

        Attacks that point at a person count: linkage, singling out, linkability and membership, each once a person.
        """
        tried, succeeded = np.zeros(self.rows), np.zeros(self.rows)
        for one in self.attacks:
            if one.kind in _POINTING:
                found, hits = np.zeros(self.rows), one.rows >= 0
                np.maximum.at(found, one.rows[hits], one.successes[hits])
                tried[np.unique(one.rows[hits])] += 1
                succeeded += found
        order = np.argsort(-succeeded, kind="stable")
        order = order[succeeded[order] >= least]
        return [ExposedRow(int(row), int(tried[row]), float(succeeded[row])) for row in order]

    def by_group(self, data: Any, column: str) -> list[GroupRisk]:
        """How often attacks succeed on the people of each group of a column, the most exposed group first.

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
                continue  # it finds people rather than trying them
            tried += np.bincount(coded.codes[one.rows], minlength=coded.size)
            succeeded += np.bincount(coded.codes[one.rows], one.successes, minlength=coded.size)
        found = [
            GroupRisk(column, names[code], int(tried[code]), wilson(float(succeeded[code]), int(tried[code])))
            for code in np.flatnonzero(tried >= _FEWEST_IN_GROUP).tolist()
        ]
        if not found:
            raise UnsupportedError(f"no group of {column!r} was attacked {_FEWEST_IN_GROUP} times; give more targets")
        return sorted(found, key=lambda one: -one.success.value)

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each attack."""
        pairs = zip(self.attackers, self.attacks, strict=True)
        return [{"attacker": label, **row} for label, one in pairs for row in one._rows()]


def _shown(rate: Rate | None) -> str:
    return "–" if rate is None else percent(rate.value)
