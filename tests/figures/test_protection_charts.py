"""The figure of the frontier."""

import json
from collections import Counter

import pytest

from incrowd import InputError, frontier
from incrowd.evaluation.method_frontier import FRONTIER_METHODS
from incrowd.figures.protection_charts import ANSWERS, frontier_chart


def test_points_of_the_frontier_have_the_colour_of_their_answer():
    table = {"age": [20 + n % 13 for n in range(60)], "sex": [n % 2 for n in range(60)]}
    measured = frontier(table, quasi_identifiers=["age", "sex"], k=[2, 5], methods=["partition"])
    answers = [*ANSWERS][: len(measured.points)]
    plain = frontier_chart(measured, answers=answers).to_dict()
    rows = plain["data"]["values"] if "data" in plain else plain["layer"][0]["data"]["values"]
    assert [row["answer"] for row in rows] == answers
    dots = next(layer for layer in plain["layer"] if layer["mark"]["type"] == "point")
    scale = dots["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == ANSWERS
    assert dots["encoding"]["fillOpacity"]["condition"]["value"] == 0  # a no is hollow


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
