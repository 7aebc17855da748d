"""A PostgreSQL server of the tests' own: a private port and folder, gone at the end."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from tests.backends.databases import PASSWORD

from incrowd import demo_table


@dataclass
class Server:
    """Where the server is and how the tests get in."""

    port: int
    folder: Path
    restart: Callable[[], None]

    def address(self, user="owner", password=None, database="postgres"):
        secret = "" if password is None else f":{password}"
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements, user="owner"):
        """Run statements, each by itself."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address(user), autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def load(self, name, table):
        """A table with these rows, in place of one of that name."""
        from adbc_driver_postgresql import dbapi

        self.run(f'DROP TABLE IF EXISTS "{name}"')
        with dbapi.connect(self.address()) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, table)
            connection.commit()


def _programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    found += [Path(program) for program in [shutil.which("postgres")] if program]
    return found[-1].parent if found else None


def _as_somebody():
    """PostgreSQL will not run as root; whoever else we are is fine."""
    if os.getuid():
        return []
    user = next(user for user in pwd.getpwall() if user.pw_name in {"postgres", "nobody"})
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _started(folder, start, attempts=5):
    """Start a server on a free port; on another one where somebody took it in the meantime."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=20"
    try:
        start(("-o", words, "-l", folder / "log"))
    except subprocess.CalledProcessError:
        if attempts == 1:
            raise
        return _started(folder, start, attempts - 1)
    return port


@pytest.fixture(scope="session")
def postgres():
    pytest.importorskip("adbc_driver_postgresql", reason="the database extra is not installed")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="incrowd-postgres-"))
    somebody = _as_somebody()
    if somebody:
        os.chown(folder, int(somebody[1].partition("=")[2]), -1)
    data = folder / "data"

    def run(program, *arguments):
        command = [*somebody, programs / program, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=300)

    try:
        run("initdb", "-D", data, "-U", "owner", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        rules = data / "pg_hba.conf"
        rules.write_text("host all reader 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
        port = _started(folder, lambda options: run("pg_ctl", "-D", data, *options, "-w", "-t", "240", "start"))
        try:
            again = ("pg_ctl", "-D", data, "-l", folder / "log", "-m", "fast", "-w", "-t", "240", "restart")
            server = Server(port, folder, lambda: run(*again))
            server.run(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
            yield server
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def demo(postgres):
    """The demo table, which the server has as `patients`."""
    table = demo_table(3_000)
    postgres.load("patients", table.set_column(10, "diag_p", table["diag_p"].cast(pa.string())))
    return table
