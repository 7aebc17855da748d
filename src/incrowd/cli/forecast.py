"""`incrowd forecast`: forecasts for any population from a curve or a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Option

from incrowd.cli import options, terminal
from incrowd.cli.command_files import Input, save_figure
from incrowd.cli.curve import CurveSource, with_source_options
from incrowd.cli.forecast_known import known_model, show_known
from incrowd.cli.forecast_text import (
    FittedTechnique,
    label_techniques,
    show_forecast,
    show_predictive_check,
    show_side_by_side,
)
from incrowd.cli.open_tables import opens_table
from incrowd.errors import InputError
from incrowd.results import as_json

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.curves import Curve
    from incrowd.pitman_yor import ClassSizeFit, CurveFit
    from incrowd.pitman_yor.curve_fit import Metric as Fitted
    from incrowd.pitman_yor.model_checks import RankSize

At = Annotated[
    str, Option("--at", help="Populations: numbers and names (city, us, eu, world), or name=number. Commas.")
]


@opens_table
@with_source_options
def forecast_population(
    table: options.TablePath = None,
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="MORE", help="More curves or tables: techniques side by side."),
        Input(),
    ] = None,
    at: At = "city,us,world",
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    k: Annotated[str | None, Option(help="Also: share of people in classes smaller than k. Commas.")] = None,
    uniqueness: Annotated[bool, Option("--uniqueness", help="Fit the curve's uniqueness.")] = False,
    maximum_likelihood: Annotated[
        bool, Option("--ml", help="The scaling law without its prior, by maximum likelihood.")
    ] = False,
    compare: Annotated[bool, Option("--compare", help="Also forecast by other curves.")] = False,
    predictive_check: Annotated[
        bool, Option("--predictive-check", help="Class sizes: also check whether the law fits them.")
    ] = False,
    frequencies: Annotated[str | None, Option(help="Instead: a column with the known shares of all classes.")] = None,
    entropy: Annotated[str | None, Option(help="Instead of a table: the law's entropy, 41.5 (nats) or 40bits.")] = None,
    tail: Annotated[float | None, Option(help="With --entropy: the tail complexity γ, from -1 to 1.")] = None,
    plot: options.Plot = None,
    force: options.Force = False,
    people: Annotated[
        int | None, Option(min=1, help="Curve: how many people were tested, if the file does not say.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    **source: Any,
) -> None:
    """Forecast how many people are named correctly in populations that were never measured.

    The input is a curve (a file with columns n and correctness) or a table, with the options of `incrowd curve`. For a
    table with --qi the forecast is that of `incrowd population` for each population; for a curve, and for a table with
    --ml, it follows the scaling law. Several files are techniques to compare: `incrowd forecast faces.csv voices.csv`.
    """
    if compare and uniqueness:
        raise InputError("--compare shows curves of the correctness; leave out --uniqueness")
    if more and (compare or plot is not None or predictive_check):
        raise InputError("--compare, --plot and --predictive-check are about one technique; name one file for them")
    asked = ForecastRequest(
        *_populations(at),
        [int(options.parse_count(text, "k")) for text in options.parse_names([k] if k else None)],
        seed,
    )
    model = known_model(table, frequencies, entropy, tail)
    if model is not None:
        if compare or plot is not None or predictive_check or more or qi or person or source["item"]:
            raise InputError("a known distribution is not fitted: leave out all options but --at, --k and --json")
        show_known(model, asked.populations, asked.named, asked.ks, json)
        return
    tables: list[Any] = [table, *(more or [])]
    labels = label_techniques([each.name if each else "" for each in tables])
    techniques = [
        _technique(label, CurveSource(one, qi, person, **source), asked, uniqueness, maximum_likelihood, people)
        for one, label in zip(tables, labels, strict=True)
    ]
    if not more:
        _answer(techniques[0], compare, predictive_check, seed, plot, force, json)
    elif json:
        terminal.print_json({"techniques": [{"name": one.name, **one.to_dict()} for one in techniques]})
    else:
        show_side_by_side(techniques)


class ForecastRequest(NamedTuple):
    """What is forecast for every technique: populations, sizes of named ones, class sizes; and the seed."""

    populations: list[float | str]
    named: dict[str, float]
    ks: list[int]
    seed: int


def _technique(
    label: str, source: CurveSource, asked: ForecastRequest, unique: bool, maximum_likelihood: bool, people: int | None
) -> FittedTechnique:
    """Fit the law to one technique and forecast."""
    from incrowd.forecasts import forecast, forecast_table

    source.refuse_mixed()
    columns = options.parse_names(source.qi)
    given: dict[str, Any] = {"k": asked.ks, "populations": asked.named, "seed": asked.seed}
    with terminal.show_progress("fitting the scaling law") as progress:
        curve, fit = _fitted(source, unique, maximum_likelihood, people, asked.seed, progress)
        if source.table is None or not columns or maximum_likelihood:
            return FittedTechnique(label, curve, fit, forecast(fit, asked.populations, progress=progress, **given))
        how: dict[str, Any] = {"quasi_identifiers": columns, "person": source.person, "progress": progress, **given}
        by_table = forecast_table(source.table, asked.populations, **how)
        return FittedTechnique(label, curve, fit, by_table.forecast, by_table.curve)


def _answer(
    one: FittedTechnique, compare: bool, predictive_check: bool, seed: int, plot: Path | None, force: bool, json: bool
) -> None:
    """Show one technique: its forecast, forecasts by other curves, and the check of the law on its class sizes."""
    from incrowd.pitman_yor import CurveFit, compare_fits

    answer = one.answer
    with terminal.show_progress("checking the fit") as progress:
        others = compare_fits(one.curve, seed=seed) if compare else {}
        others = {name: other for name, other in others.items() if name != "PYC"}
        bands = _predictive_checks(one.fit, seed, progress) if predictive_check else None
    if plot is not None:
        _save(one, list(others.values()), plot, force, seed)
    if json:
        baselines = {name: fit.correctness_at(answer.at) for name, fit in others.items()}
        terminal.print_json({**one.to_dict(), "baselines": baselines, "predictive_check": as_json(bands)})
        return
    show_forecast(answer, others, from_curve=isinstance(one.fit, CurveFit))
    if bands:
        show_predictive_check(*bands)


def _predictive_checks(fit: ClassSizeFit | CurveFit, seed: int, progress: Progress) -> tuple[RankSize, RankSize]:
    """Checks of class sizes against samples from the fitted law, and against stick-breaking, as published."""
    from incrowd.pitman_yor import CurveFit
    from incrowd.pitman_yor.model_checks import rank_size_check

    if isinstance(fit, CurveFit):
        raise InputError("--predictive-check compares class sizes: it goes with a table and --qi")
    sampled, broken = (rank_size_check(fit, sticks=sticks, seed=seed, progress=progress) for sticks in (False, True))
    return sampled, broken


def _fitted(
    source: CurveSource, unique: bool, maximum_likelihood: bool, people: int | None, seed: int, progress: Progress
) -> tuple[Curve, ClassSizeFit | CurveFit]:
    """The curve and the fitted law: fitted to the class sizes of a table with --qi, otherwise to the curve's points."""
    from incrowd.classes import ClassSizes
    from incrowd.curves import Curve, correctness_curve
    from incrowd.pitman_yor import fit_class_sizes, fit_curve

    table, quasi_identifiers = source.table, options.parse_names(source.qi)
    classes = table is not None and bool(quasi_identifiers)
    has_source_options = source.qi or source.person or source.item or source.known or source.ranks
    is_curve = table is not None and not has_source_options and {"n", "correctness"} <= set(table.columns)
    if people is not None and not is_curve:
        raise InputError("--people goes with a curve file; other input says itself how many people there are")
    if unique and (classes or source.robust or source.ranks):
        raise InputError("--uniqueness fits a curve that has it: a curve file, or sparse matching")
    if table is not None and classes:
        sizes = ClassSizes.from_table(table, quasi_identifiers=quasi_identifiers, person=source.person)
        return correctness_curve(sizes), fit_class_sizes(sizes, method="ml" if maximum_likelihood else "map")
    if is_curve:
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
    populations: list[float | str] = []
    named: dict[str, float] = {}
    for entry in options.parse_names([text]):
        name, equals, size = entry.partition("=")
        if equals and not name.strip():
            raise InputError("a population without a name before '='; write --at mine=5e5, or the number alone")
        if equals:
            named[name] = options.parse_count(size, f"population {name!r}")
            populations.append(name)
        elif entry[0].isdigit():
            populations.append(options.parse_count(entry, "population"))
        else:
            populations.append(entry)
    if not populations:
        raise InputError("no population given; write --at 1e6,us,world")
    return populations, named


def _save(one: FittedTechnique, baselines: list[CurveFit], plot: Path, force: bool, seed: int) -> None:
    from incrowd.figures import forecast_plot
    from incrowd.forecasts import forecast
    from incrowd.forecasts.population_sizes import round_sizes

    # forecasts at many sizes, for a smooth line and band
    largest = max(float(one.answer.at.max()), float(one.curve.sizes[-1]))
    smooth = one.smooth or forecast(one.fit, round_sizes(largest)[1:], seed=seed)
    figure = forecast_plot(one.curve, smooth, headline=one.answer, check=one.answer.hold_out, baselines=baselines)
    save_figure(figure, plot, force=force)
