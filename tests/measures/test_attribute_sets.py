"""Sets of attributes and the sets that single people out, against brute force."""

from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import reference

from incrowd import InputError, read_table
from incrowd.measures import contributions, kernels, minimal_sets, risk_by_group, risk_by_subset, subset_counts
from incrowd.measures.subset_counts import chains, class_table

NAMES = ["a", "b", "c", "d"]
ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=14)


def table_of(rows):
    return {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}


def test_sets_and_minimal_sets_are_read_from_one_count(tmp_path, monkeypatch):
    pq.write_table(pa.table(table_of([(0, 1, 2, 0), (0, 1, 1, 1), (2, 1, 1, 0)])), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    counted = []
    assign = type(table.backend).assign_classes
    monkeypatch.setattr(type(table.backend), "assign_classes", lambda *given: counted.append(given) or assign(*given))
    sets, single = risk_by_subset(table, NAMES), minimal_sets(table, NAMES)
    assert len(counted) == 1
    assert risk_by_subset(table, NAMES[:2]) == sets[:2] + tuple(risk for risk in sets if risk.columns == ("a", "b"))
    assert minimal_sets(table, NAMES).singled_out == single.singled_out
    assert len(counted) == 3
    pq.write_table(pa.table(table_of([(0, 0, 0, 0)])), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="changed while it was read"):
        minimal_sets(table, NAMES)


@given(ROWS)
def test_every_set_is_counted_as_if_alone(rows):
    found = risk_by_subset(table_of(rows), NAMES)
    assert [risk.columns for risk in found] == [s for size in range(1, 5) for s in combinations(NAMES, size)]
    for risk in found:
        sizes = [len(m) for m in reference.classes_of(rows, [NAMES.index(name) for name in risk.columns])]
        assert (risk.classes, risk.uniques, risk.smallest, risk.people) == (
            len(sizes),
            sizes.count(1),
            min(sizes),
            len(rows),
        )


@given(ROWS, st.integers(1, 4))
def test_minimal_sets_are_those_of_brute_force(rows, up_to):
    found = minimal_sets(table_of(rows), NAMES, up_to=up_to)
    unique = {}
    for size in range(1, up_to + 1):
        for columns in combinations(range(4), size):
            alone = {m[0] for m in reference.classes_of(rows, columns) if len(m) == 1}
            for number in alone:
                unique.setdefault(number, []).append(set(columns))
    expected, score, fewest = {}, np.zeros(len(rows)), np.zeros(len(rows))
    for number, sets in unique.items():
        for columns in sets:
            if not any(other < columns for other in sets):
                key = tuple(NAMES[place] for place in sorted(columns))
                expected[key] = expected.get(key, 0) + 1
                score[number] += np.prod([4 - i for i in range(len(columns), up_to)])
                fewest[number] = min(fewest[number] or 9, len(columns))
    assert found.singled_out == expected
    assert found.score == pytest.approx(score)
    assert found.fewest.tolist() == fewest.tolist()
    assert found.singled_out_by(up_to) == int((fewest > 0).sum())


@pytest.mark.parametrize(("columns", "up_to"), [(1, 1), (2, 2), (5, 5), (9, 9), (9, 3), (7, 5), (12, 2)])
def test_chains_hold_every_set_once(columns, up_to):
    found = [
        frozenset(order[:size]) for fewest, order in chains(columns, up_to) for size in range(fewest, len(order) + 1)
    ]
    assert len(found) == len(set(found)) == sum(comb(columns, size) for size in range(1, up_to + 1))


def test_nine_columns_need_126_orders():
    assert len(list(chains(9, 9))) == comb(9, 4)


def test_sets_beyond_64_bits_are_counted_too():
    generator = np.random.default_rng(2)
    table = {f"c{number}": generator.integers(0, 2**20, 300) for number in range(5)}
    table["c0"] = generator.integers(0, 3, 300)
    found = risk_by_subset(table, list(table))[-1]
    assert (found.classes, found.uniques) == (300, 300)
    assert risk_by_subset(table, list(table))[0].classes == 3


@pytest.mark.parametrize(("limit", "value"), [("_KEPT", 1), ("_WORTHWHILE", 1.0), ("_FEW_BITS", 0), ("_FEW_BITS", 5)])
def test_short_cuts_change_no_count(monkeypatch, limit, value):
    draws = np.random.default_rng(5)
    table = {name: draws.integers(0, size, 400) for name, size in zip("abcdef", (2, 3, 40, 5, 90, 7), strict=True)}
    risks, minimal = risk_by_subset(table, list(table)), minimal_sets(table, list(table))
    monkeypatch.setattr(subset_counts, limit, value)
    assert risk_by_subset(table, list(table)) == risks
    again = minimal_sets(table, list(table))
    assert (again.singled_out, again.score.tolist()) == (minimal.singled_out, minimal.score.tolist())


def test_small_sets_are_counted_on_the_classes_by_fewer_columns(monkeypatch):
    sorted_rows = []

    def sort(keys, values, lowest, inner=kernels.sort_with_values):
        sorted_rows.append(keys.size)
        return inner(keys, values, lowest)

    monkeypatch.setattr(kernels, "sort_with_values", sort)
    draws = np.random.default_rng(5)
    table = {name: draws.integers(0, size, 2_000) for name, size in zip("abcdef", (2, 3, 2, 5, 90, 7), strict=True)}
    risk_by_subset(table, list(table))
    assert min(sorted_rows) < 0.2 * max(sorted_rows)  # sets without e have few classes


def test_groups_are_combined():
    table = {"age": [1, 1, 2, 2], "sex": ["f", "m", "f", "m"], "zip": [1, 1, 1, 2]}
    found = {r.label: r for r in risk_by_group(table, {"census": ["age", "sex"], "spatial": ["zip"]})}
    assert found["census"].uniques == 4
    assert (found["spatial"].uniques, found["spatial"].smallest) == (1, 1)
    assert found["census + spatial"].columns == ("age", "sex", "zip")


def test_people_with_histories_are_counted_by_group_too():
    table = {"who": [1, 1, 2, 2, 3], "x": [1, 2, 2, 1, 1], "y": [1, 1, 1, 1, 1]}
    found = {r.label: r for r in risk_by_group(table, {"one": ["x"], "two": ["y"]}, person="who")}
    assert (found["one"].people, found["one"].classes, found["one"].uniques) == (3, 2, 1)
    assert risk_by_subset(table, ["x"], person="who")[0].classes == 2


def test_too_many_sets_are_refused():
    table = {f"c{number}": [1, 2] for number in range(30)}
    with pytest.raises(InputError, match=r"30 columns have .* sets of at most 30; ask for smaller sets") as refused:
        risk_by_subset(table, list(table))
    assert refused.value.hint == ("up_to",)
    assert len(risk_by_subset(table, list(table), up_to=1)) == 30


def test_an_unknown_column_in_a_group_is_named():
    with pytest.raises(InputError, match=r"'agee'.*the table has: age"):
        risk_by_group({"age": [1]}, {"census": ["agee"]})


def test_risks_are_a_frame_with_a_row_for_each_set():
    found = risk_by_subset({"age": [3, 3, 4], "zip": ["a", "b", "b"]}, ["age", "zip"])
    assert found.to_frame()[["label", "classes", "uniqueness"]].iloc[2].tolist() == ["age, zip", 3, 1.0]


@pytest.mark.parametrize("lowest", [0, 1, 13, 40, 63])
def test_words_are_sorted_with_their_values(lowest):
    keys = np.random.default_rng(lowest).integers(0, 2 ** (64 - lowest), 500, dtype=np.uint64) << np.uint64(lowest)
    keys[::3] = keys[0]
    order = np.argsort(keys, kind="stable")
    found, values = kernels.sort_with_values(keys, np.arange(500), lowest)
    np.testing.assert_array_equal(found, keys[order])
    np.testing.assert_array_equal(values, order)


def test_sets_are_counted_singly_where_the_classes_do_not_fit_and_say_the_same(tmp_path):
    draw = np.random.default_rng(3)
    rows = 420_000  # 124 bytes each by three columns: 52 MB
    columns = {
        "age": draw.integers(0, 90, rows),
        "sex": draw.integers(0, 2, rows),
        "zip": draw.integers(0, 5_000, rows),
    }
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    tight, wide = (read_table(tmp_path / "people.parquet", memory=memory) for memory in ("50MB", "1GB"))
    assert class_table(tight, [*columns]) is None
    assert class_table(wide, [*columns]) is not None
    assert list(risk_by_subset(tight, [*columns])) == list(risk_by_subset(wide, [*columns]))
    assert contributions(tight, [*columns]).to_dict() == contributions(wide, [*columns]).to_dict()
