"""Measures of one table: class sizes, uniqueness, attribute disclosure, and risk by the attacker's knowledge.

The public names are listed in `__init__.pyi`; each is imported on first use, so that counting classes does not import
what looks for disclosures.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
