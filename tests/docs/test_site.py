"""The documentation: commands run as written, the reference is the commands' own, the site builds without warnings."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from incrowd.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [
    "index.md",
    "tutorial.md",
    *(f"how-to/{who}.md" for who in ("custodian", "researcher", "biometrics", "engineer")),
]


def commands(page):
    """The lines of the page's shell blocks; a command over several lines, or a here-document, is one."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for indent, block in re.findall(r"^( *)```sh\n(.*?)^ *```", text, flags=re.M | re.S):
        whole = re.sub(rf"^{indent}", "", block, flags=re.M).replace("\\\n", " ")
        for found in re.finditer(r"^.*<<'(\w+)'\n[\s\S]*?^\1$|^.+$", whole, flags=re.M):
            yield found[0]


def run(command, capsys):
    """Run our own commands here, which spares the start of an interpreter, and others in a shell; the exit code."""
    words = shlex.split(command)
    if words[0] != "incrowd":
        return subprocess.run(["bash", "-c", command], check=False).returncode
    may_fail = words[-2:] == ["||", "true"]
    words = words[:-2] if may_fail else words
    target = words[-1] if words[-2] == ">" else None
    with pytest.raises(SystemExit) as stopped:
        main(words[1:-2] if target else words[1:])
    streams = capsys.readouterr()
    if target:
        Path(target).write_text(streams.out)
    code = stopped.value.code or 0
    assert code < 2, streams.err
    return 0 if may_fail else code


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_as_written(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = list(commands(page))
    assert found
    for command in found:
        assert run(command, capsys) == 0, command


def test_the_command_reference_is_that_of_the_commands():
    from incrowd.cli.reference import reference

    written = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "run: python -m incrowd.cli.reference > docs/reference/cli.md"


def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "incrowd check" in (tmp_path / "site" / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    assert "Shapley" in (tmp_path / "site" / "reference" / "api" / "index.html").read_text(encoding="utf-8")
