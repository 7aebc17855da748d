"""The names of the room: the entry point and the verbs."""

from incrowd.cli.app import main as main
from incrowd.cli.assess import assess_table as assess_table
from incrowd.cli.attack import attack_release_of_table as attack_release_of_table
from incrowd.cli.attack import split_table_file as split_table_file
from incrowd.cli.attack import synthesise_table as synthesise_table
from incrowd.cli.check import check_table as check_table
from incrowd.cli.compare import compare_tables as compare_tables
from incrowd.cli.curve import measure_curve as measure_curve
from incrowd.cli.demo_data import write_demo as write_demo
from incrowd.cli.evaluate import evaluate_table as evaluate_table
from incrowd.cli.forecast import forecast_population as forecast_population
from incrowd.cli.frontier import frontier_of_table as frontier_of_table
from incrowd.cli.judge import judge_columns_of_table as judge_columns_of_table
from incrowd.cli.leak import leak_attack as leak_attack
from incrowd.cli.measure import measure_table as measure_table
from incrowd.cli.population import population_of_table as population_of_table
from incrowd.cli.profile import profile_table as profile_table
from incrowd.cli.protect import protect_table as protect_table
from incrowd.cli.regenerate import regenerate_table as regenerate_table
from incrowd.cli.serve import serve_app as serve_app
