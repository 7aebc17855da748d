"""Sample against population: the risk for everybody the table was drawn from."""

from incrowd.populations.api import by_fraction, population_risk, risk_curve, sensitivity
from incrowd.populations.classical import classical_risk
from incrowd.populations.estimators import METHODS
from incrowd.populations.records import RecordRisk, record_risk, write_record_risk
from incrowd.populations.result import ClassicalEstimate, ClassicalRisk, PopulationRisk, Sensitivity

__all__ = [
    "METHODS",
    "ClassicalEstimate",
    "ClassicalRisk",
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
