"""`incrowd leak` as people use it."""

import json

import pytest
from tests.cli.running import run as run_command

from incrowd.leaks import largest_leak, smallest_k, uniform_sizes


def run(capsys, *arguments):
    """Run `incrowd leak`."""
    return run_command(capsys, "leak", *arguments)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("who,age,sex\n" + "a,30,f\nb,30,f\nc,30,f\nd,40,m\ne,40,m\nf,50,f\n")
    return str(path)


def test_a_table_and_a_share(capsys, table):
    code, out, _ = run(capsys, table, "--qi", "age,sex", "--leaked", "60%", "--targets", "1,2,5", "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["people"], result["classes"]) == (6, 3)
    assert [risk["leaked"] for risk in result["risks"]] == [4, 4, 4]  # 3.6 people, rounded up
    assert result["risks"][1]["probability"] == pytest.approx(0.56 / 3)
    assert result["risks"][2]["in_words"].startswith("never")
    assert result["people_named"]["mean"] == pytest.approx(2.6)


def test_planning_without_a_table(capsys):
    code, out, _ = run(capsys, "--people", "10000", "--k", "5", "--leaked", "4000")
    assert code == 0
    assert "0.1845" in out
    assert "1,894" in out


def test_a_broken_bound_exits_one_and_says_what_would_keep_it(capsys):
    code, out, _ = run(capsys, "--people", "1e4", "--k", "5", "--leaked", "40%", "--at-most", "0.09")
    assert code == 1
    assert "no more than 1,141 people" in out
    assert "every class needs 11 people" in out
    code, out, _ = run(capsys, "--people", "1e4", "--k", "5", "--leaked", "1000", "--at-most", "0.09")
    assert code == 0
    assert "keeps the chance" in out


def test_the_table_of_a_plan_has_one_mark_for_each_limit_on_a_person(capsys):
    code, out, _ = run(capsys, "--people", "6000", "--k", "3", "--leaked", "40", "--plan")
    assert code == 0
    words = ("1/3 or less: a trusted recipient and a restricted circle", "1/11 or less: the public", "1/20 or less:")
    for stars, sentence in enumerate(words, start=1):
        assert f" {'*' * stars} {sentence}" in f" {out}".replace("\n", "\n ")
    by_k = {
        line.split()[0]: line.split()[-1] for line in out.splitlines() if line.split() and line.split()[0].isdigit()
    }
    assert (by_k["2"], by_k["3"], by_k["20"]) == ("0.5", "0.333*", "0.05***")
    assert "above" not in out


def test_everything_at_once_for_people_and_for_machines(capsys, tmp_path):
    arguments = ["--people", "100", "--k", "5", "--leaked", "40", "--targets", "2,50", "--compare", "--plan"]
    arguments += ["--simulate", "200", "--at-most", "0.0001"]
    figure = tmp_path / "leak.svg"
    code, out, err = run(capsys, *arguments, "--plot", str(figure))
    assert code == 1
    assert all(word in out for word in ("as published", "simulated", "for naming one person"))
    assert "50 targets: never" in out
    assert "a new leak is drawn for every target" in out
    assert "figure written" in err
    assert figure.exists()
    code, out, _ = run(capsys, *arguments, "--json")
    result = json.loads(out)
    assert code == 1
    assert set(result) >= {"risks", "people_named", "recursions", "simulations", "plan", "table"}
    assert result["plan"]["no_k"].startswith("no k keeps the chance at 0.0001")
    assert "smallest_k" not in result["plan"]


def test_the_person_is_the_unit_when_a_column_says_whose_record_it_is(capsys, tmp_path):
    path = tmp_path / "stays.csv"
    path.write_text("who,days\na,1\na,2\nb,1\nb,2\nc,1\n")
    _, out, _ = run(capsys, str(path), "--qi", "days", "--person", "who", "--leaked", "2", "--json")
    result = json.loads(out)
    assert (result["people"], result["records"], result["classes"]) == (3, 5, 2)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--leaked", "110%"], "0 to 100%"),
        (["--leaked", "7"], "table of 6"),
        (["--leaked", "-1"], "whole number"),
        (["--leaked", "2.5"], "whole number"),
        (["--leaked", "1.0"], "100%"),
        (["--leaked", "many"], "not a number"),
        (["--leaked", "1e999999999"], "too large or too small"),
        (["--leaked", "1e99999999%"], "too large or too small"),
        (["--leaked", "1e-99999999"], "too large or too small"),
        (["--leaked", "1%%"], "not a number"),
        (["--leaked", "3", "--targets", "x"], "1,5,15"),
        (["--leaked", "3", "--plot", "leak.doc"], ".html"),
        (["--leaked", "nan"], "not a number"),
        ([], "--leaked"),
        (["--leaked", "3", "--targets", "7"], "7 targets"),
        (["--leaked", "3", "--targets", "0"], "1 or more"),
        (["--leaked", "3", "--targets", ","], "targets"),
        (["--leaked", "3", "--k", "2"], "leave them out"),
        (["--leaked", "3", "--at-most", "2"], "up to 1"),
    ],
)
def test_bad_input_exits_two_with_words(capsys, table, arguments, word):
    code, out, err = run(capsys, table, "--qi", "age,sex", *arguments)
    assert (code, out) == (2, "")
    assert word in " ".join(err.split())


@pytest.mark.parametrize("arguments", [[], ["--people", "10"], ["--people", "10", "--k", "2", "--qi", "age"]])
def test_neither_table_nor_plan_is_refused(capsys, arguments):
    code, _, err = run(capsys, *arguments, "--leaked", "1")
    assert code == 2
    assert "table" in err


def test_a_table_without_rows_is_refused(capsys, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("age,sex\n")
    code, _, err = run(capsys, str(path), "--qi", "age", "--leaked", "0")
    assert code == 2
    assert "no rows" in " ".join(err.split())


def test_what_the_recursion_cannot_follow_leaves_the_exact_answer(capsys, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("x\n" + "".join(f"{size}\n" * size for size in range(1, 120)))
    code, out, _ = run(capsys, str(path), "--qi", "x", "--leaked", "10%", "--targets", "1,8", "--compare")
    assert code == 0
    assert "–" in out
    assert "too many states" in out
    assert "method=" not in out


def test_a_column_with_a_comma_in_its_name(capsys, tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text('"income, net",sex\n1,f\n1,f\n2,m\n')
    code, out, _ = run(capsys, str(path), "--qi", "income, net", "--leaked", "1", "--json")
    assert (code, json.loads(out)["classes"]) == (0, 2)


def test_words_are_right_for_small_and_for_tiny_numbers(capsys):
    code, out, _ = run(capsys, "--people", "10000", "--k", "5", "--leaked", "100%", "--targets", "1,1,2000")
    assert code == 0
    assert "(100% of the table)" in out
    assert "2,000 of the 10,000 who leaked (20.0%)" in out
    assert "whether they leaked or not" in out
    assert out.count("1 in 5 ") <= 1
    assert "e-" in out  # from the log, not 0


def test_too_few_trials_are_said(capsys):
    _, out, _ = run(capsys, "--people", "1000", "--k", "5", "--leaked", "400", "--simulate", "200", "--targets", "1,50")
    assert "too few trials for so many targets" in out


def test_too_much_to_count_is_left_out_with_a_note(capsys):
    code, out, err = run(capsys, "--people", "1e9", "--k", "500000000", "--leaked", "50%", "--json")
    assert code == 0
    assert json.loads(out)["people_named"] is None
    assert "left out" in err


def test_an_existing_figure_is_refused_before_the_work(capsys, tmp_path):
    figure = tmp_path / "leak.svg"
    figure.write_text("mine")
    code, out, err = run(capsys, "--people", "100", "--k", "5", "--leaked", "40", "--plot", str(figure))
    assert (code, out) == (2, "")
    assert "exists already" in err


@pytest.mark.paper("leak-attack", "simulation of several")
def test_simulated_targets_may_be_known_to_have_leaked(capsys, table):
    arguments = (table, "--qi", "age,sex", "--leaked", "4", "--targets", "2", "--simulate", "20000")
    code, out, _ = run(capsys, *arguments, "--targets-from", "leak", "--json")
    assert code == 0
    (simulated,) = json.loads(out)["simulations"]
    assert simulated["probability"] == pytest.approx(7 / 15, abs=0.01)  # 0.56/3 divided by the chance that both leaked
    assert "targets known to have leaked" in run(capsys, *arguments, "--targets-from", "leak")[1]
    assert run(capsys, *arguments[:-2], "--targets-from", "leak")[0] == 2
    assert run(capsys, *arguments, "--targets-from", "street")[0] == 2


def test_partial_leaks_and_partial_knowledge(capsys, tmp_path):
    path = tmp_path / "stays.csv"
    path.write_text("who,days\na,1\na,2\nb,1\nb,2\nc,1\nd,2\nd,3\ne,3\n")
    whole = (path, "--qi", "days", "--person", "who", "--leaked", "3")
    code, out, _ = run(capsys, *whole, "--records-known", "1", "--records-leaked", "50%", "--error-rate", "10%")
    assert code == 0
    for words in ("true positives", "false positives", "names that are right"):
        assert words in out
    code, out, _ = run(capsys, *whole, "--records-known", "1", "--simulate", "500", "--json")
    found = json.loads(out)["partial"]
    assert (found["trials"], found["known_records"], found["share_of_records"]) == (500, 1, 1.0)
    assert 0 < found["true_positive_rate"] < 1
    code, _, err = run(capsys, path, "--qi", "days", "--leaked", "3", "--records-known", "1")
    assert code == 2
    assert "--person" in err


@pytest.mark.parametrize("at_most", [0.33, 0.09, 0.05, 1 / 3, 1 / 7])
@pytest.mark.parametrize("leaked", [840, 300])
def test_what_the_planner_accepts_passes_the_command_and_one_less_fails(capsys, leaked, at_most):
    k = smallest_k(people=840, leaked=leaked, at_most=at_most).k
    table = ("--people", 840, "--at-most", at_most)
    assert run(capsys, *table, "--k", k, "--leaked", leaked)[0] == 0
    assert run(capsys, *table, "--k", k - 1, "--leaked", leaked)[0] == 1
    most = largest_leak(uniform_sizes(840, k - 1), at_most=at_most).leaked
    assert run(capsys, *table, "--k", k - 1, "--leaked", most)[0] == 0
    assert run(capsys, *table, "--k", k - 1, "--leaked", most + 1)[0] == 1


def test_secrets_are_learnt_without_a_name(capsys, tmp_path):
    path = tmp_path / "ill.csv"
    path.write_text(
        "age,ill\n" + "".join(f"{age},{ill}\n" for age, ills in enumerate(("aab", "ccc", "abcd")) for ill in ills)
    )
    options = (str(path), "--qi", "age", "--sensitive", "ill", "--leaked", "5")
    code, out, _ = run(capsys, *options, "--secret-known", "1", "--json")
    (secrets,) = json.loads(out)["secrets"]
    assert code == 0
    assert (secrets["learnt"], secrets["worst_leaked"]) == (pytest.approx(0.396, abs=5e-4), 5)
    assert secrets["named"]["probability"] > json.loads(out)["risks"][0]["probability"]
    code, out, _ = run(capsys, *options, "--at-most", "0.31")  # naming is within, but a secret is learnt more often
    assert (code, "39.6%" in out, "no secret may have more than 1/2" in out) == (1, True, True)
    code, _, err = run(capsys, "--people", "100", "--k", "5", "--leaked", "5", "--sensitive", "ill")
    assert (code, "--sensitive" in err) == (2, True)
