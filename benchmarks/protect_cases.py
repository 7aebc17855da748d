"""The tables of `python -m benchmarks.protect`: what is known, explained and secret in each, steps and hierarchies."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import harness
from incrowd import demo_table
from incrowd.demo import QUASI_IDENTIFIERS
from incrowd.protection import HIPAA_STEPS, Hierarchy, Protected

ADULT = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation", "income"]
HIERARCHIES = {name: harness.DATA / "adult_hierarchies" / f"{name.replace('_', '-')}.csv" for name in ADULT[:-1]}
HIERARCHIES["income"] = harness.DATA / "adult_hierarchies" / "salary-class.csv"
DEMO_ROWS = 1_000_000
DEMO_WIDTHS: dict[str, list[float]] = {
    "oshpd_id": [10_000, 100_000],
    "age_yrs": [5, 20],
    "patzip": [100, 1_000],
    "patcnty": [10],
    "los": [7, 28],
}


class Case(NamedTuple):
    """A table, what is known, what is explained and what is secret, and its own steps and hierarchies."""

    names: list[str]
    outcome: str
    secret: str
    steps: list[tuple[str, str]]
    noisy: list[tuple[str, str]]
    hierarchies: dict[str, Any]


CASES = {
    "adult": Case(
        ADULT[:-1],
        "income",
        "hours_per_week",
        [("age", "ranges=8"), *((name, "*") for name in ["native_country", "occupation", "education", "workclass"])],
        [("age", "noise=0.2"), ("native_country", "recordswap=0.1,match=sex"), ("occupation+education", "pram=0.8")],
        {name: file for name, file in HIERARCHIES.items() if name != "income"},
    ),
    "nhanes": Case(
        ["Gender", "Age", "Race1", "Education", "MaritalStatus"],
        "BMI",
        "BMI",
        [("Age", "ranges=8"), ("Education", "*"), ("MaritalStatus", "*"), ("Race1", "*")],
        [("Age", "rankswap=0.05"), ("Education+MaritalStatus", "pram=0.8")],
        {"Age": "5,10,20"},
    ),
    "happy": Case(
        ["year", "age", "sex", "marital", "degree"],
        "healthy",
        "happy",
        [("age", "ranges=8"), ("year", "ranges=4"), ("marital", "*"), ("degree", "*")],
        [("age+year", "microaggregate=5"), ("marital+degree", "pram=0.8")],
        {"age": "5,10,20", "year": "2,4,8"},
    ),
    "demo": Case(
        list(QUASI_IDENTIFIERS),
        "charge",
        "charge",
        list(HIPAA_STEPS),
        [("age_yrs+los", "correlated=0.2"), ("patzip", "recordswap=0.1"), ("race+ethncty", "pram=0.8")],
        {name: Hierarchy.intervals(DEMO_WIDTHS.get(name, [])) for name in QUASI_IDENTIFIERS},
    ),
}
REGRESSIONS = {
    "adult": (["age", "sex", "education", "marital_status"], "hours_per_week"),
    "cpssw8": (["gender", "age", "region", "education"], "earnings"),
    "nhanes": (["Gender", "Age", "Race1", "Education", "MaritalStatus"], "BMI"),
}


def read(name: str) -> pa.Table:
    """A table with no value missing in the columns that are used; of Adult the training records."""
    if name == "demo":
        return demo_table(DEMO_ROWS)
    table = pq.read_table(harness.DATA / f"{name}.parquet")
    if name == "adult":
        return table.filter(pc.equal(table["split"], "train")).drop_null()
    if name == "happy":
        health = table["health"].cast(pa.string())
        well = pc.if_else(pc.is_in(health, pa.array(["excellent", "good"])), "yes", "no")
        table = table.append_column("healthy", pc.if_else(pc.is_null(health), None, well))
    case = CASES.get(name)
    names = REGRESSIONS[name][0] + [REGRESSIONS[name][1]] if case is None else [*case.names, case.outcome, case.secret]
    return table.select(list(dict.fromkeys(names))).drop_null()


def detail_of(safe: Protected) -> float:
    """Granularity, of which a row that was left out has none."""
    return float(safe.evaluate().granularity) * safe.rows / (safe.rows + safe.suppressed_rows)
