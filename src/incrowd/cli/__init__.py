"""The command line. It calls the library, prints its results, and holds no maths.

The names are listed in `__init__.pyi`; each is imported on first use, so that a verb does not import the others.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
