"""Odd requests to the app: questions about coarsening, mutated project files, folders of kept work that were changed.

    python -m tests.fuzz.app --cases 3000 --seed 7
    python -m tests.fuzz.app --cases 1000 --seed 7 --start 2000 --only kept

Every answer must be one of the app's own (no status 500, no exception), within time, and no refusal may show a planted
value. A damaged folder of kept work must end no start.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.mutate import mutated
from tests.web.test_saved_sessions import protected, started

PLANTED = "Zyxwvut"
CSV = "age,sex,city,day\n" + "".join(
    f"{20 + n % 7},{'fm'[n % 2]},{PLANTED}{n % 5},2024-{1 + n % 12:02}-{1 + n % 28:02}\n" for n in range(60)
)
SECONDS = 20  # of processor time for one case
RULES = [
    "5",
    "5,10",
    "0",
    "-1",
    "1e308,1e308",
    "5e-324",
    "nan",
    "cuts:",
    "cuts:25",
    "cuts:25,25",
    "cuts:25,23/23",
    "cuts:25/23",
]
RULES += [
    "cuts:2024-02-30",
    "cuts:2024-02-03,2024-06-01/2024-06-01",
    "cuts:1e999",
    "cuts:-1e308,1e308",
    "cuts:" + "1," * 3_000,
]
RULES += [
    "prefix:1",
    "prefix:0",
    "prefix:99999999999999999999",
    "quantiles:2",
    "quantiles:1e30",
    "dates",
    "places",
    "auto",
    "cuts:/",
]
RULES += [
    "/etc/passwd",
    "plain.csv",
    "..",
    "cuts:٣",
    "cuts:0001-01-01,9999-12-31",
    "prefix:" + ",".join(map(str, range(1, 400))),
]


def upload(client, text=CSV):
    answer = client.post("/api/v1/tables", files={"file": ("people.csv", text.encode())})
    assert answer.status_code == 201, answer.text
    return f"/api/v1/tables/{answer.json()['id']}"


def question(rng):
    """A question about coarsening a column."""
    column = rng.choice(["age", "sex", "city", "day", "age", "day", "missing", ""])
    asked = {"column": column, "show": rng.random() < 0.5, "csv": rng.random() < 0.5}
    kind = rng.randrange(4)
    if kind == 0:
        asked["hierarchy"] = rng.choice(RULES)
    elif kind == 1:
        values = [str(20 + n) for n in range(7)] if column == "age" else ["f", "m"]
        asked["groups"] = [
            {"name": rng.choice(["one", "*", "", "f", "[20;21]"]), "values": rng.sample(values, 2)} for _ in "ab"
        ]
        asked["rest"] = rng.choice([None, "rest", "", "*"])
    elif kind == 2:
        lines = [f"{20 + n};[{20 + n // 3 * 3};{22 + n // 3 * 3}];*" for n in range(7)]
        lines[rng.randrange(7)] = rng.choice(
            ["", ";", "20;a;b;c", '"20;a', "20\0;a;b", "20;" * 30, "20;*;x", "20;a;*" * 400]
        )
        asked["text"] = "\n".join(lines)
    else:
        asked["hierarchy"] = [[str(20 + n), rng.choice(["a", "b", "*", ""]), "all"] for n in range(7)]
    return mutated(asked, rng) if rng.random() < 0.5 else asked


class Coarsening:
    """Questions about hierarchies of a column, and protections that take them as they came back."""

    def __init__(self, folder):
        self.place = started(folder / "coarsening")
        self.client, _ = self.place.__enter__()
        self.table = upload(self.client)

    def case(self, rng):
        asked = question(rng)
        answer = self.client.post(f"{self.table}/columns/hierarchy", **_json(asked))
        yield answer, asked
        given = answer.json().get("hierarchy") if answer.status_code == 200 else None
        if given is not None:
            kept = {"protection": {"hierarchies": {asked["column"]: given}}}
            yield self.client.patch(f"{self.table}/settings", **_json(kept)), kept


class Projects:
    """Project files, mutated, on the table that they are of."""

    def __init__(self, folder):
        self.place = started(folder / "projects")
        self.client, _ = self.place.__enter__()
        self.table = upload(self.client)
        roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "sensitive"}
        settings = {"roles": roles, "secrets": [f"city={PLANTED}1"], "protection": {"hierarchies": {"age": "5,10"}}}
        assert self.client.put(f"{self.table}/settings", json=settings).status_code == 200
        protected(self.client, self.table, k=3)
        self.client.post(f"{self.table}/decisions", json={"decision": "refuse", "by": "me", "note": "not yet"})
        self.project = self.client.get(f"{self.table}/project?cells=true").json()

    def case(self, rng):
        project = mutated(self.project, rng)
        yield self.client.post(f"{self.table}/project", **_json(project)), project
        for part in ("settings", "decisions", "trail", "record.html", "project"):
            yield self.client.get(f"{self.table}/{part}"), project


class Kept:
    """A folder of kept work whose files were changed between two servers."""

    def __init__(self, folder):
        self.keep, self.now = folder / "kept", folder / "changed"
        with started(self.keep) as (client, server):
            self.table = upload(client)
            client.put(f"{self.table}/settings", json={"roles": {"age": "quasi-identifier", "sex": "quasi-identifier"}})
            self.job = protected(client, self.table, k=3)
            client.post(f"{self.table}/decisions", json={"decision": "refuse", "by": "me"})
            server.save()

    def case(self, rng):
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(self.keep, self.now)
        files = sorted(file for file in self.now.rglob("*") if file.is_file() and file.name[0] != ".")
        file = rng.choice([one for one in files if one.suffix == ".json"] * 3 + files)
        kind, before = rng.randrange(8), file.read_bytes()
        if file.suffix == ".json" and kind < 6:
            saved = json.loads(before)
            changed = mutated(saved, rng)
            if "sum" in saved and rng.random() < 0.8:
                changed["sum"] = saved["sum"]
            file.write_text(json.dumps(changed))
        elif kind < 7:
            file.write_bytes(rng.choice([b"", before[: len(before) // 2], b"\0" * 50, before + before]))
        else:
            file.unlink()
        with started(self.now) as (client, server):
            for path in ("/api/v1/session", "/api/v1/tables", self.table, f"/api/v1/jobs/{self.job}"):
                yield client.get(path), file.name
            for part in ("settings", "candidates", "decisions", "trail", "project"):
                yield client.get(f"{self.table}/{part}"), file.name
            for part in ("result", "table"):
                yield client.get(f"/api/v1/jobs/{self.job}/{part}"), file.name
            yield client.post(f"/api/v1/jobs/{self.job}/rows", json={"show": False}), file.name
            server.save()
            yield client.delete("/api/v1/session"), file.name


KINDS = {"coarsening": Coarsening, "projects": Projects, "kept": Kept}


def _json(tree):
    return {"content": json.dumps(tree).encode(), "headers": {"content-type": "application/json"}}


def attack(name, cases, seed, *, start=0, told=lambda text: None):
    """So many cases of one kind: how often each status came, and what is broken."""
    codes, broken = Counter(), []
    with tempfile.TemporaryDirectory() as place:
        target = KINDS[name](Path(place))
        for number in range(start, start + cases):
            began, found = time.process_time(), []
            try:
                for answer, asked in target.case(random.Random(f"{seed} {name} {number}")):
                    codes[answer.status_code] += 1
                    if answer.status_code >= 500:
                        found.append(f"status {answer.status_code}")
                    if answer.status_code >= 400 and PLANTED in answer.text and PLANTED not in json.dumps(asked):
                        found.append("a planted value is shown")
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}"[:200])
            if time.process_time() - began > SECONDS:
                found.append(f"{time.process_time() - began:.0f} seconds")
            if found:
                broken.append((name, seed, number, found))
                told(f"BROKEN {broken[-1]}\n")
            if number % 100 == 99:
                told(f"{name} {start} to {number}: {len(broken):,} broken, {time.process_time():,.0f} s\n")
        if hasattr(target, "place"):
            target.place.__exit__(None, None, None)
    return codes, broken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1_000, help="of each kind")
    parser.add_argument("--seed", default="7")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", action="append", choices=KINDS)
    given = parser.parse_args()
    failures = 0
    for kind in given.only or KINDS:
        counted, failed = attack(kind, given.cases, given.seed, start=given.start, told=sys.stderr.write)
        sys.stdout.write(f"{kind}: {given.cases:,} cases, {dict(counted)}, {len(failed):,} broken promises\n")
        failures += len(failed)
    sys.exit(bool(failures))
