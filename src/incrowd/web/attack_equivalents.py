"""Attacks on a release as a command and as a Python script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.assessment.command_line import is_typable, to_words
from incrowd.web import models
from incrowd.web.jobs import Job
from incrowd.web.script_writer import ScriptName, call_of, changed_fields, command_and_script
from incrowd.web.session_table import OpenTable, TableSource
from incrowd.web.tasks.attack_task import attack_options, attackers

_ROWS_FILE = "kept-rows.txt"
_UNTYPABLE = "# a file or a name cannot be typed on the command line as it is; use the Python script"


@dataclass(frozen=True, slots=True)
class ReleasedFile:
    """A release in commands and scripts: the `file`, the expression that opens it, and what makes it first."""

    file: str
    opened: str
    before: tuple[str, ...] = ()
    script: str = ""
    options: tuple[str, ...] = ()
    kept_rows: ScriptName | None = None
    typable: bool = True

    @classmethod
    def of_table(cls, source: TableSource) -> ReleasedFile:
        """Another table of the session as the release."""
        return cls(source.file, source.opened, source.before, source.script, typable=not source.how)

    @classmethod
    def of_candidate(cls, job: Job, original: TableSource) -> ReleasedFile:
        """A candidate as the release: the command and the script protect again and write the kept rows."""
        command, protected = job.equivalent.cli, "safe" if job.kind == "protection" else "found.protected"
        typable = command.splitlines()[-1].startswith("incrowd protect ")
        return cls(
            original.protected_file,
            f"{protected}.table",
            (f"{command} --kept-rows {_ROWS_FILE}",) if typable else (),
            job.equivalent.python,
            ("--kept-rows", _ROWS_FILE),
            ScriptName(f"{protected}.kept_rows"),
            typable,
        )


def attack(
    table: OpenTable, question: models.AttackQuestion, released: ReleasedFile, holdout: TableSource | None
) -> models.Equivalent:
    """`incrowd attack`, after the commands that make the release."""
    known = attackers(table, question)
    several = known if isinstance(known, Mapping) else {}
    single = [] if several else list(known or [])
    typed: dict[str, Any] = {"known": single, "groups": several, "kind": question.kinds, "targets": question.targets}
    typed |= {"released": None, "kinds": None, "holdout": holdout.file if holdout else None}
    arguments = [*to_words(changed_fields(question, **typed)), *released.options]
    lines = _lines(table, question, released, holdout)
    found = command_and_script(table.source, "attack", [released.file, *arguments], lines)
    names = [*several, *(name for group in several.values() for name in group), *question.noise]
    typable = released.typable and is_typable(names, ",=") and not (holdout and holdout.how)
    commands = "\n".join([*released.before, *(holdout.before if holdout else ()), found.cli]).splitlines()
    return models.Equivalent(
        cli="\n".join(dict.fromkeys(commands)) if typable else _UNTYPABLE,  # each command once
        python=f"{released.script}\n\n{found.python}" if released.script else found.python,
    )


def _lines(
    table: OpenTable, question: models.AttackQuestion, released: ReleasedFile, holdout: TableSource | None
) -> list[str]:
    options = attack_options(table, question, ScriptName(holdout.opened) if holdout else None)
    options |= {"kept_rows": released.kept_rows}
    lines = [call_of("found", "attack_release", options, f"table,\n    {released.opened}"), "print(found.sentence)"]
    return [*lines, f"print(found.by_group(table, {question.by!r}))"] if question.by else lines
