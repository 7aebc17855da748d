"""Runs mutated files through the command line, one forked process each, and says what broke a promise.

    python -m tests.fuzz.run --seconds 3600 --seed 7 --corpus out/fuzz
    python -m tests.fuzz.run --files 2500 --seed 7 --start 80    # from the 80th file of every kind on

Every run must end with exit code 0, 1 or 2, within time and memory, without a traceback or "should not have happened",
without a planted value in what it prints, with its input unchanged and nothing left but the output it was asked for.
"""

import argparse
import contextlib
import gc
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

import typer.main
from tests.fuzz import seeds
from tests.tables.forked_reads import call_forked

from incrowd._support import private_folders
from incrowd.cli import main

SECONDS, MEMORY = 60, 2_000_000_000  # of processor time
PATIENCE = 900  # seconds on the clock, which depend on what else runs
BROKEN = ("should not have happened", "Traceback", "please tell us")


def warm_up(folder, commands=()):
    """Run these and the usual commands once, so that a fork has all that they load and costs milliseconds."""
    from incrowd.tables.formats import limited_reading

    limited_reading.call_limited = call_forked
    typer.main.get_command = cache(typer.main.get_command)  # made once: forks have it
    (folder / "curve.csv").write_bytes(seeds._CURVE)
    forecast = ["forecast", str(folder / "curve.csv"), "--at", "100000"]
    with tempfile.TemporaryDirectory() as scratch, open(os.devnull, "w") as nothing:
        for number, command in enumerate([*seeds.COMMANDS, forecast, *commands]):
            words = [word.replace("FILE", "plain.csv").replace("OUT.", f"{scratch}/{number}.") for word in command]
            words = [str(folder / word) if word == "plain.csv" else word for word in words]
            with (
                contextlib.suppress(SystemExit),
                contextlib.redirect_stdout(nothing),
                contextlib.redirect_stderr(nothing),
            ):
                main(words)
    (folder / "curve.csv").unlink()
    gc.collect()
    gc.freeze()  # else a collection in a fork copies all of this memory


def run_case(folder, words, arm=lambda: None):
    """Run one command in a fork, after `arm` in it: exit code, what it printed, processor time and peak memory."""
    started = time.monotonic()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.dup2(write, 1)
            os.dup2(write, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            arm()
            main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 99
        except BaseException as error:
            os.write(2, f"Traceback {type(error).__name__}".encode())
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
                private_folders.remove_all()
            os._exit(code)
    os.close(write)
    os.set_blocking(read, False)
    said = b""
    with open(read, "rb", buffering=0) as pipe:
        while True:
            pid, status, usage = os.wait4(child, os.WNOHANG)
            said += pipe.read() or b""
            if pid:
                code = os.waitstatus_to_exitcode(status)
                seconds = usage.ru_utime + usage.ru_stime
                return code, said.decode(errors="replace"), seconds, usage.ru_maxrss * 1_000
            if time.monotonic() - started > PATIENCE:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.002)


def broken_promises(folder, data, file, words, temporary, before):
    """What a run did that it must not, and its exit code."""
    code, said, seconds, memory = run_case(folder, words)
    found = []
    if code not in (0, 1, 2):
        found.append(f"exit code {code}")
    found += [words_of for words_of in BROKEN if words_of in said]
    shown = seeds.PLANTED in said and seeds.PLANTED.encode() not in data[:300]  # in the header it is a column's name
    if shown:
        found.append("a planted value is shown")
    if seconds >= SECONDS:
        found.append(f"{seconds:.0f} seconds")
    if memory > MEMORY:
        found.append(f"{memory / 1e6:.0f} MB")
    if file.read_bytes() != data and "--append" not in words:  # which closes the mark of what it continues
        found.append("the input was changed")
    allowed = {*before, file.name}
    left = {path.name for path in folder.iterdir()} - allowed
    outputs = {Path(word).name for word in words if "OUT." in word}
    if left - outputs - {f"{name}.{kind}" for name in outputs for kind in ("incrowd", "waiting")} or (
        left and code == 2
    ):
        found.append(f"left behind: {sorted(left)}")
    if any(temporary.iterdir()):
        found.append("temporary files are left")
    for name in left:
        (folder / name).unlink()
    return found, code


def fuzz(seconds, seed, corpus=None, only=None, files=10**9, start=0, told=lambda text: None):
    """Mutate for a time or so many files; how often each exit code came, and the cases that broke a promise.

    The n-th file of a kind depends on the seed and n alone, so that a run can go on where another stopped.
    """
    failures, codes = [], Counter()
    with tempfile.TemporaryDirectory() as place:
        folder, temporary = Path(place) / "work", Path(place) / "tmp"
        folder.mkdir()
        temporary.mkdir()
        kinds = {name: one for name, one in seeds.targets(folder).items() if only is None or name in only}
        (folder / "seed.sqlite").unlink(missing_ok=True)
        warm_up(folder, [["assess", "FILE", *seeds.READ]] if "question" in kinds else ())
        os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
        before = {path.name for path in folder.iterdir()}
        end, number = time.monotonic() + seconds, start
        try:
            while time.monotonic() < end and codes.total() < files:
                for name, target in kinds.items():
                    rng = random.Random(f"{seed} {name} {number}")
                    data, command = seeds.case(target, rng)
                    file = folder / f"mutated{target[1]}"
                    file.write_bytes(data)
                    words = [word.replace("FILE", str(file)).replace("OUT.", f"{folder}/OUT.") for word in command]
                    words = [str(folder / word) if word in before else word for word in words]
                    found, code = broken_promises(folder, data, file, words, temporary, before)
                    codes[name, code] += 1
                    if found:
                        failures.append((name, number, [Path(word).name for word in words], found))
                        told(f"BROKEN {failures[-1]}\n")
                        if corpus is not None:
                            corpus.mkdir(parents=True, exist_ok=True)
                            (corpus / f"{name.replace(' ', '-')}-{seed}-{number}{target[1]}").write_bytes(data)
                    file.unlink()
                    if time.monotonic() > end or codes.total() >= files:
                        break
                number += 1
                told(f"{codes.total():,} files, {len(failures):,} broken; next: --start {number}\n")
        finally:
            os.environ.pop("TMPDIR")
            tempfile.tempdir = None
    return codes, failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--files", type=int, default=10**9)
    parser.add_argument("--seed", default=str(time.time_ns()))
    parser.add_argument("--corpus", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--start", type=int, default=0, help="number of the first file of every kind")
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    counted, broken = fuzz(
        given.seconds, given.seed, given.corpus, given.only, given.files, given.start, sys.stderr.write
    )
    for (kind, code), times in sorted(counted.items()):
        sys.stdout.write(f"{kind:15} exit {code}: {times:,}\n")
    sys.stdout.write(f"{sum(counted.values()):,} files, {len(broken):,} broken promises, seed {given.seed}\n")
    sys.exit(bool(broken))
