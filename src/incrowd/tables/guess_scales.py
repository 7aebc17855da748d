"""Whole numbers that are codes by the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from incrowd.backends.scales import Scale
from incrowd.tables.roles.names import find_topics, recognise_codebooks
from incrowd.tables.table import Table
from incrowd.wording import listed

CODED_TOPICS = frozenset(
    {"sex", "area", "country", "language", "ethnicity", "occupation", "industry", "marital status"}
)
_AMOUNT = re.compile(  # names on CODED_TOPICS that are amounts: years of immigration, sizes of towns, scores
    r"y(ea)?rs?|yoep|decade|siz|pop$|popul|dens|decile|depriv|rank|scor|prest|hisei|sei\d*$|hours|hrs|num$|count$|"
    r"(^|[^a-z])(lat|lon|lng|age|number of|n)([^a-z]|$)|latit|longit|coord|easting|northing|distance"
)


def apply_scales(table: Table, columns: Sequence[str]) -> list[str]:
    """Treat whole numbers as nominal codes if the column name says so and the user has not stated a scale.

    A wrong guess does not weaken a guarantee: k is the same, and t by equal distances is never smaller than t by ranks.
    The table keeps the scales. Returns the note for the user, or nothing.

    >>> from incrowd import read_table
    >>> table = read_table({"race": [1, 2, 9, 1], "age": [30, 41, 30, 25]})
    >>> len(apply_scales(table, ["race", "age"])), table.scale_of("race"), table.scale_of("age")
    (1, 'nominal', 'numeric')
    """
    types = table.backend.types()
    unsaid = [name for name in columns if name not in table.scales and pa.types.is_integer(types[name])]
    if unsaid:
        codebooks = recognise_codebooks(table.columns)
        codes = [name for name in unsaid if _is_code(name, codebooks)]
        table.backend.scales.update(dict.fromkeys(codes, Scale("nominal")))
        table.guessed_scales |= {*codes}
        for name in codes:
            table.encoded.pop(name, None)
    taken = [name for name in columns if name in table.guessed_scales]
    note = f"taken as codes, not as quantities, by their names: {listed(taken)}; state the scale if it is different"
    return [note] if taken else []


def _is_code(name: str, codebooks: Sequence[str]) -> bool:
    evidence = next(iter(find_topics(name, codebooks)), None)
    return (
        evidence is not None and evidence.sure and evidence.topic in CODED_TOPICS and not _AMOUNT.search(name.lower())
    )
