"""The command line. It calls the library, prints its results, and holds no maths."""

from incrowd.cli.app import main

__all__ = ["main"]
