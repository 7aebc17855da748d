"""`incrowd serve` as a user starts it: the address, the answer, the end, and what is said when it cannot start."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from incrowd.cli.app import main
from incrowd.web.serving import listening
from incrowd.web.uploads import Store


@contextmanager
def serving(place, *words, **environment):
    """`incrowd serve` in a process of its own, whose temporary files lie in `place`, and the address it prints."""
    command = [sys.executable, "-m", "incrowd.cli", "serve", "--port", "0", *words]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place,
        env={**os.environ, "TMPDIR": str(place), **environment},
    )
    try:
        line = process.stdout.readline()
        yield process, re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def people(rows):
    return "age,sex,city\n" + "".join(f"{n % 90},{'fm'[n % 2]},{n % 977}\n" for n in range(rows))


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_it_answers_and_leaves_nothing_however_it_is_stopped_in_the_middle_of_work(tmp_path, how):
    with serving(tmp_path) as (process, address):
        start = address.split("?")[0]
        with httpx.Client(timeout=240, transport=httpx.HTTPTransport(verify=False, retries=20)) as client:
            assert client.get(address).status_code == 303
            assert client.get(start).status_code == 200
            origin = {"origin": address.split("/?")[0]}
            tables = start + "api/v1/tables"
            table = client.post(tables, files={"file": ("a.csv", people(4_000))}, headers=origin)
            assert table.status_code == 201
            job = client.post(f"{tables}/{table.json()['id']}/assessments", headers=origin)
            assert job.status_code == 202
            assert client.get(f"{start}api/v1/jobs/{job.json()['id']}").json()["state"] in ("waiting", "running")
        assert list(tmp_path.glob("incrowd-web-*/*/data.csv"))
        process.send_signal(getattr(signal, how))
        said, errors = process.communicate(timeout=240)
    assert not list(tmp_path.glob("incrowd-*"))
    assert address.split("=")[1] not in said + errors
    assert "a.csv" not in said + errors
    assert "Traceback" not in errors


def test_what_a_killed_server_left_goes_when_the_next_one_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "incrowd-web-0123456789abcdef"
    left.mkdir()
    (left / ".incrowd-lock").touch()
    (left / "data.csv").write_text("age\n30\n")
    other = tmp_path / "incrowd-web-fedcba9876543210"  # just being made
    other.mkdir()
    first = Store()
    assert not left.exists()
    assert other.exists()
    second = Store()
    assert first.folder.exists()  # that server still runs
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == [other]


def test_the_token_is_not_among_the_words_the_browser_is_started_with(tmp_path):
    script = tmp_path / "browser.sh"
    script.write_text(
        f'#!/bin/sh\nprintf %s "$1" > "{tmp_path}/said.part"\nmv "{tmp_path}/said.part" "{tmp_path}/said"\n'
    )
    script.chmod(0o700)
    with serving(tmp_path, "--open", BROWSER=f"{script} %s") as (_, address):
        end = time.monotonic() + 180
        while not (tmp_path / "said").exists() and time.monotonic() < end:
            time.sleep(0.05)
        opened = (tmp_path / "said").read_text()
        assert address.split("=")[1] not in opened
        page = Path(opened.removeprefix("file://"))
        assert address in page.read_text()
        assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_answers_are_sent_at_once():
    async def delays():
        async def accept(reader, writer):
            found.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        found = []
        with listening("127.0.0.1", 0) as bound:
            async with await asyncio.start_server(accept, sock=bound):
                reader, writer = await asyncio.open_connection(*bound.getsockname())
                await reader.read()
                writer.close()
        return found

    (no_delay,) = asyncio.run(delays())
    assert no_delay  # or the second part of an answer waits 0.04 seconds for the receipt of the first


def test_a_port_in_use_is_said(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as end:
        main(["serve", "--port", str(taken.getsockname()[1])])
    assert end.value.code == 2
    assert "choose another with --port" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_said(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["serve", "--port", "0", "--folder", str(tmp_path / "nowhere")])
    assert end.value.code == 2
    assert "is not a folder" in capsys.readouterr().err


def test_a_missing_extra_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SystemExit) as end:
        main(["serve", "--port", "0"])
    assert end.value.code == 2
    assert "pip install 'incrowd[web]'" in capsys.readouterr().err


def test_the_command_starts_no_heavier_for_it():
    code = "import sys, incrowd.cli.app; print([n for n in ('fastapi', 'uvicorn', 'pydantic') if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
