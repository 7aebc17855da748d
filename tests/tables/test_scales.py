"""Scales of columns: stated, told by files and frames, and what they decide."""

from fractions import Fraction

import pandas as pd
import polars as pl
import pytest

from incrowd import InputError, evaluate, measure, protect, read_table
from incrowd.backends import MemoryNeeds, encode
from incrowd.backends.scales import Scale
from incrowd.errors import ColumnNotFoundError
from incrowd.protection import write_protected
from incrowd.tables import suggest_roles
from incrowd.tables.guess_scales import apply_scales
from incrowd.tables.suggest_reading import suggest_scales, suspect_missing_codes


def test_scales_follow_from_types_unless_they_are_stated():
    table = read_table({"race": [1, 2], "town": ["a", "b"], "area": [101, 102]}, scales="race=nominal,area=place")
    assert [table.scale_of(name) for name in table.columns] == ["nominal", "nominal", "place"]
    assert table.reading == {"scales": "race=nominal,area=place"}
    assert read_table({"race": [1, 2]}).scale_of("race") == "numeric"
    assert read_table({"race": [1, 2]}, scales={"race": Scale("ordered")}).scale_of("race") == "ordered"


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("race", "a scale is a column"),
        ("race=strange", "no scale 'strange' is known"),
        ("town=numeric", "its values are string"),
        ("race=a<a", "must differ"),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused(stated, words):
    with pytest.raises(InputError, match=words):
        read_table({"race": [1, 2], "town": ["a", "b"]}, scales=stated)


def test_a_scale_of_no_column_is_refused():
    with pytest.raises(ColumnNotFoundError):
        read_table({"race": [1, 2]}, scales="sex=nominal")


def test_levels_are_the_order_of_codes():
    table = read_table({"pain": ["much", "none", None, "some"]}, scales="pain=none<some<much")
    (coded,) = encode(table, ["pain"])
    assert coded.values.to_pylist() == ["none", "some", "much", None]
    assert coded.codes.tolist() == [2, 0, 3, 1]
    with pytest.raises(InputError, match="1 values that are none of its 2 levels"):
        encode(read_table({"pain": ["much", "none", "some"]}, scales="pain=none<some"), ["pain"])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_ordered_categories_of_frames_keep_their_order(kind):
    levels = ["none", "some", "much"]
    values = ["much", "none", "some"]
    if kind == "pandas":
        frame = pd.DataFrame({"pain": pd.Categorical(values, categories=levels, ordered=True)})
    else:
        frame = pl.DataFrame({"pain": pl.Series(values, dtype=pl.Enum(levels))})
    table = read_table(frame)
    assert table.scale_of("pain") == "ordered"
    assert encode(table, ["pain"])[0].values.to_pylist() == levels


ILLNESS = [1, 1, 1, 9, 9, 9, 5, 5]
GROUP = ["a"] * 3 + ["b"] * 3 + ["c"] * 2


def t_by_hand(groups, secrets, *, ordered):
    """t-closeness by exact fractions: the largest earth mover's distance of a group from the table."""
    values = sorted(set(secrets))

    def shares(cells):
        return [Fraction(cells.count(value), len(cells)) for value in values]

    whole, found = shares(secrets), []
    for group in set(groups):
        part = shares([secret for one, secret in zip(groups, secrets, strict=True) if one == group])
        gaps = [ours - theirs for ours, theirs in zip(part, whole, strict=True)]
        if ordered:
            flow = [abs(sum(gaps[: place + 1], Fraction(0))) for place in range(len(gaps))]
            found.append(sum(flow, Fraction(0)) / (len(values) - 1))
        else:
            found.append(sum(map(abs, gaps), Fraction(0)) / 2)
    return max(found)


@pytest.mark.parametrize(("scale", "ordered"), [("numeric", True), ("ordered", True), ("nominal", False)])
def test_the_scale_decides_the_distance_of_t(scale, ordered):
    table = read_table({"group": GROUP, "illness": ILLNESS}, scales={"illness": scale})
    found = measure(table, quasi_identifiers=["group"], sensitive=["illness"]).sensitive[0]
    assert found.t == pytest.approx(float(t_by_hand(GROUP, ILLNESS, ordered=ordered)), abs=1e-12)


def test_the_scale_is_kept_past_the_memory_limit(tmp_path):
    rows = 4_000
    text = "group,illness\n" + "".join(f"{GROUP[i % 8]},{ILLNESS[i % 8]}\n" for i in range(rows))
    (tmp_path / "t.csv").write_text(text)
    found = []
    for bytes_a_record in (32, 10**9):
        table = read_table(tmp_path / "t.csv", scales="illness=nominal")
        table.backend.needs = MemoryNeeds(class_value=bytes_a_record)
        found.append(measure(table, quasi_identifiers=["group"], sensitive=["illness"]).sensitive[0])
    assert found[0] == found[1]
    assert found[0].ordered_t is None


def test_the_scale_decides_what_classes_are_written_as():
    table = {"race": [1, 2, 8, 9] * 4, "area": [10115, 10117, 20095, 20097] * 4}
    safe = {
        scales: protect(read_table(table, scales=scales), quasi_identifiers=["race", "area"], k=8, method="partition")
        for scales in ("race=numeric,area=numeric", "race=nominal,area=place")
    }
    stated = safe["race=numeric,area=numeric"].table
    assert set(stated["race"].to_pylist()) <= {"[1;2]", "[8;9]", "[1;9]"}
    assert set(safe["race=nominal,area=place"].table["race"].to_pylist()) <= {"{1,2}", "{8,9}", "{1,2,8,9}"}
    assert set(safe["race=nominal,area=place"].table["area"].to_pylist()) <= {"1011*", "2009*", "*"}


def test_t_is_promised_and_checked_on_the_file_by_the_stated_scale(tmp_path):
    cells = {"age": list(range(40)), "illness": [1, 2, 3, 9] * 10}
    table = read_table(cells, scales="illness=nominal")
    safe = protect(table, quasi_identifiers=["age"], k=4, t=0.3, sensitive=["illness"])
    file = write_protected(safe, tmp_path / "safe.csv")
    again = read_table(file, scales="illness=nominal")
    found = measure(again, quasi_identifiers=["age"], sensitive=["illness"]).sensitive[0]
    assert found.t == safe.guarantee.t == found.equal_t <= 0.3


def test_whole_numbers_of_a_topic_of_codes_are_suggested_as_nominal():
    table = read_table(
        {
            "race": [1, 2, 9, 2] * 10,
            "education": [1, 2, 3, 3] * 10,
            "age": [30, 41, -9, 25] * 10,
            "net": [-3, -9, 4, 5] * 10,
        }
    )
    assert suggest_scales(table, suggest_roles(table)) == {"race": "nominal", "education": "ordered"}
    assert suspect_missing_codes(table) == {"age": (-9,)}


def test_the_age_of_one_person_is_not_told_as_a_missing_code():
    ages = [20 + row % 40 for row in range(400)]
    for code in (99, -9):
        assert suspect_missing_codes(read_table({"age": [*ages, *[code] * 9]})) == {}
        assert suspect_missing_codes(read_table({"age": [*ages, *[code] * 10]})) == {"age": (code,)}


CODES = {"race": [6, 7, 8, 9] * 5, "state": [1, 2, 55, 56] * 5, "age": list(range(20))}


def test_codes_are_never_released_as_intervals_and_it_is_said():
    safe = protect(CODES, quasi_identifiers=["race", "state", "age"], k=10)
    for name in ("race", "state"):
        assert {str(cell)[0] for cell in safe.table[name].to_pylist()} == {"{"}
    assert any(cell.startswith("[") for cell in safe.table["age"].to_pylist())
    assert (
        safe.notes[0]
        == "taken as codes, not as quantities, by their names: race, state; state the scale if it is different"
    )


def test_what_is_stated_goes_before_the_guess():
    table = read_table(CODES, scales="race=numeric")
    assert apply_scales(table, ["race", "age"]) == []
    safe = protect(table, quasi_identifiers=["race", "age"], k=5)
    assert any(cell.startswith("[") for cell in safe.table["race"].to_pylist())


def test_a_column_with_a_hierarchy_of_intervals_is_no_code():
    safe = protect(CODES, quasi_identifiers=["state", "age"], k=5, hierarchies={"state": "10,100"})
    assert not any("{" in cell for cell in safe.table["state"].to_pylist())


def test_t_of_codes_is_by_equal_distances_which_are_never_smaller():
    cells = {"group": GROUP, "race": ILLNESS}
    found = measure(cells, quasi_identifiers=["group"], sensitive=["race"])
    assert found.sensitive[0].t == pytest.approx(float(t_by_hand(GROUP, ILLNESS, ordered=False)), abs=1e-12)
    assert t_by_hand(GROUP, ILLNESS, ordered=False) >= t_by_hand(GROUP, ILLNESS, ordered=True)
    assert "taken as codes" in found.notes[-1]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sex", True),
        ("state_number", True),
        ("NUTS2", True),
        ("occupation", True),
        ("nace", True),
        ("marital_status", True),
        ("county", True),
        ("citypop", False),
        ("years_in_us", False),
        ("city_size", False),
        ("latitude", False),
        ("hours_worked", False),
        ("age", False),
        ("income", False),
        ("x", False),
    ],
)
def test_names_that_say_a_code_and_names_that_say_an_amount(name, code):
    table = read_table({name: [1, 2, 3]})
    assert bool(apply_scales(table, [name])) == code
    assert table.scale_of(name) == ("nominal" if code else "numeric")


def test_a_release_in_ranges_is_evaluated_as_the_quantities_it_was_taken_for():
    before, after = {"state": [1, 2, 3, 4]}, {"state": ["[1;2]", "[1;2]", "[3;4]", "[3;4]"]}
    found = evaluate(before, after, quasi_identifiers=["state"])
    assert found.granularity == pytest.approx(2 / 3)
    assert found.notes == ()
    as_sets = evaluate(before, {"state": ["{1,2}", "{1,2}", "{3,4}", "{3,4}"]}, quasi_identifiers=["state"])
    assert "taken as codes" in as_sets.notes[0]
