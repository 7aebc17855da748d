"""`incrowd attack`, `split` and `synthesise` from the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from typer.testing import CliRunner

from incrowd import InputError
from incrowd.cli.app import app


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, its two parts, and a release that copies half of one part."""
    place = tmp_path_factory.mktemp("attack")
    draws = np.random.default_rng(1)
    table = pa.table(
        {
            "age": draws.integers(20, 70, 600),
            "zip": [f"z{one:02d}" for one in draws.integers(0, 40, 600)],
            "pay": np.round(draws.lognormal(3, 0.4, 600), 2),
            "ill": np.array(["no", "yes"])[draws.integers(0, 2, 600)],
        }
    )
    pacsv.write_csv(table, place / "people.csv")
    assert run("split", place / "people.csv", "--out", place / "part.csv", "--holdout", place / "back.csv",
               "--share", "50%").exit_code == 0  # fmt: skip
    assert run("synthesise", place / "part.csv", "--out", place / "made.csv", "--copied", "0.5", "--holdout",
               place / "back.csv", "--secret", "ill", "--json").exit_code == 0  # fmt: skip
    (place / "rows.txt").write_text("\n".join(str(row) for row in range(1, 301)))
    return place


def test_an_attack_as_json_and_as_a_page(folder):
    done = run("attack", folder / "part.csv", folder / "made.csv", "--secret", "ill", "--holdout", folder / "back.csv",
               "--json", "--html", folder / "page.html", "--by", "ill")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    by_name = {one["name"]: one for one in found["attacks"]}
    assert by_name["membership (distance)"]["risk"]["low"] > 0.2
    assert "linkage" not in by_name  # rows of a synthetic table are in no order
    assert "not in the order of the original" in found["not_run"]["linkage"]
    assert {one["group"] for one in found["groups"]} == {"no", "yes"}
    page = (folder / "page.html").read_text()
    assert "membership (distance)" in page
    assert "<script" not in page


def test_a_limit_ends_with_1_and_so_does_an_attack_that_could_not_be_run(folder):
    over = run("attack", folder / "part.csv", folder / "made.csv", "--secret", "ill", "--holdout", folder / "back.csv",
               "--max-attack", "5%")  # fmt: skip
    assert over.exit_code == 1
    assert "may be as high as" in over.stderr
    assert "not every attack could be run (linkage)" in over.stderr
    missing = run("attack", folder / "part.csv", folder / "made.csv", "--kind", "membership", "--max-attack", "1")
    assert missing.exit_code == 1
    assert "not every attack could be run (membership)" in missing.stderr
    others = ("attack", folder / "part.csv", folder / "back.csv", "--max-attack", "5%", "--kind")
    assert run(*others, "linkage").exit_code == 1  # whose rows they are cannot be told
    assert run(*others, "linkability").exit_code == 0


def test_several_attackers_and_bad_input(folder):
    done = run("attack", folder / "part.csv", folder / "part.csv", "--groups", "neighbour=age,zip", "--groups",
               "employer=pay", "--kind", "linkage", "--population", "1e5")  # fmt: skip
    assert done.exit_code == 0
    assert "neighbour: linkage" in done.stdout
    assert "Among 100,000 people" in done.stdout
    unsure = run("attack", folder / "part.csv", folder / "part.csv", "--known", "age,zip", "--kind", "linkage",
                 "--noise", "age=3", "--missing", "10%", "--json")  # fmt: skip
    sure = run("attack", folder / "part.csv", folder / "part.csv", "--known", "age,zip", "--kind", "linkage", "--json")
    risks = [json.loads(one.stdout)["attacks"][0]["risk"]["value"] for one in (unsure, sure)]
    assert risks[0] < risks[1]
    both = run("attack", folder / "part.csv", folder / "made.csv", "--groups", "a=age", "--known", "zip")
    assert both.exit_code != 0


def test_a_synthetic_table_names_its_file_and_brings_its_attacks(folder):
    done = run("synthesise", folder / "part.csv", "--out", folder / "copula.csv", "--model", "copula", "--rows", "50",
               "--json")  # fmt: skip
    made = json.loads(done.stdout)
    assert (made["file"], made["model"], made["rows"]) == (str(folder / "copula.csv"), "copula", 50)
    assert made["attacks"]["released"] == "copula.csv"
    assert "linkage" not in made["attacks"]["not_run"]  # its rows come from nobody
    assert "membership" in made["attacks"]["not_run"]
    shown = run("synthesise", folder / "part.csv", "--out", folder / "copula.csv", "--model", "copula", "--force")
    assert "copula.csv: " in shown.stdout
    assert "not known" in shown.stdout  # what people outside would give, without any


def test_rows_of_a_release_are_named_in_a_file(folder):
    words = ("attack", folder / "part.csv", folder / "part.csv", "--kind", "linkage", "--json", "--kept-rows")
    told = json.loads(run(*words, folder / "rows.txt").stdout)["attacks"][0]
    assert told == json.loads(run(*words[:-1]).stdout)["attacks"][0]
    for text, message in (("1\ntwo\n", "something else than row numbers"), ("1\n2\n", "2 kept rows for a release"),
                          ("\n".join(["1"] * 300), "each once"), ("", "0 kept rows")):  # fmt: skip
        (folder / "wrong.txt").write_text(text)
        done = run(*words, folder / "wrong.txt")
        assert isinstance(done.exception, InputError)
        assert message in str(done.exception)
    assert "cannot be read" in str(run(*words, folder / "nothing.txt").exception)
    checked = ("check", folder / "part.csv", "--qi", "age,zip", "--original", folder / "part.csv", "--max-attack", "1")
    assert isinstance(run(*checked, "--kept-rows", folder / "wrong.txt").exception, InputError)
