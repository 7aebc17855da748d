"""From a table to a decision: the question, its sections, the verdict.

The public names are listed in `__init__.pyi`; each is imported on first use, so that the command line can read the
options of a question without loading what answers it.
"""

from incrowd._support.lazy_names import lazy_names

__all__, __getattr__ = lazy_names(__name__, __file__)
