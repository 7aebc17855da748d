"""Jiang, Mosquera, Jiang, Kong & El Emam, "Measuring re-identification risk using a synthetic estimator"."""

from papers.corpora import FILES
from papers.parts import Paper, Part
from papers.synthetic_estimator.formulas import reproduce_formulas
from papers.synthetic_estimator.published_estimators import reproduce_published
from papers.synthetic_estimator.simulation import reproduce_simulation
from papers.synthetic_estimator.vine import reproduce_vine
from papers.synthetic_estimator.wrong_population import reproduce_wrong_population

PAPER = Paper(
    name="synthetic-estimator",
    title="The synthetic estimator, reproduced",
    citation="Y. Jiang, L. Mosquera, B. Jiang, L. Kong, K. El Emam, “Measuring re-identification risk using a "
    "synthetic estimator to enable data sharing”, PLOS ONE 17(6): e0269097 (2022), doi:10.1371/journal.pone.0269097.",
    about="A table is a sample of a population: how likely is it that one of its records is matched to the right "
    "person, when the population has not been seen?",
    parts=(
        Part("formulas", "The two risks (appendix A)", reproduce_formulas),
        Part("vine", "The copulas: the vine's structure (Figure 1, appendix B)", reproduce_vine),
        Part("published", "The published Monte Carlo (appendix B)", reproduce_published, ("adult.parquet",)),
        Part("simulation", "Every estimator against the truth", reproduce_simulation, FILES),
        Part("sensitivity", "If the population is not what you think", reproduce_wrong_population, FILES),
    ),
)
