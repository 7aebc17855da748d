"""`incrowd protect --recipient`: how it ends without a yes, and one number for the detail that is kept."""

import json
import random
import shlex

import pytest
from tests.cli.running import run

from incrowd import assess

pytestmark = pytest.mark.usefixtures("no_child_processes", "quick_estimates")


def write(file, columns):
    rows = zip(*columns.values(), strict=True)
    file.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return file


def table_of(seed, rows=300, ages=60, towns=5):
    draw = random.Random(seed)
    return {
        "age": [draw.randrange(20, 20 + ages) for _ in range(rows)],
        "sex": [draw.choice("fm") for _ in range(rows)],
        "town": [draw.choice("abcdefghij"[:towns]) for _ in range(rows)],
        "illness": [draw.choice(["flu", "gout", "none"]) for _ in range(rows)],
    }


def commands_in(shown):
    return [line.strip() for line in shown.splitlines() if line.strip().startswith("incrowd ")]


def test_columns_that_nobody_judged_end_with_the_command_that_judges_or_leaves_them_out(capsys, tmp_path):
    file = write(tmp_path / "people.csv", table_of(1))
    code, shown, _ = run(
        capsys, "protect", file, "--qi", "age,sex,town", "--recipient", "trusted", "--out", tmp_path / "o.csv"
    )
    assert code == 1
    assert "nobody has judged 1 column (illness)" in " ".join(shown.split())
    judge, answered, way, again = commands_in(shown)
    assert judge.startswith(f"incrowd judge {file} ")
    assert answered.startswith(f"incrowd assess {file} --question ")
    assert "--drop illness" in way
    for command in (way, again):
        code, _, err = run(capsys, *shlex.split(command)[1:])
        assert code == 0, err


def test_rows_that_may_not_be_people_end_with_the_question_whose_they_are(capsys, tmp_path):
    person = [row // 4 for row in range(240)]
    ages = [30 + one for one in person]
    draw = random.Random(2)
    file = write(tmp_path / "visits.csv", {"pid": person, "age": ages, "score": [draw.randrange(9) for _ in person]})
    code, shown, _ = run(
        capsys,
        "protect",
        file,
        "--qi",
        "age",
        "--other",
        "pid,score",
        "--recipient",
        "trusted",
        "--out",
        tmp_path / "o.csv",
    )
    assert code == 1
    assert commands_in(shown) == []  # a command would state a guess
    words = " ".join(shown.split())
    assert "name pid as the person and assess again, or say that every row is another person" in words
    assert "(--person, --rows-are-people)" in words
    answered = ["--qi", "age", "--other", "score", "--person", "pid", "--recipient", "trusted"]
    code, shown, err = run(capsys, "assess", file, *answered)
    assert code == 1, err  # a no, with the way to a yes
    assert commands_in(shown)[0].startswith("incrowd protect")


def test_check_says_that_it_lacks_what_a_row_is_where_every_column_is_named(capsys, tmp_path):
    numbers = [row // 4 for row in range(240)]
    random.Random(3).shuffle(numbers)
    file = write(tmp_path / "waves.csv", {"nr": numbers, "sex": ["fm"[one % 2] for one in numbers]})
    code, shown, _ = run(capsys, "check", file, "--qi", "sex", "--other", "nr", "--recipient", "public")
    words = " ".join(shown.split())
    assert code == 1
    assert "yet: nobody has said whether every row is another person" in words
    assert "(--person, --rows-are-people)" in words


def test_nothing_that_passes_ends_with_a_reason_and_a_smaller_audience(capsys, tmp_path):
    file = write(tmp_path / "few.csv", {"age": [20 + row for row in range(12)]})
    code, shown, err = run(
        capsys, "protect", file, "--qi", "age", "--k", 2, "--recipient", "public", "--out", tmp_path / "o.csv"
    )
    assert code == 1, err
    assert "too small for classes that large" in " ".join(shown.split())
    (command,) = commands_in(shown)
    assert command == f"incrowd assess {file} --qi age --recipient trusted"


@pytest.mark.parametrize(("seed", "ages", "towns"), [(1, 60, 5), (2, 9, 3), (3, 40, 1)])
def test_the_detail_that_is_kept_is_one_number_everywhere(capsys, tmp_path, seed, ages, towns):
    file = write(tmp_path / "people.csv", table_of(seed, ages=ages, towns=towns))
    roles = ("--qi", "age,sex,town", "--sensitive", "illness")
    code, shown, err = run(capsys, "assess", file, *roles, "--recipient", "public", "--json")
    assert code == 1, err
    advice = json.loads(shown)["verdict"]["actions"][-1]
    code, shown, err = run(capsys, *shlex.split(advice["commands"][0])[1:], "--json")
    assert code == 0, err
    made = json.loads(shown)
    kept = made["evaluation"]["granularity"]
    assert kept == pytest.approx(advice["expected"]["detail_kept"])
    code, shown, err = run(capsys, "evaluate", file, made["file"], "--json")
    assert code == 0, err
    assert json.loads(shown)["granularity"] == pytest.approx(kept)
    code, shown, err = run(
        capsys, "protect", file, *roles, "--recipient", "public", "--out", tmp_path / "o.csv", "--json"
    )
    assert code == 0, err
    solved = json.loads(shown)
    (chosen,) = [trial for trial in solved["trials"] if trial["chosen"]]
    assert chosen["detail_kept"] == pytest.approx(solved["evaluation"]["granularity"])
    assert chosen["detail_kept"] >= kept - 1e-12
    code, shown, err = run(
        capsys, "frontier", file, *roles, "--k", advice["expected"]["k"], "--method", "partition", "--json"
    )
    assert code == 0, err
    points = json.loads(shown)["points"]
    assert any(point["granularity"] == pytest.approx(kept) for point in points)


def test_a_population_lowers_the_risk_that_the_search_and_the_verdict_hold_against_the_limit(capsys, tmp_path):
    file = write(tmp_path / "people.csv", {"age": [20 + row % 25 for row in range(100)]})
    asked = ["protect", file, "--qi", "age", "--recipient", "public", "--rows-are-people", "--method", "generalise"]
    code, shown, err = run(capsys, *asked, "--population", "1e6", "--out", tmp_path / "safe.csv", "--json")
    assert code == 0, err
    made = json.loads(shown)
    assert made["verdict"]["basis"] == "population"
    assert max(trial["k"] for trial in made["trials"]) < 11  # what the limit asks of the table alone
    refused = ["protect", file, "--qi", "age", "--out", tmp_path / "o.csv"]
    code, _, err = run(capsys, *refused, "--population", "1e6")
    assert code == 2
    assert "add --recipient or --k-map" in " ".join(err.split())
    code, _, err = run(capsys, *refused, "--recipient", "public", "--population", "99")
    assert code == 2
    assert "a population of 99 is smaller than the table" in " ".join(err.split())


def test_what_a_yes_rests_on_is_told_wherever_the_yes_is(capsys, tmp_path):
    draw = random.Random(5)
    words = ["asked", "about", "heating", "repairs", "again", "answer", "promised", "later", "visited", "office"]
    answers = [" ".join(draw.sample(words, 9)) for _ in range(300)]
    table = {name: values for name, values in table_of(5).items() if name != "illness"} | {"q9": answers}
    file, safe, junit = write(tmp_path / "people.csv", table), tmp_path / "safe.csv", tmp_path / "junit.xml"
    asked = ("--qi", "age,sex,town", "--other", "q9", "--recipient", "public", "--rows-are-people")
    code, shown, _ = run(capsys, "protect", file, *asked, "--out", safe)
    told = [" ".join(shown.split())]
    assert code == 0
    code, shown, err = run(capsys, "check", safe, *asked, "--junit", junit)
    assert code == 0, err
    told += [" ".join(shown.split()), junit.read_text()]
    found = assess(safe, quasi_identifiers=["age", "sex", "town"], other=["q9"], rows_are_people=True)
    told += [" ".join(map(str, found.verdict.conditions)), found._repr_html_()]
    for one in told:
        assert "read some of its cells before it goes out" in one
        assert "This yes rests on your word that nobody outside knows q9" in one
