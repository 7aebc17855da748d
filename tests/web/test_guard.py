"""The guard by itself: cookies of other programs, bodies that are too long, answers that break in the middle."""

import asyncio

import pytest

from incrowd.web.refusals import Refusal
from incrowd.web.security import Guard
from incrowd.web.server_settings import ServerSettings
from incrowd.web.sessions import Sessions

SETTINGS = ServerSettings()


def asked(app, *, cookie=None, method="GET", path="/api/v1/version", body=(b"",), site=None, query=b""):
    """What goes out for one request, and what the server under it would see raised."""
    sessions = Sessions(5, 60.0, lambda session: None, lambda session: False, lambda key: False)
    headers = [(b"host", b"127.0.0.1:8765"), (b"origin", b"http://127.0.0.1:8765")]
    secret = sessions.begin()
    headers.append((b"cookie", (cookie or "{}").replace("{}", f"incrowd_8765={secret}").encode("latin-1")))
    if site:
        headers.append((b"sec-fetch-site", site))
    parts = [{"type": "http.request", "body": part, "more_body": True} for part in body]
    sent = []

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": headers}
    raised = None
    try:
        asyncio.run(Guard(app, SETTINGS, sessions, lambda session: None)(scope, receive, send))
    except Exception as error:
        raised = error
    return sent, raised


async def fine(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"fine"})


@pytest.mark.parametrize(
    "cookie", ['a={"x":1}; {}', "session=\xe9; {}", "a[b]=1; {}", "a=b c;{}", "foo; {}", "{}; =", "incrowd_9=x; {}"]
)
def test_cookies_of_other_programs_lock_nobody_out(cookie):
    (start, _), _ = asked(fine, cookie=cookie)
    assert start["status"] == 200


@pytest.mark.parametrize("error", [OSError("cell 42"), Refusal(409, "no more")])
def test_an_answer_that_breaks_in_the_middle_is_cut_and_quotes_nothing(error):
    async def breaking(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"age,zip\n1,2\n", "more_body": True})
        raise error

    sent, raised = asked(breaking)
    assert [message.get("body") for message in sent] == [None, b"age,zip\n1,2\n"]
    assert raised is not None
    assert "42" not in str(raised)
    assert raised.__suppress_context__


def test_a_body_that_grows_too_long_is_refused_in_our_words_whatever_the_framework_says():
    async def framework(scope, receive, send):
        try:
            while True:
                await receive()
        except Exception:
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"There was an error parsing the body"})

    sent, _ = asked(framework, method="POST", body=[b"x" * 1_500_000] * 2)
    assert sent[0]["status"] == 413
    assert b"longer than the 2,000,000 bytes" in sent[1]["body"]
    assert len(sent) == 2


def test_a_browser_led_here_by_a_file_goes_on_from_a_page_of_ours():
    query = f"token={SETTINGS.token}".encode()
    (start, body), _ = asked(fine, path="/", query=query, site=b"cross-site", cookie="x=y")
    assert start["status"] == 200
    assert b"url=/'" in body["body"]
    assert any(name == b"set-cookie" for name, _ in start["headers"])
    (start, _), _ = asked(fine, path="/", query=query, site=b"none", cookie="x=y")
    assert (start["status"], dict(start["headers"])[b"location"]) == (303, b"/")
