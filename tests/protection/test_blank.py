"""Cell suppression: k with a blank as a value, values otherwise untouched, and few cells, against brute force."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protection.brute_force import fewest_equal
from tests.protection.plain import examples

from incrowd import InputError, UnsupportedError, protect

NAMES = ["a", "b", "c"]
ROW = st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.sampled_from(["x", "*", "{y}"]), st.integers(0, 2))
TABLES = st.lists(ROW, min_size=6, max_size=40).filter(lambda rows: any(row[0] is not None for row in rows))


def table_of(rows):
    a, b, c = zip(*rows, strict=True)
    return pa.table({"a": pa.array(a, pa.int16()), "b": b, "c": c, "secret": [sum(map(bool, row)) for row in rows]})


def spellings(value):
    return (value, "{" + str(value) + "}", '{"' + str(value) + '"}')


@settings(max_examples=examples(80), deadline=None)
@given(TABLES, st.integers(2, 4), st.sampled_from([None, 2]), st.sampled_from([(), ("c",)]))
def test_cells_are_kept_or_blank_and_k_holds(rows, k, l, keep):  # noqa: E741
    table = table_of(rows)
    options = {"l": l, "sensitive": ["secret"]} if l else {}
    options |= {"method": "blank", "keep": list(keep), "suppress": 0.9, "identifiers": []}
    try:
        safe = protect(table, quasi_identifiers=NAMES, k=k, **options)
    except UnsupportedError:
        assert l or keep
        return
    after, before = safe.table.to_pylist(), table.to_pylist()
    kept = range(len(before)) if safe.kept_rows is None else safe.kept_rows.tolist()
    classes = Counter(tuple(row[name] for name in NAMES) for row in after)
    assert min(classes.values()) >= k
    assert safe.table.schema.field("a").type == table.schema.field("a").type
    for name in NAMES:
        pairs = [(before[place][name], row[name]) for place, row in zip(kept, after, strict=True)]
        assert all(now is None or now in spellings(was) for was, now in pairs)
        assert sum(now is None and was is not None for was, now in pairs) == safe.changed_cells[name]
    assert all(safe.changed_cells[name] == 0 for name in keep)
    for members in classes if l else ():
        secrets = {row["secret"] for row in after if tuple(row[name] for name in NAMES) == members}
        assert len(secrets) >= l


def test_hardly_more_cells_are_blanked_than_the_fewest_there_are():
    import random

    draw = random.Random(5)
    blanked = needed = 0
    for _ in range(40):
        rows = [(draw.randrange(3), draw.randrange(3), draw.randrange(2)) for _ in range(7)]
        table = {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}
        safe = protect(table, quasi_identifiers=NAMES, k=2, method="blank", identifiers=[], warn=False)
        mine, least = sum(safe.changed_cells.values()), fewest_equal(rows, 2)
        assert mine >= least
        blanked, needed = blanked + mine, needed + least
    assert blanked <= 1.15 * needed


def test_important_columns_are_blanked_last():
    table = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}
    for important, other in (("a", "b"), ("b", "a")):
        options = {"method": "blank", "importance": {important: 5}, "identifiers": []}
        safe = protect(table, quasi_identifiers=["a", "b"], k=2, **options)
        assert safe.changed_cells == {important: 0, other: 4}


def test_a_width_is_no_wish_for_blanks():
    with pytest.raises(InputError, match="does not take widest"):
        protect({"a": [1, 2]}, quasi_identifiers=["a"], k=2, method="blank", widest={"a": 1})
