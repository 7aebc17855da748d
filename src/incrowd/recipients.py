"""Who may receive a table, the risk accepted for each, and the one function that judges a risk against a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from incrowd.errors import InputError

Judgement = Literal["within", "borderline", "over"]


@dataclass(frozen=True, slots=True)
class Recipient:
    """A kind of recipient and its limits, with the source they are taken from.

    `average` is the highest average risk that is accepted, `highest` the risk accepted for the person at highest risk;
    None where there is no such limit.
    """

    name: str
    words: str
    average: float | None
    highest: float | None
    source: str


_CONVENTION = "convention of health-data guides"
KINDS: tuple[Recipient, ...] = (
    Recipient("trusted", "a trusted recipient", 0.33, None, _CONVENTION),
    Recipient("restricted", "a restricted circle", 0.09, None, _CONVENTION),
    Recipient("public", "the public", 0.05, None, _CONVENTION),
)
"""Every kind of recipient: a partner bound by contract, a closed circle of researchers, everybody."""

RECIPIENTS: Mapping[str, float] = MappingProxyType(
    {kind.name: kind.average for kind in KINDS if kind.average is not None}
)
"""The highest average risk usually accepted for each kind of recipient: conventions, not laws; each can be replaced."""


def judge(risk: float, limit: float, interval: tuple[float, float] | None = None) -> Judgement:
    """Hold a risk against a limit: every verdict, caption and list of recipients uses this function.

    Args:
        risk: the risk, as counted or estimated.
        limit: the highest risk that is accepted.
        interval: both ends of the risk's interval, where it is an estimate.

    Returns:
        "borderline" if the limit lies inside the interval, "over" if the risk is above it, else "within".

    >>> judge(0.05, 0.05), judge(0.06, 0.05), judge(0.06, 0.05, (0.04, 0.08))
    ('within', 'over', 'borderline')
    """
    if interval is not None and interval[0] <= limit < interval[1]:
        return "borderline"
    return "over" if risk > limit else "within"


def in_words(recipient: str) -> str:
    """The recipient as it stands in a sentence.

    >>> in_words("restricted")
    'a restricted circle'
    """
    return next((kind.words for kind in KINDS if kind.name == recipient), recipient)


def recipient_of(threshold: float) -> str | None:
    """The recipient in words for whom a threshold is the usual one, or None.

    >>> recipient_of(0.33), recipient_of(0.2)
    ('a trusted recipient', None)
    """
    return next((kind.words for kind in KINDS if kind.average == threshold), None)


def listed() -> str:
    """All recipients with their thresholds, for messages and help.

    >>> listed()
    'trusted (0.33), restricted (0.09), public (0.05)'
    """
    return ", ".join(f"{name} ({limit:g})" for name, limit in RECIPIENTS.items())


def usual_threshold(recipient: str) -> float:
    """The threshold of a recipient.

    Raises:
        InputError: no recipient has that name.

    >>> usual_threshold("public")
    0.05
    """
    if recipient not in RECIPIENTS:
        raise InputError(f"no recipient is called {recipient!r}; there are: {listed()}; a threshold sets another bound")
    return RECIPIENTS[recipient]


def settle_threshold(recipient: str, threshold: float | None) -> float:
    """The threshold as given, or the usual one of the recipient.

    Raises:
        InputError: no recipient has that name, or the threshold is not above 0 and at most 1.
    """
    usual = usual_threshold(recipient)
    if threshold is None:
        return usual
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold:g}; give a number above 0, up to 1")
    return threshold
