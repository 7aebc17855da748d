"""Results become figures: one subject a file, one look for all."""

from incrowd.plots.curves import (
    curve_plot,
    entropy_plot,
    forecast_plot,
    rank_size_plot,
    tail_plot,
    unique_people_plot,
)
from incrowd.plots.look import save

__all__ = [
    "curve_plot",
    "entropy_plot",
    "forecast_plot",
    "rank_size_plot",
    "save",
    "tail_plot",
    "unique_people_plot",
]
