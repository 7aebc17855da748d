"""Commands and Python scripts as text: how a table is opened, what a script imports, calls with an option a line."""

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
_TEXTS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*["]""")
_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!=)")  # not of methods, nor of options


class ScriptName(str):
    """Text that stands in a script as a name, without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def command_and_script(
    source: TableSource, verb: str, arguments: Sequence[str], lines: Sequence[str]
) -> models.Equivalent:
    """A verb as a command, after the commands that make its file, and as a script that opens the table first."""
    file = f"./{source.file}" if source.file.startswith("-") else source.file  # or it would be taken for an option
    command = shlex.join(["incrowd", verb, file, *_reading(source), *arguments])
    opened = f"demo_table({source.rows}, seed={source.seed})" if source.kind == "demo" else repr(file)
    how = [f"{name}={value!r}" for name, value in source.how.items()]
    python = script_of([f"table = read_table({', '.join([opened, *how])})", *lines])
    found = models.Equivalent(cli="\n".join([*source.before, command]), python=python)
    return without_command(found, not is_typable(list(source.how.get("scales", {})), ",="))


def script_of(lines: Sequence[str]) -> str:
    """These lines as a script, which imports what they use.

    >>> print(script_of(["print(leak_risk(sizes, 5))"]))
    from incrowd import leak_risk
    <BLANKLINE>
    print(leak_risk(sizes, 5))
    """
    text = "\n".join(lines)
    used = {*_NAMES.findall(_TEXTS.sub("", text))}  # a syntax tree of the data in a script takes long
    found = {module: [name for name in names.split() if name in used] for module, names in _HOMES.items()}
    imports = [f"from {module} import {', '.join(names)}" for module, names in found.items() if names]
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
    """The lines of a script that forecast something and print it."""
    asked = f"found = forecast({of}, at={question.at!r}, k={question.k!r}, seed={question.seed})"
    return [asked, "print(found.correctness)"]


def _reading(source: TableSource) -> list[str]:
    """Reading options of the file."""
    scales = ",".join(f"{name}={scale}" for name, scale in source.how.get("scales", {}).items())
    how = {**source.how, "scales": scales or None}
    return words_of({option.name: option for option in READING}, how) or []


def call_of(result: str, function: str, options: Mapping[str, Any], of: str = "table") -> str:
    """A call with an option a line; what is not asked for is left out."""
    given = [f"    {name}={value!r}," for name, value in options.items() if value not in (None, {}, [])]
    return "\n".join([f"{result} = {function}(", f"    {of},", *given, ")"])


def forecast_arguments(question: models.ForecastQuestion) -> list[str]:
    """The options of a forecast."""
    compare = isinstance(question, models.CurveQuestion) and question.compare
    return to_words({"at": question.at, "k": question.k, "seed": question.seed or None, "compare": compare})


def changed_fields(question: Model, **instead: Any) -> dict[str, Any]:
    """The fields of a question that differ from their defaults, with those in `instead` replaced or added."""
    return question.model_dump(exclude_defaults=True) | instead


def without_command(found: models.Equivalent, untypable: bool) -> models.Equivalent:
    """The equivalent, with words in place of a command that cannot be written."""
    if not untypable:
        return found
    words = "# a name has a letter that the command line reads otherwise, such as a comma; use the Python script"
    return models.Equivalent(cli=words, python=found.python)
