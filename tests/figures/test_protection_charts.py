"""The figure of the frontier."""

import json
from collections import Counter

import pytest

from incrowd import InputError, frontier
from incrowd.evaluation.method_frontier import FRONTIER_METHODS
from incrowd.figures.protection_charts import frontier_chart


def test_every_point_is_drawn():
    table = {"age": list(range(40)), "pay": list(range(40))}
    found = frontier(table, quasi_identifiers=["age"], k=[2, 4], sensitive=["pay"], secret=(30, None))
    chart = frontier_chart(found, risk="disclosure").to_dict()
    tried = {name: 3 if name == "coarsen" else 2 for name in FRONTIER_METHODS if name != "generalise"}
    assert Counter(point.method for point in found.points) == tried
    assert json.dumps(chart).count('"setting": "') == len(found.points)
    with pytest.raises(InputError, match="no risk"):
        frontier_chart(found, risk="luck")
    plain = frontier(table, quasi_identifiers=["age"], k=[2], methods=["sorted"])
    with pytest.raises(InputError, match="without a secret"):
        frontier_chart(plain, risk="disclosure")
