"""Every measure against the plain-Python counter, on random small tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import reference

from incrowd import ClassSizes, InputError, measure
from incrowd.classes import class_size_of_each_record

VALUES = st.sampled_from([None, 1, 2, 3])
WORDS = st.sampled_from([None, "a", "b", "ä"])
ROWS = st.lists(
    st.fixed_dictionaries({"x": VALUES, "y": WORDS, "z": VALUES, "s": WORDS, "v": VALUES}), min_size=1, max_size=14
)


def columns_of(rows):
    import pyarrow as pa

    types = {"x": pa.int64(), "y": pa.string(), "z": pa.float64(), "s": pa.string(), "v": pa.int32()}
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})


@given(ROWS)
def test_class_sizes_are_those_of_a_plain_count(rows):
    expected = [len(members) for members in reference.classes_of(rows, "xyz")]
    found = measure(columns_of(rows), quasi_identifiers=["x", "y", "z"])
    assert found.sizes == ClassSizes.from_sizes(expected)
    assert found.correctness == pytest.approx(len(expected) / len(rows))
    assert found.uniques == expected.count(1)
    assert found.k == min(expected)
    assert found.maximum_risk == 1 / min(expected)
    assert found.share_below(3) == pytest.approx(sum(size for size in expected if size < 3) / len(rows))


@given(ROWS)
def test_each_record_knows_the_size_of_its_class(rows):
    expected = [0] * len(rows)
    for members in reference.classes_of(rows, "xy"):
        for number in members:
            expected[number] = len(members)
    assert class_size_of_each_record(columns_of(rows), quasi_identifiers=["x", "y"]).tolist() == expected


@given(ROWS, st.sampled_from("sv"))
def test_diversity_is_that_of_its_definition(rows, secret):
    order = sorted({row[secret] for row in rows} - {None}) + (
        [None] if any(row[secret] is None for row in rows) else []
    )
    expected = reference.diversity(rows, "xy", secret, order)
    found = measure(columns_of(rows), quasi_identifiers=["x", "y"], sensitive=[secret]).sensitive[0]
    assert found.distinct == found.l == expected["distinct"]
    assert found.entropy_l == pytest.approx(math.exp(expected["entropy"]))
    assert found.equal_t == pytest.approx(float(expected["equal"]))
    assert found.ordered_t == (None if secret == "s" else pytest.approx(float(expected["ordered"])))
    assert found.alpha == pytest.approx(float(expected["alpha"]))
    assert found.beta == pytest.approx(float(expected["beta"]))
    assert found.delta == pytest.approx(expected["delta"])
    assert found.homogeneous == expected["homogeneous"]
    values = [{rows[one][secret] for one in members} - {None} for members in reference.classes_of(rows, "xy")]
    assert found.filled_distinct == min([found.distinct, *(len(one) for one in values if one)])
    assert (found.enhanced_beta is not None) == expected["enhanced"]
    assert found.recursive_c == (None if expected["recursive"] is None else pytest.approx(expected["recursive"]))


@given(st.lists(st.tuples(st.integers(0, 4), VALUES, WORDS), min_size=1, max_size=16))
def test_the_class_of_a_person_is_the_whole_history(rows):
    import pyarrow as pa

    plain = [{"who": who, "x": x, "y": y} for who, x, y in rows]
    table = pa.table(
        {
            "who": [r["who"] for r in plain],
            "x": pa.array([r["x"] for r in plain], pa.int64()),
            "y": pa.array([r["y"] for r in plain], pa.string()),
        }
    )
    expected = [len(people) for people in reference.history_classes(plain, "xy", "who")]
    found = ClassSizes.from_table(table, quasi_identifiers=["x", "y"], person="who")
    assert found == ClassSizes.from_counts({size: expected.count(size) for size in set(expected)}, records=len(rows))


def test_the_published_table_of_histories():
    """Leak-attack paper, Table 3: ten people in classes of three, three and four."""
    people = [2887, 2887, 3679, 3679, 1208, 1208, 2257, 9006, 8773, 4653, 7363, 5392, 6453]
    stays = ["0-5", "6-15"] * 3 + ["20-25"] * 3 + ["0-5"] * 4
    place = ["OX12"] * 6 + ["OX14"] * 3 + ["OX13"] * 4
    found = measure({"who": people, "stay": stays, "place": place}, quasi_identifiers=["stay", "place"], person="who")
    assert found.sizes.histogram() == {3: 2, 4: 1}
    assert (found.people, found.records) == (10, 13)


def test_a_history_of_other_length_is_another_class():
    table = {"who": [1, 1, 2, 3], "x": [5, 5, 5, 5]}
    assert measure(table, quasi_identifiers=["x"], person="who").sizes.histogram() == {1: 1, 2: 1}


def test_the_secrets_of_a_history_are_those_of_records_that_look_alike():
    table = {"who": ["a", "a", "b", "b"], "age": [30, 60, 30, 60], "ill": ["flu", "hiv", "flu", "hiv"]}
    found = measure(table, quasi_identifiers=["age"], sensitive=["ill"], person="who")
    assert found.k == 2
    assert (found.sensitive[0].distinct, found.sensitive[0].given_away) == (1, 1.0)


def test_a_record_without_a_person_is_refused():
    with pytest.raises(InputError, match="person column"):
        measure({"who": [1, None], "x": [5, 5]}, quasi_identifiers=["x"], person="who")


def test_what_is_known_is_a_secret_to_who_knows_only_the_rest():
    table = {"x": [1, 1, 2, 2], "y": [5, 6, 7, 7], "z": [0, 0, 0, 1]}
    found = measure(table, quasi_identifiers=["x", "y"], sensitive=["z", "y"])
    by_x = measure(table, quasi_identifiers=["x"], sensitive=["y"])
    assert (found.k, [one.column for one in found.sensitive]) == (1, ["z", "y"])
    assert found.sensitive[1] == by_x.sensitive[0]
    assert found.sensitive[0] == measure(table, quasi_identifiers=["x", "y"], sensitive=["z"]).sensitive[0]
    (alone,) = measure(table, quasi_identifiers=["y"], sensitive=["y"]).sensitive
    assert (alone.distinct, alone.t) == (3, 0)  # nothing else is known: everybody is one class


def test_results_are_plain_json():
    import json

    found = measure({"x": [1, 1, 2], "s": ["a", "b", None]}, quasi_identifiers=["x"], sensitive=["s"])
    assert json.loads(json.dumps(found.to_dict()))["sensitive"][0]["distinct"] == 1


def test_one_row_is_unique():
    found = measure({"x": [1], "s": [3]}, quasi_identifiers=["x"], sensitive=["s"])
    assert (found.k, found.uniqueness, found.sensitive[0].t) == (1, 1.0, 0.0)


def test_more_columns_than_64_bits_hold_are_still_told_apart():
    import numpy as np

    generator = np.random.default_rng(5)
    table = {f"c{number}": generator.integers(0, 1_000, 2_000) for number in range(12)}
    table["c0"][:10] = table["c0"][10:20]
    for name in table:
        table[name][:10] = table[name][10:20]
    assert measure(table, quasi_identifiers=list(table)).sizes.histogram() == {1: 1980, 2: 10}


def test_a_measurement_is_a_frame_with_a_row_for_each_sensitive_column():
    table = {"x": [1, 1, 2], "s": ["a", "b", None], "t": [5, 5, 6]}
    frame = measure(table, quasi_identifiers=["x"], sensitive=["s", "t"]).to_frame()
    assert frame[["column", "k", "distinct", "homogeneous"]].values.tolist() == [["s", 1, 1, 1], ["t", 1, 1, 3]]
    assert measure(table, quasi_identifiers=["x"]).to_frame()[["people", "uniques"]].values.tolist() == [[3, 1]]
