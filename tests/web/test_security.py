"""Who may ask: host, origin, token, session; and what every answer tells the browser."""

import os
import socket
import stat

import httpx
import pytest
from tests.web.local_server import TOKEN

from incrowd.errors import InputError
from incrowd.web import security, serving
from incrowd.web.security import POLICY
from incrowd.web.server_settings import ServerSettings

TABLES = "/api/v1/tables"


@pytest.fixture
def stranger(base):
    with httpx.Client(base_url=base, timeout=180, verify=False) as client:
        yield client


def test_nothing_is_answered_without_the_token(stranger):
    for path in ("/", "/api/v1/version", TABLES, "/api/v1/openapi.json", "/tables/0123456789abcdef/risk", "/nowhere"):
        answer = stranger.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
    assert stranger.get(TABLES).json() == {
        "error": "open the address that was printed at start-up: it holds the token that lets you in"
    }


@pytest.mark.parametrize("token", ["wrong", "a-token-for-tests-onl", "a-token-for-tests-only-", "ä" * 22])
def test_a_wrong_token_is_refused(stranger, token):
    assert stranger.get("/", params={"token": token}).status_code == 401
    for bearer in (f"Bearer {token}", f"Basic {token}", "Bearer", token):
        assert stranger.get(TABLES, headers={b"authorization": bearer.encode()}).status_code == 401


def test_the_token_is_traded_for_a_cookie_that_scripts_and_other_sites_cannot_use(stranger, app):
    answer = stranger.get("/", params={"token": app.state.server.settings.token})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert app.state.server.settings.token not in cookie
    assert stranger.get(TABLES).status_code == 200


def test_a_cookie_that_was_made_up_is_refused(stranger, app):
    name = f"incrowd_{app.state.server.settings.port}"
    assert stranger.get(TABLES, headers={"cookie": f"{name}=made-up"}).status_code == 401
    assert stranger.get(TABLES, headers={"cookie": "=;;;\x7f"}).status_code == 401


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "127.0.0.1.evil.example",
            "evil.example:8765",
            "127.0.0.1@evil.example",
            "[::",
            "",
            "10.0.0.1",
        ),
        *("[::1]evil.example", "localhost:evil", "localhost:1:1"),
    ],
)
def test_another_host_name_is_refused_even_with_the_token(base, host):
    with httpx.Client(
        base_url=base, headers={"authorization": "Bearer a-token-for-tests-only"}, verify=False
    ) as client:
        assert client.get(TABLES, headers={"host": host}).status_code == 403
        assert client.get(TABLES, headers={"host": "LOCALHOST:1"}).status_code == 200


def test_two_host_headers_are_refused(app):
    port = app.state.server.settings.port
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n")
        assert b" 40" in line.recv(1000).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"]
)
def test_another_origin_is_refused(new_browser, origin):
    browser = new_browser()
    assert browser.post(f"{TABLES}/demo", json={"rows": 10}, headers={"origin": origin}).status_code == 403
    assert browser.get(TABLES, headers={"origin": origin}).status_code == 403
    assert browser.get(TABLES).json() == []


def test_a_change_without_an_origin_needs_the_token_itself(new_browser, script):
    browser = new_browser()
    del browser.headers["origin"]
    assert browser.post(f"{TABLES}/demo", json={"rows": 10}).status_code == 403
    assert browser.get(TABLES).status_code == 200
    invented = script.post(f"{TABLES}/demo", json={"rows": 10})
    assert (invented.status_code, invented.json()["rows"]) == (201, 10)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_says_comes_from_another_site_is_refused(new_browser, site):
    assert new_browser().get(TABLES, headers={"sec-fetch-site": site}).status_code == 403


def test_sessions_do_not_see_each_other(new_browser, demo, wait_for, script):
    one, other = new_browser(), new_browser()
    table = demo(one)["id"]
    job = one.post(f"{TABLES}/{table}/leaks", json={"share": 0.1}).json()
    for stranger in (other, script):
        assert stranger.get(TABLES).json() == []
        assert stranger.get("/api/v1/jobs").json() == []
        for path in ("", "/preview?show=true", "/settings"):
            assert stranger.get(f"{TABLES}/{table}{path}").status_code == 404
        assert stranger.delete(f"{TABLES}/{table}").status_code == 404
        assert stranger.post(f"{TABLES}/{table}/live", json={"quasi_identifiers": ["sex"]}).status_code == 404
        for path in ("", "/result", "/figures", "/equivalent", "/report.html", "/table"):
            assert stranger.get(f"/api/v1/jobs/{job['id']}{path}").status_code == 404
        assert stranger.delete(f"/api/v1/jobs/{job['id']}").status_code == 404
    assert wait_for(one, job)["state"] == "done"


def test_every_answer_tells_the_browser_what_it_may_do(script, stranger):
    for answer in (script.get(TABLES), stranger.get("/"), script.get("/api/v1/nowhere")):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
    assert "unsafe" not in POLICY
    assert "default-src 'self'" in POLICY


def test_a_long_request_is_refused(script):
    long = {"quasi_identifiers": ["x" * 2_100_000]}
    assert script.post(f"{TABLES}/0123456789abcdef/live", json=long).status_code == 413


def test_huge_headers_are_refused(app):
    with socket.create_connection(("127.0.0.1", app.state.server.settings.port)) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * 200_000)
        line.settimeout(120)
        try:
            answer = line.recv(100)
        except ConnectionResetError:
            answer = b""
        assert answer == b"" or b" 4" in answer


def _connection(app):
    return socket.create_connection(("127.0.0.1", app.state.server.settings.port), timeout=120)


def test_a_head_that_never_comes_whole_is_not_waited_for(app, monkeypatch):
    monkeypatch.setattr(serving.TimedProtocol, "patience", 0.3)
    for sent in (b"", b"GET / HT", b"GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: 1"):
        with _connection(app) as slow:
            slow.sendall(sent)
            assert slow.recv(100) == b""  # closed
    monkeypatch.setattr(serving.TimedProtocol, "patience", 1.5)  # a busy machine sends the first head within this
    head = f"GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    with _connection(app) as kept:
        kept.sendall(head)
        assert b"200 OK" in kept.recv(10_000)
        kept.sendall(head[:20])  # a second request that stays half
        while got := kept.recv(10_000):
            assert b"incrowd" in got  # the rest of the first answer


def test_an_idle_connection_stays_open_longer_than_clients_use_it(app):
    with httpx.Client() as client:
        seconds = client._transport._pool._keepalive_expiry
    # a connection that both ends give up after 5 seconds loses the request that is on its way then
    assert serving.configuration(app).timeout_keep_alive >= 10 * seconds > 0


def test_a_body_that_stops_coming_is_not_waited_for(app, monkeypatch):
    monkeypatch.setattr(security, "PATIENCE", 0.3)
    head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 500\r\n"
    for path, kind in (("/tables/demo", "application/json"), ("/tables", "multipart/form-data; boundary=x")):
        with _connection(app) as stalled:
            stalled.sendall(f"POST /api/v1{path} {head}Content-Type: {kind}\r\n\r\n--x".encode())
            assert b" 408 " in stalled.recv(10_000).partition(b"\r\n")[0]


def test_a_websocket_is_not_opened(app):
    with socket.create_connection(("127.0.0.1", app.state.server.settings.port)) as line:
        line.sendall(
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert b" 4" in line.recv(100).split(b"\r\n")[0]


def test_the_private_folder_is_for_this_user_alone(app):
    assert stat.S_IMODE(os.stat(app.state.server.store.folder).st_mode) == 0o700


def test_a_token_that_can_be_guessed_is_refused():
    with pytest.raises(InputError, match="can be guessed"):
        ServerSettings(token="short")


def test_the_token_is_new_each_time_and_not_in_the_settings_text():
    one, other = ServerSettings(), ServerSettings()
    assert one.token != other.token
    assert one.token not in repr(one)


def test_a_browser_session_that_is_idle_is_closed_with_its_files(app):
    from incrowd.web.server import Server

    server = Server(ServerSettings(idle_seconds=-1.0, workers=1))
    try:
        secret = server.sessions.begin()
        session = server.sessions.of_cookie(secret)
        table = server.open_demo(session, 50, 0)
        assert table.folder.exists()
        server.sessions.sweep()
        assert server.sessions.of_cookie(secret) is None
        assert not table.folder.exists()
    finally:
        server.close()


def test_only_so_many_sessions_are_open_at_once():
    from incrowd.web.refusals import Refusal
    from incrowd.web.server import Server

    server = Server(ServerSettings(max_sessions=2, workers=1))
    try:
        kept = server.sessions.of_cookie(server.sessions.begin())
        server.open_demo(kept, 10, 0)
        first = server.sessions.begin()
        second = server.sessions.begin()  # takes the place of one that holds nothing
        assert server.sessions.of_cookie(first) is None
        server.open_demo(server.sessions.of_cookie(second), 10, 0)
        with pytest.raises(Refusal, match="2 sessions are open") as refused:
            server.sessions.begin()
        assert refused.value.status == 429
    finally:
        server.close()


def test_a_mistake_of_ours_quotes_nothing(script, demo, app, monkeypatch, caplog, capfd):
    from incrowd.web.session_table import OpenTable

    def broken(self):
        raise KeyError("Jane Doe, HIV positive")

    table = demo(script)["id"]
    monkeypatch.setattr(OpenTable, "info", broken)
    answer = script.get(f"{TABLES}/{table}")
    assert answer.status_code == 500
    assert answer.json() == {"error": "this should not have happened (KeyError); please tell us"}
    said = capfd.readouterr()
    assert "Jane" not in caplog.text + said.out + said.err
    assert "GET failed with KeyError" in caplog.text
