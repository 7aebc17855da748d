"""The command that makes a report again, as it is typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from incrowd.assessment import Assessment
from incrowd.recipients import RECIPIENTS


def assess_command(found: Assessment) -> str | None:
    """`incrowd assess` with every option that was asked for, and the roles that were used.

    None where a group has a name or a column that a command line cannot hold.
    """
    options, seed = found.provenance.options, found.provenance.seed
    groups = options["groups"]
    if awkward(groups, "=") or awkward([name for names in groups.values() for name in names], ","):
        return None
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
        *(word for label, names in groups.items() for word in ("--groups", f"{label}={','.join(names)}")),
        *([] if options["protection"] else ["--no-protection"]),
        *given("--seed", seed or None),
    ]
    table, *how = found.provenance.named
    return shlex.join(["incrowd", "assess", f"./{table}" if table.startswith("-") else table, *how, *words])


def awkward(names: Iterable[str], letters: str) -> bool:
    """Whether a name cannot be written where these letters end it.

    >>> awkward(["age", "income, net"], ","), awkward(["a=b"], ",")
    (True, False)
    """
    return any(name != name.strip() or any(letter in name for letter in letters) for name in names)


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
