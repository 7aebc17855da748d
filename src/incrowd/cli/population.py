"""`incrowd population`: what a sample says about the population it was drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.addresses import masked
from incrowd.cli import options, outputs, terminal
from incrowd.errors import InputError, UnsupportedError
from incrowd.recipients import RECIPIENTS, in_words, judge, listed

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
        float | None,
        typer.Option(
            "--fraction",
            help="Instead: the share of them that is in the table: 0.01 or 1%.",
            parser=options.share,
            metavar="SHARE",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", help="Instead: the column that says how many people a record stands for.")
    ] = None,
    person: options.Person = None,
    method: Annotated[
        str, typer.Option("--method", help="combined, posterior, anchored, gaussian, dvine or average.")
    ] = "combined",
    draws: Annotated[int, typer.Option("--draws", help="Synthetic populations to draw.")] = 1,
    seed: options.Seed = 0,
    records: Annotated[
        str | None, typer.Option("--records", help="Write the table with the risk of every record: .parquet or .csv.")
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

    if max_risk is not None and not 0 <= max_risk <= 1:
        raise InputError(f"--max-risk must be between 0 and 1; {max_risk:g} was given")
    place = None if records is None else outputs.table_place(table, records, force)
    if plot is not None:
        outputs.check_figure(table, plot, force)
    known: dict[str, Any] = {
        "quasi_identifiers": options.quasi_identifiers(qi, table),
        "population": None if population is None else options.count(population, "--population"),
        "fraction": fraction,
        "weights": weights,
        "person": person,
    }
    with terminal.working("estimating the risk in the population") as progress:
        how: dict[str, Any] = {"method": method, "seed": seed, "progress": progress}
        risk = population_risk(table, **known, **how, draws=draws)
        moved = for_other_populations(table, **known, **how) if sensitivity or plot else None
        quoted = classical_risk(table, **known) if classical else {}
        if place is not None:
            _write_records(table, place, known, force)
    if plot is not None and moved is not None:
        from incrowd.figures import theme
        from incrowd.figures.population import plot_sensitivity

        theme.save(plot_sensitivity(moved), plot, force=force)
    if json:
        terminal.as_json(_plain(risk, moved if sensitivity else None, quoted))
    else:
        _show(risk, moved if sensitivity else None, quoted)
        if place is not None:
            terminal.line(f"The risk of every record is in {masked(str(place))}, riskiest first by risk_rank.")
    if max_risk is not None and judge(risk.overall, max_risk) == "over":
        raise typer.Exit(1)


def _write_records(table: Any, path: str | Path, known: dict[str, Any], force: bool) -> None:
    from incrowd.populations import record_risk, write_record_risk
    from incrowd.tables import write_table

    if table.engine != "cluster":
        write_table(record_risk(table, **known).to_arrow(), path, force=force)
        return
    given = {name: known[name] for name in ("quasi_identifiers", "population", "fraction")}
    if known["person"] is not None:
        raise UnsupportedError("the risk of every record of people with several is not written in a cluster")
    write_record_risk(table, path, **given, force=force)


def _plain(risk: PopulationRisk, moved: Sensitivity | None, quoted: dict[str, ClassicalEstimate]) -> dict[str, Any]:
    plain = risk.to_dict()
    if moved is not None:
        plain["sensitivity"] = moved.rows
    if quoted:
        plain["classical"] = [estimate.to_dict() for estimate in quoted.values()]
    return plain


def _show(risk: PopulationRisk, moved: Sensitivity | None, quoted: dict[str, ClassicalEstimate]) -> None:
    terminal.heading(f"{risk.people:,} people of a population of {risk.population:,} ({risk.fraction:.3g} of it)")
    terminal.table(("", "", "what it means"), _facts(risk))
    terminal.line(_verdict(risk))
    if moved is not None:
        terminal.heading("If the population is not what you think")
        terminal.table(
            ("population", "factor", "sample → population (B)", "95 % interval", "change"),
            [
                (f"{row['population']:,}", f"×{row['factor']:.3g}", f"{row['B']:.4f}",
                 f"{row['low']:.4f} – {row['high']:.4f}", f"{row['change']:+.1%}")
                for row in moved.rows
            ],
        )  # fmt: skip
        terminal.line("A population taken too large understates the risk.")
    if quoted:
        terminal.heading("Classical estimators")
        terminal.table(
            ("method", "unique in the population", "B", "why no answer"), [_quoted(one) for one in quoted.values()]
        )
    for assumption in risk.assumptions:
        terminal.note(f"assumes: {assumption}")
    for text in risk.notes:
        terminal.note(text)


def _facts(risk: PopulationRisk) -> list[tuple[str, str, str]]:
    rows = [
        (
            "sample → population (B)",
            f"{risk.B:.4g}",
            f"of 100 records matched against everybody, {_hundred(risk.B)} get the right name",
        ),
    ]
    if risk.interval is not None:
        rows.append(
            ("  95 % interval", f"{risk.interval[0]:.4g} – {risk.interval[1]:.4g}", f"by the {risk.method} estimator")
        )
    rows += [
        (
            "population → sample (A)",
            f"{risk.A:.4g}",
            "people looked up in the table and named correctly; known",
        ),
        ("risk to report", f"{risk.overall:.4g}", "the larger of the two"),
        ("in the table alone", f"{risk.classes / risk.people:.4f}", "what the table looks like if it were everybody"),
    ]
    if risk.population_uniques is not None:
        rows.append(("unique in the population", _people(risk), "people nobody else looks like"))
    if risk.still_unique is not None:
        rows.append(
            ("unique here and there", f"{risk.still_unique:.4g}", "chance that a unique record is so everywhere")
        )
    rows += [(f"  {name}", f"{value:.4g}", "what the estimate is made of") for name, value in risk.parts.items()]
    return rows


def _people(risk: PopulationRisk) -> str:
    alone = risk.population_uniques or 0.0
    return f"{alone:,.0f} ({alone / risk.population:.3%})" if alone >= 1 else "fewer than 1"


def _hundred(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.1f}" if share >= 0.0005 else "almost none"


def _verdict(risk: PopulationRisk) -> str:
    """To whom it may go, in the words of `assess`: where a threshold is inside the interval it cannot be told."""
    low, high = (max(risk.A, end) for end in risk.interval or (risk.B, risk.B))
    judged = {name: judge(risk.overall, limit, (low, high)) for name, limit in RECIPIENTS.items()}
    fit, close, over = (
        [name for name in judged if judged[name] == stands] for stands in ("within", "borderline", "over")
    )
    said = [f"Low enough for {_whom(fit)}."] if fit else []
    if close:
        said.append(f"Too close to call for {_whom(close)}: the 95 % interval is {low:.3g} to {high:.3g}.")
    if over:
        said.append("Too high even for a trusted recipient." if "trusted" in over else f"Too high for {_whom(over)}.")
    return f"{' '.join(said)} (Usual thresholds: {listed()}.)"


def _whom(recipients: Sequence[str]) -> str:
    return " and for ".join(in_words(name) for name in recipients)


def _quoted(estimate: ClassicalEstimate) -> tuple[str, str, str, str]:
    unique, risk = estimate.population_uniqueness, estimate.B
    return (
        estimate.method,
        "–" if unique is None else f"{unique:.4f}",
        "–" if risk is None else f"{risk:.4f}",
        estimate.refused or "",
    )
