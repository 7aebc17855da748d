"""`incrowd forecast`: from a curve or a table to any population."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli import options, show
from incrowd.cli.curve import Draws, Gallery, Item, Known, Metric, Probes, curve_of
from incrowd.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from incrowd.curves import Curve
    from incrowd.forecast import Forecast
    from incrowd.pitmanyor.check import HoldOut
    from incrowd.pitmanyor.fit import ClassSizeFit, CurveFit
    from incrowd.table import Table

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
    maximum_likelihood: Annotated[bool, typer.Option("--ml", help="Class sizes: fit without the prior.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Also: what other curves say.")] = False,
    plot: options.Plot = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Forecast how many people are named correctly in populations that were never measured.

    The input is a curve (a file with columns n and correctness) or a table, with the options of `incrowd curve`.
    """
    import numpy as np

    from incrowd.forecast import forecast
    from incrowd.pitmanyor import compare_fits

    wanted, named = _populations(at)
    sizes_of_classes = [int(options.count(text, "k")) for text in options.names([k] if k else None)]
    with show.working("fitting the scaling law") as progress:
        source = (table, qi, person, item, known, draws, probes, gallery, metric, seed, progress)
        curve, fit = _fitted(source, uniqueness, maximum_likelihood)
        answer = forecast(fit, wanted, k=sizes_of_classes, populations=named, seed=seed, progress=progress)
        check = _checked(fit, seed)
        others = compare_fits(curve, seed=seed) if compare and not uniqueness else {}
        others = {name: one for name, one in others.items() if name != "PYC"}
    if plot is not None:
        _save(curve, fit, answer, list(others.values()), plot, force, seed)
    if json:
        baselines = {name: np.atleast_1d(one.model.correctness(answer.at)).tolist() for name, one in others.items()}
        show.as_json(
            {
                "fit": fit.to_dict(),
                "forecast": answer.to_dict(),
                "hold_out": check.to_dict() if check else None,
                "baselines": baselines,
            }
        )
    else:
        _show(answer, check, others)


def _fitted(source: Any, unique: bool, maximum_likelihood: bool) -> tuple[Curve, ClassSizeFit | CurveFit]:
    """The curve and the fit: from class sizes where they are known, else from points."""
    from incrowd.classes import ClassSizes
    from incrowd.curves import Curve, correctness_curve
    from incrowd.pitmanyor import fit_class_sizes, fit_curve

    table: Table | None = source[0]
    quasi_identifiers, person = options.names(source[1]), source[2]
    if table is not None and quasi_identifiers and not source[3]:
        sizes = ClassSizes.from_table(table, quasi_identifiers=quasi_identifiers, person=person)
        return correctness_curve(sizes), fit_class_sizes(sizes, method="ml" if maximum_likelihood else "map")
    if table is not None and not quasi_identifiers and not source[3] and {"n", "correctness"} <= set(table.columns):
        curve = Curve.read(table)
    else:
        curve = curve_of(*source)
    return curve, fit_curve(curve, metric="uniqueness" if unique else "correctness")


def _checked(fit: ClassSizeFit | CurveFit, seed: int) -> HoldOut | None:
    """The hold-out check, or None with a note where the data are too few for it."""
    from incrowd.pitmanyor.check import hold_out

    try:
        return hold_out(fit, seed=seed)
    except UnsupportedError as error:
        show.note(f"the fit was not checked on a part of the data: {error}")
        return None


def _populations(text: str) -> tuple[list[float | str], dict[str, float]]:
    """`1e6,us,mine=5e5` as what `forecast` takes.

    >>> _populations("1e6,us,mine=5e5")
    ([1000000, 'us', 'mine'], {'mine': 500000})
    """
    wanted: list[float | str] = []
    named: dict[str, float] = {}
    for entry in options.names([text]):
        name, equals, size = entry.partition("=")
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
    baselines: list[CurveFit],
    plot: Path,
    force: bool,
    seed: int,
) -> None:
    import numpy as np

    from incrowd.forecast import forecast
    from incrowd.plots import forecast_plot, save

    # a smooth line and band: the same forecast at sizes in between, with the last population asked for at its end
    largest = max(float(answer.at.max()), float(curve.sizes[-1]))
    between = np.unique(np.rint(np.geomspace(2, largest, 40)))
    name = answer.names[int(np.argmax(answer.at))]
    smooth = forecast(fit, [*between[:-1].tolist(), name], populations={name: largest}, seed=seed)
    save(forecast_plot(curve, smooth, baselines=baselines), plot, force=force)
    show.note(f"wrote {plot}")


def _show(answer: Forecast, check: HoldOut | None, others: dict[Any, CurveFit]) -> None:
    show.heading("Who would be named correctly")
    shares, unique = answer.correctness, answer.uniqueness
    labels = [_label(name, size) for name, size in zip(answer.names, answer.at, strict=True)]
    show.table(
        ["population", "named", "95 % interval", "people named", "unique"],
        [
            [label, _percent(value), _interval(low, high), _short(people), _percent(alone)]
            for label, value, low, high, people, alone in zip(
                labels, shares.value, shares.low, shares.high, answer.people_named, unique.value, strict=True
            )
        ],
    )
    if answer.violations:
        show.heading("In classes smaller than k: violations of k-anonymity")
        show.table(
            ["population", *(f"k = {k}" for k in answer.violations)],
            [
                [label, *(_percent(estimate.value[i]) for estimate in answer.violations.values())]
                for i, label in enumerate(labels)
            ],
        )
    h, gamma = answer.h, answer.gamma
    show.line(f"Entropy h = {h[0]:.2f} nats ({h[1]:.2f} to {h[2]:.2f}), {h[0] / math.log(2):.1f} bits of information.")
    show.line(f"Tail complexity γ = {gamma[0]:.2f} ({gamma[1]:.2f} to {gamma[2]:.2f}): {_tail(gamma[0])}.")
    if check is not None:
        verdict = "inside" if check.inside else "OUTSIDE"
        show.line(
            f"Check: from {check.seen:,} people the law forecasts {check.forecast:.1%} at {check.size:,}; "
            f"{check.measured:.1%} was measured, {verdict} its interval {check.low:.1%} to {check.high:.1%}."
        )
    if others:
        import numpy as np

        show.heading("What other curves say")
        values = {name: np.atleast_1d(one.model.correctness(answer.at)) for name, one in others.items()}
        show.table(
            ["population", *values],
            [[name, *(f"{column[i]:.2%}" for column in values.values())] for i, name in enumerate(answer.names)],
        )
    for text in answer.notes:
        show.note(text)


def _short(people: float) -> str:
    """A number of people in few characters.

    >>> _short(331e6), _short(48_842)
    ('331 million', '48,842')
    """
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if people >= size:
            return f"{people / size:.3g} {word}"
    return f"{people:,.0f}"


def _label(name: str, size: float) -> str:
    return _short(size) if name.replace(",", "").isdigit() else f"{name}, {_short(size)}"


def _interval(low: float, high: float) -> str:
    return f"{_percent(low)[:-1]} to {_percent(high)}"


def _percent(share: float) -> str:
    """A share as people read it, also when it is tiny."""
    return f"{share:.2%}" if share >= 1e-4 or share == 0 else f"{100 * share:.2g}%"


def _tail(gamma: float) -> str:
    if gamma < -0.02:
        return "a finite number of kinds of people; in a large enough crowd nobody is unique"
    if gamma < 0.1:
        return "a light tail; above some size hardly anybody is named"
    return "a heavy tail; even in large crowds some people stay unique"
