"""What cannot be protected is refused in words, and never with a cell's value."""

import numpy as np
import pytest

from incrowd import (
    Hierarchy,
    InputError,
    UnsupportedError,
    assess,
    check,
    demo_table,
    evaluate,
    forecast,
    population_risk,
    protect,
)
from incrowd.assessment.settings_file import from_toml
from incrowd.attacks import split_table, synthesise
from incrowd.protection.regeneration import regenerate
from incrowd.protection.release import write_kept_rows

AGES = {"age": [1, 2, 3, 4], "pay": [10, 20, 30, 40], "none": [None] * 4, "town": ["a", "b", "b", "c"]}


@pytest.mark.parametrize("step", ["ts:*", "ts", ("ts",), ("ts", "*", 1), ("ts", 5), 7])
def test_a_step_of_masking_that_is_no_pair_is_refused(step):
    table = {"ts": [1, 2, 3, 4] * 3}
    with pytest.raises(InputError, match="a pair of a column and what to do"):
        protect(table, method="mask", steps=[step], quasi_identifiers=["ts"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": 5}, "4 rows"),
        ({"k": 1}, "2 or more"),
        ({"k": 2.5}, "whole number"),
        ({"k": True}, "whole number"),
        ({"t": 0.0, "sensitive": ["pay"], "k": 2}, "above 0"),
        ({"t": 1.5, "sensitive": ["pay"], "k": 2}, "at most 1"),
        ({"t": float("nan"), "sensitive": ["pay"], "k": 2}, "above 0"),
        ({"t": "close", "sensitive": ["pay"], "k": 2}, "'bound'"),
        ({"t": 0.1, "k": 2}, "sensitive column"),
        ({"l": 2, "k": 2}, "sensitive column"),
        ({"l": 0.5, "sensitive": ["pay"], "k": 2}, "1 or more"),
        ({"l": 1.5, "sensitive": ["pay"], "k": 2}, "whole number"),
        ({"k": 2, "sensitive": ["age"], "diverse": ["age"]}, "that nobody outside knows"),
        ({"k": 2, "sensitive": ["age"], "l": 2}, "sensitive column"),
        ({"k": 2, "sensitive": "pay"}, "not one text"),
        ({"k": 2, "sensitive": 3}, "list of column names"),
        ({"k": 2, "sensitive": [["pay"]]}, "list of column names"),
        ({"k": 2, "sensitive": ["wage"]}, "no column named"),
        ({"k": 2, "method": ["mask"]}, "no method"),
        ({"k": 2, "person": "age"}, "among the quasi-identifiers"),
        ({"k": 2, "method": "magic"}, "no method"),
        ({"k": 2, "aim": "luck"}, "no aim"),
        ({"k": 2, "resolution": 4}, "does not take"),
        ({"k": 2, "method": "coarsen"}, "needs a resolution"),
        ({"k": 2, "method": "coarsen", "resolution": "x"}, "resolution"),
        ({"k": 2, "method": "coarsen", "resolution": -3}, "resolution"),
        ({"k": 2, "method": "coarsen", "resolution": {"wage": 3}}, "'wage'"),
        ({"k": 2, "method": "coarsen", "levels": {"age": 1}}, "no hierarchy"),
        ({"k": 2, "method": "coarsen", "resolution": 10**18}, "give 1 to 1,000,000"),
        ({"k": 2, "method": "mask", "steps": [("age", f"ranges={10**18}")]}, "give 1 to 1,000,000"),
        (
            {"k": 2, "hierarchies": {"age": "quantiles:1e18"}},
            "quantiles of 1,000,000,000,000,000,000 groups; give 1 to",
        ),
        ({"k": 2, "method": "mask"}, "needs steps, such as ranges of ages, or limits of top or bottom coding"),
        (
            {"k": 2, "method": "mask", "steps": [("pay", "*")]},
            "steps for 'pay', not a quasi-identifier; these are: age",
        ),
        ({"k": 2, "hierarchies": {"age": "2,3"}}, "have different labels at level 2.*widths that divide each other"),
        ({"k": 2, "importance": {"wage": 1}}, "an importance for 'wage', not a quasi-identifier; these are: age"),
        ({"k": 2, "method": "mask", "steps": [("age", "burn")]}, "use '*'"),
        ({"k": 2, "method": "mask", "steps": [("wage", "*")]}, "'wage'"),
        ({"k": 2, "method": "generalise", "suppress": 1.0}, "give 0 or more, below 1"),
        ({"k": 2, "hierarchies": {"pay": Hierarchy.automatic()}}, "not a quasi-identifier"),
        ({"k": 2, "hierarchies": {"age": Hierarchy.from_rows([("1", "x"), ("2", "x")])}}, "misses 2 of the 4"),
    ],
)
def test_nonsense_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        protect(AGES, quasi_identifiers=["age"], **options)


def test_columns_that_do_not_work():
    with pytest.raises(InputError, match="no column named 'wage'"):
        protect(AGES, quasi_identifiers=["wage"], k=2)
    with pytest.raises(InputError, match="no row has a value in 'none'"):
        protect(AGES, quasi_identifiers=["age", "none"], k=2)
    with pytest.raises(InputError, match="no rows"):
        protect({"age": []}, quasi_identifiers=["age"], k=2)
    with pytest.raises(InputError, match="infinite"):
        protect({"age": [1.0, float("inf")]}, quasi_identifiers=["age"], k=2)
    with pytest.raises(InputError, match="lists"):
        protect({"age": [[1], [2]]}, quasi_identifiers=["age"], k=2)


def test_mixed_types_are_read_as_text():
    safe = protect({"age": [1, "two", None, 4.5]}, quasi_identifiers=["age"], k=2)
    assert safe.table["age"].to_pylist() == ["{1,two}", "{1,two}", "{4.5,}", "{4.5,}"]
    assert safe.evaluate().uniques == 0


def test_a_demand_the_data_cannot_meet():
    same = {"age": [1, 2, 3, 4], "illness": ["flu"] * 4}
    with pytest.raises(UnsupportedError, match="even all together"):
        protect(same, quasi_identifiers=["age"], k=2, l=2, sensitive=["illness"])
    with pytest.raises(UnsupportedError, match="every row"):
        protect({"a": [1, 2], "b": [1, 2]}, quasi_identifiers=["a"], k=2, method="mask", steps=[("a", "keep=3")])


def test_what_works_on_one_sensitive_column_refuses_several_in_words():
    several = {"quasi_identifiers": ["age"], "sensitive": ["pay", "town"]}
    for options in ({"method": "tcloseness"}, {"t": "bound"}):
        with pytest.raises(UnsupportedError, match="2 are given; use the partition with a number for t") as error:
            protect(AGES, k=2, **several, **options)
        assert error.value.hint == ("method=partition",)
    with pytest.raises(InputError, match="a secret, and 2 sensitive columns"):
        evaluate(AGES, AGES, **several, secret=3)
    assert protect(AGES, quasi_identifiers=["age"], k=2, sensitive=[]).sensitive == ()
    both = protect(AGES, quasi_identifiers=["age"], k=2, sensitive=["pay", "age"])
    assert (both.sensitive, both.quasi_identifiers) == (("pay",), ("age",))
    with pytest.raises(InputError, match="'town' cannot be the sensitive column and the person"):
        protect(AGES, quasi_identifiers=["age"], k=2, sensitive=["pay", "town"], person="town")


def test_l_that_one_of_several_columns_misses_names_it():
    table = {"age": [1, 2, 3, 4], "pay": [10, 20, 30, 40], "town": ["a"] * 4}
    with pytest.raises(UnsupportedError, match="has 1 in town"):
        protect(table, quasi_identifiers=["age"], k=2, l=2, sensitive=["pay", "town"], method="sorted")


def test_messages_hold_no_cell():
    secret = {"town": ["Nowhereville", "b", "c"]}
    with pytest.raises(InputError) as error:
        protect(
            secret, quasi_identifiers=["town"], k=2, hierarchies={"town": Hierarchy.from_rows([("b", "x"), ("c", "x")])}
        )
    assert "Nowhereville" not in str(error.value)


def test_people_who_are_too_few():
    with pytest.raises(InputError, match="2 people"):
        protect({"who": ["a", "a", "b"], "age": [1, 2, 3]}, quasi_identifiers=["age"], k=3, person="who")
    with pytest.raises(UnsupportedError, match="works on records"):
        protect(
            {"who": ["a", "a", "b"], "age": [1, 2, 3]}, quasi_identifiers=["age"], k=2, person="who", method="sorted"
        )


def test_a_keyword_that_does_not_exist_is_refused_though_it_is_none():
    with pytest.raises(TypeError, match="resolutions"):
        protect({"age": [1, 2]}, quasi_identifiers=["age"], k=2, resolutions=None)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1"])
def test_a_seed_that_nothing_is_drawn_by_is_refused_by_every_verb(seed):
    table = {"age": [30, 31, 32, 33], "sex": ["f", "m", "f", "m"]}
    asked = {"quasi_identifiers": ["age"]}
    for call in (
        lambda: protect(table, **asked, k=2, method="perturb", steps=[("age", "noise=0.1")], seed=seed),
        lambda: assess(table, **asked, population=100, seed=seed, protection=False),
        lambda: forecast(table, [100], **asked, seed=seed),
        lambda: population_risk(table, **asked, population=100, seed=seed),
        lambda: synthesise(table, seed=seed),
        lambda: split_table(table, holdout=0.5, seed=seed),
        lambda: regenerate(table, {"sex": {"f": 1}}, seed=seed),
        lambda: demo_table(3, seed=seed),
    ):
        with pytest.raises(InputError, match="a seed is a whole number"):
            call()


def test_changes_that_no_type_holds_are_refused():
    table = {"age": [1, 50, 99], "code": [0, 1, 4 * 10**18]}
    with pytest.raises(InputError, match="at most 1,000"):
        protect(table, quasi_identifiers=["age"], k=2, method="perturb", steps=[("age", "noise=1e308")])
    with pytest.raises(InputError, match="its type cannot hold"):
        protect(table, quasi_identifiers=["code"], k=2, method="perturb", steps=[("code", "noise=1000")], seed=0)


def test_the_rows_that_undo_a_shuffle_are_for_their_owner_only(tmp_path):
    safe = protect({"age": [1, 2, 3, 4]}, quasi_identifiers=["age"], k=2)
    assert write_kept_rows(safe, tmp_path / "rows.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("rows", [10**12, 2**62])
def test_more_synthetic_rows_than_memory_holds_are_refused(rows):
    with pytest.raises(UnsupportedError, match="more than the memory limit"):
        synthesise({"age": [30, 31, 32]}, rows=rows)


def test_numbers_too_long_to_read_are_refused_in_words():
    with pytest.raises(InputError, match="a step"):
        protect(AGES, quasi_identifiers=["age"], k=2, method="mask", steps=[("age", "ranges=" + "9" * 5000)])
    for text in (f"[rules]\nmin_k = {'9' * 5000}\n", f"x = {'[' * 100_000}"):
        with pytest.raises(InputError, match="not valid TOML"):
            from_toml(text)


def test_a_limit_beyond_all_floats_is_told():
    assert "10,000" in check({"age": [1, 1]}, quasi_identifiers=["age"], min_k=10**400).rules[0].sentence


def test_ranges_of_many_texts_are_not_written_out():
    """A set of thousands of texts in every cell took more memory than there is."""
    towns = [f"a town with a long name, number {number:05d}" for number in range(50_000)]
    safe = protect({"town": towns}, quasi_identifiers=["town"], k=2, method="mask", steps=[("town", "ranges=5")])
    assert set(safe.table["town"].to_pylist()) == {"*"}
    small = protect({"town": towns}, quasi_identifiers=["town"], k=2, method="mask", steps=[("town", "ranges=100")])
    assert len(set(small.table["town"].to_pylist())) == 100
    assert small.table["town"].nbytes < 100e6


def test_a_whole_number_of_numpy_is_one():
    people = {"age": [30, 31, 62, 64], "sex": ["f", "f", "m", "f"]}
    assert protect(people, quasi_identifiers=["age", "sex"], k=np.int64(2)).guarantee.k == 2
