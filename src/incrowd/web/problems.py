"""What the app refuses, as a status and a sentence."""

from __future__ import annotations

from incrowd.errors import IncrowdError


class Refusal(IncrowdError):  # noqa: N818
    """A request that is not answered; the sentence says what to do instead."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def not_found(what: str) -> Refusal:
    """Nothing of that name in this session; what other sessions hold is not there either."""
    return Refusal(404, f"there is no such {what}; it may have been removed, or belong to somebody else")
