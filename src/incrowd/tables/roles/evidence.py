"""From evidence to the two questions: what labelled columns with the same kind of evidence were.

The numbers are data (evidence.toml), counted from labelled columns with each of their sources left out once: a kind of
evidence counts as it does without the source that speaks for it most.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SPEAKS = 0.7  # share of labelled columns for which a yes was right, below which the form stays empty
_DENIES = 0.02  # share of labelled columns for which a no was wrong, up to which it is said
_SOURCES, _COLUMNS = 5, 50  # sources of labelled columns, at least; and columns for a no: fewer show nothing
_POINTS_TO = {"known": "quasi-identifier", "sensitive": "sensitive"}


@dataclass(frozen=True, slots=True)
class Record:
    """How often answers were right for labelled columns with one kind of evidence.

    Attributes:
        columns: the labelled columns with this evidence.
        sources: the files, studies and packages that they are of.
        right: for each question, the share of the columns for which yes is right, with any source left out at least.
        due: for each question, the share for which only yes is right, with any source left out at most.
    """

    columns: int
    sources: int
    right: dict[str, float]
    due: dict[str, float]


def kind_of_evidence(found_in: str, role: str, also: str) -> str:
    """A kind of evidence: where it was found, and which role or roles it points to.

    >>> kind_of_evidence("word", "sensitive", "quasi-identifier")
    'word: sensitive or quasi-identifier'
    """
    return f"{found_in}: {role} or {also}" if also else f"{found_in}: {role}"


def answer(question: str, found_in: str, role: str, also: str) -> bool | None:
    """What evidence says to "known" or "sensitive"; None where labelled columns do not show it clearly.

    Evidence that points to a yes is never a no: then the question is open.

    >>> [answer(question, "word", "quasi-identifier", "") for question in ("known", "sensitive")]
    [True, False]
    >>> answer("known", "sentence", "quasi-identifier", "") is None
    True
    """
    record = records().get(kind_of_evidence(found_in, role, also))
    if record is None or record.sources < _SOURCES:
        return None
    if _POINTS_TO[question] in (role, also):
        return True if record.right[question] >= _SPEAKS else None
    return False if record.due[question] <= _DENIES and record.columns >= _COLUMNS else None


@cache
def records() -> dict[str, Record]:
    """The record of every kind of evidence that labelled columns have."""
    listed = tomllib.loads(files(__package__).joinpath("evidence.toml").read_text(encoding="utf-8"))
    return {kind: Record(**entries) for kind, entries in listed.items()}
