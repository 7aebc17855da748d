"""The documentation: commands run as written, the reference is the commands' own, the site builds without warnings."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    "index.md",
    "tutorial.md",
    *(f"how-to/{who}.md" for who in ("custodian", "researcher", "biometrics", "engineer")),
]


@pytest.mark.parametrize("page", PAGES)
def test_commands_run_as_written(page, tmp_path):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^( *)```sh\n(.*?)^ *```", text, flags=re.M | re.S)
    assert blocks
    script = "\n".join(re.sub(rf"^{indent}", "", block, flags=re.M) for indent, block in blocks)
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", f"PATH={folder}:$PATH\n{script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Traceback" not in done.stderr


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
    assert done.returncode == 0, done.stderr
    assert "incrowd check" in (tmp_path / "site" / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    assert "Shapley" in (tmp_path / "site" / "reference" / "api" / "index.html").read_text(encoding="utf-8")
