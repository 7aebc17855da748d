"""A protected table against its original: boxes, information loss, disclosure, utility."""

from incrowd.evaluate.boxes import Uniques, unique_records
from incrowd.evaluate.compare import changed_columns, evaluate
from incrowd.evaluate.disclosure import Disclosure, attribute_disclosure
from incrowd.evaluate.distributions import ColumnDistribution, distributions
from incrowd.evaluate.frontier import Frontier, FrontierPoint, frontier
from incrowd.evaluate.result import ColumnCost, Evaluation

__all__ = [
    "ColumnCost",
    "ColumnDistribution",
    "Disclosure",
    "Evaluation",
    "Frontier",
    "FrontierPoint",
    "Uniques",
    "attribute_disclosure",
    "changed_columns",
    "distributions",
    "evaluate",
    "frontier",
    "unique_records",
]
