"""Correctness at any population size, with an interval."""

from incrowd.forecasts.api import POPULATIONS, check_forecast, forecast
from incrowd.forecasts.result import Estimate, Forecast, TableForecast
from incrowd.forecasts.table_forecast import forecast_from_risks, forecast_sizes, forecast_table, round_sizes

__all__ = [
    "POPULATIONS",
    "Estimate",
    "Forecast",
    "TableForecast",
    "check_forecast",
    "forecast",
    "forecast_from_risks",
    "forecast_sizes",
    "forecast_table",
    "round_sizes",
]
