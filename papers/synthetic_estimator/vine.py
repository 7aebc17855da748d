"""Figure 1: the trees of a d-vine, and the vine fitted to generated hospital stays."""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.demo import demo_table
from incrowd.populations.copula_fit import correlation_of_vine, nearest_correlation, partial_correlations
from incrowd.populations.sample import read_sample
from papers.figures.graphs import graph_figure
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row

VARIABLES = ("age_yrs", "sex", "race", "patcnty", "adm_qtr")
NOT_POSITIVE = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
SUP_DISTANCE = (5 - 17**0.5) / 4
"""The least that a cell of `NOT_POSITIVE` must change by: the root of 2e² − 5e + 1, where (1−e, 1−e, e) is singular."""


def vine_edges(variables: int) -> list[list[str]]:
    """The edges of every tree of a d-vine, named as in the paper.

    >>> vine_edges(4)
    [['12', '23', '34'], ['13|2', '24|3'], ['14|23']]
    """
    return [
        [_edge(first, first + distance) for first in range(1, variables - distance + 1)]
        for distance in range(1, variables)
    ]


def _edge(first: int, last: int) -> str:
    between = "".join(map(str, range(first + 1, last)))
    return f"{first}{last}|{between}" if between else f"{first}{last}"


def reproduce_vine(context: Context) -> PartResult:
    """The picture, a fitted vine, and how the nearest matrix differs by the norm."""
    picture = Picture(
        "fig-1",
        "Figure 1: the structure of a d-vine",
        _picture(),
        "Edge 15|234: variables 1 and 5 given those between.",
    )
    return PartResult((_fitted(context), _norms()), (picture,), _NOTES)


_NOTES = (
    "Each edge is a bivariate normal copula, so its parameter is the partial correlation given the variables between. "
    "All of them together are one correlation matrix (`correlation_of_vine`), positive definite whatever they are, and "
    "drawing from the vine is drawing from that normal distribution; a test draws edge by edge, as the paper does, and "
    "finds the same.",
    "The paper orders the variables as they come; here the strongest pairs are made neighbours first.",
)


def _picture() -> Any:
    trees = [[str(one + 1) for one in range(len(VARIABLES))], *vine_edges(len(VARIABLES))]
    place = {
        (tree, at): (at + tree / 2, -1.0 * tree) for tree, names in enumerate(trees[:-1]) for at in range(len(names))
    }
    return graph_figure(
        {trees[tree][at]: where for (tree, at), where in place.items()},
        [
            (place[tree, at], place[tree, at + 1], trees[tree + 1][at])
            for tree, names in enumerate(trees[:-1])
            for at in range(len(names) - 1)
        ],
        title="A d-vine of five variables",
        subtitle="from top to bottom trees 1 to 4; the edges of a tree (blue) are the nodes of the next",
        height=330,
    )


def _fitted(context: Context) -> Grid:
    table = demo_table(2_000 if context.quick else 20_000, context.seed)
    sample = read_sample(table, quasi_identifiers=VARIABLES, population=table.num_rows)
    partial = partial_correlations(sample.columns())
    full = correlation_of_vine(partial)
    cells: list[list[Any]] = []
    for distance, names in enumerate(vine_edges(len(VARIABLES)), start=1):
        for first, name in enumerate(names):
            last = first + distance
            pair = f"{VARIABLES[first]}, {VARIABLES[last]}"
            cells.append([f"T{distance}", name, pair, f"{partial[first, last]:.3f}", f"{full[first, last]:.3f}"])
    return Grid(
        f"A vine fitted to {table.num_rows:,} generated hospital stays",
        ("tree", "edge", "variables", "ρ of the edge", "ρ of the pair"),
        cells,
    )


def _norms() -> Comparison:
    moved = float(np.abs(nearest_correlation(NOT_POSITIVE) - NOT_POSITIVE).max())
    return Comparison(
        "Step 2.d: the nearest correlation matrix to 1, 1, 0",
        (
            Row(
                "largest change of a cell",
                moved,
                SUP_DISTANCE,
                "the paper takes the nearest matrix by the largest change of a cell (sup norm), this package by the "
                "sum of squares (Higham 2002), which has one answer where the sup norm may have many",
            ),
        ),
    )
