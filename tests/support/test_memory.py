"""Memory limits: as users write them, and as machines and containers have them."""

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd import attack, measure, population_risk, protect, read_table
from incrowd._support import memory
from incrowd._support.memory import container_memory, default_memory, memory_in_bytes
from incrowd.errors import InputError, UnsupportedError

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


@pytest.mark.parametrize(("limit", "part"), [(None, 1.0), (10**9, None), (NO_LIMIT_IN_VERSION_1, 1.0)])
def test_the_default_is_three_quarters_of_what_there_is(monkeypatch, limit, part):
    monkeypatch.setattr(memory, "container_memory", lambda: limit)
    there_is = psutil.virtual_memory().total if part else limit
    default_memory.cache_clear()
    assert memory_in_bytes(None) == int(there_is * 0.75)
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
