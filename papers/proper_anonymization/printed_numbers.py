"""What the paper prints, and the population it is compared on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.demo import FULL_SIZE, QUASI_IDENTIFIERS, demo_table
from papers.parts import Context

if TYPE_CHECKING:
    import pyarrow as pa

UNIQUENESS = "75 %"  # "reaches almost 75 % of patients (nearly 3 million)"
MASKED_UNIQUENESS = 0.0026  # "0.26 % in the worst case"
UNMASKED = 3_142_313  # records with an unmasked value, on average over the attributes
MASKED_BY_RACE = (568_394, 136_264, 10_761, 130_597, 193_477, 32_857)  # v[race] under Algorithm S1
MASKED_RACES = sum(MASKED_BY_RACE)
AGREEMENT = 0.957  # correlation between tables S4 and S5
LEFT_AT_TWO = 51  # records still unique with every attribute in two intervals
SECRET = (100_000, None)  # charges above 100,000, "around 10 % of the total"
T_BY_K = {2: 0.25, 3: 0.17, 5: 0.10, 10: 0.05}  # Table S9

# upper triangles in the order of QUASI_IDENTIFIERS
TABLE_S4 = (
    (0.001, 0.001, 0.045, -0.056, 0.043, 0.811, 0.003, -0.001),
    (0.013, 0.359, -0.215, -0.006, -0.004, 0.118, -0.012),
    (-0.048, 0.022, 0.007, 0.012, -0.036, 0.004),
    (-0.334, 0.134, 0.036, 0.048, -0.007),
    (-0.081, -0.054, -0.014, 0.015),
    (0.094, -0.012, -0.002),
    (0.001, 0.000),
    (-0.005,),
)
TABLE_S5 = (
    (0.000, 0.003, 0.029, -0.045, 0.031, 0.807, 0.003, -0.001),
    (0.006, 0.209, -0.117, -0.001, -0.004, 0.022, -0.006),
    (-0.035, 0.008, 0.037, 0.013, -0.013, 0.002),
    (-0.209, 0.008, 0.021, 0.012, -0.003),
    (-0.027, -0.044, 0.003, 0.013),
    (0.180, -0.014, -0.007),
    (0.000, -0.001),
    (-0.002,),
)
PAIRS = tuple((a, b) for at, a in enumerate(QUASI_IDENTIFIERS) for b in QUASI_IDENTIFIERS[at + 1 :])

_QUICK = 12_000


def records_of(context: Context) -> int:
    """How many records are generated."""
    return _QUICK if context.quick else FULL_SIZE


def hospital_population(context: Context) -> pa.Table:
    """The generated population: nine quasi-identifiers and the charge."""
    context.progress("generating the population", 0.0)
    return demo_table(records_of(context), context.seed).select([*QUASI_IDENTIFIERS, "charge"])


def note_on_size(context: Context) -> str:
    """On how many records a part was measured."""
    if context.quick:
        return (
            f"A quick run: {_QUICK:,} records instead of {FULL_SIZE:,}. Fewer records are more unique, so the numbers "
            "are not comparable with the paper's."
        )
    return f"Measured on all {FULL_SIZE:,} records."
