"""Work is linear in the bytes of a cell, whatever rule of texts the cell is made against."""

import signal
import time
from contextlib import suppress

import pytest

from incrowd import check, measure, protect, read_table, suggest_roles
from incrowd.errors import IncrowdError

SHORT, LONG, CELLS = 3_000, 48_000, 20
LINEAR = LONG / SHORT
PATTERNS = ["1-", "1:", "1/", "1 ", "+1", "[1;", "(0)1 ", "{a;", "a ", "é", "1e", "a@", "@a.", "2020-01-01", "<", '""']
VERBS = {
    "suggest": suggest_roles,
    "measure": lambda table: measure(table, quasi_identifiers=["age", "cell"]),
    "check": lambda table: check(table, quasi_identifiers=["age"], sensitive=["cell"], min_k=2, min_l=1),
    "protect": lambda table: protect(table, quasi_identifiers=["age", "cell"], k=2, identifiers=[]),
}


def seconds(verb, pattern, length, folder):
    """Processor time of reading and a verb; a verb may refuse the table in words."""
    cell = (pattern * length)[: length - 2]
    lines = [f"{row % 5},{cell}{row:02}" for row in range(CELLS)]
    path = folder / "long.csv"
    path.write_text("\n".join(["age,cell", *lines]) + "\n", encoding="utf-8")
    start = time.process_time()
    with suppress(IncrowdError):
        VERBS[verb](read_table(path))
    return time.process_time() - start


@pytest.mark.parametrize("pattern", PATTERNS)
def test_work_is_linear_in_the_length_of_cells(tmp_path, pattern):
    for verb in VERBS:
        seconds(verb, pattern, 10, tmp_path)  # compiles
        short = max(seconds(verb, pattern, SHORT, tmp_path), 0.03)
        signal.alarm(60)  # quadratic work would take 256 times as long
        try:
            assert seconds(verb, pattern, LONG, tmp_path) < 3 * LINEAR * short
        finally:
            signal.alarm(0)
