"""What the package says: no word of the command line outside the rooms that render it, and one module for numbers."""

import ast
import re
from pathlib import Path

import pytest

import incrowd

SOURCE = Path(incrowd.__file__).parent
RENDERED = {"cli", "web"}
FLAG = re.compile(r"(^|[ (`])--[a-z]|\(`incrowd ")


def texts(tree):
    """Every text constant of a file with its line; docstrings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def flags_in(source):
    for path in sorted(source.rglob("*.py")):
        if path.relative_to(source).parts[0] not in RENDERED:
            for line, text in texts(ast.parse(path.read_text(encoding="utf-8"))):
                if FLAG.search(text):
                    yield f"{path.relative_to(source)}:{line}"


def test_no_text_outside_the_command_line_and_the_app_names_a_flag():
    assert list(flags_in(SOURCE)) == []


@pytest.mark.parametrize(
    "code",
    [
        "x = 'name them (--qi)'",
        "x = '--qi'",
        "x = f'{name} with --qi'",
        "def f():\n    '''Run `incrowd assess --json`.'''",
        "x = 'protect it (`incrowd protect`)'",
    ],
)
def test_the_test_sees_flags_in_every_kind_of_text(tmp_path, code):
    (tmp_path / "room.py").write_text(code)
    assert len(list(flags_in(tmp_path))) == 1
    (tmp_path / "cli").mkdir()
    (tmp_path / "room.py").rename(tmp_path / "cli" / "room.py")
    assert list(flags_in(tmp_path)) == []
