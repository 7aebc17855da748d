"""`incrowd check`: the gate. Exit 0 if every rule is kept, 1 if one is not, 2 if it cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import options, outputs, show
from incrowd.errors import IncrowdError, InputError

if TYPE_CHECKING:
    from incrowd.check import Check
    from incrowd.settings import Settings
    from incrowd.table import Table


@options.opens_table
def check_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    person: options.Person = None,
    min_k: Annotated[int | None, typer.Option("--min-k", help="Fewest people in a class.")] = None,
    max_risk: Annotated[
        float | None, typer.Option("--max-risk", help="Highest average chance of being named, such as 0.09.")
    ] = None,
    max_uniqueness: Annotated[
        float | None, typer.Option("--max-uniqueness", help="Largest share of people nobody looks like.")
    ] = None,
    max_identifiers: Annotated[
        int | None, typer.Option("--max-identifiers", help="Most columns that look like names of people: 0.")
    ] = None,
    min_l: Annotated[
        float | None, typer.Option("--min-l", help="Fewest different values in a class, for sensitive columns.")
    ] = None,
    min_entropy_l: Annotated[
        float | None, typer.Option("--min-entropy-l", help="The same by entropy: rare values count less.")
    ] = None,
    max_t: Annotated[
        float | None, typer.Option("--max-t", help="Farthest a class may be from the table, 0 to 1.")
    ] = None,
    max_alpha: Annotated[
        float | None, typer.Option("--max-alpha", help="Largest share one value may have of a class.")
    ] = None,
    max_beta: Annotated[
        float | None, typer.Option("--max-beta", help="Largest relative gain in a value's share.")
    ] = None,
    max_delta: Annotated[
        float | None, typer.Option("--max-delta", help="Largest |ln| of a value's share over the table's.")
    ] = None,
    max_given_away: Annotated[
        float | None, typer.Option("--max-given-away", help="Largest share of records whose value is certain.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="TOML file with \\[columns] and \\[rules]; options here win over it."),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Also write JUnit XML for a CI server.")] = None,
    json: options.Json = False,
) -> None:
    """Does the table keep the rules? One line a rule; exit 0 if all are kept, 1 if not, 2 if it cannot be told.

    [bold]incrowd check patients.csv --qi age,sex,zip --min-k 5 --max-risk 0.09[/bold]

    [bold]incrowd check patients.csv --policy policy.toml --junit report.xml[/bold]
    """
    given = {
        "min_k": min_k,
        "max_risk": max_risk,
        "max_uniqueness": max_uniqueness,
        "max_identifiers": max_identifiers,
        "min_l": min_l,
        "min_entropy_l": min_entropy_l,
        "max_t": max_t,
        "max_alpha": max_alpha,
        "max_beta": max_beta,
        "max_delta": max_delta,
        "max_given_away": max_given_away,
    }
    from incrowd.check import junit_error

    if junit is not None:
        outputs.check_place(table, junit, force=True)
    try:
        found = _check(table, _asked(table, policy, qi, sensitive, person, given))
    except IncrowdError as error:
        if junit is not None:  # or a CI server goes on showing the last result
            _write_junit(junit_error(table.name, str(error)), junit)
        raise
    if junit is not None:
        _write_junit(found.to_junit(), junit)
    if json:
        show.as_json(found.to_dict())
    else:
        for rule in found.rules:
            show.line(f"{'ok  ' if rule.passed else 'FAIL'}  {rule.name:<15} {rule.sentence}")
        for note in found.notes:
            show.note(note)
    if not found.passed:
        raise typer.Exit(1)


def _asked(
    table: Table,
    policy: Path | None,
    qi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    person: str | None,
    given: Mapping[str, float | None],
) -> Settings:
    """The policy, with what the command line says instead."""
    from incrowd.settings import Settings, read_settings

    settled = read_settings(policy) if policy else Settings()
    asked = Settings(
        quasi_identifiers=tuple(options.names(qi, table.columns)) or settled.quasi_identifiers,
        sensitive=tuple(options.names(sensitive, table.columns)) or settled.sensitive,
        person=person or settled.person,
        rules={**settled.rules, **{name: limit for name, limit in given.items() if limit is not None}},
    )
    if not asked.quasi_identifiers:
        raise InputError(
            "name the columns an attacker may know with --qi, or in the policy under [columns] as quasi_identifiers; "
            f"the table has: {', '.join(table.columns)}"
        )
    return asked


def _check(table: Table, asked: Settings) -> Check:
    from incrowd.check import check

    with show.working("counting people who look alike") as progress:
        return check(
            table,
            quasi_identifiers=asked.quasi_identifiers,
            sensitive=asked.sensitive,
            person=asked.person,
            progress=progress,
            **asked.rules,
        )


def _write_junit(text: str, path: Path) -> None:
    from incrowd.files import written_whole

    with written_whole(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
