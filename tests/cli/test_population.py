"""`incrowd population` as a user meets it."""

import json

import numpy as np
import pandas as pd
import pytest

from incrowd.cli import main


def run(capsys, *arguments):
    """Run the command; its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    streams = capsys.readouterr()
    return stopped.value.code, streams.out, streams.err


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    generator = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("population") / "sample.csv"
    frame = pd.DataFrame({"age": generator.poisson(40, 800), "zip": generator.zipf(1.7, 800).clip(max=300), "w": 25.0})
    frame.to_csv(file, index=False)
    return file


def test_it_says_what_the_number_means_and_who_may_have_the_data(capsys, sample):
    code, out, err = run(capsys, "population", sample, "--qi", "age,zip", "--population", "2e4")
    assert code == 0
    assert "sample → population (B)" in out
    assert "Usual limits" in out
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
    code, out, _ = run(capsys, *wanted, *files)
    assert code == 0
    assert "risk.parquet" in out
    assert pd.read_parquet(tmp_path / "risk.parquet")["risk_rank"].min() == 1
    assert "<svg" in (tmp_path / "risk.svg").read_text()[:300]
    code, _, err = run(capsys, *wanted, *files)
    assert code == 2
    assert "exists already" in err


def test_a_risk_over_the_stated_limit_is_exit_1(capsys, sample):
    code, _, _ = run(capsys, "population", sample, "--qi", "age,zip", "--population", "1000", "--max-risk", "0.05")
    assert code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--qi", "age"], "how many people"),
        (["--population", "2e4"], "--qi"),
        (["--qi", "age", "--population", "5"], "cannot hold"),
        (["--qi", "age", "--population", "many"], "not a number"),
        (["--qi", "age", "--population", "2e4", "--method", "magic"], "no method"),
        (["--qi", "age", "--population", "2e4", "--max-risk", "7"], "between 0 and 1"),
    ],
)
def test_bad_input_is_exit_2_with_a_reason(capsys, sample, arguments, message):
    code, out, err = run(capsys, "population", sample, *arguments)
    assert code == 2
    assert message in err.replace("\n", " ")
    assert not out
