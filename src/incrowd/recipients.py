"""Who may receive a table, and the risk that is usually accepted for each: the one place that names them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from incrowd.errors import InputError

RECIPIENTS: Mapping[str, float] = MappingProxyType({"trusted": 0.33, "restricted": 0.09, "public": 0.05})
"""The highest average risk usually accepted for each kind of recipient: a partner bound by contract, a closed circle of
researchers, everybody. They are conventions of health-data guides, not laws; every one can be replaced."""

_IN_WORDS = {"trusted": "a trusted recipient", "restricted": "a restricted circle", "public": "the public"}


def in_words(recipient: str) -> str:
    """The recipient as it stands in a sentence.

    >>> in_words("restricted")
    'a restricted circle'
    """
    return _IN_WORDS.get(recipient, recipient)


def recipient_of(threshold: float) -> str | None:
    """The recipient in words for whom a threshold is the usual one, or None.

    >>> recipient_of(0.33), recipient_of(0.2)
    ('a trusted recipient', None)
    """
    return next((in_words(name) for name, bound in RECIPIENTS.items() if bound == threshold), None)


def listed() -> str:
    """All recipients with their thresholds, for messages and help.

    >>> listed()
    'trusted (0.33), restricted (0.09), public (0.05)'
    """
    return ", ".join(f"{name} ({bound:g})" for name, bound in RECIPIENTS.items())


def usual_threshold(recipient: str) -> float:
    """The threshold of a recipient, if there is one of that name.

    >>> usual_threshold("public")
    0.05
    """
    if recipient not in RECIPIENTS:
        raise InputError(f"no recipient is called {recipient!r}; there are: {listed()}; a threshold sets another bound")
    return RECIPIENTS[recipient]


def settle_threshold(recipient: str, threshold: float | None) -> float:
    """The threshold as given, or the usual one for the recipient."""
    usual = usual_threshold(recipient)
    if threshold is None:
        return usual
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold:g}; give a number above 0, up to 1")
    return threshold
