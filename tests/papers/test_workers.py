"""Work spread over processes comes back in order, and progress is told of."""

import operator

import pytest
from papers.workers import map_in_processes

from papers import Context


@pytest.mark.parametrize("quick", [True, False])
def test_results_come_in_order_and_progress_reaches_the_end(quick):
    told = []
    context = Context(quick=quick, progress=lambda doing, share: told.append((doing, share)))
    assert list(map_in_processes(operator.ne, ["first", "second"], context)) == [True, True]
    assert told == [("first is done", 0.5), ("second is done", 1.0)]
