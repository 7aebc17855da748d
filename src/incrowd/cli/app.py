"""The `incrowd` command: the list of its verbs, and how errors become messages and exit codes."""

import functools
import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import Annotated

import typer
from typer import Option

from incrowd import cli
from incrowd._support.addresses import masked
from incrowd._support.memory import is_out_of_memory
from incrowd.cli import terminal
from incrowd.cli.command_files import check_files
from incrowd.cli.hints import with_flags
from incrowd.cli.signals import ended_by_signals
from incrowd.errors import IncrowdError
from incrowd.version import __version__


def _version(wanted: bool) -> None:
    if wanted:
        terminal.line(f"incrowd {__version__}")
        raise typer.Exit


def _all_commands(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """How easily is a person picked out of the crowd in your data, and what makes it safe?"""


_VERBS = {
    "assess": "assess_table",
    "judge": "judge_columns_of_table",
    "profile": "profile_table",
    "measure": "measure_table",
    "check": "check_table",
    "compare": "compare_tables",
    "protect": "protect_table",
    "evaluate": "evaluate_table",
    "regenerate": "regenerate_table",
    "frontier": "frontier_of_table",
    "attack": "attack_release_of_table",
    "split": "split_table_file",
    "synthesise": "synthesise_table",
    "population": "population_of_table",
    "curve": "measure_curve",
    "forecast": "forecast_population",
    "demo-data": "write_demo",
    "leak": "leak_attack",
    "serve": "serve_app",
}
"""The function of each verb; it is imported with its file when it is called, or for the list of all verbs."""


def _app_of(verbs: Iterable[str]) -> typer.Typer:
    """The command line with these verbs."""
    built = typer.Typer(
        help="How easily is a person picked out of the crowd in your data, and what makes it safe?",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    built.callback()(_all_commands)
    for name in verbs:
        built.command(name)(check_files(getattr(cli, _VERBS[name])))
    return built


@functools.cache
def __getattr__(name: str) -> typer.Typer:
    """`app`: the command line with all verbs."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _app_of(_VERBS)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0 fine, 1 over a stated threshold, 2 bad input."""
    given = sys.argv[1:] if arguments is None else arguments
    verbs = given[:1] if given and given[0] in _VERBS else _VERBS
    run_command(lambda: _app_of(verbs)(args=_spread_groups(given), prog_name="incrowd"))


def run_command(command: Callable[[], object]) -> None:
    """Run a command; turn an error into one message on stderr and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for characters that the terminal cannot show
    try:
        with ended_by_signals():
            command()
    except IncrowdError as error:
        terminal.problem(with_flags(str(error), error.hint))
        sys.exit(2)
    except Exception as error:
        _tell_failure(error)
        sys.exit(2)
    except KeyboardInterrupt:
        terminal.problem("stopped")
        sys.exit(130)


def _tell_failure(error: Exception) -> None:
    """Write what went wrong, without a message or a traceback that could quote cells."""
    if is_out_of_memory(error):
        terminal.problem("out of memory; give fewer columns, or a smaller --memory so that work spills to disk")
    elif isinstance(error, OSError):  # its message has names of files, never cells
        where = f" {masked(os.fsdecode(error.filename))}" if isinstance(error.filename, str | bytes) else " a file"
        terminal.problem(f"cannot read or write{where}: {error.strerror or type(error).__name__}")
    elif "INCROWD_DEBUG" in os.environ:
        raise error
    else:
        terminal.problem(
            f"this should not have happened ({type(error).__name__}); set INCROWD_DEBUG=1 to see where, and tell us"
        )


def _spread_groups(arguments: list[str]) -> list[str]:
    """Repeat `--groups` before each group of `--groups census=age,sex spatial=zip`, as click expects it."""
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
