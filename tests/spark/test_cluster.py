"""What can be wrong with a cluster, and a worker that is lost."""

import socket
import threading
import time

import pytest

from incrowd import read_table
from incrowd.backends.spark import session as spark
from incrowd.backends.spark import store
from incrowd.backends.spark.store import _Store, written_by_spark
from incrowd.errors import InputError

TINY = {"age": [30, 30, 41]}


@pytest.fixture
def no_session(monkeypatch):
    """As if no session ran yet."""
    monkeypatch.setattr(spark, "_running_on", lambda: None)


def test_without_java_the_message_says_which_to_install(no_session, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="needs Java and none was found; install Java 17"):
        read_table(TINY, engine="spark")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="none was found in JAVA_HOME"):
        read_table(TINY, engine="spark")


@pytest.mark.parametrize(("said", "seen"), [('openjdk version "11.0.2"', "11"), ('java version "1.8.0_392"', "8")])
def test_an_old_java_is_named(no_session, monkeypatch, tmp_path, said, seen):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=f"needs Java 17 or later, and .*java is {seen};"):
        read_table(TINY, engine="spark")


def test_a_java_that_does_not_run_is_not_one(no_session, monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\nexit 3\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="does not run"):
        read_table(TINY, engine="spark")


def test_without_spark_the_message_names_the_extra(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'incrowd\[spark\]'"):
        read_table(TINY, engine="spark")


def test_a_master_that_does_not_answer_is_an_error_and_not_a_wait(no_session):
    started = time.monotonic()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(InputError, match="no Spark master answers at spark://127"):
            read_table(TINY, engine="spark", master=f"spark://127.0.0.1:{closed.getsockname()[1]}")
    with pytest.raises(InputError, match="no Spark master answers"):
        spark.start_session("spark://192.0.2.1:7077", 10**9, answer_within=0.5)  # nobody has this address (RFC 5737)
    assert time.monotonic() - started < 50  # Spark itself gives up after a minute


@pytest.mark.parametrize("master", ["http://127.0.0.1:7077", "spark://nobody", "7077"])
def test_a_master_that_is_none_is_refused(no_session, master):
    with pytest.raises(InputError, match="is not understood; write local"):
        read_table(TINY, engine="spark", master=master)


def test_engines_and_masters_that_do_not_go_together_are_refused(session):
    with pytest.raises(InputError, match="there is no engine 'sparc'"):
        read_table(TINY, engine="sparc")
    with pytest.raises(InputError, match="is for engine='spark'"):
        read_table(TINY, master="local[2]")
    with pytest.raises(InputError, match="leave out engine='duckdb'"):
        read_table(session.range(3), engine="duckdb")
    with pytest.raises(InputError, match="runs already; stop it"):
        read_table(TINY, engine="spark", master="local[2]")


def test_a_master_without_a_worker_to_give_is_an_error_and_not_a_wait(said_at_start):
    assert "gave no worker within 0.5 s" in said_at_start[0]


def test_what_spark_says_while_it_starts_is_not_shown(said_at_start, session):
    assert session.range(3).count() == 3
    assert said_at_start[1].read_text() == ""


def test_a_session_is_found_from_another_thread_and_keeps_its_settings(session, cluster):
    before = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    found = []

    def elsewhere():
        found.append(spark.start_session(None, 10**9))
        with pytest.raises(InputError, match="runs already; stop it"):
            spark.start_session("local[4]", 10**9)
        found.append("refused")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(timeout=300)
    kept = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", before)
    assert [found[0].sparkContext.master, found[1]] == [cluster.master, "refused"]
    assert kept == "Asia/Tokyo"


def test_what_the_user_configured_is_not_set_again(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    assert spark._settings(64 * 10**9)["spark.driver.memory"] == "17024m"
    (tmp_path / "spark-defaults.conf").write_text("#spark.driver.memory 2g\nspark.driver.maxResultSize=9g\n")
    assert "spark.driver.memory" in spark._settings(10**9)
    assert "spark.driver.maxResultSize" not in spark._settings(10**9)
    for said in ("--driver-memory 6g pyspark-shell", "--conf spark.driver.memory=6g pyspark-shell"):
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", said)
        assert "spark.driver.memory" not in spark._settings(10**9)


def test_the_master_of_the_configuration_is_asked_too(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text("spark.master  spark://127.0.0.1:1\n")
    with pytest.raises(InputError, match=r"no Spark master answers at spark://127\.0\.0\.1:1;"):
        spark._check_answer(None)


def test_a_store_that_does_not_answer_is_told_in_words(session, tmp_path, monkeypatch):
    with (
        pytest.raises(InputError, match=r"127\.0\.0\.1.*(lost|does not)"),
        written_by_spark(session.range(1), "hdfs://127.0.0.1:1/out.parquet"),
    ):
        pass

    def gone(self, name):
        raise ConnectionRefusedError

    monkeypatch.setattr(_Store, "delete", gone)
    with (
        pytest.raises(InputError, match=r"^the real reason$"),
        written_by_spark(session.range(1), str(tmp_path / "x.parquet")),
    ):
        raise InputError("the real reason")
    assert list(tmp_path.iterdir()) == [], "this machine sees the folder, and removes it itself"
    monkeypatch.setattr(store, "_removed_here", lambda folder: False)
    with (
        pytest.raises(InputError, match=r"the real reason; .* is left as x\.parquet\..*\.writing, remove it"),
        written_by_spark(session.range(1), str(tmp_path / "x.parquet")),
    ):
        raise InputError("the real reason")


def test_files_that_a_cluster_cannot_read_are_named(session, tmp_path):
    path = tmp_path / "cut.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"cut\.parquet: "):
        read_table(path, engine="spark")
    with pytest.raises(InputError, match="there is no file"):
        read_table(tmp_path / "none.parquet", engine="spark")


def test_reasons_are_told_and_cells_are_not():
    told = spark.reason_of(RuntimeError("java.lang.OutOfMemoryError: Java heap space at cell 'Mrs Smith'"))
    assert "ran out of memory" in told
    assert "Smith" not in told
    assert spark.reason_of(RuntimeError("Mrs Smith")) is None
    assert spark.reason_of(RuntimeError("x\nincrowd.errors.UnsupportedError: too few\n\tat y")) == "too few"
