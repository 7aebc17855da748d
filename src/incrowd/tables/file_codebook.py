"""Metadata of a file: descriptions, value labels, missing codes and scales of columns, and its text dialect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.backends.scales import Scale
from incrowd.tables.text_dialect import TextDialect


@dataclass(frozen=True, slots=True)
class FileCodebook:
    """Descriptions of columns."""

    # the description of each column in words ("variable labels")
    descriptions: Mapping[str, str] = field(default_factory=dict)
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)  # by column, the label of each code
    # by column, how many cells are missing for which reason, such as "refused"
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # the scale of measurement of columns, if the file states it
    scales: Mapping[str, Scale] = field(default_factory=dict)
    # the format of a column in the terms of its file, such as F8.2 or %td
    formats: Mapping[str, str] = field(default_factory=dict)
    unused_labels: tuple[str, ...] = ()  # columns whose file has labels for codes that no cell holds
    dialect: TextDialect = field(default_factory=TextDialect)  # how a text file is written


def label_texts(labels: Mapping[Any, str], codes: Sequence[Any]) -> dict[Any, str]:
    """The text of every code: its label, followed by the code if two codes share the label, or the code itself.

    >>> label_texts({1: "yes", 2: "no", 3: "no"}, [1, 2, 3, 7])
    {1: 'yes', 2: 'no (2)', 3: 'no (3)', 7: '7'}
    """
    texts = {code: labels.get(code, "").strip() or code_text(code) for code in codes}
    times = Counter(texts.values())
    return {code: text if times[text] == 1 else f"{text} ({code_text(code)})" for code, text in texts.items()}


def code_text(code: Any) -> str:
    """A code as text; a whole number has no decimal point.

    >>> code_text(2.0), code_text("a")
    ('2', 'a')
    """
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
