"""What a report says, before it is set as a page or on a terminal: sections of sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from incrowd.assess import Assessment, Statement
from incrowd.plots import assess as plots
from incrowd.recipients import RECIPIENTS

_ROWS = 15  # of a long table that are shown


@dataclass(frozen=True, slots=True)
class DataTable:
    """Numbers in rows, with what they are about."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, what it says in a sentence, and its numbers as a table."""

    name: str
    title: str
    says: str
    chart: Any
    table: DataTable


@dataclass(frozen=True, slots=True)
class Section:
    """One question and its answer."""

    key: str
    title: str
    lead: str
    statements: tuple[Statement, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[DataTable, ...] = ()
    notes: tuple[str, ...] = ()


def document(found: Assessment, *, external: bool = False) -> tuple[Section, ...]:
    """The sections of a report in order; the external one leaves out what would help an attacker."""
    if external:
        return (_facts(found, external), _population(found, external), _protection(found))
    return (
        _facts(found, external),
        _knowledge(found),
        _drivers(found),
        _population(found, external),
        _forecast(found),
        _leaks(found),
        _protection(found),
        _columns(found),
    )


def verdict_figure(found: Assessment) -> Figure:
    """The risk on a line with the thresholds."""
    verdict = found.verdict
    bounds = {**RECIPIENTS} if verdict.threshold in RECIPIENTS.values() else {**RECIPIENTS, "chosen": verdict.threshold}
    rows = tuple(
        (name, f"{bound:.0%}", "above it" if verdict.risk > bound else "within it") for name, bound in bounds.items()
    )
    return Figure(
        "verdict",
        "The risk and the thresholds",
        verdict.sentence,
        plots.against_thresholds(verdict),
        DataTable("Usual thresholds", ("recipient", "highest average risk", "this table is"), rows),
    )


def _about(found: Assessment, section: str) -> tuple[Statement, ...]:
    return tuple(statement for statement in found.statements if statement.section == section)


def _facts(found: Assessment, external: bool) -> Section:
    facts = found.facts
    rows = tuple(
        (row["size"], row["classes"], row["people"], f"{row['share']:.2%}")
        for row in plots.class_size_bins(facts.sizes)
        if row["people"]
    )
    figure = Figure(
        "class-sizes",
        "How large the crowds are",
        f"{facts.uniqueness:.1%} of the people look like nobody else; {facts.share_below(5):.1%} like fewer than four "
        "others.",
        plots.class_sizes(facts.sizes),
        DataTable("People by the size of their class", ("people alike", "classes", "people", "share"), rows),
    )
    return Section(
        "facts",
        "The table as it is",
        "People who share every quasi-identifier form a class. Small classes are where people are found; these numbers "
        "are counted, not estimated.",
        (*_about(found, "facts"), *(() if external else _about(found, "secrets"))),
        (figure,),
    )


def _knowledge(found: Assessment) -> Section:
    knowledge = found.knowledge
    worst = tuple(
        (len(risk.columns), ", ".join(risk.columns), f"{risk.correctness:.2%}", f"{risk.uniqueness:.2%}", risk.smallest)
        for risk in knowledge.worst_by_size
    )
    told = tuple(
        (", ".join(risk.columns), f"{risk.correctness:.2%}", f"{risk.uniqueness:.2%}", risk.smallest)
        for risk in knowledge.most_telling[:_ROWS]
    )
    columns = ("named correctly", "unique", "smallest class")
    figures = (
        Figure(
            "known",
            "Risk by what the attacker knows",
            f"{knowledge.sets:,} sets of attributes were counted; the line shows the most telling set of each size.",
            plots.by_attributes_known(knowledge),
            DataTable("The most telling set of each size", ("size", "attributes", *columns), worst),
        ),
        Figure(
            "sets",
            "The most telling small sets",
            "Whoever knows one of these sets names this share of the people correctly.",
            plots.most_telling_sets(knowledge),
            DataTable("The most telling sets of at most three attributes", ("attributes", *columns), told),
        ),
    )
    return Section(
        "knowledge",
        "By what the attacker knows",
        "Few attackers know everything. This is what smaller knowledge is enough for.",
        _about(found, "knowledge"),
        figures,
        tuple(_singling_out(found)),
        knowledge.notes,
    )


def _singling_out(found: Assessment) -> Iterator[DataTable]:
    single = found.knowledge.singling_out
    if single is None:
        return
    yield DataTable(
        "People singled out by few attributes",
        ("attributes known", "people", "share"),
        tuple(
            (f"{size} or fewer", records, f"{records / single.records:.2%}") for size, records in single.by_size.items()
        ),
    )
    if single.sets:
        yield DataTable(
            "The smallest sets that single people out (no part of the set does)",
            ("attributes", "people"),
            tuple((", ".join(columns), records) for columns, records in single.sets[:_ROWS]),
        )


def _drivers(found: Assessment) -> Section:
    parts = found.knowledge.contributions
    how = (
        "over every order in which they may become known"
        if parts.orders is None
        else f"over {parts.orders:,} random orders"
    )
    rows = tuple(
        (part.column, f"{part.correctness:+.4f}", f"{parts.share(part):.1%}", f"{part.uniqueness:+.4f}")
        for part in parts.ranked
    )
    most = parts.ranked[0]
    figure = Figure(
        "drivers",
        "What each attribute adds",
        f"{most.column} adds most: {parts.share(most):.0%} of what all attributes add to the average risk.",
        plots.contributions(parts),
        DataTable("What each attribute adds", ("attribute", "to average risk", "share", "to uniqueness"), rows),
    )
    return Section(
        "drivers",
        "Which attribute drives the risk",
        f"What each attribute adds to the risk, averaged {how}. The parts add up to the whole.",
        _about(found, "drivers"),
        (figure,),
    )


def _population(found: Assessment, external: bool) -> Section:
    risk = found.population
    lead = (
        "The table is a sample. Somebody who does not know whether a person is in it has to find them among everybody."
    )
    if risk is None:
        return Section("population", "Sample against population", lead, notes=(_missing(found, "population"),))
    parts = tuple((name, f"{value:.4f}") for name, value in risk.parts.items())
    tables = (DataTable("What the estimate is made of", ("part", "value"), parts),) if parts and not external else ()
    low, high = risk.interval or (None, None)
    rows = (
        ("somebody known to be in the table", f"{found.facts.correctness:.2%}", "counted"),
        (
            "a record among the population (B)",
            f"{risk.B:.2%}",
            "no interval" if low is None else f"{low:.2%} to {high:.2%}",
        ),
        ("a person of the population in the table (A)", f"{risk.A:.2%}", "counted"),
    )
    figure = Figure(
        "population",
        "In the table and in the population",
        f"The table holds {risk.fraction:.2%} of {risk.population:,} people.",
        plots.population(found),
        DataTable("Average risk by what the attacker looks for", ("who", "risk", "95 % interval"), rows),
    )
    about = _about(found, "population")
    return Section(
        "population", "Sample against population", lead, about, (figure,), tables, () if external else risk.notes
    )


def _forecast(found: Assessment) -> Section:
    law = found.forecast
    lead = "The same attributes single out fewer people the more there are. How few, the class sizes themselves say."
    if law is None:
        return Section("forecast", "In larger populations", lead, notes=(_missing(found, "forecast"),))
    order = sorted(range(len(law.names)), key=lambda index: float(law.at[index]))
    rows = tuple(
        (
            f"{law.at[index]:,.0f}",
            f"{law.correctness.value[index]:.2%}",
            f"{law.correctness.low[index]:.2%} to {law.correctness.high[index]:.2%}",
            f"{law.uniqueness.value[index]:.2%}" if law.uniqueness is not None else "–",
        )
        for index in order[:: max(1, len(order) // _ROWS)]
    )
    figure = Figure(
        "forecast",
        "From the table to the world",
        f"From {law.measured:,} people to the world, if the table is a random sample of them.",
        plots.forecast(law, found.verdict.threshold),
        DataTable("Forecast", ("people", "named correctly", f"{law.level:.0%} interval", "unique"), rows),
    )
    return Section("forecast", "In larger populations", lead, _about(found, "forecast"), (figure,), (), law.notes)


def _leaks(found: Assessment) -> Section:
    risks = found.leaks.risks
    targets = sorted({risk.targets for risk in risks})
    shares = sorted({risk.share_leaked for risk in risks if risk.targets == 1})
    by = {(risk.share_leaked, risk.targets): risk for risk in risks}
    rows = tuple(
        (f"{share:.0%}", by[share, 1].leaked, *(_chance(by[share, each].probability) for each in targets))
        for share in shares
    )
    named = tuple("one person named" if each == 1 else f"all of {each} named" for each in targets)
    figure = Figure(
        "leaks",
        "Chance of being named by the size of the leak",
        "The chance that a given person is named from a leak, for this table and for tables in classes of k.",
        plots.leaks(found.leaks),
        DataTable("Chance by size of the leak", ("leaked", "people", *named), rows),
    )
    return Section(
        "leaks",
        "If part of it is stolen",
        "A thief rarely gets everything. The less leaks, the less likely a given person is in it and found.",
        _about(found, "leaks"),
        (figure,),
    )


def _chance(probability: float) -> str:
    return f"{probability:.2%}" if probability >= 1e-4 or not probability else f"{probability:.1e}"


def _protection(found: Assessment) -> Section:
    lead = "Values are made coarser just enough that everybody shares them with k − 1 others. This is what it costs."
    if found.protection is None:
        return Section("protection", "What protection would cost", lead, notes=(_missing(found, "protection"),))
    costs = found.protection.costs
    rows = tuple(
        (
            cost.k,
            f"{cost.correctness:.2%}",
            f"{cost.granularity:.1%}",
            f"{cost.cells_changed:.1%}",
            "–" if cost.information_loss is None else f"{cost.information_loss:.4f}",
        )
        for cost in costs
    )
    columns = ("k", "average risk", "detail kept", "cells changed", "information loss")
    figure = Figure(
        "protection",
        "Risk left and detail kept",
        f"From k = {costs[0].k} to k = {costs[-1].k}: the risk falls to {costs[-1].correctness:.1%}, "
        f"{costs[-1].granularity:.0%} of the detail is kept."
        if costs
        else "The table is too small to protect.",
        plots.protection(found.protection, found.verdict.threshold),
        DataTable("Cost of protection", columns, rows),
    )
    figures = (figure,) if costs else ()
    notes = found.protection.notes
    return Section("protection", "What protection would cost", lead, _about(found, "protection"), figures, (), notes)


def _columns(found: Assessment) -> Section:
    roles = found.roles
    rows = tuple(
        (one.column, one.kind, one.distinct if one.distinct >= 0 else "–", roles.role(one.column), reason)
        for one in roles.suggested
        for reason in [roles.reason(one.column)]
    )
    table = DataTable("Columns and their roles", ("column", "type", "distinct", "role", "why"), rows)
    lead = "Everything above rests on these roles. A column others know that is not a quasi-identifier hides risk."
    return Section("columns", "What the columns are", lead, tables=(table,) if rows else ())


def _missing(found: Assessment, section: str) -> str:
    return f"Not answered: {found.skipped.get(section, 'not asked for')}."
