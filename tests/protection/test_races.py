"""Two programs that write one release: one of them does, and its mark is that of its file."""

import os

import pytest

from incrowd import protect, read_table
from incrowd._support.files import locked_target
from incrowd.errors import InputError
from incrowd.protection import write_protected
from incrowd.protection.marks import mark_of, read_mark

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

ROUNDS = 25


def release(k):
    ages = [age for age in range(20, 40) for _ in range(4)]
    return protect({"age": ages, "born": [2000 - age for age in ages]}, quasi_identifiers=["age"], k=k, other=["born"])


def race(writers):
    """Let functions run at the same time, each in a process of its own; return those that were refused in words."""
    start, go = os.pipe()
    children = []
    for write in writers:
        child = os.fork()
        if not child:
            code = 2
            try:
                os.close(go)
                os.read(start, 1)  # until the parent closes its end
                write()
                code = 0
            except InputError:
                code = 1
            finally:
                os._exit(code)
        children.append(child)
    os.close(go)
    os.close(start)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.parametrize("force", [False, True])
def test_the_loser_leaves_the_file_and_the_mark_of_the_winner(tmp_path, force):
    releases, out = [release(5), release(9)], tmp_path / "safe.csv"
    for _ in range(ROUNDS):
        codes = race([lambda safe=safe: write_protected(safe, out, force=force) for safe in releases])
        assert 0 in codes
        assert {*codes} <= {0, 1}
        assert codes.count(0) == 1 or force
        assert read_mark(read_table(out)) is not None  # of this file, by its hash
        assert {path.name for path in tmp_path.iterdir()} == {"safe.csv", "safe.csv.incrowd"}
        out.unlink()
        mark_of(out).unlink()


def test_a_release_that_fails_puts_back_the_mark_that_was_there(tmp_path, monkeypatch):
    out = tmp_path / "safe.csv"
    write_protected(release(5), out)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("incrowd._support.files._NamelessDraft.publish", _after_the_mark(refuse))
    with pytest.raises(InputError, match="the disk is full"):
        write_protected(release(9), out, force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def _after_the_mark(refuse):
    """Publish marks, and let the publication of anything else fail."""
    from incrowd._support.files import _NamelessDraft

    publish = _NamelessDraft.publish

    def publish_marks(draft, *, force):
        return (publish if draft._target.suffix == ".incrowd" else refuse)(draft, force=force)

    return publish_marks


def test_a_name_that_another_program_writes_is_refused_and_free_again(tmp_path):
    out = tmp_path / "safe.csv"
    with locked_target(out):
        with pytest.raises(InputError, match="another program writes"):
            write_protected(release(5), out)
        write_protected(release(5), tmp_path / "another.csv")
    write_protected(release(5), out)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("another.csv", "another.csv.incrowd", "safe.csv", "safe.csv.incrowd")
    ]


def test_the_lock_of_a_killed_program_is_taken_over(tmp_path):
    out = tmp_path / "safe.csv"
    child = os.fork()
    if not child:
        with locked_target(out):
            os._exit(0)
    os.waitpid(child, 0)
    assert len([*tmp_path.iterdir()]) == 1
    write_protected(release(5), out)
    assert {path.name for path in tmp_path.iterdir()} == {"safe.csv", "safe.csv.incrowd"}
