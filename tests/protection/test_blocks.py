"""What a worker of a cluster makes of a block does not depend on the order in which its rows come."""

import numpy as np
import pyarrow as pa

from incrowd import demo_table, read_table
from incrowd.backends import encode
from incrowd.backends.spark.workers import ProtectBlock
from incrowd.protection.cluster_protection import BlockRecoding
from incrowd.protection.problem import Demand

NAMES = ("age_yrs", "sex", "race")


def test_the_rows_of_a_block_may_come_in_any_order():
    rows = demo_table(2_000, seed=1).select([*NAMES, "charge"])
    columns = encode(read_table(rows), NAMES)
    counts = tuple(np.bincount(column.codes, minlength=column.size) for column in columns)
    recoding = BlockRecoding(
        NAMES, tuple(column.values for column in columns), counts, Demand(5), "information", (None,) * len(NAMES)
    )
    protect_block = ProtectBlock(recoding, tuple(rows.column_names))
    order = [(name, "ascending") for name in rows.column_names]
    made = [
        protect_block(rows.take(pa.array(np.random.default_rng(seed).permutation(2_000)))).sort_by(order)
        for seed in range(3)
    ]
    assert made[0].equals(made[1])
    assert made[0].equals(made[2])
