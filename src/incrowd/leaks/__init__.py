"""Leak attacks: how many people does a stolen extract name?"""

from incrowd.leaks.distribution import NamedPeople, distribution
from incrowd.leaks.exact import leak_risk, leak_risk_uniform, uniform_sizes
from incrowd.leaks.plan import LargestLeak, LeakTable, SmallestK, largest_leak, leak_table, smallest_k
from incrowd.leaks.result import LeakRisk, share_of
from incrowd.leaks.simulate import LeakSimulation, simulate_leak

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
