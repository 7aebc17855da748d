"""A server for the tests, on a port of its own, and browsers and scripts that talk to it.

No client reads certificates (`verify=False`): none of the addresses here has one, and reading them takes 20 ms.
"""

import io
import os
import time
from pathlib import Path

import httpx
import pytest
from tests.web.local_server import TOKEN, serving_here

from incrowd import demo_table


@pytest.fixture(autouse=True, scope="module")
def _quick_estimates(quick_estimates):
    """The app's own work is tested here, not how exact an estimate is."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder whose tables may be opened by path."""
    place = tmp_path_factory.mktemp("open") / "data"
    place.mkdir()
    (place / "people.csv").write_text("age,sex,city\n" + "".join(f"{20 + n % 7},{'fm'[n % 2]},A\n" for n in range(40)))
    return place


@pytest.fixture(scope="session")
def app(folder):
    """One app for all tests; sessions keep them apart."""
    with serving_here(
        folders=(folder,),
        max_bytes=3_000_000,
        max_unpacked=5_000_000,
        max_columns=50,
        max_demo_rows=50_000,
    ) as app:
        yield app


@pytest.fixture(scope="session")
def base(app):
    """The address of the server."""
    return f"http://127.0.0.1:{app.state.server.settings.port}"


@pytest.fixture
def script(base, request):
    """A script that has the token, in a session of its own."""
    name = request.node.nodeid[-90:].encode("ascii", "replace").decode()
    headers = {"authorization": f"Bearer {TOKEN}", "x-incrowd-session": name}
    with httpx.Client(base_url=base, headers=headers, timeout=180, verify=False) as client:
        yield client
        client.delete("/api/v1/session")


@pytest.fixture
def new_browser(base):
    """Browsers that came by the printed address."""
    clients = []

    def browser(**headers):
        client = httpx.Client(base_url=base, headers={"origin": base, **headers}, timeout=180, verify=False)
        clients.append(client)
        assert client.get(f"/?token={TOKEN}").status_code == 303
        return client

    yield browser
    for client in clients:
        client.delete("/api/v1/session")
        client.close()


@pytest.fixture
def wait_for(app):
    """Waits for a job to be over: in this process, for asking again and again takes longer than most jobs."""
    jobs = app.state.server.jobs._jobs

    def wait(client, job, seconds=300):
        end, work = time.monotonic() + seconds, jobs[job["id"]]
        while not work.finished and time.monotonic() < end:
            time.sleep(0.005)
        found = client.get(f"/api/v1/jobs/{job['id']}").json()
        assert found["state"] in ("done", "failed", "cancelled"), f"not over after {seconds} s: {found}"
        return found

    return wait


@pytest.fixture(scope="session")
def demo_file():
    """1,000 invented stays as a Parquet file: inventing them anew for every test takes longer than the tests."""
    import pyarrow.parquet

    written = io.BytesIO()
    pyarrow.parquet.write_table(demo_table(1_000), written)
    return written.getvalue()


@pytest.fixture
def demo(demo_file):
    """Opens the demo table."""

    def opened(client):
        answer = client.post("/api/v1/tables", files={"file": ("demo.parquet", demo_file)})
        assert answer.status_code == 201, answer.text
        return answer.json()

    return opened


@pytest.fixture
def opened(browser, base):
    """A function that opens the app in a browser of its own; at the end nothing has gone wrong there."""
    contexts, troubles = [], []

    def watch(request):
        if not request.url.startswith((base, "data:", "blob:")):
            troubles.append(f"asked for {request.url}")

    def complain(message):
        expected = "Failed to load resource" in message.text and refusals
        if message.type in ("error", "warning") and not expected:
            troubles.append(message.text)

    refusals = []

    def open_page(*, may_be_refused=False, **options):
        refusals[:] = [True] if may_be_refused else []
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(int(os.environ.get("INCROWD_PATIENCE", "60000")))
        contexts.append(context)
        page = context.new_page()
        page.on("request", watch)
        page.on("console", complain)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(f"{base}/?token={TOKEN}")
        assert page.url == f"{base}/"
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            page.close()  # first: what a page asks after its session ended would be refused
        context.request.delete(f"{base}/api/v1/session", headers={"origin": base})
        context.close()
    assert troubles == []


@pytest.fixture
def hold(app, monkeypatch):
    """A function that holds the next job of a kind half-way, until it is cancelled: it cannot be over before that.

    An assessment is held once its first part is there, other work when it first says how far it is.
    """
    jobs, kinds = app.state.server.jobs, set()
    add = jobs.add

    def held(job):
        if job.kind in kinds:
            kinds.discard(job.kind)
            job.task = _held(job, job.task)
        return add(job)

    monkeypatch.setattr(jobs, "add", held)
    return kinds.add


def _held(job, task):
    """The task of a job, which waits for `job.stop` half-way."""

    def work(progress, publish):
        def report(stage, share):
            progress(stage, share)
            if job.kind != "assessment" or job.outcome is not None:
                assert job.stop.wait(60), "nobody cancelled it"
                progress(stage, share)  # raises

        return task(report, publish)

    return work


@pytest.fixture(scope="session")
def shots():
    """Where pictures and times are kept for those who look."""
    folder = Path(__file__).parents[2] / "out" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def shoot(shots):
    """A function that keeps a picture of a page, where INCROWD_SHOTS is set: no test asserts anything of them."""

    def keep(page, name, **options):
        if "INCROWD_SHOTS" in os.environ:
            page.screenshot(path=shots / name, **options)

    return keep
