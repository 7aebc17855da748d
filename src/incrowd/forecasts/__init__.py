"""Correctness at any population size, with an interval."""

from incrowd.forecasts.api import Forecast, forecast

__all__ = ["Forecast", "forecast"]
