"""Data flows one way through the rooms: a room imports only from rooms above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd

SOURCE = Path(incrowd.__file__).parent
ROOMS = [
    "errors",
    "progress",
    "files",
    "private",
    "notebook",
    "special",
    "recipients",
    "settings",
    "table",
    "engines",
    "classes",
    "measure",
    "check",
    "testing",
    "pytest_plugin",
    "curves",
    "pitmanyor",
    "forecast",
    "population",
    "leak",
    "protect",
    "evaluate",
    "assess",
    "compare",
    "plots",
    "report",
    "demo",
    "reproduce",
    "web",
    "cli",
]


def room_of(path):
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def test_every_room_is_on_the_map():
    found = {room_of(path) for path in SOURCE.rglob("*.py")} - {"__init__", "__main__"}
    assert found <= set(ROOMS)


def test_rooms_import_only_from_rooms_above():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        room = room_of(path)
        if room == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                parts = name.split(".")
                if parts[0] != "incrowd" or len(parts) == 1:
                    continue
                if ROOMS.index(parts[1]) > ROOMS.index(room):
                    wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("module", ["incrowd", "incrowd.cli.app"])
def test_importing_the_package_and_its_commands_loads_nothing_heavy(module):
    heavy = ["numba", "numpy", "pyarrow", "duckdb", "altair", "scipy", "narwhals", "fastapi", "pyspark"]
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_function_keeps_its_name_though_its_room_has_it_too():
    code = "import incrowd.measure, incrowd; print(callable(incrowd.measure))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


def test_everything_promised_is_there():
    assert all(getattr(incrowd, name) is not None for name in incrowd.__all__)
