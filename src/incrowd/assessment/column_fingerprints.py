"""Fingerprints of columns: a saved role applies only if the column still holds the same kind of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.assessment.question import Question
from incrowd.wording import listed

if TYPE_CHECKING:
    from incrowd.tables import SuggestedRole

ONE_ROLE = "one role"
"""The fingerprint of a column of an earlier file, which asked for one role in place of two answers: it fits nothing."""
_FEW = 60  # distinct values, up to which a column counts as codes or answers to choose from
_MOSTLY = 0.5  # distinct values for each filled cell, from which they are "mostly different"
_GRADES = ("few values", "many values", "mostly different values", "names people or records")
_NUMBERS = {"integer": "number"}


def content_of(one: SuggestedRole) -> str:
    """The kind of values of a column, how closely they single out rows, and what they seem to be about.

    >>> from incrowd.tables import read_table, suggest_roles
    >>> [content_of(one) for one in suggest_roles(read_table({"age": [30, 41, 30], "email": ["a", "b", "c"]}))]
    ['number: few values: age', 'text: names people or records: contact']
    """
    filled = one.rows - one.nulls
    grade = 1 if one.distinct > _FEW else 0
    if grade and one.distinct >= _MOSTLY * filled:
        grade = 2
    if one.role in ("identifier", "person") and one.confidence != "low":
        grade = 3
    return ": ".join(filter(None, (_NUMBERS.get(one.kind, one.kind), _GRADES[grade], one.topic)))


def with_contents(question: Question, suggested: Sequence[SuggestedRole]) -> Question:
    """The question with the fingerprints of the columns; those that it has already stay as they were judged.

    Columns that are removed or tell whose record it is have none.
    """
    without = {*question.identifiers, *question.drop, question.person, question.weights}
    now = {one.column: content_of(one) for one in suggested if one.column not in without}
    before = {name: content for name, content in question.contents.items() if name in now}
    return replace(question, contents={**now, **before})


def forget_outdated(question: Question, suggested: Sequence[SuggestedRole]) -> Question:
    """The question without the answers for columns whose contents changed; its `contents` then lists these columns.

    A column counts as changed if its values are of another kind or clearly about another topic, or if they have a
    higher grade (see `_GRADES`: they single out rows more closely) though nobody outside is taken to know them. An
    answer to one question of two (`ONE_ROLE`) never counts.
    """
    answered = {*question.other, *(question.sensitive or ()), *(question.quasi_identifiers or ())}
    judged = [one for one in suggested if one.column in question.contents and one.column in answered]
    known = question.quasi_identifiers or ()
    outdated = {
        one.column: question.contents[one.column]
        for one in judged
        if _changed(question.contents[one.column], one, is_known=one.column in known)
    }

    def remaining(names: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if names is None else tuple(name for name in names if name not in outdated)

    return replace(
        question,
        quasi_identifiers=remaining(question.quasi_identifiers) or None,
        other=remaining(question.other) or (),
        sensitive=remaining(question.sensitive),
        contents=outdated,
    )


def outdated_in_words(contents: Mapping[str, str]) -> str:
    """Why the answers for some columns are dropped, by the fingerprints that they had.

    >>> outdated_in_words({"age": "number: few values"})
    'age held something else when it was judged'
    """
    of_one_role = [name for name, content in contents.items() if content == ONE_ROLE]
    changed = [name for name in contents if name not in of_one_role]
    sentences = []
    if changed:
        sentences.append(
            f"{listed(changed)} held something else when {'it was' if len(changed) == 1 else 'they were'} judged"
        )
    if of_one_role:
        sentences.append(
            f"{listed(of_one_role)} {'has' if len(of_one_role) == 1 else 'have'} one role in a file of an earlier "
            "version, which did not ask both whether others can know a column and whether it is sensitive"
        )
    return "; ".join(sentences)


def _changed(held: str, one: SuggestedRole, *, is_known: bool) -> bool:
    """True if a column has several values, and another fingerprint than the saved one."""
    kind, grade, topic = (*held.split(": "), "", "")[:3]
    kind_now, grade_now, topic_now = (*content_of(one).split(": "), "")[:3]
    if one.distinct <= 1:
        return False
    has_topic = one.role != "other" and one.confidence != "low"
    if kind != kind_now or grade not in _GRADES or (has_topic and topic_now != topic):
        return True
    return not is_known and _GRADES.index(grade_now) > _GRADES.index(grade)
