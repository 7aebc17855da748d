"""Attacks on any release: protected, perturbed or synthetic. One attack per file.

The public names are listed in `__init__.pyi`; each is imported on first use, so that reading a mark imports no attack.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
