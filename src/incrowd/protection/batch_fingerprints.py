"""Keyed hashes of the people and batches that joined a stream before.

The key is drawn once for a stream and is kept with the records that wait: without it nobody can test a guess about a
person, and a release or its mark holds neither key nor hash.
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

from incrowd.errors import InputError
from incrowd.tables.generalised import Interval, parse_generalised
from incrowd.wording import counted

_BYTES = 16  # of a hash
_BY_CHANCE = 1e-6  # how likely a batch agrees with the first release, below which it is its own
_AGAIN_BY_CHANCE = 0.05  # how likely a batch is equal to any before, below which it came before
_MOST_PAIRS = 10**8  # of classes and records that are compared
_MIDNIGHT = re.compile(r" 00:00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$|\.0+$")  # and seconds without a part
_ARE_BYTES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)


@dataclass(frozen=True, slots=True)
class BatchFingerprints:
    """Keyed hashes of the batches and the people of a stream.

    Attributes:
        key: of the hashes.
        batches: one hash for each batch that came without a person column.
        people: one for each person of the others.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    batches: frozenset[bytes] = frozenset()
    people: frozenset[bytes] = frozenset()

    @classmethod
    def read(cls, saved: Mapping[str, Any], hashes: pa.ChunkedArray) -> BatchFingerprints:
        """Read what `to_saved` and `hashes` returned; anything else raises KeyError, TypeError or ValueError."""
        every, batches = hashes.to_pylist(), saved["batches"]
        if hashes.type != pa.binary(_BYTES) or None in every or not 0 <= batches <= len(every):
            raise ValueError
        key = base64.b64decode(saved["key"], validate=True)
        return cls(key, frozenset(every[:batches]), frozenset(every[batches:]))

    def to_saved(self) -> dict[str, Any]:
        """The key, which is as secret as the people are, and how many of the hashes are of batches."""
        return {"key": base64.b64encode(self.key).decode("ascii"), "batches": len(self.batches)}

    @property
    def hashes(self) -> pa.Array:
        """Those of batches and then those of people, each in order of size, which tells nothing."""
        every = [*sorted(self.batches), *sorted(self.people)]
        return pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(_BYTES), len(every), [None, pa.py_buffer(b"".join(every))]
        )

    def with_batch(self, batch: pa.Table, person: str | None = None) -> BatchFingerprints:
        """The hashes with those of one more batch.

        Args:
            batch: its rows as they came.
            person: the column that says whose record it is. None: only the batch as a whole is recognised.

        Returns:
            The hashes; without a new one where there are no rows, and where an equal batch came before of which that is
            no wonder, because it has few different rows.

        Raises:
            InputError: the batch came before, or somebody of it did, or has two records in it.

        >>> seen = BatchFingerprints().with_batch(pa.table({"who": [1, 2], "age": [30, 40]}), "who")
        >>> seen.with_batch(pa.table({"who": [2, 3], "age": [41, 50]}), "who")
        Traceback (most recent call last):
        incrowd.errors.InputError: 1 of 2 records is of a person who came before; leave out ...
        """
        if person is None:
            rows = _rows(batch)
            if not rows:
                return self
            whole = self._hash(b"".join(sorted(self._hash(repr(row).encode()) for row in rows)))
            if whole in self.batches and _is_rarer(_AGAIN_BY_CHANCE / len(self.batches), Counter(rows)):
                raise InputError(
                    "this batch came before, cell for cell, and its people with it; name the new records, or a person "
                    "column that tells them apart",
                    hint="person",
                )
            return replace(self, batches=self.batches | {whole})
        names = cells_as_text(batch[person])
        if None in names:
            raise InputError(f"some records have no value in the person column {person!r}; fill it or leave them out")
        people = [self._hash(str(name).encode()) for name in names]
        if len({*people}) < len(people):
            repeated = len(people) - len({*people})
            raise InputError(
                f"{counted(repeated, 'record is', 'records are')} of a person who has another one in this batch; "
                "everybody may have one"
            )
        again = len(self.people.intersection(people))
        if again:
            raise InputError(
                f"{again:,} of {counted(len(people), 'record', 'records')} {'is' if again == 1 else 'are'} of "
                f"{'a person' if again == 1 else 'people'} who came before; leave out who is in, or protect all "
                "records together by person"
            )
        return replace(self, people=self.people.union(people))

    def _hash(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, key=self.key, digest_size=_BYTES).digest()


def is_first_batch(batch: pa.Table, published: pa.Table, known: Sequence[str], arrived: int) -> bool | None:
    """True if a batch is the one that a first release was made from.

    Nothing secret is kept of that batch, so it is told by what is published: as many records came, every row of the
    columns that are passed on as they are is among them, and the classes have as many of them as they have released
    rows where these columns are not enough.

    Args:
        batch: the records that come now.
        published: the first release.
        known: the released quasi-identifiers; all other columns are passed on as they are.
        arrived: records that the first release was made from.

    Returns:
        None where it may be: what can be compared agrees, which is no wonder, because rows have few different cells.
    """
    if batch.num_rows != arrived or not published.num_rows:
        return False
    names = [name for name in published.column_names if name in batch.column_names]
    held = [name for name in names if name not in known]
    before, now = (_rows(table.select(held)) for table in (published, batch))
    if not Counter(before) <= Counter(now):
        return False
    if _is_rarer(_BY_CHANCE, Counter(before)):
        return True
    labels = published.select([name for name in names if name in known])
    return _has_its_classes(batch, labels, before, now)


def _has_its_classes(batch: pa.Table, labels: pa.Table, before: list[Any], now: list[Any]) -> bool | None:
    """True if classes cover as many rows of a batch as were released, with the same cells; None where nobody can tell.

    Classes that cover a row together are taken as one, so that every row is in one of them.
    """
    classes: defaultdict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for label, cells in zip(_rows(labels), before, strict=True):
        classes[label][cells] += 1
    if len(classes) * batch.num_rows > _MOST_PAIRS:
        return None
    columns = [_covered_rows(batch[name], cells_as_text(labels[name])) for name in sorted(labels.column_names)]
    class_of_row = np.full(batch.num_rows, -1)
    united: dict[int, Counter[Any]] = {-1: Counter()}
    for number, (label, released) in enumerate(classes.items()):
        covered = np.ones(batch.num_rows, dtype=np.bool_)
        for column, one in zip(columns, label, strict=True):
            covered &= column[one]
        overlapping = [int(other) for other in np.unique(class_of_row[covered]) if other >= 0]
        class_of_row[covered | np.isin(class_of_row, overlapping)] = number
        united[number] = sum((united.pop(other) for other in overlapping), released)
    expected = Counter({(number, cells): rows for number, of in united.items() for cells, rows in of.items()})
    seen = Counter(zip(class_of_row.tolist(), now, strict=True))
    if not expected <= seen:
        return False
    return True if expected == seen and _is_rarer(_BY_CHANCE, expected) else None


def _covered_rows(column: pa.ChunkedArray, labels: list[str | None]) -> dict[str | None, NDArray[np.bool_]]:
    """The rows that each label covers; all of them where a label is not understood."""
    texts = cells_as_text(column)
    values = dict(zip(texts, column.to_pylist(), strict=True))
    numbers = {text: number for number, text in enumerate(values)}
    codes = np.array([numbers[text] for text in texts], dtype=np.int64)
    return {label: np.array(_covered_values(label, values), dtype=np.bool_)[codes] for label in {*labels}}


def _covered_values(label: str | None, values: Mapping[str | None, Any]) -> list[bool]:
    meaning = None if label is None else parse_generalised(label)
    try:
        if isinstance(meaning, Interval):
            return [text is not None and meaning.covers(value) for text, value in values.items()]
        if meaning is not None:
            return [meaning.covers(text) for text in values]
    except TypeError:  # a range of something else
        return [True] * len(values)
    is_unknown = label is None or label not in values  # a blank, or a name of a hierarchy
    return [is_unknown or text == label for text in values]


def _is_rarer(limit: float, rows: Counter[Any]) -> bool:
    """True if another batch, drawn from rows as often as they are here, is equal with less than this probability."""
    total = rows.total()
    chance = math.lgamma(total + 1) + sum(n * math.log(n / total) - math.lgamma(n + 1) for n in rows.values())
    return chance < math.log(limit)


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The cells of every row as text, columns in the order of their names."""
    columns = [cells_as_text(table[name]) for name in sorted(table.column_names)]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def cells_as_text(column: pa.ChunkedArray) -> list[str | None]:
    """Cells as text, the same in whatever type they are held; None where they hold nothing."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return [_number_as_text(cell) for cell in column.to_pylist()]
    texts: list[str | None]
    if any(is_bytes(kind) for is_bytes in _ARE_BYTES):
        texts = [None if cell is None else cell.decode(errors="backslashreplace") for cell in column.to_pylist()]
    else:
        try:
            texts = pc.cast(column, pa.string()).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # nested ones and intervals
            texts = [None if cell is None else repr(cell) for cell in column.to_pylist()]
    if pa.types.is_temporal(kind):
        texts = [None if text is None else _MIDNIGHT.sub("", text) for text in texts]
    return [None if text is None else text.strip() or None for text in texts]


def _number_as_text(cell: float | Decimal | None) -> str | None:
    """A whole number as an integer writes it; None for what is no number."""
    if cell is None or cell != cell:
        return None
    if math.isfinite(cell) and cell == int(cell):
        return str(int(cell))
    return format(cell.normalize(), "f") if isinstance(cell, Decimal) else str(float(cell))
