"""Checks of the law, sets of items and curves as Python scripts, and as commands where there are some."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.web import curve_models, models
from incrowd.web.equivalents import both_ways, call_of, with_import
from incrowd.web.session_table import OpenTable


def check(table: OpenTable, question: curve_models.CheckQuestion) -> models.Equivalent:
    """`rank_size_check` of the law that is fitted to the table."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    lines = [
        f"sizes = ClassSizes.from_table(table, quasi_identifiers={known!r}, person={person!r})",
        f"found = rank_size_check(fit_class_sizes(sizes), draws={question.draws}, sticks={question.sticks}, "
        f"seed={question.seed})",
        "print(found.inside)",
    ]
    imported = (
        "from incrowd.pitman_yor import fit_class_sizes\nfrom incrowd.pitman_yor.model_checks import rank_size_check"
    )
    return _script(table, imported, lines, ["ClassSizes"])


def itemsets(table: OpenTable, question: curve_models.ItemsQuestion) -> models.Equivalent:
    """`incrowd measure` of items."""
    arguments = ["--person", question.person, "--item", question.item, "--known", str(question.known)]
    asked = {"person": question.person, "item": question.item, "known": question.known}
    found = both_ways(
        table.source, "measure", arguments, [], [call_of("found", "itemset_anonymity", asked), "print(found)"]
    )
    python = with_import(found.python, "from incrowd.measures import itemset_anonymity")
    return models.Equivalent(cli=found.cli, python=python)


def sparse_curve(table: OpenTable, question: curve_models.SparseQuestion) -> models.Equivalent:
    """`sparse_curve`, and the forecast of it."""
    asked = {name: getattr(question, name) for name in ("person", "item", "known", "draws", "seed")}
    return _curve(table, question, "sparse_curve", call_of("curve", "sparse_curve", asked))


def ranks_curve(table: OpenTable, question: curve_models.RanksQuestion) -> models.Equivalent:
    """`robust_curve_from_ranks`, and the forecast of it."""
    ties = f", ties=columns[{question.ties!r}].to_pylist()" if question.ties else ""
    lines = [
        "columns = table.to_arrow()",
        f"ranks = columns[{question.ranks!r}].to_pylist()",
        f"curve = robust_curve_from_ranks(ranks, gallery={question.gallery!r}{ties})",
    ]
    return _curve(table, question, "robust_curve_from_ranks", "\n".join(lines))


def robust_curve(table: OpenTable, question: curve_models.RobustQuestion) -> models.Equivalent:
    """`robust_curve` with the gallery in a file of its own, and the forecast of it."""
    lines = [
        "gallery = read_table('gallery.parquet')",
        f"probes, known = (one.to_arrow({question.columns!r}) for one in (table, gallery))",
        f"curve = robust_curve(probes, known, metric={question.metric!r})",
    ]
    return _curve(table, question, "robust_curve", "\n".join(lines))


def _curve(table: OpenTable, question: models.ForecastQuestion, function: str, made: str) -> models.Equivalent:
    """A script that makes a curve and forecasts it."""
    asked = f"found = forecast(fit_curve(curve), at={question.at!r}, k={question.k!r}, seed={question.seed})"
    names = ["fit_curve", "forecast"]
    return _script(table, f"from incrowd.curves import {function}", [made, asked, "print(found.correctness)"], names)


def _script(table: OpenTable, imported: str, lines: Sequence[str], names: Sequence[str] = ()) -> models.Equivalent:
    """A question that only Python asks."""
    python = both_ways(table.source, "measure", [], names, lines).python
    return models.Equivalent(cli="# use the Python script", python=with_import(python, imported))
