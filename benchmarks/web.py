"""The web app on this machine: first page, a million rows from drop to dashboard, live counts, a crowd, memory."""

from __future__ import annotations

import argparse
import io
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pyarrow.parquet

from benchmarks import harness
from incrowd.demo import GROUPS, QUASI_IDENTIFIERS, demo_table

_COMMAND = str(Path(sys.executable).parent / "incrowd")
_TABLES = "/api/v1/tables"
_ROWS = 2_000  # of everybody's table


def main() -> None:
    """Measure everything, print it, keep it. `--people 20`, `--assessments 200`: smaller numbers for a quick look."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--assessments", type=int, default=200)
    parser.add_argument("--only", choices=["pages", "million", "crowd", "memory"])
    asked = parser.parse_args()
    with TemporaryDirectory() as folder, _served(Path(folder)) as (base, token, process):
        parts: dict[str, tuple[str, Callable[[], list[dict[str, Any]]]]] = {
            "pages": ("First page", lambda: _pages(base, token)),
            "million": ("A million rows", lambda: _million(base, token, Path(folder), process.pid)),
            "crowd": (f"{asked.people} people at once", lambda: _crowd(base, token, asked.people)),
            "memory": ("Memory", lambda: _memory(base, token, process.pid, asked.assessments)),
        }
        result = {
            name: _shown(title, measure()) for name, (title, measure) in parts.items() if asked.only in (None, name)
        }
    if asked.only is None:
        harness.save("web", result)


def _shown(title: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Print the rows as they are measured."""
    harness.show(title, list(rows[0]), [list(row.values()) for row in rows])
    return rows


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """`incrowd serve` in a process of its own; it ends with the benchmark."""
    command = [_COMMAND, "serve", "--port", "0", "--folder", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"(http://\S+)/\?token=(\S+)", process.stdout.readline())
        assert found is not None
        base = found[1]
        while True:
            try:
                httpx.get(base, timeout=5)
                break
            except httpx.TransportError:  # not up yet, or slow on a busy machine
                time.sleep(0.05)
        yield base, found[2], process
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def _browser(base: str, token: str) -> Iterator[httpx.Client]:
    """A browser that came by the printed address."""
    with httpx.Client(base_url=base, headers={"origin": base}, timeout=300) as client:
        client.get("/", params={"token": token})
        yield client
        client.delete("/api/v1/session")


def _pages(base: str, token: str) -> list[dict[str, Any]]:
    """How long the first page takes, the first time and after that."""
    rows = []
    for what in ("first page, first visitor", "first page, second visitor"):
        with _browser(base, token) as client:
            started = time.perf_counter()
            client.get("/").raise_for_status()
            rows.append({"what": what, "seconds": time.perf_counter() - started})
    return rows


def _million(base: str, token: str, folder: Path, process: int) -> list[dict[str, Any]]:
    """The demo of a million rows: dropped as a file, looked at, assessed; and a change of roles."""
    from incrowd.tables import write_table

    rows: list[dict[str, Any]] = []
    made = demo_table(1_000_000)
    for kind in ("parquet", "csv"):
        file = write_table(made, folder / f"million.{kind}")
        with _browser(base, token) as client:
            started, used = time.perf_counter(), _processor(process)
            with open(file, "rb") as content:
                table = client.post(_TABLES, files={"file": (file.name, content)}).raise_for_status().json()["id"]
            uploaded = time.perf_counter() - started, _processor(process) - used
            settings = {"population": 39_000_000, "groups": {name: list(of) for name, of in GROUPS.items()}}
            client.put(f"{_TABLES}/{table}/settings", json=settings).raise_for_status()
            job = client.post(f"{_TABLES}/{table}/assessments", json={"protection": False}).raise_for_status().json()
            _wait(client, job["id"], lambda now: now["has_result"])
            client.get(f"/api/v1/jobs/{job['id']}/figures").raise_for_status()
            rows += [
                _row(f"{kind}: dropped and read", *uploaded),
                _row(f"{kind}: drop to the first dashboard", time.perf_counter() - started, _processor(process) - used),
            ]
            _wait(client, job["id"], lambda now: now["state"] == "done")
            whole = time.perf_counter() - started, _processor(process) - used
            rows.append(_row(f"{kind}: drop to the report, without protection", *whole))
            if kind == "parquet":
                rows += _role_changes(client, table, process)
    return rows


def _role_changes(client: httpx.Client, table: str, process: int) -> list[dict[str, Any]]:
    """Every quasi-identifier taken out in turn: the time until the new numbers are there."""
    names = list(QUASI_IDENTIFIERS)
    changes = [[name for name in names if name != left_out] for left_out in names] + [[*names, "diag_p"]]
    used = _processor(process)
    spent = [_timed(client, f"{_TABLES}/{table}/live", {"quasi_identifiers": wanted}) for wanted in changes]
    each = (_processor(process) - used) / len(spent)
    return [
        _row("role change to new numbers, median", statistics.median(spent), each),
        _row("role change to new numbers, slowest", max(spent), each),
    ]


def _row(what: str, seconds: float, processor: float) -> dict[str, Any]:
    return {"what": what, "seconds": seconds, "processor seconds": processor}


def _crowd(base: str, token: str, people: int) -> list[dict[str, Any]]:
    """People who each drop a file, change roles, move the leak slider, assess, protect and take the protected file."""
    errors: list[str] = []
    live: list[float] = []
    moves: list[float] = []

    def person(number: int) -> None:
        try:
            with _browser(base, token) as client:
                counts, slides = _whole_way(client, number)
                live.extend(counts)
                moves.extend(slides)
        except (httpx.HTTPError, RuntimeError) as error:
            errors.append(f"{type(error).__name__}: {error}")

    started = time.perf_counter()
    with ThreadPoolExecutor(people) as pool:
        list(pool.map(person, range(people)))
    for error in errors[:5]:
        print(f"  {error}")
    return [
        {"what": "errors", "value": len(errors)},
        {"what": "seconds until everybody had everything", "value": time.perf_counter() - started},
        {"what": "live counts in that time, median seconds", "value": statistics.median(live)},
        {"what": "live counts in that time, 95 % below", "value": sorted(live)[int(len(live) * 0.95)]},
        {"what": "moves of the leak slider in that time, median seconds", "value": statistics.median(moves)},
        {"what": "moves of the leak slider in that time, 95 % below", "value": sorted(moves)[int(len(moves) * 0.95)]},
    ]


def _whole_way(client: httpx.Client, number: int) -> tuple[list[float], list[float]]:
    """What one person does; the answer is how long each change of roles took, and each move of the slider."""
    file = io.BytesIO()
    pyarrow.parquet.write_table(demo_table(_ROWS, seed=number), file)
    sent = {"file": (f"person-{number}.parquet", file.getvalue())}
    path = f"{_TABLES}/{client.post(_TABLES, files=sent).raise_for_status().json()['id']}"
    roles = {"roles": {"oshpd_id": "other", "patzip": "other"}, "population": 1_000_000}
    client.put(f"{path}/settings", json=roles).raise_for_status()
    without = [[name for name in QUASI_IDENTIFIERS if name != left_out] for left_out in QUASI_IDENTIFIERS]
    live = [_timed(client, f"{path}/live", {"quasi_identifiers": wanted}) for wanted in without]
    moves = [_timed(client, f"{path}/leak-now", {"share": step / 20, "targets": [1]}) for step in range(1, 20)]
    for kind in ("leaks", "forecasts", "assessments", "protections"):
        job = client.post(f"{path}/{kind}").raise_for_status().json()
        over = _wait(client, job["id"], lambda now: now["state"] == "done")
        if over["state"] != "done":
            raise RuntimeError(f"{kind}: {over['message']}")
        for part in ("result", "figures", "equivalent"):
            client.get(f"/api/v1/jobs/{job['id']}/{part}").raise_for_status()
    taken = client.get(f"/api/v1/jobs/{job['id']}/table", params={"format": "parquet"}).raise_for_status().content
    if len(client.get(_TABLES).json()) != 1 or not pyarrow.parquet.read_table(io.BytesIO(taken)).num_rows:
        raise RuntimeError("somebody else's table is listed, or the protected file is empty")
    return live, moves


def _timed(client: httpx.Client, path: str, asked: dict[str, Any]) -> float:
    started = time.perf_counter()
    client.post(path, json=asked).raise_for_status()
    return time.perf_counter() - started


def _memory(base: str, token: str, process: int, most: int) -> list[dict[str, Any]]:
    """The memory of the server while one person assesses a table again and again."""
    rows = []
    with _browser(base, token) as client:
        table = client.post(f"{_TABLES}/demo", json={"rows": _ROWS}).raise_for_status().json()["id"]
        for number in range(1, most + 1):
            job = client.post(f"{_TABLES}/{table}/assessments", json={"seed": number}).raise_for_status().json()
            _wait(client, job["id"], lambda now: now["state"] == "done")
            client.get(f"/api/v1/jobs/{job['id']}/result").raise_for_status()
            if number in (1, 20, 60, 100, 140, most):
                rows.append({"assessments": number, "memory_mb": _resident(process) / 1e6})
    return rows


def _processor(process: int) -> float:
    """Seconds of processor time a process has used; a busy machine makes clocks lie, not this."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(process: int) -> int:
    """Bytes of memory a process has now."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096


def _wait(client: httpx.Client, job: str, enough: Any, seconds: float = 900) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now: dict[str, Any] = client.get(f"/api/v1/jobs/{job}").raise_for_status().json()
        if enough(now):
            return now
        if now["state"] in ("failed", "cancelled"):
            return now
        time.sleep(0.1)
    raise TimeoutError(job)


if __name__ == "__main__":
    main()
