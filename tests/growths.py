"""Quick estimates, for tests of what surrounds them."""

from contextlib import contextmanager

import pytest

from incrowd.populations import crowd_estimator

_FEW = {"_REACH": 10_000, "_TOTAL": 20_000, "_FEWEST": 2, "_MOST": 4}
_ALL = {name: getattr(crowd_estimator, name) for name in _FEW}


@contextmanager
def few_growths(limits=_FEW):
    """Samples are grown less far and less often than for real."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(crowd_estimator, name, value)
        yield


def all_growths():
    """Samples are grown as for real, for a test of exactness among others of quick estimates."""
    return few_growths(_ALL)
