"""The app, served by a thread of the tests' own process."""

import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")

from incrowd.web.app import create_app  # noqa: E402
from incrowd.web.server_settings import ServerSettings  # noqa: E402
from incrowd.web.serving import configuration, listening  # noqa: E402

TOKEN = "a-token-for-tests-only"


@contextmanager
def serving_here(**settings):
    """An app with these settings, on a port of its own; what it kept is gone at the end."""
    with listening("127.0.0.1", 0) as socket:
        app = create_app(ServerSettings(port=socket.getsockname()[1], token=TOKEN, **settings))
        server = uvicorn.Server(configuration(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
        thread.start()
        end = time.monotonic() + 120
        while not server.started:
            assert thread.is_alive(), "the server ended before it had started"
            assert time.monotonic() < end, "the server has not started in two minutes"
            time.sleep(0.01)
        yield app
        server.should_exit = True
        thread.join(120)
    assert not app.state.server.store.scratch.exists()
