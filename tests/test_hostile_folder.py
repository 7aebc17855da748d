"""Every verb in a folder that somebody else filled: nothing beside the data is opened, imported or obeyed."""

import ctypes
import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import textwrap
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="opened files are watched by inotify")

ROWS = 60
TABLE = {
    "age": [20 + row % 7 for row in range(ROWS)],
    "sex": ["fm"[row % 2] for row in range(ROWS)],
    "pay": [1000 + row % 5 for row in range(ROWS)],
}
CLOSED_PORT = "postgresql://127.0.0.1:9/x"
SETTINGS = {
    ".numba_config.yaml": "cache_dir: ./evil\ndisable_jit: 1\n",
    "incrowd.toml": f'[answers]\nage = "neither"\n[question]\noriginal = "{CLOSED_PORT}"\nrecipient = "restricted"\n',
    "question.toml": '[answers]\nsex = "known"\n',
    "pyproject.toml": '[tool.incrowd]\nrecipient = "restricted"\n',
    "people.csv.incrowd": None,
    ".env": "PGHOST=127.0.0.1\nNUMBA_DISABLE_JIT=1\n",
    "matplotlibrc": "backend: module://evil\n",
    ".duckdbrc": ".shell touch ran\n",
    "duckdbrc": ".shell touch ran\n",
    "spark-defaults.conf": "spark.driver.extraJavaOptions -Devil\n",
    "hive-site.xml": "<configuration/>",
    "log4j2.properties": "status = trace\n",
    ".pgpass": "*:*:*:*:hunter2\n",
    "pg_service.conf": "[x]\nhost=127.0.0.1\n",
    ".pg_service.conf": "[x]\nhost=127.0.0.1\n",
    "odbc.ini": "[x]\n",
    "fonts.conf": "<fontconfig/>",
    "openssl.cnf": "openssl_conf = evil\n",
    "numpy.pth": "import evil\n",
    "pyvenv.cfg": "home = .\n",
    "setup.cfg": "[tool:pytest]\n",
    "conftest.py": None,
    "tox.ini": "[pytest]\n",
    ".netrc": "default login x password hunter2\n",
    "pip.conf": "[global]\n",
    "litellm.json": "{}",
}
LIBRARIES = ("libpq.so.5", "libarrow.so", "libsqlite3.so.0", "libtbb.so.12", "libgomp.so.1", "libc.so.6", "libm.so")
MODULES = """
    altair yaml numpy pandas polars pyarrow duckdb numba llvmlite scipy typer click rich shellingham pygments psutil
    narwhals jinja2 markupsafe jsonschema attrs referencing rpds orjson vl_convert python_calamine tomli_w fastapi
    uvicorn uvloop httptools pydantic starlette anyio h11 multipart fastavro pyreadstat rdata adbc_driver_sqlite
    adbc_driver_postgresql adbc_driver_manager pyspark IPython colorama readline sitecustomize usercustomize tbb
    ast json csv sqlite3 secrets tempfile subprocess tomllib zipfile gzip html hashlib random statistics socket ssl
    email urllib http logging asyncio multiprocessing ctypes decimal fractions difflib webbrowser unicodedata evil
"""
WATCH = """
import os, sys

def watch(event, details):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        address = details[1] if len(details) > 1 and isinstance(details[1], tuple) else details
        if not (event == "socket.bind" and address[0] == "127.0.0.1"):
            note(f"{event} {details!r}")
    if event == "import" and details[1] and str(details[1]).startswith(os.environ["HOSTILE"]):
        note(f"imported {details[1]}")

def note(line):
    log = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(log, f"{os.getpid()} {line}\\n".encode())
    os.close(log)

note("watched")
sys.addaudithook(watch)
"""
RUN = """
import json, os, sys
from incrowd.cli import main

for words in json.load(sys.stdin):
    ended = 0
    try:
        main(words)
    except SystemExit as end:
        ended = end.code or 0
    print("ENDED", ended, words[0], flush=True)
"""
QI = ["--qi", "age,sex"]
VERBS = [
    ["assess", "people.csv", *QI, "--other", "pay", "--json"],
    ["assess", "people.csv", *QI, "--no-protection", "--html", "out.html"],
    ["judge", "people.csv", *QI, "--other", "pay", "--question", "judged.toml"],
    ["profile", "people.csv"],
    ["measure", "people.csv", *QI, "--sensitive", "pay"],
    ["check", "people.csv", *QI, "--min-k", "2", "--recipient", "restricted"],
    ["protect", "people.csv", *QI, "--k", "3", "--out", "out.csv"],
    ["compare", "people.csv", "out.csv", *QI],
    ["evaluate", "people.csv", "out.csv", *QI],
    ["regenerate", "masked.csv", "--counts", "counts.csv", "--out", "filled.csv"],
    ["frontier", "people.csv", *QI, "--k", "3", "--method", "partition"],
    ["attack", "people.csv", "out.csv", "--known", "age,sex"],
    ["split", "people.csv", "--out", "part.csv", "--holdout", "kept.csv"],
    ["synthesise", "people.csv", "--out", "made.csv"],
    ["population", "people.csv", *QI, "--population", "400"],
    ["curve", "people.csv", *QI, "--out", "curve.csv"],
    ["forecast", "people.csv", *QI, "--at", "100000"],
    ["demo-data", "--rows", "200", "--out", "demo.parquet"],
    ["leak", "people.csv", *QI, "--leaked", "5", "--plot", "out.svg"],
    *(
        ["measure", name, *QI, "--memory", "100MB"]
        for name in ("p.parquet", "p.feather", "p.orc", "p.xlsx", "p.sqlite")
    ),
]


class Opened:
    """The names of files of one folder that any process opens, by the system's own account."""

    OPEN = 0x20

    def __init__(self, folder):
        self.library = ctypes.CDLL(None)
        self.queue = self.library.inotify_init1(os.O_NONBLOCK)
        assert self.library.inotify_add_watch(self.queue, os.fsencode(folder), self.OPEN) >= 0

    def names(self):
        found = set()
        while True:
            try:
                data = os.read(self.queue, 1 << 16)
            except BlockingIOError:
                return found - {""}  # the folder itself
            while data:
                _, kind, _, length = struct.unpack_from("iIII", data)
                assert not kind & 0x4000, "events were lost"
                found.add(data[16 : 16 + length].rstrip(b"\0").decode())
                data = data[16 + length :]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    table = pa.table(TABLE)
    pq.write_table(table, folder / "p.parquet")
    pyarrow.feather.write_feather(table, folder / "p.feather")
    pyarrow.orc.write_table(table, folder / "p.orc")
    table.to_pandas().to_excel(folder / "p.xlsx", index=False)
    with sqlite3.connect(folder / "p.sqlite") as connection:
        table.to_pandas().to_sql("people", connection, index=False)
    connection.close()
    table.to_pandas().to_csv(folder / "people.csv", index=False)
    (folder / "masked.csv").write_text("age,sex\n*,f\n*,m\n30,f\n")
    (folder / "counts.csv").write_text("column,value,count\nage,30,1\nage,40,1\n")
    data = {path.name for path in folder.iterdir()}
    for name, text in SETTINGS.items():
        if text is not None:
            (folder / name).write_text(text)
    ran = f"import os; open({str(folder / 'ran')!r}, 'a').write(__name__)\n"
    for name in MODULES.split():
        (folder / f"{name}.py").write_text(ran)
    for name in LIBRARIES:
        (folder / name).write_bytes(b"\x7fELF")
    for name in ("evil", "conf", "META-INF", ".config", "fonts", "encodings"):
        (folder / name).mkdir()
    return folder, data


def environment(folder, tmp_path):
    """The user's own environment, with a module of theirs that watches every Python process."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "SPARK"))}
    own = {"PYTHONPATH": str(tmp_path / "watch"), "HOSTILE": str(folder), "WATCHED": str(tmp_path / "log")}
    return {**kept, **own, "PGPASSWORD": "hunter2", "OPENBLAS_NUM_THREADS": "1"}


def check_watched(folder, opened, tmp_path, allowed, processes=1):
    """Only the data and what was written was opened, and no process did what is forbidden."""
    log = (tmp_path / "log").read_text().splitlines()
    assert [line for line in log if not line.endswith(" watched")] == []
    assert len({line.split()[0] for line in log}) >= processes
    drafts = {name for name in opened if name.startswith((".incrowd-draft-", "#"))}  # the latter have no name yet
    assert opened - drafts <= allowed
    assert not (folder / "ran").exists()


def test_every_verb_leaves_what_lies_beside_the_data_closed(hostile, tmp_path):
    from incrowd.cli.app import _VERBS

    assert {words[0] for words in VERBS} | {"serve"} == {*_VERBS}
    folder, data = hostile
    before = {path.name for path in folder.iterdir()}
    watched = Opened(folder)
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(RUN)],
        input=json.dumps(VERBS),
        cwd=folder,
        env=environment(folder, tmp_path),
        capture_output=True,
        text=True,
    )
    ended = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("ENDED")]
    assert [verb for code, verb in ended if code not in "01"] == [], done.stderr
    assert len(ended) == len(VERBS)
    written = {path.name for path in folder.iterdir()} - before
    assert written <= {word for words in VERBS for word in words} | {"out.csv.incrowd", "made.csv.incrowd"}
    check_watched(folder, watched.names(), tmp_path, data | written, processes=3)  # also those that read files
    for name in written:
        (folder / name).unlink()


@pytest.mark.parametrize(
    ("start", "words", "processes"),
    [(["-m", "incrowd"], ["measure", "p.xlsx", *QI], 2), (["-mincrowd"], ["--version"], 1)],
)
def test_the_module_imports_nothing_from_the_folder_it_is_started_in(hostile, tmp_path, start, words, processes):
    folder, data = hostile
    watched = Opened(folder)
    done = subprocess.run(
        [sys.executable, *start, *words], cwd=folder, env=environment(folder, tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    check_watched(folder, watched.names(), tmp_path, data, processes)


def test_a_package_that_uses_this_one_keeps_its_folder(tmp_path):
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__init__.py").write_text("import incrowd")
    (tmp_path / "tool" / "__main__.py").write_text("import beside")
    (tmp_path / "beside.py").write_text("print('mine')")
    done = subprocess.run([sys.executable, "-m", "tool", "incrowd"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "mine\n", done.stderr


def test_the_app_opens_the_table_alone(hostile, tmp_path):
    pytest.importorskip("fastapi")
    folder, data = hostile
    watched = Opened(folder)
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", "incrowd", "serve", "--port", "0"],
        cwd=folder,
        env=environment(folder, tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        address = started.stdout.readline().split()[-1]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), urllib.request.ProxyHandler({}))
        assert opener.open(address).status == 200
        started.send_signal(signal.SIGTERM)
    check_watched(folder, watched.names(), tmp_path, data)


def test_a_database_inside_the_process_opens_the_named_files_alone(tmp_path):
    import duckdb

    from incrowd import read_table

    pq.write_table(pa.table(TABLE), tmp_path / "it's [odd] *.parquet")
    pq.write_table(pa.table(TABLE), tmp_path / "it's o *.parquet")
    table = read_table(tmp_path / "it's [[]odd[]] [*].parquet")
    assert table.backend.lazy(["age"]).select("c0").collect("pyarrow").shape == (ROWS, 1)
    connection = table.backend.connection()
    outside = Path(__file__)
    for statement in (
        f"SELECT * FROM read_csv('{outside}')",
        f"COPY (SELECT 1) TO '{outside.parent}/copied'",
        "SET enable_external_access = true",
        "SET autoinstall_known_extensions = true",
        "ATTACH 'other.duckdb'",
        "LOAD httpfs",
    ):
        with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException, duckdb.IOException)):
            connection.execute(statement)
