"""Quick estimates, for tests of what surrounds them."""

from contextlib import contextmanager

import pytest

from incrowd.populations import crowd_estimator


@contextmanager
def few_growths():
    """Samples are grown less far and less often than for real."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_REACH": 50_000, "_TOTAL": 100_000, "_FEWEST": 2, "_MOST": 4}.items():
            patch.setattr(crowd_estimator, name, value)
        yield
