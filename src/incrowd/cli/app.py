"""The `incrowd` command: one verb a file, and what all verbs share about failing."""

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from incrowd import __version__
from incrowd.cli import terminal
from incrowd.cli.assess import assess_table
from incrowd.cli.check import check_table
from incrowd.cli.compare import compare_tables
from incrowd.cli.curve import measure_curve
from incrowd.cli.demo import write_demo
from incrowd.cli.evaluate import evaluate_table
from incrowd.cli.forecast import forecast_population
from incrowd.cli.frontier import frontier_of_table
from incrowd.cli.hints import with_flags
from incrowd.cli.leak import leak_attack
from incrowd.cli.measure import measure_table
from incrowd.cli.population import population_of_table
from incrowd.cli.profile import profile_table
from incrowd.cli.protect import protect_table
from incrowd.cli.serve import serve_app
from incrowd.cli.signals import ended_by_signals
from incrowd.errors import IncrowdError

app = typer.Typer(
    help="How easily is a person picked out of the crowd in your data, and what makes it safe?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        terminal.line(f"incrowd {__version__}")
        raise typer.Exit


@app.callback()
def _all_commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """How easily is a person picked out of the crowd in your data, and what makes it safe?"""


app.command("assess")(assess_table)
app.command("profile")(profile_table)
app.command("measure")(measure_table)
app.command("check")(check_table)
app.command("compare")(compare_tables)
app.command("protect")(protect_table)
app.command("evaluate")(evaluate_table)
app.command("frontier")(frontier_of_table)
app.command("population")(population_of_table)
app.command("curve")(measure_curve)
app.command("forecast")(forecast_population)
app.command("demo-data")(write_demo)
app.command("leak")(leak_attack)
app.command("serve")(serve_app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0 fine, 1 over a stated threshold, 2 bad input."""
    given = sys.argv[1:] if arguments is None else arguments
    run_command(lambda: app(args=_spread_groups(given), prog_name="incrowd"))


def run_command(command: Callable[[], object]) -> None:
    """Run a command; turn what it raises into one message on stderr and an exit code."""
    try:
        with ended_by_signals():
            command()
    except IncrowdError as error:
        terminal.problem(with_flags(str(error), error.hint))
        sys.exit(2)
    except MemoryError:
        terminal.problem("out of memory; give fewer columns, or a smaller --memory so that work spills to disk")
        sys.exit(2)
    except Exception as error:
        if "INCROWD_DEBUG" in os.environ:
            raise
        terminal.problem(  # a traceback could quote cells
            f"this should not have happened ({type(error).__name__}); set INCROWD_DEBUG=1 to see where, and tell us"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        terminal.problem("stopped")
        sys.exit(130)


def _spread_groups(arguments: list[str]) -> list[str]:
    """Let `--groups census=age,sex spatial=zip` stand for one `--groups` before each group."""
    spread: list[str] = []
    in_groups = False
    for argument in arguments:
        if argument.startswith("--groups="):
            in_groups = True
            spread += ["--groups", argument.removeprefix("--groups=")]
            continue
        if in_groups and "=" in argument and not argument.startswith("-") and spread[-1] != "--groups":
            spread.append("--groups")
        elif argument == "--groups":
            in_groups = True
        elif argument.startswith("-"):
            in_groups = False
        spread.append(argument)
    return spread
