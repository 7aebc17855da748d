"""Figures on the risk in the population."""

import json

from incrowd import ClassSizes
from incrowd.figures.population_charts import plot_by_fraction, plot_sensitivity
from incrowd.populations import by_fraction, sensitivity

SIZES = ClassSizes.from_counts({1: 300, 2: 90, 5: 20})


def test_the_figure_shows_every_population_and_the_limits_within_reach():
    found = sensitivity(SIZES, population=3_000, method="posterior")
    spec = json.dumps(plot_sensitivity(found).to_dict())
    for people in (1500, 2400, 3000, 3750, 6000):
        assert f'"population": {people}' in spec
    assert "trusted recipient" in spec


def test_the_figure_by_fraction_is_drawn():
    found = by_fraction(SIZES, method="posterior", fractions=(0.01, 0.1, 1.0))
    assert plot_by_fraction(found).to_dict()["title"]["subtitle"].startswith("580 people")
