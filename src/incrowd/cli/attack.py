"""`incrowd attack`, `split` and `synthesise`: attacks on a release, the holdout for their control, synthetic tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd.cli import command_files, options, terminal
from incrowd.cli.command_files import Input
from incrowd.cli.open_tables import opens_table
from incrowd.errors import InputError
from incrowd.wording import counted, percent, percent_interval

if TYPE_CHECKING:
    from incrowd.attacks import ReleaseAttacks

_MAX_SHOWN = 10  # rows of the original, and groups
Holdout = Annotated[
    str | None,
    Option("--holdout", help="People of the same population who are not in the original (incrowd split)."),
    Input(),
]
KeptRows = Annotated[
    str | None,
    Option("--kept-rows", help="For linkage: file with the original's row (from 1) of each released row."),
    Input(),
]


@opens_table
def attack_release_of_table(
    table: options.TablePath,
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The table that goes out."), Input()],
    known: Annotated[
        list[str] | None, Option(help="Columns the attacker knows. Commas or repeats. Default: all.")
    ] = None,
    groups: Annotated[list[str] | None, Option(help="Several attackers: neighbour=age,zip. Repeat.")] = None,
    secret: Annotated[str | None, Option(help="Column the attacker wants to know.")] = None,
    holdout: Holdout = None,
    kind: Annotated[
        list[str] | None,
        Option(help="linkage, singling-out, linkability, inference, attribution, membership, distances. Default: all."),
    ] = None,
    targets: Annotated[int, Option(help="How many people are attacked.")] = 2000,
    population: Annotated[
        str | None, Option(help="Also linkage in a population of this many people, such as 6e7.")
    ] = None,
    noise: Annotated[list[str] | None, Option(help="How far off knowledge may be, for linkage: age=1. Repeat.")] = None,
    missing: Annotated[float, options.share_option("--missing", "Share of cells not known, for linkage.")] = 0.0,
    kept_rows: KeptRows = None,
    by: Annotated[str | None, Option(help="Column of groups: who is found more often?")] = None,
    max_attack: Annotated[
        float | None,
        options.share_option(
            "--max-attack",
            "Exit 1 if the interval of a risk reaches above it, or an attack could not be run: 0.05 or 5%.",
        ),
    ] = None,
    seed: options.Seed = 0,
    html: Annotated[
        Path | None,
        Option(help="Also write one HTML page."),
        command_files.Output("page", (".html",)),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Attack a released table: protected, perturbed or synthetic.

    [bold]incrowd attack people.csv synthetic.csv --known age,zip --secret illness --holdout holdout.csv[/bold]
    """
    from incrowd.attacks import KINDS, attack_release
    from incrowd.tables import read_table

    if known and groups:
        raise InputError("--known is what one attacker knows, --groups what several know; give one of them")
    attackers: Any = options.parse_groups(groups) or options.parse_names(known, table.columns) or None
    with terminal.show_progress("attacking") as progress:
        attacks = attack_release(
            table,
            read_table(released),
            known=attackers,
            secret=secret,
            holdout=None if holdout is None else read_table(holdout),
            targets=targets,
            seed=seed,
            kinds=options.parse_names(kind) or KINDS,  # type: ignore[arg-type]  # checked by attack_release
            noise=_read_noise(noise),
            missing=missing,
            kept_rows=kept_rows,
            population=() if population is None else options.parse_count(population, "population"),
            progress=progress,
        )
    found_by_group = attacks.by_group(table, by) if by is not None else []
    if html is not None:
        from incrowd.reports.attack_page import write_attacks

        terminal.note(f"page written to {write_attacks(attacks, html, groups=found_by_group, force=force)}")
    if json:
        terminal.print_json({**attacks.to_dict(), "groups": [one.to_dict() for one in found_by_group]})
    else:
        _show(attacks, found_by_group)
    if max_attack is not None and not attacks.within(max_attack):
        terminal.note(f"over the limit: {attacks.reason_against(max_attack)}")
        raise typer.Exit(1)


def _read_noise(noise: list[str] | None) -> dict[str, float]:
    """Parse `--noise age=1` into {"age": 1.0}."""
    given = options.parse_groups(noise, "noise", "age=1")
    return {name: float(options.parse_decimal(text[0], "noise", "age=1")) for name, text in given.items()}


def _show(attacks: ReleaseAttacks, groups: list[Any]) -> None:
    terminal.heading(f"{attacks.released}: {attacks.sentence}")
    terminal.table(("attack", "success", "without", "risk", "95% interval"), attacks.as_text())
    for one in attacks.attacks:
        for at in one.populations:
            terminal.line(
                f"Among {at.people:,} people linkage names {percent(at.correctness)} "
                f"({percent_interval(at.low, at.high)})."
            )
    exposed = attacks.exposed()
    if exposed:
        most = ", ".join(f"{one.row + 1:,}" for one in exposed[:_MAX_SHOWN])
        more = f" and {len(exposed) - _MAX_SHOWN:,} more" if len(exposed) > _MAX_SHOWN else ""
        terminal.line(
            f"{counted(len(exposed), 'person is', 'people are')} found by several attacks. Their rows in the original, "
            f"counted from 1, for you alone: {most}{more}."
        )
    if groups:
        terminal.table(
            ("group", "attacks", "success", "95% interval"),
            [
                (
                    one.group,
                    one.attacks,
                    percent(one.success.value),
                    percent_interval(one.success.low, one.success.high),
                )
                for one in groups[:_MAX_SHOWN]
            ],
        )
    for name, reason in attacks.not_run.items():
        terminal.note(f"not run: {name}: {reason}")
    for text in dict.fromkeys(note for one in attacks.attacks for note in one.notes):
        terminal.note(text)


@opens_table
def split_table_file(
    table: options.TablePath,
    out: Annotated[str, Option(help="File of the part to make the release from."), command_files.TABLE_OUTPUT],
    holdout: Annotated[str, Option(help="File of the people who are kept back."), command_files.TABLE_OUTPUT],
    share: Annotated[float, options.share_option("--share", "Share of people kept back: 0.2 or 20%.")] = 0.2,
    person: options.Person = None,
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Split a table before a release is made of it, so that attacks on the release have a control."""
    from incrowd.attacks import split_table
    from incrowd.tables import write_table

    kept, held_out = split_table(table, holdout=share, seed=seed, person=person)
    for part, file in ((kept, out), (held_out, holdout)):
        terminal.line(f"{part.num_rows:,} rows written to {write_table(part, file, force=force)}")


@opens_table
def synthesise_table(
    table: options.TablePath,
    out: Annotated[
        str, Option(help="File to write: .parquet, .csv, .csv.gz, .sav, .dta, …"), command_files.TABLE_OUTPUT
    ],
    rows: Annotated[int | None, Option(help="How many rows to make. Default: as many as the table has.")] = None,
    columns: Annotated[list[str] | None, Option(help="Columns to make. Commas or repeats. Default: all.")] = None,
    model: Annotated[str, Option(help="crowd, copula or independent (columns by themselves).")] = "crowd",
    copied: Annotated[float, options.share_option("--copied", "Share of rows copied on purpose.")] = 0.0,
    holdout: Holdout = None,
    secret: Annotated[str | None, Option(help="Column the attacker wants to know.")] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Make a synthetic table, attack it, and write it. It carries no guarantee: read the attacks before it goes out.

    [bold]incrowd split people.csv --out part.csv --holdout holdout.csv[/bold]

    [bold]incrowd synthesise part.csv --out synthetic.csv --holdout holdout.csv[/bold]
    """
    from incrowd.attacks import synthesise
    from incrowd.tables import read_table, write_table

    with terminal.show_progress("drawing people") as progress:
        chosen_columns = options.parse_names(columns, table.columns) or None
        made = synthesise(
            table,
            rows=rows,
            columns=chosen_columns,
            model=model,  # type: ignore[arg-type]  # checked by synthesise
            copied=copied,
            seed=seed,
            attacked=True,
            secret=secret,
            holdout=None if holdout is None else read_table(holdout),
            progress=progress,
        )
    written = write_table(made.table, out, force=force)
    if made.attacks is not None:
        made = replace(made, attacks=replace(made.attacks, released=Path(written).name))
    if json:
        terminal.print_json({"file": str(written), **made.to_dict()})
        return
    terminal.line(f"{made.rows:,} rows written to {written}")
    if made.attacks is not None:
        _show(made.attacks, [])
        if model != "independent":
            terminal.note(
                f"the {model} model may draw people as they are, or nearly: it goes out only if assess --released "
                "--synthetic --holdout says yes; --model independent remembers nobody"
            )
        terminal.note(
            "these attackers know every other column of a person; those of assess --released know the quasi-identifiers"
        )
