"""The index leaves out no record that a search would find."""

import numpy as np
import pyarrow as pa
import pytest

from incrowd.attacks.gallery import Probes
from incrowd.attacks.setting import AttackOptions, prepare
from incrowd.tables import read_table


def table(size, seed):
    """Numbers with nulls, text of few and of many values, and a column that some tables have ranges and sets in."""
    draws = np.random.default_rng([9, seed])
    age = draws.integers(0, 30, size)
    return {
        "age": age,
        "pay": pa.array(draws.lognormal(3, 1, size), mask=draws.random(size) < 0.1),
        "sex": pa.array(draws.choice(["f", "m"], size), mask=draws.random(size) < 0.05),
        "job": draws.integers(0, 6, size).astype(str),
        "town": draws.integers(0, 200, size).astype(str),
    }


def protected(data, seed):
    draws = np.random.default_rng([8, seed])
    low = np.asarray(data["age"]) // 5 * 5
    ages = [f"[{one};{one + 4}]" if draws.random() < 0.7 else "*" for one in low]
    jobs = [one if draws.random() < 0.5 else f"{{{one},5}}" for one in data["job"]]
    return {**data, "age": ages, "job": jobs}


def plain_distances(setting, probes, probe, rows):
    """The cost of every released row by the definition, column by column."""
    found = np.zeros(rows)
    for place, name in enumerate(setting.known):
        if probes.codes[probe, place] < 0:
            continue
        column = setting.encoded.column(name)
        labels = column.labels[1]
        for row in range(rows):
            code = labels.codes[row]
            gap = max(labels.low[code] - probes.high[probe, place], probes.low[probe, place] - labels.high[code], 0.0)
            if code in labels.members:
                gap = float(not any(probes.low[probe, place] <= one <= probes.high[probe, place]
                                    for one in labels.members[code]))  # fmt: skip
            found[row] += min(gap, 1.0) if column.number else float(gap > 0)
    return found


@pytest.mark.parametrize("generalised", [False, True])
@pytest.mark.parametrize("known", ["pay sex job", "age town", "age pay sex job town", "pay"])
@pytest.mark.parametrize("forgotten", [0.0, 0.3])
def test_searches_find_what_a_plain_search_finds(generalised, known, forgotten):
    draws = np.random.default_rng(4)
    original, released = table(25, 1), table(150, 2)
    released = protected(released, 3) if generalised else released
    tables = [read_table(one) for one in (original, released)]
    setting = prepare(tables, known.split(), (), targets=25, seed=0, options=AttackOptions())
    gallery = setting.gallery(setting.known, 1, 0)
    probes = setting.probes(setting.known, 0, np.arange(25))
    if forgotten:
        probes = probes.without(draws.random(probes.low.shape) < forgotten)
    if not any(column.has_sets for column in setting.encoded.columns):
        width = draws.random(probes.low.shape) * 0.05 * (draws.random(probes.low.shape) < 0.3)
        probes = Probes(probes.low - width, probes.high + width, probes.codes)
    expected = np.stack([plain_distances(setting, probes, probe, 150) for probe in range(25)])
    distances, rows = gallery.nearest(probes, wanted=4)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :4], atol=1e-9)
    np.testing.assert_allclose(expected[np.arange(25), rows[:, 0]], distances[:, 0], atol=1e-9)
    secrets = draws.integers(0, 3, 150)
    for limits in (np.zeros(25), distances[:, 2], np.full(25, 0.1), np.full(25, 1.0), np.full(25, 2.5)):
        nearer, level, first = gallery.count(probes, limits)
        assert nearer.tolist() == (expected < limits[:, None] - 1e-9).sum(axis=1).tolist()
        assert level.tolist() == (np.abs(expected - limits[:, None]) <= 1e-9).sum(axis=1).tolist()
        assert ((first < 0) == (level == 0)).all()
        votes = np.stack([np.bincount(secrets[row <= limit + 1e-9], minlength=3)
                          for row, limit in zip(expected, limits, strict=True)])  # fmt: skip
        assert gallery.guess(probes, limits, secrets, 3).tolist() == votes.argmax(axis=1).tolist()
