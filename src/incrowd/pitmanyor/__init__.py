"""The Pitman–Yor process: the model behind the scaling law. numpy and scipy in, numbers out."""

from incrowd.pitmanyor.fit import ClassSizeFit, CurveFit, compare_fits, fit_class_sizes, fit_curve
from incrowd.pitmanyor.model import PitmanYor
from incrowd.pitmanyor.posterior import Posterior

__all__ = ["ClassSizeFit", "CurveFit", "PitmanYor", "Posterior", "compare_fits", "fit_class_sizes", "fit_curve"]
