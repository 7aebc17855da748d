"""Fits of the scaling law, from class sizes and from measured points, under one roof."""

from incrowd.pitman_yor.fit_points import NAMES, CurveFit, compare_fits, fit_curve
from incrowd.pitman_yor.fit_sizes import ClassSizeFit, fit_class_sizes

__all__ = ["NAMES", "ClassSizeFit", "CurveFit", "compare_fits", "fit_class_sizes", "fit_curve"]
