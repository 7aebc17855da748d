"""The command and the Python script that do the same as a job of the app."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from incrowd.assessment import Question
from incrowd.assessment.command_line import to_arguments, to_call, to_words, words_of
from incrowd.evaluation.method_frontier import sizes_to_compare
from incrowd.protection.protect_options import OPTIONS
from incrowd.web import models
from incrowd.web import script_writer as scripts
from incrowd.web.coarsening import arx_text
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.session_table import OpenTable, TableSource
from incrowd.web.tasks.assess_task import assessment_question
from incrowd.web.tasks.leak_task import leaked_people, partial_options, whole_options
from incrowd.web.tasks.protect_task import in_population_of, options_of
from incrowd.web.tasks.solve_task import solver_options
from incrowd.web.tasks.table_question import decided_question


def assessment(table: OpenTable, question: models.AssessmentQuestion) -> models.Equivalent:
    """`incrowd assess`."""
    lines = ["print(found.verdict.sentence)", 'found.to_html("report.html")']
    return _assess(table.source, assessment_question(table, question), ["--html", "report.html"], lines)


def table_forecast(table: OpenTable, question: models.ForecastQuestion) -> models.Equivalent:
    """`incrowd assess`, which makes this forecast; for a `k` also `incrowd forecast`, which follows the law."""
    person = table.one_with_role("person")
    asked = Question(
        quasi_identifiers=table.decided_as("quasi-identifier") or None,  # `assess` would take guesses for answers
        person=person,
        weights=table.one_with_role("weight") if person is None else None,
        population=table.settings.population,
        strata=table.settings.strata,
        cluster=table.settings.cluster,
        protection=False,
        seed=question.seed,
    )
    assess = _assess(table.source, asked, [], ["print(found.forecast)"])
    if not question.k:
        return assess
    arguments = [*to_words({"qi": table.known_and_person[0], "person": person}), *scripts.forecast_arguments(question)]
    law = scripts.command_and_script(table.source, "forecast", arguments, [])
    return models.Equivalent(cli=f"{assess.cli}\n{law.cli.splitlines()[-1]}", python=assess.python)


def _assess(source: TableSource, question: Question, more: Sequence[str], lines: Sequence[str]) -> models.Equivalent:
    """A question as a command with further words, and as a script with further lines."""
    arguments = to_arguments(question)
    unattended = ["--yes"] if question.quasi_identifiers is None else []  # otherwise the command asks for roles
    words = [*(arguments or []), *unattended, *more]
    both = scripts.command_and_script(source, "assess", words, [to_call(question), *lines])
    return scripts.script_only(both) if arguments is None else both


def points_forecast(question: models.PointsQuestion) -> models.Equivalent:
    """Commands that write measured points to a file and run `incrowd forecast` on it."""
    points = scripts.points_file(question.points)
    people = to_words({"people": question.people})
    command = shlex.join(["incrowd", "forecast", "points.csv", *scripts.forecast_arguments(question), *people])
    lines = [f"fit = {scripts.fit_call(question.points, question.people)}", *scripts.forecast_lines(question, "fit")]
    return models.Equivalent(cli=f"cat > points.csv <<'END'\n{points}\nEND\n{command}", python=scripts.script_of(lines))


def leak(table: OpenTable, question: models.LeakQuestion) -> models.Equivalent:
    """`incrowd leak`, and once more for classes of `k` if the question has one."""
    known, person = table.known_and_person
    people = table.count(known, person).people if question.leaked is None or question.k is not None else 0
    leaked = leaked_people(question, people)
    common = to_words({"leaked": leaked, "targets": question.targets, "at_most": question.at_most})
    arguments = [*to_words({"qi": known, "person": person}), *common]
    lines = [
        scripts.sizes_line(known, person),
        f"for targets in {question.targets!r}:",
        f"    print(leak_risk(sizes, {leaked}, targets=targets).in_words)",
    ]
    if question.k is None:
        return scripts.command_and_script(table.source, "leak", arguments, lines)
    plan = shlex.join(["incrowd", "leak", "--people", str(people), "--k", str(question.k), *common])
    more = f"    print(leak_risk_uniform(people={people}, k={question.k}, leaked={leaked}, targets=targets).in_words)"
    both = scripts.command_and_script(table.source, "leak", arguments, [*lines, more])
    return models.Equivalent(cli=f"{both.cli}\n{plan}", python=both.python)


def simulation(table: OpenTable, question: models.SimulationQuestion) -> models.Equivalent:
    """`incrowd leak` with simulated leaks."""
    known, person = table.known_and_person
    leaked = leaked_people(question, table.count(known, person).people)
    always = {"leaked": leaked, "targets": question.targets, "simulate": question.trials}
    asked = scripts.changed_fields(question, leaked=leaked, share=None, trials=None)
    arguments = to_words({"qi": known, "person": person, **always, **asked})
    columns, of = {"quasi_identifiers": known, "person": person}, f"table, {leaked}"
    whole, in_part = columns | whole_options(question), columns | partial_options(question)
    lines = [scripts.call_of("found", "simulate_leak", whole, of=of), "print(found.probability, found.interval)"]
    if question.in_part:
        lines.append(scripts.call_of("part", "simulate_partial_leak", in_part, of=of))
        lines.append("print(part.true_positive_rate, part.false_positive_rate)")
    return scripts.command_and_script(table.source, "leak", arguments, lines)


def protection(table: OpenTable, asked: ProtectionRequest, everybody: TableSource | None = None) -> models.Equivalent:
    """`incrowd protect`; `everybody` is the population table of k-map."""
    out = table.source.protected_file
    options = options_of(asked, table, scripts.ScriptName(everybody.opened) if everybody else None)
    files, named = _hierarchy_files(asked.hierarchies)
    of_files = {"hierarchies": named} | ({"population_table": everybody.file} if everybody else {})
    words = words_of(OPTIONS, options | of_files)
    lines = [
        scripts.call_of("safe", "protect", _scripted(options, asked)),
        "print(safe.guarantee.sentence)",
        "print(safe.evaluate().verdict)",
        f"write_table(safe.table, {out!r})",
    ]
    both = scripts.command_and_script(table.source, "protect", [*(words or ()), "--out", out], lines)
    if words is None or (everybody and everybody.how):
        return scripts.script_only(both)
    before = everybody.before if everybody else ()
    return models.Equivalent(cli="\n".join([*before, *files, both.cli]), python=both.python)


def _hierarchy_files(hierarchies: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Commands that write hierarchies by rows to files, and the rule or the file of every hierarchy."""
    commands, named = [], {}
    for number, (name, rule) in enumerate(hierarchies.items(), 1):
        named[name] = rule if isinstance(rule, str) else f"hierarchy-{number}.csv"
        if not isinstance(rule, str):
            text = arx_text(rule)
            end = next(word for word in map("END{}".format, count()) if word not in text)
            commands.append(f"cat > {named[name]} <<'{end}'\n{text}{end}")
    return commands, named


def _scripted(options: Mapping[str, Any], asked: ProtectionRequest) -> dict[str, Any]:
    """Options of `protect` in a script: hierarchies by a rule or by rows, and `identifiers` even if there are none."""
    return {**options, **_scripted_hierarchies(asked), "identifiers": scripts.ScriptName(options["identifiers"])}


def _scripted_hierarchies(asked: ProtectionRequest) -> dict[str, Any]:
    """The option `hierarchies` of a request in a script, if there are any."""
    hierarchies = {
        name: rule if isinstance(rule, str) else scripts.ScriptName(f"Hierarchy.from_rows({rule!r})")
        for name, rule in asked.hierarchies.items()
    }
    return {"hierarchies": hierarchies} if hierarchies else {}


def solution(
    table: OpenTable, question: models.SolutionQuestion, everybody: TableSource | None = None
) -> models.Equivalent:
    """`find_release`; the command line searches for a recipient only, without the other settings."""
    asked = in_population_of(question.protection or table.settings.protection, table)
    opened = scripts.ScriptName(everybody.opened) if everybody else None
    options = _scripted(solver_options(asked, table, opened), asked)
    lines = [
        f"question = {_question_call(decided_question(table))}",
        scripts.call_of(
            "found",
            "find_release",
            {"question": scripts.ScriptName("question"), "seconds": question.seconds, **options},
        ),
        "print(found.verdict.sentence)",
    ]
    both = scripts.command_and_script(table.source, "protect", [], lines)
    return scripts.script_only(both, "the search follows every setting of the assessment")


def _question_call(question: Question) -> str:
    return f"Question({', '.join(f'{name}={value!r}' for name, value in question.keywords().items())})"


def frontier(table: OpenTable, question: models.FrontierQuestion) -> models.Equivalent:
    """`incrowd frontier`; it has no options for demands on every method, so with demands there is only the script."""
    gone, person = question.protection.leave_out, table.one_with_role("person")
    known = [name for name in table.with_role("quasi-identifier") if name not in gone]
    sizes = question.k or sizes_to_compare(decided_question(table).limits, table.count(known, person).people)
    asked = {"k": sizes, "sensitive": question.secrets, "person": person}
    arguments = to_words({"qi": known, "method": question.methods, **asked})
    demands = question.demands | _scripted_hierarchies(question.protection)
    options = {"quasi_identifiers": known, "methods": question.methods, **asked, "demands": demands}
    lines = [scripts.call_of("found", "frontier", options), "for point in found.best:", "    print(point)"]
    both = scripts.command_and_script(table.source, "frontier", arguments, lines)
    return scripts.script_only(both, f"the command compares without {', '.join(demands)}") if demands else both
