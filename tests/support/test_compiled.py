"""Compiled loops work where nothing can be kept, as in a read-only installation, and after an upgrade."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from incrowd._support import compiled

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


def test_code_that_an_earlier_version_compiled_for_types_that_are_gone_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled.numba.config, "CACHE_DIR", str(tmp_path))

    def double(number):
        return number + number

    first = compiled.njit(cache=True)(double)
    assert first(2) == 4
    (index,) = tmp_path.rglob("*.nbi")
    gone = pickle.dumps(compiled.numba.__version__) + b"cincrowd.a_module_that_is_gone\nUrn\n."
    index.write_bytes(gone)
    assert compiled.njit(cache=True)(double)(2) == 4
    assert index.read_bytes() != gone
    again = compiled.njit(cache=True)(double)
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1  # what was compiled again is kept again


def test_a_loop_is_compiled_once_for_a_type_whatever_constants_others_call_it_with():
    @compiled.njit(cache=False)
    def add(total, more):
        return total + more

    @compiled.njit(cache=False)
    def add_up(numbers):
        total = add(0, 1) - add(more=1, total=0)
        for number in numbers:
            total = add(total, number)
        return total

    assert add_up(np.array([2, 3])) == 5
    assert [str(kinds) for kinds in add.signatures] == ["(int64, int64)"]


def test_a_file_of_the_current_folder_sets_no_options_of_the_compiler(tmp_path):
    (tmp_path / "p.csv").write_text("age,sex\n30,f\n41,m\n30,f\n")
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: ./evil\ndisable_jit: 1\n")
    (tmp_path / "evil").mkdir()
    watch = """
import sys
opened = []
sys.addaudithook(lambda event, details: opened.append(str(details[0])) if event == "open" else None)
from incrowd._support.compiled import njit, numba
assert not numba.config.CACHE_DIR and not numba.config.DISABLE_JIT
@njit(cache=True)
def doubled(number):
    return 2 * number
assert doubled(21) == 42  # each compilation reads the options again
assert not any("numba_config" in name or "evil" in name for name in opened), opened
import yaml
assert yaml.safe_load("a: 1") == {"a": 1}
"""
    script = tmp_path / "script.py"
    script.write_text(watch)
    done = subprocess.run([sys.executable, "-P", str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "evil").iterdir()) == []


def test_a_compiler_that_is_switched_off_is_named(tmp_path):
    (tmp_path / "p.csv").write_text("age,sex\n30,f\n41,m\n30,f\n")
    command = [sys.executable, "-P", "-m", "incrowd", "measure", "p.csv", "--qi", "age"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "NUMBA_DISABLE_JIT is set" in done.stderr
