"""A driver that is killed in the middle of its work."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from tests.spark.conftest import SETTINGS

from incrowd import demo_table

# all rows are written and checked, and the folder is about to get its name
KILLED = """
import os, signal, sys
from pyspark import SparkContext
from incrowd.backends.spark.store import _Store
from incrowd.cli import main

def killed(self, name, target):
    driver = SparkContext._gateway.proc
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert os.path.isdir(name)
    rename(self, name, target)

rename, _Store.put = _Store.put, killed
main(sys.argv[1:])
"""


def test_a_driver_that_is_killed_before_its_release_has_its_name_is_said_and_leaves_nothing(tmp_path):
    settings, work, temporary = (tmp_path / name for name in ("settings", "work", "temporary"))
    for folder in (settings, work, temporary):
        folder.mkdir()
    options = SETTINGS | {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    del options["spark.sql.codegen.wholeStage"], options["spark.sql.codegen.factoryMode"]  # once as users have it
    (settings / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    pq.write_table(demo_table(300).select(["age_yrs", "sex", "diag_p"]), work / "in.parquet")
    words = ["protect", "in.parquet", "--qi", "age_yrs,sex", "--k", "3", "--out", "safe.parquet"]
    words += ["--identifier", "none", "--engine", "spark", "--master", "local[1]"]
    own = {"SPARK_CONF_DIR": settings, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": temporary}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words],
        env=os.environ | {name: str(value) for name, value in own.items()} | {"TMPDIR": str(temporary)},
        cwd=work,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    said = re.findall("error: .*the cluster was lost", done.stderr)
    assert len(said) == 1, done.stderr  # among PySpark's own words about its lost connections
    assert "is left as" not in done.stderr
    assert [path.name for path in work.iterdir()] == ["in.parquet"]
    assert not list(Path(temporary).glob("incrowd*"))
