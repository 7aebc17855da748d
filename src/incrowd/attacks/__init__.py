"""Attacks on any release: protected, perturbed or synthetic. One attack per file."""

from incrowd.attacks.api import KINDS, attack, attack_release, kinds_for
from incrowd.attacks.report import ExposedRow, GroupRisk, ReleaseAttacks
from incrowd.attacks.result import AtPopulation, AttackKind, AttackRisk, Rate
from incrowd.attacks.synthesis import Synthetic, split_table, synthesise

__all__ = [
    "KINDS",
    "AtPopulation",
    "AttackKind",
    "AttackRisk",
    "ExposedRow",
    "GroupRisk",
    "Rate",
    "ReleaseAttacks",
    "Synthetic",
    "attack",
    "attack_release",
    "kinds_for",
    "split_table",
    "synthesise",
]
