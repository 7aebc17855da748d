"""Every output of every method satisfies its guarantee, as counted by a plain-Python check."""

from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import reference
from tests.protection.plain import TABLES, covers

from incrowd import Hierarchy, InputError, UnsupportedError
from incrowd import protect as protect_and_remove
from incrowd.backends import encode
from incrowd.protection.partition import partition_classes
from incrowd.protection.problem import Demand, Problem
from incrowd.tables import read_table

AGES = st.one_of(st.none(), st.integers(0, 12))
TOWNS = st.one_of(
    st.none(),
    st.sampled_from(["Ham", "Oslo, N", 'a "b"', "{x}", "York", " ", "*", "{Ham,York}", "Yor*", "", "=1", "[1;2]"]),
)
ROW = st.tuples(AGES, TOWNS, st.integers(0, 3), st.integers(0, 9))
QIS = ["age", "town", "sex"]
protect = partial(protect_and_remove, identifiers=[])  # row numbers look like identifiers


def table_of(rows):
    age, town, sex, secret = zip(*rows, strict=True)
    return pa.table(
        {
            "age": pa.array(age, pa.int64()),
            "town": pa.array(town, pa.string()),
            "sex": pa.array(sex, pa.int8()),
            "secret": pa.array(secret, pa.int64()),
            "note": list(range(len(rows))),
        }
    )


def usable(rows):
    return any(row[0] is not None for row in rows) and any(row[1] is not None for row in rows)


def tables(least):
    return st.lists(ROW, min_size=least, max_size=60).filter(usable).map(table_of)


def spellings(value):
    """A value as it is, or as a set of one where it would be read as something else."""
    return {value, "{" + value + "}", '{"' + value.replace('"', '""') + '"}'}


def class_sizes(table):
    return [len(members) for members in reference.classes_of(table.to_pylist(), QIS)]


def check(original, safe, k):
    """k, cover, order and everything else untouched."""
    before, after = original.to_pylist(), safe.table.to_pylist()
    kept = range(len(before)) if safe.kept_rows is None else safe.kept_rows.tolist()
    assert len(after) == len(kept)
    sizes = [len(members) for members in reference.classes_of(after, QIS)]
    assert min(sizes) >= k
    assert safe.guarantee.k == min(sizes)
    for place, row in zip(kept, after, strict=True):
        assert row["note"] == before[place]["note"]
        assert row["secret"] == before[place]["secret"]
        assert all(covers(row[name], before[place][name]) for name in QIS)
    return after


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 6), st.sampled_from(["information", "granularity"]))
def test_the_partition_gives_k(table, k, aim):
    check(table, protect(table, quasi_identifiers=QIS, k=k, aim=aim), k)


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 6), st.sampled_from(["information", "granularity"]))
def test_the_partition_makes_classes_of_k_to_2k(table, k, aim):
    problem = Problem(encode(read_table(table), QIS), table.num_rows, Demand(k), aim=aim)
    grouping = partition_classes(problem)
    assert sorted(grouping.order.tolist()) == list(range(table.num_rows))
    rows = table.to_pylist()
    start = 0
    for end in grouping.ends.tolist():
        members = grouping.order[start:end].tolist()
        alike = len({tuple(rows[i][name] for name in QIS) for i in members}) == 1
        assert len(members) >= k
        assert alike or len(members) < 2 * k
        start = end


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 6))
def test_records_that_k_share_already_need_not_change(table, k):
    safe = protect(table, quasi_identifiers=QIS, k=k, shuffle=False)
    before, after = table.to_pylist(), safe.table.to_pylist()
    groups = reference.classes_of(before, QIS)
    alike = [i for members in groups if len(members) >= k for i in members]
    small = len(before) - len(alike)
    if small == 0 or small >= k:  # fewer than k others have to join a class that was safe
        assert all(covers(after[i][name], before[i][name]) for i in alike for name in QIS)
        assert all(str(after[i][name]) in spellings(str(before[i][name])) for i in alike for name in QIS)


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 6))
def test_sorting_gives_k(table, k):
    check(table, protect(table, quasi_identifiers=QIS, k=k, method="sorted"), k)


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 4), st.sampled_from([0.1, 0.3, 0.6]))
def test_t_is_reached_whatever_ties_there_are(table, k, t):
    safe = protect(table, quasi_identifiers=QIS, k=k, t=t, sensitive=["secret"])
    after = check(table, safe, k)
    order = sorted({row["secret"] for row in after})
    expected = reference.diversity(after, QIS, "secret", order)
    assert float(expected["ordered"]) <= t + 1e-9


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 4))
def test_s4_makes_classes_of_k_by_its_own_bound(table, k):
    safe = protect(table, quasi_identifiers=QIS, k=k, t="bound", method="tcloseness", sensitive=["secret"])
    check(table, safe, k)
    assert safe.guarantee.bound == (table.num_rows - safe.settings["strata"]) / (
        2 * (table.num_rows - 1) * safe.settings["strata"]
    )


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 4), st.integers(2, 4), st.sampled_from(["distinct", "entropy", "recursive"]))
def test_l_diversity_holds_or_is_refused(table, k, l, kind):  # noqa: E741
    rows = table.to_pylist()
    try:
        safe = protect(table, quasi_identifiers=QIS, k=k, l=l, diversity=kind, c=2.0, sensitive=["secret"])
    except UnsupportedError:
        assert not all_together_diverse(rows, l, kind)
        return
    after = check(table, safe, k)
    for members in reference.classes_of(after, QIS):
        assert all_together_diverse([after[i] for i in members], l, kind)


def all_together_diverse(rows, l, kind):  # noqa: E741
    import math

    counts = sorted((sum(r["secret"] == v for r in rows) for v in {r["secret"] for r in rows}), reverse=True)
    if kind == "distinct":
        return len(counts) >= l
    if kind == "entropy":
        n = sum(counts)
        return -sum(c / n * math.log(c / n) for c in counts) >= math.log(l) - 1e-9
    return len(counts) >= l and counts[0] < 2.0 * sum(counts[l - 1 :])


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_full_domain_generalisation_gives_k_and_drops_no_more_than_allowed(table, k, limit):
    safe = protect(table, quasi_identifiers=QIS, k=k, method="generalise", suppress=limit)
    check(table, safe, k)
    assert safe.suppressed_rows <= limit * table.num_rows


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 4))
def test_masking_gives_k(table, k):
    steps = [("age", "ranges=4"), ("sex", "*"), ("town", "*"), ("age", "*")]
    safe = protect(table, quasi_identifiers=QIS, k=k, method="mask", steps=steps, drop=False)
    lone = table.num_rows - sum(size for size in class_sizes(safe.table) if size >= k)
    if lone == table.num_rows:
        with pytest.raises(UnsupportedError, match="every row"):
            protect(table, quasi_identifiers=QIS, k=k, method="mask", steps=steps)
        return
    safe = protect(table, quasi_identifiers=QIS, k=k, method="mask", steps=steps)
    assert safe.suppressed_rows == lone
    check(table, safe, k)


@settings(max_examples=TABLES)
@given(tables(12), st.integers(1, 6))
def test_coarsened_cells_cover_what_they_hide(table, parts):
    safe = protect(table, quasi_identifiers=QIS, method="coarsen", resolution=parts)
    check(table, safe, 1)
    assert safe.guarantee.asked_k is None


@settings(max_examples=TABLES)
@given(tables(12), st.integers(2, 5))
def test_a_hierarchy_labels_classes_by_what_their_members_share(table, k):
    towns = [value for value in table["town"].to_pylist() if value is not None]
    rows = [(town.strip(), "city" if town.strip() < "b" else "village") for town in set(towns)]
    if any(not town.strip() for town in towns):
        return
    hierarchy = Hierarchy.from_rows(rows)
    safe = protect(table, quasi_identifiers=QIS, k=k, hierarchies={"town": hierarchy}, shuffle=False)
    labels = dict(rows)
    after, before = safe.table.to_pylist(), table.to_pylist()
    assert min(len(members) for members in reference.classes_of(after, QIS)) >= k
    for was, now in zip(before, after, strict=True):
        plain = {None} if was["town"] is None else spellings(was["town"])
        assert now["town"] in plain | {labels.get(was["town"]), "*"}


@settings(max_examples=TABLES)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), TOWNS), min_size=10, max_size=50), st.integers(2, 3))
def test_histories_look_alike_person_by_person(rows, k):
    if len({row[0] for row in rows}) < k or all(row[2] is None for row in rows):
        return
    who, age, town = zip(*rows, strict=True)
    table = pa.table(
        {"who": [f"p{w}" for w in who], "age": age, "town": pa.array(town, pa.string()), "note": list(range(len(rows)))}
    )
    safe = protect(table, quasi_identifiers=["age", "town"], k=k, person="who")
    after, before = safe.table.to_pylist(), table.to_pylist()
    assert min(len(people) for people in reference.history_classes(after, ["age", "town"], "who")) >= k
    assert {row["who"] for row in after}.isdisjoint({row["who"] for row in before})
    names = {}
    for row in after:
        was = before[row["note"]]
        assert covers(row["age"], was["age"])
        assert covers(row["town"], was["town"])
        assert names.setdefault(row["who"], was["who"]) == was["who"]
    assert len(names) == len(set(who))  # nobody is lost altogether


RECORDS = st.tuples(st.integers(0, 4), st.sampled_from("ab"))


@settings(max_examples=TABLES)
@given(
    st.lists(st.tuples(st.lists(RECORDS, min_size=1, max_size=3), st.integers(0, 9)), min_size=1, max_size=5),
    st.integers(2, 4),
    st.sampled_from([None, 2]),
)
def test_histories_that_are_protected_already_stay_as_they_are(histories, k, l):  # noqa: E741
    rows = [
        {"who": f"p{place}-{person}", "age": age, "town": town, "ill": person % 2, "note": f"{place}-{person}-{number}"}
        for place, (history, more) in enumerate(histories)
        for person in range(k + more)
        for number, (age, town) in enumerate(history)
    ]
    asked = {"sensitive": ["ill"], "l": l} if l else {}
    names = ["age", "town"]
    safe = protect(pa.Table.from_pylist(rows), quasi_identifiers=names, k=k, person="who", identifiers=[], **asked)
    assert safe.rows == len(rows)
    assert set(safe.changed_cells.values()) == {0}


def test_of_people_who_stand_out_alone_histories_are_made_alike():
    table = {"who": [n // 2 for n in range(66)], "age": [*([30, 50] * 17), *([32, 50] * 13), 70, 71, 72, 73, 74, 75]}
    safe = protect(table, quasi_identifiers=["age"], k=3, person="who", identifiers=[])
    assert (safe.guarantee.k, safe.changed_cells) == (3, {"age": 6})


def test_the_same_call_gives_the_same_table_but_other_pseudonyms():
    table = {"who": ["a", "b", "c", "d"], "age": [1, 2, 8, 9]}
    asked = {"quasi_identifiers": ["age"], "k": 2, "person": "who", "shuffle": False}
    first, second = (protect(table, **asked) for _ in range(2))
    assert first.table.drop(["who"]).equals(second.table.drop(["who"]))
    assert set(first.table["who"].to_pylist()).isdisjoint(second.table["who"].to_pylist())


def test_identifiers_go_and_say_so():
    table = {"email": ["a@x", "b@x", "c@x", "d@x"], "age": [1, 2, 8, 9]}
    safe = protect_and_remove(table, quasi_identifiers=["age"], k=2)
    assert safe.table.column_names == ["age"]
    assert safe.removed == ("email",)
    kept = protect(table, quasi_identifiers=["age"], k=2, identifiers=[])
    assert kept.table.column_names == ["email", "age"]
    with pytest.raises(InputError, match="something else"):
        protect(table, quasi_identifiers=["age"], k=2, identifiers=["age"])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_the_callers_kind_of_frame_comes_back(kind):
    frames = pytest.importorskip(kind)
    frame = frames.DataFrame({"age": [1, 2, 8, 9], "rest": [1, 2, 3, 4]})
    safe = protect(frame, quasi_identifiers=["age"], k=2)
    assert type(safe.table) is type(frame)
    assert list(safe.table["age"]) == ["[1;2]", "[1;2]", "[8;9]", "[8;9]"]
    assert safe.evaluate().k == 2
