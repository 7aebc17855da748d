"""Mutated files of every format break no promise of the command line; hours of this are `make fuzz`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz import memory, seeds
from tests.fuzz.run import BROKEN

from incrowd.cli import main
from incrowd.tables.formats import EXTENSIONS

pytestmark = pytest.mark.usefixtures("quick_estimates")

NOT_MUTATED = {".xls", ".xlsb", ".sas7bdat"}  # nothing here writes them
NOT_MUTATED |= {".pq", ".arrow", ".ipc", ".ndjson", ".tab", ".fwf", ".dat", ".rda"}  # other names of the same

FILES = 62  # two of every kind


@pytest.mark.usefixtures("no_child_processes")
def test_a_file_that_is_not_mutated_is_read(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    targets = seeds.targets(tmp_path)
    assert {*EXTENSIONS} - {target[1].lower() for target in targets.values()} == NOT_MUTATED
    for name, (data, ending, _, commands) in targets.items():
        file = tmp_path / f"mutated{ending}"
        file.write_bytes(data)
        for command in commands[:2] if name in ("curve", "mark", "ranges", "sqlite") else commands[:1]:
            (tmp_path / "OUT.csv").unlink(missing_ok=True)
            with pytest.raises(SystemExit) as end:
                main([word.replace("FILE", str(file)) for word in command])
            assert end.value.code in (0, 1), (name, capsys.readouterr().err)
        file.unlink()


@pytest.mark.parametrize("file", sorted((Path(__file__).parent / "corpus").iterdir()), ids=lambda file: file.name)
def test_what_was_found_once_stays_mended(capsys, file):
    for command in seeds.COMMANDS[:3]:
        with pytest.raises(SystemExit) as end:
            main([word.replace("FILE", str(file)) for word in command])
        streams = capsys.readouterr()
        assert end.value.code in (0, 1, 2)
        assert not any(words in streams.err for words in BROKEN)
        assert seeds.PLANTED not in streams.out + streams.err


def test_mutated_files_break_no_promise(tmp_path):
    command = [sys.executable, "-m", "tests.fuzz.run", "--files", str(FILES), "--seed", "gate"]
    done = subprocess.run(
        [*command, "--corpus", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken promises" in done.stdout


def test_verbs_keep_to_their_memory():
    code = (
        "from tests.fuzz.memory import peaks; print([(name, broken) for name, (*_, broken) in "
        "peaks(300_000, '60MB', ['measure', 'curve', 'profile', 'protect by partition']).items() if broken] or 'kept')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert done.stdout.strip() == "kept", done.stdout + done.stderr


def test_compiling_in_a_first_run_takes_no_more_memory_than_is_said():
    found = memory.first_run("measure", 1_000, "60MB")
    assert found["compiled"] > 0
    assert found["first"] - found["second"] < memory.COMPILING


def test_many_sessions_and_slow_clients_leave_nothing_behind():
    pytest.importorskip("uvicorn")
    from tests.fuzz.soak import soak  # the app is an extra

    found, broken = soak(1, 12, 2, slow=2, quick=True)
    assert broken == []
    assert (found["assess"], found["move"]) == (1, 12)


def test_memory_that_a_soak_could_not_compare_is_no_success():
    pytest.importorskip("uvicorn")
    from tests.fuzz.soak import GROWTH, compare_memory

    asked = range(100, 2_001, 100)
    enough = {1_400: 0, 1_500: 9, 2_000: 9}  # what fills the sessions is no growth
    assert compare_memory(enough, asked, 1_500) == []
    assert compare_memory({**enough, 2_000: 10 + GROWTH}, asked, 1_500) == ["memory grows"]
    (said,) = compare_memory({1_400: 0, 1_500: 9}, asked, 1_500)
    assert said == "memory was not compared: that needs 1,600 assessments"
    assert compare_memory({100: 0}, range(100, 201, 100), 1_500) == []  # too few were asked for


def test_a_disk_that_fills_under_the_app_is_said_and_all_works_once_it_is_free(tmp_path):
    pytest.importorskip("uvicorn")
    mounted = f"mount -t tmpfs -o size=16m tmpfs '{tmp_path}'"
    own = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]  # the mount is seen by this command alone
    if shutil.which("unshare") is None or subprocess.run([*own, "sh", "-c", mounted], check=False).returncode:
        pytest.skip("no disk of its own can be mounted here")
    command = f"{mounted} && exec '{sys.executable}' -m tests.fuzz.full_disk '{tmp_path}'"
    done = subprocess.run(
        [*own, "sh", "-c", command], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    fine = {"upload": 201, "demo": 201, "settings": 200, "look": 200, "leak": 200, "protect": "done"}
    refused = {"upload": 413, "demo": 413, "protect": 413}
    seen_late = {"upload": 413, "demo": 400, "protect": "failed"}
    expected = {"before": fine, "full": fine | refused, "unseen": fine | seen_late, "after": fine}
    assert {when: {name: state for name, (state, _) in found[when].items()} for when in expected} == expected
    assert all("disk" in found["full"][name][1] for name in refused)
    assert all("No space" in found["unseen"][name][1] or "disk is full" in found["unseen"][name][1] for name in refused)
    assert not any(str(tmp_path) in words for _, words in found["unseen"].values())  # the server's own folders
    assert found["left"] == [".incrowd-kept-work", ".lock"]


@pytest.mark.parametrize(("kind", "cases"), [("coarsening", 60), ("projects", 10), ("kept", 3)])
def test_odd_requests_are_answered_by_the_app_itself(kind, cases):
    pytest.importorskip("fastapi")
    from tests.fuzz.app import attack  # the app is an extra

    assert attack(kind, cases, "gate")[1] == []


def test_faults_at_every_step_leave_all_or_nothing():
    code = "from tests.fuzz.faults import trials; print(trials(['junit'], sizes=(0, 400))[1] or 'whole')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert done.stdout.strip() == "whole", done.stdout + done.stderr
