"""Spark sessions: finding or starting one, opening frames in it, and translation of its errors."""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd._support.addresses import masked
from incrowd.backends.arrow_columns import without_dictionary
from incrowd.errors import IncrowdError, InputError, MissingDependencyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXTRA = "pip install 'incrowd[spark]'"
JAVA = 17
"""The oldest Java that Spark 4 runs on."""


def start_session(
    master: str | None, memory: int, *, answer_within: float = 10.0, workers_within: float = 60.0
) -> SparkSession:
    """Return the running session, or start one after checks for causes that would make Spark wait or fail unclearly.

    Args:
        master: the address of the cluster; None is the one in Spark's own configuration.
        memory: the memory limit in bytes, from which the driver's memory is set.
        answer_within: seconds to wait for the port of a master.
        workers_within: seconds to wait for a first worker.

    Raises:
        MissingDependencyError: Spark is not installed.
        InputError: Java is missing or too old, or the cluster does not answer.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise MissingDependencyError(f"Spark is not installed; {EXTRA} installs it, and it needs Java {JAVA} or later")
    from pyspark.sql import SparkSession

    running = _running_on()
    if running is not None:
        if master is not None and running != master:
            raise InputError(
                f"a Spark session on {masked(running)} runs already; stop it, or leave out master={masked(master)!r}"
            )
        with spark_errors("Spark", "the session that runs already cannot be used"):
            return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()  # keeps its settings
    _check_java()
    _check_answer(master, answer_within)
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run on this machine
    settings = {"spark.app.name": "incrowd", **_settings(memory)}
    if master is not None:
        settings["spark.master"] = master
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    with spark_errors("Spark", f"it could not be started on {masked(master or 'its default master')}"):
        _start_java(settings)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("FATAL")  # `spark_errors` reports failures
    atexit.register(_stop, session)
    try:
        with spark_errors("Spark", "its master was lost while workers were waited for"):
            _wait_for_workers(session, workers_within)
    except InputError:
        session.stop()
        raise
    return session


def _stop(session: SparkSession) -> None:
    """Stop a session at exit; errors are ignored because the driver may have ended already."""
    from py4j.protocol import Py4JError

    with suppress(Py4JError, OSError):
        session.stop()


def _start_java(settings: dict[str, str]) -> None:
    """Start Java without its start-up log, which fills the screen, unless the user configured logging."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return  # Java still runs from a session that was stopped
    configuration = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    logs_configured = Path(_configuration_folder(), "log4j2.properties").is_file()
    streams = {} if logs_configured else {"stderr": subprocess.DEVNULL}
    try:
        gateway = launch_gateway(configuration, streams)  # type: ignore[no-untyped-call]
    except RuntimeError:
        raise InputError(
            "Java was started for Spark and ended at once; most often spark.driver.memory, which follows from the "
            "memory limit, is more than there is: give a smaller one, or run pyspark to see what it says",
            hint="memory",
        ) from None
    SparkContext._ensure_initialized(gateway=gateway)


def _running_on() -> str | None:
    """The master of the Spark session of this process, from any thread; None if there is no session."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return None if context is None else str(context.master)


def _settings(memory: int) -> dict[str, str]:
    """Settings that differ from Spark's defaults, except those in the user's configuration."""
    ours = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",
        "spark.executorEnv.PYTHONSAFEPATH": "1",  # workers import nothing from the folder that they were started in
        "spark.driver.memory": f"{1024 + memory // 4_000_000}m",
        "spark.driver.maxResultSize": str(max(1 << 30, memory // 4)),  # the size of results is checked by the callers
    }
    configured = _configured()
    not_configured = {name: value for name, value in ours.items() if not re.search(_named(name), configured)}
    # UTC: where clocks are put back, two different times would become equal
    return {**not_configured, "spark.sql.session.timeZone": "UTC"}


def _named(name: str) -> str:
    """Regular expression for a setting's name in a line of spark-defaults.conf or in command-line arguments."""
    names = re.escape(name) + ("|--driver-memory" if name == "spark.driver.memory" else "")
    return rf"(?m)(?:^|\s)[\"']?(?:{names})[\s=:]"


def _configured() -> str:
    """The user's spark-defaults.conf without its comments, and the arguments in PYSPARK_SUBMIT_ARGS.

    They are read here because settings of a program override both, and Java, which reads them, is not started yet.
    """
    path = Path(_configuration_folder(), "spark-defaults.conf")
    lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
    settings = [line for line in lines if not line.lstrip().startswith("#")]
    return "\n".join([*settings, os.environ.get("PYSPARK_SUBMIT_ARGS", "")])


def _configuration_folder() -> str:
    import pyspark

    home = os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
    return os.environ.get("SPARK_CONF_DIR") or os.path.join(home, "conf")


def _check_java() -> None:
    """Raise InputError if Java is missing or too old; Spark's own error does not say so."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    advice = f"install Java {JAVA} or later (such as openjdk-17-jre-headless), or set JAVA_HOME to it"
    if java is None or shutil.which(java) is None:
        raise InputError(f"Spark needs Java and none was found{' in JAVA_HOME' if home else ''}; {advice}")
    try:
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        raise InputError(f"Spark needs Java and {java} does not run; {advice}") from None
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    if found is None or int(found[1]) < JAVA:
        raise InputError(
            f"Spark needs Java {JAVA} or later, and {java} is {found[1] if found else 'not known'}; {advice}"
        )


def _check_answer(master: str | None, seconds: float = 10.0) -> None:
    """Raise InputError if no master of a standalone cluster accepts connections; Spark would retry for a minute."""
    if master is None:
        named = re.search(r"(?m)^\s*spark\.master[\s=:]+(spark://\S+)", _configured())
        master = named[1] if named else "local"
    if master.startswith(("local", "yarn", "k8s://")):
        return
    if not re.fullmatch(r"spark://[^/,\s]+:\d+(,[^/,\s]+:\d+)*", master):
        raise InputError(
            f"master {masked(master)!r} is not understood; write local[*], spark://host:7077, yarn or k8s://…"
        )
    places = [place.rpartition(":") for place in master.removeprefix("spark://").split(",")]
    late = False
    for host, _, port in places:
        try:
            socket.create_connection((host, int(port)), timeout=seconds).close()
            return
        except (OSError, OverflowError) as error:
            late = late or isinstance(error, TimeoutError)
    within = f" within {seconds:g} s" if late else ""
    raise InputError(f"no Spark master answers at {masked(master)}{within}; check that it runs, and its host and port")


def _wait_for_workers(session: SparkSession, seconds: float) -> None:
    """Wait until a worker has joined; without one, jobs would wait forever."""
    context = session.sparkContext
    if str(context.master).startswith("local"):
        return
    ends = time.monotonic() + seconds
    while context._jsc.sc().getExecutorMemoryStatus().size() < 2:  # the driver is one of them
        if time.monotonic() > ends:
            raise InputError(
                f"the master at {masked(str(context.master))} gave no worker within {seconds:g} s; it has "
                "none, they are taken, or they have less memory or fewer cores than spark.executor.memory and "
                "spark.executor.cores ask"
            )
        time.sleep(0.2)


def open_on_spark(paths: list[str], session: SparkSession) -> DataFrame:
    """A frame of Parquet files that the workers read; every worker must be able to open them by these paths."""
    with spark_errors(paths[0], "it is not Parquet that Spark reads, or the workers do not see it under this name"):
        # recursiveFileLookup: names of folders such as year=2024 are not read as columns
        return session.read.option("recursiveFileLookup", "true").parquet(*paths)


def send_to_spark(rows: pa.Table, session: SparkSession) -> DataFrame:
    """Send rows of this machine to the cluster as a frame."""
    plain = [without_dictionary(column) for column in rows.columns]
    with spark_errors("the table", "its rows could not be sent to Spark; a column has a type that Spark has not"):
        return session.createDataFrame(pa.table(plain, names=rows.column_names))


@contextmanager
def spark_errors(what: str, meaning: str) -> Iterator[None]:
    """Replace errors of Spark by InputError; Spark's messages are pages long and may quote cells."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about pandas, which is not used
            yield
    except IncrowdError:
        raise
    except Exception as error:
        raise InputError(f"{masked(what)}: {reason_of(error) or meaning} ({type(error).__name__})") from None


def reason_of(error: Any) -> str | None:
    """The reason for a cluster's error, in a sentence that says what to do; None if the error is not known."""
    text = str(error)
    own_message = re.search(r"incrowd\.errors\.\w+: (.+)", text)  # raised by this package on a worker
    if own_message is not None:
        return own_message[1].strip()
    for pattern, reason in _REASONS.items():
        if re.search(pattern, text):
            return reason
    return None


_REASONS = {
    r"No module named '?incrowd": (
        "the Python of the workers has no incrowd; install it there, and let PYSPARK_PYTHON name that Python"
    ),
    r"All masters are unresponsive|MASTER_URL|Connection refused|stopped SparkContext|Py4JNetworkError": (
        "the cluster was lost, or its master does not answer; look at the master's log and start again"
    ),
    r"maxResultSize|OutOfMemoryError|Java heap space": (
        "the cluster or its driver ran out of memory; give more with spark.executor.memory, spark.driver.memory or "
        "spark.driver.maxResultSize"
    ),
    r"No space left on device": "a disk of the cluster is full; free space, or set spark.local.dir to a larger one",
    r"PATH_NOT_FOUND|FileNotFoundException|FAILED_READ_FILE|FILE_NOT_EXIST": (
        "the files were not found by the cluster, or changed while they were read; every worker must see them under "
        "the same name"
    ),
    r"Permission denied|AccessControlException|AccessDenied|Mkdirs failed": (
        "the cluster has no permission to read or write there"
    ),
    r"ExecutorLostFailure|FetchFailed|TASK_FAILED|Worker lost": (
        "too many workers were lost while the job ran; look at their logs and start again"
    ),
}
