"""A command that is told to end does, whatever runs."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

WORK = """
from hashlib import pbkdf2_hmac
from incrowd.cli import signals
from incrowd._support.private_folders import PrivateFolder
signals._PATIENCE = 0.3
folder = PrivateFolder()
with signals.ended_by_signals():
    try:
        print(folder.path, flush=True)
        pbkdf2_hmac("sha256", b"", b"", 200_000_000)  # minutes of compiled code
    finally:
        print("it ended by itself", flush=True)
"""


INTERRUPT = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who runs the tests may have it ignored, as nohup does
from incrowd.cli.app import run_command
def count():
    try:
        os.kill(os.getpid(), signal.{name})
    except BaseException:
        raise RuntimeError("query interrupted")
run_command(count)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_an_engine_that_raises_its_own_error_on_a_signal_does_not_make_it_one_of_the_table(name, code):
    done = subprocess.run([sys.executable, "-c", INTERRUPT.format(name=name)], capture_output=True, text=True)
    assert (done.returncode, "should not have" in done.stderr) == (code, False)


def processor_time(process):
    used = psutil.Process(process.pid).cpu_times()
    return used.user + used.system


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_compiled_code_is_not_waited_for_and_nothing_is_left(number):
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True) as process:
        folder = process.stdout.readline().strip()
        assert os.path.isdir(folder)
        started = processor_time(process)
        while processor_time(process) < started + 0.3:  # compiled code runs: a signal before it would end Python's own
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        rest = process.stdout.read()
    assert process.returncode == 128 + number
    assert "it ended" not in rest
    assert not os.path.exists(folder)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_that_cannot_hold_every_letter_is_no_reason_to_stop(tmp_path, encoding):
    (tmp_path / "people.csv").write_text("größe,ж\n" + "1,a\n2,b\n" * 20, encoding="utf-8")
    code = "from incrowd.cli import main; main()"
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    words = ["measure", "people.csv", "--qi", "größe,ж", *(["--json"] if encoding == "ascii" else [])]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if encoding == "ascii":
        assert json.loads(done.stdout)["quasi_identifiers"] == ["größe", "ж"]
