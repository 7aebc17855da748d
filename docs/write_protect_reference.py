"""Writes the reference of `protect`: `python -m docs.write_protect_reference > docs/reference/protect.md`."""

from __future__ import annotations

import sys

from incrowd._support.option import Option
from incrowd.protection.protect_options import OPTIONS
from incrowd.protection.registry import PROTECTION_METHODS


def reference() -> str:
    """Every method and every option of `protect`, in Markdown."""
    groups = list(dict.fromkeys(option.group for option in OPTIONS.values()))
    parts = [
        "# Methods and options of protect\n",
        "Made from the declarations. The examples are in [Protect a table](../protect.md), further options of the "
        "command in [Command line](cli.md#incrowd-protect). An option that a method does not take is refused.\n",
        "## Methods\n\n| method | what it does |\n|---|---|",
        *(f"| `{name}` | {method.help} |" for name, method in PROTECTION_METHODS.items()),
    ]
    for group in groups:
        parts.append(f"\n## Options: {group}\n\n| keyword | command line | what it is | methods |\n|---|---|---|---|")
        parts += [_row(option) for option in OPTIONS.values() if option.group == group]
    return "\n".join(parts) + "\n"


def _row(option: Option) -> str:
    """One option as a row of a table."""
    flag = f"`{option.flag}`" if option.flag else "–"
    methods = ", ".join(f"`{name}`" for name in option.methods) or "all"
    help_text = " ".join(filter(None, [option.help, option.more, _range(option)]))
    return f"| `{option.name}` | {flag} | {help_text.replace('*', chr(92) + '*')} | {methods} |"


def _range(option: Option) -> str:
    """The range of an option's numbers in words."""
    ends = {"from": option.lowest, "above": option.above, "to": option.highest}
    words = " ".join(f"{word} {end:,.12g}" for word, end in ends.items() if end is not None)
    return f"Numbers {words}." if words else ""


if __name__ == "__main__":
    sys.stdout.write(reference())
