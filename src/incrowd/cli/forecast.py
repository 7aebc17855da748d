"""`incrowd forecast`: from a curve or a table to any population."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli import options, terminal
from incrowd.cli.curve import Draws, Gallery, Item, Known, Metric, Probes, Ranks, Source
from incrowd.cli.forecast_comparison import (
    Technique,
    label_techniques,
    plain,
    show_predictive_check,
    show_side_by_side,
)
from incrowd.cli.forecast_known import known_model, show_known
from incrowd.cli.outputs import Input, save_figure
from incrowd.errors import InputError
from incrowd.wording import large_number, number, number_interval, percent, percent_interval, population

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import ClassSizeFit, CurveFit
    from incrowd.pitman_yor.model_checks import HoldOut, RankSize

At = Annotated[
    str, typer.Option("--at", help="Populations: numbers and names (city, us, eu, world), or name=number. Commas.")
]


@options.opens_table
def forecast_population(
    table: options.TablePath = None,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="MORE", help="More curves or tables: techniques side by side.", show_default=False),
        Input(),
    ] = None,
    at: At = "city,us,world",
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    item: Item = None,
    known: Known = None,
    draws: Draws = 5,
    probes: Probes = None,
    gallery: Gallery = None,
    metric: Metric = "cosine",
    ranks: Ranks = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Also: share of people in classes smaller than k. Commas.")
    ] = None,
    uniqueness: Annotated[bool, typer.Option("--uniqueness", help="Fit the curve's uniqueness.")] = False,
    maximum_likelihood: Annotated[bool, typer.Option("--ml", help="Class sizes: fit without the prior.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Also: what other curves say.")] = False,
    predictive_check: Annotated[
        bool, typer.Option("--predictive-check", help="Class sizes: also say whether the law gives such class sizes.")
    ] = False,
    frequencies: Annotated[
        str | None, typer.Option("--frequencies", help="Instead: a column with the known shares of all classes.")
    ] = None,
    entropy: Annotated[
        str | None, typer.Option("--entropy", help="Instead of a table: the law's entropy, 41.5 (nats) or 40bits.")
    ] = None,
    tail: Annotated[
        float | None, typer.Option("--tail", help="With --entropy: the tail complexity γ, from -1 to 1.")
    ] = None,
    plot: options.Plot = None,
    force: options.Force = False,
    people: Annotated[
        int | None, typer.Option("--people", min=1, help="Curve: how many people were tested, if the file has it not.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Forecast how many people are named correctly in populations that were never measured.

    The input is a curve (a file with columns n and correctness) or a table, with the options of `incrowd curve`. The
    answer follows the scaling law. Of a table `incrowd population` and `incrowd assess` know more than the law does.
    Several files are techniques to compare: `incrowd forecast faces.csv voices.csv --at 1e6,world`.
    """
    import numpy as np

    from incrowd.forecasts.api import check_forecast, forecast, settle_populations
    from incrowd.pitman_yor import CurveFit, compare_fits

    if compare and uniqueness:
        raise InputError("--compare shows curves of the correctness; leave out --uniqueness")
    if more and (compare or plot is not None or predictive_check):
        raise InputError("--compare, --plot and --predictive-check are about one technique; name one file for them")
    wanted, named = _populations(at)
    sizes_of_classes = [int(options.count(text, "k")) for text in options.names([k] if k else None)]
    model = known_model(table, frequencies, entropy, tail)
    if model is not None:
        if compare or plot is not None or predictive_check or more or qi or person or item:
            raise InputError("a known distribution is not fitted: leave out all options but --at, --k and --json")
        names, people_in = settle_populations(wanted, named)
        show_known(model, list(names), people_in.tolist(), sizes_of_classes, json)
        return
    techniques: list[Technique] = []
    tables: list[Any] = [table, *(more or [])]
    for one, label in zip(tables, label_techniques([each.name if each else "" for each in tables]), strict=True):
        with terminal.working("fitting the scaling law") as progress:
            source = Source(one, qi, person, item, known, draws, probes, gallery, metric, ranks)
            curve, fit = _fitted(source, uniqueness, maximum_likelihood, people, seed, progress)
            answer = forecast(fit, wanted, k=sizes_of_classes, populations=named, seed=seed, progress=progress)
            answer, check, why_not_checked = check_forecast(answer, fit, seed=seed)
            techniques.append(Technique(label, curve, fit, answer, check))
        if why_not_checked is not None:
            terminal.note(f"the fit was not checked on a part of the data: {why_not_checked}")
    if more:
        if json:
            terminal.as_json(plain(techniques))
        else:
            show_side_by_side(techniques)
        return
    with terminal.working("checking the fit") as progress:
        others = compare_fits(curve, seed=seed) if compare else {}
        others = {name: one for name, one in others.items() if name != "PYC"}
        ranks = _predictive_checks(fit, seed, progress) if predictive_check else None
    if plot is not None:
        _save(curve, fit, answer, check, list(others.values()), plot, force, seed)
    if json:
        baselines = {name: np.atleast_1d(one.model.correctness(answer.at)).tolist() for name, one in others.items()}
        terminal.as_json(
            {
                "fit": fit.to_dict(),
                "forecast": answer.to_dict(),
                "hold_out": check.to_dict() if check else None,
                "baselines": baselines,
                "predictive_check": [one.to_dict() for one in ranks] if ranks else None,
            }
        )
    else:
        _show(answer, check, others, from_curve=isinstance(fit, CurveFit))
        if ranks:
            show_predictive_check(*ranks)


def _predictive_checks(fit: ClassSizeFit | CurveFit, seed: int, progress: Progress) -> tuple[RankSize, RankSize]:
    """Class sizes against samples from the fitted law, and against its frequencies by stick-breaking, as published."""
    from incrowd.pitman_yor import CurveFit
    from incrowd.pitman_yor.model_checks import rank_size_check

    if isinstance(fit, CurveFit):
        raise InputError("--predictive-check compares class sizes: it goes with a table and --qi")
    sampled, broken = (rank_size_check(fit, sticks=sticks, seed=seed, progress=progress) for sticks in (False, True))
    return sampled, broken


def _fitted(
    source: Source, unique: bool, maximum_likelihood: bool, people: int | None, seed: int, progress: Progress
) -> tuple[Curve, ClassSizeFit | CurveFit]:
    """The curve and the law fitted to it: to class sizes where they are known, else to points."""
    from dataclasses import replace

    from incrowd.classes import ClassSizes
    from incrowd.curves import Curve, correctness_curve
    from incrowd.pitman_yor import fit_class_sizes, fit_curve

    source.refuse_mixed()
    table, quasi_identifiers = source.table, options.names(source.qi)
    classes = table is not None and bool(quasi_identifiers)
    asked = source.qi or source.person or source.item or source.known or source.ranks
    given = table is not None and not asked and {"n", "correctness"} <= set(table.columns)
    if people is not None and not given:
        raise InputError("--people goes with a curve file; other input says itself how many people there are")
    if maximum_likelihood and not classes:
        raise InputError("--ml is a fit to class sizes: it goes with a table and --qi")
    if unique and (classes or source.robust or source.ranks):
        raise InputError("--uniqueness fits a curve that has it: a curve file, or sparse matching")
    if table is not None and classes:
        sizes = ClassSizes.from_table(table, quasi_identifiers=quasi_identifiers, person=source.person)
        return correctness_curve(sizes), fit_class_sizes(sizes, method="ml" if maximum_likelihood else "map")
    if given:
        curve = Curve.read(table)
        if people is not None and curve.people not in (0, people):
            raise InputError(f"the file says that {curve.people:,} people were tested, --people {people:,}")
        curve = replace(curve, people=people or curve.people)
    else:
        curve = source.curve(seed, progress)
    return curve, fit_curve(curve, metric="uniqueness" if unique else "correctness")


def _populations(text: str) -> tuple[list[float | str], dict[str, float]]:
    """Parse `1e6,us,mine=5e5` into the populations and their sizes, as `forecast` takes them.

    >>> _populations("1e6,us,mine=5e5")
    ([1000000, 'us', 'mine'], {'mine': 500000})
    """
    wanted: list[float | str] = []
    named: dict[str, float] = {}
    for entry in options.names([text]):
        name, equals, size = entry.partition("=")
        if equals and not name.strip():
            raise InputError("a population without a name before '='; write --at mine=5e5, or the number alone")
        if equals:
            named[name] = options.count(size, f"population {name!r}")
            wanted.append(name)
        elif entry[0].isdigit():
            wanted.append(options.count(entry, "population"))
        else:
            wanted.append(entry)
    if not wanted:
        raise InputError("no population given; write --at 1e6,us,world")
    return wanted, named


def _save(
    curve: Curve,
    fit: ClassSizeFit | CurveFit,
    answer: Forecast,
    check: HoldOut | None,
    baselines: list[CurveFit],
    plot: Path,
    force: bool,
    seed: int,
) -> None:
    import numpy as np

    from incrowd.figures import forecast_plot
    from incrowd.forecasts import forecast

    # a smooth line and band: the same forecast at sizes in between
    largest = max(float(answer.at.max()), float(curve.sizes[-1]))
    between = np.unique(np.rint(np.geomspace(2, largest, 40)))
    smooth = forecast(fit, between.tolist(), seed=seed)
    save_figure(forecast_plot(curve, smooth, asked=answer, check=check, baselines=baselines), plot, force=force)


def _show(answer: Forecast, check: HoldOut | None, others: dict[Any, CurveFit], *, from_curve: bool) -> None:
    terminal.heading("Who would be named correctly")
    labels = [population(name, size) for name, size in zip(answer.names, answer.at, strict=True)]
    _show_shares(answer, labels)
    if answer.violations:
        terminal.heading("In classes smaller than k: violations of k-anonymity")
        rows = [[label] for label in labels]
        for estimate in answer.violations.values():
            for i, (value, low, high) in enumerate(zip(estimate.value, estimate.low, estimate.high, strict=True)):
                rows[i].append(f"{percent(value, answer.at[i])} ({percent_interval(low, high)})")
        terminal.table(["population", *(f"k = {k} (95% interval)" for k in answer.violations)], rows)
    h, gamma = answer.h, answer.gamma
    terminal.line(
        f"Entropy h = {number(h[0])} nats ({number_interval(h[1], h[2])}), {number(h[0] / math.log(2))} bits of "
        "information."
    )
    terminal.line(f"Tail complexity γ = {number(gamma[0])} ({number_interval(gamma[1], gamma[2])}): {_tail(gamma[0])}.")
    if check is not None:
        left_out = "all points at larger sizes left out" if from_curve else "nine people in ten left out at random"
        verdict = "inside" if check.inside else "OUTSIDE"
        terminal.line(
            f"Check: from up to {check.seen:,} people ({left_out}) the law forecasts {percent(check.forecast)} at "
            f"{check.size:,}; {percent(check.measured)} was measured, {verdict} its interval "
            f"{percent_interval(check.low, check.high)}."
        )
    if others:
        import numpy as np

        terminal.heading("What other curves say")
        values = {name: np.atleast_1d(one.model.correctness(answer.at)) for name, one in others.items()}
        terminal.table(
            ["population", *values],
            [[label, *(percent(column[i]) for column in values.values())] for i, label in enumerate(labels)],
        )
    if not from_curve:
        terminal.line(
            "These numbers follow the scaling law, which knows how many people look alike and nothing of the columns. "
            "`incrowd population` and `incrowd assess` use the columns too: where they differ, believe those."
        )
    for text in answer.notes:
        terminal.note(text)


def _show_shares(answer: Forecast, labels: list[str]) -> None:
    shares = answer.correctness
    columns = [
        labels,
        [percent(value) for value in shares.value],
        [percent_interval(low, high) for low, high in zip(shares.low, shares.high, strict=True)],
        [large_number(people) for people in answer.people_named],
    ]
    heads = ["population", "named", "95% interval", "people named"]
    if answer.uniqueness is not None:
        heads.append("unique")
        columns.append([percent(value, size) for value, size in zip(answer.uniqueness.value, answer.at, strict=True)])
    terminal.table(heads, list(zip(*columns, strict=True)))


def _tail(gamma: float) -> str:
    if gamma < -0.02:
        return "a finite number of kinds of people; in a large enough crowd nobody is unique"
    if gamma < 0.1:
        return "a light tail; above some size hardly anybody is named"
    return "a heavy tail; even in large crowds some people stay unique"
