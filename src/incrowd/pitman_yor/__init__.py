"""The Pitman–Yor process: the model behind the scaling law. numpy and scipy in, numbers out."""

from incrowd.pitman_yor.class_size_fit import ClassSizeFit, fit_class_sizes
from incrowd.pitman_yor.curve_fit import CurveFit, compare_fits, fit_curve
from incrowd.pitman_yor.model import PitmanYor
from incrowd.pitman_yor.posterior import Posterior

__all__ = ["ClassSizeFit", "CurveFit", "PitmanYor", "Posterior", "compare_fits", "fit_class_sizes", "fit_curve"]
