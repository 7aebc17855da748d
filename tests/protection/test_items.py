"""k^m-anonymity of sets of items and of points in time and place, counted set by set in plain Python."""

import datetime
import itertools
import json
import random
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import run
from tests.protection.plain import TABLES, examples

from incrowd import Hierarchy, InputError, UnsupportedError
from incrowd.protection import protect_items, protect_trajectories

VISITS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7)), min_size=1, max_size=60)
GROUPS = Hierarchy.from_rows([(str(item), "low" if item < 4 else "high") for item in range(8)])


def sets_of(rows):
    found = defaultdict(set)
    for who, what in rows:
        found[who].add(what)
    return list(found.values())


def fewest(people, known):
    """The fewest people who share any so many items that somebody has; None where nobody has any."""
    sets = {
        chosen
        for items in people
        for size in range(1, known + 1)
        for chosen in itertools.combinations(sorted(items), size)
    }
    return min((sum(set(chosen) <= items for items in people) for chosen in sets), default=None)


@settings(max_examples=TABLES)
@given(VISITS, st.integers(1, 3), st.integers(2, 4), st.booleans())
def test_any_few_items_of_somebody_are_had_by_k_people(rows, known, k, coarser):
    people, items = [f"p{who}" for who, _ in rows], [str(what) for _, what in rows]
    table = pa.table({"who": people, "what": items, "rest": [1] * len(rows)})
    options = {"hierarchy": GROUPS} if coarser else {}
    safe = protect_items(table, person="who", item="what", known=known, k=k, **options)
    after = [(row["who"], row["what"]) for row in safe.table.to_pylist()]
    assert safe.table.column_names == ["who", "what"]
    assert len(set(after)) == len(after)
    before, now = sets_of(rows), sets_of(after)
    assert (safe.found.k if safe.found else None) == fewest(now, known)
    assert safe.found is None or safe.found.k >= k
    assert safe.people == len(before)
    assert safe.without_items == len(before) - len(now)
    assert {str(who) for who, _ in after}.isdisjoint(table["who"].to_pylist())
    assert safe.items == sum(map(len, before))
    if not coarser:
        assert safe.generalised == 0
        assert safe.suppressed == safe.items - len(after)
        left = sorted(tuple(sorted(items)) for items in now)
        for items in left:  # everybody who is left has only items that somebody had together
            assert any(set(items) <= {str(what) for what in had} for had in before)
    else:  # a label is an item or the group above it, and never both for one item
        shown = {what for _, what in after}
        assert shown <= {*map(str, range(8)), "low", "high"}
        for group, members in (("low", range(4)), ("high", range(4, 8))):
            assert group not in shown or shown.isdisjoint(map(str, members))


def test_what_is_shared_enough_is_left_alone():
    rows = [(who, what) for who in range(6) for what in ("a", "b", "c")]
    table = {"who": [who for who, _ in rows], "what": [what for _, what in rows]}
    safe = protect_items(table, person="who", item="what", known=3, k=6)
    assert (safe.suppressed, safe.without_items, safe.found.k) == (0, 0, 6)
    assert "at least 6 people; 0% of the items were left out" in safe.sentence


def test_numbers_stay_numbers_and_nothing_may_be_left():
    safe = protect_items({"who": [1, 2, 3], "what": [7, 7, 8]}, person="who", item="what", k=2, known=1)
    assert safe.table["what"].to_pylist() == [7, 7]
    none = protect_items({"who": [1, 2, 3], "what": [7, 8, 9]}, person="who", item="what", k=2)
    assert (none.found, none.table.num_rows, none.without_items) == (None, 0, 3)
    assert "nothing is left" in none.sentence


def test_rows_of_the_release_are_not_in_the_order_of_the_people():
    table = {"who": list(range(200)) * 2, "what": [*range(2)] * 200}
    orders = set()
    for _ in range(3):
        safe = protect_items(table, person="who", item="what", k=2, known=1)
        assert safe.table["who"].to_pylist() == sorted(safe.table["who"].to_pylist())  # by numbers that are random
        orders.add(tuple(safe.table["what"].to_pylist()[:40]))
    assert len(orders) > 1


def test_real_baskets_and_visits(shared_data):
    found = protect_items(shared_data / "groceries.parquet", person="basket", item="item", known=2, k=5)
    assert found.found.k >= 5
    assert found.suppressed / found.items < 0.16
    found = protect_items(shared_data / "msweb_visits.parquet", person="user", item="area_id", known=2, k=5)
    assert found.suppressed / found.items < 0.09


def trips(people, seed):
    draw = random.Random(seed)
    start = datetime.datetime(2024, 1, 1)
    rows = []
    for who in range(people):
        x, y = draw.choice([(10, 10), (60, 40)])
        for _ in range(draw.randrange(1, 6)):
            when = start + datetime.timedelta(hours=draw.randrange(24 * 14), minutes=draw.randrange(60))
            rows.append((f"p{who}", when, x + draw.gauss(0, 2), y + draw.gauss(0, 2), 10 ** draw.uniform(0, 3)))
    names = ("who", "when", "x", "y", "price")
    return pa.table({name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)})


@settings(max_examples=examples(10))
@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(2, 4), st.booleans())
def test_any_few_points_of_somebody_fit_k_people(seed, known, k, prices):
    table = trips(40, seed)
    options = {"amount": "price"} if prices else {}
    safe = protect_trajectories(table, person="who", time="when", place=["x", "y"], k=k, known=known, **options)
    after = safe.table.to_pylist()
    people = sets_of((row["who"], tuple(str(row[name]) for name in row if name != "who")) for row in after)
    assert safe.k == fewest(people, known) >= k
    assert safe.without_points == 40 - len(people)
    assert len(after) == safe.points - safe.suppressed
    assert safe.unicity_before[0] == 1.0
    alone = [items for items in people if sum(items <= other for other in people) == 1]
    assert max(safe.unicity_after[:known]) == 0.0
    assert max(safe.unicity_after) <= 1.0
    assert alone or max(safe.unicity_after) == 0.0
    again = protect_trajectories(table, person="who", time="when", place=["x", "y"], k=k, known=known, **options)
    assert again.to_dict() == safe.to_dict()


def test_released_points_are_near_the_original_ones():
    table = trips(60, 3)
    safe = protect_trajectories(table, person="who", time="when", place=["x", "y"], k=3)
    width = float(safe.resolution["x and y"].removeprefix("a grid of "))
    xs = table["x"].to_pylist()
    assert all(min(abs(x - was) for was in xs) <= width / 2 + 1e-9 for x in safe.table["x"].to_pylist())
    assert safe.table["when"].type == table["when"].type
    assert set(safe.table["when"].to_pylist()) != set(table["when"].to_pylist())


def test_regions_climb_their_hierarchy_and_days_stay_days():
    days = [datetime.date(2024, 1, 1 + number % 20) for number in range(40)]
    zips = [f"{10 + number % 2}{number:03}" for number in range(40)]
    table = {"who": list(range(40)), "day": days, "zip": zips}
    safe = protect_trajectories(table, person="who", time="day", place=["zip"], k=5, hierarchy="prefix:3,2")
    assert set(safe.table["zip"].to_pylist()) <= {f"{start}***" for start in (10, 11)} | {"*"}
    assert safe.suppressed == 0
    assert pa.types.is_date(safe.table["day"].type)


def test_unicity_is_forecast_for_the_whole_population():
    """From 1,000 of 10,000 people: the forecast for all of them is near what they show."""
    draws = np.random.default_rng(2)
    shops = draws.dirichlet(np.full(60, 0.4))
    who = np.repeat(np.arange(10_000), 3)
    points = {"who": who, "day": draws.integers(0, 3, who.size), "shop": draws.choice(60, who.size, p=shops)}
    some = {name: cells[: 3 * 1_000] for name, cells in points.items()}
    asked = {"person": "who", "time": "day", "place": ["shop"], "hierarchy": "60", "k": 2, "known": 1}
    part = protect_trajectories(some, **asked, population=10_000)
    whole = protect_trajectories(points, **asked)
    assert part.population == 10_000
    assert len(part.forecast_before) == len(part.unicity_before)
    for known in (2, 3):
        forecast, truth = part.forecast_before[known - 1], whole.unicity_before[known - 1]
        assert forecast.low <= truth <= forecast.high
        assert forecast.value < part.unicity_before[known - 1]  # of fewer people more are alone
    assert "by the scaling law" in part.sentence
    assert whole.forecast_before == ()
    with pytest.raises(InputError, match="a population of 10 people, and 1,000 are in the table"):
        protect_trajectories(some, **asked, population=10)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"place": ["x", "y", "price"]}, "two columns of coordinates"),
        ({"time": "note"}, "neither dates, times nor numbers"),
        ({"amount": "loss"}, "not above 0"),
        ({"amount": "note"}, "holds no amounts"),
        ({"known": 0}, "known points must be a whole number of 1 or more"),
        ({"place": ["x", "gap"]}, "no value in gap"),
        ({"place": ["x", "nowhere"]}, "nowhere"),
    ],
)
def test_points_that_make_no_sense_are_refused(change, wrong):
    table = trips(5, 1)
    table = table.append_column("loss", [[-1.0] * table.num_rows]).append_column("note", [["x"] * table.num_rows])
    table = table.append_column("gap", [[None, *[1.0] * (table.num_rows - 1)]])
    options = {"person": "who", "time": "when", "place": ["x", "y"], "k": 2} | change
    with pytest.raises(InputError, match=wrong):
        protect_trajectories(table, **options)


def test_times_move_only_where_they_become_coarser_and_to_the_beginning_of_their_step():
    days = [day for day in range(28) for _ in range(3)]
    table = {"who": list(range(84)), "day": days, "town": ["a"] * 84}
    asked = {"person": "who", "time": "day", "place": ["town"]}
    safe = protect_trajectories(table, **asked, k=3)
    assert (safe.resolution["day"], safe.suppressed, sorted(safe.table["day"].to_pylist())) == ("as it is", 0, days)
    safe = protect_trajectories(table, **asked, k=5)
    step = int(safe.resolution["day"].removeprefix("steps of "))
    kept = Counter(safe.table["day"].to_pylist())
    assert step > 1
    assert kept == {day: count for day, count in Counter(day // step * step for day in days).items() if count >= 5}


def test_points_that_nobody_shares_and_items_without_people_are_refused():
    table = {"who": [1, 2], "day": [1, 2], "town": ["a", "b"]}
    with pytest.raises(UnsupportedError, match="no point is had by 3 people"):
        protect_trajectories(table, person="who", time="day", place=["town"], k=3)
    for options, wrong in (({"k": 1}, "k must be"), ({"known": 0}, "known items must be"), ({"k": 2.5}, "k must be")):
        with pytest.raises(InputError, match=wrong):
            protect_items(table, person="who", item="town", **options)
    for options, wrong in (
        ({"k": "3"}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"known": 1.5}, "known points must be"),
    ):
        with pytest.raises(InputError, match=wrong):
            protect_trajectories(table, person="who", time="day", place=["town"], **options)
    with pytest.raises(InputError, match="no value in"):
        protect_items({"who": [1, None], "town": ["a", "b"]}, person="who", item="town")


def test_the_command_protects_items_and_points(capsys, tmp_path):
    visits = tmp_path / "visits.csv"
    visits.write_text("who,what\n" + "".join(f"p{who},{what}\n" for who in range(9) for what in "ab") + "p1,z\n")
    asked = ["protect", visits, "--person", "who", "--item", "what", "--k", 3, "--out", tmp_path / "safe.csv"]
    code, shown, err = run(capsys, *asked)
    assert (code, "up to 2 items" in " ".join(shown.split())) == (0, True)
    assert "assess takes all items of a person as known" in " ".join(err.split())
    assert "z" not in (tmp_path / "safe.csv").read_text().split("\n", 1)[1]
    code, _, err = run(capsys, *asked, "--recipient", "public", "--force")
    assert (code, "do not take --recipient" in err) == (2, True)
    for ignored in (["--seed", 1], ["--wildcards"], ["--step", "what:*"], ["--drop", "what"], ["--method", "mask"]):
        code, _, err = run(capsys, *asked, *ignored, "--force")
        assert (code, f"do not take {ignored[0]}" in err) == (2, True), ignored
    pa.parquet.write_table(trips(30, 2), tmp_path / "trips.parquet")
    points = ["protect", tmp_path / "trips.parquet", "--person", "who", "--time", "when", "--out", tmp_path / "p.csv"]
    code, shown, _ = run(capsys, *points, "--place", "x,y", "--k", 2, "--json")
    assert code == 0
    assert json.loads(shown)["k"] >= 2
    code, shown, _ = run(capsys, *points, "--place", "x,y", "--k", 2, "--population", 5_000, "--force")
    assert (code, "forecast after" in " ".join(shown.split())) == (0, True)
    code, _, err = run(capsys, *asked, "--population", 5_000, "--force")
    assert (code, "only of points unicity is forecast" in " ".join(err.split())) == (2, True)
    for wrong in (["--place", "x,y", "--item", "price"], [], ["--place", "x,y", "--hierarchy", "when=5"]):
        assert run(capsys, *points, *wrong)[0] == 2
    assert run(capsys, "protect", visits, "--qi", "what", "--known", 2, "--out", tmp_path / "no.csv")[0] == 2
    assert run(capsys, "protect", visits, "--item", "what", "--out", tmp_path / "no.csv")[0] == 2
