"""The names of narwhals."""

from narwhals.stable.v2 import *  # noqa: F403
