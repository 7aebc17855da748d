"""What protection must reach, each with its limit: parts of `python -m benchmarks.protect`."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tests.protection.brute_force import fewest_equal, fewest_matching

from benchmarks import harness
from benchmarks.protect_cases import ADULT, HIERARCHIES, REGRESSIONS, detail_of, read
from incrowd import evaluate, protect
from incrowd.evaluation import Utility
from incrowd.protection import protect_items, protect_trajectories

MINUTE = 60.0
KANON = 0.918  # granularity that sdcMicro's kAnon keeps on Adult, 9 quasi-identifiers, k = 5, with blanks as wildcards


class Check(NamedTuple):
    """A number, and the least or the most that it may be; None where there is no such limit."""

    value: float
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the number is within its limits."""
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self) -> str:
        asked = [f"at least {self.least:g}"] if self.least is not None else []
        asked += [f"at most {self.most:g}"] if self.most is not None else []
        return f"{self.value:.4g} ({' and '.join(asked) or 'no limit'})"


def limits() -> dict[str, Check]:
    """What is kept on Adult, 9 quasi-identifiers, k = 5; and a classifier of incomes on automatic hierarchies."""
    table = read("adult")
    plain = protect(table, quasi_identifiers=ADULT, k=5, shuffle=False)
    counts = evaluate(table, plain.table, quasi_identifiers=ADULT, utility=True).utility
    told = plain.table.set_column(plain.table.column_names.index("income"), "income", table["income"])
    found = evaluate(table, told, quasi_identifiers=ADULT[:-1], outcome="income").utility
    assert counts is not None
    along = protect(table, quasi_identifiers=ADULT, k=5, hierarchies=HIERARCHIES)
    stars = sum(pc.sum(pc.equal(along.table[name].cast(pa.string()), "*")).as_py() or 0 for name in ADULT)
    others = [name for name in ADULT if name != "occupation"]
    close = {
        secret: detail_of(protect(table, quasi_identifiers=names, k=5, t=0.2, sensitive=[secret]))
        for secret, names in (("hours_per_week", ADULT), ("occupation", others))
    }
    coarse = protect(table, quasi_identifiers=ADULT[:-1], k=5, method="generalise", suppress=0.05)
    kept: dict[str, Any] = {"kept_rows": coarse.kept_rows, "outcome": "income"}
    scores = evaluate(table, coarse.table, quasi_identifiers=ADULT[:-1], **kept).utility
    assert found is not None
    assert scores is not None
    return {
        "partition: detail": Check(detail_of(plain), least=0.976),
        "partition: distance of 2-way tables": Check(counts.marginals[1], most=0.0285),
        "partition: AUC of incomes lost": Check(_lost(found), most=0.0035),
        "the original: AUC of incomes": Check(found.score_original or 0.0),
        "along hierarchies: detail": Check(detail_of(along), least=0.94),
        "along hierarchies: share of *": Check(stars / (along.rows * len(ADULT)), most=0.02),
        "t of hours 0.2: detail": Check(close["hours_per_week"], least=0.97),
        "t of occupation 0.2: detail": Check(close["occupation"], least=0.65),
        "automatic hierarchies: AUC of incomes lost": Check(_lost(scores), most=0.03),
    }


def _lost(found: Utility) -> float:
    """What a model loses when it is trained on the release."""
    assert found.score_original is not None
    assert found.score_protected is not None
    return found.score_original - found.score_protected


def speed() -> dict[str, Check]:
    """Processor seconds of generalise on Adult, the best of three; 0.62 and 2.9 with given hierarchies before."""
    table, found = read("adult"), {}
    before = {("given", 0.0): 0.62, ("given", 0.05): 2.9}
    for what, hierarchies in (("given", HIERARCHIES), ("automatic", None)):
        for share in (0.0, 0.05):
            options: dict[str, Any] = {"method": "generalise", "suppress": share, "hierarchies": hierarchies}
            asked: dict[str, Any] = {"quasi_identifiers": ADULT, "k": 5, "warn": False, "identifiers": []}
            best = min(_seconds(lambda o=options, a=asked: protect(table, **a, **o)) for _ in range(3))
            most = before[what, share] / 5 if (what, share) in before else None
            found[f"{what} hierarchies, {share:.0%} of the rows: s"] = Check(best, most=most)
    return found


def _seconds(work: Any) -> float:
    """Processor seconds of a piece of work."""
    started = time.process_time()
    work()
    return time.process_time() - started


def coverage() -> dict[str, Check]:
    """The share of the original's coefficients that the 95 % intervals on the partition's table cover, k = 5."""
    found = {}
    for name, (columns, outcome) in REGRESSIONS.items():
        table = read(name).select([*columns, outcome]).drop_null()
        safe = protect(table, quasi_identifiers=columns, k=5, identifiers=[], shuffle=False)
        utility = evaluate(table, safe.table, quasi_identifiers=columns, outcome=outcome).utility
        assert utility is not None
        inside = [
            one.protected_interval[0] <= one.original <= one.protected_interval[1] for one in utility.coefficients
        ]
        found[f"{name}: of {len(inside)} coefficients of {outcome}"] = Check(sum(inside) / len(inside), least=0.9)
    return found


def blanks() -> dict[str, Check]:
    """Cells blanked on Adult, and over the fewest there are on 40 tables of 3 columns and 7 or 5 rows."""
    table, found = read("adult"), {}
    for name, options in (("values", {}), ("wildcards", {"wildcards": True})):
        asked: dict[str, Any] = {"method": "blank", "identifiers": [], "warn": False, **options}
        safe = protect(table, quasi_identifiers=ADULT, k=5, **asked)
        shown = 1 - _blanked(safe) / (safe.rows * len(ADULT))
        found[f"blanks as {name}: share of Adult's cells shown"] = Check(shown, least=KANON if options else None)
        draws, needed, blanked, length = np.random.default_rng(5), 0, 0, 5 if options else 7
        for _ in range(40):
            rows = list(zip(*(draws.integers(0, size, length).tolist() for size in (3, 3, 2)), strict=True))
            columns = {name: list(column) for name, column in zip("abc", zip(*rows, strict=True), strict=True)}
            blanked += _blanked(protect(columns, quasi_identifiers=["a", "b", "c"], k=2, **asked))
            needed += (fewest_matching if options else fewest_equal)(rows, 2)
        found[f"blanks as {name}: over the fewest"] = Check(blanked / needed, most=1.25)
    return found


def _blanked(safe: Any) -> int:
    return sum(safe.changed_cells.values())


def sets() -> dict[str, Check]:
    """The share of items that is left out for k = 5, by how many items an attacker knows, and processor seconds."""
    found = {}
    for name, person, item in (("groceries", "basket", "item"), ("msweb_visits", "user", "area_id")):
        table = pq.read_table(harness.DATA / f"{name}.parquet")
        for known in (1, 2, 3):
            started = time.process_time()
            safe = protect_items(table, person=person, item=item, known=known, k=5)
            found[f"{name}, {known} known: s"] = Check(time.process_time() - started, most=MINUTE)
            found[f"{name}, {known} known: share left out"] = Check(safe.suppressed / safe.items)
    return found


def trips(people: int = 100_000) -> dict[str, Any]:
    """Trips of 100,000 generated people, k = 5."""
    table = mobility(people)
    started = time.process_time()
    safe = protect_trajectories(table, person="who", time="when", place=["x", "y"], k=5)
    return {
        "processor seconds of the protection": Check(time.process_time() - started, most=MINUTE),
        "chosen": safe.sentence,
        "unicity before": safe.unicity_before,
        "unicity after": safe.unicity_after,
    }


def mobility(people: int, points: int = 20, seed: int = 0) -> pa.Table:
    """Four weeks of people who live in one of 40 towns and work in one of them: an hour and a place for each point."""
    draws = np.random.default_rng(seed)
    towns, sizes = draws.uniform(0, 100, (40, 2)), draws.dirichlet(np.full(40, 0.5))
    home = draws.choice(40, people, p=sizes)
    work = np.where(draws.random(people) < 0.7, home, draws.choice(40, people, p=sizes))
    at_home = towns[home] + draws.normal(0, 1.5, (people, 2))
    at_work = towns[work] + draws.normal(0, 0.7, (people, 2))
    who = np.repeat(np.arange(people), points)
    hour = draws.integers(0, 28 * 24, who.size)
    works = (hour % 24 >= 8) & (hour % 24 < 17) & (draws.random(who.size) < 0.8)
    spot = np.where(works[:, None], at_work[who], at_home[who]) + draws.normal(0, 0.3, (who.size, 2))
    seconds = hour * 3_600 + draws.integers(0, 3_600, who.size)
    when = np.datetime64("2024-01-01T00", "s") + seconds.astype("timedelta64[s]")
    return pa.table({"who": who, "when": when, "x": np.round(spot[:, 0], 3), "y": np.round(spot[:, 1], 3)})
