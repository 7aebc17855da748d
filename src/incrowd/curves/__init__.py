"""Correctness against gallery size for exact, sparse and robust matching."""

from incrowd.curves.exact_matching import correctness_curve
from incrowd.curves.known_distribution import KnownDistribution
from incrowd.curves.result import Curve
from incrowd.curves.robust_matching import robust_curve, robust_curve_from_ranks
from incrowd.curves.sparse_matching import sparse_curve
from incrowd.curves.study_accuracy import PartAccuracy, StudyAccuracy, study_accuracy

__all__ = [
    "Curve",
    "KnownDistribution",
    "PartAccuracy",
    "StudyAccuracy",
    "correctness_curve",
    "robust_curve",
    "robust_curve_from_ranks",
    "sparse_curve",
    "study_accuracy",
]
