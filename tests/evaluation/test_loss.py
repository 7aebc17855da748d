"""Loss, granularity, disclosure and discernibility by their formulas, written out."""

import math
import statistics
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd import Hierarchy, InputError, evaluate, frontier, read_table
from incrowd import protect as protect_and_shuffle
from incrowd.demo import AS_NUMBERS, QUASI_IDENTIFIERS, demo_table
from incrowd.evaluation.method_frontier import Frontier, FrontierPoint, worth_choosing
from incrowd.recipients import Limits

protect = partial(protect_and_shuffle, shuffle=False)  # rows are compared by position


def limits(label):
    ends = str(label).strip("[]").split(";")
    return float(ends[0]), float(ends[-1])


@pytest.mark.paper("proper-anonymization", "eq. 2", "eq. 3", "eq. 4")
def test_information_loss_by_eq_3_and_4():
    table = demo_table(500)
    safe = protect(read_table(table, scales=AS_NUMBERS), quasi_identifiers=QUASI_IDENTIFIERS, k=4)
    before, after = table.to_pylist(), safe.table.to_pylist()
    spread = {name: statistics.pstdev(row[name] for row in before) for name in QUASI_IDENTIFIERS}
    total = 0.0
    for was, now in zip(before, after, strict=True):
        far = 0.0
        for name in QUASI_IDENTIFIERS:
            low, high = limits(now[name])
            worst = high if high - was[name] > was[name] - low else low
            far += ((was[name] - worst) / spread[name]) ** 2
        total += math.sqrt(far)
    assert safe.evaluate().information_loss == pytest.approx(total / 500 / len(QUASI_IDENTIFIERS), rel=1e-9)


def test_a_wildcard_costs_the_distance_to_the_end_of_the_domain():
    found = evaluate({"x": [0, 1, 10]}, {"x": ["*", "1", "*"]}, quasi_identifiers=["x"])
    spread = statistics.pstdev([0, 1, 10])
    assert found.information_loss == pytest.approx((10 + 0 + 10) / spread / 3)


@given(st.lists(st.integers(0, 8), min_size=4, max_size=30), st.integers(2, 4))
@settings(max_examples=30)
def test_granularity_counts_the_values_a_label_covers(values, k):
    safe = protect({"x": values}, quasi_identifiers=["x"], k=k)
    domain = sorted(set(values))
    total = 0.0
    for label in safe.table["x"].to_pylist():
        low, high = limits(label)
        total += 1 - (sum(low <= v <= high for v in domain) - 1) / max(len(domain) - 1, 1)
    assert safe.evaluate().granularity == pytest.approx(total / len(values))


def test_granularity_of_sets_and_wildcards():
    before = {"town": ["a", "b", "c", "d", None]}
    after = pa.table({"town": pa.array(["{a,b}", "{a,b,c}", "*", "d", None])})
    found = evaluate(before, after, quasi_identifiers=["town"])
    assert found.granularity == pytest.approx(1 - (1 + 2 + 4 + 0 + 0) / 4 / 5)


@pytest.mark.paper("proper-anonymization", "eq. 5")
def test_attribute_disclosure_by_eq_5():
    before = {"age": [1, 1, 2, 2, 3, 3], "pay": [10, 20, 200, 300, 5, 400]}
    found = evaluate(before, before, quasi_identifiers=["age"], sensitive=["pay"], secret=(100, None))
    assert (found.disclosure.records, found.disclosure.disclosed) == (3, 2)
    assert found.disclosure.risk == pytest.approx(2 / 3)
    one = evaluate(before, before, quasi_identifiers=["age"], sensitive=["pay"], secret=10).disclosure
    assert (one.records, one.disclosed, one.risk) == (1, 0, 0.0)
    with pytest.raises(InputError, match="another type"):
        evaluate(before, before, quasi_identifiers=["age"], sensitive=["pay"], secret="lots")


@pytest.mark.paper("proper-anonymization", "eq. 5")
def test_a_set_of_values_is_one_secret_by_enumeration_of_classes():
    random = np.random.default_rng(0)
    values = np.array(["lung", "breast", "flu", "none"])
    for _ in range(30):
        ages, ills = random.integers(0, 5, 12), values[random.integers(0, 4, 12)]
        if not {"lung", "breast"} <= set(ills):
            continue
        table = {"age": ages, "ill": ills.tolist()}
        cancer = [ill in ("lung", "breast") for ill in ills]
        sure = [has and all(cancer[j] for j in range(12) if ages[j] == ages[i]) for i, has in enumerate(cancer)]
        for secret in (["lung", "breast"], ("lung", "breast"), {"breast", "lung"}):
            found = evaluate(table, table, quasi_identifiers=["age"], sensitive=["ill"], secret=secret).disclosure
            assert (found.records, found.disclosed, found.secret) == (sum(cancer), sum(sure), "any of 2 values")


def test_a_secret_that_nobody_has_is_refused_unless_protection_removed_it():
    before = {"age": [1, 1, 2], "ill": ["flu", "flu", "lung"], "pay": [1, 2, 3]}
    for column, secret in (("ill", "lungg"), ("ill", ["lung", "brest"]), ("pay", (10, None)), ("pay", (7, 9))):
        with pytest.raises(InputError, match="no record has"):
            evaluate(before, before, quasi_identifiers=["age"], sensitive=[column], secret=secret)
    with pytest.raises(InputError, match="empty"):
        evaluate(before, before, quasi_identifiers=["age"], sensitive=["ill"], secret=[])
    after = {"age": [1, 1], "ill": ["flu", "flu"]}
    found = evaluate(before, after, quasi_identifiers=["age"], sensitive=["ill"], secret="lung").disclosure
    assert (found.records, found.disclosed, found.risk) == (0, 0, 0.0)


def test_a_secret_is_read_as_the_columns_type_and_a_range_has_both_ends():
    before = {"age": [1, 1, 2, 2], "code": ["1", "1", "2", "x"], "pay": [10, 20, 20, 30]}
    for secret in (1, "1"):
        found = evaluate(before, before, quasi_identifiers=["age"], sensitive=["code"], secret=secret).disclosure
        assert (found.records, found.disclosed) == (2, 2)
    text = evaluate(before, before, quasi_identifiers=["age"], sensitive=["pay"], secret="20").disclosure
    assert text.records == 2
    both = evaluate(before, before, quasi_identifiers=["age"], sensitive=["pay"], secret=(10, 20)).disclosure
    assert (both.records, both.disclosed, both.secret) == (3, 2, "from 10 to 20")
    with pytest.raises(InputError, match="without the sensitive column"):
        evaluate(before, before, quasi_identifiers=["age"], secret=3)


def test_the_frontier_tries_what_the_rows_allow():
    few = {"age": [30, 31, 32, 60, 61, 62]}
    found = frontier(few, quasi_identifiers=["age"], resolutions=["1/8", 4])
    assert [p.setting for p in found.points if p.method == "partition"] == ["k=2", "k=3", "k=5"]
    assert [p.setting for p in found.points if p.method == "coarsen"] == ["1/8", "1/4"]
    with pytest.raises(InputError, match="without the sensitive column"):
        frontier(few, quasi_identifiers=["age"], secret=3)


def test_nulls_are_left_out_of_correlations():
    before = {"a": [1, 2, 3, 4, None], "b": [2, 4, 6, 8, 1]}
    after = {"a": ["[1;2]", "[1;2]", "[3;4]", "[3;4]", None], "b": [2, 4, 6, 8, 1]}
    found = evaluate(before, after, quasi_identifiers=["a", "b"])
    expected = np.corrcoef([1.5, 1.5, 3.5, 3.5], [2, 4, 6, 8])[0, 1] - 1.0
    assert found.correlation_change[0] == pytest.approx(-expected)


def test_discernibility_is_the_sum_of_squares():
    before = {"age": [1, 1, 1, 2, 2, 9]}
    after = {"age": [1, 1, 1, 2, 2]}
    assert evaluate(before, before, quasi_identifiers=["age"]).discernibility == 9 + 4 + 1
    found = evaluate(before, after, quasi_identifiers=["age"])
    assert found.discernibility == 9 + 4 + 6
    assert found.information_loss is None
    assert "not known which" in found.notes[0]
    kept = evaluate(before, after, quasi_identifiers=["age"], kept_rows=np.arange(5))
    assert kept.information_loss == 0


def test_rows_in_the_wrong_order_contradict():
    found = evaluate({"x": [1, 2, 8, 9]}, {"x": ["[8;9]", "[1;2]", "[8;9]", "[1;2]"]}, quasi_identifiers=["x"])
    assert found.contradicting == 2


def test_labels_of_a_hierarchy_are_understood_and_others_refused():
    before, after = {"town": ["a", "b", "c"]}, {"town": ["north", "north", "south"]}
    hierarchy = Hierarchy.from_rows([("a", "north"), ("b", "north"), ("c", "south")])
    found = evaluate(before, after, quasi_identifiers=["town"], hierarchies={"town": hierarchy})
    assert found.granularity == pytest.approx(1 - (1 + 1 + 0) / 2 / 3)
    assert found.uniques == 1
    with pytest.raises(InputError, match="give its hierarchy") as error:
        evaluate(before, after, quasi_identifiers=["town"])
    assert "north" not in str(error.value)


def test_dates_are_intervals_of_days():
    import datetime

    days = [datetime.date(2020, 1, day) for day in (1, 2, 10, 11)]
    safe = protect({"day": days}, quasi_identifiers=["day"], k=2)
    assert safe.table["day"].to_pylist()[0] == "[2020-01-01;2020-01-02]"
    found = safe.evaluate()
    assert (found.uniques, found.k, found.contradicting) == (0, 2, 0)
    assert found.granularity == pytest.approx(1 - 1 / 3)
    times = [datetime.datetime(2020, 1, 1, hour, 30) for hour in (1, 2, 10, 11)]
    found = protect({"at": times}, quasi_identifiers=["at"], k=2).evaluate()
    assert (found.k, found.contradicting) == (2, 0)


def test_the_verdict_is_plain():
    safe = protect({"x": [1, 2, 8, 9]}, quasi_identifiers=["x"], k=2).evaluate()
    assert safe.verdict.startswith("no record is unique; everybody shares their values with at least 1 other,")
    assert "not safe: 4 of 4" in evaluate({"x": [1, 2, 8, 9]}, {"x": [1, 2, 8, 9]}, quasi_identifiers=["x"]).verdict


def test_a_blanked_cell_costs_all_its_detail_where_the_original_has_missing_cells_too():
    """A date of death that is blanked looks as that of somebody alive, so that no missing cell tells anything now."""
    days = [f"2020-01-{day:02}" for day in range(1, 11)]
    table = {"died": [*days, *[None] * 30], "sex": ["f", "m"] * 20}
    safe = protect(table, quasi_identifiers=["died", "sex"], k=11, method="blank", identifiers=[])
    assert read_table(safe.table).rows == 40
    cost = {column.column: column for column in evaluate(table, safe.table, quasi_identifiers=["died", "sex"]).columns}
    assert (cost["died"].changed, cost["died"].granularity) == (40, 0.0)
    same = {column.column: column for column in evaluate(table, table, quasi_identifiers=["died", "sex"]).columns}
    assert (same["died"].changed, same["died"].granularity) == (0, 1.0)


def test_a_frontier_measures_every_point_by_the_loss_that_was_asked_for():
    def point(granularity, pmse):
        return FrontierPoint("sorted", "k=11", 11, 0.0, 0.05, None, None, None, granularity, 0, 0.0, pmse)

    measured, other = point(0.5, 0.1), point(0.95, None)  # 0.05 of its detail is lost, which is no pMSE
    by_pmse, by_detail = (Frontier(100, (measured, other), Limits(1 / 11), loss) for loss in ("pmse", "granularity"))
    assert (by_pmse.chosen, by_pmse.best, worth_choosing(by_pmse, ["within"] * 2)) == (
        measured,
        (measured,),
        [measured],
    )
    assert (by_detail.chosen, by_detail.best) == (other, (other,))
