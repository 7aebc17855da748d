"""Sets of the release against sets of the original, and the progress of attacks."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import attack_release
from incrowd.attacks.encoding import ScaledLabels, missed_pairs

LABELS = st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=6)


def labels_of(sets):
    """Labels of a column of texts, by the ranks that each covers."""
    ranks = [sorted(one) for one in sets]
    low, high = (np.array([one[end] for one in ranks], dtype=np.float64) for end in (0, -1))
    members = {place: np.array(one) for place, one in enumerate(ranks) if one[-1] - one[0] + 1 > len(one)}
    return ScaledLabels(np.arange(len(ranks)), low, high, members)


@given(LABELS, LABELS)
def test_labels_miss_each_other_where_they_share_no_value(first, second):
    missed = missed_pairs(labels_of(first), labels_of(second))
    assert missed.tolist() == [[not one & other for other in second] for one in first]


def test_thousands_of_sets_are_compared_in_seconds():
    draw = np.random.default_rng(0)
    sets = labels_of([{*draw.choice(200, 6, replace=False).tolist()} for _ in range(3_000)])
    begun = time.process_time()
    missed = missed_pairs(sets, sets)
    assert time.process_time() - begun < 5  # 30 where every pair is compared
    assert not missed.diagonal().any()
    assert missed.mean() == pytest.approx(0.83, abs=0.03)  # (194 choose 6) ÷ (200 choose 6)


def test_progress_covers_all_attacks_and_never_goes_back():
    draw = np.random.default_rng(0)
    table = {"age": draw.integers(20, 80, 300), "town": draw.integers(0, 40, 300), "pay": draw.integers(0, 9, 300)}
    told = []
    attack_release(table, table, secret="pay", targets=100, progress=lambda *now: told.append(now))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    kinds = {doing.partition(":")[0]: share for doing, share in told if ":" in doing}
    assert kinds["linkage"] < 0.2 < kinds["linkability"] < kinds["attribution"] <= 1
    assert [doing for doing, _ in told if doing.startswith("singling-out")]


def test_the_search_for_copies_is_part_of_the_progress():
    draw = np.random.default_rng(0)
    people = {"age": draw.integers(20, 80, 900), "town": draw.integers(0, 40, 900), "pay": draw.integers(0, 9, 900)}
    drawn, holdout = ({name: cells[start::2] for name, cells in people.items()} for start in (0, 1))
    told = []
    attack_release(
        drawn, drawn, holdout=holdout, kinds=["singling-out"], targets=100, progress=lambda *now: told.append(now)
    )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    searched = [share for doing, share in told if doing.startswith("copies: ")]
    assert (len(set(searched)) >= 6, searched[0] < 0.7, searched[-1]) == (True, True, 1)
