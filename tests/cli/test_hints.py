"""What advice tells a user to type is an option that the command has."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import typer

import incrowd
from incrowd.cli.app import app
from incrowd.cli.hints import flag

SOURCE = Path(incrowd.__file__).parent


def literals(node: ast.expr, module: str) -> Iterator[str]:
    """The texts in an expression: written there, at the start of a formatted one, or in a constant of the module."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield from literals(node.values[0], module)
    elif isinstance(node, ast.Name) and node.id.isupper():
        yield from getattr(importlib.import_module(module), node.id)
    else:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                yield from literals(part, module)


def advised(room: str) -> Iterator[tuple[str, str]]:
    """Every hint of advice in the files of a room, with the place."""
    for file in sorted((SOURCE / room).rglob("*.py")):
        module = ".".join(("incrowd", *file.relative_to(SOURCE).with_suffix("").parts))
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("Advice", "Action"):
                hints = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "hint")]
                yield from ((hint, f"{file.name}:{call.lineno}") for one in hints for hint in literals(one, module))


def test_every_hint_of_advice_is_an_option_of_the_command():
    commands = typer.main.get_command(app).commands
    found = [*advised("assessment"), *advised("tables")]
    assert {"rows_are_people", "person", "null=", "certain", "original"} <= {hint for hint, _ in found}
    for hint, place in found:
        command, _, typed = f"assess {flag(hint)}".rpartition(" --")
        options = {one for parameter in commands[command.split()[-1]].params for one in parameter.opts}
        assert f"--{typed.split()[0]}" in options, (hint, place)
