"""A command that is told to end does, whatever runs."""

import os
import signal
import subprocess
import sys
import time

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


def test_compiled_code_is_not_waited_for_and_nothing_is_left():
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True) as process:
        folder = process.stdout.readline().strip()
        assert os.path.isdir(folder)
        time.sleep(0.5)  # until the compiled code runs: a signal before it would end Python's own code
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 128 + signal.SIGTERM
    assert "it ended" not in rest
    assert not os.path.exists(folder)
