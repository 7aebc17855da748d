"""Set-valued tables."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import InputError
from incrowd.measures import itemset_anonymity


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcd")), min_size=1, max_size=14), st.integers(1, 3))
def test_sets_of_items_are_counted_as_by_hand(rows, known):
    found = itemset_anonymity(
        {"who": [r[0] for r in rows], "what": [r[1] for r in rows]}, person="who", item="what", known=known
    )
    baskets = {who: sorted({item for owner, item in rows if owner == who}) for who, _ in rows}
    for size in range(1, known + 1):
        counts = Counter(items for basket in baskets.values() for items in combinations(basket, size))
        if not counts:
            assert len(found.smallest) < size
            continue
        assert found.smallest[size - 1] == min(counts.values())
        assert found.sets[size - 1] == len(counts)
        assert found.alone[size - 1] == sum(count == 1 for count in counts.values())
    assert found.k == min(found.smallest)


def test_a_row_without_an_item_is_refused():
    with pytest.raises(InputError, match="fill them"):
        itemset_anonymity({"who": [1, 2], "what": ["a", None]}, person="who", item="what")


def test_real_baskets(shared_data):
    found = itemset_anonymity(shared_data / "groceries.parquet", person="basket", item="item", known=1)
    assert found.people == 9_835
    assert found.items == 169
