"""What a release says of secrets, and what would be known without it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.attacks.learned_releases import attacked, classes_of, people_of, released

from incrowd.attacks.learned_result import LearntSecret
from incrowd.attacks.learned_tables import attack_release_by_learning
from incrowd.tables import read_table

KNOWN = people_of(1_500)
AGE = KNOWN["age"].to_numpy()
RNG = np.random.default_rng(8)


def secret_of(values: object, **options: object) -> LearntSecret:
    (secret,) = attacked(KNOWN, {"secret": values}, sensitive=["secret"], **options).secrets
    return secret


def left_out(values: object, **kept: object) -> LearntSecret:
    (secret,) = attacked(KNOWN, kept, left_out={"secret": values}, sensitive=["secret"]).secrets
    return secret


def test_a_value_that_a_class_shares_is_learnt() -> None:
    by_class = RNG.choice(list("abcdef"), classes_of(KNOWN).max() + 1)
    secret = secret_of(by_class[classes_of(KNOWN)])
    assert secret.right == secret.certain == secret.people
    assert secret.low > 0.8


@pytest.mark.parametrize("values", [list("ab"), list("abc"), list("aaaaab"), list("abcdefgh")])
@pytest.mark.parametrize("seed", range(3))
def test_secrets_in_random_order_are_not_learnt(values: list[str], seed: int) -> None:
    secret = secret_of(np.random.default_rng(seed).choice(values, len(KNOWN)))
    assert secret.low == 0.0


@pytest.mark.parametrize("secret", [AGE // 7, AGE * 3.5, 2_024 - AGE, np.where(AGE > 60, "old", "young")])
def test_what_follows_from_known_columns_is_no_gain(secret: np.ndarray) -> None:
    kept, hidden = secret_of(secret), left_out(secret, visits=RNG.poisson(3, len(KNOWN)))
    assert kept.certain > 0.9 * kept.people
    assert max(kept.low, hidden.low) < 0.02  # of people between the classes from which the function is learnt


def test_a_formula_tells_the_secret_that_was_left_out() -> None:
    wage = np.round(RNG.lognormal(8, 0.6, len(KNOWN)))
    bonus = np.round(RNG.lognormal(7, 0.5, len(KNOWN)))
    days = 365 * AGE + RNG.integers(0, 365, len(KNOWN))
    kept = {"total": wage + bonus, "bonus": bonus, "born": 45_000 - days}
    result = attacked(KNOWN.assign(age=days), kept, left_out={"wage": wage}, sensitive=["wage"])
    (secret,) = result.secrets
    assert secret.news > 0.3 * secret.people
    assert secret.right >= 0.95 * secret.certain


def test_missing_cells_tell_the_secret_that_was_left_out() -> None:
    repeated = RNG.random(classes_of(KNOWN).max() + 1) < 0.4
    is_repeated = repeated[classes_of(KNOWN)]
    date = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, len(KNOWN)), "D"))
    secret = left_out(np.where(is_repeated, "yes", "no"), date=date.where(is_repeated).to_numpy())
    assert secret.right > 0.9 * secret.people
    assert secret.low > 0.1


def test_a_missing_secret_is_a_secret() -> None:
    is_asked = (RNG.random(classes_of(KNOWN).max() + 1) < 0.3)[classes_of(KNOWN)]
    amount = np.where(is_asked, RNG.integers(1, 90, len(KNOWN)).astype(float), np.nan)
    secret = secret_of(amount)
    assert secret.right > 0.6 * secret.people
    assert secret.low == 0.0  # most people have none, as anybody would guess


def test_numbers_are_learnt_within_a_twentieth() -> None:
    by_class = 10_000 * RNG.lognormal(0, 1, classes_of(KNOWN).max() + 1)
    near = by_class[classes_of(KNOWN)] * RNG.uniform(0.985, 1.015, len(KNOWN))
    far = by_class[classes_of(KNOWN)] * RNG.uniform(0.6, 1.6, len(KNOWN))
    assert secret_of(near).low > 0.5
    assert secret_of(far).low == 0.0


def test_a_range_says_what_it_covers() -> None:
    amount = np.round(RNG.lognormal(8, 1, len(KNOWN)))
    known = KNOWN.assign(amount=amount)
    release = released(KNOWN, classes_of(KNOWN))
    options = {"known": ["age", "region"], "sensitive": ["amount"], "rows": np.arange(len(known)), "shuffled": True}
    by_class = pd.Series(amount).groupby(classes_of(KNOWN))
    low, high = by_class.transform("min"), by_class.transform("max")
    wide = [f"[{least:g};{most:g}]" for least, most in zip(low, high, strict=True)]
    original = read_table(known)
    (secret,) = attack_release_by_learning(original, read_table(release.assign(amount=wide)), **options).secrets
    assert secret.low == 0.0


def covering_rows_agree(known: pd.DataFrame, secret: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Whether all rows whose ranges and regions cover a person have one secret, counted one by one."""
    ages = known["age"].groupby(classes)
    low, high = ages.transform("min").to_numpy(), ages.transform("max").to_numpy()
    region, age = known["region"].to_numpy(), known["age"].to_numpy()
    agree = np.zeros(len(known), dtype=bool)
    for person in range(len(known)):
        covers = (low <= age[person]) & (age[person] <= high) & (region == region[person])
        agree[person] = np.unique(secret[covers]).size == 1
    return agree


@pytest.mark.parametrize("share", [0.5, 0.15])
def test_a_known_secret_is_learnt_by_who_knows_the_other_columns(share: float) -> None:
    size = 900
    known = people_of(size, 2)
    status = np.where(np.random.default_rng(3).random(size) < share, "dead", "alive")
    known["status"] = status
    classes = classes_of(known[["age", "region", "status"]])  # classes are uniform in it, because it was named known
    release = released(known, classes)
    result = attack_release_by_learning(
        read_table(known),
        read_table(release),
        known=["age", "region", "status"],
        sensitive=["status"],
        rows=np.arange(size),
        shuffled=True,
    )
    (secret,) = result.secrets
    counted = covering_rows_agree(known, status, classes)
    assert secret.people == size
    assert secret.right >= 0.9 * counted.sum()
    assert secret.right >= 0.95 * secret.certain


def test_the_only_known_column_may_be_the_secret() -> None:
    known = pd.DataFrame({"age": AGE})
    released_ages = released(known.assign(all="x"), classes_of(known.assign(all="x")))[["age"]]
    (secret,) = attack_release_by_learning(
        read_table(known),
        read_table(released_ages),
        known=["age"],
        sensitive=["age"],
        rows=np.arange(len(known)),
        shuffled=True,
    ).secrets
    assert secret.low == 0.0
