"""What the package says: no word of the command line outside the rooms that render it, and one module for numbers."""

import ast
import re
from pathlib import Path

import pytest
from tests.source_trees import parsed

import incrowd

pytestmark = pytest.mark.xdist_group("source")  # one worker: the source is parsed once
SOURCE = Path(incrowd.__file__).parent
RENDERED = {"cli", "web"}
FLAG = re.compile(r"(^|[ (`])--[a-z]|\(`incrowd ")


def texts(tree):
    """Every text constant of a file with its line; docstrings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def flags_in(source):
    for path, tree in parsed(source).items():
        if path.relative_to(source).parts[0] not in RENDERED:
            for line, text in texts(tree):
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


SPECS = re.compile(r"%|,?\.[01]f")
NO_PEOPLE = {  # numbers that are no people, shares or risks
    ("cli/terminal.py", ".0f"),  # seconds
    ("web/security.py", ".0f"),
    ("evaluation/column_distributions.py", ".0f"),  # values of a column
    ("tables/roles/values.py", ".0f"),
    ("attacks/membership.py", ".1%"),  # a key of the result
    ("forecasts/law.py", ".0f"),  # the end of a range of parameters
}


def formatted_by_hand(source):
    """Numbers that become text outside the module for it: shares, whole and average numbers of people, bytes."""
    for path, tree in parsed(source).items():
        place = path.relative_to(source)
        if place.parts[0] in {"wording.py", "figures"}:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
                spec = "".join(str(getattr(part, "value", "")) for part in node.format_spec.values)
                if SPECS.search(spec) and (place.as_posix(), spec) not in NO_PEOPLE:
                    yield f"{place}:{node.lineno} {ast.unparse(node.value)}:{spec}"


def test_one_module_makes_words_of_shares_and_people():
    assert list(formatted_by_hand(SOURCE)) == []


def test_no_text_stands_for_itself_and_no_branch_is_empty():
    """A text is a docstring or describes the assignment before it; an `if` that only passes is left over."""
    found = []
    for path, tree in parsed(SOURCE).items():
        for before, node in zip([None, *tree.body], tree.body, strict=False):
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if is_text and not isinstance(before, ast.Assign | ast.AnnAssign | None):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno} a text")
            if isinstance(node, ast.If) and isinstance(node.body[0], ast.Pass):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno} an empty branch")
    assert found == []
