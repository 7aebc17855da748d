"""Work that survives a restart, in a private folder; nothing of another session's; deleted when it is asked for."""

import asyncio
import io
import json
import os
import stat
import time
from contextlib import contextmanager

import httpx
import pytest
from tests.web.local_server import TOKEN
from tests.web.test_serve import serving

from incrowd.errors import InputError
from incrowd.web import saved_sessions
from incrowd.web.app import create_app
from incrowd.web.saved_sessions import MARKER
from incrowd.web.server_settings import ServerSettings

CSV = "age,sex,city\n" + "".join(f"{20 + n % 7},{'fm'[n % 2]},{'AB'[n % 3 == 0]}\n" for n in range(60))
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "other"}


class Asking:
    """A script that asks an app in this process."""

    def __init__(self, app):
        self.app = app
        self.headers = {"authorization": f"Bearer {TOKEN}"}

    def __getattr__(self, method):
        return lambda path, **asked: asyncio.run(self._ask(method, path, **asked))

    async def _ask(self, method, path, headers=(), **asked):
        transport = httpx.ASGITransport(app=self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=self.headers) as client:
            return await client.request(method.upper(), path, headers=dict(headers), **asked)


@contextmanager
def started(keep, **more):
    """A server in this process that keeps its work; it is left as a killed one leaves it."""
    app = create_app(ServerSettings(token=TOKEN, keep=keep, **more))
    server = app.state.server
    client = Asking(app)
    try:
        yield client, server
    finally:
        server.jobs.close()
        server.store.close()
        server.saved.close()


def upload(client, name="people.csv", **headers):
    answer = client.post("/api/v1/tables", files={"file": (name, io.BytesIO(CSV.encode()))}, headers=headers)
    assert answer.status_code == 201, answer.text
    return f"/api/v1/tables/{answer.json()['id']}"


def protected(client, table, **asked):
    return over(client, client.post(f"{table}/protections", json={"protection": asked}).json())


def over(client, job):
    """The job's number, once it is over."""
    end = time.monotonic() + 240
    while client.get(f"/api/v1/jobs/{job['id']}").json()["state"] not in ("done", "failed"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return job["id"]


def test_tables_settings_decisions_and_candidates_are_there_again(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        client.patch(f"{table}/settings", json={"recipient": "trusted"})
        job = protected(client, table, k=3, method="generalise", suppress=0.3)
        client.post(f"/api/v1/jobs/{job}/name", json={"name": "mine"})
        client.post(f"{table}/decisions", json={"decision": "refuse", "by": "me", "note": "not yet"})
        before = {
            part: client.get(f"{table}/{part}").json() for part in ("settings", "candidates", "decisions", "trail")
        }
        rows = client.post(f"/api/v1/jobs/{job}/rows", json={"show": True}).json()
        server.save()
    with started(keep) as (client, server):
        assert client.get(table).json()["name"] == "people.csv"
        for part, was in before.items():
            now = client.get(f"{table}/{part}").json()
            assert now[: len(was)] == was if part == "trail" else now == was
        assert client.get(f"{table}/candidates").json()[0]["name"] == "mine"
        assert client.post(f"/api/v1/jobs/{job}/rows", json={"show": True}).json() == rows
        assert client.get(f"/api/v1/jobs/{job}/table").text.count("\n") == rows["total"] + 1
        assert client.post(f"{table}/settings/undo").json()["settings"]["recipient"] == "public"
        assert client.get("/api/v1/session").json() == {"kept_in": str(keep), "lost": []}
        assert client.post(f"{table}/crowd").json()["people"] == 60
        assert "Assessments, reports, comparisons and forecasts are not kept" in client.get("/").text


ASKED = {
    "person": ({"roles": {**ROLES, "city": "person"}}, {"k": 2}),
    "groups": ({"groups": {"census": ["age"], "employer": ["age", "sex"]}, "highest": 0.4}, {"k": 3}),
    "dropped rows": ({"population": 6_000}, {"k": 3, "method": "generalise", "suppress": 0.3}),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_reports_are_made_again_after_a_restart(tmp_path, asked):
    keep, (settings, protection) = tmp_path / "kept", asked
    pages = []
    for start in (1, 2):
        with started(keep) as (client, server):
            if start == 1:
                table = upload(client)
                client.put(f"{table}/settings", json={"roles": ROLES, "recipient": "trusted"})
                client.patch(f"{table}/settings", json=settings)
                job = protected(client, table, **protection)
            answer = client.post(f"/api/v1/jobs/{job}/reports")
            assert answer.status_code == 202, answer.text
            report = over(client, answer.json())
            assessed = over(client, client.post(f"{table}/assessments", json={"protection": False}).json())
            for made in (report, assessed):
                for page in ("report.html", "report-external.html", "report.json"):
                    answer = client.get(f"/api/v1/jobs/{made}/{page}")
                    assert answer.status_code == 200, answer.text
                found = answer.json()
                pages.append([found["verdict"], found["facts"], found["notes"], found["provenance"]["named"]])
            server.save()
    assert pages[:2] == pages[2:]


def test_work_that_was_kept_before_readings_were_opens(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        protected(client, table, k=3)
        client.post(f"{table}/decisions", json={"decision": "refuse", "by": "me"})
        server.save()
    kept = [*(keep / "sessions").iterdir(), *(keep / "candidates").iterdir()]
    assert sum(file.read_text().count('"reading"') for file in kept) >= 2
    for file in kept:
        file.write_text(json.dumps(_without_reading(json.loads(file.read_text()))))
    with started(keep) as (client, server):
        (lost,) = client.get("/api/v1/session").json()["lost"]
        assert "protect the table again" in lost  # nothing tells that it was not changed
        assert len(client.get(f"{table}/decisions").json()) == 1


def _without_reading(part):
    if isinstance(part, list):
        return [_without_reading(one) for one in part]
    if isinstance(part, dict):
        return {name: _without_reading(value) for name, value in part.items() if name not in ("reading", "how", "sum")}
    return part


def test_the_folder_is_private_and_held_by_one_server(tmp_path):
    keep = tmp_path / "kept"
    keep.mkdir(mode=0o755)
    with started(keep) as (client, server):
        upload(client)
        server.save()
        for folder, _, _ in os.walk(keep):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        with pytest.raises(InputError, match="another server keeps its work"):
            create_app(ServerSettings(token=TOKEN, keep=keep))


def test_nothing_of_another_session_is_there(tmp_path):
    mine, other = {"x-incrowd-session": "mine"}, {"x-incrowd-session": "other"}
    with started(tmp_path / "kept") as (client, server):
        table = upload(client, **mine)
        server.save()
    with started(tmp_path / "kept") as (client, server):
        assert client.get("/api/v1/tables", headers=other).json() == []
        assert client.get(table, headers=other).status_code == 404
        assert len(client.get("/api/v1/tables", headers=mine).json()) == 1


def test_work_that_others_left_is_told_without_its_contents_and_can_be_deleted(tmp_path):
    mine, other, keep = {"x-incrowd-session": "mine"}, {"x-incrowd-session": "other"}, tmp_path / "kept"
    with started(keep) as (client, server):
        upload(client, **mine)
        table = upload(client, name="salaries.csv", **other)
        client.put(f"{table}/settings", json={"roles": ROLES}, headers=other)
        asked = client.post(f"{table}/protections", json={"protection": {"k": 3}}, headers=other)
        job = server.jobs._jobs[asked.json()["id"]]
        while not job.finished:
            time.sleep(0.02)
        server.save()
        (one,) = client.get("/api/v1/sessions", headers=mine).json()
    files = {part for part in (keep / "files").rglob("*") if part.is_file()}
    with started(keep) as (client, server):
        told = client.get("/api/v1/sessions", headers=mine)
        assert told.json() == [one]  # after a restart too
        assert (one["tables"], one["in_use"]) == (1, False)
        assert len(CSV) < one["bytes"] < sum(part.stat().st_size for part in files)
        page = client.get("/", headers=mine).text
        assert f'data-session="{one["name"]}"' in page
        assert "salaries" not in told.text + page
        assert client.delete(f"/api/v1/sessions/{one['name']}", headers=other).status_code == 404  # its own
        assert client.delete(f"/api/v1/sessions/{'0' * 16}", headers=mine).status_code == 404
        (session,) = [one for one in server.sessions.open() if len(one.tables) and server.jobs.of_session(one.key)]
        session.watchers = 1  # a page of it is open
        assert client.get("/api/v1/sessions", headers=mine).json()[0]["in_use"]
        assert client.delete(f"/api/v1/sessions/{one['name']}", headers=mine).status_code == 409
        session.watchers = 0
        assert client.delete(f"/api/v1/sessions/{one['name']}", headers=mine).status_code == 204
        server.save()
        assert client.get("/api/v1/sessions", headers=mine).json() == []
        assert client.get("/api/v1/tables", headers=other).json() == []
        assert len(client.get("/api/v1/tables", headers=mine).json()) == 1
        assert len([part for part in (keep / "files").rglob("*") if part.is_file()]) == 1
        assert [*(keep / "candidates").iterdir()] == []


def test_the_first_page_is_shown_while_another_session_is_deleted(tmp_path, monkeypatch):
    mine = {"x-incrowd-session": "mine"}
    with started(tmp_path / "kept") as (client, server):
        upload(client)
        server.save()
        read = saved_sessions._read_session
        monkeypatch.setattr(saved_sessions, "_read_session", lambda file: [read(file), file.unlink()][0])
        assert client.get("/api/v1/sessions", headers=mine).json() == []


def test_work_of_others_that_nobody_opened_since_the_start_is_deleted_with_its_files(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        upload(client)
        server.save()
    with started(keep) as (client, server):
        mine = {"x-incrowd-session": "mine"}
        (one,) = client.get("/api/v1/sessions", headers=mine).json()
        assert client.delete(f"/api/v1/sessions/{one['name']}", headers=mine).status_code == 204
        assert {part.name for part in keep.rglob("*") if part.is_file()} == {".lock", MARKER}
        assert client.get("/api/v1/tables").json() == []


def test_a_browser_comes_back_by_its_cookie(tmp_path):
    with started(tmp_path / "kept", port=8765) as (client, server):
        del client.headers["authorization"]
        answer = client.get(f"/?token={TOKEN}", follow_redirects=False)
        assert "Max-Age=2592000" in answer.headers["set-cookie"]
        cookie = answer.headers["set-cookie"].split(";")[0]
        table = upload(client, cookie=cookie, origin="http://127.0.0.1")
        server.save()
    with started(tmp_path / "kept", port=8765) as (client, server):
        del client.headers["authorization"]
        assert client.get(table, headers={"cookie": cookie}).status_code == 200
        assert client.get(table, headers={"cookie": cookie[:-1]}).status_code == 401


def test_deleting_everything_leaves_no_byte_of_a_table(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        protected(client, table, k=3)
        server.save()
        assert list(keep.rglob("*.parquet"))
        assert client.delete("/api/v1/session").status_code == 204
        server.save()
        left = [part.name for part in keep.rglob("*") if part.is_file()]
        assert {*left} == {".lock", MARKER}


def test_what_a_killed_server_left_half_done_goes(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        upload(client)
        server.save()
        kept = {part.name for part in (keep / "files").iterdir()}
        (keep / "files" / "table-half_bak").mkdir()
        (keep / "files" / "table-half_bak" / "data.csv").write_text("age\n30\n")
        for name in ("0123456789abcdef.parquet", "0123456789abcdef.rows.npy"):
            (keep / "files" / name).write_text("x")
    with started(keep):
        assert {part.name for part in (keep / "files").iterdir()} == kept
    with started(keep, keep_seconds=-1.0):  # older than nothing at all
        assert list((keep / "files").iterdir()) == []


def contents(folder):
    return {part: (part.stat().st_mode, part.is_file() and part.read_bytes()) for part in folder.rglob("*")}


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(tmp_path):
    mine = tmp_path / "mine"
    (mine / "files" / "thesis").mkdir(parents=True)
    (mine / "files" / "thesis" / "draft.txt").write_text("years of work")
    (mine / "candidates").mkdir()
    (mine / "candidates" / "people.json").write_text("{}")
    mine.chmod(0o755)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="holds files that are not kept work; name a new or an empty folder"):
        create_app(ServerSettings(token=TOKEN, keep=mine))
    assert contents(tmp_path) == before


def test_only_what_a_server_named_is_deleted(tmp_path):
    keep = tmp_path / "kept"
    with started(keep):
        pass
    (keep / "files" / "thesis").mkdir()
    others = ("files/thesis/draft.txt", "files/notes.parquet", "candidates/people.json", "sessions/people.json")
    for name in (*others, f"candidates/{'a' * 16}.json"):
        (keep / name).write_text("no JSON")
    with started(keep, keep_seconds=-1.0):
        assert all((keep / name).exists() for name in others)
        assert not (keep / "candidates" / f"{'a' * 16}.json").exists()


@pytest.mark.parametrize(
    "text", ["no JSON", "[]", '{"tables": [], "candidates": []}', '{"tables": [1], "candidates": {}}']
)
def test_a_damaged_session_ends_no_start_and_deletes_nothing(tmp_path, text):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        upload(client)
        server.save()
    (session,) = (keep / "sessions").iterdir()
    session.write_text(text)
    files = contents(keep / "files")
    with started(keep) as (client, server):
        assert contents(keep / "files") == files
        assert client.get("/api/v1/tables").json() == []
        assert client.get("/api/v1/session").json()["lost"] == ["what was kept cannot be read; open the tables again"]


@pytest.mark.parametrize("damage", ["missing", "no JSON", '{"file": "0123456789abcdef.parquet"}', '{"file": "/etc/x"}'])
def test_a_candidate_that_is_gone_locks_nobody_out(tmp_path, damage):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        table = upload(client)
        server.save()
    (session,) = (keep / "sessions").iterdir()
    session.write_text(json.dumps(json.loads(session.read_text()) | {"candidates": {"0123456789abcdef": "mine"}}))
    if damage != "missing":
        (keep / "candidates" / "0123456789abcdef.json").write_text(damage)
    with started(keep) as (client, server):
        assert client.get(table).status_code == 200
        (lost,) = client.get("/api/v1/session").json()["lost"]
        assert lost.startswith("mine: ")
        assert client.delete("/api/v1/session").status_code == 204
        assert list((keep / "sessions").iterdir()) == []


def test_a_session_that_is_loaded_again_counts_as_used(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        upload(client)
        server.save()
    (session,) = (keep / "sessions").iterdir()
    os.utime(session, (time.time() - 1_000, time.time() - 1_000))
    with started(keep, keep_seconds=2_000.0) as (client, server):
        assert len(client.get("/api/v1/tables").json()) == 1
        server.save()
    assert session.stat().st_mtime > time.time() - 500


def test_one_session_that_cannot_be_saved_holds_up_no_other(tmp_path, caplog, monkeypatch):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        upload(client, **{"x-incrowd-session": "first"})
        upload(client, **{"x-incrowd-session": "second"})
        first = next(iter(server.sessions.open()))
        monkeypatch.setattr(next(iter(first.tables.values())).history, "to_dict", lambda: {"not": {"JSON"}})
        server.save()
        assert "work could not be saved: TypeError" in caplog.text
        assert len(list((keep / "sessions").iterdir())) == 1


def test_a_job_that_is_discarded_while_it_is_saved_does_no_harm(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        job = server.jobs._jobs[protected(client, table, k=3)]
        (session,) = server.sessions.open()
        release = job.outcome.release

        class Discarding(type(job)):
            """A job whose outcome is dropped as soon as somebody has seen it."""

            @property
            def outcome(self):
                seen, self.left = getattr(self, "left", job.outcome), None
                return seen

            @outcome.setter
            def outcome(self, value):
                pass

        fields = {name: getattr(job, name) for name in job.__dataclass_fields__}
        server.saved.save(session.key, list(session.tables.values()), [Discarding(**fields)])
        saved = json.loads((keep / "candidates" / f"{job.id}.json").read_text())
        assert saved["file"] == release.file.name


def test_a_file_that_changed_where_it_lies_is_told_as_lost(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "people.csv").write_text(CSV)
    with started(tmp_path / "kept", folders=(folder,)) as (client, server):
        assert client.post("/api/v1/tables/open", json={"path": "people.csv"}).status_code == 201
        server.save()
    (folder / "people.csv").write_text(CSV + "99,f,Z\n")
    with started(tmp_path / "kept", folders=(folder,)) as (client, server):
        assert client.get("/api/v1/tables").json() == []
        (lost,) = client.get("/api/v1/session").json()["lost"]
        assert "people.csv" in lost
        assert "changed" in lost


def test_a_killed_server_loses_nothing_that_was_saved_and_shows_nobody_what_another_left(tmp_path):
    keep, tables = tmp_path / "kept", {}

    def ask(address, name):
        base, token = address.split("/?token=")
        headers = {"authorization": f"Bearer {token}", "x-incrowd-session": name}
        return httpx.Client(base_url=base, headers=headers, timeout=240, verify=False)

    def saved(words):
        return sum(words in file.read_text() for file in (keep / "sessions").glob("*.json"))

    with serving(tmp_path, "--keep", str(keep)) as (process, address):
        for name in ("ann", "ben"):
            with ask(address, name) as client:
                tables[name] = upload(client, f"{name}.csv")
                client.put(f"{tables[name]}/settings", json={"roles": ROLES})
                if name == "ann":
                    made = protected(client, tables[name], k=3, method="generalise", suppress=0.3)
        end = time.monotonic() + 240
        while saved(made) < 1 or saved("quasi-identifier") < 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()
        process.wait(30)
    with serving(tmp_path, "--keep", str(keep)) as (_, address):
        for name, other in (("ann", "ben"), ("ben", "ann")):
            with ask(address, name) as client:
                assert [table["name"] for table in client.get("/api/v1/tables").json()] == [f"{name}.csv"]
                assert client.get(f"{tables[name]}/settings").json()["settings"]["roles"] == ROLES
                assert client.get(f"{tables[other]}/settings").status_code == 404
                assert client.get(f"/api/v1/jobs/{made}/table").status_code == (200 if name == "ann" else 404)


def test_a_browser_finds_its_kept_tables_on_another_port(tmp_path):
    keep = tmp_path / "kept"
    with serving(tmp_path, "--keep", str(keep)) as (_, address):
        base, cookies = address.split("/?")[0], httpx.get(address).cookies
        with httpx.Client(base_url=base, cookies=dict(cookies), timeout=240) as client:
            upload(client, origin=base)
        end = time.monotonic() + 240
        while not any("people.csv" in file.read_text() for file in (keep / "sessions").glob("*.json")):
            assert time.monotonic() < end
            time.sleep(0.05)
    with serving(tmp_path, "--keep", str(keep)) as (_, again):
        assert again.split("/?")[0] != base
        tables = httpx.get(f"{again.split('/?')[0]}/api/v1/tables", cookies=dict(cookies), timeout=240).json()
        assert [table["name"] for table in tables] == ["people.csv"]


def test_a_protected_table_that_was_changed_meanwhile_is_not_passed_on(tmp_path):
    keep = tmp_path / "kept"
    with started(keep) as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        job = protected(client, table, k=3)
        server.save()
    (release,), (record,) = (keep / "files").glob("*.parquet"), (keep / "candidates").iterdir()
    saved = record.read_bytes().replace(b'"k": 3', b'"k": 9')
    (original,) = (
        file for file in (keep / "files").rglob("*") if file.parent.parent == keep / "files" and file.is_file()
    )
    half = b"".join(original.read_bytes().splitlines(keepends=True)[:9])
    changes = [(release, b"PAR1"), (record, saved), (record, saved.replace(b'"sum"', b'"no sum"')), (original, half)]
    for file, change in changes:
        was = file.read_bytes()
        assert was != change
        file.write_bytes(change)
        with started(keep) as (client, server):
            words = (
                "the original table has changed since; protect it again" if file == original else "was changed; protect"
            )
            assert words in client.get("/api/v1/session").json()["lost"][0]
            assert client.get(f"{table}/candidates").json() == []
            assert client.get(f"/api/v1/jobs/{job}/table").status_code == 404
        file.write_bytes(was)


@pytest.mark.parametrize("part", ["files", "sessions", "candidates"])
def test_a_link_to_another_folder_is_not_kept_work(tmp_path, part):
    keep, other = tmp_path / "kept", tmp_path / "other"
    keep.mkdir()
    other.mkdir(mode=0o755)
    (keep / MARKER).touch()
    (keep / part).symlink_to(other)
    with pytest.raises(InputError, match="is a link"):
        create_app(ServerSettings(token=TOKEN, keep=keep))
    assert stat.S_IMODE(other.stat().st_mode) == 0o755


def test_the_lock_follows_no_link(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / MARKER).touch()
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "kept" / ".lock").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(InputError, match="cannot be kept"):
        create_app(ServerSettings(token=TOKEN, keep=tmp_path / "kept"))
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_the_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "kept").mkdir()
    os.chown(tmp_path / "kept", 12_345, 12_345)
    with pytest.raises(InputError, match="belongs to somebody else"):
        create_app(ServerSettings(token=TOKEN, keep=tmp_path / "kept"))
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize(
    "part", [{"file": "../../../secret.csv"}, {"file": ".."}, {"file": ""}, {"folder": None, "file": "SECRET"}]
)
def test_a_session_that_names_a_file_outside_its_folder_opens_nothing(tmp_path, part):
    secret = tmp_path / "secret.csv"
    secret.write_text(CSV)
    with started(tmp_path / "kept") as (client, server):
        table = upload(client)
        server.save()
    (saved,) = (tmp_path / "kept" / "sessions").iterdir()
    state = json.loads(saved.read_text())
    state["tables"][0] |= {name: str(secret) if value == "SECRET" else value for name, value in part.items()}
    saved.write_text(json.dumps(state))
    with started(tmp_path / "kept") as (client, _):
        assert client.get(table).status_code == 404
        assert "its file is none that is kept here" in client.get("/api/v1/session").text
    assert secret.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table["history"]["steps"].pop(0), "not among those that were kept"),
        (lambda table: table["history"].update(now=-1), "damaged"),
        (lambda table: table["history"].update(version="2"), "damaged"),
        (lambda table: table["history"]["steps"][1].pop("roles"), "do not give every column a role"),
        (lambda table: table["source"].update(kind="2024-02-30"), "damaged"),
        (lambda table: table.update(name=-1), "damaged"),
    ],
)
def test_a_table_whose_kept_history_no_server_wrote_is_lost_in_words(tmp_path, change, words):
    with started(tmp_path / "kept") as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        server.save()
    (saved,) = (tmp_path / "kept" / "sessions").iterdir()
    state = json.loads(saved.read_text())
    change(state["tables"][0])
    saved.write_text(json.dumps(state))
    with started(tmp_path / "kept") as (client, _):
        assert client.get("/api/v1/tables").json() == []
        (lost,) = client.get("/api/v1/session").json()["lost"]
        assert words in lost
        assert client.get(f"{table}/settings").status_code == 404


def test_a_name_of_a_candidate_that_is_no_text_is_lost_in_words(tmp_path):
    with started(tmp_path / "kept") as (client, server):
        table = upload(client)
        client.put(f"{table}/settings", json={"roles": ROLES})
        protected(client, table, k=3)
        server.save()
    (saved,) = (tmp_path / "kept" / "sessions").iterdir()
    state = json.loads(saved.read_text())
    saved.write_text(json.dumps(state | {"candidates": dict.fromkeys(state["candidates"], -1)}))
    with started(tmp_path / "kept") as (client, _):
        assert client.get("/api/v1/tables").status_code == 200
        assert "cannot be read" in client.get("/api/v1/session").text
