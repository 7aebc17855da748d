"""Labelled columns: what is suggested for them, and how often that is right.

`python -m tests.tables.role_scores > src/incrowd/tables/roles/evidence.toml` writes how often each kind of evidence was
right, with each source left out once.
"""

import itertools
import re
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from tests.tables.codebook_values import draw_table, read_codebooks

from incrowd import read_table, suggest_roles
from incrowd.tables import SuggestedRole
from incrowd.tables.roles.evidence import kind_of_evidence
from incrowd.tables.roles.suggest import find_evidence

DRAWN = ("role_codebooks.toml", "role_packages.toml", "role_questions.toml")
QUESTIONS = {"known": "quasi-identifier", "sensitive": "sensitive"}
LISTS = ("role_names.toml", *DRAWN)


@dataclass(frozen=True)
class Labelled:
    """A labelled column, its source, the roles that are right for it, and what is suggested."""

    source: str
    right: frozenset[str]
    suggested: SuggestedRole
    evidence: SuggestedRole  # what it points to, however weak

    def is_due(self, question):
        """True if no other answer than yes is right."""
        return self.right == {QUESTIONS[question]}


def read_labels():
    """By table: its half, and the roles that are right for each column."""
    listed = tomllib.loads(Path(__file__).with_name("role_labels.toml").read_text(encoding="utf-8"))
    return {
        table: (
            entries.pop("split"),
            {column: set(roles.split(" or ")) for roles, columns in entries.items() for column in columns.split()},
        )
        for table, entries in listed.items()
    }


def read_names():
    """By file: the roles that are right for each column, for files of which only the names are known."""
    listed = tomllib.loads(Path(__file__).with_name("role_names.toml").read_text(encoding="utf-8"))
    return {
        file: {column: set(roles.split(" or ")) for roles, columns in entries.items() for column in columns.split()}
        for file, entries in listed.items()
    }


def draw_values(labels, rows=600):
    """Values for labelled columns, such that the name has to tell: codes, numbers of records, weights, bodies."""
    generator = np.random.default_rng(0)
    drawn = {}
    for name, roles in labels.items():
        if roles == {"identifier"}:
            drawn[name] = generator.permutation(np.arange(10_000, 10_000 + 3 * rows))[:rows]
        elif "person" in roles:
            drawn[name] = np.repeat(np.arange(5_000, 5_000 + rows // 2), 2)
        elif roles == {"weight"}:
            drawn[name] = generator.lognormal(6, 0.5, rows)
        elif re.match("(?i)weight|wt", name):
            drawn[name] = generator.normal(75, 12, rows)
        else:
            drawn[name] = generator.integers(1, 30 if roles == {"sensitive"} else 9, rows)
    return drawn


@cache
def suggest_without_names():
    """Every labelled column of a known kind of values, under a name that says nothing: its cells have to tell."""
    columns = []
    for file, entries in ((file, entries) for list_ in DRAWN for file, entries in read_codebooks(list_).items()):
        unnamed = {f"x{place:04}": entry for place, entry in enumerate(entries.values())}
        table = draw_table({name: kind for name, (kind, _) in unnamed.items()})
        columns += label(file, {name: roles for name, (_, roles) in unnamed.items()}, table)
    return tuple(columns)


@cache
def suggest_for(list_):
    """Every labelled column of a list of names or codebooks, with what is suggested for it."""
    columns = []
    if list_ == "role_names.toml":
        tables = [(file, labels, draw_values(labels)) for file, labels in read_names().items()]
    else:
        tables = [
            (
                file,
                {name: roles for name, (_, roles) in entries.items()},
                draw_table({name: kind for name, (kind, _) in entries.items()}),
            )
            for file, entries in read_codebooks(list_).items()
        ]
    for file, labels, table in tables:
        columns += label(file, labels, table)
    return tuple(columns)


def label(source, labels, table):
    """What is suggested for the columns of a table, with the roles that are right."""
    table, source = read_table(table), source.partition("/")[0]
    pairs = zip(suggest_roles(table), find_evidence(table, table.columns), strict=True)
    return [Labelled(source, frozenset(labels[one.column]), one, evidence) for one, evidence in pairs]


def count_matches(columns):
    """How often each role was suggested, rightly suggested, due, and found where it was due; and what went wrong.

    A column with several right roles is due for none of them.
    """
    counts, wrong = Counter(), []
    for column in columns:
        role, right = column.suggested.role, column.right
        counts["suggested", role] += 1
        counts["right", role] += role in right
        if len(right) == 1:
            (due,) = right
            counts["due", due] += 1
            counts["found", due] += role == due
        if role not in right:
            reason = column.suggested.reason
            wrong.append(f"{column.source}.{column.suggested.column}: {role}, not {sorted(right)} ({reason})")
    return counts, "\n".join(wrong)


def precision(counts, role):
    return counts["right", role] / max(counts["suggested", role], 1)


def recall(counts, role):
    return counts["found", role] / counts["due", role] if counts["due", role] else 1.0


def score_answers(columns):
    """Of the two questions: how often a yes was right, how often a due yes was said, and what was called harmless."""
    scores = {}
    for question, role in QUESTIONS.items():
        said = [column for column in columns if getattr(column.suggested, question)]
        due = [column for column in columns if column.is_due(question)]
        scores[question] = (
            sum(role in column.right for column in said) / max(len(said), 1),
            sum(bool(getattr(column.suggested, question)) for column in due) / max(len(due), 1),
        )
    sensitive = [column for column in columns if column.is_due("sensitive")]
    harmless = [column.suggested.column for column in sensitive if column.suggested.guess in ("known", "neither")]
    scores["harmless"] = len(harmless) / max(len(sensitive), 1)
    scores["silent"] = sum(not column.suggested.guess for column in columns) / len(columns)
    return scores


def count_evidence():
    """By kind of evidence: its columns and sources, and the shares for which each answer was right."""
    by_kind = defaultdict(list)
    for column in itertools.chain(suggest_without_names(), *map(suggest_for, LISTS)):
        one = column.evidence
        if one.role in QUESTIONS.values():
            by_kind[kind_of_evidence(one.found_in, one.role, one.also)].append(column)
    return {kind: _record(columns) for kind, columns in sorted(by_kind.items())}


def _record(columns):
    sources = sorted({column.source for column in columns})
    rest = [[column for column in columns if column.source != source] for source in sources] if len(sources) > 1 else []
    right, due = {}, {}
    for question, role in QUESTIONS.items():
        shares = [np.mean([role in column.right for column in part]) for part in rest]
        needed = [np.mean([column.is_due(question) for column in part]) for part in rest]
        right[question] = round(float(min(shares, default=0)), 3)
        due[question] = round(float(max(needed, default=1)), 3)
    return {"columns": len(columns), "sources": len(sources), "right": right, "due": due}


def evidence_as_text():
    """The text of evidence.toml."""
    lines = [
        "# Labelled columns by kind of evidence: for each question, the share for which yes is right (at least)",
        "# and the share for which only yes is right (at most), without any one source.",
        "# Written by `python -m tests.tables.role_scores`.",
    ]
    for kind, record in count_evidence().items():
        lines += ["", f'["{kind}"]', f"columns = {record['columns']}", f"sources = {record['sources']}"]
        for name in ("right", "due"):
            shares = ", ".join(f"{question} = {share}" for question, share in record[name].items())
            lines.append(f"{name} = {{ {shares} }}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(evidence_as_text())
