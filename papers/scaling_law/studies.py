"""Small studies of large populations: what is measured among some of the people, and the truth among all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.curves import Curve, correctness_curve, robust_curve, sparse_curve
from incrowd.tables import read_table
from papers.corpora import FAMILIES, LARGEST, SMALLEST, Collection, available_tables, generated, random_attributes
from papers.parts import Context

Points = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A population of `people`, whose correctness is `truth`; `measure` gives the curve of its first so many people."""

    kind: str
    corpus: str
    people: int
    truth: float
    measure: Callable[[int], Curve]

    def measured(self, fraction: float) -> Curve | None:
        """The curve of a share of the people; none where it says nothing, by the paper's rule 0.01 < κ < 0.99."""
        size = round(fraction * self.people)
        if size < 3:
            return None
        curve = self.measure(size)
        return curve if SMALLEST < curve.correctness[-1] < LARGEST else None


def corpora(context: Context) -> list[str]:
    """The public tables that are held, then the three generated families."""
    return [*available_tables(context.data), *FAMILIES]


def collections(context: Context, corpus: str) -> Iterator[Collection]:
    """Exact matching: attribute sets of a public table, or populations of a generated family."""
    sets, people = (2, 3_000) if context.quick else (50, 100_000)
    if corpus in FAMILIES:
        number = list(FAMILIES).index(corpus)
        yield from generated(corpus, 4 * sets if context.quick else sets, people, _random(context, "generated", number))
    else:
        assert context.data is not None
        number = available_tables(context.data).index(corpus)
        yield from random_attributes(context.data, corpus, sets, np.random.default_rng([context.seed, number]))


def exact_study(collection: Collection) -> Study:
    """Exact matching in one collection."""
    return Study(
        "exact",
        collection.corpus,
        collection.people,
        collection.correctness,
        lambda people: correctness_curve(collection.sizes(people)),
    )


def sparse_studies(context: Context) -> Iterator[Study]:
    """Sparse matching: shopping baskets and visited pages where they are held, and generated traces of movement."""
    most = 2 if context.quick else 6
    for name, file, person, item in (
        ("baskets", "groceries", "basket", "item"),
        ("web visits", "msweb_visits", "user", "area_id"),
    ):
        if not context.has(f"{file}.parquet"):
            continue
        assert context.data is not None
        table = read_table(context.data / f"{file}.parquet")
        (_, who), (_, what) = table.read([person, item])
        points = {
            name: np.unique(np.asarray(column.to_pylist()), return_inverse=True)[1]
            for name, column in (("person", who), ("item", what))
        }
        yield from _known_points(name, points, range(1, most + 1), context)
    for hours in (168, 24, 6):
        yield from movement_studies(context, hours, range(1, 3 if context.quick else 4))


def movement_studies(context: Context, hours: int, known: range) -> Iterator[Study]:
    """Generated traces of movement, one study for each number of known points."""
    traces = movement(1_500 if context.quick else 30_000, hours, _random(context, "movement", hours))
    yield from _known_points(f"movement, {hours} time slots", traces, known, context)


def _known_points(corpus: str, points: Points, known: range, context: Context) -> Iterator[Study]:
    """One study for each number of points the attacker knows; people are put in random order first."""
    people = int(points["person"].max()) + 1
    place = _random(context, corpus, 0).permutation(people)[points["person"]]
    for count in known:

        def measure(first: int, count: int = count) -> Curve:
            kept = place < first
            table = {"person": place[kept], "item": points["item"][kept]}
            most = int(np.bincount(table["person"]).max())
            draws = 2 if context.quick else 5
            return sparse_curve(
                table, person="person", item="item", known=min(count, most), draws=draws, seed=context.seed
            )

        truth = float(measure(people).correctness[-1])
        if SMALLEST < truth < LARGEST:
            yield Study("sparse", f"{corpus}, {count} known", people, truth, measure)


def movement(people: int, hours: int, random: np.random.Generator) -> Points:
    """Generated traces: who was seen at which of 600 antennas in which time slot.

    Antennas are as busy as 1/rank. Everybody has a home and a workplace, each drawn by how busy it is, and is seen 3 to
    60 times: half the time at home, three tenths at work, else anywhere.
    """
    antennas = 600
    busy = 1.0 / np.arange(1, antennas + 1)
    cuts = np.cumsum(busy / busy.sum())

    def somewhere(size: int) -> NDArray[np.int64]:
        return np.searchsorted(cuts, random.random(size))

    home, work = somewhere(people), somewhere(people)
    seen = np.minimum(3 + random.geometric(0.08, people), 60)
    person = np.repeat(np.arange(people), seen)
    where = random.random(person.size)
    place = np.where(where < 0.5, home[person], np.where(where < 0.8, work[person], somewhere(person.size)))
    return {"person": person, "item": place * hours + random.integers(hours, size=person.size)}


def robust_studies(context: Context) -> Iterator[Study]:
    """Robust matching: a person is a point in space, a probe is that point with noise added.

    Positions are standard normal in 8 to 128 dimensions, the noise is normal with a spread of 0.4, 0.7 or 1.1 times
    √(dimensions/16); in every second study the spread differs between people, log-normally with σ = 0.6: some
    are always recognised and some never, as in life.
    """
    for dimensions in (8, 32) if context.quick else (8, 16, 32, 64, 128):
        for spread in _NOISE_LEVELS:
            for uneven in (0.0, 0.6):
                study = robust_study(context, dimensions, spread, uneven)
                if SMALLEST < study.truth < LARGEST:
                    yield study


_NOISE_LEVELS = (0.4, 0.7, 1.1)


def robust_study(context: Context, dimensions: int, spread: float, uneven: float) -> Study:
    """One of those: the noise's spread, and how unevenly it is shared."""
    people = 800 if context.quick else 6_000
    random = _random(context, f"robust {dimensions}", 2 * _NOISE_LEVELS.index(spread) + bool(uneven))
    gallery = random.standard_normal((people, dimensions)).astype(np.float32)
    noise = random.standard_normal(gallery.shape) * np.exp(uneven * random.standard_normal((people, 1)))
    probes = gallery + (spread * np.sqrt(dimensions / 16) * noise).astype(np.float32)
    whole = robust_curve(probes, gallery, metric="euclidean")

    def measure(first: int) -> Curve:
        return whole if first == people else robust_curve(probes[:first], gallery[:first], metric="euclidean")

    corpus = f"{dimensions} dimensions, {'uneven' if uneven else 'even'} noise"
    return Study("robust", corpus, people, float(whole.correctness[-1]), measure)


def _random(context: Context, what: str, number: int) -> np.random.Generator:
    """A generator for each thing that is drawn, so that one does not depend on how much another drew."""
    return np.random.default_rng([context.seed, *what.encode(), number])
