"""Evaluation of a protected table against its original: boxes, information loss, disclosure, utility.

The public names are listed in `__init__.pyi`; each is imported on first use, so that counting unique records does not
import the protection methods.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
