"""incrowd: how easily a person is picked out of a crowd of records, and how to make the data safe.

Names are imported when they are first used, so that `import incrowd` stays quick.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.assess import Assessment, assess
    from incrowd.check import check
    from incrowd.classes import ClassSizes, class_size_of_each_record, write_class_sizes
    from incrowd.compare import compare
    from incrowd.curves import Curve, correctness_curve, robust_curve, sparse_curve
    from incrowd.demo import demo_table
    from incrowd.errors import IncrowdError, InputError, UnsupportedError
    from incrowd.evaluate import Evaluation, evaluate, frontier
    from incrowd.forecast import Forecast, forecast
    from incrowd.leak import LeakRisk, largest_leak, leak_risk, leak_risk_uniform, simulate_leak, smallest_k
    from incrowd.measure import Measurement, measure, minimal_sets, risk_by_group, risk_by_subset
    from incrowd.pitmanyor import PitmanYor, compare_fits, fit_class_sizes, fit_curve
    from incrowd.population import (
        PopulationRisk,
        classical_risk,
        population_risk,
        record_risk,
        sensitivity,
        write_record_risk,
    )
    from incrowd.protect import Hierarchy, Protected, protect, regenerate
    from incrowd.table import Table, read_table, suggest_roles

__version__ = "0.1.0"

_ROOMS = {
    "Assessment": "assess",
    "assess": "assess",
    "check": "check",
    "compare": "compare",
    "ClassSizes": "classes",
    "class_size_of_each_record": "classes",
    "write_class_sizes": "classes",
    "Curve": "curves",
    "correctness_curve": "curves",
    "robust_curve": "curves",
    "sparse_curve": "curves",
    "demo_table": "demo",
    "LeakRisk": "leak",
    "largest_leak": "leak",
    "leak_risk": "leak",
    "leak_risk_uniform": "leak",
    "simulate_leak": "leak",
    "smallest_k": "leak",
    "Forecast": "forecast",
    "forecast": "forecast",
    "PitmanYor": "pitmanyor",
    "compare_fits": "pitmanyor",
    "fit_class_sizes": "pitmanyor",
    "fit_curve": "pitmanyor",
    "Measurement": "measure",
    "measure": "measure",
    "minimal_sets": "measure",
    "risk_by_group": "measure",
    "risk_by_subset": "measure",
    "PopulationRisk": "population",
    "classical_risk": "population",
    "population_risk": "population",
    "record_risk": "population",
    "sensitivity": "population",
    "write_record_risk": "population",
    "Hierarchy": "protect",
    "Protected": "protect",
    "protect": "protect",
    "regenerate": "protect",
    "Evaluation": "evaluate",
    "evaluate": "evaluate",
    "frontier": "evaluate",
    "Table": "table",
    "read_table": "table",
    "suggest_roles": "table",
    "IncrowdError": "errors",
    "InputError": "errors",
    "UnsupportedError": "errors",
}

__all__ = [
    "Assessment",
    "ClassSizes",
    "Curve",
    "Evaluation",
    "Forecast",
    "Hierarchy",
    "IncrowdError",
    "InputError",
    "LeakRisk",
    "Measurement",
    "PitmanYor",
    "PopulationRisk",
    "Protected",
    "Table",
    "UnsupportedError",
    "assess",
    "check",
    "class_size_of_each_record",
    "classical_risk",
    "compare",
    "compare_fits",
    "correctness_curve",
    "demo_table",
    "evaluate",
    "fit_class_sizes",
    "fit_curve",
    "forecast",
    "frontier",
    "largest_leak",
    "leak_risk",
    "leak_risk_uniform",
    "measure",
    "minimal_sets",
    "population_risk",
    "protect",
    "read_table",
    "record_risk",
    "regenerate",
    "risk_by_group",
    "risk_by_subset",
    "robust_curve",
    "sensitivity",
    "simulate_leak",
    "smallest_k",
    "sparse_curve",
    "suggest_roles",
    "write_class_sizes",
    "write_record_risk",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}")
    return getattr(import_module(f"incrowd.{_ROOMS[name]}"), name)


class _Package(ModuleType):
    """Keeps `incrowd.measure` the function, though the room it lives in has the same name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _ROOMS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
