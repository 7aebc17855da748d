"""No output of any verb is written over what the command reads, or to an address; found by looking at every option."""

import inspect
import os
import re
import typing
from pathlib import Path

import pyarrow as pa
import pytest
import typer
from tests.cli.running import run

from incrowd._support.compressed_files import COMPRESSIONS
from incrowd.cli.app import app
from incrowd.cli.command_files import STORED_TABLE, TABLE_OUTPUT, Input, Output, marked_parameters
from incrowd.errors import InputError
from incrowd.protection.perturbation import STEPS
from incrowd.protection.perturbation.step import read_number_or_file
from incrowd.tables import write_table
from incrowd.tables.formats import WRITERS
from incrowd.web.downloads import OFFERED

VERBS = typer.main.get_command(app).commands
CONTENT = "age,sex\n30,f\n31,m\n"
NO_FILES = {"separator", "encoding", "folder", "max_upload", "people"}  # they speak of files and name none


def pairs():
    """Every output option of every verb with every input option of it."""
    for verb, command in VERBS.items():
        for output, marker in marked_parameters(command.callback, Output).items():
            for given, source in marked_parameters(command.callback, Input).items():
                yield pytest.param(verb, output, marker, given, source, id=f"{verb}-{output}-{given}")


def words(verb, values):
    """The command line that gives these values to the parameters of a verb."""
    found, arguments = [verb], []
    outputs = marked_parameters(VERBS[verb].callback, Output)
    for one in VERBS[verb].params:
        if one.name in values and one.param_type_name == "argument":
            arguments.append(values[one.name])
        elif one.name in values:
            found += [one.opts[0]] if one.is_flag else [one.opts[0], values[one.name]]
        elif one.required:
            arguments += ["other.csv"] if one.param_type_name == "argument" else []
            needed = "another.csv" if one.name in outputs else "1"
            found += [one.opts[0], needed] if one.param_type_name == "option" else []
    return [*found, *arguments]


@pytest.mark.parametrize("link", [None, os.symlink, os.link], ids=["itself", "symbolic link", "hard link"])
@pytest.mark.parametrize(("verb", "output", "marker", "given", "source"), list(pairs()))
def test_no_output_replaces_an_input_even_by_force(
    capsys, tmp_path, monkeypatch, verb, output, marker, given, source, link
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text(CONTENT)
    target = tmp_path / "people.csv"
    read = target if link is None else tmp_path / "original.csv"
    read.write_text(CONTENT)
    if link is not None:
        link(read, target)
    values = {given: f"age{source.after}{read}" if source.after else read, output: target}
    force = ["--force"] if any(one.name == "force" for one in VERBS[verb].params) else []
    code, _, err = run(capsys, *words(verb, values), *force)
    assert code == 2
    assert "is read by this command; it is never overwritten" in err
    assert read.read_text() == CONTENT
    assert target.is_symlink() == (link is os.symlink)


def test_there_are_pairs_to_look_at():
    found = {(case.values[0], case.values[1], case.values[3]) for case in pairs()}
    assert {("curve", "out", "table"), ("curve", "plot", "probes"), ("forecast", "plot", "gallery")} <= found
    assert {
        ("protect", "out", "hierarchies"),
        ("check", "junit", "policy"),
        ("protect", "codebook", "hierarchies"),
    } <= found


@pytest.mark.parametrize("address", ["postgresql://ann:hunter2@db.example/clinic", "s3a://key:hunter2@bucket/a.csv"])
@pytest.mark.parametrize(
    ("verb", "output"),
    [(verb, name) for verb, command in VERBS.items() for name in marked_parameters(command.callback, Output)],
)
def test_an_address_is_no_output_and_its_password_is_not_shown(capsys, tmp_path, monkeypatch, verb, output, address):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text(CONTENT)
    code, out, err = run(capsys, *words(verb, {output: address}))
    assert code == 2
    assert "is an address" in err
    assert "hunter2" not in out + err
    assert [path.name for path in tmp_path.iterdir()] == ["other.csv"]


@pytest.mark.parametrize(
    "address", ["postgresql://ann:hunter2@db.example/clinic", "jdbc:mysql://h/db?password=hunter2"]
)
@pytest.mark.parametrize(
    ("verb", "given", "source"),
    [
        (verb, name, one)
        for verb, command in VERBS.items()
        for name, one in marked_parameters(command.callback, Input).items()
        if not one.address
    ],
)
def test_a_file_of_settings_is_no_address_and_its_password_is_not_shown(
    capsys, tmp_path, monkeypatch, verb, given, source, address
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text(CONTENT)
    code, out, err = run(capsys, *words(verb, {given: f"age{source.after}{address}" if source.after else address}))
    assert code == 2
    assert "is an address; name a file" in err
    assert "hunter2" not in out + err


def test_vectors_are_no_address_and_its_password_is_not_shown(capsys, tmp_path):
    both = ["--probes", "s3a://key:hunter2@bucket/a.npy", "--gallery", "s3a://key:hunter2@bucket/b.npy"]
    code, out, err = run(capsys, "curve", *both, "--out", tmp_path / "curve.csv")
    assert (code, "cannot read probes from s3a://bucket/a.npy" in err, "hunter2" in out + err) == (2, True, False)


def test_the_library_writes_no_folder_named_like_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is an address; name a file") as error:
        write_table(pa.table({"age": [30]}), "postgresql://ann:hunter2@db.example/clinic.csv")
    assert "hunter2" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_one_file_is_not_two_outputs(capsys, tmp_path):
    (tmp_path / "people.csv").write_text(CONTENT)
    page = tmp_path / "page.html"
    code, _, err = run(capsys, "assess", tmp_path / "people.csv", "--qi", "age", "--html", page, "--plot", page)
    assert (code, "two outputs" in err, page.exists()) == (2, True, False)


def test_a_database_that_is_read_is_not_written_to(capsys, tmp_path):
    file = tmp_path / "people.db"
    file.write_bytes(b"SQLite format 3\0")
    for source in (file, f"sqlite:///{file}"):
        code, _, err = run(capsys, "check", source, "--qi", "age", "--min-k", "2", "--junit", file)
        assert (code, "never overwritten" in err, file.read_bytes()) == (2, True, b"SQLite format 3\0")


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_that_names_a_file_says_whether_it_is_read_or_written(verb):
    callback = VERBS[verb].callback
    marked = {*marked_parameters(callback, Input), *marked_parameters(callback, Output)}
    helps = {one.name: getattr(one, "help", None) or "" for one in VERBS[verb].params}
    for name, parameter in inspect.signature(callback, eval_str=True).parameters.items():
        kind = typing.get_args(parameter.annotation)[0]
        named = Path in (kind, *typing.get_args(kind))
        told = kind is not bool and re.search(r"\bfiles?\b|^Write|\.(csv|npy|parquet|html)\b", helps.get(name, ""))
        assert name in marked | NO_FILES or not (named or told), f"mark --{name} of {verb} as Input() or Output()"


def test_every_ending_that_a_table_can_have_is_taken():
    for output in (TABLE_OUTPUT, STORED_TABLE):
        assert {*output.endings()} == {*WRITERS, *COMPRESSIONS}
    assert {f".{ending}" for ending in OFFERED} == {*WRITERS}


@pytest.mark.parametrize("parameter", ["pram=", "pram=matrix.csv,matrix=", "shiftdates=9,person=who,key="])
def test_a_file_that_a_step_reads_is_not_replaced(capsys, tmp_path, parameter):
    """A key that is lost cannot be made again."""
    (tmp_path / "people.csv").write_text(CONTENT)
    read = tmp_path / "read.csv"
    read.write_text("secret")
    steps = ["--method", "perturb", "--step", f"age:{parameter}{read}"]
    code, _, err = run(capsys, "protect", tmp_path / "people.csv", "--qi", "age", *steps, "--out", read, "--force")
    assert (code, "is read by this command; it is never overwritten" in err, read.read_text()) == (2, True, "secret")


def test_every_step_that_reads_a_file_names_it_by_a_parameter():
    """What `StepInput` takes for files: whatever follows an equals sign."""
    reading = {
        kind: [name for name, read in step.reads.items() if read in (Path, read_number_or_file)]
        for kind, step in STEPS.items()
    }
    assert {kind: names for kind, names in reading.items() if names} == {"pram": ["matrix"], "shiftdates": ["key"]}
