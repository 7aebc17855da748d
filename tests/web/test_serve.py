"""`incrowd serve` as a user starts it: the address, the answer, the end, and what is said when it cannot start."""

import os
import re
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from incrowd.cli.app import main


def test_it_prints_an_address_answers_and_cleans_up_when_it_is_stopped(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "incrowd.cli", "serve", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    )
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]
        with httpx.Client(timeout=60, transport=httpx.HTTPTransport(retries=20)) as client:
            assert client.get(address).status_code == 303
            assert client.get(address.split("?")[0]).status_code == 200
            origin = {"origin": address.split("/?")[0]}
            table = client.post(
                address.split("?")[0] + "api/v1/tables", files={"file": ("a.csv", "age\n1\n2\n")}, headers=origin
            )
            assert table.status_code == 201
        assert list(tmp_path.glob("incrowd-web-*/*/data.csv"))
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert not list(tmp_path.glob("incrowd-web-*"))
    token = address.split("=")[1]
    assert token not in said + errors
    assert "a.csv" not in said + errors
    assert "Traceback" not in errors


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
