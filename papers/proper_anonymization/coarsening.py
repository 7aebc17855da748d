"""Figures S5 and S6: all columns in fixed intervals, with separate resolutions of spatiotemporal and census columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, encode, frequencies, pack
from incrowd.demo import CENSUS, QUASI_IDENTIFIERS, SPATIAL, TEMPORAL
from incrowd.evaluation.labels import read_meanings
from incrowd.protection.interval_labels import equal_parts
from incrowd.protection.problem import moments
from incrowd.tables import read_table
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.proper_anonymization import printed_numbers as printed

ORIGINAL = None
_ALMOST_LINEAR = 0.95  # of the variance, explained by a line
RESOLUTIONS: tuple[int | None, ...] = (2, 4, 8, 16, 32, ORIGINAL)


@dataclass(frozen=True, slots=True)
class Cell:
    """Unique records and information loss at one resolution of the spatiotemporal and one of the census columns."""

    spatiotemporal: int | None
    census: int | None
    uniques: int
    loss: float


@dataclass(frozen=True, slots=True, eq=False)
class _CoarsenedColumns:
    """Some columns at one resolution: the class of every record, and its squared distance to the far corner."""

    numbers: NDArray[np.uint32]
    classes: int
    squares: NDArray[np.float32]


def reproduce_coarsening(context: Context) -> PartResult:
    """Unique records and information loss for every pair of resolutions."""
    table = printed.hospital_population(context)
    cells = coarsened(table, context)
    at = {(cell.spatiotemporal, cell.census): cell for cell in cells}
    return PartResult(
        (_claims(at, table.num_rows, int(table["los"].to_numpy().max()), context), *_grids(cells, table.num_rows)),
        _pictures(cells, table.num_rows),
        (
            printed.note_on_size(context),
            "A resolution is a number of intervals of the same length between a column's smallest and largest value; "
            "a column with fewer values than that stays as it is.",
        ),
    )


def coarsened(table: Any, context: Context) -> list[Cell]:
    """Every pair of resolutions, the original's among them."""
    read = read_table(table)
    sides: dict[tuple[str, int | None], _CoarsenedColumns] = {}
    for name, columns in (("spatiotemporal", SPATIAL + TEMPORAL), ("census", CENSUS)):
        coded = encode(read, list(columns))
        for done, parts in enumerate(RESOLUTIONS):
            context.progress("coarsening columns", 0.1 + 0.2 * (name == "census") + 0.2 * done / len(RESOLUTIONS))
            sides[name, parts] = _coarsen(coded, parts)
    found = []
    for done, parts in enumerate(RESOLUTIONS):
        context.progress("counting unique records", 0.5 + 0.5 * done / len(RESOLUTIONS))
        spatiotemporal = sides["spatiotemporal", parts]
        found += [_cell(parts, other, spatiotemporal, sides["census", other]) for other in RESOLUTIONS]
    return found


def _coarsen(columns: list[Coded], parts: int | None) -> _CoarsenedColumns:
    squares = np.zeros(columns[0].codes.size, dtype=np.float32)
    grouped = []
    for column in columns:
        if parts is ORIGINAL:
            grouped.append(column)
            continue
        groups, far = _intervals(column, parts)
        grouped.append(Coded(column.name, groups[column.codes], column.values))
        squares += (far**2).astype(np.float32)[column.codes]
    numbers, sizes = class_numbers(pack(grouped))
    return _CoarsenedColumns(numbers, sizes.size, squares)


def _intervals(column: Coded, parts: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """For every value of a column the number of its interval, and how far its farther limit is in deviations."""
    import pyarrow as pa

    labels = pa.array(equal_parts(column, parts), pa.string()).dictionary_encode()
    groups = labels.indices.to_numpy().astype(np.uint32)
    once = Coded(column.name, np.arange(column.size, dtype=np.uint32), column.values)
    meaning = read_meanings(once, Coded(column.name, groups, labels.dictionary))
    _, deviation = moments(column, meaning.place)
    far = np.maximum(meaning.high[groups] - meaning.place, meaning.place - meaning.low[groups])
    return groups, far / deviation if deviation > 0 else np.zeros(column.size)


def _cell(parts: int | None, other: int | None, spatiotemporal: _CoarsenedColumns, census: _CoarsenedColumns) -> Cell:
    keys = spatiotemporal.numbers.astype(np.uint64) * np.uint64(census.classes) + census.numbers
    sizes, counts = frequencies(keys)
    uniques = int(counts[sizes == 1].sum())
    loss = float(np.sqrt(spatiotemporal.squares + census.squares).mean(dtype=np.float64)) / len(QUASI_IDENTIFIERS)
    return Cell(parts, other, uniques, loss)


def _claims(at: dict[tuple[int | None, int | None], Cell], rows: int, stay: int, context: Context) -> Comparison:
    original, fine, coarse = at[ORIGINAL, ORIGINAL], at[32, 32], at[2, 2]
    places, people = at[8, ORIGINAL].loss, at[ORIGINAL, 8].loss
    steps = [at[parts, parts].uniques / rows for parts in (32, 16, 8, 4, 2)]
    return Comparison(
        "Fixed intervals",
        (
            Row(
                "unique, original → 32 intervals",
                f"{original.uniques / rows:.1%} → {fine.uniques / rows:.1%}",
                "a sharp decline",
                f"{1 - fine.uniques / original.uniques:.0%} of the unique records are no longer",
            ),
            Row(
                "unique in 32, 16, 8, 4, 2 intervals",
                ", ".join(f"{share:.3%}" for share in steps),
                "almost linear as intervals double",
                _remark_on_steps(steps),
            ),
            Row(
                "records still unique with every column in two intervals",
                coarse.uniques,
                printed.LEFT_AT_TWO,
                ("still not nobody" if coarse.uniques else "nobody here")
                + "; how many depends on a few very long stays and rare codes in the tails of the columns"
                + (", and on the size of the quick population" if context.quick else ""),
            ),
            Row(
                "loss, 8 intervals: spatiotemporal columns only, census columns only",
                f"{places:.3f}, {people:.3f}",
                "much larger for spatiotemporal",
                f"{places / people:.2g} times; the longest stay is {stay:,} days, an eighth of which is "
                f"{stay / 8:.0f} days",
            ),
        ),
    )


def _remark_on_steps(shares: list[float]) -> str:
    """Whether the shares lie on a line: each doubling of the width would then take away as many records."""
    if len(set(shares)) == 1:
        return f"the same share, {shares[0]:.2%}, whatever the width"
    taken = [100 * (before - after) for before, after in pairwise(shares)]
    line = float(np.corrcoef(np.arange(len(shares)), shares)[0, 1] ** 2)
    verdict = "so here" if line > _ALMOST_LINEAR else "not here"
    return (
        f"{verdict}: doubling the width of the intervals takes away {', '.join(f'{points:.2g}' for points in taken)} "
        f"points, where a line would take away as many each time (a line explains {line:.0%}); the paper prints no "
        "shares"
    )


def _grids(cells: list[Cell], rows: int) -> tuple[Grid, ...]:
    heads = ("intervals: spatiotemporal ↓ census →", *(_named(parts) for parts in RESOLUTIONS))
    uniques: list[list[Value]] = []
    losses: list[list[Value]] = []
    for parts in RESOLUTIONS:
        row = [cell for cell in cells if cell.spatiotemporal == parts]
        uniques.append([_named(parts), *(cell.uniques for cell in row)])
        losses.append([_named(parts), *(f"{cell.loss:.3f}" for cell in row)])
    return (
        Grid(f"Figure S5 in numbers: unique records of {rows:,}", heads, uniques),
        Grid("Figure S6 in numbers: information loss (eq. 3)", heads, losses),
    )


def _named(parts: int | None) -> str:
    return "original" if parts is ORIGINAL else str(parts)


def _pictures(cells: list[Cell], rows: int) -> tuple[Picture, ...]:
    from papers.figures.anonymization import heat_map

    def shown(values: list[float], words: list[str]) -> list[dict[str, Any]]:
        return [
            {"spatiotemporal": _named(c.spatiotemporal), "census": _named(c.census), "value": value, "words": word}
            for c, value, word in zip(cells, values, words, strict=True)
        ]

    shares = [cell.uniques / rows for cell in cells]
    in_words = [
        f"{share:.1%}" if share >= 0.001 else f"{cell.uniques:,}" for share, cell in zip(shares, cells, strict=True)
    ]
    losses = [cell.loss for cell in cells]
    return (
        Picture(
            "fig-s5",
            "Figure S5: unique records by the number of intervals",
            heat_map(
                shown(shares, in_words),
                title="Unique records in fixed intervals",
                subtitle="Share of records that stay unique; below 0.1 % their number",
                share=True,
            ),
            "The paper shows the same as a surface.",
        ),
        Picture(
            "fig-s6",
            "Figure S6: information loss by the number of intervals",
            heat_map(
                shown(losses, [f"{loss:.2f}" for loss in losses]),
                title="What fixed intervals cost",
                subtitle="Mean distance to the farther limit, in standard deviations a column",
                share=False,
            ),
            "Loss by eq. 3 and 4: the farther limit of each interval stands for the value.",
        ),
    )
