"""`incrowd assess`: from a table to a decision, on the terminal, as JSON and as one page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli import options, terminal
from incrowd.cli.assess_text import say
from incrowd.cli.outputs import Input, Output
from incrowd.cli.prompts import confirmed
from incrowd.errors import InputError
from incrowd.recipients import RECIPIENTS, listed

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.assessment import Assessment
    from incrowd.assessment.settings import Settings
    from incrowd.tables import Table


_PLAIN: Mapping[str, tuple[Any, str]] = {
    "weight": (str, "Column of survey weights: they say how many people there are."),
    "recipient": (str, f"Who is to get it: {listed()}."),
    "threshold": (options.share, "Another highest average risk than the recipient's: 0.2 or 20%."),
    "seed": (int, "Seed of every random choice. Default: 0."),
}
"""Options that are settings as they are."""


@options.opens_table
@options.takes(_PLAIN, after="person")
def assess_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    person: options.Person = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option("--identifier", help="Columns that name people, besides those that look so.", show_default=False),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(
            "--other", help="Columns that are nothing of the kind, whatever they look like.", show_default=False
        ),
    ] = None,
    population: Annotated[
        str | None, typer.Option("--population", help="How many people the table was drawn from: 60000000, 6e7.")
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option("--groups", help="What attackers know together: census=age,sex spatial=zip …", show_default=False),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the report as one self-contained page."), Output("report")
    ] = None,
    external: Annotated[
        bool, typer.Option("--external", help="The page for outsiders: short, and no help for an attacker.")
    ] = False,
    plot: options.Plot = None,
    protection: Annotated[
        bool, typer.Option("--protection/--no-protection", help="Also try what protection costs (the slowest part).")
    ] = True,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Settings file. Default: incrowd.toml beside the table, if it is about it."),
        Input(),
    ] = None,
    save: Annotated[
        bool,
        typer.Option("--save", help="Write the roles and the question to incrowd.toml beside the table."),
        Output("settings file", beside="incrowd.toml", replaces=True),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Take the suggested roles without asking.")] = False,
    json: options.Json = False,
    force: options.Force = False,
    **plain: Any,
) -> None:
    """May this table go out? Everything from the facts to a decision, in plain words.

    [bold]incrowd assess patients.csv --html report.html[/bold]

    [bold]incrowd assess patients.csv --qi age,sex,zip --population 60e6 --recipient restricted[/bold]

    Exit 0 if the risk is within the threshold and nobody is exposed, 1 if not or too close to call.
    """
    if save:
        _check_save(table, force)
    settled = _settings(table, config)
    asked = _with_options(
        settled,
        quasi_identifiers=tuple(options.names(qi, table.columns)),
        sensitive=tuple(options.names(sensitive, table.columns)),
        person=person,
        identifiers=tuple(options.names(identifier, table.columns)),
        other=tuple(options.names(other, table.columns)),
        population=options.count(population, "population") if population else None,
        groups=options.groups(groups),
        **plain,
    )
    if not asked.quasi_identifiers:
        asked = confirmed(table, asked, yes=yes, quiet=json)
    with terminal.working("assessing") as progress:
        found = _assess(table, asked, protection, progress)
        _write(found, html, external, plot, force, progress)
    if json:
        terminal.as_json(found.to_dict())
    else:
        say(found, told=table.notes)
    for what, path in (("report", html), ("figure", plot), ("settings", _save(table, found, asked, save))):
        if path is not None:
            terminal.note(f"{what} written to {path}")
    if not found.passed:
        raise typer.Exit(1)


def _settings(table: Table, config: Path | None) -> Settings:
    """The settings file that was named, or the one beside the table, or none."""
    from incrowd.assessment.settings import FILE_NAME, Settings, read_settings

    if config is not None:
        return read_settings(config)
    if (beside := _folder(table) / FILE_NAME).is_file():
        found = read_settings(beside)
        if found.file is not None and found.file != _about(table):
            terminal.note(f"{beside} is about {found.file}, so it was not used; --config {beside} uses it")
            return Settings()
        terminal.note(f"settings taken from {beside}")
        return found
    return Settings()


def _check_save(table: Table, force: bool) -> None:
    """Refuse, before the work is done, to replace settings that are not about this table."""
    from incrowd.assessment.settings import FILE_NAME, read_settings

    if force or not (beside := _folder(table) / FILE_NAME).exists():
        return
    if read_settings(beside).file != _about(table):
        raise InputError(f"{beside} exists already and is not about this table; --force replaces it")


def _with_options(settled: Settings, **given: Any) -> Settings:
    """The settings, with what the command line says instead."""
    return replace(settled, **{name: value for name, value in given.items() if value not in (None, (), {})})


def _assess(table: Table, asked: Settings, protection: bool, progress: Progress) -> Assessment:
    from incrowd.assessment import assess

    return assess(
        table,
        quasi_identifiers=asked.quasi_identifiers or None,
        sensitive=asked.sensitive or None,
        person=asked.person,
        weight=asked.weight,
        identifiers=asked.identifiers,
        other=asked.other,
        population=asked.population,
        recipient=asked.recipient or "public",
        threshold=asked.threshold,
        groups=asked.groups,
        protection=protection,
        seed=asked.seed or 0,
        progress=progress,
    )


def _write(
    found: Assessment, html: Path | None, external: bool, plot: Path | None, force: bool, progress: Progress
) -> None:
    """The page and the figure."""
    if html is not None:
        from incrowd.reports import write_html

        progress("writing the report", 1.0)
        write_html(found, html, external=external, force=force)
    if plot is not None:
        from incrowd.figures.assessment_charts import overview
        from incrowd.figures.theme import save as save_figure

        save_figure(overview(found), plot, force=force)


def _save(table: Table, found: Assessment, asked: Settings, wanted: bool) -> Path | None:
    """The question as it was asked, beside the table; settings about this very table are replaced."""
    from incrowd.assessment.settings import FILE_NAME

    if not wanted:
        return None
    verdict, roles = found.verdict, found.roles
    fresh = replace(
        asked,
        file=_about(table),
        quasi_identifiers=roles.quasi_identifiers,
        sensitive=roles.sensitive,
        person=roles.person,
        weight=roles.weight,
        groups={label: tuple(members) for label, members in asked.groups.items()},
        recipient=verdict.recipient,
        threshold=None if verdict.threshold == RECIPIENTS[verdict.recipient] else verdict.threshold,
        seed=found.provenance.seed,
    )
    return fresh.save(_folder(table) / FILE_NAME, force=True)


def _folder(table: Table) -> Path:
    """Where a table's settings are: beside a file, in the folder one works in for what is no file."""
    return Path() if table.source is None or "://" in table.source else Path(table.source).parent


def _about(table: Table) -> str:
    """Which table settings are about: a file by its name, a table of a database by how a command names it."""
    place, *which = table.named
    return shlex.join([place if "://" in place else Path(place).name, *which]) if which else Path(place).name
