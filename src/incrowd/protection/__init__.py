"""Protecting a table: one method a file, one registry, one entry for all.

The public names are listed in `__init__.pyi`; each is imported on first use, so that the command line can read the
options of methods without loading the code that runs them.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
