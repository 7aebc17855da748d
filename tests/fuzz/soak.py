"""Many sessions at once on one server, for a long time: its memory stays flat and no file stays behind.

    python -m tests.fuzz.soak --assessments 2000 --moves 10000 --sessions 50 --quick

Every session opens a table; workers then ask for assessments and move the slider of leaks in the sessions by turns,
while slow clients hold connections that they never finish. Afterwards every session is closed and the server ended.
"""

import argparse
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

GROWTH = 150_000_000  # bytes that the second half of the work may add: pools and caches fill, a leak goes on
LONG = 1_000  # pieces of work from which on that is looked at
WORKERS, ROWS = 4, 300
TABLES = "/api/v1/tables"


@contextmanager
def served(temporary, *, quick=False):
    """`incrowd serve` in a process of its own, with a temporary folder of its own; ended as a user ends it.

    `quick`: estimates grow a sample a few times only, so that an assessment takes a fraction of its time.
    """
    code = "import sys; from incrowd.cli import main; main(sys.argv[1:])"
    if quick:
        code = f"from tests.growths import few_growths\nwith few_growths(): exec({code!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--port", "0"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = re.search(r"(http://\S+)/\?token=(\S+)", process.stdout.readline())
        yield address[1], address[2], process.pid
    finally:
        process.terminate()
        process.communicate(timeout=60)


class Visitor:
    """A session with a table of its own."""

    def __init__(self, base, token, number, population):
        transport = httpx.HTTPTransport(retries=20)
        self.client = httpx.Client(base_url=base, headers={"origin": base}, timeout=300, transport=transport)
        self.client.get("/", params={"token": token})  # sets the cookie
        demo = self.client.post(f"{TABLES}/demo", json={"rows": ROWS, "seed": number}).raise_for_status().json()
        self.table, self.turn = f"{TABLES}/{demo['id']}", threading.Lock()
        settings = {"roles": {"oshpd_id": "other", "patzip": "other"}, "population": population}
        self.client.put(f"{self.table}/settings", json=settings).raise_for_status()

    def move(self, number):
        """Move the slider of leaks once."""
        asked = {"leaked": 1 + number % ROWS, "targets": [1]}
        found = self.client.post(f"{self.table}/leak-now", json=asked).raise_for_status().json()
        assert 0 <= found["risks"][0]["probability"] <= 1

    def assess(self, number):
        """Assess the table, wait for the answer and take it."""
        asked = {"protection": False, "seed": number}
        job = self.client.post(f"{self.table}/assessments", json=asked).raise_for_status().json()
        while job["state"] not in ("done", "failed", "cancelled"):
            time.sleep(0.02)
            job = self.client.get(f"/api/v1/jobs/{job['id']}").raise_for_status().json()
        assert job["state"] == "done", job["message"]
        self.client.get(f"/api/v1/jobs/{job['id']}/result").raise_for_status()

    def leave(self):
        """Close the session."""
        self.client.delete("/api/v1/session").raise_for_status()
        self.client.close()


def soak(assessments, moves, sessions, *, population=100_000, slow=10, seconds=float("inf"), quick=False):
    """Do the work, or as much of it as fits the time; numbers by their names, and the broken promises."""
    with tempfile.TemporaryDirectory() as place:
        with served(place, quick=quick) as (base, token, process):
            own = len(_files(place))  # the server's lock
            port = int(base.rpartition(":")[2])
            visitors = [Visitor(base, token, number, population) for number in range(sessions)]
            visitors[0].assess(0)
            before = _descriptors(process)
            idlers = [_dawdle(port) for _ in range(slow)]
            work = Work(assessments, moves, seconds)
            with ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(lambda _: work.run(visitors, process), range(WORKERS)))
            for line in idlers:
                line.close()
            found = {**work.done, "memory (MB)": [round(size / 1e6) for size in work.memory]}
            for visitor in visitors:
                visitor.leave()
            found["files left by sessions"] = len(_files(place)) - own
            found["open files before and after"] = [before, _descriptors(process)]
        found["files left by the server"] = len(_files(place))
    broken = list(work.errors)
    if found["files left by sessions"] or found["files left by the server"]:
        broken.append("files are left")
    if found["open files before and after"][1] > before:
        broken.append("files stay open")
    if work.done.total() >= LONG and work.memory[-1] - work.memory[len(work.memory) // 2] > GROWTH:
        broken.append("memory grows")
    return found, broken


class Work:
    """What is left to do, shared by the workers, and what came of it."""

    def __init__(self, assessments, moves, seconds):
        places = [((n + 0.5) / assessments, "assess", n) for n in range(assessments)]
        places += [((n + 0.5) / moves, "move", n) for n in range(moves)]  # both kinds from the first to the last
        self.turns, self.end = enumerate(sorted(places)), time.monotonic() + seconds
        self.every, self.lock = max(len(places) // 10, 1), threading.Lock()
        self.done, self.memory, self.errors = Counter(), [], []

    def run(self, visitors, process):
        """Take one piece of work after the other until none is left, or the time is over."""
        while time.monotonic() < self.end and len(self.errors) < 10:
            with self.lock:
                turn, (_, kind, number) = next(self.turns, (0, (0, None, 0)))
            if kind is None:
                return
            visitor = visitors[turn % len(visitors)]
            try:
                with visitor.turn:
                    getattr(visitor, kind)(number)
            except (httpx.HTTPError, AssertionError) as error:
                self.errors.append(f"{kind} {number}: {type(error).__name__}: {error}")
                sys.stderr.write(f"BROKEN {self.errors[-1]}\n")
            with self.lock:
                self.done[kind] += 1
                if self.done.total() % self.every == 0:
                    self.memory.append(_resident(process))
                    sys.stderr.write(f"{dict(self.done)}: {self.memory[-1] / 1e6:.0f} MB, {len(self.errors)} broken\n")


def _dawdle(port):
    """A client that begins a request and never ends it."""
    line = socket.create_connection(("127.0.0.1", port))
    line.sendall(b"POST /api/v1/tables HTTP/1.1\r\nhost: 127")
    return line


def _resident(process):
    """Bytes of memory that a process has now."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()


def _descriptors(process):
    """How many files a process holds open; connections are none."""
    return sum(os.path.isfile(link) for link in Path(f"/proc/{process}/fd").iterdir())


def _files(place):
    return [path for path in Path(place).rglob("*") if path.is_file()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assessments", type=int, default=2_000)
    parser.add_argument("--moves", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--population", type=int, default=100_000, help="0: unknown, so that none is estimated")
    parser.add_argument("--seconds", type=float, default=7200, help="after which it stops with what was done")
    parser.add_argument("--quick", action="store_true", help="estimates grow a sample a few times only")
    given = parser.parse_args()
    people, most = given.population or None, given.seconds
    many = (given.assessments, given.moves, given.sessions)
    counted, failed = soak(*many, population=people, seconds=most, quick=given.quick)
    for name, value in counted.items():
        sys.stdout.write(f"{name}: {value}\n")
    for one in failed:
        sys.stdout.write(f"BROKEN {one}\n")
    sys.exit(bool(failed))
