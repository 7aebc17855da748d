"""What tests share: where real data is, if anywhere, and a browser."""

import gc
import os
import re
import shutil
import sys
from collections import Counter
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pytest
import typer.main
from _pytest.nodeid import coerce_node_id
from hypothesis import settings
from tests.growths import all_growths, few_growths

from incrowd import demo

# every run draws the same examples, so that what passed once passes always; `make fuzz` looks at new ones
_IS_SEARCH = not {"INCROWD_CALLS", "INCROWD_TABLES"}.isdisjoint(os.environ)
settings.register_profile("incrowd", deadline=None, max_examples=60, derandomize=not _IS_SEARCH)
settings.load_profile("incrowd")
typer.main.get_command = cache(typer.main.get_command)  # made once, not for every command that a test runs
_PATIENCE = 180_000  # milliseconds until what a page is to show counts as missing: on a busy machine all takes longer
_DRAW_BLOCK = demo._draw_block


@lru_cache(maxsize=2)
def _kept_block(seed, number):
    return _DRAW_BLOCK(demo._draw_map(), np.random.default_rng([seed, number]))


def _draw_once(land, generator):
    """A small demo table is the head of 500,000 rows: these are drawn once, not for every test that needs a few."""
    return dict(_kept_block(*generator.bit_generator.seed_seq.entropy))


demo._draw_block = _draw_once


def pytest_configure(config):
    """One worker compiles a loop while the others wait for what it keeps: each would take as long by itself."""
    if not hasattr(config, "workerinput") or sys.platform == "win32":
        return
    os.environ.pop("OPENBLAS_NUM_THREADS", None)  # for this process, not for those whose memory and time are measured
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_here, held = Dispatcher.compile, set()

    def compile_once(self, signature):
        source = self.py_func.__code__.co_filename
        with global_compiler_lock:
            if self._cache.cache_path is None or source in held:  # loops that are called by the one in work
                return compile_here(self, signature)
            with open(source, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                held.add(source)
                try:
                    return compile_here(self, signature)
                finally:
                    held.remove(source)
                    fcntl.flock(file, fcntl.LOCK_UN)  # also where a fork has the file open

    Dispatcher.compile = compile_once


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests that share something run in one worker: xdist 3.8 writes groups where pytest 9.2 does not look.

    These are the tests of a file with fixtures of scope "module", and of files that name one group (xdist_group). What
    they share, such as a table, a browser or a server, is made once; groups come first, those of many tests before
    those of few, and single tests fill the gaps at the end.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByFile(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "spark" if file.startswith("tests/spark/") else _group(config.rootpath / file) or nodeid

    return ByFile(config, log)


@cache
def _group(file):
    """The group that a file of tests names; the file itself where it has fixtures of its own for all its tests."""
    text = file.read_text(encoding="utf-8") if file.suffix == ".py" else ""
    named = re.search(r'xdist_group\("(.+?)"\)', text)
    return named[1] if named else str(file) if '@pytest.fixture(scope="module"' in text else None


def pytest_make_parametrize_id(val):
    """Bytes are told by how many they are: two workers may hold other ones, such as the time in a gzip header."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Cycles are not looked for while tests are collected, which takes a third of that time, and seldom later."""
    gc.disable()
    try:
        with _first_import(session.config):
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


@contextmanager
def _first_import(config):
    """One worker imports everything first, and the others what it keeps: in a fresh clone each would compile it all."""
    if not hasattr(config, "workerinput") or sys.platform == "win32":
        yield
        return
    import fcntl

    with open(__file__, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(file, fcntl.LOCK_SH)
            fcntl.flock(file, fcntl.LOCK_UN)  # the others need not wait for each other
        yield


def pytest_collection_modifyitems(items):
    """Tests of one name (schemathesis has one for every operation) get a number: xdist would run the first only."""
    seen = Counter()
    for item in items:
        name = item.nodeid
        if seen[name]:
            item._id = coerce_node_id(f"{name}[{seen[name]}]")
        seen[name] += 1


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real microdata, or a skip where there is none."""
    folder = Path(os.environ.get("INCROWD_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real microdata here; set INCROWD_DATA")
    return folder


@pytest.fixture(scope="session")
def draw_block():
    """For tests of the demo table itself: draws a block anew."""
    return _DRAW_BLOCK


@pytest.fixture(scope="module")
def quick_estimates():
    """For modules that do not test how exact an estimate is."""
    with few_growths():
        yield


@pytest.fixture
def exact_estimates():
    """For a test of how exact an estimate is, in a module of quick ones."""
    with all_growths():
        yield


@pytest.fixture(scope="module")
def no_child_processes():
    """For modules that do not test in which process a file is read: all are read in this one."""
    from tests.tables.call_here import call_here

    from incrowd.tables.formats import limited_reading

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limited_reading, "call_limited", call_here)
        yield


@pytest.fixture(scope="session")
def reading_process():
    """A process that is forked for every file which a child process reads."""
    from tests.tables.forked_reads import reading_process

    with reading_process() as call:
        yield call


@pytest.fixture(scope="module")
def forked_reads(reading_process):
    """For modules that read many files in child processes: these are forks, which take milliseconds to start."""
    from incrowd.tables.formats import limited_reading

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limited_reading, "call_limited", reading_process)
        yield


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, or a skip where there is none; it asks nothing of the network by itself."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=_PATIENCE)
    # the shell draws no window: a page takes a quarter of the processor time that it takes in the whole browser
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next((found for found in map(shutil.which, names) if found), None)
    if path is None:
        pytest.skip("no Chromium here; `make test` installs it where it can")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()
