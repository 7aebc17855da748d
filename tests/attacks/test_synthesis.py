"""The generator: margins and dependence of what is drawn, and how much of it is copied."""

import numpy as np
import pytest

from incrowd import InputError
from incrowd.attacks import synthesise
from incrowd.attacks.copula_sampling import draw_from_copula

ROWS = 20_000


def cut(normal, parts):
    return np.searchsorted(np.quantile(normal, np.arange(1, parts) / parts), normal)


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.5])
@pytest.mark.parametrize("parts", [(2, 2), (3, 40), (50, 50)])
def test_a_copula_has_the_correlation_that_the_data_were_cut_from(rho, parts):
    draws = np.random.default_rng(1)
    first = draws.standard_normal(ROWS)
    second = rho * first + np.sqrt(1 - rho * rho) * draws.standard_normal(ROWS)
    columns = [cut(first, parts[0]), cut(second, parts[1])]
    drawn = draw_from_copula(columns, [True, True], ROWS, draws)
    for given, made in zip(columns, drawn, strict=True):
        assert np.abs(np.bincount(given) - np.bincount(made)).max() < 5 * np.sqrt(ROWS / given.max())
    told, made = (np.corrcoef(*pair)[0, 1] for pair in (columns, drawn))
    assert made == pytest.approx(told, abs=0.06)


def test_values_of_text_are_ordered_by_what_they_go_with():
    draws = np.random.default_rng(2)
    age = draws.integers(0, 40, ROWS)
    third = np.array([1, 2, 0])[age // 14]  # the order of the codes is not that of the ages
    ages, thirds = draw_from_copula([age, third], [True, False], ROWS, draws)
    given, made = ([young[kind == part].mean() for part in range(3)] for young, kind in ((age, third), (ages, thirds)))
    assert np.argsort(made).tolist() == np.argsort(given).tolist() == [1, 2, 0]
    assert max(abs(one - other) for one, other in zip(given, made, strict=True)) < 4
    assert np.std(made) > 0.7 * np.std(given)


def test_every_model_keeps_margins_and_only_some_keep_pairs():
    draws = np.random.default_rng(3)
    age = draws.integers(20, 70, 4000)
    ill = np.where(age + draws.integers(-10, 11, age.size) > 45, "yes", "no")
    table = {"age": age, "ill": ill, "one": ["x"] * age.size, "pay": draws.lognormal(3, 0.4, age.size).round(2)}
    gaps = {}
    for model in ("crowd", "copula", "independent"):
        made = synthesise(table, model=model, seed=4).table.to_pydict()
        ages, sick = np.array(made["age"]), np.array(made["ill"]) == "yes"
        assert np.mean(sick) == pytest.approx(np.mean(ill == "yes"), abs=0.04)
        assert set(made["one"]) == {"x"}
        assert np.median(made["pay"]) == pytest.approx(np.median(table["pay"]), rel=0.05)
        gaps[model] = ages[sick].mean() - ages[~sick].mean()
    assert gaps["crowd"] > 18
    assert gaps["copula"] > 18
    assert abs(gaps["independent"]) < 2


def test_a_share_of_the_rows_is_copied_and_models_are_named():
    draws = np.random.default_rng(5)
    table = {"pay": draws.lognormal(3, 0.4, 2000).round(6), "zip": draws.integers(0, 9, 2000).astype(str)}
    for model in ("copula", "independent"):
        made = synthesise(table, model=model, copied=0.3, seed=6).table["pay"].to_pylist()
        assert np.isin(made, table["pay"]).mean() == pytest.approx(0.3, abs=0.05)
    with pytest.raises(InputError, match="crowd, copula, independent"):
        synthesise(table, model="other")
