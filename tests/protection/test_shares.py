"""β-likeness, δ-disclosure and t-closeness of the partition and of full-domain generalisation, in fractions."""

import math
import random
from collections import Counter
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import reference
from tests.protection.plain import TABLES

from incrowd import InputError, UnsupportedError
from incrowd import protect as protect_and_shuffle

protect = partial(protect_and_shuffle, shuffle=False)  # rows are compared by position

QIS = ["age", "town"]
ROWS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.integers(0, 2)), min_size=10, max_size=50)
ASKED = st.sampled_from(
    [{"beta": 0.5}, {"beta": 2.0}, {"delta": 1.0}, {"delta": 2.5}, {"t": 0.15}, {"beta": 1.0, "t": 0.3}]
)
METHOD = st.sampled_from(["partition", "generalise"])


def table_of(rows):
    age, town, ill = zip(*rows, strict=True)
    return pa.table({"age": age, "town": town, "ill": [f"i{one}" for one in ill]})


def shares(rows):
    return {value: Fraction(count, len(rows)) for value, count in Counter(row["ill"] for row in rows).items()}


def keeps(rows, groups, beta=None, delta=None, t=None):
    """Whether every class keeps what was asked, by its definition."""
    table = shares(rows)
    for members in groups:
        here = shares([rows[number] for number in members])
        for value, share in table.items():
            gain = here.get(value, Fraction(0)) / share
            if beta is not None and gain > 1 + Fraction(beta):
                return False
            if delta is not None and (gain == 0 or abs(math.log(gain)) > delta + 1e-9):
                return False
        apart = sum(abs(here.get(value, 0) - share) for value, share in table.items()) / 2
        if t is not None and apart > t + 1e-9:
            return False
    return True


@settings(max_examples=TABLES)
@given(ROWS, st.integers(2, 3), ASKED, METHOD, st.sampled_from([0.0, 0.3]))
def test_every_class_keeps_the_limits_on_shares(rows, k, asked, method, suppress):
    options = {"method": method} | ({"suppress": suppress} if method == "generalise" else {})
    try:
        safe = protect(
            table_of(rows),
            quasi_identifiers=QIS,
            k=k,
            sensitive=["ill"],
            identifiers=[],
            warn=False,
            **asked,
            **options,
        )
    except UnsupportedError:
        assert suppress  # all records together always keep them
        assert method == "generalise"
        return
    after = safe.table.to_pylist()
    groups = reference.classes_of(after, QIS)
    assert min(map(len, groups)) >= k
    assert keeps(after, groups, **asked)
    assert safe.suppressed_rows <= suppress * len(rows)
    (one,) = safe.guarantee.sensitive
    expected = reference.diversity(after, QIS, "ill", sorted({row["ill"] for row in after}))
    assert one.beta == pytest.approx(float(expected["beta"]))
    lacks = any(len({after[i]["ill"] for i in members}) < len(shares(after)) for members in groups)
    assert (one.delta is None) == lacks
    assert lacks or one.delta == pytest.approx(expected["delta"], abs=1e-9)


def test_a_looser_limit_keeps_more_classes():
    draw = random.Random(1)
    rows = [(draw.randrange(40), draw.choice("ab"), draw.randrange(3)) for _ in range(400)]
    classes = [
        protect(
            table_of(rows), quasi_identifiers=QIS, k=2, sensitive=["ill"], beta=beta, identifiers=[], warn=False
        ).classes.classes
        for beta in (0.05, 0.5, 5.0)
    ]
    assert classes[0] < classes[1] < classes[2]


def test_limits_are_told_and_what_misses_them_is_refused():
    rows = [(number, "a", number % 2) for number in range(12)]
    options = {"quasi_identifiers": QIS, "k": 2, "sensitive": ["ill"], "identifiers": []}
    safe = protect(table_of(rows), beta=0.5, delta=0.7, **options)
    assert "times as common in a class as in the table (beta)" in safe.guarantee.sentence
    assert "(delta)" in safe.guarantee.sentence
    rows = [(number, "a", number // 6) for number in range(12)]
    for asked in ({"beta": 0.2}, {"delta": 0.2}):
        with pytest.raises(UnsupportedError, match="only the partition and generalise join"):
            protect(table_of(rows), method="sorted", **asked, **options)
        histories = table_of(rows).append_column("who", [[str(number // 2) for number in range(12)]])
        for table, whose in ((table_of(rows), None), (histories, "who")):
            safe = protect(table, keep=["town"], person=whose, **asked, **options)
            assert set(safe.table["town"].to_pylist()) == {"a"}
            assert all(f"({limit})" in safe.guarantee.sentence for limit in asked)
            shares = Counter(zip(safe.table["age"].to_pylist(), safe.table["ill"].to_pylist(), strict=True))
            assert len({shares[age, ill] for age, _ in shares for ill in (0, 1)}) == 1  # as in the whole table
    for method in ("generalise", "sorted", "blank", "coarsen"):  # a bound that nothing reaches is not passed over
        with pytest.raises(UnsupportedError, match="reached by strata"):
            protect(table_of(rows), t="bound", method=method, **options)
    with pytest.raises(InputError, match="beta must be above 0"):
        protect(table_of(rows), beta=-1, **options)
    with pytest.raises(InputError, match="need a sensitive column"):
        protect(table_of(rows), delta=1, quasi_identifiers=QIS, k=2)
