"""Rocher, Hendrickx & de Montjoye, "A scaling law to model the effectiveness of identification techniques"."""

from incrowd.reproduce.parts import Paper, Part
from incrowd.reproduce.scaling_law.regimes import regimes

PAPER = Paper(
    name="scaling-law",
    title="The scaling law, reproduced",
    citation="L. Rocher, J. M. Hendrickx, Y.-A. de Montjoye, “A scaling law to model the effectiveness of "
    "identification techniques”, Nature Communications (2025), doi:10.1038/s41467-024-55296-6.",
    about="How the share of people an identification technique names correctly falls as the crowd grows, and how far "
    "it can be forecast from a small study.",
    parts=(Part("regimes", "Regimes of the model (Figs. 4 and 5)", regimes),),
)
