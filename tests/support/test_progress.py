"""Work side by side: what its progress says, and that one who raises stops all of it."""

import threading
import time

import pytest

from incrowd._support.progress import stoppable_threads


class CancelledError(Exception):
    pass


def work_until_stopped(progress, begun, ended):
    """Work that says how far it is until that raises; five seconds at most."""
    begun.release()
    try:
        for _ in range(5_000):
            progress("working", 0.5)
            time.sleep(0.001)
    except Exception as error:
        ended.append(type(error).__name__)
        raise


@pytest.mark.parametrize("workers", [1, 2])
def test_work_repeats_what_the_block_said_and_no_share_goes_back(workers):
    told = []
    with stoppable_threads(workers, lambda *said: told.append(said)) as (pool, tell, repeat):
        tell("first", 0.5)
        list(pool.map(lambda number: repeat(f"inside {number}", 0.9), range(3)))
        tell("second", 0.25)
    assert told == [("first", 0.5)] * 4 + [("second", 0.5)]


def test_progress_that_raises_once_in_one_thread_stops_the_other_and_the_block():
    calls, raised, ended, begun = [], [], [], threading.Semaphore(0)

    def progress(doing, share):
        calls.append(threading.get_ident())
        if len(set(calls)) == 3 and not raised:  # the block and both threads have said something
            raised.append(True)
            raise CancelledError

    trials = []

    def work():
        with stoppable_threads(2, progress) as (pool, tell, repeat):
            tell("begin", 0.0)
            trials.extend(pool.submit(work_until_stopped, repeat, begun, ended) for _ in range(2))
            trials[0].result()

    with pytest.raises(CancelledError):
        work()
    assert ended == ["CancelledError"] * 2 or ended == ["CancelledError", "Stopped"]
    assert all(trial.done() for trial in trials)


def test_leaving_the_block_stops_work_that_nobody_waits_for_and_begins_no_other():
    ended, begun = [], threading.Semaphore(0)
    with stoppable_threads(1, lambda doing, share: None) as (pool, _, repeat):
        running = pool.submit(work_until_stopped, repeat, begun, ended)
        waiting = pool.submit(work_until_stopped, repeat, begun, ended)
        assert begun.acquire(timeout=5)
    assert ended == ["Stopped"]
    assert running.done()
    assert waiting.cancelled()


def test_cancelling_that_only_a_forgotten_thread_heard_is_raised_when_the_block_ends():
    def progress(doing, share):
        raise CancelledError

    with pytest.raises(CancelledError), stoppable_threads(1, progress) as (pool, _, repeat):
        assert isinstance(pool.submit(repeat, "", 0.0).exception(), CancelledError)
