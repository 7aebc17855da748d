"""The wheel and the sdist: what is in them, and that the wheel works where nothing else of the project is."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import incrowd

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist and the wheel, built without network from the files of the clone."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_version_comes_from_the_package(built):
    wheel, sdist = built
    assert wheel.name.startswith(f"incrowd-{incrowd.__version__}-")
    assert sdist.name == f"incrowd-{incrowd.__version__}.tar.gz"
    assert not re.search(r"^version *=", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == incrowd.__version__
    assert f"## {incrowd.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as file:
        inside = set(file.namelist())
    source = ROOT / "src"
    kept = {path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    own = {path.relative_to(source).as_posix() for path in kept if path.suffix not in (".pyc", ".nbi", ".nbc")}
    assert {name for name in inside if ".dist-info/" not in name} == own
    data = ["__init__.pyi", "py.typed", "reports/templates/report.html"]
    assert {f"incrowd/{name}" for name in data} <= inside
    assert any(name.startswith("incrowd/web/templates/") for name in inside)
    assert any(name.startswith("incrowd/web/static/") for name in inside)


def test_the_sdist_holds_what_a_packager_needs(built):
    with tarfile.open(built[1]) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    needed = ["pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "tests/test_packaging.py", "docs/index.md"]
    assert set(needed) <= inside
    assert not any(name.startswith((".venv", "out/")) for name in inside)


@pytest.mark.parametrize("unpacked", [True, False])
def test_the_wheel_runs_where_it_is_installed_and_without_being_unpacked(built, tmp_path, unpacked):
    target = tmp_path / "site" if unpacked else built[0]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "--no-index", "--target"]
    if unpacked:
        subprocess.run([*pip, str(target), str(built[0])], check=True, capture_output=True)
    (tmp_path / "people.csv").write_text("age,sex\n30,f\n30,f\n41,m\n")

    def run(*words):
        command = [sys.executable, *words]
        environment = os.environ | {"PYTHONPATH": str(target)}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert run("-m", "incrowd.cli", "--version").stdout == f"incrowd {incrowd.__version__}\n"
    assert run("-m", "incrowd.cli", "check", "people.csv", "--qi", "age", "--min-k", "1").returncode == 0
    assert run("-m", "incrowd.cli", "profile", "people.csv").returncode == 0
    templates = (
        "from incrowd.reports import template_values, html, schema; from incrowd.web import pages; pages.prepare()"
    )
    where = "import incrowd; print(incrowd.__file__)"
    told = run("-c", f"{where}; {templates}; schema(); template_values.templates().get_template('report.html')")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(str(target))
