"""The order of the rows: what it gives back, that releases do not keep it, and who must not rely on it."""

import numpy as np
import pytest

from incrowd import assess, attack, evaluate, protect, read_table
from incrowd.assessment import Question, find_release, judge_protected
from incrowd.attacks import attack_release
from incrowd.errors import InputError, UnsupportedError
from incrowd.evaluation import changed_columns
from incrowd.protection import write_protected
from incrowd.protection.marks import read_mark
from incrowd.tables import parse_generalised
from incrowd.tables.release_marks import mark_of
from incrowd.web.releases import Release

pytestmark = pytest.mark.usefixtures("quick_estimates")

NAMES = ["age", "town"]


def sorted_by_age(rows=1_000):
    draws = np.random.default_rng(4)
    return {"age": np.sort(draws.integers(18, 80, rows)), "town": draws.choice(list("abcdefgh"), rows)}


def in_households():
    """Members of households one after the other; the number of the household is dropped."""
    draws = np.random.default_rng(5)
    sizes = draws.integers(1, 6, 300)
    homes = np.repeat(np.arange(sizes.size), sizes)
    regions = draws.choice(list("nesw"), sizes.size)
    return {"home": homes, "size": sizes[homes], "region": regions[homes], "age": draws.integers(0, 9, homes.size) * 10}


def share_given_back(safe, ages):
    """How many ages follow from the ranges of the rows before and after, if rows are sorted by age."""
    ranges = [parse_generalised(cell) for cell in safe.table["age"].to_pylist()]
    low = np.maximum.accumulate([one.low for one in ranges])
    high = np.minimum.accumulate([one.high for one in ranges][::-1])[::-1]
    return float(np.mean((low == high) & (low == ages)))


def test_neighbours_give_back_sorted_ages_only_where_the_order_is_kept():
    table = sorted_by_age()
    kept = protect(table, quasi_identifiers=NAMES, k=11, shuffle=False)
    assert share_given_back(kept, table["age"]) > 0.3
    assert kept.kept_rows is None
    assert kept.row_order[0] == "age"
    safe = protect(table, quasi_identifiers=NAMES, k=11)
    assert share_given_back(safe, table["age"][safe.kept_rows]) < 0.05
    assert safe.shuffled
    assert safe.row_order == ()


def sorted_by_patient(patients=300):
    draws = np.random.default_rng(6)
    number = np.repeat(np.arange(patients), 2)
    return {
        "patient": number,
        "age": draws.integers(2, 9, patients)[number] * 10,
        "ward": draws.choice(list("abc"), number.size),
    }


def test_random_numbers_of_people_do_not_come_in_the_order_of_the_people():
    table, asked = sorted_by_patient(), {"quasi_identifiers": ["age", "ward"], "k": 11, "person": "patient"}
    safe = protect(table, **asked)
    first = np.unique(np.asarray(safe.table["patient"]), return_index=True)[1]
    assert abs(np.corrcoef(np.sort(first), table["patient"][safe.kept_rows][np.sort(first)])[0, 1]) < 0.4
    assert "patient" in protect(table, **asked, shuffle=False).row_order
    mixed = np.random.default_rng(7).permutation(300)[table["patient"]]  # in no order, and still that of the people
    assert "patient" in protect(table | {"patient": mixed}, **asked, shuffle=False).row_order


def test_kept_rows_say_which_record_each_row_is():
    table = sorted_by_age()
    safe, again = (protect(table, quasi_identifiers=NAMES, k=11) for _ in range(2))
    assert sorted(safe.kept_rows.tolist()) == list(range(1_000))
    assert safe.kept_rows.tolist() != again.kept_rows.tolist()
    for cell, age in zip(safe.table["age"].to_pylist(), table["age"][safe.kept_rows].tolist(), strict=True):
        assert parse_generalised(cell).covers(age)
    assert safe.guarantee == protect(table, quasi_identifiers=NAMES, k=11, shuffle=False).guarantee
    in_order = protect(table, quasi_identifiers=NAMES, k=11, shuffle=False).evaluate()
    assert safe.evaluate().contradicting == 0
    assert safe.evaluate().information_loss == pytest.approx(in_order.information_loss)


def test_rows_that_are_left_keep_their_records():
    table = {**sorted_by_age(), "score": np.arange(1_000)}
    safe = protect(
        table, quasi_identifiers=NAMES, other=["score"], k=5, method="generalise", suppress=0.1, identifiers=[]
    )
    assert safe.shuffled
    assert safe.table["score"].to_pylist() == safe.kept_rows.tolist()


def test_outputs_are_shuffled_as_their_ranges_are():
    safe = protect(sorted_by_age(), quasi_identifiers=NAMES, k=11, output={"age": "bounds"})
    low, ranges = safe.table["age_low"].to_pylist(), safe.generalised["age"].to_pylist()
    assert low == [parse_generalised(cell).low for cell in ranges]


def test_rows_without_an_order_stay_where_they_are():
    draws = np.random.default_rng(0)
    table = {name: draws.permutation(column) for name, column in sorted_by_age().items()}
    safe = protect(table, quasi_identifiers=NAMES, k=11)
    assert (safe.shuffled, safe.kept_rows, safe.row_order) == (False, None, ())
    assert protect(table, quasi_identifiers=NAMES, k=11, shuffle=True).shuffled


def test_households_are_not_left_together():
    names = ["size", "region", "age"]
    asked = {"quasi_identifiers": names, "leave_out": ["home"], "k": 11}
    question = Question(quasi_identifiers=tuple(names), drop=("home",), rows_are_people=True)
    safe, kept = protect(in_households(), **asked), protect(in_households(), **asked, shuffle=False)
    assert judge_protected(safe, question).decision == "within"
    refused = judge_protected(kept, question)
    assert refused.decision == "exposed"
    followed = refused.exposures[0].partition(", so ")[0].removeprefix("The order of the rows follows ")
    assert {*followed.split(", ")} == {"region", "size", "home"}


@pytest.mark.parametrize("original", [False, True])
def test_a_file_in_the_order_of_its_original_gets_no_yes(tmp_path, original):
    table, file = sorted_by_age(), tmp_path / "safe.parquet"
    for shuffle, decision in ((False, "exposed"), (None, "within")):
        write_protected(protect(table, quasi_identifiers=NAMES, k=11, shuffle=shuffle), file, force=True)
        given = {"original": table} if original else {}
        found = assess(str(file), quasi_identifiers=NAMES, recipient="public", protection=False, **given)
        assert found.verdict.decision == decision
        assert any("random order" in one.sentence for one in found.verdict.actions) == (decision == "exposed")
        assert all(one.commands for one in found.verdict.actions if "random order" in one.sentence)
        mark_of(file).unlink()
        found = assess(str(file), quasi_identifiers=NAMES, recipient="public", protection=False)
        assert found.verdict.decision == decision


def test_an_original_gets_a_note_and_advice_that_leads_to_a_yes():
    table = sorted_by_age()
    found = assess(table, quasi_identifiers=NAMES, recipient="public").verdict
    assert any("order of the rows follows age" in one.sentence for one in found.internal_reasons)
    assert not any("order" in one for one in found.exposures)
    assert found.actions[0].expected["decision"] == "within"
    solution = find_release(table, Question(quasi_identifiers=tuple(NAMES)), quasi_identifiers=NAMES)
    assert [(trial.k, trial.decision) for trial in solution.trials] == [(11, "within")]


def test_a_release_in_random_order_is_not_compared_by_position(tmp_path):
    table, file = sorted_by_age(), tmp_path / "safe.csv"
    safe = protect(table, quasi_identifiers=NAMES, keep=["town"], k=5)
    write_protected(safe, file)
    assert read_mark(read_table(file)).shuffled
    with pytest.raises(UnsupportedError, match="random order") as refused:
        attack(table, file, kind="linkage", known=NAMES)
    assert refused.value.hint == ("kept_rows",)
    assert "linkage" in attack_release(table, file, known=NAMES, kinds=["linkage", "singling-out"]).not_run
    assert attack(table, file, kind="linkage", known=NAMES, kept_rows=safe.kept_rows.tolist()).risk.value < 0.3
    found = evaluate(table, file, quasi_identifiers=NAMES, outcome=None)
    assert (found.information_loss, found.contradicting) == (None, None)
    assert any("random order" in note for note in found.notes)
    assert found.k == safe.guarantee.k
    assert changed_columns(table, file) == ["age"]
    mark_of(file).write_text("{}")
    assert evaluate(table, file, quasi_identifiers=NAMES).information_loss is None


def test_the_app_finds_a_record_in_any_order():
    release = Release(None, ("age",), kept_rows=np.array([7, 2, 5]))
    assert [release.row_of(record) for record in (2, 5, 7, 3)] == [1, 2, 0, None]
    assert [release.record_of(row) for row in range(3)] == [7, 2, 5]


def test_people_with_several_records_are_shuffled_with_all_of_them():
    table = {**sorted_by_age(400), "who": np.arange(400) // 2}
    table["age"] = table["age"][table["who"] * 2]
    safe = protect(table, quasi_identifiers=["age"], person="who", other=["town"], k=5)
    assert safe.shuffled
    drawn = dict(zip(table["who"][safe.kept_rows].tolist(), safe.table["who"].to_pylist(), strict=True))
    assert [drawn[who] for who in table["who"][safe.kept_rows].tolist()] == safe.table["who"].to_pylist()


def test_a_cluster_has_no_order_to_choose(monkeypatch):
    table = read_table(sorted_by_age(100))
    monkeypatch.setattr(type(table.backend), "rows_are_local", False)
    with pytest.raises(InputError, match="cluster"):
        protect(table, quasi_identifiers=NAMES, shuffle=True)
