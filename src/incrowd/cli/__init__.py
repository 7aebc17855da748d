"""The command line: calls the library, prints what it found. No maths."""

from incrowd.cli.app import main

__all__ = ["main"]
