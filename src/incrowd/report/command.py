"""The command that makes a report again, as it is typed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from incrowd.assess import Assessment
from incrowd.recipients import RECIPIENTS


def assess_command(found: Assessment) -> str:
    """`incrowd assess` with every option that was asked for, and the roles that were used."""
    options, seed = found.provenance.options, found.provenance.seed
    usual = options["threshold"] == RECIPIENTS[options["recipient"]]
    words = [
        *each("--qi", options["quasi_identifiers"]),
        *each("--sensitive", options["sensitive"]),
        *given("--person", options["person"]),
        *given("--weight", options["weight"]),
        *each("--identifier", options["identifiers"]),
        *each("--other", options["other"]),
        *given("--population", options["population"]),
        *given("--recipient", options["recipient"]),
        *given("--threshold", None if usual else options["threshold"]),
        *(word for label, names in options["groups"].items() for word in ("--groups", f"{label}={','.join(names)}")),
        *([] if options["protection"] else ["--no-protection"]),
        *given("--seed", seed or None),
    ]
    return shlex.join(["incrowd", "assess", found.provenance.table, *words])


def each(option: str, names: Sequence[str]) -> list[str]:
    """An option for names: once with commas, or once for each where a name has one itself.

    >>> each("--qi", ["age", "sex"]), each("--qi", ["income, net", "age"])
    (['--qi', 'age,sex'], ['--qi', 'income, net', '--qi', 'age'])
    """
    if not names:
        return []
    if any("," in name or name != name.strip() for name in names):
        return [word for name in names for word in given(option, name)]
    return given(option, ",".join(names))


def given(option: str, value: Any) -> list[str]:
    """An option with its value, in one word where the value would be taken for an option itself."""
    if value is None:
        return []
    return [f"{option}={value}"] if str(value).startswith("-") else [option, str(value)]
