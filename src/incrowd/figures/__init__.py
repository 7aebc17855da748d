"""Figures of results, one subject per file."""

import sys

from incrowd.errors import UnsupportedError

if sys.flags.optimize > 1:  # Altair reads its own docstrings
    raise UnsupportedError("figures cannot be drawn where Python drops docstrings (-OO); run it without")

from incrowd.figures.curve_charts import curve_plot, forecast_plot, rank_size_plot
from incrowd.figures.figure_of_result import figure_of
from incrowd.figures.theme import save

__all__ = ["curve_plot", "figure_of", "forecast_plot", "rank_size_plot", "save"]
