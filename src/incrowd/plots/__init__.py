"""Results become figures: one subject a file, one look for all."""

from incrowd.plots.look import save

__all__ = ["save"]
