"""A session keeps to its limits whatever comes at the same time, and leaves nothing when it ends."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from incrowd.errors import InputError
from incrowd.web import server as server_module
from incrowd.web.jobs import Job, Outcome
from incrowd.web.models import Equivalent
from incrowd.web.refusals import Refusal
from incrowd.web.server import Server
from incrowd.web.server_settings import ServerSettings
from incrowd.web.sessions import Sessions


@pytest.fixture
def server():
    """A server without a port, small enough to be filled."""
    made = Server(ServerSettings(max_tables=3, max_bytes=1_000, max_session_bytes=1_500, max_sessions=2))
    yield made
    made.close()


def received(server, text="age,city\n30,A\n31,B\n"):
    folder = server.store.new_folder()
    (folder / "data.csv").write_text(text)
    return folder


def test_uploads_at_the_same_time_keep_to_the_number_of_tables(server):
    session = server.sessions.named("one")
    together = threading.Barrier(8)

    def upload(_):
        together.wait()
        try:
            with server.reserve_place(session, 100):
                server.open_upload(session, received(server), "a.csv")
        except Refusal as refusal:
            return refusal.status
        return 201

    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(upload, range(8)))
    assert found == [201] * 3 + [429] * 5
    assert len(session.tables) == 3


def test_a_session_whose_work_is_still_being_loaded_makes_room_for_nobody():
    ended, kept = [], {"alice"}
    sessions = Sessions(1, 1e9, ended.append, lambda session: False, lambda key: bool(kept))
    alice = sessions.named("alice")
    assert not alice.is_loaded
    kept.clear()
    with pytest.raises(Refusal, match="1 sessions are open already"):
        sessions.named("bob")
    alice.is_loaded = True
    sessions.named("bob")
    assert ended == [alice]


def test_uploads_at_the_same_time_share_the_room_there_is(server):
    session = server.sessions.named("one")
    with server.reserve_place(session, 10**9) as first, server.reserve_place(session, 10**9) as second:
        assert (first, second) == (1_000, 500)
        with pytest.raises(Refusal, match="all the room"), server.reserve_place(session, 10**9):
            pass
    with server.reserve_place(session, 10**9) as again:
        assert again == 1_000


def test_protected_tables_that_are_kept_take_room_too(server):
    session = server.sessions.named("one")
    job = Job(session.key, "protection", None, lambda progress, publish: result, Equivalent(cli="", python=""))
    result = Outcome(None, dict, dict, None, 1_400)
    server.jobs.add(job)
    while not job.finished:
        time.sleep(0.005)
    with server.reserve_place(session, 10**9) as most:
        assert most == 100
    server.jobs.remove(job)
    with server.reserve_place(session, 10**9) as most:
        assert most == 1_000


def test_a_disk_that_is_almost_full_is_left_alone(server, monkeypatch):
    session = server.sessions.named("one")
    monkeypatch.setattr(server.store, "free", lambda left: 70)
    with server.reserve_place(session, 10**9) as most:
        assert most == 70
    monkeypatch.setattr(server.store, "free", lambda left: 0)
    with pytest.raises(Refusal, match="almost full"):
        server.check_room(session)
    with pytest.raises(Refusal, match="almost full"):
        server.open_demo(session, 10, 0)


def test_only_so_many_read_at_once_and_pages_are_answered_beside_them(script, app, demo):
    table = demo(script)["id"]
    server = app.state.server
    with ExitStack() as held:
        for _ in range(server.settings.max_opening):
            held.enter_context(server.limit_concurrency())
        for path, body in (("/tables/demo", {"rows": 10}), (f"/tables/{table}/live", {"quasi_identifiers": ["sex"]})):
            answer = script.post(f"/api/v1{path}", json=body)
            assert (answer.status_code, "try again" in answer.json()["error"]) == (429, True)
        folders = len(list(server.store.folder.iterdir()))
        assert script.post("/api/v1/tables", files={"file": ("a.csv", b"a,b\n1,2\n")}).status_code == 429
        assert len(list(server.store.folder.iterdir())) == folders
        assert script.get("/").status_code == 200
    assert script.post(f"/api/v1/tables/{table}/live", json={"quasi_identifiers": ["sex"]}).status_code == 200


def test_an_upload_of_a_session_that_ended_meanwhile_is_not_kept(server):
    session = server.sessions.named("one")
    folder = received(server)
    server.sessions.end(session)
    with pytest.raises(Refusal, match="has ended") as refused:
        server.open_upload(session, folder, "a.csv")
    assert refused.value.status == 409
    assert not folder.exists()
    assert session.tables == {}


def test_a_session_that_is_receiving_its_first_table_does_not_make_room_for_others(server):
    busy, other = server.sessions.named("busy"), server.sessions.named("idle")
    with server.reserve_place(busy, 10):
        server.sessions.named("third")
        assert not busy.ended
        assert other.ended


def test_a_table_that_cannot_be_read_leaves_no_folder(server, monkeypatch):
    def broken(*_):
        raise InputError("it cannot be read")

    monkeypatch.setattr(server_module, "open_table", broken)
    session = server.sessions.named("one")
    with pytest.raises(InputError):
        server.open_demo(session, 10, 0)
    assert [one.name for one in server.store.folder.glob("*/demo.parquet")] == []


def test_a_protection_cancelled_near_its_end_leaves_no_file(server, tmp_path):
    from incrowd.web.jobs import Cancelled
    from incrowd.web.models import ProtectionRequest, TableSettings
    from incrowd.web.tasks.protect_task import protect_task

    session = server.sessions.named("one")
    rows = "".join(f"{20 + n % 7},{'AB'[n % 2]}\n" for n in range(60))
    table = server.open_upload(session, received(server, "age,city\n" + rows), "a.csv")
    table.history.replace(TableSettings(roles={"age": "quasi-identifier", "city": "quasi-identifier"}))

    def tell(stage, share):
        if share >= 0.9:
            raise Cancelled

    with pytest.raises(Cancelled):
        protect_task(table, ProtectionRequest(k=2), tmp_path)(tell, lambda outcome: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("state", ["running", "cancelled", "failed"])
def test_an_assessment_that_is_not_whole_is_no_report(state):
    from incrowd.assessment import Assessment
    from incrowd.web.api.result_routes import whole_assessment
    from incrowd.web.jobs import Job, Outcome

    early = Outcome(Assessment.__new__(Assessment), dict, dict)
    job = Job("one", "assessment", None, None, None, state=state, outcome=early)
    with pytest.raises(Refusal, match="whole assessment"):
        whole_assessment(job)
    job.state = "done"
    assert whole_assessment(job) is early.value


def test_a_file_of_too_many_columns_is_refused_by_its_header(server):
    session = server.sessions.named("one")
    names = ",".join(f"c{n}" for n in range(2_001))
    with pytest.raises(Refusal, match=r"2,001 columns, and at most 2,000") as refused:
        server.open_upload(session, received(server, f"{names}\n{names}\n"), "a.csv")
    assert refused.value.status == 413


def test_twenty_people_at_once_each_get_their_own_protected_file(new_browser, wait_for):
    def whole_way(number):
        client, mark = new_browser(), f"only-{number}"
        rows = "".join(f"{20 + n % 3},{'fm'[n % 2]},{mark}\n" for n in range(36))
        sent = client.post("/api/v1/tables", files={"file": (f"{mark}.csv", f"age,sex,city\n{rows}".encode())})
        table = f"/api/v1/tables/{sent.json()['id']}"
        roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "city": "other"}
        answers = [sent, client.put(f"{table}/settings", json={"roles": roles, "recipient": "trusted"})]
        answers += [client.post(f"{table}/leak-now", json={"leaked": size, "targets": [1]}) for size in (1, 9, 36)]
        for kind, asked in (("assessments", {"protection": False}), ("protections", {})):
            answers.append(client.post(f"{table}/{kind}", json=asked))
            assert wait_for(client, answers[-1].json())["state"] == "done"
        answers.append(client.get(f"/api/v1/jobs/{answers[-1].json()['id']}/table"))
        answers.append(client.get("/api/v1/tables"))
        assert [answer.status_code for answer in answers if answer.is_error] == []
        assert [one["name"] for one in answers[-1].json()] == [f"{mark}.csv"]
        assert answers[-2].text.count(mark) == 36

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(whole_way, range(20))) == [None] * 20
