"""Columns that follow from a known one share its role: squares, logarithms, groups, categories as yes or no."""

import numpy as np
import pytest

from incrowd import read_table, suggest_roles

ROWS = 2_000


def roles(**columns):
    return {one.column: (one.role, one.topic) for one in suggest_roles(read_table(columns))}


AGE = np.random.default_rng(1).integers(18, 90, ROWS)
INCOME = np.random.default_rng(2).lognormal(10, 0.6, ROWS).round(2)


@pytest.mark.parametrize("computed", [AGE**2, np.log(AGE), -AGE, AGE // 10, (AGE > 64).astype(int), AGE % 7])
def test_what_follows_from_an_age_is_known_with_it(computed):
    assert roles(age=AGE, zz=computed)["zz"] == ("quasi-identifier", "age")


@pytest.mark.parametrize("computed", [INCOME**2, np.log(INCOME)])
def test_what_rises_with_an_income_is_as_secret_and_no_weight(computed):
    assert roles(income=INCOME, zz=computed)["zz"] == ("sensitive", "income")


def test_the_logarithm_of_zero_may_be_missing():
    hours = np.random.default_rng(3).integers(0, 60, ROWS)
    logs = [float(np.log(one)) if one else None for one in hours]
    assert roles(hours=hours, zz=logs)["zz"][0] == "quasi-identifier"


def test_nothing_follows_by_chance():
    draw = np.random.default_rng(4)
    rare = (AGE[0] == AGE) & (np.arange(ROWS) == 0)
    unrelated = {"answer": draw.integers(0, 3, ROWS), "rare": rare.astype(int), "yes": draw.integers(0, 2, ROWS)}
    found = roles(age=AGE, income=INCOME, **unrelated)
    assert {found[name] for name in unrelated} == {("other", "")}
    nearly = np.where(np.arange(ROWS) == 7, 1 - (AGE > 64), AGE > 64).astype(int)
    assert roles(age=AGE, nearly=nearly)["nearly"][0] == "other"


def test_of_an_income_that_hardly_anybody_shares_no_group_follows():
    assert roles(income=INCOME, zz=np.random.default_rng(5).integers(0, 2, ROWS))["zz"][0] == "other"


def test_yes_or_no_columns_that_are_never_yes_together_are_categories_of_one_question():
    part = np.random.default_rng(6).integers(0, 4, ROWS)
    dummies = {"south": part == 0, "zz": part == 1, "yy": part == 2}
    dummies = {name: values.astype(int) for name, values in dummies.items()}
    assert {role for role, _ in roles(**dummies).values()} == {"quasi-identifier"}
    dummies["zz"][0] = dummies["yy"][0] = 1
    assert roles(**dummies)["zz"][0] == "other"
