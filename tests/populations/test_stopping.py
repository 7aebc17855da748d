"""Work on a population can be stopped while it grows, and growing it in parts changes nothing."""

import time

import pytest

from incrowd import demo_table, population_risk
from incrowd.populations import crowd_growth


class _EnoughError(Exception):
    pass


def test_growing_in_parts_gives_the_same_population(monkeypatch):
    asked = {"quasi_identifiers": ["age_yrs", "sex", "race"], "population": 60_000}
    table = demo_table(500)
    whole = population_risk(table, **asked).to_dict()
    monkeypatch.setattr(crowd_growth, "_AT_ONCE", 997)
    assert population_risk(table, **asked).to_dict() | {"seconds": 0} == whole | {"seconds": 0}


def test_a_growing_population_is_stopped_before_the_next_growth_is_whole(monkeypatch):
    monkeypatch.setattr(crowd_growth, "_AT_ONCE", 1_000)
    said = []

    def progress(doing, share):
        said.append((doing, share))
        if len(said) > 20:
            raise _EnoughError

    with pytest.raises(_EnoughError):
        population_risk(
            demo_table(500), quasi_identifiers=["age_yrs", "sex", "race"], population=60_000, progress=progress
        )
    told = len(said)
    time.sleep(0.2)
    assert len(said) == told  # no thread goes on
    grown = [share for doing, share in said if doing == "growing the sample to the population"]
    assert grown[-1] == grown[0]  # not one of the growths was whole yet
