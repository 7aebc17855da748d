"""Leak attacks: the number of people that a stolen extract identifies."""

from incrowd.leaks.distribution import NamedPeople, named_people
from incrowd.leaks.inputs import share_of
from incrowd.leaks.leak_of_sample import LeakOfSample, leak_of_sample
from incrowd.leaks.leak_probability import leak_risk, leak_risk_uniform, uniform_sizes
from incrowd.leaks.learnt_secrets import (
    LearntSecrets,
    SharedSecrets,
    learnt_secrets,
    most_learnt,
    named_by_secret,
    smallest_l,
)
from incrowd.leaks.partial_leak import PartialLeak, simulate_partial_leak
from incrowd.leaks.planning import LargestLeak, LeakTable, SmallestK, largest_leak, leak_table, smallest_k
from incrowd.leaks.result import LeakRisk
from incrowd.leaks.simulation import LeakSimulation, simulate_leak

__all__ = [
    "LargestLeak",
    "LeakOfSample",
    "LeakRisk",
    "LeakSimulation",
    "LeakTable",
    "LearntSecrets",
    "NamedPeople",
    "PartialLeak",
    "SharedSecrets",
    "SmallestK",
    "largest_leak",
    "leak_of_sample",
    "leak_risk",
    "leak_risk_uniform",
    "leak_table",
    "learnt_secrets",
    "most_learnt",
    "named_by_secret",
    "named_people",
    "share_of",
    "simulate_leak",
    "simulate_partial_leak",
    "smallest_k",
    "smallest_l",
    "uniform_sizes",
]
