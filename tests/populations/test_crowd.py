"""The crowd model against enumeration, closed forms and populations whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import InputError, UnsupportedError
from incrowd.pitman_yor.prediction import new_classes
from incrowd.populations.crowd_growth import grow, grow_through, sizes_without
from incrowd.populations.crowd_model import (
    CrowdLevel,
    CrowdModel,
    _count_left_out,
    _fit_level,
    _fit_margin,
    fit_crowd_model,
    join_codes,
)


def sample_of(columns, people, seed):
    rows = np.random.default_rng(seed).choice(columns[0].size, people, replace=False)
    return [column[rows] for column in columns], rows


def class_sizes(columns):
    _, numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return np.bincount(numbers.ravel())[numbers.ravel()]


@pytest.fixture(scope="module")
def population():
    """People in towns, with an age, a sex and a trade that depends on the town and the age."""
    draw = np.random.default_rng(7)
    town = draw.zipf(1.6, 30_000) % 80
    age = draw.integers(0, 70, 30_000)
    trade = (town * 3 + age // 10 + draw.integers(0, 4, 30_000)) % 40
    return [town, age, draw.integers(0, 2, 30_000), trade]


def test_one_column_grows_like_a_pitman_yor_process():
    codes = np.repeat(np.arange(6), [9, 5, 3, 1, 1, 1]).astype(np.int32)
    d, theta, n, grown = 0.35, 3.0, 20, 400
    model = CrowdModel((codes,), np.array([[d, theta]]), (), np.zeros(n))
    found = [grow(model, grown, seed=(3, draw)).classes for draw in range(600)]
    expected = 6 + float(new_classes(d, theta, people=n, classes=6, population=grown))
    assert np.mean(found) == pytest.approx(expected, abs=4 * np.std(found) / np.sqrt(600))


def test_classes_on_the_way_and_at_the_end_are_those_of_the_people_grown(population):
    sample, _ = sample_of(population, 500, 1)
    stops = [500, 900, 2_000, 3_000]
    for size, found in zip(stops, grow_through(fit_crowd_model(sample), stops, seed=(1,)), strict=True):
        sizes = class_sizes(list(found.values))
        assert found.people == sizes.size == size
        assert (1 / sizes).sum() == pytest.approx(found.classes)
        assert (sizes == 1).sum() == found.uniques
    everybody = class_sizes(list(found.values))
    assert found.sample_class_sizes.tolist() == everybody[:500].tolist()
    assert sorted(found.class_sizes) == sorted(np.unique(np.stack(list(found.values)), axis=1, return_counts=True)[1])


def test_the_sample_is_kept_as_it_is(population):
    sample, _ = sample_of(population, 300, 2)
    found = grow(fit_crowd_model(sample), 1_000)
    assert sorted(class_sizes(list(found.values[:, :300]))) == sorted(class_sizes(sample))


def test_the_names_of_categories_do_not_matter(population):
    sample, _ = sample_of(population, 400, 3)
    draw = np.random.default_rng(4)
    renamed = [draw.permutation(int(column.max()) + 1)[column] for column in sample]
    one, other = (grow(fit_crowd_model(columns), 4_000, seed=(5,)) for columns in (sample, renamed))
    assert one.sample_class_sizes.tolist() == other.sample_class_sizes.tolist()


def test_a_seed_gives_the_same_people_and_another_seed_others(population):
    model = fit_crowd_model(sample_of(population, 300, 5)[0])
    assert grow(model, 2_000, seed=(1,)).values.tolist() == grow(model, 2_000, seed=(1,)).values.tolist()
    assert grow(model, 2_000, seed=(1,)).values.tolist() != grow(model, 2_000, seed=(2,)).values.tolist()


def test_leaving_a_record_out_is_what_it_says():
    """The chance of every record by counting the others by hand, on two columns."""
    one, other = np.array([0, 0, 0, 1, 1, 1, 0, 1] * 6), np.array([0, 0, 1, 1, 1, 1, 0, 2] * 6)
    model = fit_crowd_model([one, other])
    chances = np.zeros(one.size)
    for column, codes in enumerate(model.codes):
        d, theta = model.margins[column]
        for row in range(codes.size):
            rest = np.delete(np.arange(codes.size), row)
            seen = (codes[rest] == codes[row]).sum()
            base = (seen - d) / (rest.size + theta) if seen else None
            for level in reversed([one for one in model.levels if one.column == column]):
                alike = rest[np.all([model.codes[g][rest] == model.codes[g][row] for g in level.given], axis=0)]
                pair = (codes[alike] == codes[row]).sum()
                new = (level.strength + level.discount * np.unique(codes[alike]).size) * base
                base = (max(pair - level.discount, 0) * (pair > 0) + new) / (alike.size + level.strength)
            chances[row] += np.log(base)
    assert model.log_chances == pytest.approx(chances)


@pytest.mark.parametrize(("people", "within"), [(600, 0.08), (3_000, 0.02)])
def test_the_risk_of_a_sample_is_near_that_in_its_population(population, people, within):
    truth = class_sizes(population)
    for seed in range(3):
        sample, rows = sample_of(population, people, seed)
        found = grow(fit_crowd_model(sample), truth.size, seed=(seed,))
        assert (1 / found.sample_class_sizes).mean() == pytest.approx((1 / truth[rows]).mean(), abs=within)


def test_columns_of_one_value_are_left_out_and_nothing_else_is_refused():
    constant = np.zeros(50, dtype=np.int64)
    model = fit_crowd_model([constant, np.arange(50) % 7])
    assert len(model.codes) == 1
    with pytest.raises(UnsupportedError, match="one value only"):
        fit_crowd_model([constant, constant])


def test_few_people_of_many_columns_are_given_the_room_that_they_need():
    """The first person alone has more contexts than the arrays for eight people hold."""
    codes = tuple(np.array([0, 0, 0, 0, 1, 1, 1, 2], dtype=np.int32) for _ in range(40))
    levels = tuple(CrowdLevel(column, (column - 1,), 0.1, 1.0) for column in range(1, 40))
    model = CrowdModel(codes, np.full((40, 2), [0.1, 1.0]), levels, np.zeros(8))
    start, found = grow_through(model, [8, 12], seed=(0,))
    assert start.classes == 3
    assert found.people == found.class_sizes.sum() == 12
    equal = grow(fit_crowd_model([np.arange(8) % 4] * 40), 20)
    assert equal.class_sizes.sum() == 20


def test_a_population_smaller_than_its_sample_is_refused():
    model = fit_crowd_model([np.arange(50) % 7])
    assert grow(model, 50).class_sizes.sum() == 50
    with pytest.raises(InputError, match="a population of 49 for a sample of 50 people"):
        grow(model, 49)


def test_classes_without_a_column_are_those_of_the_other_columns(population):
    sample, _ = sample_of(population, 200, 6)
    found = grow(fit_crowd_model(sample), 1_500, seed=(2,))
    without = sizes_without(found.values, np.arange(200))
    for column in range(4):
        others = [codes for place, codes in enumerate(found.values) if place != column]
        assert without[column].tolist() == class_sizes(others)[:200].tolist()


def _counts_without(groups, values, clusters):
    """For each record, records of its group, those of them with its value, and values, without its cluster."""
    found = []
    for group, cluster, value in zip(groups, clusters, values, strict=True):
        left = values[(groups == group) & (clusters != cluster)]
        found.append((left.size, np.count_nonzero(left == value), np.unique(left).size))
    return np.array(found, dtype=np.float64).T


@given(st.integers(0, 2**32), st.integers(2, 60), st.booleans())
def test_a_level_is_fitted_and_judged_as_its_formula_says(seed, rows, clustered):
    draw = np.random.default_rng(seed)
    context = np.unique(draw.integers(0, 4, rows), return_inverse=True)[1].astype(np.int64)
    values = (context + draw.integers(0, 2, rows)) % 3
    clusters = draw.integers(0, rows // 2 + 1, rows) if clustered else None
    group, pair, distinct = _counts_without(context, values, np.arange(rows) if clusters is None else clusters)
    base, following, some = draw.random(rows), draw.random(rows), np.unique(draw.integers(0, rows, rows))
    before = base.copy(), following.copy()
    pair_of = join_codes([context, values])
    if clusters is not None:
        _, cluster = np.unique(clusters, return_inverse=True)
        clusters = cluster.astype(np.int64)
    fitted = _fit_level(context, pair_of, base, following, some, clusters)
    if fitted is None:
        assert np.array_equal(before, (base, following))  # the level below stays
        return
    d, theta = fitted
    kept = np.where(pair > 0, np.maximum(pair - d, 0.0), 0.0)
    assert np.array_equal(base, (kept + (theta + d * distinct) * before[0]) / (group + theta))
    alike, same = np.bincount(context)[context], np.bincount(pair_of)[pair_of]
    there = np.array([np.unique(values[context == one]).size for one in context])
    assert np.array_equal(following, (same - d + (theta + d * there) * before[1]) / (alike + theta))
    if clusters is not None:
        left = _count_left_out(context, pair_of, clusters)
        assert np.array_equal(alike - left[0], group)


@given(st.integers(0, 2**32), st.integers(2, 200), st.booleans())
def test_the_margin_that_is_fitted_has_the_highest_likelihood_of_all(seed, rows, clustered):
    draw = np.random.default_rng(seed)
    codes = np.unique(draw.zipf(1.7, rows) % 30, return_inverse=True)[1].astype(np.int32)
    clusters = np.unique(draw.integers(0, rows, rows), return_inverse=True)[1].astype(np.int64) if clustered else None
    d, theta, base = _fit_margin(codes, np.arange(rows), clusters)
    every = np.zeros(rows, dtype=np.int64)
    group, pair, distinct = _counts_without(every, codes, np.arange(rows) if clusters is None else clusters)

    def chances(d, theta):
        return np.where(pair == 0, theta + d * distinct, np.maximum(pair - d, 1e-300)) / (group + theta)

    def likelihood(d, theta):
        return float(np.log(np.maximum(chances(d, theta), 1e-300)).sum())

    assert np.array_equal(base, chances(d, theta))
    others = [(0.0, 0.1), (0.2, 1.0), (0.5, 10.0), (0.8, 1e4), (0.35, 1e-4)]
    assert all(likelihood(d, theta) >= likelihood(*other) for other in others)
