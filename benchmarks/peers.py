"""incrowd beside pyCANON, ANJANA and pydataless on Adult, in one run: `python -m benchmarks peers`.

Every peer runs in an environment of its own (benchmarks/.peers). ARX and sdcMicro could not be installed where this was
written: neither Debian nor PyPI nor npm has either (PyPI's pyarxaas only calls an ARX server, which is Java from Maven
Central; sdcMicro is on CRAN). ARX's figures are quoted and marked; for sdcMicro there are none to quote.
"""

from __future__ import annotations

from typing import Any

from papers.scaling_law.published import FRACTIONS

from benchmarks import forecast, foundation, harness, protect

_SETS = 6  # random sets of attributes that are forecast
_AT = "1.0%"


def main() -> None:
    """Measure each question with whoever answers it, and print one table."""
    counted = foundation.adult()
    costs = protect.peers()
    errors = forecast.real_tables(_SETS, ["adult"])["rmse"]
    rows = [*_counting(counted), *_protecting(costs), *_forecasting(errors)]
    harness.show("Adult, side by side", ("question", "tool", "answer", "seconds"), rows)
    harness.save("peers", {"counting": counted, "protection": costs, "forecast": errors, "rows": rows})


def _counting(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """k, l and t of 30 162 records by eight attributes."""
    question = "k, l, t (8 attributes)"
    ours = found["incrowd k, uniqueness, l, t and relatives"]
    theirs = [found[f"pyCANON {letter}"] for letter in "klt"]
    answer = [round(float(one["answer"]), 4) for one in theirs]
    return [
        (question, "incrowd", _listed(ours["answer"]), f"{ours['seconds']:.3f}"),
        (question, "pyCANON", _listed(answer), f"{sum(one['seconds'] for one in theirs):.2f}"),
    ]


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _protecting(found: dict[str, Any]) -> list[tuple[str, ...]]:
    """Detail kept at k = 5 by nine attributes, every table measured by the same granularity."""
    question = "k = 5: detail kept (9 attributes)"
    return [
        (question, name, one, "–") if isinstance(one, str) else (question, name, f"{one[0]:.1%}", f"{one[1]:.2f}")
        for name, one in found.items()
    ]


def _forecasting(errors: dict[str, list[float]]) -> list[tuple[str, ...]]:
    """Error of the forecast for the whole table from a hundredth of it."""
    at = [f"{fraction:.1%}" for fraction in FRACTIONS].index(_AT)
    question = "forecast from 1 % of the people, RMSE of κ"
    tools = {"incrowd, class sizes": "class sizes", "incrowd, curve": "curve", "pydataless": "pydataless"}
    return [(question, tool, f"{errors[name][at]:.3f}", "–") for tool, name in tools.items()]


if __name__ == "__main__":
    main()
