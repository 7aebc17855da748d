"""A real cluster on loopback: a master and two workers, each a process of its own."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from benchmarks.standalone import Cluster

MEMORY = 4 * 10**9


def missing():
    """What keeps the tests from running, or None."""
    if not os.environ.get("INCROWD_SPARK"):
        return "a cluster takes minutes to test: set INCROWD_SPARK=1 to run these"
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    if shutil.which("java") is None:
        return "Java is not installed"
    return None


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("spark"))  # one cluster, whoever runs the tests
            if missing():
                item.add_marker(pytest.mark.skip(reason=missing()))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"), settings={"spark.sql.shuffle.partitions": "2"})
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SPARK_LOCAL_IP", "SPARK_CONF_DIR", "PYSPARK_PYTHON"):
            patch.setenv(name, found.environment[name])  # and put back at the end
        found.start()
        yield found
        found.stop()


@pytest.fixture(scope="session")
def session(cluster):
    """A session on the cluster, started as users start it, but with patience for a machine that does much else."""
    from incrowd.table import cluster as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORKERS_WITHIN", 300.0)
        started = module.start_session(cluster.master, MEMORY)
    yield started
    started.stop()
