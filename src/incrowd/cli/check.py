"""`incrowd check`: check a table against rules. Exit 0 if all are kept, 1 if one is broken, 2 if that is not known."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.addresses import masked
from incrowd._support.files import written_whole
from incrowd.assessment.question import DECIDING, Question
from incrowd.assessment.settings_file import read_question
from incrowd.cli import options, terminal
from incrowd.cli.command_files import Input, Output
from incrowd.cli.declared_options import (
    question_from,
    refuse_without_recipient,
    with_options,
    with_question_options,
)
from incrowd.cli.hints import with_flags
from incrowd.cli.open_tables import opens_table
from incrowd.errors import IncrowdError, InputError
from incrowd.gate_rules import RULES, check_limits

if TYPE_CHECKING:
    from incrowd.gate import Check
    from incrowd.tables import Table


_HEAD = 4096  # bytes that hold the first element of a result

_ROLES = ("quasi_identifiers", "sensitive", "person", "identifiers", "drop", "other")
_OF_SECRETS = ("secrets", "certain")  # options of --max-given-away and of the verdict
_OF_THE_VERDICT = tuple(  # options of the verdict alone
    option.name for option in DECIDING if option.name not in (*_ROLES, *_OF_SECRETS, "recipient")
)


def _reports_failure(command: Callable[..., None]) -> Callable[..., None]:
    """Write an error to --junit too; otherwise a CI server would show the result of the last run."""

    @functools.wraps(command)
    def reporting(**given: Any) -> None:
        junit = given["junit"]
        if junit is not None:
            _refuse_other_files(junit)
        try:
            command(**given)
        except IncrowdError as error:
            if junit is not None:
                from incrowd.gate import junit_error

                _write_junit(junit_error(masked(given["table"]), with_flags(str(error), error.hint)), junit)
            raise

    return reporting


@_reports_failure
@opens_table
@with_question_options(*(option.name for option in DECIDING))
@with_options(rule.option for rule in RULES.values())
def check_table(
    table: options.TablePath,
    policy: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with \\[answers] and \\[rules], such as a question file; options here win over it."
        ),
        Input(address=False),
    ] = None,
    original: Annotated[
        str | None, typer.Option(help="The table this one was made from: for --max-attack and the verdict."), Input()
    ] = None,
    holdout: Annotated[
        str | None, typer.Option(help="For --max-attack: people who are not in the original."), Input()
    ] = None,
    kept_rows: Annotated[
        str | None, typer.Option(help="For --max-attack: file of the original's row each row was made from."), Input()
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(help="Also write JUnit XML for a CI server, in place of the last one."),
        Output("result", replaces=True),
    ] = None,
    json: options.Json = False,
    **typed: Any,
) -> None:
    """Does the table keep the rules? One line per rule; exit 0 if all are kept, 1 if not, 2 if it cannot be checked.

    With --recipient the verdict of `incrowd assess` is a rule as well: only a yes passes. Without it, kept rules do
    not mean that the table may go out.

    [bold]incrowd check patients.csv --qi age,sex,zip --min-k 5 --max-risk 0.09[/bold]

    [bold]incrowd check patients.csv --policy policy.toml --junit report.xml[/bold]
    """
    question = _question(table, policy, typed)
    if question.recipient is None:
        of_secrets = () if "max_given_away" in question.rules else _OF_SECRETS
        refuse_without_recipient(typed, (*_OF_THE_VERDICT, *of_secrets))
    attacked = {"original": original, "holdout": holdout, "kept_rows": kept_rows}
    result = _check(table, question, attacked, judged=question.recipient is not None)
    if junit is not None:
        _write_junit(result.to_junit(), junit)
    if json:
        terminal.print_json(result.to_dict())
    else:
        for rule in result.rules:
            terminal.line(f"{'ok  ' if rule.passed else 'FAIL'}  {rule.name:<15} {rule.sentence}")
        if result.verdict is not None:
            passed = result.verdict.decision == "within"
            terminal.line(f"{'ok  ' if passed else 'FAIL'}  {'verdict':<15} {result.verdict.recommendation}")
            for exposure in result.verdict.exposures:
                terminal.line(f"      {exposure}")
            for open_point in (*result.verdict.open_points, *result.verdict.conditions):
                terminal.line(f"      {with_flags(open_point.sentence, open_point.hint)}")
        for note in result.notes:
            terminal.note(note)
        if result.verdict is None:
            from incrowd.gate import RULES_ONLY

            terminal.note(f"{RULES_ONLY} For a verdict name the recipient (--recipient public).")
    if not result.passed:
        raise typer.Exit(1)


def _question(table: Table, policy: Path | None, typed: Mapping[str, Any]) -> Question:
    """The question of the policy, with the options of the command line in place of its own."""
    saved = read_question(policy) if policy else Question()
    limits = {name: typed[name] for name in RULES if typed[name] is not None}
    question = question_from(typed, table.columns, saved).with_given(rules={**saved.rules, **limits})
    if not question.quasi_identifiers:
        raise InputError(
            'name the columns an attacker may know with --qi, or in the policy under [answers] (age = "known"); '
            f"the table has: {', '.join(table.columns)}"
        )
    return question


def _check(table: Table, question: Question, attacked: Mapping[str, str | None], *, judged: bool) -> Check:
    from incrowd.gate import check

    with terminal.show_progress("counting people who look alike") as progress:
        limits: dict[str, Any] = {**check_limits(question.rules, any_of=not judged), **attacked}
        return check(
            table,
            quasi_identifiers=question.quasi_identifiers or (),
            sensitive=question.sensitive or (),
            person=question.person,
            identifiers=question.identifiers,
            drop=question.drop,
            other=question.other,
            secrets=question.secrets,
            certain=question.certain,
            question=question if judged else None,
            progress=progress,
            **limits,
        )


def _refuse_other_files(path: Path) -> None:
    """Refuse to replace a file that is not the result of an earlier run."""
    if path.is_file():
        with open(path, "rb") as file:
            if b'<testsuite name="incrowd check' not in file.read(_HEAD):
                raise InputError(f"{path} exists already and is no result of incrowd check; name another file")


def _write_junit(text: str, path: Path) -> None:
    with written_whole(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
