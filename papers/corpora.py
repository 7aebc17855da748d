"""Populations of the studies: public tables, where the data folder has them, and generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import class_numbers, encode, pack
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.tables import read_table

Numbers = NDArray[np.int64]

TABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "adult": ("split", "fnlwgt"),
        "atus": ("wt",),
        "fars": (),
        "diabetes130": ("encounter_id", "patient_nbr"),
        "eusilc_population": ("hid", "id", "pid"),
        "sd2011": (),
        "hdv2003": ("id", "poids"),
    }
)
"""Public tables, and their columns that are no attributes of a person (identifiers, weights)."""

FILES = tuple(f"{name}.parquet" for name in TABLES)
MOST_ATTEMPTS = 1_000  # in a row without a new set, after which the search stops
SMALLEST, LARGEST = 0.01, 0.99  # collections with a correctness outside are left out (scaling-law paper, Table 1)


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """People in random order, each with the number of their class."""

    corpus: str
    columns: tuple[str, ...]
    classes: Numbers

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.classes.size)

    @property
    def correctness(self) -> float:
        """κ of the whole collection."""
        return self.sizes(self.people).correctness

    def sizes(self, people: int) -> ClassSizes:
        """The class sizes of the first `people`, which are a random sample."""
        counts = np.bincount(self.classes[:people])
        return ClassSizes.from_sizes(counts[counts > 0])


def available_tables(folder: Path | None) -> list[str]:
    """The public tables that the folder has."""
    return [name for name in TABLES if folder is not None and (folder / f"{name}.parquet").is_file()]


def random_attributes(folder: Path, name: str, sets: int, random: np.random.Generator) -> Iterator[Collection]:
    """Random sets of 2 to 9 attributes of one table with 0.01 < κ < 0.99, each with one random order of its people.

    All sets differ; a table with fewer such sets yields fewer.
    """
    table = read_table(folder / f"{name}.parquet")
    columns = [column for column in table.columns if column not in TABLES[name]]
    coded = {column.name: column for column in encode(table, columns)}
    seen: set[frozenset[str]] = set()
    found = misses = 0
    while found < sets and misses < MOST_ATTEMPTS:
        size = min(int(random.integers(2, 10)), len(columns))
        chosen = tuple(columns[i] for i in random.choice(len(columns), size, replace=False))
        misses += 1
        if frozenset(chosen) in seen:
            continue
        seen.add(frozenset(chosen))
        classes, sizes = class_numbers(pack(coded[column] for column in chosen))
        if SMALLEST < sizes.size / classes.size < LARGEST:
            found, misses = found + 1, 0
            yield Collection(name, chosen, random.permutation(classes.astype(np.int64)))
    if not found:
        raise UnsupportedError(
            f"{name}: none of {len(seen)} sets of its columns names between 1 and 99 % of its people; "
            "take that file out of the data folder"
        )


def _geometric(random: np.random.Generator, people: int) -> Numbers:
    return random.geometric(10 ** random.uniform(-5.5, -1.5), people)


def _poisson(random: np.random.Generator, people: int) -> Numbers:
    return random.poisson(10 ** random.uniform(3.0, 11.0), people)


def _zipf(random: np.random.Generator, people: int) -> Numbers:
    return random.zipf(1.0 / random.uniform(0.55, 0.97), people)


FAMILIES: Mapping[str, Callable[[np.random.Generator, int], Numbers]] = MappingProxyType(
    {"geometric": _geometric, "poisson": _poisson, "zipf": _zipf}
)
"""Generated populations: every person's class is a random number; each collection has its own random parameter."""


def generated(name: str, sets: int, people: int, random: np.random.Generator) -> Iterator[Collection]:
    """Collections of a family with 0.01 < κ < 0.99."""
    found = misses = 0
    while found < sets:
        drawn = np.unique(FAMILIES[name](random, people), return_inverse=True)[1].astype(np.int64)
        misses += 1
        if SMALLEST < (int(drawn.max()) + 1) / people < LARGEST:
            found, misses = found + 1, 0
            yield Collection(name, (), drawn)
        if misses == MOST_ATTEMPTS:
            raise UnsupportedError(
                f"{name}: no population of {people:,} with 0.01 < κ < 0.99 in {MOST_ATTEMPTS:,} draws"
            )
