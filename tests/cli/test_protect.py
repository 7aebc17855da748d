"""`incrowd protect`, `evaluate` and `frontier` as a user meets them."""

import json
import shlex
from collections import Counter

import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.cli.running import run

pytestmark = pytest.mark.usefixtures("no_child_processes", "quick_estimates")

QI = "age,town"


@pytest.fixture
def people(tmp_path):
    file = tmp_path / "people.csv"
    towns = ["=Ham", "York", "Oslo", "York"]
    rows = "".join(f"{20 + i},{towns[i % 4]},{1000 * i},{i}@x\n" for i in range(24))
    file.write_text("age,town,pay,email\n" + rows)
    return file


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_a_file_in_a_safe_file_out(capsys, people, tmp_path, kind):
    out = tmp_path / f"safe.{kind}"
    code, shown, err = run(capsys, "protect", people, "--qi", QI, "--k", 4, "--out", out)
    assert code == 0, err
    assert "at least 3 others" in shown
    assert "email" in err
    assert "Passed on unchanged: pay." in shown
    assert [path.name for path in sorted(tmp_path.iterdir())] == sorted(["people.csv", out.name, f"{out.name}.incrowd"])
    code, shown, _ = run(capsys, "evaluate", people, out, "--qi", QI, "--json")
    found = json.loads(shown)
    assert code == 0
    assert found["uniques"] == 0
    assert found["k"] >= 4


def test_blanks_that_may_be_any_value_are_told_apart_from_the_counts_below(capsys, people, tmp_path):
    words = ("--qi", QI, "--k", 2, "--method", "blank", "--out")
    code, shown, err = run(capsys, "protect", people, *words, tmp_path / "wild.csv", "--wildcards")
    assert code == 0, err
    assert "the numbers below take it for a value, as assess does" in " ".join(shown.split())
    code, shown, err = run(capsys, "protect", people, *words, tmp_path / "plain.csv")
    assert code == 0, err
    assert "the numbers below" not in shown


def test_the_output_never_joins_the_input(capsys, people, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(people), parts / "a.parquet")
    for source in (parts, parts / "*.parquet", tmp_path / "**" / "*.parquet"):
        code, _, err = run(capsys, "protect", source, "--qi", QI, "--k", 4, "--out", parts / "safe.parquet")
        assert code == 2
        assert "would become part of the table" in err
        assert [path.name for path in parts.iterdir()] == ["a.parquet"]
    code, _, err = run(capsys, "protect", parts / "*.parquet", "--qi", QI, "--k", 4, "--out", parts / "safe.csv")
    assert code == 0, err


def test_a_column_whose_name_is_a_formula(capsys, tmp_path):
    file, out = tmp_path / "odd.csv", tmp_path / "safe.csv"
    file.write_text("=age\n" + "\n".join(str(20 + i) for i in range(8)) + "\n")
    code, _, err = run(capsys, "protect", file, "--qi", "=age", "--k", 4, "--out", out)
    assert code == 0, err
    assert pyarrow.csv.read_csv(out).column_names == ["'=age"]


def test_formulas_are_escaped_in_csv(capsys, people, tmp_path):
    out = tmp_path / "safe.csv"
    run(capsys, "protect", people, "--qi", "age", "--k", 4, "--out", out)
    assert set(pyarrow.csv.read_csv(out)["town"].to_pylist()) == {"'=Ham", "York", "Oslo"}


def test_t_and_json(capsys, people, tmp_path):
    out = tmp_path / "safe.parquet"
    code, shown, _ = run(
        capsys, "protect", people, "--qi", QI, "--k", 3, "--t", 0.1, "--sensitive", "pay", "--out", out, "--json"
    )
    found = json.loads(shown)
    assert code == 0
    assert found["guarantee"]["t"] <= 0.1
    assert found["guarantee"]["holds"]
    assert found["evaluation"]["k"] >= 3
    assert pyarrow.parquet.read_table(out).column_names == ["age", "town", "pay"]


def test_the_input_is_never_overwritten_and_nothing_else_unasked(capsys, people, tmp_path):
    before = people.read_bytes()
    code, _, err = run(capsys, "protect", people, "--qi", QI, "--k", 3, "--out", people, "--force")
    assert code == 2
    assert "never overwritten" in err
    assert people.read_bytes() == before
    out = tmp_path / "safe.csv"
    out.write_text("precious")
    code, _, err = run(capsys, "protect", people, "--qi", QI, "--k", 3, "--out", out)
    assert code == 2
    assert "--force" in err
    assert out.read_text() == "precious"
    assert run(capsys, "protect", people, "--qi", QI, "--k", 3, "--out", out, "--force")[0] == 0
    assert out.read_text() != "precious"


@pytest.mark.parametrize(
    "bad",
    [
        ["--k", "100"],
        ["--k", "1"],
        ["--t", "0.2"],
        ["--t", "x", "--sensitive", "pay"],
        ["--step", "age"],
        ["--method", "x"],
    ],
)
def test_bad_input_leaves_no_file(capsys, people, tmp_path, bad):
    code, out, err = run(capsys, "protect", people, "--qi", QI, "--out", tmp_path / "safe.csv", *bad)
    assert code == 2
    assert err.startswith("error:")
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("trouble", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [False, True])
def test_a_full_disk_or_an_interruption_leaves_the_old_file(capsys, people, tmp_path, monkeypatch, trouble, existing):
    out = tmp_path / "safe.csv"
    if existing:
        out.write_text("old")

    def broken(table, where, options):
        where.write_text("half a fi")
        raise trouble

    monkeypatch.setattr(pyarrow.csv, "write_csv", broken)
    code, shown, _ = run(capsys, "protect", people, "--qi", QI, "--k", 3, "--out", out, "--force")
    assert code in {2, 130}
    assert shown == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == (
        ["people.csv", "safe.csv"] if existing else ["people.csv"]
    )
    if existing:
        assert out.read_text() == "old"


def test_a_file_that_does_not_keep_the_guarantee_is_not_left(capsys, people, tmp_path, monkeypatch):
    from incrowd.protection import release

    real = release.write_into

    def spoiled(table, file, codebook):
        real(table.set_column(0, "age", [[str(i) for i in range(table.num_rows)]]), file, codebook)

    monkeypatch.setattr(release, "write_into", spoiled)
    code, _, err = run(capsys, "protect", people, "--qi", QI, "--k", 3, "--out", tmp_path / "safe.csv")
    assert code == 2
    assert "does not keep the guarantee" in err
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_every_method_by_its_options(capsys, people, tmp_path):
    (tmp_path / "town.csv").write_text("=Ham;south;*\nYork;north;*\nOslo;north;*\n")
    for number, options in enumerate(
        [
            ["--method", "sorted"],
            ["--method", "tcloseness", "--sensitive", "pay"],
            ["--method", "coarsen", "--resolution", "age=1/4,town=1"],
            ["--method", "generalise", "--hierarchy", f"town={tmp_path / 'town.csv'}", "--suppress", "0.2"],
            ["--method", "mask", "--step", "age:ranges=2", "--step", "town:*"],
            ["--method", "perturb", "--step", "age:noise=0.2", "--step", "town:pram=0.8", "--seed", "1"],
            ["--l", "2", "--sensitive", "pay"],
        ]
    ):
        out = tmp_path / f"safe{number}.csv"
        code, _, err = run(capsys, "protect", people, "--qi", QI, "--k", 3, "--out", out, *options)
        assert code == 0, err
        assert out.exists()


def test_a_perturbed_table_shows_an_attack_and_no_k_and_is_never_a_yes(capsys, people, tmp_path):
    out, said = tmp_path / "safe.csv", tmp_path / "codebook.md"
    asked = [
        "protect",
        people,
        "--qi",
        QI,
        "--method",
        "perturb",
        "--step",
        "pay+age:noise=0.2",
        "--out",
        out,
        "--force",
    ]
    code, shown, err = run(capsys, *asked, "--codebook", said)
    shown = " ".join((shown + err).split())
    assert code == 0
    assert "nothing but that mark tells that pay, age changed by chance" in shown
    assert "no guarantee: age was changed by chance" in shown
    assert "The right record is named in" in shown
    assert "smallest class" not in shown
    assert "a variance is too large by the factor 1 + size² (here 1.04)" in said.read_text()
    code, shown, _ = run(capsys, *asked, "--recipient", "trusted", "--other", "pay", "--json")
    found = json.loads(shown)
    assert code == 1
    assert found["linkage"]["kind"] == "linkage"
    assert found["verdict"]["decision"] != "within"
    assert found["guarantee"]["asked_k"] is None
    for step in ("age", "age:", "age:noise=x"):
        code, _, err = run(
            capsys, "protect", people, "--qi", QI, "--method", "perturb", "--step", step, "--out", "no.csv"
        )
        assert (code, "step" in err) == (2, True)


def test_evaluate_finds_the_columns_that_differ_and_the_threshold(capsys, people, tmp_path):
    out = tmp_path / "safe.csv"
    run(capsys, "protect", people, "--qi", QI, "--k", 3, "--sensitive", "pay", "--out", out)
    code, shown, err = run(capsys, "evaluate", people, out, "--min-k", 4, "--sensitive", "pay", "--secret", ">5000")
    assert code == 1
    assert "age, town" in err
    assert "above 5,000" in shown
    assert run(capsys, "evaluate", people, people)[0] == 2
    assert run(capsys, "evaluate", people, out, "--secret", "3")[0] == 2
    limits = tmp_path / "limits.csv"
    run(capsys, "protect", people, "--qi", QI, "--k", 3, "--output", "age=bounds", "--out", limits)
    code, shown, err = run(capsys, "evaluate", people, limits, "--json")
    assert code == 0, err
    assert [one["column"] for one in json.loads(shown)["columns"]] == ["age", "town"]


def test_frontier_draws_and_lists(capsys, people, tmp_path):
    code, shown, _ = run(
        capsys,
        "frontier",
        people,
        "--qi",
        QI,
        "--k",
        "2,4",
        "--sensitive",
        "pay",
        "--secret",
        "pay>9000",
        "--plot",
        tmp_path / "f.svg",
    )
    assert code == 0
    assert "partition k=4" in shown
    assert (tmp_path / "f.svg").read_text().startswith("<svg")
    assert run(capsys, "frontier", people, "--qi", QI, "--method", "x")[0] == 2


def test_limits_and_c(capsys, people, tmp_path):
    out = tmp_path / "safe.csv"
    limits = ["--top", "age=40", "--bottom", "age=22", "--step", "age:ranges=2"]
    code, _, err = run(capsys, "protect", people, "--qi", "age", "--k", 3, "--method", "mask", *limits, "--out", out)
    assert code == 0, err
    assert {"[*;22]", "[40;*]"} <= set(pyarrow.csv.read_csv(out)["age"].to_pylist())
    code, _, err = run(capsys, "protect", people, "--qi", "age", "--method", "mask", "--top", "age", "--out", "c.csv")
    assert (code, "age=85" in err) == (2, True)
    kind = ["--diversity", "recursive", "--l", 2, "--c", 0.5, "--sensitive", "pay"]
    code, _, err = run(capsys, "protect", people, "--qi", QI, "--k", 4, *kind, "--out", tmp_path / "b.csv")
    assert code == 0, err


def test_the_frontier_refuses_before_the_work(capsys, people, tmp_path):
    figure = tmp_path / "figure.html"
    figure.write_text("precious")
    code, _, err = run(capsys, "frontier", people, "--qi", QI, "--plot", figure)
    assert (code, "exists already" in err, figure.read_text()) == (2, True, "precious")
    code, _, err = run(capsys, "frontier", people, "--qi", QI, "--secret", "pay=3")
    assert (code, "--sensitive" in err) == (2, True)
    code, _, err = run(capsys, "frontier", people, "--qi", QI, "--tolerate", "70%", "--recipient", "public")
    assert (code, "at most 50%" in " ".join(err.split())) == (2, True)


def test_a_file_of_another_country_is_understood_and_the_note_says_how_it_is_written(capsys, tmp_path):
    file, out = tmp_path / "leute.csv", tmp_path / "sicher.csv"
    file.write_text("born;pay\n" + "".join(f"{1 + i:02}.{1 + i % 12:02}.1980;1.{100 + i},5\n" for i in range(24)))
    code, _, err = run(capsys, "protect", file, "--qi", "born,pay", "--k", 4, "--out", out)
    assert code == 0, err
    assert "cells parted by semicolons, decimal commas" in err
    assert "the table has numbers with points between thousands and a decimal comma, dates, the day before" in err
    assert out.read_text().splitlines()[0] == '"born";"pay"'
    assert "[1980-" in out.read_text()


def test_wishes_hierarchies_outputs_and_a_codebook(capsys, people, tmp_path):
    out, book = tmp_path / "safe.csv", tmp_path / "book.md"
    wishes = ["--keep", "town", "--importance", "age=2", "--widest", "age=20", "--suppress", 0.3]
    written = ["--hierarchy", "age=10,20", "--output", "age=bounds", "--codebook", book]
    code, _, err = run(capsys, "protect", people, "--qi", QI, "--k", 3, *wishes, *written, "--out", out)
    assert code == 0, err
    table = pyarrow.csv.read_csv(out)
    assert table.column_names == ["age_low", "age_high", "town", "pay"]
    assert max(row["age_high"] - row["age_low"] for row in table.to_pylist()) <= 20
    assert "| town | quasi-identifier | text | as in the original |" in book.read_text()
    for wrong in (["--output", "age=bounds,mean"], ["--importance", "age"], ["--hierarchy", "age=prefix:x"]):
        code, _, err = run(capsys, "protect", people, "--qi", QI, *wrong, "--out", tmp_path / "other.csv")
        assert code == 2, err


def test_a_hierarchy_without_a_rule_is_told_how_to_write_one(capsys, people, tmp_path):
    asked = ["--qi", QI, "--hierarchy", "age=", "--out", tmp_path / "safe.csv"]
    code, _, err = run(capsys, "protect", people, *asked)
    assert code == 2
    assert "hierarchy 'age=' is not understood; write it like age=5,10,20" in " ".join(err.split())


def test_rows_that_may_not_be_people_are_said_to_be_people(capsys, tmp_path):
    (table := tmp_path / "panel.csv").write_text(
        "case,wave,age\n" + "".join(f"{n // 3},{n % 3},{20 + n // 3 % 4}\n" for n in range(300))
    )
    asked = ["protect", table, "--qi", "age", "--other", "wave", "--drop", "case", "--out", tmp_path / "safe.csv"]
    code, shown, _ = run(capsys, *asked, "--recipient", "public")
    assert code == 1
    assert "--rows-are-people" in shown
    assert run(capsys, *asked, "--recipient", "public", "--rows-are-people", "--force")[0] == 0
    code, _, err = run(capsys, *asked, "--rows-are-people", "--force")
    assert (code, "add --recipient" in " ".join(err.split())) == (2, True)


def test_a_recipient_asks_for_the_classes_that_pass(capsys, people, tmp_path):
    out = tmp_path / "safe.parquet"
    asked = ["--qi", QI, "--drop", "pay", "--recipient", "trusted", "--out", out]
    code, shown, err = run(capsys, "protect", people, *asked, "--json")
    found = json.loads(shown)
    assert code == 0, err
    tried = [(trial["method"], trial["k"], trial["decision"]) for trial in found["trials"]]
    assert tried[0] == ("partition", 3, "within")
    assert {method for method, _, _ in tried} == {"partition", "generalise", "blank"}
    (chosen,) = [trial for trial in found["trials"] if trial["chosen"]]
    assert chosen["loss"] == min(trial["loss"] for trial in found["trials"] if trial["loss"] is not None)
    assert found["method"] == chosen["method"]
    assert found["verdict"]["decision"] == "within"
    code, shown, err = run(capsys, "protect", people, *asked, "--k", 2, "--force")
    assert code == 1, err  # a class size that is asked for is kept, and judged
    code, _, err = run(capsys, "protect", people, *asked, "--force")
    assert code == 0, err
    assert "tried classes of 3 by partition: within" in " ".join(err.split())
    code, _, err = run(capsys, "protect", people, *asked, "--method", "partition", "--force")
    assert code == 0, err
    assert "tried classes of 3: within" in err


@pytest.mark.parametrize("output", ["range", "midpoint"])
def test_a_column_that_gives_ages_back_is_a_no_however_they_are_written(capsys, tmp_path, output):
    table = tmp_path / "table.csv"
    ages = [20 + 7 * number % 50 for number in range(300)]
    table.write_text("age,quota\n" + "".join(f"{age},{9_000 - 13 * age}\n" for age in ages))
    asked = ["--qi", "age", "--other", "quota", "--recipient", "public", "--output", output, "--k", 11]
    code, shown, err = run(capsys, "protect", table, *asked, "--out", tmp_path / "safe.csv")
    assert code == 1, err
    said = " ".join(shown.split())
    assert "Kept columns find people" in said
    assert "Most of it comes from quota." in said
    assert "quota left out, from which an attacker learns who is who" in said


def test_the_frontier_marks_the_most_detail_within_the_limits(capsys, people):
    asked = ["frontier", people, "--qi", QI, "--recipient", "trusted"]
    code, shown, err = run(capsys, *asked, "--drop", "pay", "--json")
    assert code == 0, err
    found = json.loads(shown)
    within = [point for point in found["points"] if point["k"] >= 3 and point["correctness"] <= 1 / 3]
    assert {point["decision"] for point in within} == {"within"}
    assert found["chosen"]["granularity"] == max(point["granularity"] for point in within)
    code, shown, err = run(capsys, *asked, "--drop", "pay", "--method", "partition")
    assert "partition k=3 ←" in shown
    assert "the most detail that may go to a trusted recipient: partition k=3" in " ".join(shown.split())
    code, shown, err = run(capsys, *asked, "--method", "partition", "--k", "3,5")  # nobody judged the pay
    assert "←" not in shown
    assert "partition k=3, is undecided: Do not give it to a trusted recipient yet: nobody has judged" in " ".join(
        shown.split()
    )


def test_a_frontier_without_a_yes_says_why_and_what_to_type(capsys, tmp_path):
    file = tmp_path / "people.csv"
    ages = [age for age in range(20, 60) for _ in range(6)]
    file.write_text("age,born\n" + "".join(f"{age},{2000 - age}\n" for age in ages), encoding="utf-8")
    asked = [str(file), "--qi", "age", "--other", "born", "--recipient", "public"]
    asked += ["--rows-are-people"]
    code, shown, err = run(capsys, "frontier", *asked, "--method", "partition", "--k", "5,11,20")
    assert code == 0, err
    said = " ".join(shown.split())
    nearest = "Nothing that was tried may go to the public. The nearest, partition k=11, is exposed: "
    assert f"{nearest}Kept columns find people" in said
    assert "Most of it comes from born." in said
    command = next(line.strip() for line in shown.splitlines() if line.strip().startswith("incrowd assess /"))
    assert command == shlex.join(["incrowd", "assess", *asked])
    _, advised, _ = run(capsys, *shlex.split(command)[1:])
    assert "the result may go to the public" in " ".join(advised.split())


def test_evaluate_says_what_analysts_find(capsys, people, tmp_path):
    out = tmp_path / "safe.parquet"
    assert run(capsys, "protect", people, "--qi", QI, "--k", 4, "--other", "pay", "--out", out)[0] == 0
    code, shown, err = run(capsys, "evaluate", people, out, "--qi", QI, "--outcome", "pay")
    assert code == 0, err
    assert all(name in shown for name in ("1-way tables", "pMSE", "intervals overlap", "prediction"))
    code, shown, err = run(capsys, "evaluate", people, out, "--qi", QI, "--utility", "--json")
    assert len(json.loads(shown)["utility"]["marginals"]) == 2


def test_shuffled_rows_are_attacked_by_the_list_of_rows(capsys, tmp_path):
    file, out, rows = tmp_path / "t.csv", tmp_path / "safe.csv", tmp_path / "rows.txt"
    file.write_text("age,sex\n" + "".join(f"{20 + n // 5},{'fm'[n % 2]}\n" for n in range(400)))
    asked = ("protect", file, "--qi", "age,sex", "--k", "4", "--out", out, "--kept-rows", rows)
    assert run(capsys, *asked)[0] == 0
    numbers = [int(line) for line in rows.read_text().split()]
    assert sorted(numbers) == list(range(1, 401))
    assert numbers != sorted(numbers)
    attack = ("attack", file, out, "--known", "age,sex", "--kind", "linkage", "--json")
    assert "random order" in json.loads(run(capsys, *attack)[1])["not_run"]["linkage"]
    code, shown, _ = run(capsys, *attack, "--kept-rows", rows)
    assert code == 0
    assert 0 < json.loads(shown)["attacks"][0]["risk"]["value"] <= 0.25


def test_a_batch_joins_a_release(capsys, people, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert run(capsys, "protect", people, "--qi", QI, "--k", 4, "--out", first)[0] == 0
    batch = tmp_path / "batch.csv"
    batch.write_text("age,town,pay\n" + "".join(f"{30 + i // 2},York,{i}\n" for i in range(5)))
    code, shown, err = run(capsys, "protect", batch, "--append", first, "--out", second)
    assert code == 0, err
    assert "5 records joined in 1 class" in " ".join(shown.split())
    assert f"incrowd assess {second} --qi age" in shown
    published, continued = (Counter(path.read_text().splitlines()) for path in (first, second))
    assert published < continued
    code, _, err = run(capsys, "protect", batch, "--append", first, "--out", tmp_path / "third.csv")
    assert code == 2
    assert "continued in second.csv" in err
    code, _, err = run(capsys, "protect", batch, "--append", second, "--out", tmp_path / "third.csv")
    assert code == 2
    assert "came before, cell for cell" in err
    code, _, err = run(capsys, "protect", batch, "--append", second, "--k", 2, "--out", tmp_path / "third.csv")
    assert code == 2
    assert "--append does not take --k" in err
    code, _, err = run(capsys, "protect", batch, "--append", batch, "--out", tmp_path / "third.csv")
    assert code == 2
    assert "has no log" in err
    words = ("--qi", "age", "--delay", 2, "--out", tmp_path / "third.csv")
    assert "--delay is for" in run(capsys, "protect", batch, *words)[2]


def test_appending_for_a_recipient_says_what_assess_says(tmp_path, capsys):
    batches = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, ages in zip(batches, ((30, 31), (40, 41)), strict=True):
        path.write_text("age\n" + "\n".join(f"{age}" for age in ages * 8) + "\n")
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert run(capsys, "protect", batches[0], "--qi", "age", "--k", 5, "--out", first)[0] == 0
    for recipient, code in (("trusted", 0), ("public", 1)):
        words = ("protect", batches[1], "--append", first, "--out", second, "--recipient", recipient, "--force")
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        told, shown, _ = run(capsys, *words)
        asked = run(capsys, "assess", second, "--qi", "age", "--recipient", recipient, "--no-protection")
        assert (told, asked[0]) == (code, code)
        recommended = asked[1].splitlines()[2]
        assert recommended in shown
        for path in tmp_path.iterdir():
            path.unlink()
        for path, content in before.items():
            path.write_bytes(content)


def test_a_limit_on_the_highest_risk_asks_for_the_classes_that_pass(capsys, people, tmp_path):
    asked = ["protect", people, "--qi", QI, "--drop", "pay", "--out", tmp_path / "safe.csv", "--force", "--json"]
    asked.append("--rows-are-people")
    for words, size in ((["--max-risk", "25%"], 4), (["--highest", "0.2"], 5), (["--to", "trusted"], 3)):
        code, shown, err = run(capsys, *asked, *words)
        assert code == 0, err
        assert json.loads(shown)["guarantee"]["k"] >= size
        assert json.loads(shown)["trials"][0]["k"] == size
    code, _, err = run(capsys, *asked, "--max-risk", "0")
    assert (code, "limit on the highest risk" in " ".join(err.split())) == (2, True)


def test_a_frontier_by_how_well_records_are_told_from_original_ones(capsys, people):
    asked = ["frontier", people, "--qi", QI, "--drop", "pay", "--method", "partition,sorted", "--k", "3"]
    asked += ["--recipient", "trusted"]
    code, shown, err = run(capsys, *asked, "--loss", "pmse", "--json")
    assert code == 0, err
    found = json.loads(shown)
    assert found["chosen"]["pmse"] == min(point["pmse"] for point in found["points"])
    assert "least pMSE that may go to a trusted recipient" in " ".join(run(capsys, *asked, "--loss", "pmse")[1].split())
    code, _, err = run(capsys, *asked, "--loss", "beauty")
    assert (code, "granularity or pmse" in " ".join(err.split())) == (2, True)


def test_perturbation_without_steps_shows_one_as_it_is_typed(capsys, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age,income\n" + "\n".join(f"{number % 9},{number}" for number in range(40)))
    code, _, err = run(capsys, "protect", file, "--qi", "age", "--method", "perturb", "--out", tmp_path / "out.csv")
    assert code == 2
    assert "--step income:noise=0.1" in " ".join(err.split())
    assert "[(" not in err


def test_people_and_households_that_are_named_are_the_unit(capsys, tmp_path):
    visits = tmp_path / "visits.csv"
    visits.write_text("who,age\n" + "".join(f"p{who},{30 + who % 3}\n" for who in range(12) for _ in range(2)))
    for named in ("--person", "--household"):
        asked = ("protect", visits, "--qi", "age", named, "who", "--k", 3, "--json", "--force")
        code, shown, _ = run(capsys, *asked, "--out", tmp_path / "safe.csv")
        assert (code, json.loads(shown)["pseudonymised"]) == (0, ["who"])
