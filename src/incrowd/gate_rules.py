"""The rules of the release gate: their kinds, their limits, and the result of one rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from incrowd._support.option import Option, OptionKind
from incrowd.errors import InputError
from incrowd.recipients import is_within, judge
from incrowd.results import Result
from incrowd.wording import number


class _RuleKind(NamedTuple):
    """A kind of rule."""

    field: str  # the field of a result that holds the number to compare
    words: str  # what the number is
    at_least: bool = False  # True if the limit is a minimum, False if it is a maximum
    lowest: float = 0  # the smallest limit allowed
    highest: float | None = None  # the largest limit allowed; None: any
    of_column: bool = False  # True if the rule is checked for each sensitive column
    is_risk: bool = False  # True if the number is a risk of being named, for which a limit of 0.09 means 1/11
    option: Option = Option("number")  # how the limit is typed on the command line

    def typed(self, kind: OptionKind, help_text: str) -> _RuleKind:
        """The kind of rule with the option of the command line that sets its limit."""
        return self._replace(option=Option(kind, help_text))


_secret = partial(_RuleKind, of_column=True)

RULES: Mapping[str, _RuleKind] = {
    name: kind._replace(option=kind.option.named(name))
    for name, kind in {
        "min_k": _RuleKind("k", "people in the smallest class", at_least=True, lowest=1).typed(
            "whole", "Fewest people in a class."
        ),
        "max_risk": _RuleKind("correctness", "average chance of being named", highest=1, is_risk=True).typed(
            "share", "Highest average chance of being named, such as 0.09 or 9%."
        ),
        "max_uniqueness": _RuleKind("uniqueness", "share of people nobody looks like", highest=1).typed(
            "share", "Largest share of people who are unique."
        ),
        "max_identifiers": _RuleKind("identifiers", "columns that name people or records").typed(
            "whole", "Most columns that name people, or look like it, such as 0."
        ),
        "max_attack": _RuleKind(
            "attack", "highest risk of an attack that is not ruled out", highest=1, is_risk=True
        ).typed("share", "Highest risk of an attack on the table; needs its original and a holdout."),
        "min_l": _secret("distinct", "fewest different values in a class", at_least=True, lowest=1).typed(
            "number", "Fewest different values in a class, for sensitive columns."
        ),
        "min_entropy_l": _secret(
            "entropy_l", "fewest values in a class, rare ones counting less", at_least=True, lowest=1
        ).typed("number", "Fewest different values in a class by entropy: rare ones count less."),
        "max_t": _secret("t", "largest distance of a class from the table", highest=1).typed(
            "number", "Farthest a class may be from the table, 0 to 1."
        ),
        "max_alpha": _secret("alpha", "largest share of one value in a class", highest=1).typed(
            "number", "Largest share one value may have of a class."
        ),
        "max_beta": _secret("beta", "largest relative gain in a value's share").typed(
            "number", "Largest relative gain in a value's share."
        ),
        "max_delta": _secret("delta", "largest |ln| of a value's share over the table's").typed(
            "number", "Largest |ln| of a value's share over the table's."
        ),
        "max_given_away": _secret("news_share", "share of records whose secret classes give away", highest=1).typed(
            "share", "Largest share of records whose secret classes give away, as assess counts."
        ),
    }.items()
}
"""Every rule by name."""


@dataclass(frozen=True, slots=True)
class Rule(Result):
    """One rule and its result for a table; `column` is the sensitive column that the rule is about."""

    _derived: ClassVar[tuple[str, ...]] = ("passed", "sentence")

    name: str
    column: str | None
    limit: float
    found: float

    @property
    def passed(self) -> bool:
        """True if the table keeps the rule."""
        kind = RULES[self.name]
        if kind.at_least:
            return self.found >= self.limit
        return is_within(self.found, self.limit) if kind.is_risk else judge(self.found, self.limit) == "within"

    @property
    def sentence(self) -> str:
        """The rule in one line."""
        kind = RULES[self.name]
        about = f" ({self.column})" if self.column is not None else ""
        bound = "at least" if kind.at_least else "at most"
        return f"{kind.words}{about}: {number(self.found)} (rule: {bound} {number(self.limit)})"


def check_limits(limits: Mapping[str, float | None], *, any_of: bool = True) -> dict[str, float]:
    """Validate limits by rule name and return those that are set.

    Args:
        limits: the limit of each rule; None if it is not set.
        any_of: whether at least one limit must be set.

    Raises:
        InputError: a rule does not exist, a limit is out of range, or none is set.
    """
    valid: dict[str, float] = {}
    for name, limit in limits.items():
        if name not in RULES:
            raise InputError(f"there is no rule {name!r}; there are: {', '.join(RULES)}")
        if limit is None:
            continue
        kind = RULES[name]
        fits = isinstance(limit, int | float) and not isinstance(limit, bool) and kind.lowest <= limit < math.inf
        if not fits or (kind.highest is not None and limit > kind.highest):
            bounds = f"{kind.lowest:g} or more" if kind.highest is None else f"from {kind.lowest:g} to {kind.highest:g}"
            raise InputError(f"{name} must be a number {bounds}; {limit!r} was given")
        valid[name] = limit
    if any_of and not valid:
        raise InputError(
            "there is nothing to check; name who is to get the table, for the verdict, or set a rule",
            hint=("recipient=public", *RULES),
        )
    return valid
