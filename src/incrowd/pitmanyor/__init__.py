"""The Pitman–Yor process: the model behind the scaling law. numpy and scipy in, numbers out."""

from incrowd.pitmanyor.fit_sizes import ClassSizeFit, fit_class_sizes
from incrowd.pitmanyor.model import PitmanYor
from incrowd.pitmanyor.posterior import Posterior

__all__ = ["ClassSizeFit", "PitmanYor", "Posterior", "fit_class_sizes"]
