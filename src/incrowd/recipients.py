"""Recipients, their limits on the risk, and the one function that compares a risk with a limit.

The sources set their limits for the person at highest risk, as class sizes: 3 for a trusted recipient, 11 or 20 for the
public (they round 1/3 to 0.33, 1/11 to 0.09 and 1/20 to 0.05). An average may be compared with a limit only if an
agreement forbids attempts, and then with a cap on the highest risk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from incrowd.errors import InputError
from incrowd.results import Result

Judgement = Literal["within", "borderline", "over"]
COMPARED: Mapping[Judgement, str] = {"within": "within", "borderline": "too close to", "over": "above"}
"""A judgement in words, before the limit: "above the 1/11"."""

STANDS: Mapping[Judgement, str] = {"within": "within it", "borderline": "too close to call", "over": "above it"}
"""A judgement in words, if the limit is named before: "above it"."""

_CLASS_SIZES = (3, 11, 20)  # class sizes of the sources, which write 1/3 as 0.33 and 1/11 as 0.09
_ROUNDING = 1e-12  # risks are ratios of counts; the last bit of a division decides nothing
CERTAIN_FROM = 0.95
"""Share of a class with one value, from which the value counts as known unless another is given: 19 of 20 people."""

SMALLEST_LIMIT = 1e-12
"""Below this a limit asks for a class of more people than have ever lived; no table meets it."""


@dataclass(frozen=True, slots=True)
class Limits(Result):
    """The risks that are accepted."""

    highest: float  # upper limit for the person at highest risk
    # upper limit for the average over all people; None if the limit on the highest risk is enough
    average: float | None = None
    _derived: ClassVar[tuple[str, ...]] = ("class_size",)

    @property
    def class_size(self) -> int:
        """The smallest class size at which no risk is above `highest`."""
        return smallest_class(self.highest)

    @property
    def of_average(self) -> float:
        """The limit for the average: an average is never above the highest."""
        return self.highest if self.average is None else self.average


@dataclass(frozen=True, slots=True)
class Recipient:
    """A kind of recipient, its limits and their source; `is_public` if anybody may receive the table."""

    name: str
    words: str
    limits: Limits
    source: str
    is_public: bool = False


_HEALTH = "guides on sharing health data: classes of 3, 11 and 20"
RECIPIENTS: tuple[Recipient, ...] = (
    Recipient("trusted", "a trusted recipient", Limits(1 / 3), _HEALTH),
    Recipient(
        "restricted",
        "a restricted circle",
        Limits(1 / 3, 1 / 11),
        "the average at 0.09 where an agreement forbids attempts to find people, nobody above 0.33",
    ),
    Recipient("public", "the public", Limits(1 / 11), _HEALTH, is_public=True),
    Recipient("strict", "the public, by the strictest convention", Limits(1 / 20), _HEALTH, is_public=True),
)
"""Every kind of recipient, the widest limit first: a partner bound by contract, researchers bound not to look for
people, everybody. Lists show this order, and a smaller audience is the first recipient with a wider limit.

This is the only list of recipients, of their names and of their limits."""


def judge(risk: float, limit: float, interval: tuple[float, float] | None = None) -> Judgement:
    """Compare a risk with a limit. Every verdict, caption and list of recipients uses this function.

    Args:
        risk: the risk, as counted or estimated.
        interval: both ends of the risk's interval, if it is an estimate.

    Returns:
        "borderline" if the limit lies inside the interval, else "within" or "over"; a risk that is no number is "over".

    >>> judge(0.05, 0.05), judge(0.06, 0.05), judge(0.04, 0.05, (0.03, 0.08)), judge(0.06, 0.05, (0.04, 0.08))
    ('within', 'over', 'borderline', 'borderline')
    """
    accepted = limit * (1 + _ROUNDING)
    if interval is not None and interval[0] <= accepted < interval[1]:
        return "borderline"
    return "within" if risk <= accepted else "over"


def smallest_class(limit: float) -> int:
    """The smallest class size with an accepted risk of 1 ÷ size; from 0.33 and 0.09 on, 1/3 and 1/11 are meant.

    >>> smallest_class(0.33), smallest_class(0.09), smallest_class(0.05), smallest_class(0.06), smallest_class(1 / 11)
    (3, 11, 20, 17, 11)
    >>> smallest_class(0.0899), smallest_class(0.0901)  # a wider limit never asks for larger classes
    (12, 11)
    """
    conventional = next((size for size in _CLASS_SIZES if round(1 / size, 2) <= limit < 1 / size), None)
    return conventional or math.ceil(1 / limit - 1e-9)


def read_limit(value: float, what: str) -> float:
    """Return the exact limit for a number that people write: 0.33, 0.09 and 0.05 mean classes of 3, 11 and 20.

    >>> read_limit(0.09, "threshold") == 1 / 11, read_limit(0.2, "threshold")
    (True, 0.2)
    """
    if not SMALLEST_LIMIT <= value <= 1:
        raise InputError(f"a {what} of {value:g}; give a number above 0 (at least {SMALLEST_LIMIT:g}), up to 1")
    size = smallest_class(value)
    return 1 / size if 1 / size > value else value


def is_within(risk: float, stated: float) -> bool:
    """True if a risk is within a limit as people write it, such as 0.09 for 1/11; only 0 is within 0.

    >>> is_within(1 / 11, 0.09), is_within(0.1, 0.09), is_within(0.0, 0)
    (True, False, True)
    """
    return judge(risk, read_limit(stated, "limit") if stated >= SMALLEST_LIMIT else stated) == "within"


def settle_limits(recipient: str, *, threshold: float | None = None, highest: float | None = None) -> Limits:
    """Return the limits of a recipient, each replaced by the given one if there is one.

    Args:
        threshold: limit on the average risk, instead of the recipient's.
        highest: limit on the person at highest risk, instead of the recipient's.

    Raises:
        InputError: no recipient has that name, or a limit makes no sense.

    >>> settle_limits("public").class_size, settle_limits("restricted").average == 1 / 11
    (11, True)
    """
    usual = limits_of(recipient)
    return Limits(
        usual.highest if highest is None else read_limit(highest, "limit on the highest risk"),
        usual.average if threshold is None else read_limit(threshold, "threshold"),
    )


def find_recipient(name: str) -> Recipient:
    """The recipient with this name.

    Raises:
        InputError: no recipient has that name.

    >>> find_recipient("strict").is_public
    True
    """
    recipient = next((one for one in RECIPIENTS if one.name == name), None)
    if recipient is None:
        raise InputError(f"no recipient is called {name!r}; there are: {', '.join(one.name for one in RECIPIENTS)}")
    return recipient


def limits_of(recipient: str) -> Limits:
    """The usual limits of a recipient.

    Raises:
        InputError: no recipient has that name.
    """
    return find_recipient(recipient).limits


def in_words(recipient: str) -> str:
    """The name of the recipient within a sentence.

    >>> in_words("restricted")
    'a restricted circle'
    """
    return next((one.words for one in RECIPIENTS if one.name == recipient), recipient)


def recipient_of(limit: float) -> str | None:
    """The first recipient, in words, that has this limit on a person's risk; None if no recipient has it.

    >>> recipient_of(1 / 3), recipient_of(0.2)
    ('a trusted recipient', None)
    """
    return next((one.words for one in RECIPIENTS if math.isclose(one.limits.highest, limit)), None)


def choices() -> str:
    """All recipients with the smallest class each accepts, for messages and help.

    >>> choices()
    'trusted (classes of 3), restricted (classes of 3, average 1/11), public (classes of 11), strict (classes of 20)'
    """
    return ", ".join(
        f"{one.name} (classes of {one.limits.class_size}"
        + (f", average 1/{round(1 / one.limits.average)})" if one.limits.average else ")")
        for one in RECIPIENTS
    )
