"""The crowd as a small drawing: one dot is some people, those alone stand at the rim, colours are the limits."""

from __future__ import annotations

import math

from incrowd.classes import ClassSizes
from incrowd.figures.crowd_marks import share_marks

_DOTS = 900
_GOLDEN = math.pi * (3 - math.sqrt(5))
_KINDS = ("enough", "few", "alone")


def crowd_picture(sizes: ClassSizes, least: int, label: str) -> str:
    """The crowd as SVG, without a script; the largest classes stand in the middle.

    >>> crowd_picture(ClassSizes.from_sizes([1, 1, 12]), 11, "before").count("<path")
    2
    """
    marks = share_marks(sizes, _DOTS)
    order = sorted(range(len(marks.size)), key=lambda mark: -marks.size[mark])
    dots: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for rank, mark in enumerate(order):
        size = marks.size[mark]
        distance = 96 * math.sqrt((rank + 0.5) / len(order))
        x, y = distance * math.cos(rank * _GOLDEN), distance * math.sin(rank * _GOLDEN)
        kind = "enough" if size >= least else "few" if size > 1 else "alone"
        dots[kind].append(f"M{round(x, 1)} {round(y, 1)}h0")
    width = round(min(14.0, 150 / math.sqrt(len(order))), 1)
    paths = "".join(f'<path class="{kind}" d="{"".join(places)}"/>' for kind, places in dots.items() if places)
    head = f'<svg class="crowd-picture" viewBox="-100 -100 200 200" role="img" aria-label="{label}"'
    return f'{head} stroke-width="{width}">{paths}</svg>'
