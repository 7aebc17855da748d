"""Rocher, Hendrickx & de Montjoye, "A scaling law to model the effectiveness of identification techniques"."""

from papers.corpora import FILES
from papers.parts import Paper, Part
from papers.scaling_law.extrapolation import reproduce_extrapolation
from papers.scaling_law.regimes import reproduce_regimes
from papers.scaling_law.slips import reproduce_slips
from papers.scaling_law.specification import reproduce_specification
from papers.scaling_law.world_population import reproduce_world_population

PAPER = Paper(
    name="scaling-law",
    title="The scaling law, reproduced",
    citation="L. Rocher, J. M. Hendrickx, Y.-A. de Montjoye, “A scaling law to model the effectiveness of "
    "identification techniques”, Nature Communications 16, 347 (2025), doi:10.1038/s41467-024-55296-6.",
    about="How the share of people an identification technique names correctly falls as the crowd grows, and how far "
    "it can be forecast from a small study.",
    parts=(
        Part("regimes", "Regimes of the model (Figs. 4 and 5)", reproduce_regimes),
        Part(
            "specification", "Does the model describe class sizes? (Table S1, Fig. 1)", reproduce_specification, FILES
        ),
        Part(
            "extrapolation",
            "From a small study to everybody (Table 1, Fig. 2)",
            reproduce_extrapolation,
            (*FILES, "groceries.parquet", "msweb_visits.parquet"),
        ),
        Part("scale", "From a study to the world (Fig. 3)", reproduce_world_population),
        Part("slips", "Slips in the paper", reproduce_slips),
    ),
)
