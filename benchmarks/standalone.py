"""A Spark cluster on loopback, a master and workers as processes of their own: for benchmarks and tests."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


class Cluster:
    """The processes of a standalone cluster; `environment` is what a session on it needs too."""

    def __init__(
        self, folder: Path, *, memory: str = "1g", settings: dict[str, str] | None = None, java: str = ""
    ) -> None:
        self.folder, self.memory, self.port = folder, memory, free_port()
        self.running: list[subprocess.Popen[bytes]] = []
        self.master = f"spark://127.0.0.1:{self.port}"
        found = importlib.util.find_spec("pyspark")
        assert found is not None
        assert found.origin is not None
        home = Path(found.origin).parent
        self.command = str(home / "bin" / "spark-class")
        self.environment = os.environ | {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": java,
            "SPARK_LAUNCHER_OPTS": java,
            "SPARK_WORKER_DIR": str(folder),
            "SPARK_LOCAL_DIRS": str(folder),
            "SPARK_CONF_DIR": str(folder),
            "PYSPARK_PYTHON": sys.executable,
        }
        lines = [f"{name} {value}\n" for name, value in (settings or {}).items()]
        (folder / "spark-defaults.conf").write_text("".join(lines))

    def start(self, workers: int = 2) -> None:
        """Start the master, then the workers."""
        self._run("master.Master", "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        wait_for(self._answers)
        for _ in range(workers):
            self.add_worker()
        os.environ.update(
            {name: self.environment[name] for name in ("SPARK_LOCAL_IP", "SPARK_CONF_DIR", "PYSPARK_PYTHON")}
        )

    def add_worker(self) -> None:
        """One more worker of one core."""
        self._run("worker.Worker", "--cores", "1", "--memory", self.memory, "--webui-port", "0", self.master)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a daemon and its executors at once, as a machine that is lost."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """Kill what still runs."""
        for process in self.running:
            if process.poll() is None:
                self.kill(process)

    def _answers(self) -> bool:
        with socket.socket() as found:
            return not found.connect_ex(("127.0.0.1", self.port))

    def _run(self, daemon: str, *options: str) -> None:
        with open(self.folder / f"{len(self.running)}.log", "w") as log:
            process = subprocess.Popen(
                [self.command, f"org.apache.spark.deploy.{daemon}", *options],
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running.append(process)


def wait_for(ready: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so, for so long at most."""
    ends = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > ends:
            raise TimeoutError("the cluster did not start")
        time.sleep(0.1)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
