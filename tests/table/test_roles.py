"""Suggested roles, each with a reason."""

import numpy as np
import pytest

from incrowd import demo_table, read_table, suggest_roles


def roles(table):
    return {column.column: column.role for column in suggest_roles(read_table(table))}


def test_the_demo_table():
    found = roles(demo_table(5_000))
    assert found.pop("charge") == "sensitive"
    assert found.pop("diag_p") == "sensitive"
    assert set(found.values()) == {"quasi-identifier"}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("email", ["a", "b", "c"], "identifier"),
        ("patient_id", [1, 1, 2], "person"),
        ("patient_id", list(range(100)), "identifier"),
        ("sampling_weight", [1.5, 2.5, 1.0], "weight"),
        ("dateOfBirth", ["1990-01-01", "1990-01-01", "1990-01-02"], "quasi-identifier"),
        ("Diagnosis", ["a", "a", "b"], "sensitive"),
        ("constant", [1, 1, 1], "other"),
        ("empty", [None, None, None], "other"),
        ("comment", ["x" * 60, "y" * 60, "y" * 60], "identifier"),
        ("record", [f"r{number}" for number in range(50)], "identifier"),
        ("q17", [1, 2, 1], "other"),
        ("lists", [[1], [2], [3]], "other"),
    ],
)
def test_a_column_by_name_and_values(name, values, role):
    (found,) = suggest_roles(read_table({name: values}))
    assert found.role == role
    assert found.reason


def test_generalised_columns_are_seen():
    (found,) = suggest_roles(read_table({"age": ["[20;30]", "[20;30]", "41"]}))
    assert found.generalised


def test_amounts_that_all_differ_are_no_identifiers_and_numbers_given_out_are():
    generator = np.random.default_rng(0)
    table = {
        "expend": generator.permutation(np.unique((10 ** generator.uniform(2, 7, 400)).astype(int)))[:200],
        "counter": np.arange(200),
        "badge": generator.choice(np.arange(10_000_000, 99_999_999), 200, replace=False),
    }
    assert roles(table) == {"expend": "other", "counter": "identifier", "badge": "identifier"}
