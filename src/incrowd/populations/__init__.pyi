"""The public names of the room."""

from incrowd.populations.api import by_fraction as by_fraction
from incrowd.populations.api import population_risk as population_risk
from incrowd.populations.api import risk_curve as risk_curve
from incrowd.populations.api import sensitivity as sensitivity
from incrowd.populations.classical import classical_risk as classical_risk
from incrowd.populations.estimators import ESTIMATORS as ESTIMATORS
from incrowd.populations.records import RecordRisk as RecordRisk
from incrowd.populations.records import record_risk as record_risk
from incrowd.populations.records import write_record_risk as write_record_risk
from incrowd.populations.result import ClassicalEstimate as ClassicalEstimate
from incrowd.populations.result import ClassicalRisk as ClassicalRisk
from incrowd.populations.result import PopulationRisk as PopulationRisk
from incrowd.populations.result import Sensitivity as Sensitivity
