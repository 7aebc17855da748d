"""Facts about this table: who stands out, by how much, and by what an attacker knows."""

from incrowd.measure.beside import Beside, known_beside
from incrowd.measure.diversity import Diversity, diversity
from incrowd.measure.facts import Measurement, measure
from incrowd.measure.itemsets import ItemsetAnonymity, itemset_anonymity
from incrowd.measure.knowledge import KnowledgeRisk, risk_by_group, risk_by_subset
from incrowd.measure.minimal import MinimalSets, minimal_sets
from incrowd.measure.presence import Presence, presence

__all__ = [
    "Beside",
    "Diversity",
    "ItemsetAnonymity",
    "KnowledgeRisk",
    "Measurement",
    "MinimalSets",
    "Presence",
    "diversity",
    "itemset_anonymity",
    "known_beside",
    "measure",
    "minimal_sets",
    "presence",
    "risk_by_group",
    "risk_by_subset",
]
