"""Keyed hashes of the people and batches that joined a stream.

The key is drawn once for a stream and is stored with the waiting records. Without the key nobody can test a guess about
a person. A release and its mark hold neither the key nor a hash.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends.arrow_columns import without_dictionary
from incrowd.backends.counts import record_without_person
from incrowd.errors import InputError
from incrowd.tables.generalised import Interval, parse_generalised
from incrowd.wording import counted

_BYTES = 16  # of a hash
_FIRST_BY_CHANCE = 1e-6  # a batch that agrees with the first release with a smaller probability is its batch
_AGAIN_BY_CHANCE = 0.05  # a batch that equals an earlier one with a smaller probability is that batch
_MOST_PAIRS = 10**8  # of classes and records that are compared
_MIDNIGHT = re.compile(r" 00:00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$|\.0+$")  # also zero fractions of a second
_ARE_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)


@dataclass(frozen=True, slots=True)
class BatchFingerprints:
    """Keyed hashes of the batches and the people of a stream."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)  # the secret key of the hashes
    batches: frozenset[bytes] = frozenset()  # one hash for each batch without a person column
    people: frozenset[bytes] = frozenset()  # one hash for each person in batches with a person column

    @classmethod
    def read(cls, saved: Mapping[str, Any], hashes: pa.ChunkedArray) -> BatchFingerprints:
        """Restore from `to_saved` and `hashes`; invalid input raises KeyError, TypeError or ValueError."""
        all_hashes, batches = hashes.to_pylist(), saved["batches"]
        if hashes.type != pa.binary(_BYTES) or None in all_hashes or not 0 <= batches <= len(all_hashes):
            raise ValueError
        key = base64.b64decode(saved["key"], validate=True)
        return cls(key, frozenset(all_hashes[:batches]), frozenset(all_hashes[batches:]))

    def to_saved(self) -> dict[str, Any]:
        """The key, which is as confidential as the records, and how many of the hashes are of batches."""
        return {"key": base64.b64encode(self.key).decode("ascii"), "batches": len(self.batches)}

    @property
    def hashes(self) -> pa.Array:
        """The hashes of batches, then those of people; each part is sorted, so that its order tells nothing."""
        all_hashes = [*sorted(self.batches), *sorted(self.people)]
        return pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(_BYTES), len(all_hashes), [None, pa.py_buffer(b"".join(all_hashes))]
        )

    def with_batch(self, batch: pa.Table, person: str | None = None) -> BatchFingerprints:
        """The hashes with those of one more batch.

        Args:
            batch: the rows of the batch, before protection.
            person: the column that says whose record it is. None: only the batch as a whole is recognised.

        Returns:
            The hashes. No hash is new if the batch has no rows, or if it equals an earlier batch by chance, because its
            rows have few different values.

        Raises:
            InputError: the batch or a person in it came before, or a person has two records in it.

        >>> seen = BatchFingerprints().with_batch(pa.table({"who": [1, 2], "age": [30, 40]}), "who")
        >>> seen.with_batch(pa.table({"who": [2, 3], "age": [41, 50]}), "who")
        Traceback (most recent call last):
        incrowd.errors.InputError: 1 of 2 records is of a person who came before; leave out ...
        """
        if person is None:
            rows = _rows(batch)
            if not rows:
                return self
            batch_hash = self._hash(b"".join(sorted(self._hash(repr(row).encode()) for row in rows)))
            if batch_hash in self.batches and _is_rarer(_AGAIN_BY_CHANCE / len(self.batches), Counter(rows)):
                raise InputError(
                    "this batch came before, cell for cell, and its people with it; name the new records, or a person "
                    "column that tells them apart",
                    hint="person",
                )
            return replace(self, batches=self.batches | {batch_hash})
        names = cells_as_text(batch[person])
        if None in names:
            raise record_without_person(person)
        people = [self._hash(str(name).encode()) for name in names]
        if len({*people}) < len(people):
            repeated = len(people) - len({*people})
            raise InputError(
                f"{counted(repeated, 'record is', 'records are')} of a person who has another one in this batch; "
                "everybody may have one"
            )
        known = len(self.people.intersection(people))
        if known:
            raise InputError(
                f"{known:,} of {counted(len(people), 'record', 'records')} {'is' if known == 1 else 'are'} of "
                f"{'a person' if known == 1 else 'people'} who came before; leave out who is in, or protect all "
                "records together by person"
            )
        return replace(self, people=self.people.union(people))

    def _hash(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, key=self.key, digest_size=_BYTES).digest()


def is_first_batch(batch: pa.Table, published: pa.Table, known: Sequence[str], arrived: int) -> bool | None:
    """True if a batch is the one that a first release was made from.

    No hash of that batch is stored, so the batch is compared with the published rows. It must have as many records as
    the first batch, and contain every released row of the columns that are released unchanged. Where these columns
    have too few different values, every class must also cover as many records of the batch as it has released rows.

    Args:
        known: the released quasi-identifiers; all other columns are released unchanged.
        arrived: number of records that the first release was made from.

    Returns:
        True or False; None if it cannot be decided: the batch agrees, but by chance others would too, because rows have
        few different values.
    """
    if batch.num_rows != arrived or not published.num_rows:
        return False
    names = [name for name in published.column_names if name in batch.column_names]
    unchanged = [name for name in names if name not in known]
    released_rows, batch_rows = (_rows(table.select(unchanged)) for table in (published, batch))
    if not Counter(released_rows) <= Counter(batch_rows):
        return False
    if _is_rarer(_FIRST_BY_CHANCE, Counter(released_rows)):
        return True
    labels = published.select([name for name in names if name in known])
    return _fills_classes(batch, labels, released_rows, batch_rows)


def _fills_classes(batch: pa.Table, labels: pa.Table, released_rows: list[Any], batch_rows: list[Any]) -> bool | None:
    """True if every class covers as many rows of a batch as it has released rows, with equal unchanged cells.

    None if it cannot be decided. Classes that cover the same row are united, so that every row is in at most one class.
    `released_rows` and `batch_rows` hold the cells of the columns that are released unchanged.
    """
    classes: defaultdict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for label, cells in zip(_rows(labels), released_rows, strict=True):
        classes[label][cells] += 1
    if len(classes) * batch.num_rows > _MOST_PAIRS:
        return None
    columns = [_covered_rows(batch[name], cells_as_text(labels[name])) for name in sorted(labels.column_names)]
    class_of_row = np.full(batch.num_rows, -1)
    rows_of_class: dict[int, Counter[Any]] = {-1: Counter()}
    for number, (label, released) in enumerate(classes.items()):
        covered = np.ones(batch.num_rows, dtype=np.bool_)
        for column, one in zip(columns, label, strict=True):
            covered &= column[one]
        overlapping = [int(other) for other in np.unique(class_of_row[covered]) if other >= 0]
        class_of_row[covered | np.isin(class_of_row, overlapping)] = number
        rows_of_class[number] = sum((rows_of_class.pop(other) for other in overlapping), released)
    expected_rows = Counter(
        {(number, cells): rows for number, counts in rows_of_class.items() for cells, rows in counts.items()}
    )
    covered_rows = Counter(zip(class_of_row.tolist(), batch_rows, strict=True))
    if not expected_rows <= covered_rows:
        return False
    return True if expected_rows == covered_rows and _is_rarer(_FIRST_BY_CHANCE, expected_rows) else None


def _covered_rows(column: pa.ChunkedArray, labels: list[str | None]) -> dict[str | None, NDArray[np.bool_]]:
    """Boolean mask of the rows that each label covers; a label that cannot be parsed covers all rows."""
    texts = cells_as_text(column)
    values = dict(zip(texts, column.to_pylist(), strict=True))
    code_of = {text: number for number, text in enumerate(values)}
    codes = np.array([code_of[text] for text in texts], dtype=np.int64)
    return {label: np.array(_covered_values(label, values), dtype=np.bool_)[codes] for label in {*labels}}


def _covered_values(label: str | None, values: Mapping[str | None, Any]) -> list[bool]:
    meaning = None if label is None else parse_generalised(label)
    try:
        if isinstance(meaning, Interval):
            return [text is not None and meaning.covers(value) for text, value in values.items()]
        if meaning is not None:
            return [meaning.covers(text) for text in values]
    except TypeError:  # a range of another type than the values
        return [True] * len(values)
    is_unknown = label is None or label not in values  # a blank, or a name of a hierarchy
    return [is_unknown or text == label for text in values]


def _is_rarer(limit: float, rows: Counter[Any]) -> bool:
    """True if a random batch with the same frequencies of rows equals this one with a probability below the limit."""
    total = rows.total()
    log_probability = math.lgamma(total + 1) + sum(n * math.log(n / total) - math.lgamma(n + 1) for n in rows.values())
    return log_probability < math.log(limit)


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The cells of every row as text, in alphabetical order of the columns."""
    columns = [cells_as_text(table[name]) for name in sorted(table.column_names)]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def cells_as_text(column: pa.ChunkedArray) -> list[str | None]:
    """Cells as text that does not depend on the column's type; None for a missing or blank cell."""
    column = without_dictionary(column)
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return [_number_as_text(cell) for cell in column.to_pylist()]
    texts: list[str | None]
    if any(is_bytes(kind) for is_bytes in _ARE_BYTES):
        texts = [None if cell is None else cell.decode(errors="backslashreplace") for cell in column.to_pylist()]
    else:
        try:
            texts = pc.cast(column, pa.string()).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # nested types and intervals
            texts = [None if cell is None else repr(cell) for cell in column.to_pylist()]
    if pa.types.is_temporal(kind):
        texts = [None if text is None else _MIDNIGHT.sub("", text) for text in texts]
    return [None if text is None else text.strip() or None for text in texts]


def _number_as_text(cell: float | Decimal | None) -> str | None:
    """A number as text, a whole number without a decimal point; None for a missing number or NaN."""
    if cell is None or cell != cell:
        return None
    if math.isfinite(cell) and cell == int(cell):
        return str(int(cell))
    return format(cell.normalize(), "f") if isinstance(cell, Decimal) else str(float(cell))
