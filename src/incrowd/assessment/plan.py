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
    def not_asked(self) -> Sequence[str]:
        """Columns whose missing cells tell who was not asked."""

    @property
    def giving_back(self) -> Sequence[str]:
        """Kept columns that give back what was made coarser."""

    @property
    def linking(self) -> Sequence[str]:
        """Kept columns that tell who lives together."""

    @property
    def disclosed(self) -> Sequence[str]:
        """Secrets that classes give away."""


class SecretDemand(TypedDict, total=False):
    """Demands of a plan on sensitive columns, as options of `protect`."""

    l: float | None  # noqa: E741
    diversity: DiversityKind
    c: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A protection to try: the class size, what is left out, how different secrets must be, and who is kept apart.

    Attributes:
        k: the class size.
        removed: columns that are left out.
        l: values that every class must have of each `diverse` column. None: that is not asked for.
        diverse: the secrets of which it is asked.
        apart: columns that only some people were asked, who are kept apart from the others.
        kept: quasi-identifiers that stay as they are, so that no column can give them back.
        gave_up: whether a secret is left out because no class of this size hides it.
        asked_l: the l that the user asked for; no revision asks for less.
        demanded: the secrets of which the user asked something; none of them is left out because that cannot be had.
    """

    k: int
    removed: tuple[str, ...] = ()
    l: float | None = None  # noqa: E741
    diverse: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    gave_up: bool = False
    asked_l: float | None = None
    demanded: tuple[str, ...] = ()

    @property
    def asks_of_secrets(self) -> bool:
        """True if secrets must differ in every class, or one is left out."""
        return bool(self.diverse) or self.gave_up

    def revise(self, verdict: Repairable) -> Plan | None:
        """The plan that repairs what a verdict found, or None where none is known."""
        asked = [name for name in verdict.not_asked if name not in (*self.apart, *self.removed)]
        telling = dict.fromkeys((*verdict.giving_back, *verdict.linking))
        back = [name for name in telling if name not in (*self.removed, *asked)]
        if 2 * len({*back} & {*self.apart}) > len(self.apart):
            return self.fallback()  # mostly in vain: the others are not worth its detail
        more = [name for name in verdict.disclosed if name not in (*self.diverse, *back)]
        if asked or back or more:
            left, apart = (
                tuple(name for name in names if name not in back) for names in (self.diverse, (*self.apart, *asked))
            )
            diverse, values = (*left, *more), self.l or 2 if more else self.l
            values = values if diverse else None
            return replace(self, removed=(*self.removed, *back), l=values, diverse=diverse, apart=apart)
        if verdict.disclosed and (self.l or 1) < _MOST_VALUES:
            return replace(self, l=(self.l or 1) + 1)
        return self.without(verdict.disclosed)

    def without(self, secrets: Sequence[str]) -> Plan | None:
        """The plan that leaves out secrets which classes cannot hide."""
        if not secrets:
            return None
        left, apart = (tuple(name for name in names if name not in secrets) for names in (self.diverse, self.apart))
        removed, values = (*self.removed, *secrets), max(self.asked_l or 2, 2) if left else None
        return replace(self, removed=removed, l=values, diverse=left, apart=apart, gave_up=True)

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

    def fallback(self) -> Plan | None:
        """The plan to try where this one cannot be had: leave out what asks for too much."""
        if not self.apart:
            return self.without(self.may_go)
        left = tuple(name for name in self.diverse if name not in self.apart)
        values = self.l if left or not self.diverse else None
        return replace(self, removed=(*self.removed, *self.apart), l=values, diverse=left, apart=())
