"""The command line: calls the library and prints its results. No maths."""

from incrowd.cli.app import main

__all__ = ["main"]
