"""`incrowd population` as a user meets it."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.cli.running import run

from incrowd import ClassSizes
from incrowd.populations import classical


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    generator = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("population") / "sample.csv"
    frame = pd.DataFrame({"age": generator.poisson(40, 800), "zip": generator.zipf(1.7, 800).clip(max=300), "w": 25.0})
    frame.to_csv(file, index=False)
    return file


def test_it_says_what_the_number_means_and_who_may_have_the_data(capsys, sample, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")  # no cell is broken over lines
    code, out, err = run(capsys, "population", sample, "--qi", "age,zip", "--population", "2e4")
    assert code == 0
    assert "from the table to the population (B)" in " ".join(out.split())
    assert "where it may be one, assess takes the highest risk for 100%" in " ".join(out.split())
    assert "incrowd assess decides" in out
    assert "restricted" not in out  # an average alone does not say who may have it
    assert "assumes:" in err
    assert "patent" in err


def test_it_speaks_to_machines(capsys, sample):
    code, out, _ = run(
        capsys, "population", sample, "--qi", "age,zip", "--weights", "w", "--method", "posterior",
        "--sensitivity", "--classical", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert found["population"] == 20_000
    assert [row["factor"] for row in found["sensitivity"]] == [0.5, 0.8, 1.0, 1.25, 2.0]
    assert {one["method"] for one in found["classical"]} >= {"zayatz", "pitman", "entropy"}


def test_records_and_a_figure_are_written_once(capsys, sample, tmp_path):
    wanted = ["population", sample, "--qi", "age,zip", "--fraction", "0.04", "--method", "posterior"]
    files = ["--records", tmp_path / "risk.parquet", "--plot", tmp_path / "risk.svg"]
    code, out, err = run(capsys, *wanted, *files)
    assert code == 0
    assert "risk.parquet" in out
    assert "that of the size of its class" in err
    risks = pd.read_parquet(tmp_path / "risk.parquet")
    assert risks["risk_rank"].min() == 1
    assert f" {risks['risk'].mean():.4g} " in out  # the records are those of the method that was asked for
    assert "<svg" in (tmp_path / "risk.svg").read_text()[:300]
    code, _, err = run(capsys, *wanted, *files)
    assert code == 2
    assert "exists already" in err


def test_designs_are_used_and_what_makes_records_stand_out_is_said(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "240")  # no cell is broken over lines
    draw = np.random.default_rng(1)
    homes = np.repeat(np.arange(200), 2)
    frame = pd.DataFrame({"home": homes, "zip": (homes * 7) % 60, "age": draw.integers(0, 80, 400), "w": 20.0})
    frame["region"] = frame["zip"] // 20
    frame.to_csv(tmp_path / "survey.csv", index=False)
    wanted = ["population", tmp_path / "survey.csv", "--qi", "zip,age", "--weight", "w"]
    design = ["--stratum", "region", "--cluster", "home"]
    code, out, err = run(capsys, *wanted, *design, "--records", tmp_path / "risk.csv")
    assert code == 0
    assert "record at highest risk" in out
    assert "What makes records stand out:" in out.replace("\n", " ")
    assert "one record of each cluster" in err.replace("\n", " ")
    code, _, err = run(capsys, *wanted[:4], "--population", "8000", "--stratum", "region")
    assert code == 2
    assert "--weight" in err


def test_a_risk_over_the_stated_limit_is_exit_1(capsys, sample):
    code, _, _ = run(capsys, "population", sample, "--qi", "age,zip", "--population", "1000", "--max-risk", "5%")
    assert code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--qi", "age"], "how many people"),
        (["--qi", "age"], "--fraction"),
        (["--qi", "age", "--population", "2e4", "--seed=-1"], "seed"),
        (["--qi", "age", "--population", "2e4", "--records", "risk.doc"], ".csv, .tsv, .parquet"),
        (["--qi", "age", "--population", "2e4", "--plot", "risk.doc"], ".html, .svg, .png or .json"),
        (["--population", "2e4"], "--qi"),
        (["--qi", "age", "--population", "5"], "cannot hold"),
        (["--qi", "age", "--population", "many"], "not a number"),
        (["--qi", "age", "--population", "2e4", "--method", "magic"], "no method"),
        (["--qi", "age", "--population", "2e4", "--max-risk", "7"], "between 0 and 1"),
        (["--qi", "age", "--population", "2e4", "--max-risk", "few"], "is not a share"),
    ],
)
def test_bad_input_is_exit_2_with_a_reason(capsys, sample, arguments, message):
    code, out, err = run(capsys, "population", sample, *arguments)
    assert code == 2
    assert message in err.replace("\n", " ")
    assert not out


def test_the_table_itself_is_never_overwritten(capsys, sample):
    before = sample.read_bytes()
    wanted = ["population", sample, "--qi", "age,zip", "--population", "2e4", "--method", "posterior"]
    code, _, err = run(capsys, *wanted, "--records", sample, "--force")
    assert code == 2
    assert "never overwritten" in err.replace("\n", " ")
    assert sample.read_bytes() == before


def test_output_files_are_checked_before_the_work(capsys, sample, tmp_path, monkeypatch):
    def work(*_, **__):
        raise AssertionError("the work was done")

    monkeypatch.setattr("incrowd.populations.population_risk", work)
    there = tmp_path / "there.csv"
    there.write_text("mine")
    code, _, err = run(capsys, "population", sample, "--qi", "age", "--population", "2e4", "--records", there)
    assert code == 2
    assert "exists already" in err.replace("\n", " ")
    assert there.read_text() == "mine"


def test_an_average_alone_is_no_verdict(capsys, tmp_path):
    file = tmp_path / "few.csv"
    pd.DataFrame({"age": np.arange(60) // 2, "sex": 1}).to_csv(file, index=False)
    wanted = ["population", file, "--qi", "age,sex", "--population", "1000", "--method", "posterior"]
    _, out, _ = run(capsys, *wanted, "--json")
    found = json.loads(out)
    assert {"highest", "highest_interval"} <= set(found)
    assert not {"recipients", "doubtful", "fits"} & set(found)
    _, out, _ = run(capsys, *wanted)
    assert "95% interval" in out
    assert "the person at highest risk, the secrets and every column" in out
    assert "the public" not in out


def test_nobody_unique_is_said_in_words(capsys, tmp_path):
    file = tmp_path / "large.csv"
    pd.DataFrame({"sex": np.arange(400) % 2}).to_csv(file, index=False)
    _, out, _ = run(capsys, "population", file, "--qi", "sex", "--population", "4000", "--method", "posterior")
    assert "fewer than 1" in out


def test_classical_estimators_count_people_too(capsys, tmp_path):
    file = tmp_path / "visits.csv"
    pd.DataFrame({"who": [1, 1, 2, 2, 3, 4, 5], "a": [1, 1, 1, 1, 2, 2, 3]}).to_csv(file, index=False)
    known = ["population", file, "--qi", "a", "--population", "50", "--classical", "--json"]
    _, by_person, _ = run(capsys, *known, "--person", "who")
    _, by_record, _ = run(capsys, *known, "--method", "posterior")
    zayatz = [json.loads(out)["classical"][0]["population_uniques"] for out in (by_person, by_record)]
    assert zayatz == [
        pytest.approx(classical.zayatz(ClassSizes.from_sizes(sizes), 50).population_uniques)
        for sizes in ([2, 2, 1], [4, 2, 1])
    ]
