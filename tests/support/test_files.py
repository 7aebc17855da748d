"""Output files are there whole or not at all, also after a kill, and never replace a file by accident."""

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from incrowd._support import files
from incrowd._support.files import written_whole
from incrowd.assessment.settings_file import read_question
from incrowd.errors import InputError
from incrowd.protection import Hierarchy
from incrowd.protection.keys import read_key
from incrowd.protection.perturbation.pram import read_matrix
from incrowd.reports import read_assessment
from incrowd.tables.formats.fixed_width import read_layout

KINDS = pytest.mark.parametrize("nameless", [True, False], ids=["nameless", "hidden"])
KILLED = """
import os, signal, sys
from incrowd._support import files
if sys.argv[2] == "hidden":
    files._NamelessDraft = files._HiddenDraft
with files.written_whole(sys.argv[1]) as draft:
    draft.write_text("half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def draft_kind(monkeypatch, nameless):
    if not nameless:
        monkeypatch.setattr(files, "_NamelessDraft", files._HiddenDraft)
    return nameless


@KINDS
def test_a_file_appears_when_it_is_whole(tmp_path, draft_kind):
    target = tmp_path / "new" / "out.csv"
    with written_whole(target) as draft:
        assert draft.suffix == ".csv"
        draft.write_text("one")
        assert not target.exists()
        assert stat.S_IMODE(os.stat(draft).st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("one", 0o666 & ~mask)
    with written_whole(target, force=True) as draft:
        draft.write_text("two")
        assert target.read_text() == "one"
    assert (target.read_text(), os.listdir(tmp_path / "new")) == ("two", ["out.csv"])


@KINDS
def test_nothing_is_left_of_work_that_fails(tmp_path, draft_kind):
    def work():
        with written_whole(tmp_path / "out.csv") as draft:
            draft.write_text("half of it")
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        work()
    assert os.listdir(tmp_path) == []


@KINDS
def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path, draft_kind):
    def work():
        with written_whole(tmp_path / "out.csv") as draft:
            draft.write_text("mine")
            (tmp_path / "out.csv").write_text("somebody else's")

    with pytest.raises(InputError, match="exists already"):
        work()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["somebody else's"]


@KINDS
def test_a_kill_leaves_nothing_that_the_next_run_does_not_remove(tmp_path, nameless):
    kind = "nameless" if nameless else "hidden"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "out.csv"), kind]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == (0 if nameless else 1)
    with written_whole(tmp_path / "other.csv") as held:
        held.write_text("whole")
        with written_whole(tmp_path / "another.csv") as draft:  # what is still worked on is not removed
            draft.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == ["another.csv", "other.csv"]


@KINDS
def test_hidden_files_of_users_stay(tmp_path, draft_kind):
    names = [".incrowd-policy.toml", ".incrowd-draft-notes.csv", ".incrowd-draft-0123456789abcdef0", ".incrowd-0"]
    for name in names:
        (tmp_path / name).write_text("mine")
    left = tmp_path / ".incrowd-draft-0123456789abcdef.csv.gz"
    left.write_text("half of it")
    with written_whole(tmp_path / "out.csv") as draft:
        draft.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "out.csv"])


def test_files_are_written_where_there_are_no_locks_no_fchmod_and_open_files_cannot_be_renamed(tmp_path, monkeypatch):
    opened, replace = [], os.replace

    class RecordedDraft(files._HiddenDraft):
        def __init__(self, target):
            super().__init__(target)
            opened.append(self.descriptor)

    def replace_closed(source, target):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(opened[-1])
        replace(source, target)

    monkeypatch.setattr(files, "_NamelessDraft", RecordedDraft)
    monkeypatch.setattr(files, "locked", lambda file: None)
    monkeypatch.delattr(os, "fchmod", raising=False)
    monkeypatch.setattr(os, "replace", replace_closed)
    for text in ("one", "two"):
        with written_whole(tmp_path / "out.csv", force=True) as draft:
            draft.write_text(text)
        assert (os.listdir(tmp_path), (tmp_path / "out.csv").read_text()) == (["out.csv"], text)
    assert len(opened) == 2


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"), written_whole(tmp_path / "file" / "out.csv"):
        pass


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="no plain file"), written_whole(pipe, force=True) as draft:
        draft.write_text("x")
    assert pipe.is_fifo()


def test_a_link_that_cannot_be_made_leaves_no_file_open(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
    before = os.listdir("/proc/self/fd")
    with written_whole(tmp_path / "out.csv") as path:
        path.write_text("whole")
    assert os.listdir("/proc/self/fd") == before
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no device without an end")
@pytest.mark.parametrize(
    "read", [Hierarchy.from_csv, read_key, read_matrix, read_layout, read_question, read_assessment]
)
def test_a_device_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch, read):
    monkeypatch.setattr(files, "_LARGEST_SMALL", 1 << 20)
    asked = []
    monkeypatch.setattr(files, "open", lambda *given: _Watched(asked, *given), raising=False)
    with pytest.raises(InputError):
        read("/dev/zero")
    assert asked == [(1 << 20) + 1]


class _Watched:
    """An open file that notes how many bytes it is asked for."""

    def __init__(self, asked, *given):
        self.asked, self.file = asked, open(*given)  # noqa: SIM115 - closed by __exit__

    def __enter__(self):
        return self

    def __exit__(self, *given):
        self.file.close()

    def read(self, most):
        self.asked.append(most)
        return self.file.read(most)


def test_a_small_file_ends_before_the_limit_and_a_larger_one_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "_LARGEST_SMALL", 1 << 20)
    (tmp_path / "fits").write_bytes(b"\xef\xbb\xbf" + b"a" * ((1 << 20) - 3))
    assert len(files.read_small_text(tmp_path / "fits").read()) == (1 << 20) - 3
    (tmp_path / "large").write_bytes(b"a" * ((1 << 20) + 1))
    with pytest.raises(OSError, match="larger than 1 MB"):
        files.read_small(tmp_path / "large")


def test_an_assessment_that_nests_too_deep_is_refused_in_words(tmp_path):
    nested = "[" * 100_000 + "]" * 100_000
    (tmp_path / "saved.json").write_text(f'{{"schema": "incrowd/assessment/2", "facts": {nested}}}')
    with pytest.raises(InputError, match="not JSON text"):
        read_assessment(tmp_path / "saved.json")
