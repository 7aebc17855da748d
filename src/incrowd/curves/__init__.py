"""Correctness against gallery size: exact, sparse and robust matching, one curve for all."""

from incrowd.curves.curve import Curve
from incrowd.curves.exact import correctness_curve
from incrowd.curves.robust import robust_curve, robust_curve_from_ranks
from incrowd.curves.sparse import sparse_curve

__all__ = ["Curve", "correctness_curve", "robust_curve", "robust_curve_from_ranks", "sparse_curve"]
