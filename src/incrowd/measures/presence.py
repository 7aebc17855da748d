"""Comparison of a table with the population that it was drawn from: k-map and δ-presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from incrowd.backends import class_numbers, pack
from incrowd.backends.arrow_columns import without_dictionary
from incrowd.backends.encode import encode_column
from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.tables import TableLike, read_table


@dataclass(frozen=True, slots=True)
class Presence(Result):
    """Protection of people in the table among the people of a population (δ-presence).

    - `k_map`: the smallest number of people in the population who look like a record of the table.
    - `delta_minimum`, `delta_maximum`: δ-presence, the smallest and the largest share of a population class that is in
      the table; None if the table holds records that the population does not.
    - `absent`: records of the table in excess of the population's records of the same class; 0 for a true sample.
    """

    records: int
    population: int
    k_map: int
    delta_minimum: float | None
    delta_maximum: float | None
    absent: int


def measure_presence(data: TableLike, population: TableLike, *, quasi_identifiers: Sequence[str]) -> Presence:
    """Compare a table with its population by the quasi-identifiers that both have.

    Args:
        data: the table: a file's path, a frame or a `Table`.
        population: everybody, as a table with the same columns.
        quasi_identifiers: the columns that the attacker knows.

    Returns:
        The k of k-map and both δ of δ-presence.

    Raises:
        InputError: a column is missing or of different types, or a table has no rows.

    >>> found = measure_presence({"age": [3, 4]}, {"age": [3, 3, 4, 5]}, quasi_identifiers=["age"])
    >>> found.k_map, found.delta_minimum, found.delta_maximum
    (1, 0.0, 1.0)
    """
    sample, everybody = read_table(data), read_table(population)
    names = sample.require(quasi_identifiers, "quasi-identifiers")
    everybody.require(names, "quasi-identifiers in the population")
    for table in (sample, everybody):
        if not table.rows:
            raise InputError(f"{table.name} has columns but no rows")
    coded = []
    for (name, ours), (_, theirs) in zip(sample.read(names), everybody.read(names), strict=True):
        parts = [pa.table({name: without_dictionary(column)}) for column in (ours, theirs)]
        try:
            both = pa.concat_tables(parts, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise InputError(
                f"column {name!r} is {ours.type} in one table and {theirs.type} in the other; give both one type"
            ) from None
        coded.append(encode_column(name, both.column(0)))
    numbers, sizes = class_numbers(pack(coded))
    in_sample = np.bincount(numbers[: sample.rows], minlength=sizes.size)
    in_population = sizes - in_sample
    absent = int(np.maximum(in_sample - in_population, 0).sum())
    share = in_sample[in_population > 0] / in_population[in_population > 0]
    return Presence(
        sample.rows,
        everybody.rows,
        int(in_population[in_sample > 0].min()),
        None if absent else float(share.min()),
        None if absent else float(share.max()),
        absent,
    )
