"""`incrowd population`: the risk in the population that a table was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd._support.addresses import masked
from incrowd.cli import command_files, options, terminal
from incrowd.cli.open_tables import opens_table
from incrowd.errors import UnsupportedError
from incrowd.recipients import is_within
from incrowd.wording import percent

if TYPE_CHECKING:
    from incrowd.populations import ClassicalRisk, PopulationRisk, Sensitivity
    from incrowd.tables import Table


@opens_table
def population_of_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    population: Annotated[str | None, Option(help="How many people the table was drawn from, such as 38e6.")] = None,
    fraction: Annotated[
        float | None, options.share_option("--fraction", "Instead: the share of them that is in the table: 0.01 or 1%.")
    ] = None,
    weights: Annotated[
        str | None,
        Option("--weight", "--weights", help="Instead: the column that says how many people a record stands for."),
    ] = None,
    person: options.Person = None,
    stratum: Annotated[str | None, Option(help="Column of the strata that were drawn from; with --weight.")] = None,
    cluster: Annotated[
        str | None, Option(help="Column of the clusters (households, villages) that were drawn.")
    ] = None,
    method: Annotated[
        str, Option(help="combined, crowd, posterior, anchored, gaussian, dvine or average.")
    ] = "combined",
    draws: Annotated[int, Option(help="Synthetic populations to draw.")] = 1,
    reference: Annotated[
        bool, Option("--reference", help="Fit gaussian, dvine or average by their published Monte Carlo: slow.")
    ] = False,
    seed: options.Seed = 0,
    records: Annotated[
        str | None,
        Option(help="Write the table with the risk of every record: .parquet or .csv."),
        command_files.STORED_TABLE,
    ] = None,
    sensitivity: Annotated[
        bool, Option("--sensitivity", help="Also: what if the population is half or twice as large?")
    ] = False,
    classical: Annotated[bool, Option("--classical", help="Also: the classical estimators.")] = False,
    plot: options.Plot = None,
    max_risk: options.MaxRisk = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Estimate how often a record is named correctly among everybody, not only in the table."""
    from incrowd.populations import classical_risk, population_risk
    from incrowd.populations import sensitivity as for_other_populations

    options.check_max_risk(max_risk)
    place = None if records is None else command_files.place_of(records)
    known: dict[str, Any] = {
        "quasi_identifiers": options.quasi_identifiers(qi, table),
        "population": None if population is None else options.parse_count(population, "--population"),
        "fraction": fraction,
        "weights": weights,
        "person": person,
    }
    design: dict[str, Any] = {"strata": stratum, "cluster": cluster}
    with terminal.show_progress("estimating the risk in the population") as progress:
        how: dict[str, Any] = {"method": method, "seed": seed, "progress": progress}
        risk = population_risk(table, **known, **design, **how, draws=draws, reference=reference)
        by_population = for_other_populations(table, **known, **design, **how) if sensitivity or plot else None
        estimates = classical_risk(table, **known) if classical else None
        telling = {} if place is None else _write_records(table, place, known | design, how, force)
    if plot is not None and by_population is not None:
        from incrowd.figures.population_charts import plot_sensitivity

        command_files.save_figure(plot_sensitivity(by_population), plot, force=force)
    shown = by_population if sensitivity else None
    if json:
        terminal.print_json(_plain(risk, shown, estimates))
    else:
        _show(risk, shown, estimates)
        if place is not None:
            _show_records(place, telling)
    if max_risk is not None and not is_within(risk.overall, max_risk):
        raise typer.Exit(1)


def _write_records(
    table: Table, path: str | Path, known: dict[str, Any], how: dict[str, Any], force: bool
) -> dict[str, float]:
    """Write the risk of every record; returns the columns that make records stand out, if they are known."""
    from incrowd.populations import record_risk, write_record_risk
    from incrowd.tables import write_table

    if table.backend.rows_are_local:
        risks = record_risk(table, **known, **how)
        write_table(risks.to_arrow(), path, force=force)
        return dict(risks.telling_columns_of_all)
    given = {name: known[name] for name in ("quasi_identifiers", "population", "fraction")}
    if known["person"] is not None:
        raise UnsupportedError("the risk of every record of people with several is not written in a cluster")
    write_record_risk(table, path, **given, **how, force=force)
    return {}


def _show_records(path: str | Path, telling: Mapping[str, float]) -> None:
    """Print where the risk of every record is, and what makes records stand out."""
    from incrowd.populations.records import BY_SIZE

    terminal.line(f"The risk of every record is in {masked(str(path))}, riskiest first by risk_rank.")
    if telling:
        columns = ", ".join(f"{name} ({percent(share)} of them)" for name, share in telling.items())
        terminal.line(f"What makes records stand out: {columns}.")
    else:
        terminal.note(BY_SIZE)


def _plain(risk: PopulationRisk, by_population: Sensitivity | None, estimates: ClassicalRisk | None) -> dict[str, Any]:
    plain = risk.to_dict()
    if by_population is not None:
        plain["sensitivity"] = by_population.rows
    if estimates is not None:
        plain["classical"] = [estimate.to_dict() for estimate in estimates.values()]
    return plain


def _show(risk: PopulationRisk, by_population: Sensitivity | None, estimates: ClassicalRisk | None) -> None:
    terminal.heading(f"{risk.people:,} people of a population of {risk.population:,} ({percent(risk.fraction)})")
    terminal.result(risk)
    terminal.line(
        "Whether the table may go out depends on the person at highest risk, the secrets and every column as well:"
    )
    terminal.line("incrowd assess decides.")
    if by_population is not None:
        terminal.result(by_population)
    if estimates is not None:
        terminal.result(estimates)
    for assumption in risk.assumptions:
        terminal.note(f"assumes: {assumption}")
    for text in risk.notes:
        terminal.note(text)
