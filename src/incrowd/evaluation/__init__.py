"""Evaluation of a protected table against its original: boxes, information loss, disclosure, utility."""

from incrowd.evaluation.api import changed_columns, evaluate
from incrowd.evaluation.boxes import Uniques, count_fitting_uniques, generalised_columns, unique_records
from incrowd.evaluation.disclosure import Disclosure, attribute_disclosure
from incrowd.evaluation.distributions import ColumnDistribution, distributions
from incrowd.evaluation.frontier import Frontier, FrontierPoint, frontier
from incrowd.evaluation.result import ColumnCost, Evaluation
from incrowd.evaluation.utility import Coefficient, Utility

__all__ = [
    "Coefficient",
    "ColumnCost",
    "ColumnDistribution",
    "Disclosure",
    "Evaluation",
    "Frontier",
    "FrontierPoint",
    "Uniques",
    "Utility",
    "attribute_disclosure",
    "changed_columns",
    "count_fitting_uniques",
    "distributions",
    "evaluate",
    "frontier",
    "generalised_columns",
    "unique_records",
]
