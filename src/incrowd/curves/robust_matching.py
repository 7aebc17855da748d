"""Robust matching: a probe is compared with everybody by a score, and the best score wins."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from incrowd._support.addresses import masked
from incrowd._support.progress import Progress, silent
from incrowd.curves.result import Curve
from incrowd.curves.sub_galleries import mean_and_covariance, named_first, sub_gallery_sizes
from incrowd.errors import InputError
from incrowd.special import Floats
from incrowd.tables import TableLike

ScoreMetric = Literal["cosine", "euclidean", "dot"]
_PROBES, _GALLERY = 1024, 8192  # rows of a block of scores (8 million numbers)
_CHECKED = 65_536  # rows that are checked together
_ROUNDING = 8.0  # scores closer than this many units of rounding are a tie


def robust_curve(
    probes: ArrayLike | TableLike,
    gallery: ArrayLike | TableLike,
    *,
    metric: ScoreMetric = "cosine",
    at: ArrayLike | None = None,
    progress: Progress = silent,
) -> Curve:
    """Expected rank-1 rate in random sub-galleries.

    Scores that differ only by rounding are ties and share the win.

    Args:
        probes: vectors to identify, one row for each person: an array, a .npy file or a table of numbers.
        gallery: vectors of known people; row i belongs to the person of probe i, and there may be more rows.
        metric: the score: "cosine", "euclidean" or "dot".
        at: gallery sizes; 50 log-spaced ones unless given.
        progress: callback that receives the current step and the share done.

    Returns:
        The curve, with the covariance of its points.

    Raises:
        InputError: the vectors differ in length, hold missing values, or there are more probes than gallery rows.

    >>> probes = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> robust_curve(probes, np.eye(3)[:, :2], metric="dot", at=[1, 3]).correctness.tolist()
    [1.0, 0.666...]
    """
    if metric not in ("cosine", "euclidean", "dot"):
        raise InputError(f"the metric is 'cosine', 'euclidean' or 'dot'; {metric!r} was given")
    first, second = embeddings(probes, "probes"), embeddings(gallery, "gallery")
    if first.shape[1] != second.shape[1]:
        raise InputError(f"probes have {first.shape[1]} columns, the gallery has {second.shape[1]}; they must agree")
    if first.shape[0] > second.shape[0]:
        raise InputError(
            f"{first.shape[0]:,} probes but {second.shape[0]:,} in the gallery; row i of one is row i of the other"
        )
    better, tied = _ranks(first, second, metric, progress)
    how = f"{first.shape[0]:,} probes, {metric} score, {first.shape[1]} columns"
    return _curve_of_ranks(better, tied, second.shape[0], at, how)


def robust_curve_from_ranks(
    ranks: ArrayLike, *, gallery: int | None = None, ties: ArrayLike | None = None, at: ArrayLike | None = None
) -> Curve:
    """Expected rank-1 rate in random sub-galleries, from the rank of each probe's true match.

    Args:
        ranks: rank of the true match of each probe; 1 is best.
        gallery: how many people the gallery holds; as many as there are probes unless given.
        ties: how many entries, the true match among them, share its score; the rank is the best of theirs.
        at: gallery sizes; 50 log-spaced ones unless given.

    Returns:
        The curve, with the covariance of its points.

    Raises:
        InputError: a rank lies outside the gallery.

    >>> robust_curve_from_ranks([1, 1, 3], at=[1, 2, 3]).correctness.tolist()
    [1.0, 0.666..., 0.666...]
    """
    rank = _whole(ranks, "ranks")
    tied = np.ones_like(rank) if ties is None else _whole(ties, "ties")
    if tied.shape != rank.shape:
        raise InputError(f"{rank.size} ranks but {tied.size} ties; give one for each")
    people = rank.size if gallery is None else int(gallery)
    if np.any(rank - 1 + tied > people):
        raise InputError(f"a rank is beyond the gallery of {people:,}; say how large the gallery was")
    return _curve_of_ranks(rank - 1, tied, people, at, f"ranks of {rank.size:,} probes")


def embeddings(source: Any, what: str) -> NDArray[Any]:
    """Rows of numbers from an array, a .npy file or a table, without missing values."""
    if isinstance(source, str | os.PathLike) and str(source).endswith(".npy"):
        try:
            array = np.load(source, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, OverflowError, SyntaxError, TypeError) as error:
            why = getattr(error, "strerror", None) or "it is damaged, or no .npy file of numbers"
            raise InputError(f"cannot read {what} from {masked(os.fspath(source))}: {why}") from None
    elif isinstance(source, np.ndarray):
        array = source
    else:
        array = _from_table(source, what)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "fiu":
        raise InputError(f"{what} must be rows of numbers, one row a person; an array of shape {array.shape} was given")
    starts = range(0, array.shape[0], _CHECKED)  # as stored: a copy in another type would not fit into memory
    bad = sum(int(np.sum(~np.isfinite(array[i : i + _CHECKED]).all(axis=1))) for i in starts)
    if bad:
        rows = "1 row" if bad == 1 else f"{bad:,} rows"
        raise InputError(f"{rows} of {what} with values that are missing or not finite; leave those people out")
    return np.asarray(array)


def _from_table(source: Any, what: str) -> NDArray[Any]:
    from incrowd.tables import read_table

    table = read_table(source).to_arrow()
    lists = [name for name in table.column_names if pa.types.is_nested(table.schema.field(name).type)]
    if len(lists) == 1:
        rows = table.column(lists[0]).to_pylist()
        if len({len(row) for row in rows if row is not None}) != 1 or None in rows:
            raise InputError(f"the lists in column {lists[0]!r} of {what} are missing or differ in length")
        return np.array(rows, dtype=np.float64)
    numeric = [
        field.name for field in table.schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    ]
    others = [name for name in table.column_names if name not in numeric]
    if others:
        raise InputError(f"{what} must hold numbers only; these columns do not: {', '.join(others[:10])}")
    _refuse_identifiers(table, what)
    columns = [table.column(name).to_numpy().astype(np.float64) for name in numeric]
    return np.stack(columns, axis=1)


def _refuse_identifiers(table: pa.Table, what: str) -> None:
    """Refuse a column of distinct whole numbers: it is a row number or an identifier, not part of a vector."""
    whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    # vectors may be whole numbers themselves (quantised to 256 levels): few rows of those differ by chance
    if table.num_rows < 2 or (len(whole) == table.num_columns and table.num_rows <= 256):
        return
    serial_numbers = [
        name for name in whole if pc.count_distinct(table.column(name), mode="all").as_py() == table.num_rows
    ]
    if serial_numbers:
        raise InputError(
            f"these columns of {what} hold a different whole number in each row, as identifiers do: "
            f"{', '.join(serial_numbers[:10])}; leave them out, or store vectors as decimal numbers"
        )


def _ranks(
    probes: NDArray[Any], gallery: NDArray[Any], metric: ScoreMetric, progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each probe, count gallery entries that score better than its match, and those that tie (match included)."""
    better = np.zeros(probes.shape[0], dtype=np.int64)
    tied = np.zeros(probes.shape[0], dtype=np.int64)
    quick = all(_is_short(rows) for rows in (probes, gallery))
    centre = _centre(gallery) if metric == "euclidean" else np.zeros(gallery.shape[1])
    blocks = [(i, j) for i in range(0, probes.shape[0], _PROBES) for j in range(0, gallery.shape[0], _GALLERY)]
    for done, (i, j) in enumerate(blocks):
        if j == 0:
            block = _prepared(probes[i : i + _PROBES], metric, centre)
            own = _prepared(gallery[i : i + block.shape[0]], metric, centre)
        others = _prepared(gallery[j : j + _GALLERY], metric, centre)
        above, level = _compared(block, own, others, metric, np.float32 if quick else np.float64)
        if quick:
            # scores that tie in float32 are compared again in float64; every probe ties with its own match
            itself = np.arange(i, i + block.shape[0])
            close = level - above > ((itself >= j) & (itself < j + others.shape[0]))
            above[close], level[close] = _compared(block[close], own[close], others, metric, np.float64)
        better[i : i + block.shape[0]] += above
        tied[i : i + block.shape[0]] += level
        progress("comparing probes with the gallery", (done + 1) / len(blocks))
    return better, tied - better


def _compared(
    probes: Floats, own: Floats, others: Floats, metric: ScoreMetric, kind: type[np.float32] | type[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each probe, count the `others` that score above its own match, and those that score no lower, up to rounding.

    The rounding error of a score p·g scales with |p|·|g|. It is computed for each pair, so one long row affects no
    other. Euclidean distance ranks like p·g − |g|²/2.
    """
    half = 0.5 if metric == "euclidean" else 0.0
    unit = max(_ROUNDING, np.sqrt(probes.shape[1])) * float(np.finfo(kind).eps)
    length, own_length, other_length = (np.sqrt(np.einsum("ij,ij->i", rows, rows)) for rows in (probes, own, others))
    match = np.einsum("ij,ij->i", probes, own) - half * own_length**2
    gap: NDArray[Any] = np.matmul(probes.astype(kind), others.astype(kind).T)
    gap -= (half * other_length**2).astype(kind)
    gap -= match.astype(kind)[:, None]
    slack = np.outer((unit * length).astype(kind), other_length.astype(kind))
    slack += (unit * half * other_length**2).astype(kind)
    slack += (unit * (length * own_length + half * own_length**2)).astype(kind)[:, None]
    above = np.count_nonzero(gap > slack, axis=1)
    np.negative(slack, out=slack)
    return above, np.count_nonzero(gap >= slack, axis=1)


def _prepared(rows: NDArray[Any], metric: ScoreMetric, centre: Floats) -> Floats:
    """Rows prepared for a product; for cosine they have length 1 (a row of zeros is equally far from all rows)."""
    block = np.asarray(rows, dtype=np.float64) - centre
    if metric != "cosine":
        return block
    length = np.sqrt(np.sum(block**2, axis=1, keepdims=True))
    return np.asarray(block / np.where(length > 0, length, 1.0))


def _centre(gallery: NDArray[Any]) -> Floats:
    """The median of the gallery. Distances do not depend on it, but their rounding does; a median resists outliers."""
    step = -(-gallery.shape[0] // _GALLERY)
    return np.asarray(np.median(np.asarray(gallery[::step], dtype=np.float64), axis=0))


def _is_short(rows: NDArray[Any]) -> bool:
    """True if the squares of these rows fit into float32, in which products are twice as fast."""
    if rows.dtype not in (np.float16, np.float32):
        return False
    return max(float(np.abs(rows[i : i + _CHECKED]).max()) for i in range(0, rows.shape[0], _CHECKED)) < 1e15


def _curve_of_ranks(
    better: NDArray[np.int64], tied: NDArray[np.int64], gallery: int, at: ArrayLike | None, how: str
) -> Curve:
    sizes = sub_gallery_sizes(at, gallery)
    pairs, counts = np.unique(np.stack([better, tied], axis=1), axis=0, return_counts=True)
    chances = named_first(gallery, pairs[:, :1].astype(float), pairs[:, 1:].astype(float), sizes.astype(float))
    chances[:, sizes == 1] = 1.0
    correctness, covariance = mean_and_covariance(chances, counts.astype(np.float64), better.size)
    always_first = not better.any() and bool(np.all(tied == 1))
    correctness[(sizes == 1) | always_first] = 1.0  # 1 by count, without rounding
    return Curve(sizes, np.minimum(correctness, 1.0), None, "robust", how, better.size, (), covariance)


def _whole(values: ArrayLike, what: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise InputError(f"{what} must be a list of whole numbers")
    if not np.all(np.isfinite(array)) or np.any(array != np.floor(array)) or array.min() < 1:
        raise InputError(f"{what} must be whole numbers of 1 or more")
    return array.astype(np.int64)
