"""Hierarchies and wishes in `partition` and `generalise`: what was wished for holds on the output, by a plain check."""

import math
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.plain import examples

from incrowd import Hierarchy, InputError, UnsupportedError, protect

PARENTS = {
    "Ham": ("north", "*"),
    "York": ("north", "*"),
    "Oslo": ("far", "*"),
    "Bern": ("far", "*"),
    "Rome": ("south", "*"),
}
TOWNS = Hierarchy.from_rows([(town, *labels) for town, labels in PARENTS.items()])
QIS = ["age", "town", "race"]
ROW = st.tuples(
    st.one_of(st.none(), st.integers(18, 60)), st.sampled_from(sorted(PARENTS)), st.integers(1, 9), st.integers(0, 4)
)


def table_of(rows):
    age, town, race, secret = zip(*rows, strict=True)
    return pa.table({"age": pa.array(age, pa.int64()), "town": town, "race": race, "secret": secret})


def has_ages(rows):
    return any(row[0] is not None for row in rows)


TABLES = st.lists(ROW, min_size=12, max_size=60).filter(has_ages).map(table_of)
KINDS = st.sampled_from(["distinct", "entropy", "recursive"])


def released(table, **options):
    """The protected rows beside the original ones; None where rows cannot be protected as wished."""
    try:
        safe = protect(table, quasi_identifiers=QIS, identifiers=[], warn=False, **options)
    except UnsupportedError:
        return None
    before, after = table.to_pylist(), safe.table.to_pylist()
    kept = range(len(before)) if safe.kept_rows is None else safe.kept_rows.tolist()
    assert len(after) == len(kept)
    sizes = Counter(tuple(row[name] for name in QIS) for row in after)
    assert min(sizes.values()) >= options["k"]
    return list(zip((before[row] for row in kept), after, strict=True))


def covers_range(label, value):
    if label == "*" or label == value:
        return True
    if value is None or label is None:
        return False
    low, high = label.strip("[]").split(";") if label.startswith("[") else (label, label)
    return int(low) <= value <= int(high)


def covers_town(label, value):
    return label in (value, *PARENTS[value])


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.integers(2, 5))
def test_along_a_hierarchy_every_cell_is_an_ancestor_of_its_value(table, k):
    pairs = released(table, k=k, hierarchies={"town": TOWNS})
    assert len(pairs) == table.num_rows
    assert all(covers_town(after["town"], before["town"]) for before, after in pairs)
    assert all(covers_range(after["age"], before["age"]) for before, after in pairs)


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.integers(2, 4), st.integers(2, 3), KINDS, st.booleans())
def test_l_holds_along_hierarchies_or_is_refused(table, k, l, kind, whole_file):  # noqa: E741
    options = {"method": "generalise", "suppress": 0.2} if whole_file else {}
    options |= {"hierarchies": {"town": TOWNS}, "l": l, "diversity": kind, "c": 2.0, "sensitive": ["secret"]}
    pairs = released(table, k=k, **options)
    if pairs is None:
        assert whole_file or not is_diverse(table["secret"].to_pylist(), l, kind)
        return
    groups = {}
    for _, after in pairs:
        groups.setdefault(tuple(after[name] for name in QIS), []).append(after["secret"])
    assert all(is_diverse(group, l, kind) for group in groups.values())


def is_diverse(secrets, l, kind):  # noqa: E741
    counts = sorted(Counter(secrets).values(), reverse=True)
    if kind == "distinct":
        return len(counts) >= l
    if kind == "entropy":
        shares = [count / len(secrets) for count in counts]
        return -sum(share * math.log(share) for share in shares) >= math.log(l) - 1e-9
    return len(counts) >= l and counts[0] < 2.0 * sum(counts[l - 1 :])


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.integers(2, 3), st.sampled_from(["partition", "generalise"]), st.sampled_from([None, 2]))
def test_columns_that_stay_are_not_touched(table, k, method, l):  # noqa: E741
    options = {"l": l, "sensitive": ["secret"]} if l else {}
    pairs = released(table, k=k, method=method, keep=["town"], suppress=0.9, **options)
    if pairs is not None:
        assert all(before["town"] == after["town"] for before, after in pairs)
        assert len(pairs) >= 0.1 * table.num_rows
    elif l is None:  # some town must have fewer than k people, or all of them
        assert min(Counter(table["town"].to_pylist()).values()) < k


@settings(max_examples=examples(60), deadline=None)
@given(TABLES, st.integers(2, 3), st.sampled_from([0, 3, 7, 10]), st.sampled_from([1, 2, 3]))
def test_no_range_and_no_set_is_wider_than_allowed(table, k, width, most):
    pairs = released(table, k=k, widest={"age": width, "town": most}, suppress=0.95)
    for before, after in pairs or ():
        age, town = after["age"], after["town"]
        assert covers_range(age, before["age"])
        assert age != "*"
        if isinstance(age, str) and age.startswith("["):
            low, high = age[1:-1].split(";")
            assert int(high) - int(low) <= width
        members = town[1:-1].split(",") if town.startswith("{") else [town]
        assert before["town"] in members
        assert len(members) <= most


@settings(max_examples=examples(40), deadline=None)
@given(TABLES, st.integers(2, 4), st.sampled_from(["partition", "generalise", "sorted"]))
def test_codes_of_categories_are_sets_and_never_ranges(table, k, method):
    options = {"suppress": 0.2} if method == "generalise" else {}
    pairs = released(table, k=k, method=method, nominal=["race"], **options)
    for before, after in pairs:
        label = str(after["race"])
        assert not label.startswith("[")
        assert label == "*" or str(before["race"]) in label.strip("{}").split(",")


def test_importance_decides_which_column_keeps_its_detail():
    table = {"a": [i % 8 for i in range(64)], "b": [i // 8 for i in range(64)]}
    for method in ("partition", "generalise"):
        for kept, given_up in (("a", "b"), ("b", "a")):
            wish = {kept: 10, given_up: 0}
            safe = protect(table, quasi_identifiers=["a", "b"], k=4, identifiers=[], method=method, importance=wish)
            assert safe.changed_cells[kept] == 0
            assert safe.changed_cells[given_up] > 0


def test_what_cannot_be_kept_is_counted_and_refused():
    table = {"age": [1, 2, 3, 4, 5], "sex": ["f", "f", "f", "f", "m"]}
    with pytest.raises(
        UnsupportedError, match=r"1 of 5 records have no class within the wishes \(sex stays as it is\); ask for less"
    ):
        protect(table, quasi_identifiers=["age", "sex"], k=2, keep=["sex"])
    safe = protect(table, quasi_identifiers=["age", "sex"], k=2, keep=["sex"], suppress=0.2)
    assert safe.suppressed_rows == 1
    assert safe.table["sex"].to_pylist() == ["f"] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"importance": {"zip": 1}}, "an importance for 'zip', not a quasi-identifier"),
        ({"keep": ["zip"]}, "a wish to keep for 'zip'"),
        ({"nominal": ["zip"]}, "a nominal scale for 'zip'"),
        ({"keep": "age"}, "given as one text"),
        ({"importance": {"age": -1}}, "an importance of -1"),
        ({"widest": {"age": float("nan")}}, "a largest width of nan"),
        ({"widest": {"age": float("inf")}}, "a largest width of inf for 'age'; give a number of 0 or more"),
        ({"widest": {"age": "a"}}, "a largest width of 'a' for 'age'; give a number of 0 or more"),
        ({"widest": {"age": 10**400}}, "a largest width of 10"),
        ({"importance": {"age": "a"}}, "an importance of 'a' for 'age'; give a number of 0 or more"),
        ({"importance": {"age": 0, "sex": 0}}, "every quasi-identifier has importance 0"),
        ({"importance": {"age": 0}, "keep": ["age"]}, "'age' is to stay as it is, and has importance 0"),
        ({"widest": {"age": 3}, "keep": ["age"]}, "'age' is to stay as it is, and has a largest width"),
        ({"keep": ["age"], "method": "sorted"}, "'sorted' does not take keep; partition, generalise and blank do"),
        ({"keep": ["age"], "suppress": 1.5}, "share of 1.5"),
        ({"keep": ["age"], "t": "bound", "sensitive": ["ill"]}, "classes by strata heed no columns that stay"),
        ({"widest": {"age": 1}, "t": "bound", "sensitive": ["ill"]}, "no largest widths"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(options, message):
    table = {"age": [1, 2, 3, 4], "sex": ["f", "f", "m", "m"], "ill": [0, 1, 0, 1], "who": [1, 2, 3, 4]}
    with pytest.raises((InputError, UnsupportedError), match=message):
        protect(table, quasi_identifiers=["age", "sex"], k=2, **options)


def test_adult_along_hierarchies_keeps_94_percent(shared_data):
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    adult = pq.read_table(shared_data / "adult.parquet")
    adult = adult.filter(pc.equal(adult["split"], "train")).drop_null()
    names = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation"]
    files = {name: shared_data / "adult_hierarchies" / f"{name.replace('_', '-')}.csv" for name in names}
    files["income"] = shared_data / "adult_hierarchies" / "salary-class.csv"
    safe = protect(adult, quasi_identifiers=list(files), k=5, hierarchies=files, warn=False)
    assert safe.evaluate().granularity >= 0.94
    blanked = sum(safe.table[name].to_pylist().count("*") for name in files)
    assert blanked < 0.02 * adult.num_rows * len(files)
