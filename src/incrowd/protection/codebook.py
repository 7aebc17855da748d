"""The codebook of a release: how every column was changed. It holds no cell."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd._support.files import written_whole
from incrowd.backends.arrow_columns import value_type
from incrowd.errors import InputError
from incrowd.protection.result import Protected
from incrowd.results import Result
from incrowd.tables import read_table
from incrowd.tables.released_values import bounds_of
from incrowd.wording import number, percent

_WRITTEN = {
    "range": "ranges [low;high] with both ends, sets {a,b}, * for anything; a plain value stands for itself",
    "bounds": "two columns, the smallest and the largest value that the class allows for; missing: anything",
    "midpoint": "the middle of the range of the class; missing: anything",
    "mean": "the mean of the class; missing: a member has no value",
    "mode": "the commonest value of the class, the smallest of several",
    "label": "the finest label of the hierarchy that the class shares; * for anything",
}
_CORRECTIONS = {
    "range": "a cell stands for every value in it: treat a range as interval-censored, and a set as one of its members",
    "bounds": "treat the value as interval-censored between the two columns",
    "midpoint": "a value is off by half the range of its class at most; variances are too small by what varies within "
    "classes, so that standard errors are understated",
    "mean": "totals and means are kept, but for rounding; variances are too small by what varies within classes, so "
    "that standard errors are understated",
    "mode": "counts of common values are too large, and those of rare ones too small",
}


@dataclass(frozen=True, slots=True)
class Variable(Result):
    """One released column: its role, type and treatment, the form of its cells, and the share of changed cells.

    `correction` says how to correct an analysis for the treatment. `parameters` are those of its perturbation steps, in
    order.
    """

    name: str
    role: str
    type: str
    treatment: str
    written: str = ""
    changed: float = 0.0
    hierarchy: str | None = None
    level: int | None = None
    correction: str = ""
    parameters: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Codebook(Result):
    """Description of how a table was changed before its release."""

    method: str
    method_help: str
    guarantee: str
    k: int
    records: int
    suppressed_records: int
    removed: tuple[str, ...]
    variables: tuple[Variable, ...]
    shuffled: bool = False

    def to_ddi(self) -> dict[str, Any]:
        """The codebook as DDI Codebook 2.5; facts without a DDI element are in elements `anonymisation`."""
        variables = [
            {
                "@name": one.name,
                "varFormat": {"@type": "numeric" if one.type not in ("text", "other") else "character"},
                "concept": one.role,
                "codInstr": ". ".join(filter(None, (one.treatment, one.written))),
                "anonymisation": one.to_dict(),
            }
            for one in self.variables
        ]
        described = {name: value for name, value in self.to_dict().items() if name != "variables"}
        return {
            "codeBook": {
                "@version": "2.5",
                "stdyDscr": {"method": {"dataColl": {"cleanOps": f"{self.method_help} {self.guarantee}."}}},
                "fileDscr": {"fileTxt": {"dimensns": {"caseQnty": self.records, "varQnty": len(variables)}}},
                "dataDscr": {"var": variables},
                "anonymisation": described,
            }
        }

    def to_markdown(self) -> str:
        """The codebook as a Markdown page."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# Codebook"
        yield ""
        yield f"{self.records:,} records, {len(self.variables):,} columns. Method: {self.method}. {self.method_help}"
        yield f"Guarantee, counted on the released table: {self.guarantee}."
        if self.shuffled:
            yield "Records are in random order."
        if self.suppressed_records:
            yield f"{self.suppressed_records:,} records were left out."
        if self.removed:
            yield f"Columns left out: {', '.join(self.removed)}."
        yield ""
        yield "| column | role | type | what was done | cells changed | how it is written |"
        yield "|---|---|---|---|---|---|"
        for one in self.variables:
            cells = (one.name, one.role, one.type, one.treatment, percent(one.changed), one.written)
            yield _row(cells)
        corrected = [one for one in self.variables if one.correction]
        if corrected:
            yield from ("", "## Correct an analysis for it", "")
            yield from (f"- {one.name}: {one.correction}." for one in corrected)
        for one in self.variables:
            for matrix in (step["matrix"] for step in one.parameters if "matrix" in step):
                yield from ("", f"Probabilities that a value of {one.name} (row) became another (column):", "")
                yield _row(["", *matrix])
                yield _row(["---"] * (len(matrix) + 1))
                yield from (
                    _row([value, *(number(row.get(other, 0.0)) for other in matrix)]) for value, row in matrix.items()
                )

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the codebook to a file: `.json` with DDI's element names, or `.md`.

        Raises:
            InputError: the file exists already, or has another extension.
        """
        target = Path(path)
        if target.suffix.lower() not in (".json", ".md"):
            raise InputError(f"a codebook is written to .json or .md, not to {target.name}")
        text = self.to_markdown() if target.suffix.lower() == ".md" else json.dumps(self.to_ddi(), indent=2) + "\n"
        with written_whole(target, force=force) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return target


def _row(cells: Iterable[str]) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def make_codebook(protected: Protected) -> Codebook:
    """Describe what was done to every column of a protected table.

    Args:
        protected: what `protect` returned.

    Returns:
        The codebook. It holds column names and counts; the only values are the categories in the matrix of PRAM.

    >>> from incrowd import protect
    >>> safe = protect({"age": [30, 31, 62, 64]}, quasi_identifiers=["age"], k=2, output="midpoint", identifiers=[])
    >>> make_codebook(safe).variables[0].treatment
    'generalised within classes of 2 or more'
    """
    table = read_table(protected.table)
    types = {field.name: _type_of(field.type) for field in table.to_arrow().schema}
    original_of = {name: name for name in table.columns}
    bounded = (name for name, kind in protected.outputs.items() if kind == "bounds")
    original_of |= {end: name for name in bounded for end in bounds_of(name)}
    return Codebook(
        protected.method,
        protected.method_help,
        protected.guarantee.sentence,
        protected.guarantee.k,
        protected.rows,
        protected.suppressed_rows,
        protected.removed,
        tuple(_describe(protected, name, original_of[name], types[name]) for name in table.columns),
        protected.shuffled,
    )


def _describe(protected: Protected, name: str, original: str, kind: str) -> Variable:
    """The codebook's entry of a released column `name` that was made from the column `original`."""
    if original in protected.pseudonymised:
        pseudonyms = "pseudonyms under a secret key" if protected.keyed else "random numbers that nothing can reproduce"
        return Variable(name, "person", kind, f"replaced by {pseudonyms}", changed=1.0)
    role = "sensitive" if original in protected.sensitive else "other"
    steps = protected.settings.get("treatments", {}).get(original)
    if steps:
        return Variable(
            name,
            "quasi-identifier" if original in protected.quasi_identifiers else role,
            kind,
            "; then ".join(step["treatment"] for step in steps),
            "values of the column's own type",
            protected.changed_cells[original] / max(protected.rows, 1),
            correction="; ".join(dict.fromkeys(step["correction"] for step in steps)),
            parameters=tuple(_parameters(step) for step in steps),
        )
    if original not in protected.quasi_identifiers:
        return Variable(name, role, kind, "as in the original")
    return _describe_quasi_identifier(protected, name, original, kind)


def _describe_quasi_identifier(protected: Protected, name: str, original: str, kind: str) -> Variable:
    """The codebook's entry of a quasi-identifier that was recoded or blanked, or did not change."""
    changed = protected.changed_cells.get(original, 0) / max(protected.rows, 1)
    hierarchy = (protected.hierarchies or {}).get(original)
    default_output = "range" if hierarchy is None else "label"
    k = protected.guarantee.asked_k
    verb = "blanked" if protected.method == "blank" else "generalised"
    if protected.guarantee.wildcards:
        verb = "blanked where fewer match; a blank may be any value,"
    treatment = verb if k is None else f"{verb} within classes of {k:,} or more"
    output = protected.outputs.get(original, default_output)
    is_recoded = changed > 0 and protected.method != "blank"
    return Variable(
        name,
        "quasi-identifier",
        kind,
        treatment if changed else "as in the original",
        _WRITTEN[output] if is_recoded else "",
        changed,
        None if hierarchy is None else hierarchy.name,
        protected.settings.get("levels", {}).get(original),
        _CORRECTIONS.get(output, "") if is_recoded else "",
    )


def _parameters(step: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in step.items() if name not in ("treatment", "correction")}


def _type_of(kind: pa.DataType) -> str:
    """The type of a column in plain words."""
    kind = value_type(kind)
    tests = {
        "text": (pa.types.is_string, pa.types.is_large_string),
        "whole number": (pa.types.is_integer,),
        "number": (pa.types.is_floating, pa.types.is_decimal),
        "date or time": (pa.types.is_temporal,),
        "yes or no": (pa.types.is_boolean,),
    }
    return next((word for word, checks in tests.items() if any(check(kind) for check in checks)), "other")
