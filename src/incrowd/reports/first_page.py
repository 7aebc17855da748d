"""The first page of a report, for those who decide: verdict, how somebody is found, before and after, conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.assessment import Assessment
from incrowd.classes import ClassSizes
from incrowd.measures.attribute_sets import KnowledgeRisk
from incrowd.recipients import in_words
from incrowd.reports.crowd_picture import crowd_picture
from incrowd.reports.standing import Standing, standing_of
from incrowd.wording import chosen_percent, percent

_STEPS = 5  # of the chain
_WORDS = ("People who stand alone", "The easiest person is found", "Found on average")
_ACCEPTED = "Accepted for the easiest person"
_TITLES: Mapping[Standing, str] = {"yes": "may go to", "if": "may go to", "no": "may not go to"}


@dataclass(frozen=True, slots=True)
class Origin:
    """What a protected table was made of, and who decided about it.

    Attributes:
        before: the class sizes of the original.
        cells_unchanged: the share of all cells of the original that are as they were.
        columns: how many columns of the original are left.
        columns_before: how many it had.
        signed: who decided, and when; empty while nobody has.
        confirmed: the conditions that were confirmed, each with the reason.
        files: the files with their SHA-256.
    """

    before: ClassSizes
    cells_unchanged: float
    columns: int
    columns_before: int
    signed: str = ""
    confirmed: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def first_page(assessment: Assessment, origin: Origin | None) -> dict[str, Any]:
    """The values of the first page for its template."""
    verdict, facts = assessment.verdict, assessment.facts
    stands = standing_of(verdict.decision, verdict.conditions)
    least = verdict.limits.class_size
    words = "is not judged yet for" if verdict.decision in ("undecided", "borderline") else _TITLES[stands]
    after = crowd_picture(facts.sizes, least, f"{facts.uniques:,} of {facts.people:,} people are alone")
    before = origin and crowd_picture(origin.before, least, f"before: {origin.before.uniques:,} people are alone")
    return {
        "title": f"{assessment.provenance.table} {words} {in_words(verdict.recipient)}",
        "chain": _chain(assessment) if origin is None else [],
        "pictures": [one for one in (before, after) if one],
        "rows": _rows(assessment, origin),
        "least": least,
        "conditions": [(str(one), (origin.confirmed if origin else {}).get(str(one))) for one in verdict.conditions],
        "signed": origin.signed if origin else "",
        "files": dict(origin.files) if origin else {},
    }


def _rows(assessment: Assessment, origin: Origin | None) -> list[tuple[str, str | None, str]]:
    """What changed: the words, the number before, and the number now."""
    facts, limits = assessment.facts, assessment.verdict.limits
    sizes = assessment.evidence.sizes_if_known or facts.sizes  # what nobody judged counts as known
    limit = f"1 in {limits.class_size:,} ({chosen_percent(limits.highest)})"
    now = [f"{sizes.uniques:,}", _one_in(sizes.smallest), percent(sizes.correctness)]
    if origin is None:
        return [(words, None, value) for words, value in zip((*_WORDS, _ACCEPTED), (*now, limit), strict=True)]
    was = origin.before
    before = [f"{was.uniques:,}", _one_in(was.smallest), percent(was.correctness)]
    return [
        *zip(_WORDS, before, now, strict=True),
        ("Cells unchanged", "100%", percent(origin.cells_unchanged)),
        ("Columns", f"{origin.columns_before:,}", f"{origin.columns:,}"),
        (_ACCEPTED, limit, limit),
    ]


def _one_in(size: int) -> str:
    return "certainly" if size == 1 else f"1 in {size:,}"


def _chain(assessment: Assessment) -> list[tuple[str, int, float]]:
    """How few are left as one attribute after the other is known: words, people left on average, and a share.

    The person is invented: the averages over everybody, by the most telling set of each size that holds the one before.
    """
    people = assessment.facts.people
    chain: list[tuple[str, int, float]] = [("everybody", people, 1.0)]
    known: set[str] = set()
    for risk in _nested(assessment.knowledge.by_set, assessment.knowledge.worst_by_size):
        (column,) = set(risk.columns) - known
        known.add(column)
        left = max(1, round(1 / risk.correctness))
        chain.append((f"knows {column}", left, math.log(left) / math.log(people) if people > 1 else 0.0))
        if left == 1 or len(chain) == _STEPS:
            break
    return chain


def _nested(small: Sequence[KnowledgeRisk], largest: Sequence[KnowledgeRisk]) -> list[KnowledgeRisk]:
    """The most telling set of each size that adds one column to the set before."""
    found: list[KnowledgeRisk] = []
    risks = sorted({risk.columns: risk for risk in (*small, *largest)}.values(), key=lambda risk: -risk.correctness)
    while True:
        known = set(found[-1].columns) if found else set()
        larger = (risk for risk in risks if len(risk.columns) == len(known) + 1 and known <= set(risk.columns))
        following = next(larger, None)
        if following is None:
            return found
        found.append(following)
