"""Sample against population: what one table says about everybody it was drawn from."""

from incrowd.populations.api import METHODS, population_risk
from incrowd.populations.classical import ClassicalEstimate
from incrowd.populations.classical_summary import classical_risk
from incrowd.populations.records import RecordRisk, record_risk, write_record_risk
from incrowd.populations.result import PopulationRisk
from incrowd.populations.risk_curve import risk_curve
from incrowd.populations.sensitivity import Sensitivity, by_fraction, sensitivity

__all__ = [
    "METHODS",
    "ClassicalEstimate",
    "PopulationRisk",
    "RecordRisk",
    "Sensitivity",
    "by_fraction",
    "classical_risk",
    "population_risk",
    "record_risk",
    "risk_curve",
    "sensitivity",
    "write_record_risk",
]
