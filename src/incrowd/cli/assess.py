"""`incrowd assess`: from a table to a decision, on the terminal, as JSON and as one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import options, show
from incrowd.errors import InputError
from incrowd.recipients import RECIPIENTS, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.assess import Assessment, Roles, Statement
    from incrowd.settings import Settings
    from incrowd.table import Table


@options.opens_table
def assess_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    person: options.Person = None,
    weight: Annotated[
        str | None, typer.Option("--weight", help="Column of survey weights: they say how many people there are.")
    ] = None,
    population: Annotated[
        str | None, typer.Option("--population", help="How many people the table was drawn from: 60000000, 6e7.")
    ] = None,
    recipient: Annotated[
        str | None,
        typer.Option("--recipient", help=f"Who is to get it: {listed()}."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Another highest average risk than the recipient's.")
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option("--groups", help="What attackers know together: census=age,sex spatial=zip …", show_default=False),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as one self-contained page.")] = None,
    external: Annotated[
        bool, typer.Option("--external", help="The page for outsiders: short, and no help for an attacker.")
    ] = False,
    plot: options.Plot = None,
    protection: Annotated[
        bool, typer.Option("--protection/--no-protection", help="Also try what protection costs (the slowest part).")
    ] = True,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Settings file. Default: incrowd.toml beside the table."),
    ] = None,
    save: Annotated[
        bool, typer.Option("--save", help="Write the roles and the question to incrowd.toml beside the table.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Take the suggested roles without asking.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of every random choice. Default: 0.")] = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """May this table go out? Everything from the facts to a decision, in plain words.

    [bold]incrowd assess patients.csv --html report.html[/bold]

    [bold]incrowd assess patients.csv --qi age,sex,zip --population 60e6 --recipient restricted[/bold]

    Exit 0 if the risk is within the threshold and nobody is exposed, 1 if not or too close to call.
    """
    from incrowd.assess import assess
    from incrowd.report import write_html

    for path in (html, plot):
        if path is not None and path.exists() and not force:
            raise InputError(f"{path} exists already; name another file, or say that it may be replaced (--force)")
    settled = _settings(table, config)
    wanted, secret = (
        options.names(qi, table.columns) or list(settled.quasi_identifiers),
        options.names(sensitive, table.columns),
    )
    whose, weighed = person or settled.person, weight or settled.weight
    if not wanted:
        proposed = _confirmed(table, yes, json)
        wanted = list(proposed.quasi_identifiers) if proposed.confirmed else []
        whose, weighed = whose or proposed.person, weighed or proposed.weight
        secret = secret or list(proposed.sensitive)
    with show.working("assessing") as progress:
        found = assess(
            table,
            quasi_identifiers=wanted or None,
            sensitive=secret or list(settled.sensitive),
            person=whose,
            weight=weighed,
            population=options.count(population, "population") if population else settled.population,
            recipient=recipient or settled.recipient or "public",
            threshold=threshold if threshold is not None else settled.threshold,
            groups=options.groups(groups) or settled.groups,
            protection=protection,
            seed=seed if seed is not None else settled.seed or 0,
            progress=progress,
        )
        if html is not None:
            progress("writing the report", 1.0)
            write_html(found, html, external=external, force=force)
    if json:
        show.as_json(found.to_dict())
    else:
        _show(found)
    _write_the_rest(table, found, settled, html, plot, save, force)
    if not found.passed:
        raise typer.Exit(1)


def _settings(table: Table, config: Path | None) -> Settings:
    """The settings file that was named, or the one beside the table, or none."""
    from incrowd.settings import FILE_NAME, Settings, read_settings

    if config is not None:
        return read_settings(config)
    if table.source is not None and (beside := Path(table.source).parent / FILE_NAME).is_file():
        show.note(f"settings taken from {beside}")
        return read_settings(beside)
    return Settings()


def _confirmed(table: Table, yes: bool, json: bool) -> Roles:
    """The suggested roles, once somebody has looked at them."""
    from incrowd.assess import propose_roles

    with show.working("looking at the columns"):
        roles = propose_roles(table)
    known = ",".join(roles.quasi_identifiers)
    if not roles.quasi_identifiers:
        raise InputError(
            "no column looks like something others know about a person; name them with --qi; "
            f"the table has: {', '.join(table.columns[:30])}"
        )
    if yes:
        return roles
    if json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(f"say what others may know about a person, such as --qi {known}; --yes takes this suggestion")
    show.heading(f"{table.name}: what the columns seem to be")
    rows = [(one.column, one.kind, roles.role(one.column), one.reason) for one in roles.suggested]
    show.table(("column", "type", "suggested role", "why"), rows)
    show.line("Quasi-identifiers are what others may know about a person. You know your data: change what is wrong.")
    answer = typer.prompt("Quasi-identifiers, with commas", default=known)
    hidden = typer.prompt("Sensitive columns, with commas (- for none)", default=",".join(roles.sensitive) or "-")
    return _changed(roles, options.names([answer]), [] if hidden == "-" else options.names([hidden]))


def _changed(roles: Roles, quasi_identifiers: list[str], sensitive: list[str]) -> Roles:
    from dataclasses import replace

    return replace(roles, quasi_identifiers=tuple(quasi_identifiers), sensitive=tuple(sensitive), confirmed=True)


def _write_the_rest(
    table: Table, found: Assessment, settled: Settings, html: Path | None, plot: Path | None, save: bool, force: bool
) -> None:
    """The files beside the answer, each named on stderr."""
    if html is not None:
        show.note(f"report written to {html}")
    if plot is not None:
        from incrowd.plots.assess import overview
        from incrowd.plots.look import save as save_figure

        show.note(f"figure written to {save_figure(overview(found), plot, force=force)}")
    if save:
        show.note(f"settings written to {_save(table, found, settled, force)}")


def _save(table: Table, found: Assessment, settled: Settings, force: bool) -> Path:
    from incrowd.settings import FILE_NAME, Settings

    asked = found.provenance.options
    fresh = Settings(
        quasi_identifiers=found.roles.quasi_identifiers,
        sensitive=found.roles.sensitive,
        person=found.roles.person,
        weight=found.roles.weight,
        groups={label: tuple(members) for label, members in asked["groups"].items()},
        population=asked["population"],
        recipient=found.verdict.recipient,
        threshold=None if found.verdict.threshold == RECIPIENTS[found.verdict.recipient] else found.verdict.threshold,
        seed=found.provenance.seed,
        rules=settled.rules,
    )
    return fresh.save(Path(table.source or ".").parent / FILE_NAME, force=force)


def _show_statements(statements: Sequence[Statement]) -> None:
    """The numbers of a section; how sure they are stands in a line below where it is the same for all."""
    alike = {one.sure for one in statements}
    if len(alike) > 1:
        rows = [(one.name, one.shown, one.meaning, one.sure) for one in statements]
        show.table(("", "", "what it means", "how sure"), rows)
        return
    show.table(("", "", "what it means"), [(one.name, one.shown, one.meaning) for one in statements])
    show.line(f"  How sure: {alike.pop()}.")


def _show(found: Assessment) -> None:
    """The report on the terminal: the decision, then the numbers of each section."""
    from incrowd.report import document

    verdict = found.verdict
    show.heading(f"{found.provenance.table}: {verdict.headline.lower()}")
    show.line(verdict.sentence)
    for exposure in verdict.exposures:
        show.line(exposure)
    show.line(verdict.recommendation)
    for reason in (*verdict.reasons, *verdict.inside_reasons):
        show.line(f"  • {reason}")
    if verdict.actions:
        show.heading("What to do")
        for number, action in enumerate((*verdict.actions, *verdict.inside_actions), start=1):
            show.line(f"  {number}. {action}")
    for section in document(found):
        show.heading(section.title)
        if section.statements:
            _show_statements(section.statements)
        elif section.tables:
            show.table(section.tables[0].columns, section.tables[0].rows)
        for text in section.notes:
            show.line(f"  {text}")
    show.heading("Keep in mind")
    from incrowd.report.words import CAVEATS

    for caveat in CAVEATS:
        show.line(f"  • {caveat}")
    for text in found.notes:
        show.note(text)
