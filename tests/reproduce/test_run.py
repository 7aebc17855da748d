"""Parts are kept whole, not done twice, and stand on a page."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from incrowd.cli import main
from incrowd.errors import InputError
from incrowd.reproduce import Comparison, Context, Grid, Paper, Part, PartResult, Picture, Row, paper, reproduce
from incrowd.reproduce.page import markdown, write_pages


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
        return PartResult((table, grid), (Picture("dot", "A dot", chart, "says"),), ("a note",))

    return Paper("small", "A small paper", "Nobody, 1900.", "About.", (Part("only", "The only part", work),)), done


def test_a_finished_part_is_not_done_again(counted, tmp_path):
    small, done = counted
    first = reproduce(small, tmp_path, Context(seed=1))
    second = reproduce(small, tmp_path, Context(seed=1))
    assert len(done) == 1
    assert (first[0].again, second[0].again) == (False, True)
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
    (tmp_path / "small" / "only.json").write_text("{")
    reproduce(small, tmp_path, Context())
    assert len(done) == 4


def test_a_paper_that_uses_no_data_is_the_same_with_and_without(counted, tmp_path):
    small, done = counted
    alone = replace(small, uses_data=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "adult.parquet").write_bytes(b"")
    reproduce(alone, tmp_path, Context())
    kept = reproduce(alone, tmp_path, Context(data=tmp_path / "data"))
    assert len(done) == 1
    assert not kept[0].made_with["data"]


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
    assert "with --quick: The hasty part." in markdown(small, [part, quick], pictures="")
    assert "Not so" not in markdown(small, [part, part], pictures="")


def test_an_unknown_paper_and_a_missing_folder_are_refused(tmp_path, capsys):
    with pytest.raises(InputError, match="scaling-law"):
        paper("gravity")
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "scaling-law", "--out", str(tmp_path), "--data", str(tmp_path / "none")])
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
    monkeypatch.setattr("incrowd.reproduce.PAPERS", {"small": "a_small_paper"})
    monkeypatch.delenv("INCROWD_DATA", raising=False)
    printed = []
    for options in ([], ["--json"]):
        with pytest.raises(SystemExit) as stopped:
            main(["reproduce", "all", "--out", str(tmp_path), *options])
        assert not stopped.value.code
        printed.append(capsys.readouterr())
    assert "no public tables" in printed[0].err
    assert str(tmp_path / "small.md") in printed[0].out.replace("\n", "")
    assert json.loads(printed[1].out)["small"][0]["tables"][0]["rows"][0]["paper"] == 2
    assert len(done) == 1


def test_the_data_folder_may_come_from_the_environment(counted, tmp_path, monkeypatch, capsys):
    small, done = counted
    monkeypatch.setitem(sys.modules, "a_small_paper", SimpleNamespace(PAPER=small))
    monkeypatch.setattr("incrowd.reproduce.PAPERS", {"small": "a_small_paper"})
    monkeypatch.setenv("INCROWD_DATA", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["reproduce", "--out", str(tmp_path / "out"), "--quick", "--seed", "3"])
    assert (done[0].data, done[0].quick, done[0].seed) == (tmp_path, True, 3)
