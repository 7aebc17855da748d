"""The public names of incrowd: this list is the only one; `__init__.py` reads it and imports each name on first use."""

from incrowd.assessment import assess as assess
from incrowd.assessment import compare as compare
from incrowd.attacks import attack as attack
from incrowd.attacks import attack_release as attack_release
from incrowd.attacks import synthesise as synthesise
from incrowd.classes import ClassSizes as ClassSizes
from incrowd.curves import correctness_curve as correctness_curve
from incrowd.demo import demo_table as demo_table
from incrowd.errors import IncrowdError as IncrowdError
from incrowd.errors import InputError as InputError
from incrowd.errors import UnsupportedError as UnsupportedError
from incrowd.evaluation import evaluate as evaluate
from incrowd.evaluation import frontier as frontier
from incrowd.forecasts import forecast as forecast
from incrowd.gate import check as check
from incrowd.leaks import leak_risk as leak_risk
from incrowd.measures import measure as measure
from incrowd.pitman_yor import fit_curve as fit_curve
from incrowd.populations import population_risk as population_risk
from incrowd.populations import record_risk as record_risk
from incrowd.protection import Hierarchy as Hierarchy
from incrowd.protection import protect as protect
from incrowd.tables import Table as Table
from incrowd.tables import read_table as read_table
from incrowd.tables import suggest_roles as suggest_roles

__version__: str
