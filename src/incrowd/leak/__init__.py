"""Leak attacks: how many people does a stolen extract name?"""

from incrowd.leak.distribution import NamedPeople, distribution
from incrowd.leak.exact import leak_risk, leak_risk_uniform, uniform_sizes
from incrowd.leak.plan import LargestLeak, LeakTable, SmallestK, largest_leak, leak_table, smallest_k
from incrowd.leak.result import LeakRisk, share_of
from incrowd.leak.simulate import LeakSimulation, simulate_leak

__all__ = [
    "LargestLeak",
    "LeakRisk",
    "LeakSimulation",
    "LeakTable",
    "NamedPeople",
    "SmallestK",
    "distribution",
    "largest_leak",
    "leak_risk",
    "leak_risk_uniform",
    "leak_table",
    "share_of",
    "simulate_leak",
    "smallest_k",
    "uniform_sizes",
]
