"""A real cluster on loopback: a master and two workers, each a process of its own."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

MEMORY = "4GB"


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
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("spark"))  # one cluster, whoever runs the tests
            if missing():
                item.add_marker(pytest.mark.skip(reason=missing()))


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Cluster:
    """The processes of a standalone cluster."""

    def __init__(self, folder):
        self.folder, self.port, self.running = folder, free_port(), []
        self.master = f"spark://127.0.0.1:{self.port}"
        home = Path(importlib.util.find_spec("pyspark").origin).parent
        self.command = str(home / "bin" / "spark-class")
        self.environment = os.environ | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_WORKER_DIR": str(folder),
            "SPARK_CONF_DIR": str(folder),
            "PYSPARK_PYTHON": sys.executable,
        }
        (folder / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 2\nspark.python.worker.reuse true\n")

    def start(self):
        self._run("master.Master", "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        self._wait(self._answers)
        self.add_worker()
        self.add_worker()

    def _answers(self):
        with socket.socket() as found:
            return not found.connect_ex(("127.0.0.1", self.port))

    def add_worker(self):
        return self._run("worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", self.master)

    def _run(self, daemon, *options):
        log = open(self.folder / f"{len(self.running)}.log", "w")  # noqa: SIM115 (closed with the process)
        process = subprocess.Popen(
            [self.command, f"org.apache.spark.deploy.{daemon}", *options],
            env=self.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        self.running.append(process)
        return process

    def kill(self, process):
        """Kill a daemon and its executors at once, as a machine that is lost."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self):
        for process in self.running:
            if process.poll() is None:
                self.kill(process)

    @staticmethod
    def _wait(ready):
        ends = time.monotonic() + 60
        while not ready():
            assert time.monotonic() < ends, "the cluster did not start"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="session")
def session(cluster):
    """A session on the cluster, started as users start it."""
    from incrowd.table.cluster import start_session
    from incrowd.table.table import memory_in_bytes

    os.environ |= {name: cluster.environment[name] for name in ("SPARK_LOCAL_IP", "SPARK_CONF_DIR", "PYSPARK_PYTHON")}
    started = start_session(cluster.master, memory_in_bytes(MEMORY))
    yield started
    started.stop()
