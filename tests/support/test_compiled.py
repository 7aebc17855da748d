"""Compiled loops work where nothing can be kept: a read-only installation, an account without a home."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys, tempfile
from numba.core import caching
for one in ("InTreeCacheLocator", "UserWideCacheLocator"):
    getattr(caching, one).from_function = classmethod(lambda *given: None)
if sys.argv[1] == "nowhere":
    def refuse(*given, **named):
        raise OSError("read-only")
    tempfile.gettempdir = refuse
import incrowd
from incrowd._support import compiled
from incrowd.classes import ClassSizes
sizes = ClassSizes.from_table({"a": [1, 1, 2], "b": ["x", "x", "y"]}, quasi_identifiers=["a", "b"])
print(sizes.uniques, compiled._private is not None)
"""


@pytest.mark.parametrize(("place", "kept"), [("somewhere", "True"), ("nowhere", "False")])
def test_compiled_code_needs_no_folder_to_be_kept_in(tmp_path, place, kept):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", CODE, place], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["1", kept], "")
    assert os.listdir(tmp_path) == []  # private code goes with its process
