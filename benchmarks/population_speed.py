"""How long the population estimators take, and how much memory: generated hospital stays, nine quasi-identifiers.

python -m benchmarks.population_speed
"""

from __future__ import annotations

from benchmarks.harness import save, show, timed
from incrowd.populations import ESTIMATORS

_TABLE = """
from incrowd import ClassSizes, demo_table, population_risk, read_table, record_risk
from incrowd.demo import QUASI_IDENTIFIERS
table = read_table(demo_table({rows}, 0))
"""
_RISK = """
risk = population_risk(table, population={people}, quasi_identifiers=QUASI_IDENTIFIERS, method={method!r})
answer = risk.sample_to_population
"""
_SIZES = """
sizes = ClassSizes.from_table(table, quasi_identifiers=["age_yrs", "sex", "patzip"])
"""


def main() -> None:
    """Print the times and write them."""
    found = {
        f"{method}: n = 100 000, N = 1 million": timed(
            _TABLE.format(rows=100_000), _RISK.format(people=10**6, method=method)
        )
        for method in ESTIMATORS
    }
    found["posterior: class sizes of 100 000 records, N = 10¹⁰"] = timed(
        _TABLE.format(rows=100_000) + _SIZES,
        "answer = population_risk(sizes, population=10**10, method='posterior').sample_to_population",
    )
    found["record_risk: 4 million records, N = 38 million"] = timed(
        _TABLE.format(rows=4_000_000),
        "answer = record_risk(table, population=38e6, quasi_identifiers=QUASI_IDENTIFIERS).sample_to_population",
    )
    found["anchored: n = 100 000, N = 100 million"] = timed(
        _TABLE.format(rows=100_000), _RISK.format(people=10**8, method="anchored"), repeat=1
    )
    rows = [(name, one["seconds"], one["first"], one["peak_mb"], one["answer"]) for name, one in found.items()]
    show("Population estimators", ("work", "best, s", "first, s", "peak, MB", "B"), rows)
    save("population_speed", found)


if __name__ == "__main__":
    main()
