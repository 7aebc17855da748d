"""Whom kept columns find: known answers, the best attacker of a law, exact bounds."""

from __future__ import annotations

import mpmath
import numpy as np
import pandas as pd
import pytest
from benchmarks.decision import laws
from benchmarks.decision.best_attacker import best_success
from benchmarks.decision.independent import make_independent
from scipy.stats import binom
from tests.attacks.learned_releases import K, attacked, classes_of, people_of

from incrowd.attacks.learned_result import ERROR, SHARES, LearnedAttack, Look, lower_bound

LIMIT = 1 / K


def law_of(name: str, noise: str) -> laws.Family:
    return next(law for law in laws.families() if (law.name, law.noise) == (name, noise))


def test_a_function_of_a_coarse_column_is_found_and_blamed() -> None:
    known = people_of(1_500)
    rng = np.random.default_rng(1)
    kept = {"born": 2024 - known["age"], "visits": rng.poisson(3, len(known))}
    result = attacked(known, kept)
    assert result.coarse == ("age",)
    assert result.people == len(known)
    assert result.low > 0.9
    assert result.blamed[0][0] == "born"
    assert result.blamed[0][1] > 0.8


@pytest.mark.parametrize("seed", [7, 8, 9, 16])
def test_independent_columns_find_nobody(seed: int) -> None:
    _, kept = make_independent(seed)
    known = people_of(len(kept), seed)
    result = attacked(known, kept.to_dict("series"))
    assert result.people > 0
    assert result.low <= LIMIT


@pytest.mark.parametrize(
    ("name", "noise"),
    [("linear", "sd 0"), ("linear", "sd 1"), ("partly equal", "50% hold"), ("note with the age", "20% say")],
)
def test_the_attack_comes_near_the_best_attacker_and_never_above(name: str, noise: str) -> None:
    law = law_of(name, noise)
    known = people_of(2_500, 3)
    kept = law.sample(known, np.random.default_rng(4))
    result = attacked(known, kept)
    truth = best_success(law, known, pd.DataFrame(kept), classes_of(known))
    everybody, most_confident = result.looks[0], result.looks[-1]
    assert most_confident.low <= truth.top + 0.02
    assert everybody.low <= truth.average
    assert everybody.success > LIMIT + 0.5 * (truth.average - LIMIT)
    assert result.low > LIMIT


def test_other_names_change_nothing() -> None:
    known = people_of(900)
    kept = {"born": 2024 - known["age"] + np.random.default_rng(2).integers(0, 4, len(known))}
    result = attacked(known, kept)
    names = {"age": "a", "region": "b", "born": "c"}
    renamed = attacked(known.rename(columns=names).rename(columns={"a": "age"}), {"c": kept["born"]})
    assert renamed.looks[0].success == pytest.approx(result.looks[0].success, abs=0.03)
    assert [name for name, _ in renamed.blamed] == [names[name] for name, _ in result.blamed]
    assert result.renamed(lambda name: names[name]).blamed == tuple(
        (names[name], share) for name, share in result.blamed
    )


def test_the_order_of_rows_changes_no_more_than_the_sample() -> None:
    known = people_of(1_200)
    kept = {"born": 2024 - known["age"] + np.random.default_rng(2).integers(0, 6, len(known))}
    order = np.random.default_rng(3).permutation(len(known))
    result = attacked(known, kept)
    moved = attacked(known.iloc[order].reset_index(drop=True), {"born": kept["born"].iloc[order].to_numpy()})
    spread = 3 * np.sqrt(2 * 0.25 / result.people)
    assert moved.looks[0].success == pytest.approx(result.looks[0].success, abs=spread)


def test_a_seed_repeats_the_attack() -> None:
    known = people_of(700)
    kept = {"half": known["age"] // 2}
    assert attacked(known, kept, seed=5) == attacked(known, kept, seed=5)


@pytest.mark.parametrize(("hits", "people"), [(1, 10), (7, 10), (10, 10), (31, 200), (118, 1_000), (5, 40_000)])
def test_lower_bounds_are_those_of_clopper_and_pearson(hits: int, people: int) -> None:
    error = ERROR / len(SHARES)
    bound = float(lower_bound(hits, people, error))
    by_beta = mpmath.betainc(hits, people - hits + 1, 0, bound, regularized=True)
    assert float(by_beta) == pytest.approx(error, rel=1e-9)
    assert binom.sf(hits - 1, people, bound) == pytest.approx(error, rel=1e-9)


def test_nobody_found_has_nolower_bound() -> None:
    assert float(lower_bound(0, 100, 0.01)) == 0.0


@pytest.mark.parametrize("people", [10, 40, 200, 1_000])
def test_the_least_that_is_seen_is_the_first_above_the_limit(people: int) -> None:
    attack = LearnedAttack((), (), (), people, (Look(1.0, people, 0, 0.0),))
    error = ERROR / len(SHARES)
    first = next(hits for hits in range(people + 1) if binom.sf(hits - 1, people, LIMIT) < error)
    assert attack.least_seen(LIMIT) == first / people
    assert float(lower_bound(first, people, error)) > LIMIT >= float(lower_bound(first - 1, people, error))


def test_without_a_look_nothing_is_seen() -> None:
    assert LearnedAttack((), (), (), 0, ()).least_seen(LIMIT) == 1.0
