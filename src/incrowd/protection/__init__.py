"""Protecting a table: one method a file, one registry, one entry for all."""

from incrowd.protection.api import protect
from incrowd.protection.blank import BlankOptions
from incrowd.protection.by_levels import PartitionOptions
from incrowd.protection.coarsen import CoarsenOptions
from incrowd.protection.codebook import Codebook, make_codebook
from incrowd.protection.generalise import GeneraliseOptions
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.items import ProtectedItems, protect_items
from incrowd.protection.mask import HIPAA_STEPS, MaskOptions
from incrowd.protection.original_facts import OriginalFacts
from incrowd.protection.outputs import OUTPUTS, parse_range
from incrowd.protection.perturbation import PerturbOptions
from incrowd.protection.regenerate import regenerate
from incrowd.protection.registry import METHODS, MethodName
from incrowd.protection.release import write_protected
from incrowd.protection.result import Guarantee, Protected
from incrowd.protection.trajectories import ProtectedTrajectories, protect_trajectories

__all__ = [
    "HIPAA_STEPS",
    "METHODS",
    "OUTPUTS",
    "BlankOptions",
    "CoarsenOptions",
    "Codebook",
    "GeneraliseOptions",
    "Guarantee",
    "Hierarchy",
    "MaskOptions",
    "MethodName",
    "OriginalFacts",
    "PartitionOptions",
    "PerturbOptions",
    "Protected",
    "ProtectedItems",
    "ProtectedTrajectories",
    "make_codebook",
    "parse_range",
    "protect",
    "protect_items",
    "protect_trajectories",
    "regenerate",
    "write_protected",
]
