"""The generated population against the paper's, and Figure 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import part
from incrowd.demo import FULL_SIZE, GROUPS, QUASI_IDENTIFIERS
from incrowd.measures import KnowledgeRisk, risk_by_group
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.proper_anonymization import printed_numbers as printed


def reproduce_generated_population(context: Context) -> PartResult:
    """How unique the generated records are by what is known of them, and how their columns go together."""
    from papers.figures.anonymization import risk_bars

    table = printed.hospital_population(context)
    context.progress("correlating columns", 0.1)
    ours = upper_triangle(np.corrcoef([table[name].to_numpy() for name in QUASI_IDENTIFIERS]))
    charge = table["charge"].to_numpy()
    above = float((charge > printed.SECRET[0]).mean())
    risks = risk_by_group(table, GROUPS, progress=part(context.progress, 0.3, 1.0))
    return PartResult(
        (_claims(risks, ours, above, context), _knowledge(risks)),
        (
            Picture(
                "fig-1",
                "Figure 1: risk by what the attacker knows",
                risk_bars({"the population": {risk.label: risk.uniqueness for risk in risks}}),
                f"Records that nobody else looks like. The paper prints only the last bar, {printed.UNIQUENESS}.",
            ),
        ),
        (printed.note_on_size(context),),
    )


def upper_triangle(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The upper triangle of a square of correlations, in the order of `printed_numbers.PAIRS`."""
    return matrix[np.triu_indices(len(QUASI_IDENTIFIERS), 1)]


def flatten_triangle(table: tuple[tuple[float, ...], ...]) -> NDArray[np.float64]:
    """A printed triangle in the same order."""
    return np.array([value for row in table for value in row])


def _claims(risks: tuple[KnowledgeRisk, ...], ours: NDArray[np.float64], above: float, context: Context) -> Comparison:
    everything = risks[-1]
    off = np.abs(ours - flatten_triangle(printed.TABLE_S4))
    farthest = printed.PAIRS[int(off.argmax())]
    at = "" if not context.quick else " (the generator is calibrated at full size; a small population is more unique)"
    return Comparison(
        "The population",
        (
            Row("records", everything.people, FULL_SIZE, "a quick run" if context.quick else ""),
            Row(
                "unique by all nine quasi-identifiers",
                f"{everything.uniqueness:.2%}",
                printed.UNIQUENESS,
                f"{everything.uniques:,} records; the paper: nearly 3 million{at}",
            ),
            Row("charges above 100,000", f"{above:.1%}", "around 10 %", "drawn, not fitted to that number"),
            Row(
                "correlations: largest difference to Table S4",
                float(off.max()),
                0,
                f"between {farthest[0]} and {farthest[1]}; all 36 pairs are in the next part",
            ),
        ),
    )


def _knowledge(risks: tuple[KnowledgeRisk, ...]) -> Grid:
    cells: list[list[Value]] = [
        [risk.label, len(risk.columns), risk.uniques, f"{risk.uniqueness:.3%}", f"{risk.correctness:.3%}"]
        for risk in risks
    ]
    return Grid(
        "Figure 1 in numbers",
        ("the attacker knows", "columns", "unique records", "unique", "named by the best guess"),
        cells,
        "Census: age, sex, ethnicity, race, ZIP code, county. Spatial: hospital. Temporal: quarter, length of stay.",
    )
