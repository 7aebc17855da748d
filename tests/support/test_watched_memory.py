"""The last guard of the memory limit ends work that takes more, whatever code takes it, and names the limit."""

import subprocess
import sys

import pytest

from incrowd._support import watched_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is watched on Linux")

COMMAND = """
import signal, sys, time
from incrowd.cli.app import run_command
from incrowd._support.watched_memory import watched_memory

def take():
    with watched_memory("50MB"):
        held = [bytearray(b"x") * 10_000_000 for _ in range(int(sys.argv[1]))]
        if sys.argv[2] == "deaf":
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        time.sleep(0.3 if sys.argv[2] == "hears" else 30)
        print("done", len(held))

run_command(take)
"""


@pytest.mark.parametrize(("blocks", "kind", "code"), [(30, "hears", 0), (90, "hears", 2), (90, "deaf", 2)])
def test_work_beyond_the_limit_is_ended_in_words(blocks, kind, code):
    done = subprocess.run([sys.executable, "-c", COMMAND, str(blocks), kind], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    if code:
        assert "the work took more than its memory limit of 50 MB" in done.stderr
        assert done.stdout == ""
    else:
        assert (done.stdout, done.stderr) == (f"done {blocks}\n", "")


def test_an_error_of_the_block_stays_what_it_is():
    with pytest.raises(KeyError), watched_memory.watched_memory("50MB"):
        raise KeyError("somebody's")
    with pytest.raises(SystemExit) as end, watched_memory.watched_memory("50MB"):
        raise SystemExit(1)
    assert end.value.code == 1
