"""Sections on what goes beyond the table: the population, larger ones, leaks, what protection would cost."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.assessment import Assessment, Protection
from incrowd.figures import assessment_charts as plots
from incrowd.populations.copula import PATENT
from incrowd.reports.elements import DataTable, Figure, Section, about, missing
from incrowd.wording import chosen_percent, percent, share


def population(found: Assessment, external: bool) -> Section:
    risk = found.population
    lead = (
        "The table is a sample. Somebody who does not know whether a person is in it has to find them among everybody."
    )
    if risk is None:
        return Section("population", "Sample against population", lead, notes=(missing(found, "population"),))
    rows = (
        ("somebody known to be in the table", share(found.facts.correctness), "counted"),
        (
            "a record among the population (B)",
            share(risk.sample_to_population),
            "no interval" if risk.interval is None else " to ".join(map(share, risk.interval)),
        ),
        ("a person of the population in the table (A)", share(risk.population_to_sample), "counted"),
    )
    figure = Figure(
        "population",
        "In the table and in the population",
        f"The table holds {share(risk.fraction)} of {risk.population:,} people.",
        plots.population(found),
        DataTable("Average risk by what the attacker looks for", ("who", "risk", "95% interval"), rows),
    )
    return Section(
        "population",
        "Sample against population",
        lead,
        about(found, "population"),
        (figure,),
        (),
        () if external else tuple(note for note in risk.notes if note != PATENT),
    )


def forecast(found: Assessment) -> Section:
    law = found.forecast
    lead = (
        "The same attributes single out fewer people the more there are. This is the risk if the table were a random "
        "sample of so many people, by the same estimate as for a given population."
    )
    if law is None:
        return Section("forecast", "In larger populations", lead, notes=(missing(found, "forecast"),))
    rows = tuple(
        (
            f"{law.at[index]:,.0f}",
            share(law.correctness.value[index]),
            f"{share(law.correctness.low[index])} to {share(law.correctness.high[index])}",
            share(law.uniqueness.value[index]) if law.uniqueness is not None else "–",
        )
        for index in range(len(law.at))
    )
    figure = Figure(
        "forecast",
        "From the table to the world",
        f"From {law.measured:,} people to the world, if the table is a random sample of them.",
        plots.forecast(law, found.verdict.threshold),
        DataTable("Forecast", ("people", "named correctly", f"{law.level:.0%} interval", "unique"), rows),
    )
    return Section("forecast", "In larger populations", lead, about(found, "forecast"), (figure,), (), law.notes)


def leaks(found: Assessment) -> Section:
    risks = found.leaks.risks
    targets = sorted({risk.targets for risk in risks})
    shares = sorted({risk.share_leaked for risk in risks if risk.targets == 1})
    by = {(risk.share_leaked, risk.targets): risk for risk in risks}
    rows = tuple(
        (chosen_percent(part), by[part, 1].leaked, *(percent(by[part, each].probability) for each in targets))
        for part in shares
    )
    named = tuple("one person named" if each == 1 else f"all of {each} named" for each in targets)
    figure = Figure(
        "leaks",
        "Chance of being named by the size of the leak",
        "The chance that a given person is named from a leak, for this table "
        + (
            "and for the protected ones of the next section."
            if found.protection is not None and found.protection.costs
            else "and for tables in which every class has exactly k people; this one may have larger classes, too."
        ),
        plots.leaks(found.leaks, found.protection),
        DataTable("Chance by size of the leak", ("leaked", "people", *named), rows),
    )
    return Section(
        "leaks",
        "If part of it is stolen",
        "A thief rarely gets everything. The less leaks, the less likely a given person is in it and found.",
        about(found, "leaks"),
        (figure,),
    )


def protection(found: Assessment, external: bool) -> Section:
    lead = "Values are made coarser just enough that everybody shares them with k − 1 others. This is what it costs."
    if found.protection is None:
        return Section("protection", "What protection would cost", lead, notes=(missing(found, "protection"),))
    costs = found.protection.costs
    rows = tuple(
        (
            cost.k,
            share(cost.risk),
            *([" to ".join(map(share, cost.population_limits))] if cost.population_limits else []),
            share(cost.granularity),
            share(cost.cells_changed),
            "–" if cost.information_loss is None else f"{cost.information_loss:.4f}",
        )
        for cost in costs
    )
    where: tuple[str, ...] = ("average risk in the table",)
    if any(cost.population_limits for cost in costs):
        where = ("average risk in the population", "what is certain of it")
    columns = ("k", *where, "detail kept", "cells changed", "information loss")
    figure = Figure(
        "protection",
        "Risk left and detail kept",
        f"From k = {costs[0].k} to k = {costs[-1].k}: the risk falls to {share(costs[-1].risk)}, "
        f"{share(costs[-1].granularity)} of the detail is kept. The threshold is {100 * found.verdict.threshold:.3g}%."
        if costs
        else "The table is too small to protect.",
        plots.protection(found.protection, found.verdict.threshold),
        DataTable("Cost of protection", columns, rows),
    )
    return Section(
        "protection",
        "What protection would cost",
        lead,
        (*about(found, "protection"), *(() if external else about(found, "secrets left"))),
        (figure,) if costs else (),
        () if external else tuple(_secrets_left(found.protection)),
        found.protection.notes,
    )


def _secrets_left(protection: Protection) -> Iterator[DataTable]:
    """What classes of each size still give away about each sensitive column."""
    rows = tuple(
        (secret.column, cost.k, secret.l, f"{secret.t:.3f}", share(secret.given_away))
        for cost in protection.costs
        for secret in cost.secrets
    )
    if rows:
        caption = "What is left of each secret (k alone does not protect it; t and l can be asked for as well)"
        yield DataTable(caption, ("sensitive column", "k", "l", "t", "given away"), tuple(sorted(rows)))
