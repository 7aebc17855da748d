"""Making a table safe: one method a file, one interface for all."""

from incrowd.protect.hierarchies import Hierarchy
from incrowd.protect.interface import METHODS, protect
from incrowd.protect.mask import HIPAA_STEPS
from incrowd.protect.regenerate import regenerate
from incrowd.protect.result import Guarantee, Protected

__all__ = ["HIPAA_STEPS", "METHODS", "Guarantee", "Hierarchy", "Protected", "protect", "regenerate"]
