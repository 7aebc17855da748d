"""The app on a disk that another program fills and frees again: every answer is in words, and all works afterwards.

    unshare -m sh -c 'mount -t tmpfs -o size=16m tmpfs FOLDER && python -m tests.fuzz.full_disk FOLDER'

Tables, jobs, kept work and spilled rows of the server are on that disk.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import httpx
import pytest
from tests.web.local_server import TOKEN, serving_here

ROLES = {"oshpd_id": "other", "patzip": "other"}
ROWS = b"age,sex\n" + b"".join(b"%d,%s\n" % (20 + n % 9, b"fm"[n % 2 : n % 2 + 1]) for n in range(60))


def fill(file):
    """Write to a file until the disk is full."""
    with open(file, "wb", buffering=0) as target:
        while room := shutil.disk_usage(file.parent).free:
            target.write(bytes(room))


def answers(client, table):
    """What the app says to each request: its status, or the state of the job, and its words."""
    found = {}
    for name, send in requests(client, table).items():
        answer = send()
        told = answer.json()
        while told.get("state") in ("waiting", "running"):
            time.sleep(0.01)
            told = client.get(f"/api/v1/jobs/{told['id']}").json()
        found[name] = (told.get("state", answer.status_code), told.get("error") or told.get("message") or "")
    return found


def requests(client, table):
    """Requests that write to the disk, and some that do not."""
    place = f"/api/v1/tables/{table}"
    return {
        "upload": lambda: client.post("/api/v1/tables", files={"file": ("people.csv", ROWS * 20)}),
        "demo": lambda: client.post("/api/v1/tables/demo", json={"rows": 100, "seed": 1}),
        "settings": lambda: client.put(f"{place}/settings", json={"roles": ROLES}),
        "look": lambda: client.get(f"{place}/preview"),
        "leak": lambda: client.post(f"{place}/leak-now", json={"leaked": 10, "targets": [1]}),
        "protect": lambda: client.post(f"{place}/protections", json={"protection": {"k": 5}}),
    }


def fill_and_free(disk):
    """The answers before, while the disk is full, where that was seen too late, and afterwards; and the files left."""
    (disk / "kept").mkdir(mode=0o700)
    with serving_here(keep=disk / "kept") as app:
        base = f"http://127.0.0.1:{app.state.server.settings.port}"
        headers = {"authorization": f"Bearer {TOKEN}", "x-incrowd-session": "disk"}
        with httpx.Client(base_url=base, headers=headers, timeout=300, verify=False) as client:
            table = client.post("/api/v1/tables/demo", json={"rows": 300, "seed": 5}).raise_for_status().json()["id"]
            found = {"before": answers(client, table)}
            fill(disk / "filler")
            app.state.server.save()
            found["full"] = answers(client, table)
            with pytest.MonkeyPatch.context() as patches:
                patches.setattr(app.state.server.store, "free", lambda left: 10**9)  # as it was a moment ago
                found["unseen"] = answers(client, table)
            (disk / "filler").unlink()
            app.state.server.save()
            found["after"] = answers(client, table)
            client.delete("/api/v1/session").raise_for_status()
    found["left"] = sorted(path.name for path in disk.rglob("*") if path.is_file())
    return found


if __name__ == "__main__":
    os.environ["TMPDIR"] = tempfile.tempdir = sys.argv[1]
    json.dump(fill_and_free(Path(sys.argv[1])), sys.stdout, indent=1)
