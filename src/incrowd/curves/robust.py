"""Robust matching: a probe is compared with everybody by a score, and the best score wins."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.curves.curve import Curve, sub_sizes
from incrowd.curves.matched import mean_and_covariance, named_first
from incrowd.errors import InputError
from incrowd.progress import Progress, silent
from incrowd.special import Floats

Metric = Literal["cosine", "euclidean", "dot"]
_PROBES, _GALLERY = 1024, 8192  # a block of scores: 8 million numbers, whatever the gallery
_ROUNDING = 8.0  # scores closer than this many units of rounding are a tie


def robust_curve(
    probes: Any,
    gallery: Any,
    *,
    metric: Metric = "cosine",
    at: ArrayLike | None = None,
    progress: Progress = silent,
) -> Curve:
    """Expected rank-1 rate in random sub-galleries: row i of `probes` belongs to row i of `gallery`.

    Arrays, .npy files, or tables of numbers (Parquet, CSV …). The gallery may have more rows than there are probes.
    Scores within rounding of each other are ties and share the win.

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
    return _curve(better, tied, second.shape[0], at, how)


def robust_curve_from_ranks(
    ranks: ArrayLike, *, gallery: int | None = None, ties: ArrayLike | None = None, at: ArrayLike | None = None
) -> Curve:
    """From the rank of each probe's true match (1 is best) in a gallery of `gallery` people (default: one a probe).

    `ties` says how many entries, the true match among them, share its score; then the rank is the best of theirs.

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
    return _curve(rank - 1, tied, people, at, f"ranks of {rank.size:,} probes")


def embeddings(source: Any, what: str) -> NDArray[Any]:
    """Rows of numbers from an array, a .npy file or a table, without missing values."""
    if isinstance(source, str | os.PathLike) and str(source).endswith(".npy"):
        try:
            array = np.load(source, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {what} from {source}: {error}") from None
    elif isinstance(source, np.ndarray):
        array = source
    else:
        array = _from_table(source, what)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "fiu":
        raise InputError(f"{what} must be rows of numbers, one row a person; an array of shape {array.shape} was given")
    if array.dtype != np.float32:
        array = array.astype(np.float64)
    bad = sum(int(np.sum(~np.isfinite(array[i : i + 65536]).all(axis=1))) for i in range(0, array.shape[0], 65536))
    if bad:
        raise InputError(f"{bad:,} rows of {what} hold values that are missing or not finite; leave those people out")
    return np.asarray(array)


def _from_table(source: Any, what: str) -> NDArray[Any]:
    import pyarrow as pa

    from incrowd.table import read_table

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
    columns = [table.column(name).to_numpy().astype(np.float64) for name in numeric]
    return np.stack(columns, axis=1)


def _ranks(
    probes: NDArray[Any], gallery: NDArray[Any], metric: Metric, progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each probe, how many gallery entries score better than its match, and how many as well (match included)."""
    better = np.zeros(probes.shape[0], dtype=np.int64)
    tied = np.zeros(probes.shape[0], dtype=np.int64)
    kind = np.result_type(probes.dtype, gallery.dtype)
    unit = _ROUNDING * float(np.finfo(kind).eps)
    blocks = [(i, j) for i in range(0, probes.shape[0], _PROBES) for j in range(0, gallery.shape[0], _GALLERY)]
    for done, (i, j) in enumerate(blocks):
        if j == 0:
            block = _prepared(probes[i : i + _PROBES], metric, kind)
            own = _prepared(gallery[i : i + block.shape[0]], metric, kind)
            match = np.einsum("ij,ij->i", block, own) - _offset(own, metric)
            slack = unit * np.sqrt(np.sum(block**2, axis=1) * np.max(np.sum(own**2, axis=1)) + match**2)
        others = _prepared(gallery[j : j + _GALLERY], metric, kind)
        score = block @ others.T
        score -= _offset(others, metric)
        above = score > (match + slack)[:, None]
        level = score >= (match - slack)[:, None]
        better[i : i + block.shape[0]] += np.count_nonzero(above, axis=1)
        tied[i : i + block.shape[0]] += np.count_nonzero(level, axis=1)
        progress("comparing probes with the gallery", (done + 1) / len(blocks))
    return better, tied - better


def _prepared(rows: NDArray[Any], metric: Metric, kind: Any) -> NDArray[Any]:
    """Rows ready for a product; for cosine of length 1 (a row of zeros is as far from one as from another)."""
    block = np.ascontiguousarray(rows, dtype=kind)
    if metric != "cosine":
        return block
    length = np.sqrt(np.sum(block**2, axis=1, keepdims=True))
    return np.asarray(block / np.where(length > 0, length, 1.0))


def _offset(rows: NDArray[Any], metric: Metric) -> Any:
    """Euclidean distance ranks like p·g − |g|²/2."""
    return 0.5 * np.sum(rows**2, axis=1) if metric == "euclidean" else rows.dtype.type(0)


def _curve(better: NDArray[np.int64], tied: NDArray[np.int64], gallery: int, at: ArrayLike | None, how: str) -> Curve:
    sizes = sub_sizes(at, gallery)
    pairs, counts = np.unique(np.stack([better, tied], axis=1), axis=0, return_counts=True)
    chances = named_first(gallery, pairs[:, :1].astype(float), pairs[:, 1:].astype(float), sizes.astype(float))
    chances[:, sizes == 1] = 1.0
    correctness, covariance = mean_and_covariance(chances, counts.astype(np.float64), better.size)
    return Curve(sizes, _within(correctness), None, "robust", how, better.size, (), covariance)


def _within(correctness: Floats) -> Floats:
    """A weighted mean of shares, rid of the last rounding."""
    return np.minimum(correctness, 1.0)


def _whole(values: ArrayLike, what: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise InputError(f"{what} must be a list of whole numbers")
    if not np.all(np.isfinite(array)) or np.any(array != np.floor(array)) or array.min() < 1:
        raise InputError(f"{what} must be whole numbers of 1 or more")
    return array.astype(np.int64)
