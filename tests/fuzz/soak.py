"""Many sessions at once on one server, for a long time: its memory stays flat and no file stays behind.

    unshare -m sh -c 'mount -t tmpfs -o size=64m tmpfs FOLDER && python -m tests.fuzz.soak --quick --disk FOLDER'

Every session opens a table; workers then ask for assessments and move the slider of leaks in the sessions by turns,
while slow clients hold connections that they never finish, and the disk fills and is freed again. Afterwards every
session is closed and the server ended.
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
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import httpx
from tests.fuzz.full_disk import fill

from incrowd.web.server_settings import ServerSettings

GROWTH = 40_000_000  # bytes that the work may add once every session keeps as many results as it may
FILLINGS = 20  # times that the disk fills
SUSPENDED = 20.0  # seconds without a beat of a clock of one second, after which the machine must have stood still
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

    def fill(self, filler):
        """Fill the disk for a moment: tables are refused in words, sliders move, and all works once it is free."""
        asked = {"rows": ROWS, "seed": 1}
        try:
            with suppress(OSError):  # the server may have taken the last bytes
                fill(filler)
            refused = self.client.post(f"{TABLES}/demo", json=asked)
            assert (refused.status_code, "disk" in refused.text) == (413, True), refused.text
            self.move(1)
            time.sleep(1)  # the other workers go on meanwhile
        finally:
            filler.unlink()
        opened = self.client.post(f"{TABLES}/demo", json=asked).raise_for_status().json()
        self.client.delete(f"{TABLES}/{opened['id']}").raise_for_status()

    def leave(self):
        """Close the session."""
        self.client.delete("/api/v1/session").raise_for_status()
        self.client.close()


def soak(assessments, moves, sessions, *, population=100_000, slow=10, seconds=float("inf"), quick=False, disk=None):
    """Do the work, or as much of it as fits the time; numbers by their names, and the broken promises.

    `disk`: a folder on a small disk of its own, which is filled and freed again.
    """
    with tempfile.TemporaryDirectory(dir=disk) as place:
        with served(place, quick=quick) as (base, token, process):
            own = len(_files(place))  # the server's lock
            port = int(base.rpartition(":")[2])
            visitors = [Visitor(base, token, number, population) for number in range(sessions)]
            visitors[0].assess(0)
            before = _descriptors(process)
            idlers = [_dawdle(port) for _ in range(slow)]
            work = Work(assessments, moves, FILLINGS if disk else 0, seconds)
            threading.Thread(target=work.beat, daemon=True).start()
            filler = Path(place, "filler")
            with ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(lambda _: work.run(visitors, process, filler), range(WORKERS)))
            for line in idlers:
                line.close()
            found = {**work.done, "asked again after the machine stood still": work.repeated}
            found["memory (MB) by assessments"] = {count: round(size / 1e6) for count, size in work.memory.items()}
            for visitor in visitors:
                visitor.leave()
            found["memory (MB) without sessions"] = round(_resident(process) / 1e6)
            found["files left by sessions"] = len(_files(place)) - own
            found["open files before and after"] = [before, _descriptors(process)]
        found["files left by the server"] = len(_files(place))
    broken = list(work.errors)
    if found["files left by sessions"] or found["files left by the server"]:
        broken.append("files are left")
    if found["open files before and after"][1] > before:
        broken.append("files stay open")
    asked = range(work.every, assessments + 1, work.every)
    return found, broken + compare_memory(work.memory, asked, sessions * ServerSettings().kept_jobs)


def compare_memory(memory, asked, full):
    """The promises about memory that are broken.

    Args:
        memory: bytes by the number of assessments that were done.
        asked: the numbers of assessments at which memory was to be measured.
        full: the number of assessments after which every session keeps as many results as it may.
    """
    sizes = [size for count, size in memory.items() if count >= full]
    if len(sizes) < 2:
        wanted = [count for count in asked if count >= full]
        return [f"memory was not compared: that needs {wanted[1]:,} assessments"] if len(wanted) > 1 else []
    return ["memory grows"] if sizes[-1] - sizes[0] > GROWTH else []


class Work:
    """What is left to do, shared by the workers, and what came of it."""

    def __init__(self, assessments, moves, fillings, seconds):
        pieces = {"assess": assessments, "move": moves, "fill": fillings}  # all kinds from the first to the last
        places = [((n + 0.5) / many, kind, n) for kind, many in pieces.items() for n in range(many)]
        self.turns, self.end = enumerate(sorted(places)), time.monotonic() + seconds
        self.every, self.lock = max(assessments // 20, 1), threading.Lock()
        self.done, self.memory, self.errors = Counter(), {}, []
        self.repeated, self.stood_still = 0, float("-inf")
        self.filling = threading.Lock()

    def beat(self):
        """Note when the machine has stood still: clients wait in vain then, and not because of the server."""
        last = time.monotonic()
        while last < self.end:
            time.sleep(1)
            last, before = time.monotonic(), last
            if last - before > SUSPENDED:
                self.stood_still = last

    def run(self, visitors, process, filler):
        """Take one piece of work after the other until none is left, or the time is over."""
        while time.monotonic() < self.end and len(self.errors) < 10:
            with self.lock:
                turn, (_, kind, number) = next(self.turns, (0, (0, None, 0)))
            if kind is None:
                return
            self._do(visitors[turn % len(visitors)], kind, filler if kind == "fill" else number)
            with self.lock:
                self.done[kind] += 1
                if kind == "assess" and self.done[kind] % self.every == 0:
                    size = self.memory[self.done[kind]] = _resident(process)
                    sys.stderr.write(f"{dict(self.done)}: {size / 1e6:.0f} MB, {len(self.errors)} broken\n")

    def _do(self, visitor, kind, detail):
        """One piece of work, once more if the machine stood still meanwhile."""
        began = time.monotonic()
        try:
            with visitor.turn, self.filling if kind == "fill" else nullcontext():
                getattr(visitor, kind)(detail)
        except (httpx.HTTPError, AssertionError) as error:
            time.sleep(2)  # a beat is noted
            if self.stood_still > began:
                self.repeated += 1
                return self._do(visitor, kind, detail)
            self.errors.append(f"{kind} {detail}: {type(error).__name__}: {error}")
            sys.stderr.write(f"BROKEN {self.errors[-1]}\n")


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
    parser.add_argument("--disk", help="a folder on a small disk of its own, which is filled and freed again")
    given = parser.parse_args()
    people, most = given.population or None, given.seconds
    many = (given.assessments, given.moves, given.sessions)
    counted, failed = soak(*many, population=people, seconds=most, quick=given.quick, disk=given.disk)
    for name, value in counted.items():
        sys.stdout.write(f"{name}: {value}\n")
    for one in failed:
        sys.stdout.write(f"BROKEN {one}\n")
    sys.exit(bool(failed))
