"""Sample against population: the risk if a record is matched against the population that the table was drawn from.

The public names are listed in `__init__.pyi`; each is imported on first use, because the estimators are slow to import.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
