"""The generated hospital population."""

from itertools import chain

import numpy as np
import pytest
from papers.proper_anonymization.printed_numbers import PAIRS, TABLE_S4

from incrowd import InputError, demo, measure


@pytest.fixture(scope="module")
def full():
    return demo.demo_table(demo.FULL_SIZE, seed=0)


def test_three_quarters_are_unique_at_the_published_size(full):
    found = measure(full, quasi_identifiers=demo.QUASI_IDENTIFIERS)
    assert found.records == 3_985_166
    assert 0.72 < found.uniqueness < 0.78


def test_correlations_are_near_the_published_ones(full):
    """Table S4 of the paper, all 36 pairs."""
    columns = list(demo.QUASI_IDENTIFIERS)
    found = np.corrcoef(np.stack([full[name].to_numpy().astype(float) for name in columns]))
    published = dict(zip(PAIRS, chain(*TABLE_S4), strict=True))
    assert len(published) == 36
    for (first, second), value in published.items():
        assert found[columns.index(first), columns.index(second)] == pytest.approx(value, abs=0.1), (first, second)


def test_about_one_stay_in_ten_costs_more_than_100_000(full):
    assert 0.05 < (full["charge"].to_numpy() > 100_000).mean() < 0.15


def test_a_seed_gives_the_same_table_and_a_small_table_is_the_head_of_a_large_one(monkeypatch, draw_block):
    monkeypatch.setattr(demo, "_draw_block", draw_block)  # drawn anew, not kept from another test
    assert demo.demo_table(1_000, seed=3).equals(demo.demo_table(1_000, seed=3))
    assert demo.demo_table(1_000, seed=3).equals(demo.demo_table(2_000, seed=3).slice(0, 1_000))
    assert not demo.demo_table(1_000, seed=3).equals(demo.demo_table(1_000, seed=4))


def test_values_stay_in_their_domains():
    table = demo.demo_table(50_000, seed=1)
    limits = {
        "age_yrs": (0, 85),
        "sex": (1, 4),
        "ethncty": (1, 3),
        "race": (1, 6),
        "patcnty": (1, 58),
        "adm_qtr": (1, 4),
    }
    for name, (low, high) in limits.items():
        values = table[name].to_numpy()
        assert low <= values.min() <= values.max() <= high
    assert table["patzip"].to_numpy().min() > 90_000
    assert table["diag_p"].null_count == 0


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="1 or more"):
        demo.demo_table(0)
