"""The rules of the release gate: their kinds, their limits, and the result of one rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict, get_type_hints

from incrowd.errors import InputError
from incrowd.recipients import is_within, judge
from incrowd.results import Result
from incrowd.wording import number


class _RuleKind(NamedTuple):
    """A kind of rule.

    Attributes:
        field: the field of a result that holds the number to compare.
        words: what the number is.
        at_least: True if the limit is a minimum, False if it is a maximum.
        lowest: the smallest limit allowed.
        highest: the largest limit allowed; None: any.
        of_column: True if the rule is checked for each sensitive column.
    """

    field: str
    words: str
    at_least: bool = False
    lowest: float = 0
    highest: float | None = None
    of_column: bool = False


def _secret(field: str, words: str, **limits: Any) -> _RuleKind:
    """A kind of rule about sensitive columns."""
    return _RuleKind(field, words, of_column=True, **limits)


class LimitKeywords(TypedDict, total=False):
    """The limits of `check` by rule name; a rule is not checked if its limit is None or left out."""

    min_k: Annotated[float | None, _RuleKind("k", "people in the smallest class", at_least=True, lowest=1)]
    max_risk: Annotated[float | None, _RuleKind("correctness", "average chance of being named", highest=1)]
    max_uniqueness: Annotated[float | None, _RuleKind("uniqueness", "share of people nobody looks like", highest=1)]
    max_identifiers: Annotated[float | None, _RuleKind("identifiers", "columns that name people or records")]
    max_attack: Annotated[
        float | None, _RuleKind("attack", "highest risk of an attack that is not ruled out", highest=1)
    ]
    min_l: Annotated[float | None, _secret("distinct", "fewest different values in a class", at_least=True, lowest=1)]
    min_entropy_l: Annotated[
        float | None, _secret("entropy_l", "fewest values in a class, rare ones counting less", at_least=True, lowest=1)
    ]
    max_t: Annotated[float | None, _secret("t", "largest distance of a class from the table", highest=1)]
    max_alpha: Annotated[float | None, _secret("alpha", "largest share of one value in a class", highest=1)]
    max_beta: Annotated[float | None, _secret("beta", "largest relative gain in a value's share")]
    max_delta: Annotated[float | None, _secret("delta", "largest |ln| of a value's share over the table's")]
    max_given_away: Annotated[
        float | None, _secret("news_share", "share of records whose secret classes give away", highest=1)
    ]


RULES: Mapping[str, _RuleKind] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(LimitKeywords, include_extras=True).items()
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
        if RULES[self.name].at_least:
            return self.found >= self.limit
        is_risk = self.name in {"max_risk", "max_attack"}  # 0.09 means 1/11 only for a risk of being named
        return is_within(self.found, self.limit) if is_risk else judge(self.found, self.limit) == "within"

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
