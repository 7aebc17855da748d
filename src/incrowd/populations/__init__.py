"""Sample against population: the risk for everybody the table was drawn from.

The public names are listed in `__init__.pyi`; each is imported on first use, so that roles can be read without loading
what estimates.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
