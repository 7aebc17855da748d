"""Population estimates from samples that are not simple random ones, and forecasts, against the truth.

    python -m benchmarks.population_designs [--sets 5] [--only development]

Tables, columns and fractions are those of benchmarks/population.py, and so is the protocol: the width of strata of
weights, the part of the design effect in the intervals and the held-out error of sparse and robust curves were set on
the *development* tables (and, for curves, on groceries, msweb_visits and simulated vectors).

Designs. *Age*: people are drawn with chances that rise exponentially with their age, so that the weights have a
coefficient of variation of 1.6; *unrelated*: chances differ as much, but not by anything in the table. Each sample is
estimated with its weights and as if it were a simple random one. *Households*: whole households are drawn, and each
sample is estimated with them as clusters and as if people had been drawn one by one.

Forecasts. Coverage of 95 % intervals: class sizes and curves of Pitman–Yor populations with γ below, at and above 0;
sparse curves of real purchases and visits, robust curves of simulated vectors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from benchmarks.harness import DATA, save, show
from benchmarks.population import TABLES, read_frame, read_population
from incrowd import ClassSizes
from incrowd._support.progress import silent
from incrowd.curves import correctness_curve, robust_curve, sparse_curve
from incrowd.errors import UnsupportedError
from incrowd.forecasts.law import forecast_fit
from incrowd.pitman_yor import PitmanYor, fit_class_sizes, fit_curve
from incrowd.pitman_yor.model_checks import subsample
from incrowd.populations import population_risk

FRACTIONS = (0.01, 0.05, 0.2)
VARIATION = 1.6
_AGE = {"creditcard": "AGE", "nhanes": "Age"}
_HOUSEHOLD = {"eusilc_population": "hid", "sdc_testdata": "ori_hid"}


def chances(feature: np.ndarray, people: int) -> np.ndarray:
    """Chances to be drawn that rise with a feature, for a sample of about `people`, as unequal as `VARIATION` says."""
    unit = (feature - feature.mean()) / feature.std()

    def at(steepness: float) -> np.ndarray:
        chance = np.exp(steepness * unit)
        for _ in range(30):
            chance = np.minimum(chance * people / chance.sum(), 1.0)
        return np.asarray(np.maximum(chance, 1e-4 * people / unit.size))

    def excess(steepness: float) -> float:
        return float(people * np.sum(1.0 / at(steepness)) / unit.size**2 - 1.0 - VARIATION**2)

    return at(brentq(excess, 0.0, 8.0)) if excess(8.0) > 0 else at(8.0)


def draw_designs(name: str, sets: int, seed: int) -> Iterator[dict[str, Any]]:
    """Samples of one table by each of the designs."""
    frame, columns = read_frame(name), read_population(name)
    age, home = _AGE.get(name, "age"), _HOUSEHOLD.get(name)
    draw, people, made = np.random.default_rng([seed, 77]), len(frame), 0
    households = None if home is None else pd.factorize(frame[home])[0]
    keys = [one for one in columns if one != home]
    while made < sets:
        names = [str(one) for one in draw.choice(keys, int(draw.integers(2, min(7, len(keys)) + 1)), replace=False)]
        if made % 2 == 0 and age in keys and age not in names:
            names[0] = age
        _, numbers = np.unique(np.stack([columns[one] for one in names]), axis=1, return_inverse=True)
        sizes = np.bincount(numbers.ravel())
        if not 0.003 < sizes.size / people < 0.95:
            continue
        made += 1
        for fraction in FRACTIONS:
            wanted = int(people * fraction)
            if wanted < 150:
                continue
            designs: dict[str, np.ndarray] = {"unrelated": chances(draw.normal(size=people), wanted)}
            if age in frame:
                years = pd.to_numeric(frame[age], errors="coerce").fillna(0).to_numpy(dtype=float)
                if years.std() > 0:
                    designs["age"] = chances(years, wanted)
            samples = {design: np.flatnonzero(draw.random(people) < chance) for design, chance in designs.items()}
            if households is not None:
                samples["households"] = np.flatnonzero((draw.random(households.max() + 1) < fraction)[households])
            for design, rows in samples.items():
                sample = {one: columns[one][rows] for one in names}
                how: dict[str, Any] = {}
                if design in designs:
                    weights = 1.0 / designs[design][rows]
                    sample["survey weight"] = np.maximum(weights * people / weights.sum(), 1.0)
                    how = {"weights": "survey weight"}
                elif households is not None:
                    sample["household number"] = households[rows]
                    how = {"cluster": "household number"}
                truth = float(np.mean(1.0 / sizes[numbers.ravel()[rows]]))
                yield {"table": name, "design": design, "fraction": fraction, "truth": truth, "names": names,
                       "sample": sample, "how": how, "population": people}  # fmt: skip


def measure_designs(groups: list[str], sets: int, seed: int) -> dict[str, Any]:
    """Error and coverage with weights and without them."""
    found: dict[str, Any] = {}
    for group in groups:
        rows = []
        for table in TABLES[group]:
            for case in draw_designs(table, sets, seed):
                known = {"population": case["population"], "quasi_identifiers": case["names"]}
                used = population_risk(case["sample"], **known, **case["how"])
                ignored = population_risk(case["sample"], **known)
                row = {name: case[name] for name in ("table", "design", "fraction", "truth")}
                for way, risk in (("used", used), ("ignored", ignored)):
                    low, high = risk.ends
                    row |= {way: risk.sample_to_population - case["truth"], f"{way} held": low <= case["truth"] <= high}
                    row[f"{way} width"] = high - low
                rows.append(row)
        frame = pd.DataFrame(rows)
        found[group] = rows
        table_rows = []
        for (design, fraction), part in frame.groupby(["design", "fraction"]):
            table_rows.append(
                [design, f"{fraction:.0%}", len(part)]
                + [
                    f"{part[way].mean():+.4f} / {part[way].abs().median():.4f} / {part[f'{way} held'].mean():.2f} "
                    f"({part[f'{way} width'].median():.3f})"
                    for way in ("ignored", "used")
                ]
            )
        heads = ["design", "fraction", "cases", "as if random", "with its design"]
        show(f"{group}: mean error / median |error| / share inside the 95 % interval (median width)", heads, table_rows)
    return found


def measure_tails(cases: int, seed: int) -> list[dict[str, Any]]:
    """Whether forecasts from class sizes and from curves hold populations with tails of every kind."""
    draw, rows = np.random.default_rng(seed), []
    for kind, tail in (("finite, γ < 0", (-0.9, -0.05)), ("γ = 0", (0.0, 0.0)), ("heavy, γ > 0", (0.05, 0.8))):
        for _ in range(cases):
            model = PitmanYor.from_entropy(h=draw.uniform(4, 9), gamma=draw.uniform(*tail))
            people = int(10 ** draw.uniform(4, 5))
            whole = ClassSizes.from_sizes(model.sample(people, int(draw.integers(2**30))))
            sizes = subsample(whole, max(80, int(people * 10 ** draw.uniform(-2, -0.7))), draw)
            if sizes.classes in (1, sizes.people):
                continue
            for way, fit in (("class sizes", fit_class_sizes(sizes)), ("curve", fit_curve(correctness_curve(sizes)))):
                answer = forecast_fit(fit, ("all",), np.array([float(people)]), (), 0.95, 0, silent)
                assert answer.uniqueness is not None
                rows.append(
                    {
                        "kind": f"{kind}, from {way}",
                        "correctness": _holds(answer.correctness, whole.correctness),
                        "uniqueness": _holds(answer.uniqueness, whole.uniqueness),
                    }
                )
    return rows


def _holds(estimate: Any, truth: float) -> bool:
    return bool(estimate.low[0] - 1e-12 <= truth <= estimate.high[0] + 1e-12)


def measure_matching(repeats: int, seed: int) -> list[dict[str, Any]]:
    """Whether forecasts of sparse and robust curves hold the whole gallery, from parts of it."""
    draw, rows = np.random.default_rng(seed), []

    def add(kind: str, curve: Any, whole: Any) -> None:
        try:
            fit = fit_curve(curve)
        except UnsupportedError:
            return
        answer = forecast_fit(fit, ("all",), np.array([float(whole.sizes[-1])]), (), 0.95, 0, silent)
        rows.append({"kind": kind, "correctness": _holds(answer.correctness, float(whole.correctness[-1]))})

    for name, person, item in (("groceries", "basket", "item"), ("msweb_visits", "user", "area_id")):
        table = pd.read_parquet(DATA / f"{name}.parquet")[[person, item]].drop_duplicates()
        everybody = table[person].unique()
        for known in (1, 2, 3, 4, 6):
            whole = sparse_curve(table, person=person, item=item, known=known, draws=1)
            for fraction in (0.01, 0.05, 0.1, 0.3):
                for _ in range(repeats):
                    some = draw.choice(everybody, int(fraction * everybody.size), replace=False)
                    part = table[table[person].isin(some)]
                    add(f"sparse, {fraction:.0%}", sparse_curve(part, person=person, item=item, known=known), whole)
    for dimensions, noise in ((16, 0.6), (16, 0.9), (32, 0.9), (64, 1.3), (8, 0.35)):
        gallery = draw.standard_normal((5_000, dimensions)) * (1 + draw.exponential(1, dimensions))
        gallery += 3 * draw.standard_normal((30, dimensions))[draw.integers(0, 30, 5_000)]
        probes = gallery + noise * gallery.std() * draw.standard_normal(gallery.shape) * draw.lognormal(
            0, 0.6, (5_000, 1)
        )
        whole = robust_curve(probes, gallery, metric="euclidean")
        for fraction in (0.02, 0.1, 0.3):
            for _ in range(repeats):
                rows_of = draw.choice(5_000, int(fraction * 5_000), replace=False)
                measured = robust_curve(probes[rows_of], gallery[rows_of], metric="euclidean")
                add(f"robust, {fraction:.0%}", measured, whole)
    return rows


def main() -> None:
    """Run everything, print the tables, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=5, help="sets of columns for each table")
    parser.add_argument("--tails", type=int, default=60, help="populations with each kind of tail")
    parser.add_argument("--only", choices=list(TABLES), help="one group of tables")
    parser.add_argument("--seed", type=int, default=2024)
    options = parser.parse_args()
    designs = measure_designs([options.only] if options.only else list(TABLES), options.sets, options.seed)
    forecasts = measure_tails(options.tails, options.seed) + measure_matching(2, options.seed)
    frame = pd.DataFrame(forecasts)
    rows = [
        [kind, len(part), *(f"{part[name].dropna().mean():.3f}" for name in ("correctness", "uniqueness"))]
        for kind, part in frame.groupby("kind", sort=False)
    ]
    show("Forecasts: share inside the 95 % interval", ["", "cases", "correctness", "uniqueness"], rows)
    save("population_designs", {"designs": designs, "forecasts": forecasts})


if __name__ == "__main__":
    main()
