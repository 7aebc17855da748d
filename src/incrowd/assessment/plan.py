"""A protection to try on the way to a yes, and its revision by what a verdict found."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypedDict

from incrowd.protection.protect_options import DiversityKind

_MOST_VALUES = 4  # different values of a secret in a class that are asked for at most


class Repairable(Protocol):
    """The columns of a verdict that a plan can do something about."""

    @property
    def blamed(self) -> Sequence[str]:
        """Kept columns by which an attacker finds people or learns secrets, the one that tells most first."""

    @property
    def linking(self) -> Sequence[str]:
        """Kept columns that tell who lives together."""

    @property
    def disclosed(self) -> Sequence[str]:
        """Secrets that are certain in classes."""

    @property
    def learnt(self) -> Sequence[str]:
        """Secrets that an attacker learns."""


class SecretDemand(TypedDict, total=False):
    """Demands of a plan on sensitive columns, as options of `protect`."""

    l: float | None  # noqa: E741
    diversity: DiversityKind
    c: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A protection to try: the class size, what is left out, how different secrets must be.

    Attributes:
        k: the class size.
        removed: columns that are left out.
        l: values that every class must have of each `diverse` column. None: that is not asked for.
        diverse: the secrets of which it is asked.
        needed: columns that must stay.
        blamed: those of `removed` that are left out because an attacker learns from them.
        gave_up: whether a secret is left out because no class of this size hides it.
        asked_l: the l that the user asked for; no revision asks for less.
        demanded: the secrets of which the user asked something; none of them is left out because that cannot be had.
    """

    k: int
    removed: tuple[str, ...] = ()
    l: float | None = None  # noqa: E741
    diverse: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    blamed: tuple[str, ...] = ()
    gave_up: bool = False
    asked_l: float | None = None
    demanded: tuple[str, ...] = ()

    @property
    def costs_columns(self) -> bool:
        """True if secrets must differ in every class, or columns are left out: larger classes may need less of it."""
        return bool(self.diverse or self.blamed) or self.gave_up

    def revise(self, verdict: Repairable) -> Plan | None:
        """The plan that repairs what a verdict found, or None where none is known."""
        linking = [name for name in verdict.linking if name not in (*self.removed, *self.needed)]
        blamed = [name for name in verdict.blamed if name not in (*self.removed, *self.needed)]
        known = tuple(dict.fromkeys((*verdict.disclosed, *verdict.learnt)))
        secrets = [name for name in known if name not in self.removed]
        back = (*linking, *blamed)
        more = [name for name in secrets if name not in (*self.diverse, *back)]
        if back or more:
            diverse = (*(name for name in self.diverse if name not in back), *more)
            values = (self.l or 2 if more else self.l) if diverse else None
            removed, all_blamed = (*self.removed, *back), (*self.blamed, *blamed)
            return replace(self, removed=removed, blamed=all_blamed, l=values, diverse=diverse)
        if secrets and (self.l or 1) < _MOST_VALUES:
            return replace(self, l=(self.l or 1) + 1)
        return self.without(secrets)

    def with_column(self, name: str) -> Plan:
        """The plan that keeps a column for which an attack was blamed."""
        left, blamed = (tuple(one for one in names if one != name) for names in (self.removed, self.blamed))
        return replace(self, removed=left, blamed=blamed)

    def without(self, secrets: Sequence[str]) -> Plan | None:
        """The plan that leaves out secrets which classes cannot hide."""
        secrets = [name for name in secrets if name not in self.needed]
        if not secrets:
            return None
        left = tuple(name for name in self.diverse if name not in secrets)
        removed, values = (*self.removed, *secrets), max(self.asked_l or 2, 2) if left else None
        return replace(self, removed=removed, l=values, diverse=left, gave_up=True)

    def demand(self, certain: float, named: Collection[str] = ()) -> SecretDemand:
        """The options of `protect` that make secrets differ, so that none is nearly certain in a class.

        No value reaches the share of a class from which it counts as `certain`: (c, l)-diversity bounds it. Of a
        `named` secret it is the share among the others of somebody who does not have it: two such people are needed.

        >>> Plan(11, l=2, diverse=("illness",)).demand(0.95), Plan(11).demand(0.95)
        ({'l': 2, 'diversity': 'recursive', 'c': 19.0}, {})
        >>> Plan(11, l=2, diverse=("illness",)).demand(0.95, {"illness"})
        {'l': 2, 'diversity': 'recursive', 'c': 9.5}
        """
        if not self.diverse or self.l is None:
            return {}
        if certain == 1:
            return {"l": self.l}
        c = certain / (1 - certain)  # a share below s is a ratio below s / (1 - s)
        if {*named} & {*self.diverse}:
            c /= 2  # of d people without it, (d - 1) / d counts, which is at least a half; small classes ask for more l
        return {"l": self.l, "diversity": "recursive", "c": math.floor(round(c, 9) * 1e6) / 1e6}

    @property
    def may_go(self) -> tuple[str, ...]:
        """The secrets that may be left out where they cannot differ enough; what the user asked of others must hold."""
        if self.l != self.asked_l:
            return self.diverse
        return tuple(name for name in self.diverse if name not in self.demanded)
