"""Tasks beyond the risk of a table: the check of the law, k^m-anonymity, and curves of sparse and noisy matching."""

from __future__ import annotations

from incrowd._support.progress import Progress, part
from incrowd.curves import Curve, robust_curve, robust_curve_from_ranks, sparse_curve
from incrowd.errors import InputError
from incrowd.measures import itemset_anonymity
from incrowd.pitman_yor import fit_class_sizes
from incrowd.pitman_yor.model_checks import rank_size_check
from incrowd.web import curve_models as models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.forecast_task import curve_task
from incrowd.wording import percent


def check_task(table: OpenTable, question: models.CheckQuestion) -> Task:
    """Does the law fit? The share of ranks at which the table lies inside the band of draws is told."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        fit = fit_class_sizes(table.count(known, person))
        found = rank_size_check(
            fit, draws=question.draws, sticks=question.sticks, seed=question.seed, progress=part(progress, 0.1, 1.0)
        )
        sentence = (
            f"At {percent(found.inside)} of the ranks the table lies inside the band that holds 95% of "
            f"{question.draws:,} draws from the fitted law."
        )
        result = {**found.to_dict(), "fit": fit.to_dict(), "sentence": sentence}
        return Outcome(found, lambda: result, dict, summary={"inside": found.inside})

    return run


def items_task(table: OpenTable, question: models.ItemsQuestion) -> Task:
    """k^m-anonymity of sets of items."""
    table.check_names([question.person, question.item])
    if question.person == question.item:
        raise InputError("the person and the item are two columns; name another for one of them")

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = itemset_anonymity(
            table.table, person=question.person, item=question.item, known=question.known, progress=progress
        )
        result = found.to_dict()
        return Outcome(found, lambda: result, dict, summary={"smallest": list(found.smallest)})

    return run


def sparse_task(table: OpenTable, question: models.SparseQuestion) -> Task:
    """The curve of an attacker who knows a few points, and how it goes on."""
    items = list(dict.fromkeys(question.item))
    table.check_names([question.person, *items])
    return curve_task(
        lambda progress: sparse_curve(
            table.table,
            person=question.person,
            item=items,
            known=question.known,
            draws=question.draws,
            seed=question.seed,
            progress=progress,
        ),
        question,
    )


def ranks_task(table: OpenTable, question: models.RanksQuestion) -> Task:
    """The curve of ranks that a matcher reached, and how it goes on."""
    names = [question.ranks, *([question.ties] if question.ties else [])]
    table.check_names(names)

    def make(progress: Progress) -> Curve:
        columns = table.table.to_arrow(list(dict.fromkeys(names)))
        ties = columns[question.ties].to_pylist() if question.ties else None
        return robust_curve_from_ranks(columns[question.ranks].to_pylist(), gallery=question.gallery, ties=ties)

    return curve_task(make, question)


def robust_task(table: OpenTable, question: models.RobustQuestion, gallery: OpenTable) -> Task:
    """The curve of noisy vectors, and how it goes on."""
    if question.columns is not None:
        for one in (table, gallery):
            one.check_names(question.columns)

    def make(progress: Progress) -> Curve:
        names = None if question.columns is None else list(dict.fromkeys(question.columns))
        sides = [one.table.to_arrow(names) for one in (table, gallery)]
        return robust_curve(sides[0], sides[1], metric=question.metric, progress=progress)

    return curve_task(make, question)
