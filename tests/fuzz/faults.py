"""Faults at every step of a command that writes: the n-th call fails, n = 1, 2, 3 …, or the process is killed there.

    python -m tests.fuzz.faults ["protect csv" append …]

Python's own calls fail by an audit hook, writes of compiled code by a limit on the size of files. Afterwards the whole
folder is looked at: the output is there as it should be or not at all, nothing else is, and the input is as it was.
"""

import errno
import mmap
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tests.fuzz import run, seeds

from incrowd._support import files, private_folders
from incrowd.protection.marks import remove_release, waiting_of
from incrowd.tables.release_marks import mark_of

EVENTS = {"open", "os.mkdir", "os.link", "os.rename", "os.symlink", "os.chmod", "os.fsync"}
KILLS = EVENTS | {"os.remove", "os.rmdir", "os.scandir"}  # a process may also end before one of these
READ = ["--qi", "age,sex,zip"]
INPUTS = {"plain.csv": seeds._csv(), "newer.csv": seeds._csv(seeds.NEWER)}
COMMANDS = {
    "protect csv": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.csv"],
    "protect parquet": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.parquet"],
    "protect feather": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.feather"],
    "protect tsv": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.tsv"],
    "protect orc": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.orc"],
    "protect spss": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.sav"],
    "protect stata": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.dta"],
    "replace": ["protect", "plain.csv", *READ, "--k", "2", "--out", "OUT.csv", "--force"],
    "append": ["protect", "newer.csv", "--append", "BASE.csv", "--widest", "age=5", "--out", "OUT.csv"],
    "curve": ["curve", "plain.csv", *READ, "--out", "OUT.csv"],
    "junit": ["check", "plain.csv", *READ, "--min-k", "2", "--junit", "OUT.xml"],
    "records": ["population", "plain.csv", *READ, "--population", "400", "--records", "OUT.csv"],
    "figure": ["leak", "plain.csv", *READ, "--leaked", "5", "--plot", "OUT.svg"],
    "replace a curve": ["curve", "plain.csv", *READ, "--out", "OUT.csv", "--force"],
    "save": ["assess", "plain.csv", *READ, "--population", "400", "--html", "OUT.html", "--json"],
}
_fault = {"left": 0, "kill": False, "folders": ()}  # set in a fork, before its command runs
_came = mmap.mmap(-1, 1)  # shared with the forks: whether the fault came


def _hook(event, arguments):
    if not _fault["left"] or event not in (KILLS if _fault["kill"] else EVENTS):
        return
    paths = [str(one) for one in arguments[:2] if isinstance(one, str | os.PathLike)]
    if not any(path.startswith(_fault["folders"]) for path in paths):
        return
    _fault["left"] -= 1
    if _fault["left"] == 0:
        _came[0] = 1
        if _fault["kill"]:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), paths[0])


def with_fault(number, kill, folders):
    """A function that arms the n-th fault; run in the fork."""

    def arm():
        fsync = os.fsync  # raises no audit event of its own
        os.fsync = lambda file: (_hook("os.fsync", [os.readlink(f"/proc/self/fd/{file}")]), fsync(file))
        _fault.update(left=number, kill=kill, folders=tuple(map(str, folders)))

    return arm


def with_file_limit(size):
    """A function that lets every write beyond so many bytes of a file fail; run in the fork."""

    def arm():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return arm


class Trial:
    """One command with faults, and what it left."""

    def __init__(self, folder, temporary, command):
        self.folder, self.temporary = folder, temporary
        self.words = [word.replace("OUT.", f"{folder}/OUT.") for word in command]
        self.words = [str(folder / word) if word in (*INPUTS, "BASE.csv") else word for word in self.words]
        self.base = folder / "BASE.csv"
        self.base_is_used = str(self.base) in self.words
        self.out = next(Path(word) for word in self.words if "OUT." in word)
        self.replaces, self.base_files = "--force" in command, {}
        self.expected = None
        assert self.attempt(lambda: None)[0] in (0, 1)
        self.expected = self.out.stat().st_size
        remove_release(self.out)
        remove_release(self.base)

    def _is_whole(self):
        """A report of an error is well-formed; other outputs are as long as without a fault."""
        if self.out.suffix == ".xml":
            return ElementTree.parse(self.out).getroot().tag == "testsuite"
        return abs(self.out.stat().st_size - self.expected) <= 200

    def attempt(self, arm):
        """Run it once; its exit code and the promises that it broke."""
        if self.replaces:
            self.out.write_text("as before")
        if self.base_is_used:
            self._restore_base()
        code, said, _, _ = run.run_case(self.folder, self.words, arm)
        broken = [words for words in run.BROKEN if words in said]
        if seeds.PLANTED in said:
            broken.append("a planted value is shown")
        if any((self.folder / name).read_bytes() != data for name, data in INPUTS.items()):
            broken.append("the input was changed")
        left = {path.name for path in self.folder.iterdir()} - {*INPUTS, self.out.name}
        if self.out.exists() or code == -signal.SIGKILL:  # beside a release is what its original tells, and who waits
            left -= {mark_of(self.out).name, waiting_of(self.out).name}
        if self.base_is_used:
            left -= {self.base.name, mark_of(self.base).name}
            broken += self._broken_of_base(code)
        if any(not (code == -signal.SIGKILL and files._DRAFT.fullmatch(name)) for name in left):
            broken.append(f"left behind: {sorted(left)}")
        whole = self.out.exists() and (self.expected is None or self._is_whole())
        untouched = self.replaces and self.out.exists() and self.out.read_bytes() == b"as before"
        if self.out.exists() and not whole and not untouched:
            broken.append("half an output is there")
        if code in (0, 1) and not whole:
            broken.append("it said that it was done, and there is no output")
        return code, broken

    def _restore_base(self):
        """The release that others join, as it was written."""
        if not self.base_files:
            words = ["protect", self.folder / "plain.csv", *READ, "--k", "2", "--out", self.base]
            assert run.run_case(self.folder, list(map(str, words)))[0] == 0
            self.base_files.update({path: path.read_bytes() for path in (self.base, mark_of(self.base))})
        for path, content in self.base_files.items():
            path.write_bytes(content)

    def _broken_of_base(self, code):
        """A release is never changed; it is closed where another one continues it, and open where none does."""
        if self.base.read_bytes() != self.base_files[self.base]:
            yield "the release that others join was changed"
        is_open = mark_of(self.base).read_bytes() == self.base_files[mark_of(self.base)]
        if is_open == self.out.exists() and not (code == -signal.SIGKILL and not self.out.exists()):
            yield "two releases are open, or none"
        for private in self.folder.glob("*.waiting"):
            if private.stat().st_mode & 0o077:
                yield "others can read the records that wait"

    def clean(self):
        """Make room for the next trial; what the next run would not remove is a broken promise."""
        remove_release(self.out)
        remove_release(self.base)
        private_folders._remove_abandoned(self.temporary)
        files._remove_abandoned(self.folder)  # a file that was to replace another has a hidden name for a moment
        hidden = [path for path in self.folder.iterdir() if path.name not in INPUTS]
        kept = [path for path in self.temporary.iterdir() if any(path.iterdir())]  # an empty one goes in a minute
        for path in self.temporary.iterdir():
            shutil.rmtree(path)
        return [f"the next run does not remove {path.name}" for path in hidden + kept]


def trials(names=None, *, step=1, sizes=(0, 1, 500, 2_000, 5_000), told=lambda text: None):
    """Every fault of every command: how many there were by what came of them, and the broken promises."""
    counts, failures = Counter(), []
    sys.addaudithook(_hook)
    with tempfile.TemporaryDirectory() as place:
        folder, temporary = Path(place) / "work", Path(place) / "tmp"
        folder.mkdir()
        temporary.mkdir()
        for name, data in INPUTS.items():
            (folder / name).write_bytes(data)
        names = names or list(COMMANDS)
        not_here = ("append", "figure")  # one needs a release, and what draws figures hangs in a fork
        run.warm_up(folder, [COMMANDS[name] for name in names if name not in not_here])
        os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
        try:
            for name in names:
                trial = Trial(folder, temporary, COMMANDS[name])
                for kill in (False, True):
                    for number in range(1, 500, step):
                        _came[0] = 0
                        code, broken = trial.attempt(with_fault(number, kill, (folder, temporary)))
                        broken += trial.clean()
                        if not _came[0]:
                            break
                        _note(counts, failures, name, "killed" if kill else "failed", number, code, broken)
                for size in sizes:
                    code, broken = trial.attempt(with_file_limit(size))
                    _note(counts, failures, name, "file limit", size, code, broken + trial.clean())
                told("".join(f"BROKEN {one}\n" for one in failures if one[0] == name))
                told(f"{name}: {counts.total():,} faults so far, {len(failures):,} broken promises\n")
        finally:
            os.environ.pop("TMPDIR")
            tempfile.tempdir = None
    return counts, failures


def _note(counts, failures, name, what, number, code, broken):
    counts[what, code] += 1
    if broken:
        failures.append((name, what, number, code, broken))


if __name__ == "__main__":
    counted, failed = trials(sys.argv[1:], told=sys.stderr.write)
    for (what, code), times in sorted(counted.items()):
        sys.stdout.write(f"{what:12} exit {code}: {times:,}\n")
    sys.stdout.write(f"{sum(counted.values()):,} faults, {len(failed):,} broken promises\n")
    sys.exit(bool(failed))
