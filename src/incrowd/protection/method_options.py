"""The names of methods and of what they measure. This module imports nothing slow."""

from numbers import Integral
from typing import Any, Literal, get_args

from incrowd.errors import InputError

Measure = Literal["granularity", "association", "entropy", "discernibility", "class size"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
MethodName = Literal["partition", "sorted", "tcloseness", "coarsen", "generalise", "blank", "mask", "perturb"]


def require_whole(name: str, value: Any, least: int) -> None:
    """Refuse a value that is no whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of {least} or more; {value!r} was given")
