"""Pictures of the concepts page, drawn anew by `python docs/draw_pictures.py`: what κ is, and what a sample shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from incrowd import demo_table
from incrowd.classes import ClassSizes, class_size_of_each_record
from incrowd.figures.theme import BLUE, GREY, HEIGHT, ORANGE, RED, WIDTH, save, with_titles
from incrowd.wording import number

if TYPE_CHECKING:
    import pyarrow as pa


def what_kappa_is(sizes: Sequence[int] = (1, 1, 2, 3, 5)) -> Any:
    """People as dots in rows of those who look alike: one in each row is named by guessing."""
    rows = [
        {
            "row": number,
            "place": place,
            "chance": f"1 in {size}",
            "who": "named by guessing, on average" if place == 0 else "not named",
        }
        for number, size in enumerate(sizes)
        for place in range(size)
    ]
    counted = ClassSizes.from_sizes(list(sizes))
    base = alt.Chart(alt.InlineData(values=rows), width=WIDTH, height=40 * len(sizes))
    y = alt.Y("row:O", title="classes: people who look alike", axis=alt.Axis(labels=False, ticks=False, domain=False))
    scale = alt.Scale(domain=["named by guessing, on average", "not named"], range=[RED, "#b9c4d2"])
    dots = base.mark_circle(size=420, opacity=1).encode(
        x=alt.X("place:Q", axis=None, scale=alt.Scale(domain=[-0.5, 7])),
        y=y,
        color=alt.Color("who:N", title=None, scale=scale),
    )
    last = [{"row": number, "place": size, "text": f"1 in {size}"} for number, size in enumerate(sizes)]
    words = alt.Chart(alt.InlineData(values=last)).mark_text(align="left", fontSize=14, color=GREY)
    said = f"{counted.classes} classes ÷ {counted.people} people = κ {number(counted.correctness)}"
    return with_titles(dots + words.encode(x="place:Q", y="row:O", text="text:N"), title="What κ is", subtitle=said)


def sample_against_population(
    everybody: pa.Table,
    quasi_identifiers: Sequence[str],
    shares: Sequence[float] = (0.01, 0.03, 0.1, 0.3, 1.0),
    seed: int = 0,
) -> Any:
    """Uniqueness in samples of a known population, and how many of those uniques are unique in all of it."""
    whole = class_size_of_each_record(everybody, quasi_identifiers=quasi_identifiers)
    generator = np.random.default_rng(seed)
    rows = []
    for share in shares:
        chosen = np.sort(generator.choice(whole.size, round(share * whole.size), replace=False))
        alone = class_size_of_each_record(everybody.take(chosen), quasi_identifiers=quasi_identifiers) == 1
        truly = alone & (whole[chosen] == 1)
        rows += [
            {"share": share, "kind": "unique in the sample", "value": float(alone.mean())},
            {"share": share, "kind": "unique in the population too", "value": float(truly.mean())},
        ]
    chart = (
        alt.Chart(alt.InlineData(values=rows), width=WIDTH, height=HEIGHT)
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=60), strokeWidth=2)
        .encode(
            x=alt.X("share:Q", title="share of the population in the sample", scale=alt.Scale(type="log")).axis(
                format="~%", values=list(shares)
            ),
            y=alt.Y("value:Q", title="share of the sample's people", axis=alt.Axis(format="~%")),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(range=[BLUE, ORANGE])),
        )
    )
    said = "The smaller the sample, the more people look unique in it; those who really are stay few"
    return with_titles(chart, title="Unique in a sample is not unique", subtitle=said)


if __name__ == "__main__":
    folder = Path(__file__).parent / "pictures"
    save(what_kappa_is(), folder / "kappa.svg", force=True)
    known = ["age_yrs", "sex", "race", "patcnty"]
    save(sample_against_population(demo_table(100_000), known), folder / "sample.svg", force=True)
