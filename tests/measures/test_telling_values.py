"""Single values of kept columns that tell a coarsened quasi-identifier."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd import assess, read_table
from incrowd.backends import encode
from incrowd.measures import kept_column_facts
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.telling_values import count_by_telling_values

ROWS = 4_000


def scores(seed=1):
    """A score that tells the origin where it is 46 or 48; the origin was made coarser in some of the areas."""
    draw = np.random.default_rng(seed)
    origin = draw.choice(["a", "b"], ROWS, p=[0.8, 0.2])
    score = np.where(origin == "a", draw.integers(20, 50, ROWS), draw.integers(20, 46, ROWS))
    score = np.where((origin == "a") | ~np.isin(score, [46, 48]), score, 30)
    area = draw.integers(0, 40, ROWS)
    before = {"area": area, "origin": origin, "score": score, "via": draw.choice([*"stuv"], ROWS)}
    return before, before | {"origin": np.where(area < 20, "{a,b}", origin)}


@pytest.mark.parametrize("seed", range(3))
def test_those_are_counted_who_may_have_the_value(seed):
    before, after = scores(seed)
    (fact,) = kept_column_facts(before, after, ["area", "origin"], ["score"], coarse=["origin"])
    telling = before["score"] > 45
    by_hand = []
    for area in range(20):
        members = before["area"] == area
        if (members & telling).any():
            by_hand += [np.count_nonzero(members & (before["origin"] == "a")), np.count_nonzero(members & ~telling)]
    assert (fact.kind, fact.gives_back, fact.uniques) == ("recovering values", "origin", 0)
    assert fact.k == min(*by_hand, fact.k_without)


def test_values_decide_where_too_few_people_are_left():
    before, after = scores()
    roles = {"quasi_identifiers": ["area", "origin"], "sensitive": ["via"], "other": ["score"]}
    after |= {"origin": np.full(ROWS, "{a,b}")}  # else areas with few of one origin decide
    (fact,) = kept_column_facts(before, after, ["area", "origin"], ["score"], coarse=["origin"])
    asked = {"original": before, "rows_are_people": True, "protection": False}
    found = assess(after, **roles, highest=1 / fact.k, **asked).verdict
    assert (found.decision, found.given_back) == ("within", ())
    assert any("values of score, which is kept, give origin back" in one.sentence for one in found.internal_reasons)
    found = assess(after, **roles, highest=1 / (fact.k + 1), **asked).verdict
    assert (found.decision, found.given_back) == ("exposed", (fact,))


def test_records_of_one_person_are_no_proof():
    """In 60 of 68 rows the value is that of eight people with many records each, all of one origin by chance."""
    draw = np.random.default_rng(2)
    person = np.repeat(np.arange(500), 8)
    origin = draw.choice(["a", "b"], 500, p=[0.7, 0.3])[person]
    job = draw.integers(0, 6, 500)[person]
    job[np.isin(person, np.flatnonzero(draw.random(500) < 0.02)) & (origin == "a")] = 7
    before = {"origin": origin, "job": job, "who": person}
    assert 1 <= np.unique(person[job == 7]).size < 15
    assert np.count_nonzero(job == 7) >= 30
    after = before | {"origin": np.full(person.size, "{a,b}")}
    assert kept_column_facts(before, after, ["origin"], ["job"], "who", coarse=["origin"]) == ()


@pytest.mark.parametrize("seed", [138, 452, 498, 542, *range(20)])
def test_candidates_are_counted_as_in_plain_python(seed):
    """Values that other classes tell, ranges that overlap, and records that were left out change nothing."""
    draw = np.random.default_rng(seed)
    rows, values = int(draw.integers(6, 60)), int(draw.integers(2, 6))
    origin, area = draw.integers(0, values, rows), draw.integers(0, 3, rows)
    score = np.where(draw.random(rows) < 0.3, origin, 9)  # below 9 it tells the origin
    cut = int(draw.integers(1, values))
    groups = np.array(["{" + ",".join(map(str, part)) + "}" for part in (range(cut), range(cut, values))])
    labels = groups[(origin >= cut).astype(int)]
    kept = np.sort(draw.permutation(rows)[: int(draw.integers(max(2, rows // 2), rows + 1))])
    known = encode(read_table({"area": area, "origin": origin, "score": score}), ["area", "origin", "score"])
    after = read_table({"area": area[kept], "origin": labels[kept], "score": score[kept]})
    release = ComparedRelease(known[:2], after, ["origin"])
    telling = {code: known[1].values.index(value).as_py() for code, value in enumerate(known[2].values) if code < 9}
    telling = {code: told for code, told in telling.items() if told >= 0}
    fewest = release.k
    for place, label in {*zip(area[kept], labels[kept], strict=True)}:
        members = {*map(int, label[1:-1].split(","))} & {*origin.tolist()}
        people = origin[(area == place) & np.isin(origin, [*members])]
        told = score[kept][(area[kept] == place) & (labels[kept] == label)]
        if len(members) > 1:
            of_records = [np.count_nonzero(people == one) for one in told if one < 9]
            of_people = [np.count_nonzero((told == 9) | (told == one)) for one in people]
            fewest = min([fewest, *(count for count in of_records + of_people if count)])
    assert count_by_telling_values(known[2], known[1], telling, release)[0] == fewest
