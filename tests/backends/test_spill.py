"""A disk that fills while an engine spills to it: said in words, with nothing left."""

import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
"""
MEASURE = "import sys; from incrowd.cli import main; main(['measure', sys.argv[1], '--qi', 'x', '--memory', '50MB'])"


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A table of which the engine cannot hold the classes within 50 MB."""
    file = tmp_path_factory.mktemp("wide") / "wide.parquet"
    words = pa.array([f"{number:0150d}" for number in range(200_000)])
    pq.write_table(pa.table({"x": words}), file, use_dictionary=False, row_group_size=20_000)
    return file


def measured(wide, place, *before, code=MEASURE):
    place.mkdir(exist_ok=True)
    return subprocess.run(
        [*before, sys.executable, "-c", code, wide],
        env=os.environ | {"TMPDIR": str(place)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def assert_said_and_nothing_left(done, place):
    assert done.returncode == 2, done.stderr
    assert "temporary disk space ran out; nothing was kept" in done.stderr
    assert done.stdout == ""
    assert list(place.iterdir()) == []


def test_where_there_is_room_the_engine_spills_and_counts(wide, tmp_path):
    done = measured(wide, tmp_path / "place")
    assert done.returncode == 0, done.stderr
    assert "200,000" in done.stdout
    assert list((tmp_path / "place").iterdir()) == []


def test_a_spill_that_outgrows_the_limit_of_files_is_said_and_leaves_nothing(wide, tmp_path):
    assert_said_and_nothing_left(measured(wide, tmp_path / "place", code=LIMIT + MEASURE), tmp_path / "place")


def test_a_disk_that_fills_is_said_and_leaves_nothing(wide, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    mounted = "mount -t tmpfs -o size=2m tmpfs " + f"'{place}'"
    own = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]  # the mount is seen by this command alone
    if shutil.which("unshare") is None or subprocess.run([*own, "sh", "-c", mounted], check=False).returncode:
        pytest.skip("no disk of its own can be mounted here")
    looked = f'{mounted} && "$@"; code=$?; ls -A "{place}"; exit $code'
    assert_said_and_nothing_left(measured(wide, place, *own, "sh", "-c", looked, "sh"), place)
