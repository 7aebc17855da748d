"""The compiled growth against the same urn in plain Python."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from incrowd.populations.crowd_growth import Growth, grow, grow_through
from incrowd.populations.crowd_model import CrowdLevel, CrowdModel, fit_crowd_model, join_codes
from incrowd.populations.design import Design

_ALL = (1 << 64) - 1


def _random_numbers(seed: list[int]) -> Iterator[float]:
    """Splitmix64, as the compiled loop draws them."""
    state = int(np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64)[0])
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _ALL
        x = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
        yield ((x ^ (x >> 31)) >> 11) / 2.0**53


def _grow_plainly(model: CrowdModel, population: int, seed: list[int]) -> list[tuple[int, ...]]:
    """Everybody's values: each column from one of the people with the same context, at the first level that has it."""
    random, columns = _random_numbers(seed), len(model.codes)
    sample = list(zip(*(codes.tolist() for codes in model.codes), strict=True))
    heard = model.draw_of_clusters(seed).tolist()
    told = [sample[place] for place in heard] if heard else list(sample)
    contexts: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    margins = [[person[column] for person in told] for column in range(columns)]
    sizes = [int(codes.max()) + 1 for codes in model.codes]

    def accept(values: list[int], d: float, theta: float) -> int | None:
        taken = values[int(next(random) * len(values))]
        kept = (1.0 - d / values.count(taken)) * len(values) / (len(values) + theta)
        return taken if next(random) < kept else None

    def tell(person: tuple[int, ...]) -> None:
        for place, level in enumerate(model.levels):
            contexts[place, *(person[one] for one in level.given)].append(person[level.column])

    for person in told:
        tell(person)
    people = list(sample)
    while len(people) < population:
        drawn: list[int] = []
        for column in range(columns):
            value: int | None = None
            for place, level in enumerate(model.levels):
                there = contexts.get((place, *(drawn[one] for one in level.given))) if level.column == column else None
                if there and value is None:
                    value = accept(there, level.discount, level.strength)
            if column < model.hidden:
                value = int(np.searchsorted(np.cumsum(model.shares)[:-1], next(random), side="right"))
            elif value is None:
                value = accept(margins[column], *model.margins[column])
                if value is None:
                    value = sizes[column]
                    sizes[column] += 1
            drawn.append(value)
        people.append(tuple(drawn))
        tell(people[-1])
        for column, value in enumerate(drawn):
            margins[column].append(value)
    return people


def _model(design: Design | None = None) -> CrowdModel:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 3, 80)
    second = (first + rng.integers(0, 2, 80)) % 3
    columns = [first, second, first * 3 + rng.integers(0, 4, 80), rng.zipf(1.7, 80) % 20, rng.integers(0, 6, 80)]
    return fit_crowd_model(columns, design)


def _every_level(model: CrowdModel, discounts: tuple[float, ...], strength: float) -> CrowdModel:
    """The model with all contexts of every column: nested ones, others, and several of one column."""
    levels = []
    for column in range(1, len(model.codes)):
        given = dict.fromkeys([tuple(range(column)), tuple(range(column))[-2:], (0,), (column - 1,)])
        levels += [(column, one) for one in given]
    cycle = [CrowdLevel(*one, discounts[place % len(discounts)], strength) for place, one in enumerate(levels)]
    return replace(model, levels=tuple(cycle))


@pytest.mark.parametrize("discounts", [(0.0,), (0.35, 0.0, 0.9), (0.5,)])
@pytest.mark.parametrize("strength", [0.1, 3.0])
@pytest.mark.parametrize("kind", ["plain", "strata", "clusters"])
def test_people_are_drawn_as_by_the_urn_in_plain_python(discounts: tuple[float, ...], strength: float, kind: str):
    design = None
    if kind == "strata":
        strata = (np.arange(80) % 2).astype(np.int64)
        design = Design(strata=strata, shares=np.array([0.3, 0.7]), clusters=None, effect=1.0)
    elif kind == "clusters":
        design = Design(strata=None, shares=np.empty(0), clusters=np.arange(80) // 3, effect=1.0)
    model = _every_level(_model(design), discounts, strength)
    grown = grow(model, 700, seed=[7, 1])
    people = _grow_plainly(model, 700, [7, 1])
    np.testing.assert_array_equal(grown.values.T, np.array(people)[:, model.hidden :])
    often: defaultdict[tuple[int, ...], int] = defaultdict(int)
    for person in people:
        often[person[model.hidden :]] += 1
    assert sorted(often.values()) == sorted(grown.class_sizes.tolist())
    assert [often[person[model.hidden :]] for person in people[:80]] == grown.sample_class_sizes.tolist()


def test_one_start_serves_several_growths():
    model = _model()
    start = Growth(model)
    for seed in ([1], [2], [1]):
        (shared,) = grow_through(model, [600], seed=seed, start=start)
        np.testing.assert_array_equal(shared.values, grow(model, 600, seed=seed).values)


@pytest.mark.parametrize("least", [0, -3])
@pytest.mark.parametrize("few", [0, 4])
def test_combinations_are_numbered_in_the_order_in_which_they_come(least, few, monkeypatch):
    monkeypatch.setattr("incrowd.populations.crowd_model._FEW_CELLS", few)
    columns = list(np.random.default_rng(1).integers(least, 6, (3, 400)))
    seen = {}
    expected = [seen.setdefault(row, len(seen)) for row in zip(*(one.tolist() for one in columns), strict=True)]
    assert join_codes(columns).tolist() == expected
