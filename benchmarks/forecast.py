"""The scaling law: exactness, forecast error on real tables and speed, beside pydataless and the baselines."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from papers.corpora import TABLES, Collection, random_attributes
from papers.scaling_law.published import FRACTIONS, TABLE_1

from benchmarks import harness
from incrowd import ClassSizes, correctness_curve, fit_curve, read_table
from incrowd.curves import Curve, robust_curve, sparse_curve
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import PitmanYor, compare_fits, fit_class_sizes
from incrowd.pitman_yor.prediction import SamplePrediction

PAPER = tuple(TABLE_1["exact", fraction]["PYC"] for fraction in FRACTIONS)
NAMES = ("class sizes", "class sizes, MAP", "class sizes, ML", "curve", "pydataless", "ENT", "EXP", "POL", "RND")

_PEER = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from dataless import PYP, PYPExtrapolation
given = json.load(open(sys.argv[1]))
fits = []
for case in given["fits"]:
    started = time.perf_counter()
    try:
        model = PYPExtrapolation(case["n"], correctness=case["k"])
        value = float(model.predict(np.array([case["at"]]))[0])
    except Exception as error:
        value = None
    fits.append([value, time.perf_counter() - started])
points = []
for h, gamma, n in given["points"]:
    try:
        points.append(float(PYP(h=h, gamma=gamma).correctness(n)))
    except Exception as error:
        points.append(None)
json.dump({"fits": fits, "points": points}, open(sys.argv[2], "w"))
"""


def main() -> None:
    """Measure everything, print it, keep it."""
    small = "--small" in sys.argv
    result: dict[str, Any] = {"exactness": exactness(100 if small else 400), "two points": two_points()}
    result["speed"] = speed(small)
    if harness.DATA.is_dir():
        result["real tables"] = real_tables(4 if small else 20)
    harness.save("forecast", result)


def ask_pydataless(fits: list[dict[str, Any]], points: list[list[float]]) -> dict[str, Any]:
    """Fits and expectations of pydataless 1.1.0, in its own environment."""
    python = harness.peer("pydataless", "pydataless==1.1.0")
    with TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
        question.write_text(json.dumps({"fits": fits, "points": points}))
        subprocess.run([python, "-c", _PEER, str(question), str(answer)], check=True)
        found: dict[str, Any] = json.loads(answer.read_text())
    return found


def exactness(settings: int) -> dict[str, float]:
    """Largest distance from mpmath over random settings with γ ≥ 0, which pydataless has too."""
    import mpmath

    mpmath.mp.dps = 100
    random = np.random.default_rng(0)
    points = [
        [float(random.uniform(0.5, 80)), float(random.uniform(0, 1)), float(np.floor(10 ** random.uniform(0, 12)))]
        for _ in range(settings)
    ]
    theirs = ask_pydataless([], points)["points"]
    truth = [_oracle(mpmath, *point) for point in points]
    ours = [PitmanYor.from_entropy(h=h, gamma=gamma).correctness(n) for h, gamma, n in points]
    error = {
        "incrowd": [abs(a - b) for a, b in zip(ours, truth, strict=True)],
        "pydataless": [1.0 if a is None or a != a else abs(a - b) for a, b in zip(theirs, truth, strict=True)],
    }
    rows = [(name, f"{max(errors):.1e}", f"{np.mean(np.array(errors) > 1e-6):.1%}") for name, errors in error.items()]
    harness.show(f"Expected correctness against mpmath, {settings} settings", ("", "largest error", "over 1e-6"), rows)
    return {name: max(errors) for name, errors in error.items()}


def _oracle(mp: Any, h: float, gamma: float, n: float) -> float:
    """κ(n) by the textbook formula with a hundred digits."""

    def inverse(y: Any) -> Any:
        x = mp.e**y + mp.mpf(1) / 2 if y > -2.22 else -1 / (y - mp.psi(0, 1))
        for _ in range(60):
            step = (mp.psi(0, x) - y) / mp.psi(1, x)
            x -= step
            if abs(step) < abs(x) * mp.mpf(10) ** -90:
                break
        return x

    heavy = mp.mpf(h) * mp.mpf(gamma)
    d, alpha = 1 - inverse(mp.psi(0, 1) - heavy), inverse(mp.psi(0, 1) + mp.mpf(h) - heavy) - 1
    log_ratio = mp.loggamma(1 + alpha) - mp.loggamma(d + alpha) + mp.loggamma(n + d + alpha) - mp.loggamma(n + alpha)
    return float((mp.exp(log_ratio) - alpha) / (n * d))


def two_points() -> dict[str, Any]:
    """κ(100) = 0.99 and κ(1000) = 0.80: the paper's example, which needs γ < 0. pydataless asks for a third point."""
    ours = fit_curve([100, 1000], correctness=[0.99, 0.80]).model.correctness(10_000)
    theirs = ask_pydataless([{"n": [1, 100, 1000], "k": [1.0, 0.99, 0.80], "at": 10_000}], [])["fits"][0][0]
    harness.show("κ(100) = 0.99, κ(1000) = 0.80, then κ(10 000)", ("incrowd", "pydataless"), [(ours, theirs)])
    return {"incrowd": ours, "pydataless": theirs}


def best_of(work: Callable[[], Any], repeat: int) -> float:
    """Seconds of the quickest of some runs."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def speed(small: bool) -> dict[str, float]:
    """Fits and curves by the clock."""
    random = np.random.default_rng(0)
    curve = correctness_curve(ClassSizes.from_sizes(PitmanYor.from_entropy(h=9, gamma=0.3).sample(20_000, 1)))
    case = {"n": curve.sizes.tolist(), "k": curve.correctness.tolist(), "at": 1e6}
    fit_curve(curve)
    found = {
        "curve fit, incrowd": best_of(lambda: fit_curve(curve), 30),
        "curve fit, pydataless": min(seconds for _, seconds in ask_pydataless([case] * 8, [])["fits"]),
    }
    people = 400_000 if small else 4_000_000
    sizes = ClassSizes.from_sizes(PitmanYor.from_entropy(h=11, gamma=0.3).sample(people, 1))
    fit_class_sizes(sizes)
    found[f"class-size fit, {people:,} people, {sizes.sizes.size:,} sizes"] = best_of(
        lambda: fit_class_sizes(sizes), 10
    )
    many = 10_000 if small else 100_000
    points = {"person": np.repeat(np.arange(many), 50), "item": random.zipf(1.3, 50 * many) % 20_000}
    table = read_table(points)
    sparse_curve({"person": [1, 1, 2], "item": [1, 2, 1]}, person="person", item="item", known=1)
    run = best_of(lambda: sparse_curve(table, person="person", item="item", known=4, draws=1), 1)
    found[f"sparse curve, {many:,} people × 50 points, p = 4"] = run
    rows = 2_000 if small else 20_000
    gallery = random.standard_normal((rows, 128)).astype(np.float32)
    probes = gallery + 1.5 * random.standard_normal(gallery.shape).astype(np.float32)
    found[f"robust curve, {rows:,} × {rows:,} × 128"] = best_of(lambda: robust_curve(probes, gallery), 1)
    harness.show("By the clock, seconds", ("", "seconds"), list(found.items()))
    ratio = found["curve fit, pydataless"] / found["curve fit, incrowd"]
    print(f"\nA curve fit is {ratio:.0f} times as fast as pydataless's.")
    return found


def real_tables(sets: int, tables: Sequence[str] = tuple(TABLES)) -> dict[str, Any]:
    """RMSE of the forecast at full size, from samples of real tables, over random sets of quasi-identifiers."""
    rows: list[dict[str, Any]] = []
    for name in tables:
        for case in random_attributes(harness.DATA, name, sets, np.random.default_rng(sum(map(ord, name)))):
            rows += _forecasts(case)
    for row, (value, _) in zip(rows, ask_pydataless([row.pop("case") for row in rows], [])["fits"], strict=True):
        row["pydataless"] = value if value is not None else float("nan")
    table: dict[str, list[float]] = {name: [] for name in NAMES}
    counts = []
    for fraction in FRACTIONS:
        at = [row for row in rows if row["fraction"] == fraction]
        counts.append(len(at))
        for name in NAMES:
            error = np.array([row[name] - row["truth"] for row in at])
            table[name].append(float(np.sqrt(np.nanmean(error**2))))
    columns = ("RMSE of the forecast at full size", *(f"{fraction:.1%}" for fraction in FRACTIONS))
    shown = [(name, *(f"{value:.3f}" for value in table[name])) for name in NAMES]
    shown.append(("the paper's Table 1 (its own tables)", *(f"{value:.3f}" for value in PAPER)))
    shown.append(("cases", *map(str, counts)))
    harness.show(f"{len(tables)} real table(s), {sets} random sets of 2–9 attributes each", columns, shown)
    inside = _coverage(rows)
    print(f"\nThe 95 % interval of the class-size forecast held the truth at: {inside}")
    return {"rmse": table, "paper": PAPER, "cases": counts, "coverage": inside}


def _coverage(rows: list[dict[str, Any]]) -> dict[str, float]:
    found = {}
    for fraction in FRACTIONS[:-1]:
        at = [row["low"] <= row["truth"] <= row["high"] for row in rows if row["fraction"] == fraction]
        found[f"{fraction:.1%}"] = round(float(np.mean(at)), 2)
    return found


def _forecasts(case: Collection) -> list[dict[str, Any]]:
    """What each method says about the whole table from its first people; samples without a look-alike are left out."""
    people, truth = case.people, case.correctness
    rows: list[dict[str, Any]] = []
    for fraction in FRACTIONS:
        sizes = case.sizes(max(round(fraction * people), 2))
        try:
            fit, plain = fit_class_sizes(sizes), fit_class_sizes(sizes, method="ml")
            curve = correctness_curve(sizes)
            others = compare_fits(curve, seed=len(rows))
        except UnsupportedError:
            continue
        row: dict[str, Any] = {"fraction": fraction, "truth": truth}
        value, low, high = SamplePrediction(sizes, fit.posterior()).correctness(people)
        row |= {"class sizes": value, "low": low, "high": high}
        row |= {"class sizes, MAP": fit.model.correctness(people), "class sizes, ML": plain.model.correctness(people)}
        row |= {
            ("curve" if name == "PYC" else name): float(one.model.correctness(people)) for name, one in others.items()
        }
        row["case"] = _points(curve, people)
        rows.append(row)
    return rows


def _points(curve: Curve, people: int) -> dict[str, Any]:
    return {"n": curve.sizes.tolist(), "k": curve.correctness.tolist(), "at": people}


if __name__ == "__main__":
    main()
