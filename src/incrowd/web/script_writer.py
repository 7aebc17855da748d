"""Commands and Python scripts as text: opening a table, imports, and calls with one option per line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.assessment.command_line import is_typable, to_words, words_of
from incrowd.assessment.question import READING
from incrowd.web import models
from incrowd.web.fields import Model
from incrowd.web.session_table import TableSource

_HOMES = {
    "incrowd": "ClassSizes assess demo_table fit_curve forecast frontier leak_risk protect read_table",
    "incrowd.assessment": "Question find_release",
    "incrowd.attacks": "attack_release",
    "incrowd.curves": "correctness_curve robust_curve robust_curve_from_ranks sparse_curve study_accuracy",
    "incrowd.evaluation": "count_fitting_uniques",
    "incrowd.forecasts.side_by_side": "name_leaders",
    "incrowd.leaks": "leak_risk_uniform simulate_leak simulate_partial_leak",
    "incrowd.measures": "itemset_anonymity",
    "incrowd.pitman_yor": "fit_class_sizes",
    "incrowd.pitman_yor.model_checks": "rank_size_check",
    "incrowd.protection": "Hierarchy protect_items protect_trajectories regenerate",
    "incrowd.protection.regeneration": "read_counts",
    "incrowd.tables": "write_table",
}
"""The names that scripts use, by the module that they are imported from."""
UNTYPABLE = "a name has a letter that the command line reads otherwise, such as a comma"
_LITERALS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*["]""")
_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!=)")  # without methods and keywords


class ScriptName(str):
    """Text that is written into a script as code, without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def command_and_script(
    source: TableSource, verb: str, arguments: Sequence[str], lines: Sequence[str]
) -> models.Equivalent:
    """A verb as a command, after the commands that make its file, and as a script that opens the table first."""
    file = f"./{source.file}" if source.file.startswith("-") else source.file  # otherwise it reads as an option
    command = shlex.join(["incrowd", verb, file, *_reading(source), *arguments])
    opened = f"demo_table({source.rows}, seed={source.seed})" if source.kind == "demo" else repr(file)
    how = [f"{name}={value!r}" for name, value in source.how.items()]
    python = script_of([f"table = read_table({', '.join([opened, *how])})", *lines])
    both = models.Equivalent(cli="\n".join([*source.before, command]), python=python)
    return both if is_typable(list(source.how.get("scales", {})), ",=") else script_only(both)


def script_of(lines: Sequence[str]) -> str:
    """A script of these lines that imports the names they use.

    >>> print(script_of(["print(leak_risk(sizes, 5))"]))
    from incrowd import leak_risk
    <BLANKLINE>
    print(leak_risk(sizes, 5))
    """
    text = "\n".join(lines)
    used = {*_NAMES.findall(_LITERALS.sub("", text))}  # parsing the data in a long script would be slow
    by_module = {module: [name for name in names.split() if name in used] for module, names in _HOMES.items()}
    imports = [f"from {module} import {', '.join(names)}" for module, names in by_module.items() if names]
    return "\n".join([*imports, "", text])


def sizes_line(known: Sequence[str], person: str | None) -> str:
    """The line of a script that counts the classes of a table."""
    return f"sizes = ClassSizes.from_table(table, quasi_identifiers={known!r}, person={person!r})"


def fit_call(points: Sequence[models.Point], people: int | None) -> str:
    """The call that fits the law to measured points."""
    sizes, shares = [point.n for point in points], [point.correctness for point in points]
    return f"fit_curve({sizes!r}, correctness={shares!r}, people={people!r})"


def points_file(points: Sequence[models.Point]) -> str:
    """Measured points as the text of a CSV file."""
    return "\n".join(["n,correctness", *(f"{point.n},{point.correctness!r}" for point in points)])


def forecast_lines(question: models.ForecastQuestion, of: str) -> list[str]:
    """The lines of a script that forecast the expression `of` and print the result."""
    call = f"found = forecast({of}, at={question.at!r}, k={question.k!r}, seed={question.seed})"
    return [call, "print(found.correctness)"]


def _reading(source: TableSource) -> list[str]:
    """The reading options of a file as words of a command."""
    scales = ",".join(f"{name}={scale}" for name, scale in source.how.get("scales", {}).items())
    how = {**source.how, "scales": scales or None}
    return words_of({option.name: option for option in READING}, how) or []


def call_of(result: str, function: str, options: Mapping[str, Any], of: str = "table") -> str:
    """An assignment of a call with one option per line; empty options are left out."""
    given = [f"    {name}={value!r}," for name, value in options.items() if value not in (None, {}, [])]
    return "\n".join([f"{result} = {function}(", f"    {of},", *given, ")"])


def forecast_arguments(question: models.ForecastQuestion) -> list[str]:
    """The options of `incrowd forecast`."""
    compare = isinstance(question, models.CurveQuestion) and question.compare
    return to_words({"at": question.at, "k": question.k, "seed": question.seed or None, "compare": compare})


def changed_fields(question: Model, **instead: Any) -> dict[str, Any]:
    """The fields of a question that differ from their defaults, with those in `instead` replaced or added."""
    return question.model_dump(exclude_defaults=True) | instead


def script_only(both: models.Equivalent, why: str = UNTYPABLE) -> models.Equivalent:
    """The script, with a comment in place of a command that cannot be written."""
    return models.Equivalent(cli=f"# {why}; use the Python script", python=both.python)
