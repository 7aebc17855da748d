"""Nothing in a released table tells a value that only suppressed rows have."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.protection.plain import examples

from incrowd import Hierarchy, UnsupportedError, protect
from incrowd.protection import build
from incrowd.protection.outputs import parse_range
from incrowd.tables import parse_generalised
from incrowd.tables.generalised import Anything, Choice, Interval

SECRET_TOWN, SECRET_PAY = "Secretville", 987654


def protect_plainly(table, **options):
    return protect(table, quasi_identifiers=list(table), identifiers=[], warn=False, **options)


def one_alone():
    """A table whose last person is alone by sex, and has a town and a pay of their own."""
    towns = ["Ash"] * 30 + ["Bow"] * 3 + ["Cam"] * 3 + ["Dor"] * 30 + [SECRET_TOWN]
    pay = [1000 + index % 33 for index in range(66)] + [SECRET_PAY]
    return {"town": towns, "sex": ["f"] * 66 + ["x"], "pay": pay}


@pytest.mark.parametrize("output", [None, "range", "bounds", "midpoint"])
@pytest.mark.parametrize("method", ["generalise", "partition"])
@pytest.mark.parametrize(
    "town",
    ["auto", Hierarchy.from_rows([(town, "all") for town in ("Ash", "Bow", "Cam", "Dor", SECRET_TOWN)])],
    ids=["auto", "given"],
)
def test_what_only_a_suppressed_person_has_is_not_released(method, town, output):
    hierarchies = {"town": town, "pay": "quantiles:2"}
    made = protect_plainly(
        one_alone(), k=5, method=method, keep=["sex"], suppress=0.3, hierarchies=hierarchies, output=output
    )
    cells = [cell for name in made.table.column_names for cell in made.table[name].to_pylist()]
    assert 66 not in made.kept_rows
    assert not [cell for cell in cells if SECRET_TOWN in str(cell) or str(SECRET_PAY) in str(cell)]
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    assert not numbers or max(numbers) <= 1032
    assert (
        min(Counter(zip(*(made.table[name].to_pylist() for name in made.table.column_names), strict=True)).values())
        >= 5
    )


@pytest.mark.parametrize(
    "options",
    [
        {"steps": [("pay", "ranges=4")]},
        {"steps": [("town", "ranges=2")], "top": {"pay": 1020}, "bottom": {"pay": 1019}},
    ],
)
def test_masking_tells_no_value_of_a_dropped_record(options):
    made = protect_plainly(one_alone(), k=3, method="mask", **options)
    assert made.suppressed_rows
    ends = {end for cell in made.table["pay"].to_pylist() for end in parse_range(str(cell))}
    assert max(ends - {None}) <= 1032
    if "top" in options:
        assert ends == {None, 1019, 1020}
    assert SECRET_TOWN not in str(made.table.to_pydict())


rows = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.integers(0, 30), st.sampled_from("xyz")), min_size=8, max_size=30
)


@settings(max_examples=examples(40), deadline=None)
@given(rows, st.integers(2, 4), st.sampled_from(["generalise", "partition", "mask", "limits"]))
def test_every_member_and_end_is_a_value_of_a_kept_row(people, k, method):
    table = {name: [row[at] for row in people] for at, name in enumerate(("town", "pay", "sex"))}
    wishes = {"keep": ["sex"], "suppress": 0.9, "hierarchies": {"town": "auto", "pay": "quantiles:4"}}
    options = {
        "generalise": {"method": "generalise", **wishes},
        "partition": {"method": "partition", **wishes},
        "mask": {"method": "mask", "steps": [("town", "ranges=2"), ("pay", "ranges=3")]},
        "limits": {"method": "mask", "steps": [("town", "*")], "top": {"pay": 20}, "bottom": {"pay": 10}},
    }[method]
    try:
        made = protect_plainly(table, k=k, **options)
    except UnsupportedError as error:
        if "suppressed rows have" in str(error):
            raise
        assume(False)
    kept = range(len(people)) if made.kept_rows is None else made.kept_rows.tolist()
    own = {name: {str(table[name][row]) for row in kept} for name in table}
    lost = {name: {str(cell) for cell in table[name]} - own[name] for name in table}
    limits = {"-inf", "10", "20", "inf"} if method == "limits" else set()
    for name in table:
        for row, cell in zip(kept, made.table[name].to_pylist(), strict=True):
            meaning = parse_generalised(str(cell))
            if isinstance(meaning, Choice):
                assert meaning.values <= own[name]
                assert table[name][row] in meaning.values
            elif isinstance(meaning, Interval):
                ends = {f"{meaning.low:.0f}", f"{meaning.high:.0f}"}
                assert not lost[name] or ends <= (
                    limits or own[name] | {"-inf", "inf"}
                )  # equal parts end between values
                assert meaning.low <= table[name][row] <= meaning.high
            elif not isinstance(meaning, Anything):
                assert str(cell) == str(table[name][row])
    cells = zip(*(made.table[name].to_pylist() for name in table), strict=True)
    assert min(Counter(cells).values()) >= k


def test_a_method_that_tells_a_suppressed_value_is_refused(monkeypatch):
    """The check does not trust the methods."""
    entry = build.PROTECTION_METHODS["partition"]

    def tell(problem):
        recoding = entry.run(problem)
        labels = [cell.replace("Bow", SECRET_TOWN) for cell in recoding.columns["town"].to_pylist()]
        return replace(recoding, columns=recoding.columns | {"town": build.pa.array(labels)})

    monkeypatch.setitem(build.PROTECTION_METHODS, "partition", replace(entry, run=tell))
    with pytest.raises(UnsupportedError, match="'town' that only suppressed rows have"):
        protect_plainly(one_alone(), k=5, method="partition", keep=["sex"], suppress=0.3)


def test_a_users_labels_stay_as_they_are():
    towns = Hierarchy.from_rows([(town, "{Bow,Cam,Secretville}") for town in ("Ash", "Bow", "Cam", "Dor", SECRET_TOWN)])
    table = {name: cells for name, cells in one_alone().items() if name != "pay"}
    made = protect_plainly(table, k=7, method="generalise", keep=["sex"], suppress=0.02, hierarchies={"town": towns})
    assert set(made.table["town"].to_pylist()) == {"{Bow,Cam,Secretville}"}


@pytest.mark.parametrize("method", ["generalise", "partition"])
def test_labels_of_kept_values_are_evaluated(method):
    hierarchies = {"town": "auto", "pay": "quantiles:2"}
    made = protect_plainly(one_alone(), k=5, method=method, keep=["sex"], suppress=0.3, hierarchies=hierarchies)
    found = made.evaluate()
    assert found.k >= 5
    assert found.contradicting == 0
