"""How long the population estimators take, and how much memory.

    python -m benchmarks.population_speed [--hundred-million]

Generated hospital stays, nine quasi-identifiers. Each time is the best of three, in one process, compiled code warm.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from incrowd import ClassSizes, demo_table, population_risk, read_table, record_risk
from incrowd.demo import QUASI_IDENTIFIERS
from incrowd.population import METHODS

RESULTS = Path(__file__).parent / "results"


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def hundred_million() -> None:
    """One synthetic population of a hundred million, in this process alone: seconds and the peak of its memory."""
    table = demo_table(100_000, 0)
    started = time.perf_counter()
    risk = population_risk(table, population=10**8, quasi_identifiers=QUASI_IDENTIFIERS, method="anchored")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": time.perf_counter() - started, "peak GB": peak, "B": risk.B}))


def main() -> None:
    """Print the times and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hundred-million", action="store_true", help="only that, in this process")
    if parser.parse_args().hundred_million:
        hundred_million()
        return
    found: dict[str, object] = {}
    table = read_table(demo_table(100_000, 0))
    for method in METHODS:

        def work(method: str = method) -> object:
            return population_risk(table, population=10**6, quasi_identifiers=QUASI_IDENTIFIERS, method=method)

        work()
        found[f"{method}, n = 100 000, N = 1 million, seconds"] = best(work)
    sizes = ClassSizes.from_table(table, quasi_identifiers=["age_yrs", "sex", "patzip"])
    found["posterior of class sizes, N = 10¹⁰, seconds"] = best(
        lambda: population_risk(sizes, population=10**10, method="posterior")
    )
    large = read_table(demo_table(4_000_000, 0))
    record_risk(large, population=38e6, quasi_identifiers=QUASI_IDENTIFIERS)
    found["record_risk, 4 million records, columns encoded, seconds"] = best(
        lambda: record_risk(large, population=38e6, quasi_identifiers=QUASI_IDENTIFIERS)["risk"]
    )
    command = [sys.executable, "-m", "benchmarks.population_speed", "--hundred-million"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found["anchored, n = 100 000, N = 100 million"] = json.loads(done.stdout)
    for name, value in found.items():
        print(f"{name:60} {value if isinstance(value, dict) else format(value, '.3f')}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "population_speed.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
