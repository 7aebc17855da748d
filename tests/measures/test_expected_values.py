"""Values that everybody expects of some people, counted in plain Python."""

from collections import Counter

import numpy as np
import pytest

from incrowd.measures import kept_column_facts

ROWS = 3_000


def people(draw):
    age, region = draw.integers(20, 80, ROWS), draw.integers(0, 12, ROWS)
    before = {"age": age, "region": region}
    tens = [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in age]
    return before, {"age": tens, "region": [f"{{{value // 4}}}" for value in region]}


def facts_of(before, after, name, cells, **options):
    kept = {name: cells}
    return kept_column_facts(before | kept, after | kept, ["age", "region"], [name], **options)


@pytest.mark.parametrize("refused", [0.0, 0.03])
@pytest.mark.parametrize("secrets", [(), ("pension",)])
@pytest.mark.parametrize("seed", range(3))
def test_a_value_that_all_before_some_age_have_is_expected_of_them(seed, secrets, refused):
    draw = np.random.default_rng(seed)
    before, after = people(draw)
    pension = np.where((before["age"] >= 56) & (draw.random(ROWS) < 0.7), draw.integers(300, 2_000, ROWS), 0).tolist()
    pension = [None if draw.random() < refused else amount for amount in pension]
    (fact,) = facts_of(before, after, "pension", pension, secrets=secrets)
    told = zip(after["age"], after["region"], (amount in (0, None) for amount in pension), strict=True)
    crossed = {cells: size for cells, size in Counter(told).items() if cells[0] == "[50;59]" and cells[2]}
    assert (fact.column, fact.gives_back, fact.kind) == ("pension", "age", "expected value")
    assert (fact.k, fact.undoes) == (min(crossed.values()), True)
    assert fact.is_reported_only(secrets, 11)
    assert fact.told == pytest.approx(np.mean(before["age"] < 56), abs=0.05)


def test_what_the_released_ranges_tell_anyway_is_not_told():
    draw = np.random.default_rng(3)
    before, after = people(draw)
    pension = np.where((before["age"] >= 60) & (draw.random(ROWS) < 0.7), draw.integers(300, 2_000, ROWS), 0)
    assert facts_of(before, after, "pension", pension) == ()


@pytest.mark.parametrize("seed", range(5))
def test_values_that_only_become_likelier_are_not_expected(seed):
    draw = np.random.default_rng(seed)
    before, after = people(draw)
    likely = np.where(draw.random(ROWS) < (before["age"] - 10) / 70, "yes", "no")
    assert facts_of(before, after, "likely", likely) == ()


def test_a_value_in_another_type_is_the_same_value():
    draw = np.random.default_rng(0)
    before, after = people(draw)
    pension = np.where((before["age"] >= 56) & (draw.random(ROWS) < 0.7), draw.integers(300, 2_000, ROWS), 0)
    same = facts_of(before, after, "pension", pension)
    as_float = kept_column_facts(
        before | {"pension": pension}, after | {"pension": pension.astype(float)}, ["age", "region"], ["pension"]
    )
    assert same == as_float
