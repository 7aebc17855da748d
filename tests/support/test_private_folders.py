"""Private folders are removed however a process ends, and no folder of anybody else is."""

import os
import stat
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

from incrowd._support import private_folders
from incrowd._support.private_folders import PrivateFolder

FORKED = """
import os, sys
from incrowd._support.private_folders import PrivateFolder, remove_all
folder = PrivateFolder()
child = os.fork()
if not child:
    remove_all()
    sys.exit(0)
os.waitpid(child, 0)
print(folder.path.exists())
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(private_folders, "_YOUNG", -1.0)
    return tmp_path


def test_a_folder_is_private_and_goes_when_it_is_closed(place):
    folder = PrivateFolder("web-")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert folder.path.parent == place
    folder.close()
    assert os.listdir(place) == []


def test_only_folders_named_as_ours_are_removed(place):
    others = ["incrowd-analysis", "incrowd-web-results", "incrowd-0123456789abcdef0", "my-incrowd-0123456789abcdef"]
    abandoned = ["incrowd-0123456789abcdef", "incrowd-compiled-0123456789abcdef"]
    for name in others + abandoned:
        (place / name).mkdir()
    PrivateFolder().close()
    assert sorted(os.listdir(place)) == sorted(others)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_that_ends_leaves_the_folder_to_its_parent(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
    assert os.listdir(tmp_path) == []


def locks_of_windows(fcntl):
    """What `msvcrt` offers, by locks of this system: a lock ends with its descriptor, and refuses by an error."""

    def locking(descriptor, mode, length):
        assert (mode, length) == (2, 1)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) == (1 << 31) - 2  # which no reader of the file touches
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError from None

    return SimpleNamespace(LK_NBLCK=2, locking=locking)


def test_folders_of_killed_processes_are_removed_by_the_locks_of_windows(place, monkeypatch):
    locks = locks_of_windows(pytest.importorskip("fcntl"))
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    held, abandoned = PrivateFolder(), PrivateFolder()
    (abandoned.path / "rows.csv").write_text("somebody")
    abandoned._cleaner.detach()[2][1].close()  # as the end of its process does
    private_folders._swept.clear()
    PrivateFolder().close()
    assert os.listdir(place) == [held.path.name]
    held.close()
    assert os.listdir(place) == []
