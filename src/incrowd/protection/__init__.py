"""Making a table safe: one method a file, one interface for all."""

from incrowd.protection.api import METHODS, protect
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.mask import HIPAA_STEPS
from incrowd.protection.regenerate import regenerate
from incrowd.protection.result import Guarantee, Protected

__all__ = ["HIPAA_STEPS", "METHODS", "Guarantee", "Hierarchy", "Protected", "protect", "regenerate"]
