"""The learned attack on tables of every shape: it answers, or says that it did not measure, and never fails."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from incrowd.attacks.learned_result import LearnedAttack
from incrowd.attacks.learned_tables import POSITION, attack_release_by_learning
from incrowd.tables import read_table

PEOPLE = 360


def ages(rng: np.random.Generator, people: int = PEOPLE) -> np.ndarray:
    return np.sort(rng.integers(18, 90, people))


def in_classes(values: np.ndarray, k: int = 12) -> list[str]:
    """Sorted numbers as ranges of k neighbours."""
    parts = np.array_split(values, max(1, values.size // k))
    return [f"[{part.min()};{part.max()}]" for part in parts for _ in part]


def attacked(kept: dict[str, Any], people: int = PEOPLE, **options: Any) -> LearnedAttack:
    """An attack on ages in classes of twelve with these kept columns."""
    age = ages(np.random.default_rng(1), people)
    released = pa.table({"age": in_classes(age), **kept})
    options = {"rows": np.arange(people), "shuffled": True, **options}
    return attack_release_by_learning(
        read_table(pa.table({"age": age, **kept})), read_table(released), known=["age"], **options
    )


def is_sound(result: LearnedAttack) -> bool:
    numbers = [result.low, *(look.low for look in result.looks), *(secret.low for secret in result.secrets)]
    numbers += [share for _, share in result.blamed]
    return all(math.isfinite(number) and 0 <= number <= 1 for number in numbers)


RNG = np.random.default_rng(5)
NOTES = [
    f"seen on {day:02d}.03.2021 at 10:{day:02d}, weighs {weight:.1f} kg; {'no complaints ' * 20}"
    for day, weight in zip(RNG.integers(1, 29, PEOPLE), RNG.normal(70, 9, PEOPLE), strict=True)
]
TIMES = pa.array(RNG.integers(0, 10**9, PEOPLE) * 10**6, pa.timestamp("us", "Europe/Zurich"))
NUMBERS = RNG.normal(0, 1, PEOPLE)
HARD: dict[str, Any] = {
    "all missing": pa.nulls(PEOPLE, pa.float64()),
    "all missing, of no type": pa.nulls(PEOPLE),
    "constant": pa.array(["same"] * PEOPLE),
    "infinite": pa.array(np.where(NUMBERS > 1, np.inf, np.where(NUMBERS < -1, -np.inf, NUMBERS))),
    "not a number": pa.array(np.where(NUMBERS > 1, np.nan, NUMBERS)),
    "huge": pa.array(NUMBERS * 1e300),
    "tiny": pa.array(NUMBERS * 1e-300),
    "notes": pa.array(NOTES),
    "times with a zone": TIMES,
    "days": TIMES.cast(pa.date32()),
    "times of the day": pa.array(RNG.integers(0, 86_400, PEOPLE), pa.int32()).cast(pa.time32("s")),
    "durations": pa.array(RNG.integers(0, 10**9, PEOPLE), pa.duration("s")),
    "flags": pa.array(NUMBERS > 0),
    "flags, some missing": pa.array([None if number > 1 else number > 0 for number in NUMBERS]),
    "decimals": pa.array(np.round(NUMBERS, 2)).cast(pa.decimal128(12, 2), safe=False),
    "large numbers": pa.array(RNG.integers(2**62, 2**63 - 1, PEOPLE)),
    "unsigned numbers": pa.array(RNG.integers(2**63, 2**64 - 1, PEOPLE, dtype=np.uint64)),
    "one text each": pa.array([f"person {number}" for number in RNG.permutation(PEOPLE)]),
    "empty texts": pa.array([""] * PEOPLE),
    "bytes": pa.array([bytes([number]) for number in RNG.integers(0, 255, PEOPLE)]),
    "one filled cell": pa.array([7.0, *[None] * (PEOPLE - 1)]),
    "lists": pa.array([[1, 2]] * PEOPLE),
}


@pytest.mark.parametrize("name", HARD)
def test_any_kind_of_column_is_attacked_kept_and_as_a_secret(name: str) -> None:
    result = attacked({"column": HARD[name], "other": pa.array(RNG.integers(0, 9, PEOPLE))}, sensitive=["column"])
    assert is_sound(result)
    assert result.low < 0.2


@pytest.mark.parametrize("name", HARD)
def test_any_kind_of_column_is_attacked_left_out(name: str) -> None:
    age = ages(np.random.default_rng(1))
    original = pa.table({"age": age, "column": HARD[name], "other": RNG.integers(0, 9, PEOPLE)})
    released = original.drop_columns(["column"]).set_column(0, "age", pa.array(in_classes(age)))
    result = attack_release_by_learning(
        read_table(original),
        read_table(released),
        known=["age"],
        sensitive=["column"],
        rows=np.arange(PEOPLE),
        shuffled=True,
    )
    assert is_sound(result)


@pytest.mark.parametrize("people", [2, 3, 11, 40])
def test_few_people_are_no_reason_to_fail(people: int) -> None:
    result = attacked({"visits": list(range(people))}, people, sensitive=["visits"])
    assert is_sound(result)


def test_what_was_not_measured_is_said() -> None:
    result = attacked({})
    assert (result.people, result.looks, result.low) == (0, (), 0.0)
    assert result.least_seen(1 / 11) == 1.0


def test_exact_known_columns_leave_nothing_to_learn_of_them() -> None:
    age = ages(np.random.default_rng(1))
    table = read_table(pa.table({"age": age, "double": 2 * age}))
    result = attack_release_by_learning(table, table, known=["age"], rows=np.arange(age.size), shuffled=True)
    assert (result.looks, result.coarse) == ((), ())


def test_no_known_column_is_no_attack() -> None:
    table = read_table(pa.table({"visits": [1, 2, 3]}))
    assert attack_release_by_learning(table, table, known=[]).people == 0


def test_one_class_of_everybody_is_attacked() -> None:
    age = np.random.default_rng(2).permutation(ages(np.random.default_rng(1), 3_000))
    original = pa.table({"age": age, "half": 2.0 * age})
    released = original.set_column(0, "age", pa.array(["*"] * age.size))
    result = attack_release_by_learning(
        read_table(original), read_table(released), known=["age"], rows=np.arange(age.size), shuffled=True
    )
    assert result.people > 0
    assert is_sound(result)
    assert result.looks[0].success < 0.1  # about 42 people have each age


def test_the_order_of_rows_is_a_kept_column() -> None:
    age = ages(np.random.default_rng(1), 2_000)
    original = read_table(pa.table({"age": age}))
    released = read_table(pa.table({"age": in_classes(age, 40)}))
    in_order = attack_release_by_learning(original, released, known=["age"], rows=np.arange(age.size))
    shuffled = attack_release_by_learning(original, released, known=["age"], rows=np.arange(age.size), shuffled=True)
    assert in_order.kept == (POSITION,)
    assert in_order.low > 2 / 40
    assert shuffled.looks == ()


def test_rows_are_found_by_their_labels() -> None:
    rng = np.random.default_rng(4)
    age = ages(rng)
    name = np.array([f"n{number}" for number in rng.permutation(PEOPLE)])
    order = rng.permutation(PEOPLE)
    original = pa.table({"age": age, "born": 2024 - age, "name": name})
    released = pa.table({"age": in_classes(age), "born": 2024 - age, "name": name}).take(order)
    found = attack_release_by_learning(read_table(original), read_table(released), known=["age"], shuffled=True)
    given = attack_release_by_learning(
        read_table(original), read_table(released), known=["age"], rows=order, shuffled=True
    )
    assert found == given


def test_people_with_several_rows_are_found_by_all_of_them() -> None:
    rng = np.random.default_rng(6)
    age = ages(rng, 1_500)
    person = np.repeat(np.arange(1_500), 4)
    amount = 100 * age[person] + rng.normal(0, 400, person.size)
    original = pa.table({"who": person, "age": age[person], "amount": amount})
    released = original.set_column(1, "age", pa.array(np.array(in_classes(age))[person]))
    options: dict[str, Any] = {"known": ["age"], "rows": np.arange(person.size), "shuffled": True}
    together = attack_release_by_learning(read_table(original), read_table(released), person="who", **options)
    single = attack_release_by_learning(read_table(original), read_table(released), unseen=["who"], **options)
    assert together.people == 1_500
    assert together.looks[0].success > single.looks[0].success
