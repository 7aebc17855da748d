"""The independent count of what covering rows say: by hand, and beside the labels that protection writes."""

import numpy as np
import pandas as pd
import pytest
from tests.decision.homogeneity import Homogeneity, count_homogeneity, cover

from incrowd import protect

DAYS = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-31 23:59", "2024-02-01", None], format="mixed"))


@pytest.mark.parametrize(
    ("label", "values", "covered"),
    [
        ("[2;4]", pd.Series([1, 2, 4, 5]), [0, 1, 1, 0]),
        ("[*;4]", pd.Series([-9.0, 4.0, 4.5, np.nan]), [1, 1, 0, 0]),
        ("[85;*]", pd.Series([84, 85, 200, 0]), [0, 1, 1, 0]),
        ("7", pd.Series([7.0, 8.0, np.nan, 0.0]), [1, 0, 0, 0]),
        ("7", pd.Series(["7", "07", None, ""]), [1, 0, 0, 0]),
        ('{"a,b",c}', pd.Series(["a,b", "a", "c", None]), [1, 0, 1, 0]),
        ("{b,}", pd.Series(["b", "", None, "c"]), [1, 0, 1, 0]),
        ('{"",b}', pd.Series(["b", "", None, "c"]), [1, 1, 0, 0]),
        ("93**", pd.Series(["9310", "931", "9400", None]), [1, 0, 0, 0]),
        ("*", pd.Series(["a", "", None, "*"]), [1, 1, 1, 1]),
        ("[2024-01-01;2024-01-31]", DAYS, [1, 1, 0, 0]),
        (None, pd.Series(["a", "", None, "None"]), [0, 0, 1, 0]),
    ],
)
def test_a_label_covers_what_it_says(label, values, covered):
    assert cover(pd.Series([label], dtype=object), values).astype(int).tolist() == [covered]


def test_people_are_counted_whose_covering_rows_say_their_own_value():
    original = pd.DataFrame({"age": [30, 31, 40, 41], "ill": ["a", "a", "b", "c"]})
    release = pd.DataFrame({"age": ["[30;31]"] * 2 + ["[40;41]"] * 2, "ill": ["a", "a", "b", "c"]})
    assert count_homogeneity(original, release, ["age"], "ill") == Homogeneity(4, 2, 0, 2)
    overlapping = release.assign(age=["[30;31]", "[30;40]", "[40;41]", "[40;41]"])
    assert count_homogeneity(original, overlapping, ["age"], "ill").certain == 2
    swapped = release.assign(ill=["b", "b", "a", "c"])
    assert count_homogeneity(original, swapped, ["age"], "ill").certain == 0


def test_what_nearly_everybody_has_is_not_gained():
    original = pd.DataFrame({"age": np.repeat([30, 40], 30), "ill": ["no"] * 59 + ["yes"]})
    assert count_homogeneity(original, original, ["age"], "ill") == Homogeneity(60, 59, 59, 0)


def test_every_label_of_a_release_covers_the_value_it_was_made_from():
    draw = np.random.default_rng(0)
    born = pd.Timestamp("1990-01-01") + pd.to_timedelta(draw.integers(0, 9_000, 300), unit="D")
    town = draw.choice(["a,b", "c{", "d e", "", "*", None], 300)
    original = pd.DataFrame({"born": born, "town": town, "weight": draw.normal(70, 9, 300).round(1)})
    original.loc[:20, "weight"] = np.nan
    release = protect(original, quasi_identifiers=list(original), k=5, identifiers=[], shuffle=False).table
    for name in original:
        assert cover(release[name], original[name]).diagonal().all()
