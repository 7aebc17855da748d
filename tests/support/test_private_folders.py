"""Private folders are removed however a process ends, and no folder of anybody else is."""

import os
import stat
import tempfile

import pytest

from incrowd._support import private_folders
from incrowd._support.private_folders import PrivateFolder


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
