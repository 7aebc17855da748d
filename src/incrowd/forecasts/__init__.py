"""Correctness at any population size, with an interval."""

from incrowd.forecasts.api import forecast
from incrowd.forecasts.open_set import OpenSetForecast, forecast_open_set
from incrowd.forecasts.population_sizes import POPULATIONS
from incrowd.forecasts.result import Estimate, Forecast, TableForecast
from incrowd.forecasts.table_forecast import forecast_table

__all__ = [
    "POPULATIONS",
    "Estimate",
    "Forecast",
    "OpenSetForecast",
    "TableForecast",
    "forecast",
    "forecast_open_set",
    "forecast_table",
]
