"""Facts about this table: who stands out, by how much, and by what an attacker knows."""

from incrowd.measures.api import Measurement, measure
from incrowd.measures.attribute_sets import KnowledgeRisk, risk_by_group, risk_by_subset
from incrowd.measures.auxiliary import Beside, known_beside
from incrowd.measures.diversity import Diversity, diversity
from incrowd.measures.itemsets import ItemsetAnonymity, itemset_anonymity
from incrowd.measures.kept_columns import GivenBack, kept_column_facts, released_column_facts
from incrowd.measures.minimal_unique_sets import MinimalSets, minimal_sets
from incrowd.measures.presence import Presence, presence

__all__ = [
    "Beside",
    "Diversity",
    "GivenBack",
    "ItemsetAnonymity",
    "KnowledgeRisk",
    "Measurement",
    "MinimalSets",
    "Presence",
    "diversity",
    "itemset_anonymity",
    "kept_column_facts",
    "known_beside",
    "measure",
    "minimal_sets",
    "presence",
    "released_column_facts",
    "risk_by_group",
    "risk_by_subset",
]
