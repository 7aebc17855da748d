"""Masked cells filled, and sets of items counted, from the command line."""

import json
from collections import Counter

import pytest
from tests.cli.running import run

from incrowd.tables import read_table


@pytest.fixture
def masked(tmp_path):
    file = tmp_path / "masked.csv"
    file.write_text("race,age\n*,31\n1,*\n*,[20;29]\n2,44\n*,31\n")
    return file


def counts(tmp_path, *rows):
    file = tmp_path / "counts.csv"
    file.write_text("column,value,count\n" + "".join(f"{row}\n" for row in rows))
    return file


@pytest.mark.paper("proper-anonymization", "Algorithm S1")
def test_columns_get_the_values_that_were_published(masked, tmp_path, capsys):
    out = tmp_path / "filled.csv"
    given = counts(tmp_path, "race,1,2", "race,3,1", "age,25,1", "age,60,1")
    code, told, _ = run(capsys, "regenerate", masked, "--counts", given, "--out", out)
    assert code == 0
    assert "5 masked cells of race, age were filled" in told
    filled = read_table(out).to_arrow()
    assert Counter(map(str, filled["race"].to_pylist())) == {"1": 3, "2": 1, "3": 1}
    assert Counter(map(str, filled["age"].to_pylist())) == {"25": 1, "31": 2, "44": 1, "60": 1}
    assert str(filled["race"][1]) == "1"
    assert str(filled["age"][3]) == "44"
    assert run(capsys, "regenerate", masked, "--counts", given, "--out", out)[0] == 2  # it exists


@pytest.mark.parametrize(
    ("rows", "words"),
    [(["race,1,2"], "3 masked cells"), (["town,1,2"], "town"), (["race,1,few"], "no whole number")],
)
def test_wrong_counts_are_refused(masked, tmp_path, capsys, rows, words):
    code, _, err = run(capsys, "regenerate", masked, "--counts", counts(tmp_path, *rows), "--out", tmp_path / "o.csv")
    assert code == 2
    assert words in err


def test_counts_without_their_columns_are_refused(masked, tmp_path, capsys):
    code, _, err = run(capsys, "regenerate", masked, "--counts", masked, "--out", tmp_path / "o.csv")
    assert code == 2
    assert "they need column, value and count" in " ".join(err.split())


def test_sets_of_items_are_measured(tmp_path, capsys):
    file = tmp_path / "visits.csv"
    file.write_text("who,what\na,x\na,y\nb,x\nb,y\nc,x\nc,z\n")
    code, out, _ = run(capsys, "measure", file, "--person", "who", "--item", "what", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["smallest"], found["sets"], found["alone"], found["k"]) == ([1, 1], [3, 2], [1, 1], 1)
    code, out, err = run(capsys, "measure", file, "--person", "who", "--item", "what", "--known", "1", "--min-k", "2")
    assert code == 1
    assert "k^1-anonymity with k = 1" in " ".join(out.split())
    assert "over the threshold" in err
    assert run(capsys, "measure", file, "--item", "what")[0] == 2
