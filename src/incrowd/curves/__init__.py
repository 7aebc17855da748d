"""Correctness against gallery size: exact, sparse and robust matching, one curve for all."""

from incrowd.curves.curve import Curve
from incrowd.curves.exact import correctness_curve

__all__ = ["Curve", "correctness_curve"]
