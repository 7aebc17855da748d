"""The pages say what the code computes: small runs give the numbers that were kept with the pages."""

import json

import pyarrow as pa
import pytest
from papers.releases import in_fixed_order
from papers.stale import KEPT, compared_parts, run_small

KNOWN = json.loads(KEPT.read_text(encoding="utf-8"))


def flat(tables):
    return [cell for table in tables for cell in (table["title"], *(cell for row in table["cells"] for cell in row))]


def test_every_part_is_kept():
    assert set(KNOWN) == set(compared_parts())


@pytest.mark.parametrize("name", KNOWN)
def test_the_page_is_not_stale(name):
    now, kept = (flat(tables) for tables in (run_small(compared_parts()[name]), KNOWN[name]))
    assert len(now) == len(kept)
    wrong = [
        (a, b) for a, b in zip(now, kept, strict=True) if a != (pytest.approx(b, rel=1e-6) if _is_number(b) else b)
    ]
    assert not wrong, f"the pages are stale: python -m papers {name.split('/')[0]}, docs.write_papers, papers.stale"


def _is_number(cell):
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def test_a_release_has_one_order():
    first = pa.table({"who": ["x", "y", "x", "z"], "age": ["40", "30", "20", "30"], "ill": ["a", "b", "c", "a"]})
    second = pa.table({"ill": ["a", "b", "a", "c"], "age": ["30", "30", "40", "20"], "who": ["1", "2", "3", "3"]})
    ours = in_fixed_order(first, "who")
    assert ours.equals(in_fixed_order(second.select(["who", "age", "ill"]), "who"))
    assert ours["who"].to_pylist() == ["p00000", "p00000", "p00001", "p00002"]
