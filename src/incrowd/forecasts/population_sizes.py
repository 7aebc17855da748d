"""Sizes of populations: named, requested, and those along which a curve is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from incrowd.errors import InputError
from incrowd.special import Floats
from incrowd.wording import whole

POPULATIONS: Mapping[str, int] = {
    "city": 1_000_000,
    "us": 331_000_000,
    "eu": 449_000_000,
    "world": 7_530_000_000,  # as in the scaling-law paper
}
"""Populations that have a name: a city of a million, the United States, the European Union, the world."""

_LARGEST = 1e12
_LEADING_DIGITS = (1, 2, 3, 5, 7)  # of the round sizes of a curve


def settle_populations(
    at: Sequence[float | str] | float | str, more: Mapping[str, float]
) -> tuple[tuple[str, ...], Floats]:
    """Names and sizes of the populations."""
    sizes_by_name = {**POPULATIONS, **{name.lower(): size for name, size in more.items()}}
    wanted = [at] if isinstance(at, str | int | float | np.number) else list(at)
    names, sizes = [], []
    for one in wanted:
        if isinstance(one, str):
            if one.lower() not in sizes_by_name:
                raise InputError(
                    f"no population is called {one!r}; there are {', '.join(sizes_by_name)}; or give a number"
                )
            names.append(one)
            sizes.append(float(sizes_by_name[one.lower()]))
        else:
            names.append(whole(one))
            sizes.append(float(one))
    array = np.array(sizes)
    if not array.size or not np.all(np.isfinite(array)) or np.any(array < 1) or np.any(array != np.floor(array)):
        raise InputError("populations must be whole numbers of 1 or more")
    if array.max() > _LARGEST:
        raise InputError(f"populations can be at most {_LARGEST:.0e}")
    return tuple(names), array


def forecast_sizes(people: int, population: int | None) -> list[int]:
    """The sizes at which a table is forecast: its own, the named ones, 1 and 3 of every power of ten, and N.

    >>> forecast_sizes(500_000_000, None)
    [500000000, 1000000000, 3000000000, 7530000000]
    """
    largest = max(POPULATIONS["world"], people, population or 0)
    steps = {step * 10**power for power in range(13) for step in (1, 3)}
    wanted = {people, *POPULATIONS.values(), *steps} | ({population} if population is not None else set())
    return sorted(size for size in wanted if people <= size <= largest)


def people_drawn(people: int, population: int | None) -> int:
    """Synthetic people for the forecast of a table, whatever sizes are asked for: every page gives one answer.

    A city is drawn, and larger populations are extrapolated.

    >>> people_drawn(1_000, None), people_drawn(500_000, 3_000_000)
    (1000000, 3000000)
    """
    return max(population or 0, 4 * people, POPULATIONS["city"])


def drawn_sizes(largest: float) -> list[float]:
    """The sizes at which the line of a forecast is drawn: round ones up to the world, or up to a larger requested one.

    >>> drawn_sizes(100)[-1] == POPULATIONS["world"], drawn_sizes(1e11)[-1]
    (True, 100000000000.0)
    """
    return round_sizes(max(float(POPULATIONS["world"]), largest))


def round_sizes(largest: float) -> list[float]:
    """Round sizes from 1 to `largest`, five for each power of ten, for a curve to draw.

    >>> round_sizes(20)
    [1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0]
    """
    return sorted({min(digit * 10.0**power, largest) for power in range(13) for digit in _LEADING_DIGITS})
