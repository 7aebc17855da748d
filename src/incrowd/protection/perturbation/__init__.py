"""Perturbation: one kind of step per file. Values are changed at random, so that classes guarantee nothing."""

from incrowd.protection.perturbation.coding import BottomCode, Round, TopCode
from incrowd.protection.perturbation.date_shift import ShiftDates
from incrowd.protection.perturbation.microaggregation import Microaggregate
from incrowd.protection.perturbation.noise import CorrelatedNoise, Noise
from incrowd.protection.perturbation.perturb import STEPS, columns_of_step, parse_step
from incrowd.protection.perturbation.pram import Pram, estimate_counts, estimate_errors
from incrowd.protection.perturbation.shuffling import Shuffle
from incrowd.protection.perturbation.step import Step
from incrowd.protection.perturbation.swapping import RankSwap, RecordSwap

__all__ = [
    "STEPS",
    "BottomCode",
    "CorrelatedNoise",
    "Microaggregate",
    "Noise",
    "Pram",
    "RankSwap",
    "RecordSwap",
    "Round",
    "ShiftDates",
    "Shuffle",
    "Step",
    "TopCode",
    "columns_of_step",
    "estimate_counts",
    "estimate_errors",
    "parse_step",
]
