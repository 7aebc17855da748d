"""`incrowd forecast`: from a curve or a table to any population."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli import options, terminal
from incrowd.cli.curve import Draws, Gallery, Item, Known, Metric, Probes, Source
from incrowd.cli.outputs import save_figure
from incrowd.errors import InputError
from incrowd.wording import large_number, number, number_interval, percent, percent_interval, population

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import ClassSizeFit, CurveFit
    from incrowd.pitman_yor.curve_fit import Metric as Fitted

At = Annotated[
    str, typer.Option("--at", help="Populations: numbers and names (city, us, eu, world), or name=number. Commas.")
]


@options.opens_table
def forecast_population(
    table: options.TablePath = None,
    at: At = "city,us,world",
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    item: Item = None,
    known: Known = None,
    draws: Draws = 5,
    probes: Probes = None,
    gallery: Gallery = None,
    metric: Metric = "cosine",
    k: Annotated[
        str | None, typer.Option("--k", help="Also: share of people in classes smaller than k. Commas.")
    ] = None,
    uniqueness: Annotated[bool, typer.Option("--uniqueness", help="Fit the curve's uniqueness.")] = False,
    maximum_likelihood: Annotated[
        bool, typer.Option("--ml", help="The scaling law without its prior: γ as the data have it.")
    ] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Also: what other curves say.")] = False,
    plot: options.Plot = None,
    force: options.Force = False,
    people: Annotated[
        int | None, typer.Option("--people", min=1, help="Curve: how many people were tested, if the file has it not.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Forecast how many people are named correctly in populations that were never measured.

    The input is a curve (a file with columns n and correctness) or a table, with the options of `incrowd curve`. Of a
    table with --qi the answer is that of `incrowd population` for every population asked; a curve, and a table with
    --ml, follow the scaling law.
    """

    import numpy as np

    from incrowd.forecasts import forecast, forecast_table
    from incrowd.pitman_yor import CurveFit, compare_fits

    if compare and uniqueness:
        raise InputError("--compare shows curves of the correctness; leave out --uniqueness")
    wanted, named = _populations(at)
    sizes_of_classes = [int(options.count(text, "k")) for text in options.names([k] if k else None)]
    source = Source(table, qi, person, item, known, draws, probes, gallery, metric)
    source.refuse_mixed()
    asked: dict[str, Any] = {"k": sizes_of_classes, "populations": named, "seed": seed}
    columns = options.names(qi)
    smooth = None
    with terminal.working("fitting the scaling law") as progress:
        curve, fit = _fitted(source, uniqueness, maximum_likelihood, people, seed, progress)
        if table is not None and columns and not maximum_likelihood:
            found = forecast_table(table, wanted, quasi_identifiers=columns, person=person, progress=progress, **asked)
            answer, smooth = found.forecast, found.curve
        else:
            answer = forecast(fit, wanted, progress=progress, **asked)
        others = compare_fits(curve, seed=seed) if compare else {}
        others = {name: one for name, one in others.items() if name != "PYC"}
    if plot is not None:
        _save(curve, fit, answer, smooth, list(others.values()), plot, force, seed)
    if json:
        baselines = {name: np.atleast_1d(one.model.correctness(answer.at)).tolist() for name, one in others.items()}
        terminal.as_json(
            {
                "fit": fit.to_dict(),
                "forecast": answer.to_dict(),
                "hold_out": answer.hold_out.to_dict() if answer.hold_out else None,
                "baselines": baselines,
            }
        )
    else:
        _show(answer, others, from_curve=isinstance(fit, CurveFit))


def _fitted(
    source: Source, unique: bool, maximum_likelihood: bool, people: int | None, seed: int, progress: Progress
) -> tuple[Curve, ClassSizeFit | CurveFit]:
    """The curve and the law fitted to it: to class sizes where they are known, else to points."""
    from dataclasses import replace

    from incrowd.classes import ClassSizes
    from incrowd.curves import Curve, correctness_curve
    from incrowd.pitman_yor import fit_class_sizes, fit_curve

    table, quasi_identifiers = source.table, options.names(source.qi)
    classes = table is not None and bool(quasi_identifiers)
    asked = source.qi or source.person or source.item or source.known
    given = table is not None and not asked and {"n", "correctness"} <= set(table.columns)
    if people is not None and not given:
        raise InputError("--people goes with a curve file; other input says itself how many people there are")
    if unique and (classes or source.robust):
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
    fitted: Fitted = "uniqueness" if unique else "correctness"
    return curve, fit_curve(curve, metric=fitted, prior=None if maximum_likelihood else "cautious")


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
    smooth: Forecast | None,
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
    smooth = smooth or forecast(fit, between.tolist(), seed=seed)
    figure = forecast_plot(curve, smooth, asked=answer, check=answer.hold_out, baselines=baselines)
    save_figure(figure, plot, force=force)


def _show(answer: Forecast, others: dict[Any, CurveFit], *, from_curve: bool) -> None:
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
    check = answer.hold_out
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
    if not from_curve and answer.method == "law":
        terminal.line(
            "These numbers follow the scaling law, which knows how many people look alike and nothing of the columns: "
            "without --ml the columns are used too, and that forecast is the one to believe."
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
