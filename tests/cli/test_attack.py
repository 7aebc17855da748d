"""`incrowd attack`, `split` and `synthesise` from the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from tests.cli.running import run as run_main
from typer.testing import CliRunner

from incrowd import InputError
from incrowd.cli.app import app

pytestmark = pytest.mark.usefixtures("quick_estimates")


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
    assert not any({"rows", "successes", "exposed"} & {*one} for one in found["attacks"])  # who was found is not told
    page = (folder / "page.html").read_text()
    assert "rows in the original" not in done.stdout + page
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
    assert "these attackers know every other column of a person" in " ".join(shown.stderr.split())
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


BAD = {
    "no columns in common": ("weight\n1\n2\n3\n", None, (), "have no columns in common"),
    "a known column is missing": ("age\n31\n32\n33\n", None, ("--known", "age,zip"), "zip"),
    "one released row": ("age,zip\n31,a\n", None, (), "1 row; an attack needs 2"),
    "no value in common": ("age,zip\n900,x\n901,y\n", None, (), "no value of the original occurs in the release"),
    "other types": ("age,zip\nold,a\nyoung,b\n", None, (), "neither these nor ranges of them"),
    "one value only": ("age,zip\n31,a\n31,a\n", "age,zip\n31,a\n31,a\n", (), "one value only"),
    "no such attack": ("age,zip\n31,a\n32,b\n", None, ("--kind", "theft"), "there is no attack 'theft'"),
    "a population that is too small": (None, None, ("--kind", "linkage", "--population", "3"), "a population of 3 for"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_ends_with_2_and_a_sentence(name, tmp_path, capsys):
    released, original, options, message = BAD[name]
    plain = "age,zip\n" + "\n".join(f"{30 + row},{'abcd'[row % 4]}" for row in range(12)) + "\n"
    for file, text in (("original.csv", original or plain), ("released.csv", released or plain)):
        (tmp_path / file).write_text(text)
    code, out, error = run_main(capsys, "attack", tmp_path / "original.csv", tmp_path / "released.csv", *options)
    assert (code, out) == (2, "")
    assert message in " ".join(error.split())
    if not options:  # an assessment refuses it as well, or leaves the answer open
        words = ("--released", tmp_path / "released.csv", "--qi", "age,zip", "--no-protection")
        code, _, _ = run_main(capsys, "assess", tmp_path / "original.csv", *words)
        assert code in (1, 2)


def test_a_secret_that_is_known_is_never_guessed_from_itself(folder, capsys):
    words = ("attack", folder / "part.csv", folder / "part.csv", "--kind", "inference", "--secret", "ill", "--json")
    answers = [run_main(capsys, *words, "--known", known) for known in ("age,zip", "age,zip,ill")]
    without, known_too = (json.loads(out)["attacks"] for code, out, _ in answers)
    assert known_too == without
    assert known_too[0]["risk"]["value"] < 1
    code, out, _ = run_main(capsys, *words, "--known", "ill")
    assert code == 0
    assert "nothing is known but the secret 'ill'" in json.loads(out)["not_run"]["inference"]


def test_a_holdout_of_the_same_people_is_refused_with_the_share_of_them(folder, capsys):
    words = ("attack", folder / "part.csv", folder / "made.csv", "--holdout", folder / "part.csv")
    code, _, error = run_main(capsys, *words)
    assert code == 2
    assert "100% of the holdout's records are in the original as well" in " ".join(error.split())
    words = ("assess", folder / "part.csv", "--released", folder / "made.csv", "--holdout", folder / "part.csv", "--qi",
             "age,zip,pay", "--sensitive", "ill", "--synthetic")  # fmt: skip
    assert run_main(capsys, *words)[0] == 2
    assert run_main(capsys, *words[:-1], "--no-protection", "--holdout", folder / "missing.csv")[0] == 2


def test_an_assessment_of_a_release_is_asked_again_from_its_settings(folder, capsys):
    saved = folder / "question.toml"
    options = ("--synthetic", "--question", saved, "--force", "--json")
    words = ("--qi", "age,zip,pay", "--sensitive", "ill", *options)
    files = ("--released", folder / "made.csv", "--holdout", folder / "back.csv")
    code, out, _ = run_main(capsys, "assess", folder / "part.csv", *files, *words)
    assert code == 1
    first = json.loads(out)
    assert (first["verdict"]["basis"], first["verdict"]["decision"]) == ("attacks", "over")
    again = json.loads(run_main(capsys, "assess", folder / "part.csv", "--question", saved, "--json")[1])
    assert again["attacks"] == first["attacks"]
    assert again["provenance"]["options"] == first["provenance"]["options"]
    saved.unlink()
