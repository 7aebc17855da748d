"""Parts are kept whole, not done twice, and stand on a page."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from papers.__main__ import main
from papers.page import markdown, write_pages

from incrowd.errors import InputError
from papers import Comparison, Context, Grid, Paper, Part, PartResult, Picture, Row, paper, reproduce

FILES = ("adult.parquet", "fars.parquet")


@pytest.fixture
def counted():
    """A paper of one part, and the list of contexts it was done with."""
    import altair as alt

    done = []

    def work(context):
        done.append(context)
        context.progress("working", 0.5)
        chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
        table = Comparison("numbers", (Row("one | two", 1.5, 2, "half | more <b>"), Row("three", 3)))
        grid = Grid("wide", ("a", "b"), [[1, None], [2, "x"]], "A grid.")
        return PartResult((table, grid), (Picture("dot", "A dot", chart, "remark"),), ("a note",))

    return Paper(
        "small", "A small paper", "Nobody, 1900.", "About.", (Part("only", "The only part", work, FILES),)
    ), done


def test_a_finished_part_is_not_done_again(counted, tmp_path):
    small, done = counted
    first = reproduce(small, tmp_path, Context(seed=1))
    second = reproduce(small, tmp_path, Context(seed=1))
    assert len(done) == 1
    assert (first[0].from_earlier_run, second[0].from_earlier_run) == (False, True)
    assert second[0].to_dict() == first[0].to_dict()


@pytest.mark.parametrize("other", [Context(seed=2), Context(seed=1, quick=True)])
def test_other_options_do_it_again(counted, tmp_path, other):
    small, done = counted
    reproduce(small, tmp_path, Context(seed=1))
    reproduce(small, tmp_path, other)
    assert len(done) == 2


def test_force_a_lost_figure_and_a_broken_file_do_it_again(counted, tmp_path):
    small, done = counted
    reproduce(small, tmp_path, Context())
    reproduce(small, tmp_path, Context(), force=True)
    assert len(done) == 2
    (tmp_path / "small" / "only-dot.svg").unlink()
    reproduce(small, tmp_path, Context())
    assert len(done) == 3
    for number, broken in enumerate(("{", "[]", "{}", '{"made_with": {}}')):
        (tmp_path / "small" / "only.json").write_text(broken)
        reproduce(small, tmp_path, Context())
        assert len(done) == 4 + number


def test_a_paper_that_uses_no_data_is_the_same_with_and_without(counted, tmp_path):
    small, done = counted
    alone = replace(small, parts=(replace(small.parts[0], files=()),))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "adult.parquet").write_bytes(b"")
    reproduce(alone, tmp_path, Context())
    kept = reproduce(alone, tmp_path, Context(data=tmp_path / "data"))
    assert len(done) == 1
    assert not kept[0].made_with["data"]
    assert not alone.uses_data


def test_a_part_is_done_again_when_a_file_it_reads_changes_and_not_for_another(counted, tmp_path):
    small, done = counted
    data = tmp_path / "data"
    data.mkdir()
    (data / "adult.parquet").write_bytes(b"AAAA")
    reproduce(small, tmp_path, Context(data=data))
    (data / "another.parquet").write_bytes(b"new")
    assert reproduce(small, tmp_path, Context(data=data))[0].from_earlier_run
    (data / "adult.parquet").write_bytes(b"BBBB")
    assert not reproduce(small, tmp_path, Context(data=data))[0].from_earlier_run
    assert len(done) == 2


def test_a_part_is_done_again_when_the_code_changes(counted, tmp_path, monkeypatch):
    small, done = counted
    reproduce(small, tmp_path, Context())
    monkeypatch.setattr("papers.runner._code_digest", lambda own: "other sources")
    assert not reproduce(small, tmp_path, Context())[0].from_earlier_run
    assert len(done) == 2


def test_the_digest_is_of_the_papers_own_sources(tmp_path, monkeypatch):
    from papers import runner

    for file in ("src/fit.py", "src/cli/app.py", "papers/page.py", "papers/run.py", "papers/leak_attack/one.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("1")
    monkeypatch.setattr(runner, "_PACKAGE", tmp_path / "src")
    monkeypatch.setattr(runner, "_PAPERS", tmp_path / "papers")

    def digests():
        runner._code_digest.cache_clear()
        return runner._code_digest("leak_attack"), runner._code_digest("scaling_law")

    try:
        leak, scaling = digests()
        (tmp_path / "src" / "cli" / "app.py").write_text("2")
        (tmp_path / "papers" / "page.py").write_text("2")
        assert digests() == (leak, scaling)
        (tmp_path / "papers" / "leak_attack" / "one.py").write_text("2")
        assert digests()[0] != leak
        assert digests()[1] == scaling
        (tmp_path / "src" / "fit.py").write_text("2")
        assert digests()[1] != scaling
    finally:
        runner._code_digest.cache_clear()


def test_a_quick_run_takes_nothing_from_a_full_one(counted, tmp_path):
    small, done = counted
    (full,) = reproduce(small, tmp_path, Context())
    (quick,) = reproduce(small, tmp_path, Context(quick=True))
    pages = [page for kept in (full, quick) for page in write_pages(tmp_path, small, [kept])]
    assert [page.name for page in pages] == ["small.md", "small.html", "small-quick.md", "small-quick.html"]
    assert "](small-quick/only-dot.svg)" in pages[2].read_text(encoding="utf-8")
    assert reproduce(small, tmp_path, Context())[0].from_earlier_run
    assert len(done) == 2


def test_a_run_stopped_among_its_figures_is_not_finished(counted, tmp_path, monkeypatch):
    small, done = counted
    write_pages(tmp_path, small, reproduce(small, tmp_path, Context()))

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("incrowd.figures.theme.save", stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce(small, tmp_path, Context(seed=2))
    monkeypatch.undo()
    assert not (tmp_path / "small.md").exists()
    assert not reproduce(small, tmp_path, Context())[0].from_earlier_run
    assert len(done) == 3


def test_a_part_that_fails_keeps_nothing(tmp_path):
    def work(context):
        raise InputError("no")

    broken = Paper("broken", "", "", "", (Part("only", "", work),))
    with pytest.raises(InputError):
        reproduce(broken, tmp_path, Context())
    assert not list(tmp_path.rglob("*.json"))


def test_the_pages_hold_the_numbers(counted, tmp_path):
    small, _ = counted
    written = write_pages(tmp_path, small, reproduce(small, tmp_path, Context()))
    markdown, html = (path.read_text(encoding="utf-8") for path in written)
    assert "| one \\| two | 1.5 | 2 | half \\| more <b> |" in markdown
    assert "| 1 | – |" in markdown
    assert "](small/only-dot.svg)" in markdown
    assert "half | more &lt;b&gt;" in html
    assert "<svg role" in html


def test_a_page_says_which_parts_are_from_another_kind_of_run(counted, tmp_path):
    small, _ = counted
    (part,) = reproduce(small, tmp_path, Context())
    quick = replace(part, title="The hasty part", made_with={**part.made_with, "quick": True})
    assert "Made otherwise: The hasty part (with --quick)." in markdown(small, [part, quick], pictures="")
    assert "otherwise" not in markdown(small, [part, part], pictures="")


def test_a_page_says_which_parts_have_another_seed_version_or_data(counted, tmp_path):
    small, _ = counted
    (part,) = reproduce(small, tmp_path, Context())
    first = replace(part, made_with={**part.made_with, "data": {"adult.parquet": "a"}})
    odd = {**part.made_with, "seed": 9, "version": "0.0.1", "data": {"adult.parquet": "b", "fars.parquet": "c"}}
    text = markdown(small, [first, replace(part, title="The odd part", made_with=odd)], pictures="")
    assert "The odd part (with --seed 9, with incrowd 0.0.1, with other contents of DATA)" in text
    assert "--data DATA" in text
    assert "Read of DATA: adult, fars." in text


def test_an_unknown_paper_and_a_missing_folder_are_refused(tmp_path, capsys):
    with pytest.raises(InputError, match="scaling-law"):
        paper("gravity")
    with pytest.raises(SystemExit) as stopped:
        main(["scaling-law", "--out", str(tmp_path), "--data", str(tmp_path / "none")])
    assert stopped.value.code == 2
    assert "no folder" in capsys.readouterr().err


def test_a_file_is_no_place_for_a_run(counted, tmp_path):
    small, done = counted
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        reproduce(small, tmp_path / "file", Context())
    with pytest.raises(InputError, match="seed"):
        reproduce(small, tmp_path, Context(seed=-1))
    assert not done


def test_the_command_does_a_part_once_and_prints_it(counted, tmp_path, capsys, monkeypatch):
    small, done = counted
    monkeypatch.setitem(sys.modules, "a_small_paper", SimpleNamespace(PAPER=small))
    monkeypatch.setattr("papers.PAPERS", {"small": "a_small_paper"})
    monkeypatch.delenv("INCROWD_DATA", raising=False)
    printed = []
    for options in ([], ["--json"]):
        with pytest.raises(SystemExit) as stopped:
            main(["all", "--out", str(tmp_path), *options])
        assert not stopped.value.code
        printed.append(capsys.readouterr())
    assert "no public tables" in printed[0].err
    assert "small, part 1 of 1 begins: The only part" in printed[0].err  # a log has no bar
    assert "is kept from an earlier run" in printed[1].err
    assert str(tmp_path / "small.md") in printed[0].out.replace("\n", "")
    assert json.loads(printed[1].out)["small"][0]["tables"][0]["rows"][0]["paper"] == 2
    assert len(done) == 1


def test_a_stopped_run_says_that_it_goes_on(counted, tmp_path, capsys, monkeypatch):
    small, done = counted

    def stopped(context):
        raise KeyboardInterrupt

    longer = replace(small, parts=(*small.parts, Part("second", "The second part", stopped)))
    monkeypatch.setitem(sys.modules, "a_small_paper", SimpleNamespace(PAPER=longer))
    monkeypatch.setattr("papers.PAPERS", {"small": "a_small_paper"})
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main(["all", "--out", str(tmp_path)])
        assert ended.value.code == 130
        assert "stopped; finished parts are kept" in capsys.readouterr().err
    assert len(done) == 1


def test_the_data_folder_may_come_from_the_environment(counted, tmp_path, monkeypatch, capsys):
    small, done = counted
    monkeypatch.setitem(sys.modules, "a_small_paper", SimpleNamespace(PAPER=small))
    monkeypatch.setattr("papers.PAPERS", {"small": "a_small_paper"})
    monkeypatch.setenv("INCROWD_DATA", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path / "out"), "--quick", "--seed", "3"])
    assert (done[0].data, done[0].quick, done[0].seed) == (tmp_path, True, 3)
