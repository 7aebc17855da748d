"""Measures of one table: class sizes, uniqueness, attribute disclosure, and risk by the attacker's knowledge."""

from incrowd.measures.api import Measurement, measure
from incrowd.measures.attribute_sets import KnowledgeRisk, KnowledgeRisks, risk_by_group, risk_by_subset
from incrowd.measures.auxiliary import AuxiliaryKnowledge, count_with_auxiliary
from incrowd.measures.contribution import Contribution, Contributions, contributions
from incrowd.measures.disclosed_secrets import DisclosedColumn, DisclosedSecrets, count_disclosed_secrets
from incrowd.measures.diversity import Diversity, measure_diversity
from incrowd.measures.households import HouseholdKnowledge, HouseholdRisk, household_risk
from incrowd.measures.itemsets import ItemsetAnonymity, itemset_anonymity
from incrowd.measures.kept_columns import kept_column_facts, released_column_facts
from incrowd.measures.minimal_unique_sets import MinimalSets, minimal_sets
from incrowd.measures.presence import Presence, measure_presence
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.measures.row_order import FollowedColumn, followed_columns
from incrowd.measures.secret_values import Secret

__all__ = [
    "AuxiliaryKnowledge",
    "Contribution",
    "Contributions",
    "DisclosedColumn",
    "DisclosedSecrets",
    "Diversity",
    "FollowedColumn",
    "HouseholdKnowledge",
    "HouseholdRisk",
    "ItemsetAnonymity",
    "KnowledgeRisk",
    "KnowledgeRisks",
    "Measurement",
    "MinimalSets",
    "Presence",
    "RecoveringColumn",
    "Secret",
    "contributions",
    "count_disclosed_secrets",
    "count_with_auxiliary",
    "followed_columns",
    "household_risk",
    "itemset_anonymity",
    "kept_column_facts",
    "measure",
    "measure_diversity",
    "measure_presence",
    "minimal_sets",
    "released_column_facts",
    "risk_by_group",
    "risk_by_subset",
]
