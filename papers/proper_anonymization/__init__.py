"""Sánchez, Martínez & Domingo-Ferrer, How to avoid reidentification with proper anonymization (arXiv:1511.05957)."""

from papers.parts import Paper, Part
from papers.proper_anonymization.coarsening import reproduce_coarsening
from papers.proper_anonymization.generated_population import reproduce_generated_population
from papers.proper_anonymization.masking import reproduce_masking
from papers.proper_anonymization.protection import reproduce_protection
from papers.proper_anonymization.worked_tables import reproduce_worked_tables

PAPER = Paper(
    name="proper-anonymization",
    title="Proper anonymisation",
    citation=(
        "D. Sánchez, S. Martínez, J. Domingo-Ferrer: How to avoid reidentification with proper anonymization, with "
        "supplementary materials, arXiv:1511.05957 (2015)."
    ),
    about=(
        "The paper protects the discharge records of all Californian hospitals in 2009, masked cells filled in again "
        "by its Algorithm S1, and compares k-anonymity and t-closeness with coarsening by fixed intervals. Those "
        "records are not ours to pass on: everything here is measured on a generated population with the same columns, "
        "as many records (3,985,166; fewer with --quick), about the same share of unique records and nearly the same "
        "correlations. Figures whose numbers the paper does not print are compared by what its text says of them."
    ),
    parts=(
        Part(
            "population",
            "The population, and Figure 1: risk by what the attacker knows",
            reproduce_generated_population,
        ),
        Part("masked", "Safe harbour: Figure S3, and Tables S4 and S5 by masking and regenerating", reproduce_masking),
        Part("coarsening", "Fixed intervals: Figures S5 and S6", reproduce_coarsening),
        Part("protection", "k-anonymity and t-closeness: Figures 2, S4 and S7, Table S9", reproduce_protection),
        Part("worked-tables", "The small tables (S2, S6, S10), and slips in the paper", reproduce_worked_tables),
    ),
)
