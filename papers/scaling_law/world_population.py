"""Fig. 3: identification techniques from their small studies to the world, and points that were published."""

from __future__ import annotations

import numpy as np

from incrowd.curves import Curve
from incrowd.forecasts import Estimate, Forecast, forecast
from incrowd.pitman_yor import CurveFit, compare_fits, fit_curve
from papers.figures.scaling_law import scale_figure
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.scaling_law.published import FACES_2002, WORLD
from papers.scaling_law.studies import movement_studies, robust_study


def reproduce_world_population(context: Context) -> PartResult:
    """Studies that are neither easy nor hopeless, and the published points."""
    curves = {}
    context.progress("people in generated data", 0.1)
    studies = [
        *movement_studies(context, 24, range(2, 3)),
        *(robust_study(context, 16, 0.7, one) for one in (0.0, 0.6)),
    ]
    for study in studies:
        curves[f"{study.kind}: {study.corpus}"] = study.measure(study.people)
    faces = Curve.from_points(list(FACES_2002), list(FACES_2002.values()), how="NISTIR 6965")
    curves["published: faces, 2002"] = faces
    forecasts: dict[str, tuple[Curve, CurveFit, Forecast]] = {}
    for number, (name, curve) in enumerate(curves.items()):
        context.progress(f"forecasting {name}", 0.6 + 0.4 * number / len(curves))
        fit = fit_curve(curve)
        sizes = np.unique(np.rint(np.geomspace(1.0, WORLD, 40)))
        forecasts[name] = (curve, fit, forecast(fit, at=[*sizes.tolist(), 1e6, WORLD], seed=context.seed))
    figure = scale_figure({name: (curve, found) for name, (curve, _, found) in forecasts.items()})
    return PartResult(
        (_published_faces(faces), _table(forecasts)),
        (
            Picture(
                "world", "Fig. 3: techniques from their studies to the world", figure,
                "The paper shows phones by their contacts, FaceNet, writing style and browsers; their data are not "
                "at hand. These are our techniques of the same kinds.",
            ),
        ),
        _NOTES,
    )  # fmt: skip


_NOTES = (
    "The paper's text gives two values of its Fig. 3: FaceNet is right for 62 % of the world (γ = 1.0) and browser "
    "fingerprints for 75 % of 4 billion devices; the second is checked above, the points behind the first are not "
    "printed.",
)


def _published_faces(faces: Curve) -> Comparison:
    """Fit the two smaller galleries, forecast the third."""
    (small, second), (largest, measured) = list(FACES_2002)[:2], list(FACES_2002.items())[2]
    part = faces.up_to(second)
    fits = compare_fits(part)
    seen = f"κ({largest:,}) from κ({small}) and κ({second:,})"
    limits = forecast(fits["PYC"], at=largest).correctness
    distance = {name: abs(float(fit.model.correctness(largest)) - measured) for name, fit in fits.items()}
    nearest = min((name for name in distance if name != "RND"), key=lambda name: distance[name])
    rows = [
        Row(
            f"{seen}: {'PYC-MB' if name == 'PYC' else name}",
            float(fit.model.correctness(largest)),
            measured,
            f"{'The nearest of the four; ' if name == nearest else ''}{distance[name]:.3f} off."
            + (f" {_interval_in_words(fits['PYC'], limits)}" if name == "PYC" else ""),
        )
        for name, fit in fits.items()
        if name != "RND"
    ]
    return Comparison(
        "Published points: the best face recognition of 2002", tuple(rows),
        "Points of the Face Recognition Vendor Test 2002 (NISTIR 6965); “the paper” is what that report measured. The "
        "two smaller galleries are rounded to a percent and only a factor of two apart.",
    )  # fmt: skip


def _interval_in_words(fit: CurveFit, limits: Estimate) -> str:
    """The interval, and whether it ends at the estimate."""
    words = f"95 % interval {limits.low[0]:.2f} to {limits.high[0]:.2f}"
    if limits.high[0] > limits.value[0]:
        return f"{words}."
    return (
        f"{words}: one-sided, because the estimate, with γ = {fit.gamma:.2f}, lies above what the posterior holds for "
        "likely and the interval was only stretched to hold it. It says nothing of how much larger κ may be."
    )


def _table(forecasts: dict[str, tuple[Curve, CurveFit, Forecast]]) -> Grid:
    cells: list[list[Value]] = []
    for name, (curve, fit, found) in forecasts.items():
        shown = [_with_interval(found, size) for size in (1e6, WORLD)]
        cells.append([name, int(curve.sizes[-1]), float(curve.correctness[-1]), fit.h, fit.gamma, *shown])
    heads = ("technique", "largest gallery", "κ there", "h, nats", "γ", "κ of a million", "κ of 7.53 billion")
    ending = [name for name, (_, _, found) in forecasts.items() if found.correctness.high[-1] <= _last(found)]
    remark = "In brackets the 95 % interval."
    if ending:
        remark += (
            f" For {', '.join(ending)} it ends at the estimate: it is one-sided, for the points leave γ open, the fit "
            "takes a γ that the posterior, whose prior is against large ones, holds for unlikely, and the interval is "
            "stretched just so far as to hold the estimate."
        )
    return Grid("Forecasts", heads, cells, remark)


def _last(found: Forecast) -> float:
    return float(found.correctness.value[-1])


def _with_interval(found: Forecast, size: float) -> str:
    index = int(np.argmin(np.abs(found.at - size)))
    estimate = found.correctness
    return f"{estimate.value[index]:.3f} ({estimate.low[index]:.3f} to {estimate.high[index]:.3f})"
