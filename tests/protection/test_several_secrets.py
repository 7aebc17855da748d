"""l and t of several sensitive columns, counted again by a plain-Python check."""

import json
import math
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import reference
from tests.cli.running import run
from tests.protection.plain import TABLES as PROPERTY_TABLES

from incrowd import UnsupportedError, read_table
from incrowd import protect as protect_and_shuffle
from incrowd.protection import write_protected
from incrowd.protection.histories import planned_lengths

protect = partial(protect_and_shuffle, shuffle=False)  # rows are compared by position

QIS = ["age", "sex"]
ILLNESS = st.sampled_from(["flu", "hiv", "burn", None])
ROW = st.tuples(st.integers(0, 12), st.integers(0, 2), ILLNESS, st.integers(0, 4))
TABLES = st.lists(ROW, min_size=8, max_size=50).map(
    lambda rows: pa.table(
        {
            "age": [row[0] for row in rows],
            "sex": [row[1] for row in rows],
            "illness": pa.array([row[2] for row in rows], pa.string()),
            "pay": [row[3] for row in rows],
        }
    )
)
SECRETS = ["illness", "pay"]
KINDS = st.sampled_from(["distinct", "entropy", "recursive"])


def l_of(values, kind, asked):
    """The l of one class by its definition; `asked` or 1 for recursive (2, l)-diversity."""
    counts = sorted((values.count(value) for value in set(values)), reverse=True)
    if kind == "distinct":
        return len(counts)
    if kind == "entropy":
        return math.exp(-sum(n / len(values) * math.log(n / len(values)) for n in counts))
    return asked if len(counts) >= asked and counts[0] < 2.0 * sum(counts[asked - 1 :]) else 1


def t_of(rows, groups, secret):
    """The farthest group from all rows, by rank for numbers, all values equally far for text."""
    values = sorted({row[secret] for row in rows if row[secret] is not None})
    values += [None] if any(row[secret] is None for row in rows) else []
    whole = [sum(row[secret] == value for row in rows) / len(rows) for value in values]
    worst = 0.0
    for members in groups:
        here = [sum(rows[i][secret] == value for i in members) / len(members) for value in values]
        differences = [a - b for a, b in zip(here, whole, strict=True)]
        if secret == "illness":
            worst = max(worst, sum(map(abs, differences)) / 2)
        elif len(values) > 1:
            worst = max(worst, sum(abs(sum(differences[: i + 1])) for i in range(len(values))) / (len(values) - 1))
    return worst


def check(safe, groups, rows, kind, l, t):  # noqa: E741
    """The guarantee of each column is what the groups of rows say, and no less than was asked."""
    assert [one.column for one in safe.guarantee.sensitive] == SECRETS
    for one in safe.guarantee.sensitive:
        reached = min(l_of([rows[i][one.column] for i in members], kind, l) for members in groups)
        assert one.l == pytest.approx(reached)
        assert one.t == pytest.approx(t_of(rows, groups, one.column), abs=1e-9)
        assert l is None or reached >= l - 1e-9
        assert t is None or one.t <= t + 1e-9
    assert safe.guarantee.l == min(one.l for one in safe.guarantee.sensitive)
    assert safe.guarantee.t == max(one.t for one in safe.guarantee.sensitive)


@settings(max_examples=3 * PROPERTY_TABLES)
@given(TABLES, st.integers(2, 4), st.sampled_from([None, 2, 3]), st.sampled_from([None, 0.05, 0.2, 0.5]), KINDS)
def test_the_partition_reaches_l_and_t_of_two_columns(table, k, l, t, kind):  # noqa: E741
    before = table.to_pylist()
    try:
        safe = protect(table, quasi_identifiers=QIS, k=k, l=l, t=t, diversity=kind, c=2.0, sensitive=SECRETS)
    except UnsupportedError:
        assert any(l_of([row[name] for row in before], kind, l) < l for name in SECRETS)
        return
    rows = safe.table.to_pylist()
    assert [{name: row[name] for name in SECRETS} for row in rows] == [
        {name: row[name] for name in SECRETS} for row in before
    ]
    groups = reference.classes_of(rows, QIS)
    assert min(map(len, groups)) >= k
    check(safe, groups, rows, "distinct" if l is None and kind == "recursive" else kind, l, t)


@settings(max_examples=PROPERTY_TABLES)
@given(TABLES, st.integers(2, 4), st.integers(2, 3))
def test_full_domain_generalisation_reaches_l_of_two_columns(table, k, l):  # noqa: E741
    before = table.to_pylist()
    try:
        safe = protect(table, quasi_identifiers=QIS, k=k, l=l, sensitive=SECRETS, method="generalise")
    except UnsupportedError:
        assert any(len({row[name] for row in before}) < l for name in SECRETS)
        return
    rows = safe.table.to_pylist()
    groups = reference.classes_of(rows, QIS)
    assert min(map(len, groups)) >= k
    check(safe, groups, rows, "distinct", l, None)


@settings(max_examples=PROPERTY_TABLES)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), ILLNESS, st.integers(0, 3)), min_size=10, max_size=50),
    st.integers(2, 3),
    st.integers(2, 3),
    KINDS,
)
def test_histories_reach_l_of_two_columns_or_cannot(rows, k, l, kind):  # noqa: E741
    if len({row[0] for row in rows}) < k:
        return
    who, age, illness, pay = zip(*rows, strict=True)
    table = pa.table(
        {
            "who": [f"p{number}" for number in who],
            "age": age,
            "illness": pa.array(illness, pa.string()),
            "pay": pay,
            "number": list(range(len(rows))),
        }
    )
    options = {"quasi_identifiers": ["age"], "k": k, "person": "who", "identifiers": [], "diversity": kind, "c": 2.0}
    try:
        safe = protect(table, **options, l=l, sensitive=SECRETS)
    except UnsupportedError:
        histories = {}
        for row in sorted(table.to_pylist(), key=lambda row: row["age"]):
            histories.setdefault(row["who"], []).append(row)
        shortest = min(map(len, histories.values()))  # all people together, with as few records as that
        together = [[history[place] for history in histories.values()] for place in range(shortest)]
        assert any(l_of([row[name] for row in rows], kind, l) < l for rows in together for name in SECRETS)
        return
    after = safe.table.to_pylist()
    people = reference.history_classes(after, ["age"], "who")
    assert min(map(len, people)) >= k
    class_of = {one: number for number, members in enumerate(people) for one in members}
    groups = {}
    for number, row in enumerate(after):
        groups.setdefault((class_of[row["who"]], row["age"]), []).append(number)
    check(safe, list(groups.values()), after, kind, l, None)


def test_people_who_share_a_secret_come_down_to_those_who_do_not():
    lengths = [3, 3, 2, 2, 1, 1]
    illness = ["hiv", "flu", "hiv", "flu", "flu", "flu"]  # of everybody's records

    def differ(people, length):
        return len({illness[one] for one in people}) > 1

    assert planned_lengths(np.array(lengths), 2, differ).tolist() == [3, 3, 1, 1, 1, 1]


def test_repair_merges_only_what_is_too_far():
    ages = [20, 20, 30, 30, 40, 40, 60, 60]
    pay = [1, 2, 1, 2, 1, 2, 1, 1]
    safe = protect({"age": ages, "pay": pay}, quasi_identifiers=["age"], k=2, t=0.25, sensitive=["pay"])
    assert safe.table["age"].to_pylist()[:4] == ["20", "20", "30", "30"]
    assert safe.table["age"].to_pylist()[4:] == ["[40;60]"] * 4


@pytest.mark.parametrize(
    ("secret", "least"), [("hours_per_week", 0.97), ("occupation", 0.65)], ids=["ordered", "unordered"]
)
def test_adult_keeps_its_detail_within_t(shared_data, secret, least):
    import pyarrow.compute as pc

    adult = pq.read_table(shared_data / "adult.parquet")
    adult = adult.filter(pc.equal(adult["split"], "train")).drop_null()
    names = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass", "occupation", "income"]
    names = [name for name in names if name != secret]
    safe = protect(adult, quasi_identifiers=names, k=5, t=0.2, sensitive=[secret])
    assert safe.guarantee.t <= 0.2
    assert safe.evaluate().granularity >= least


def test_the_file_is_counted_for_every_column(tmp_path, monkeypatch):
    from incrowd.protection import release

    table = {"age": list(range(24)), "pay": [1, 2, 3] * 8, "town": ["a", "a", "b", "c"] * 6}
    safe = protect(table, quasi_identifiers=["age"], k=3, l=2, t=0.4, sensitive=["pay", "town"])
    found = read_table(write_protected(safe, tmp_path / "safe.csv")).to_arrow().to_pylist()
    groups = reference.classes_of(found, ["age"])
    assert min(len({found[i][name] for i in members}) for members in groups for name in ("pay", "town")) >= 2
    real = release.write_into

    def spoiled(rows, file, codebook):
        real(rows.set_column(2, "town", pa.array(["a"] * rows.num_rows)), file, codebook)

    monkeypatch.setattr(release, "write_into", spoiled)
    with pytest.raises(UnsupportedError, match="has 1 in town"):
        write_protected(safe, tmp_path / "spoiled.csv")


def test_the_sentence_and_the_evaluation_list_every_column():
    table = {"age": list(range(24)), "pay": [1, 2, 3] * 8, "town": ["a", "a", "b", "c"] * 6}
    safe = protect(table, quasi_identifiers=["age"], k=3, l=2, sensitive=["pay", "town"])
    pay, town = safe.guarantee.sensitive
    assert f"in pay every class is {pay.l:g}-diverse" in safe.guarantee.sentence
    assert f"in town every class is {town.l:g}-diverse" in safe.guarantee.sentence
    found = safe.evaluate()
    assert [(one.column, one.distinct, one.t) for one in found.sensitive] == [
        ("pay", pay.l, pay.t),
        ("town", town.l, town.t),
    ]
    assert found.diversity.distinct == min(pay.l, town.l)
    assert found.to_dict()["diversity"]["column"] == found.diversity.column


def test_the_command_takes_several_columns(capsys, tmp_path):
    file, out = tmp_path / "people.csv", tmp_path / "safe.csv"
    file.write_text("age,pay,town\n" + "".join(f"{20 + i},{i % 3},{'aabc'[i % 4]}\n" for i in range(24)))
    asked = ["--qi", "age", "--k", 3, "--l", 2, "--t", 0.4, "--sensitive", "pay,town", "--out", out]
    code, shown, err = run(capsys, "protect", file, *asked, "--json")
    assert code == 0, err
    guarantee = json.loads(shown)["guarantee"]
    assert [one["column"] for one in guarantee["sensitive"]] == ["pay", "town"]
    assert all(one["l"] >= 2 and one["t"] <= 0.4 for one in guarantee["sensitive"])
    code, shown, err = run(capsys, "protect", file, *asked, "--force")
    assert (code, "in town every class is" in " ".join(shown.split())) == (0, True), err
    code, shown, err = run(capsys, "evaluate", file, out, "--qi", "age", "--sensitive", "pay,town")
    assert (code, "town: l" in " ".join(shown.split())) == (0, True), err


def test_a_guarantee_says_where_l_rests_on_missing_values():
    ages, ill = [30] * 4 + [50] * 4, ["hiv", "hiv", None, "hiv", "flu", "burn", "flu", "burn"]
    named = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "k": 4}
    safe = protect({"age": ages, "ill": ill}, **named, l=2)
    assert (safe.guarantee.l, safe.guarantee.filled_l, safe.guarantee.holds) == (2, 1, True)
    assert "a missing value counts as a value there: without it some class has 1 different" in safe.guarantee.sentence
    assert "missing" not in protect({"age": ages, "ill": ill}, **named).guarantee.sentence
