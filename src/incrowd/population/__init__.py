"""Sample against population: what one table says about everybody it was drawn from."""

from incrowd.population.classical import ClassicalEstimate
from incrowd.population.curve import risk_curve
from incrowd.population.estimate import METHODS, population_risk
from incrowd.population.quoted import classical_risk
from incrowd.population.records import RecordRisk, record_risk, write_record_risk
from incrowd.population.result import PopulationRisk
from incrowd.population.sensitivity import Sensitivity, by_fraction, sensitivity

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
