"""Suggested roles of columns and rows, with reasons, for a person to confirm.

The public names are listed in `__init__.pyi`; each is imported on first use, so that the topic of a name can be told
without loading what looks at values.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
