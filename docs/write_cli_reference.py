"""Writes the reference of the command line: `python -m docs.write_cli_reference > docs/reference/cli.md`."""

from __future__ import annotations

import re
import sys
from typing import Any


def reference() -> str:
    """Every verb with its arguments and options, in Markdown."""
    import typer

    from incrowd.cli.app import app

    group: Any = typer.main.get_command(app)
    parts = [
        "# Command line\n",
        "Made from the commands themselves. All exit with 0 if all is well, 1 if a stated threshold is crossed and 2 "
        "if the input cannot be used. Answers go to stdout; messages and progress to stderr.\n",
    ]
    parts += [_verb(name, command) for name, command in group.commands.items()]
    return "\n".join(parts)


def _verb(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and "--help" not in one.opts]
    usage = " ".join(["incrowd", name, *(_usage(one) for one in arguments), "[OPTIONS]"])
    lines = [f"## incrowd {name}\n", _plain(command.help or ""), "", f"`{usage}`", "", "| | |", "|---|---|"]
    lines += [f"| `{_usage(one)}` | {_cell(one.help)} |" for one in arguments]
    lines += [f"| {_names(one)} | {_cell(one.help)}{_default(one)} |" for one in options]
    return "\n".join(lines) + "\n"


def _usage(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    return ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])


def _default(option: Any) -> str:
    if option.default in (None, False, (), []) or callable(option.default) or not option.show_default:
        return ""
    return f" Default: `{option.default}`." if not isinstance(option.default, bool) else " Default: yes."


def _cell(text: str | None) -> str:
    return _plain(text or "").replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    """Without the terminal's markup: bold lines are examples."""
    return re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", text)


if __name__ == "__main__":
    sys.stdout.write(reference())
