"""The modules of the page under node's own test runner: those that only compute have a test each, all are loaded."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "src" / "incrowd" / "web" / "static"
TESTS = Path(__file__).parent / "modules"


@pytest.mark.parametrize("name", sorted(file.stem for file in TESTS.glob("*.mjs")))
def test_a_module_does_what_its_test_says(name, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    for file in (*STATIC.glob("*.js"), *TESTS.glob("*.js")):
        shutil.copy(file, tmp_path)
    shutil.copy(TESTS / f"{name}.mjs", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = subprocess.run([node, "--test", f"{name}.mjs"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_that_only_computes_has_a_test_and_none_is_long():
    scripts = {file.stem: file.read_text(encoding="utf-8") for file in STATIC.glob("*.js")}
    of_page = re.compile(r"\b(document|window|location|sessionStorage|localStorage)\b|from \"./app.js\"")
    computing = {name for name, text in scripts.items() if not of_page.search(text)}
    assert computing - {file.stem for file in TESTS.glob("*.mjs")} == {"numbers"}  # test_numbers.py has its own
    assert {name: text.count("\n") for name, text in scripts.items() if text.count("\n") > 300} == {}
