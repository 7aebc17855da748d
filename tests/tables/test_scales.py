"""Scales of columns: stated, told by files and frames, and what they decide."""

from fractions import Fraction

import pandas as pd
import polars as pl
import pytest

from incrowd import InputError, measure, protect, read_table
from incrowd.backends import MemoryNeeds, encode
from incrowd.backends.scales import Scale
from incrowd.errors import ColumnNotFoundError
from incrowd.protection import write_protected
from incrowd.tables import suggest_roles
from incrowd.tables.suggest_reading import suggest_scales, suspect_missing_codes


def test_scales_follow_from_types_unless_they_are_stated():
    table = read_table({"race": [1, 2], "town": ["a", "b"], "area": [101, 102]}, scales="race=nominal,area=place")
    assert [table.scale_of(name) for name in table.columns] == ["nominal", "nominal", "place"]
    assert table.named[1:] == ("--scale", "race=nominal,area=place")
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
        for scales in ("", "race=nominal,area=place")
    }
    assert set(safe[""].table["race"].to_pylist()) <= {"[1;2]", "[8;9]", "[1;9]"}
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
        {"race": [1, 2, 9, 2], "education": [1, 2, 3, 3], "age": [30, 41, -9, 25], "net": [-3, -9, 4, 5]}
    )
    assert suggest_scales(table, suggest_roles(table)) == {"race": "nominal", "education": "ordered"}
    assert suspect_missing_codes(table) == {"age": (-9,)}
