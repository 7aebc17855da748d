"""`incrowd population`: what a sample says about the population it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.addresses import masked
from incrowd.cli import command_files, options, terminal
from incrowd.errors import UnsupportedError
from incrowd.recipients import judge
from incrowd.wording import number, number_interval, out_of_hundred, percent, percentage_points

if TYPE_CHECKING:
    from incrowd.populations import ClassicalEstimate, PopulationRisk, Sensitivity


@options.opens_table
def population_of_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    population: Annotated[
        str | None, typer.Option("--population", help="How many people the table was drawn from, such as 38e6.")
    ] = None,
    fraction: Annotated[
        float | None, options.share_option("--fraction", "Instead: the share of them that is in the table: 0.01 or 1%.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weight", "--weights", help="Instead: the column that says how many people a record stands for."
        ),
    ] = None,
    person: options.Person = None,
    stratum: Annotated[
        str | None, typer.Option("--stratum", help="Column of the strata that were drawn from; with --weight.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Column of the clusters (households, villages) that were drawn.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="combined, crowd, posterior, anchored, gaussian, dvine or average.")
    ] = "combined",
    draws: Annotated[int, typer.Option("--draws", help="Synthetic populations to draw.")] = 1,
    reference: Annotated[
        bool, typer.Option("--reference", help="Fit gaussian, dvine or average by their published Monte Carlo: slow.")
    ] = False,
    seed: options.Seed = 0,
    records: Annotated[
        str | None,
        typer.Option("--records", help="Write the table with the risk of every record: .parquet or .csv."),
        command_files.STORED_TABLE,
    ] = None,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also: what if the population is half or twice as large?")
    ] = False,
    classical: Annotated[bool, typer.Option("--classical", help="Also: the classical estimators.")] = False,
    plot: options.Plot = None,
    max_risk: options.MaxRisk = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Estimate how often a record is named correctly among everybody, not only in the table."""
    from incrowd.populations import classical_risk, population_risk
    from incrowd.populations import sensitivity as for_other_populations

    options.check_share(max_risk, "--max-risk")
    place = None if records is None else command_files.place_of(records)
    known: dict[str, Any] = {
        "quasi_identifiers": options.quasi_identifiers(qi, table),
        "population": None if population is None else options.count(population, "--population"),
        "fraction": fraction,
        "weights": weights,
        "person": person,
    }
    design: dict[str, Any] = {"strata": stratum, "cluster": cluster}
    with terminal.working("estimating the risk in the population") as progress:
        how: dict[str, Any] = {"method": method, "seed": seed, "progress": progress}
        risk = population_risk(table, **known, **design, **how, draws=draws, reference=reference)
        by_population = for_other_populations(table, **known, **design, **how) if sensitivity or plot else None
        estimates = classical_risk(table, **known) if classical else {}
        telling = {} if place is None else _write_records(table, place, known | design, seed, force)
    if plot is not None and by_population is not None:
        from incrowd.figures.population_charts import plot_sensitivity

        command_files.save_figure(plot_sensitivity(by_population), plot, force=force)
    if json:
        terminal.as_json(_plain(risk, by_population if sensitivity else None, estimates))
    else:
        _show(risk, by_population if sensitivity else None, estimates)
        if place is not None:
            terminal.line(f"The risk of every record is in {masked(str(place))}, riskiest first by risk_rank.")
        if telling:
            columns = ", ".join(f"{name} ({percent(share)} of them)" for name, share in telling.items())
            terminal.line(f"What makes records stand out: {columns}.")
    if max_risk is not None and judge(risk.overall, max_risk) == "over":
        raise typer.Exit(1)


def _write_records(table: Any, path: str | Path, known: dict[str, Any], seed: int, force: bool) -> dict[str, float]:
    """Write the risk of every record; the columns that make them stand out, where they are known."""
    from incrowd.populations import record_risk, write_record_risk
    from incrowd.tables import write_table

    if table.backend.rows_are_local:
        found = record_risk(table, **known, seed=seed)
        write_table(found.to_arrow(), path, force=force)
        return found.telling_columns
    given = {name: known[name] for name in ("quasi_identifiers", "population", "fraction")}
    if known["person"] is not None:
        raise UnsupportedError("the risk of every record of people with several is not written in a cluster")
    write_record_risk(table, path, **given, force=force)
    return {}


def _plain(
    risk: PopulationRisk, by_population: Sensitivity | None, estimates: Mapping[str, ClassicalEstimate]
) -> dict[str, Any]:
    plain = risk.to_dict()
    if by_population is not None:
        plain["sensitivity"] = by_population.rows
    if estimates:
        plain["classical"] = [estimate.to_dict() for estimate in estimates.values()]
    return plain


def _show(risk: PopulationRisk, by_population: Sensitivity | None, estimates: Mapping[str, ClassicalEstimate]) -> None:
    terminal.heading(f"{risk.people:,} people of a population of {risk.population:,} ({percent(risk.fraction)})")
    terminal.table(("", "", "what it means"), _facts(risk))
    terminal.line(
        "Whether the table may go out depends on the person at highest risk, the secrets and every column as well:"
    )
    terminal.line("incrowd assess decides.")
    if by_population is not None:
        terminal.heading("If the population is not what you think")
        terminal.table(
            ("population", "factor", "sample → population (B)", "95% interval", "change"),
            [
                (
                    f"{row['population']:,}",
                    f"×{number(row['factor'])}",
                    number(row["B"]),
                    number_interval(row["low"], row["high"]),
                    f"{percentage_points(row['change'])}%",
                )
                for row in by_population.rows
            ],
        )
        terminal.line("A population taken too large understates the risk.")
    if estimates:
        terminal.heading("Classical estimators")
        terminal.table(
            ("method", "unique in the population", "B", "why no answer"),
            [_classical_row(one) for one in estimates.values()],
        )
    for assumption in risk.assumptions:
        terminal.note(f"assumes: {assumption}")
    for text in risk.notes:
        terminal.note(text)


def _facts(risk: PopulationRisk) -> list[tuple[str, str, str]]:
    rows = [
        (
            "sample → population (B)",
            number(risk.sample_to_population),
            f"of 100 records matched against everybody, {out_of_hundred(risk.sample_to_population)} get the right name",
        ),
    ]
    if risk.interval is not None:
        rows.append(("  95% interval", number_interval(*risk.interval), f"by the {risk.method} estimator"))
    rows += [
        (
            "population → sample (A)",
            number(risk.population_to_sample),
            "people looked up in the table and named correctly; known",
        ),
        ("risk to report", number(risk.overall), "the larger of the two"),
        ("in the table alone", number(risk.classes / risk.people), "what the table looks like if it were everybody"),
    ]
    if risk.population_uniques is not None:
        rows.append(("unique in the population", _people(risk), "people nobody else looks like"))
    if risk.population_uniques_interval is not None:
        low, high = risk.population_uniques_interval
        rows.append(("  95% interval", f"{low:,.0f} to {high:,.0f}", "people, in the whole population"))
    if risk.still_unique is not None:
        rows.append(
            ("unique here and there", number(risk.still_unique), "chance that a unique record is so everywhere")
        )
    if risk.highest is not None and risk.highest_interval is not None:
        rows.append(("highest of a record", number(risk.highest), "the right name, for the record at highest risk"))
        rows.append(("  95% interval", number_interval(*risk.highest_interval), "1 ÷ the people who look like it"))
    rows += [(f"  {name}", number(value), "what the estimate is made of") for name, value in risk.parts.items()]
    return rows


def _people(risk: PopulationRisk) -> str:
    alone = risk.population_uniques or 0.0
    return f"{round(alone):,} ({percent(alone / risk.population)})" if alone >= 1 else "fewer than 1"


def _classical_row(estimate: ClassicalEstimate) -> tuple[str, str, str, str]:
    unique, risk = estimate.population_uniqueness, estimate.sample_to_population
    return (
        estimate.method,
        "–" if unique is None else number(unique),
        "–" if risk is None else number(risk),
        estimate.refused or "",
    )
