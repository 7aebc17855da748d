"""Parts are worked on in order, and small work starts no thread."""

import threading
import time

import numpy as np
import pytest

from incrowd import attack, protect
from incrowd._support.threads import map_in_threads


def in_which(part):
    return part, threading.get_ident()


def test_results_come_in_the_order_of_the_parts_from_other_threads():
    found = list(map_in_threads(in_which, range(20), small=False, threads=2))
    assert [part for part, _ in found] == list(range(20))
    assert threading.get_ident() not in {thread for _, thread in found}


def test_small_work_is_done_here():
    assert list(map_in_threads(in_which, range(3), small=True)) == [(part, threading.get_ident()) for part in range(3)]


@pytest.mark.parametrize("small", [True, False])
def test_what_fails_in_a_part_is_raised(small):
    with pytest.raises(ZeroDivisionError):
        list(map_in_threads(lambda part: 1 // part, [1, 0], small=small))


def test_no_part_is_begun_long_before_its_turn():
    begun = []
    found = map_in_threads(begun.append, range(200), small=False, threads=2)  # held, as a traceback holds it
    next(found)
    time.sleep(0.2)
    assert len(begun) <= 5
    found.close()


def test_after_a_part_has_failed_no_other_is_begun():
    begun = []

    def fail_first(part):
        begun.append(part)
        time.sleep(0.05)
        assert part

    with pytest.raises(AssertionError):
        list(map_in_threads(fail_first, range(200), small=False, threads=1))
    assert begun in ([0], [0, 1])


def test_a_small_table_is_protected_and_attacked_without_a_new_thread(monkeypatch):
    draw = np.random.default_rng(3)
    table = {name: draw.integers(0, 30, 300).tolist() for name in ("age", "job", "town")}

    def refuse(self):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    safe = protect(table, quasi_identifiers=["age", "job"], k=5, other=["town"])
    assert attack(table, safe.table, kind="linkage", known=["age", "job"]).targets == 300
