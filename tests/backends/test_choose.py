import numpy as np
import pyarrow as pa

from incrowd import read_table
from incrowd.backends import encode
from incrowd.backends.row_hash import row_hashes


def test_hashes_do_not_depend_on_the_order_of_rows():
    generator = np.random.default_rng(0)
    table = pa.table({"a": generator.integers(0, 40, 2_000), "b": generator.integers(0, 5, 2_000).astype(str)})
    order = generator.permutation(2_000)
    here = row_hashes(encode(read_table(table), ["a", "b"]))
    there = row_hashes(encode(read_table(table.take(pa.array(order))), ["a", "b"]))
    assert np.array_equal(here[order], there)
    assert np.unique(here).size == table.group_by(["a", "b"]).aggregate([]).num_rows


def test_hashes_choose_evenly():
    columns = encode(read_table({"a": np.repeat(np.arange(300), 100), "b": np.tile(np.arange(100), 300)}), ["a", "b"])
    hashes = row_hashes(columns)
    assert hashes.min() >= 0
    share = hashes / 2.0**63
    counts, _ = np.histogram(share, bins=20, range=(0, 1))
    assert ((counts - 1_500) ** 2 / 1_500).sum() < 45  # chi-squared with 19 degrees of freedom exceeds it once in 1,500
    assert abs(np.corrcoef(share, columns[0].codes)[0, 1]) < 0.02
    assert not np.array_equal(hashes, row_hashes(columns, seed=1))
