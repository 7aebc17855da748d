"""A real cluster on loopback: a master and two workers, each a process of its own."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from benchmarks.standalone import Cluster

from incrowd.backends.spark.session import start_session
from incrowd.errors import InputError

MEMORY = 4 * 10**9
JAVA = (  # quick to start: nothing here runs long enough to be optimised
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
SETTINGS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",  # small jobs gain nothing from being planned again
    "spark.sql.codegen.wholeStage": "false",  # nor from Java that is written and compiled for each of them
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.locality.wait": "0s",
    "spark.shuffle.io.maxRetries": "1",  # a worker that is lost is not asked again
    "spark.shuffle.io.retryWait": "100ms",
    "spark.task.maxFailures": "2",
    "spark.hadoop.ipc.client.connect.max.retries": "0",
}


def missing():
    """What keeps the tests from running, or None."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    if shutil.which("java") is None:
        return "Java is not installed"
    return None


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and missing():
            item.add_marker(pytest.mark.skip(reason=missing()))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A master that runs; `session` gives it its workers."""
    found = Cluster(tmp_path_factory.mktemp("cluster"), settings=SETTINGS, java=JAVA)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SPARK_LOCAL_IP", "SPARK_CONF_DIR", "SPARK_LAUNCHER_OPTS", "PYSPARK_PYTHON"):
            patch.setenv(name, found.environment[name])  # and put back at the end
        found.start(workers=0)
        yield found
        found.stop()


@pytest.fixture(scope="session")
def said_at_start(cluster, tmp_path_factory):
    """What was said while a session was started on a master without workers: the error, and all of stderr."""
    path = tmp_path_factory.mktemp("said") / "stderr.txt"
    kept = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            with pytest.raises(InputError) as refused:
                start_session(cluster.master, MEMORY, workers_within=0.5)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
    return str(refused.value), path


@pytest.fixture(scope="session")
def session(cluster, said_at_start):
    """A session on the cluster, started as users start it, but with patience for a machine that does much else."""
    for _ in range(2):
        cluster.add_worker()
    started = start_session(cluster.master, MEMORY, workers_within=300.0)
    yield started
    started.stop()
