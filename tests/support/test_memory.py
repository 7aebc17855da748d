"""Memory limits: as users write them, and as machines and containers have them."""

import errno
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import run

from incrowd import assess, attack, measure, population_risk, protect, read_table
from incrowd._support import memory
from incrowd._support.memory import container_memory, default_memory, memory_in_bytes
from incrowd.assessment.api import judge_release
from incrowd.assessment.question import Question
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures.auxiliary import find_refinements
from incrowd.tables import suggest_roles

NO_LIMIT_IN_VERSION_1 = 9223372036854771712


def container(folder, lines, limits):
    """The files that a kernel shows of control groups: which ones a process is in, and their limits."""
    mount = folder / "mount"
    for place, text in limits.items():
        (mount / place).parent.mkdir(parents=True, exist_ok=True)
        (mount / place).write_text(text)
    (folder / "cgroup").write_text(lines)
    return {"membership": folder / "cgroup", "mount": mount}


@pytest.mark.parametrize(
    ("lines", "limits", "expected"),
    [
        ("0::/\n", {"memory.max": "2147483648\n"}, 2**31),
        ("0::/\n", {"memory.max": "max\n"}, None),
        ("0::/jobs/one\n", {"jobs/one/memory.max": "max\n", "jobs/memory.max": "1000\n"}, 1000),
        ("0::/jobs/one\n", {"jobs/one/memory.max": "700\n", "jobs/memory.max": "1000\n"}, 700),
        ("4:memory:/docker/x\n3:cpu:/docker/x\n", {"memory/memory.limit_in_bytes": "5000\n"}, 5000),
        ("4:memory:/job\n0::/\n", {"memory/job/memory.limit_in_bytes": "9\n", "memory.max": "8\n"}, 8),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": f"{NO_LIMIT_IN_VERSION_1}\n"}, NO_LIMIT_IN_VERSION_1),
        ("3:cpu:/\n", {}, None),
        ("nonsense", {}, None),
    ],
)
def test_the_smallest_limit_of_all_control_groups_counts(tmp_path, lines, limits, expected):
    assert container_memory(**container(tmp_path, lines, limits)) == expected


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert container_memory(tmp_path / "nothing", tmp_path) is None


@pytest.mark.parametrize(
    ("limit", "default"),
    [
        (None, 75 * 10**9),
        (NO_LIMIT_IN_VERSION_1, 75 * 10**9),
        (4 * 10**9, 3 * 10**9),
        (10**9, 680_000_000),  # what libraries and buffers take must fit, too
        (2 * 10**8, 50_000_000),
    ],
)
def test_the_default_is_three_quarters_of_what_there_is(monkeypatch, limit, default):
    monkeypatch.setattr(memory, "container_memory", lambda: limit)
    monkeypatch.setattr(memory, "_physical_memory", lambda: 100 * 10**9)
    default_memory.cache_clear()
    assert memory_in_bytes(None) == default
    assert memory.is_limited_by_container() == (default < 75 * 10**9)
    default_memory.cache_clear()


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("2GB", 2 * 10**9), ("1.5 gib", 3 * 2**29), ("500M", 5 * 10**8), (60_000_000, 60_000_000), ("1TB", 10**12)],
)
def test_limits_as_users_write_them(limit, expected):
    assert memory_in_bytes(limit) == expected


@pytest.mark.parametrize(
    "limit", ["much", "2 apples", "1.2.3GB", "49MB", 1, "", "9" * 400 + "GB", "1001TB", 1e300, -1, float("inf")]
)
def test_limits_that_are_none_are_refused(limit):
    with pytest.raises(InputError, match=r"is not understood|too small|more than 1,000 TB"):
        memory_in_bytes(limit)


def test_work_that_does_not_fit_says_what_it_takes_and_stops(tmp_path):
    rows = 1_000_000
    table = pa.table({"age": np.arange(rows) % 90, "sex": np.arange(rows) % 2})
    pq.write_table(table, tmp_path / "people.parquet")
    little = read_table(tmp_path / "people.parquet", memory="50MB")
    with pytest.raises(UnsupportedError, match="protecting 1,000,000 records of 2 columns takes about 108 MB") as told:
        protect(little, quasi_identifiers=["age", "sex"], k=5)
    assert told.value.hint == ("memory",)
    with pytest.raises(UnsupportedError, match="takes about 128 MB, more than the memory limit of 50 MB"):
        population_risk(little, population=10**7, quasi_identifiers=["age", "sex"])
    with pytest.raises(UnsupportedError, match="attacking tables of 2,000,000 records by 2 columns takes about 320 MB"):
        attack(little, little, kind="linkage", known=["age", "sex"])
    assert measure(little, quasi_identifiers=["age", "sex"]).classes == 90  # counts are made on the disk


def held_after_freeing(before_it):
    """How much more memory a process holds after it has freed what it made, and Arrow's pool."""
    code = f"""
import numpy as np, psutil
{before_it}
me = psutil.Process()
start = me.memory_info().rss
np.ones(3_000_000)[:1].copy()  # from here on the C library puts arrays of up to that size into its heap
arrays = [np.ones(250_000) for _ in range(30)]
kept = arrays[::3]
del arrays
import pyarrow as pa
print(me.memory_info().rss - start, pa.default_memory_pool().backend_name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    held, pool = done.stdout.split()
    return int(held), pool


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are the system's")
@pytest.mark.parametrize("megabytes", [100, 150, 200, 300, 350, 400, 500, 800])
def test_a_library_that_finds_no_address_space_is_told_as_memory(tmp_path, megabytes):
    done = limited_to(megabytes, tmp_path, "measure", "people.csv", "--qi", "age")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: out of memory; ")
    assert "(ulimit -v)" in done.stderr
    assert "--memory" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are the system's")
def test_a_process_that_may_reserve_little_reserves_little(tmp_path):
    done = limited_to(1_000, tmp_path, "measure", "people.csv", "--qi", "age", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert limited_to(200, tmp_path, "measure", "--help").returncode == 0  # loads no library that reserves


@pytest.mark.parametrize(
    ("limit", "cores", "is_little"),
    [(2 * 10**9, 2, True), (24 * 10**9, 2, False), (24 * 10**9, 128, True), (64 * 10**9, 128, False), (None, 2, False)],
)
def test_only_a_limit_that_is_small_for_the_cores_makes_libraries_reserve_little(monkeypatch, limit, cores, is_little):
    environment, asked = {}, []
    monkeypatch.setattr(memory, "_address_space", lambda: limit)
    monkeypatch.setattr(memory.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(memory.os, "environ", environment)
    monkeypatch.setattr(memory, "_set_malloc_options", lambda: asked.append(True))
    memory.prepare_address_space()
    assert environment == (memory.NO_RESERVE if is_little else {})
    assert asked == [True] * is_little


def limited_to(megabytes, folder, *words):
    """The end of a command in a process whose address space is limited."""
    (folder / "people.csv").write_text("age,sex\n30,f\n30,f\n41,m\n")
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2)\n"
        f"from incrowd.cli import main; main({[*words]!r})"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)


def test_without_a_limit_the_same_words_are_no_lack_of_memory(monkeypatch):
    broken = ImportError("libarrow.so: failed to map segment from shared object")
    assert not memory.is_out_of_memory(broken)
    monkeypatch.setattr(memory, "_address_space", lambda: 10**9)
    assert memory.is_out_of_memory(broken)
    assert not memory.is_out_of_memory(ValueError("a number"))
    assert memory.is_out_of_memory(OSError(errno.ENOMEM, "no memory"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other allocators")
def test_freed_memory_goes_back_where_there_is_a_limit():
    assert held_after_freeing("import pyarrow")[0] > 50_000_000  # of 60 million bytes, of which 20 are in use
    held, pool = held_after_freeing("from incrowd._support.memory import return_freed_memory\nreturn_freed_memory()")
    assert (held < 30_000_000, pool) == (True, "system")


@pytest.mark.parametrize(
    ("options", "in_container", "is_asked"),
    [([], False, False), (["--memory", "60MB"], False, True), ([], True, True)],
)
def test_a_command_with_a_limit_holds_no_reserve(monkeypatch, capsys, tmp_path, options, in_container, is_asked):
    file = tmp_path / "people.csv"
    file.write_text("age\n30\n31\n30\n")
    asked = []
    monkeypatch.setattr("incrowd.cli.open_tables.is_limited_by_container", lambda: in_container)
    monkeypatch.setattr("incrowd.cli.open_tables.return_freed_memory", lambda: asked.append(True))
    assert run(capsys, "measure", file, "--qi", "age", *options)[0] == 0
    assert asked == [True] * is_asked


def test_numbers_that_take_more_memory_than_there_is_to_be_looked_at_are_refused():
    many = np.random.default_rng(3).random(1_300_000)
    table = read_table({"age": np.arange(many.size) % 90, "income": many}, memory="50MB")
    assert suggest_roles(table, ["age"])
    with pytest.raises(UnsupportedError, match="looking at the numbers of column income takes about 52 MB"):
        suggest_roles(table)


def test_kept_columns_that_cannot_be_compared_within_the_limit_are_refused(monkeypatch):
    table = read_table({"age": [30, 31] * 500, "born": [1990, 1989] * 500})
    monkeypatch.setattr("incrowd.measures.auxiliary.BUFFERS", 0)
    monkeypatch.setattr(table.backend, "memory", 15_999)
    with pytest.raises(UnsupportedError, match="comparing 2 columns of 1,000 records takes about"):
        find_refinements(table, ["age"], ["born"])
    monkeypatch.setattr(table.backend, "memory", 20_000)
    assert find_refinements(table, ["age"], ["born"]) == ()


def test_no_decision_is_made_of_rows_that_do_not_fit(monkeypatch):
    table = {"age": [30, 31, 40, 41] * 30, "pay": [1, 2, 3, 4] * 30}
    named = {"quasi_identifiers": ["age"], "other": ["pay"], "rows_are_people": True}
    assert assess(table, **named, protection=False).passed
    monkeypatch.setattr("incrowd.measures.auxiliary.BUFFERS", -(10**18))
    for verdict in (
        assess(table, **named, protection=False).verdict,
        judge_release(read_table(table), Question(**named)),
    ):
        assert verdict.decision == "undecided"
        assert any("comparing 2 columns of 120 records takes about" in str(one) for one in verdict.unanswered)
