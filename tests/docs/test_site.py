"""The documentation: commands run as written, the reference is the commands' own, the site builds without warnings."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from incrowd.cli import main
from incrowd.gate import assert_anonymous
from incrowd.protection.protect_options import OPTIONS
from incrowd.protection.registry import PROTECTION_METHODS
from incrowd.tables import write_table

pytestmark = pytest.mark.usefixtures("quick_estimates")
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


def blocks(page, kind):
    """The fenced blocks of one kind in a page, "" being those that say none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [body for said, body in re.findall(r"^ *```(\S*)\n(.*?)^ *```", text, flags=re.M | re.S) if said == kind]


ALL = sorted(str(path.relative_to(ROOT)) for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
EXAMPLES = {
    page: [line for body in blocks(page, "") if body.startswith("incrowd ") for line in body.splitlines()]
    for page in ALL
}


@pytest.fixture
def invented(tmp_path, monkeypatch):
    """A folder with the files and columns that the examples speak of."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    people = 400
    patients = {
        "age": generator.integers(20, 60, people).tolist(),
        "sex": generator.choice(["f", "m"], people).tolist(),
        "zip": generator.integers(90, 99, people).tolist(),
        "admitted": generator.integers(1, 5, people).tolist(),
        "diagnosis": generator.choice(["a", "b", "c"], people).tolist(),
        "illness": generator.choice(["a", "b", "c"], people).tolist(),
        "charge": generator.integers(100, 9_000, people).tolist(),
    }
    for name in ("patients.csv", "patients.parquet", "people.parquet", "FILE.parquet", "april.csv"):
        write_table(pa.table(patients), tmp_path / name)
    others = {name: generator.permutation(values).tolist() for name, values in patients.items()}
    write_table(pa.table(others), tmp_path / "may.csv")
    stays = {name: 11 * patients[name] for name in ("age", "sex")} | {"days": 11 * patients["admitted"]}
    twice = np.repeat(np.arange(11 * people // 2), 2)
    write_table(pa.table(stays | {"patient": twice}), tmp_path / "stays.csv")
    shops = generator.integers(0, 30, 4_000).tolist()
    days = generator.integers(0, 30, 4_000).tolist()
    users = np.repeat(np.arange(400), 10)
    write_table(pa.table({"user": users, "shop": shops, "day": days}), tmp_path / "visits.parquet")
    faces = generator.normal(size=(60, 8))
    np.save(tmp_path / "enrolled.npy", faces)
    np.save(tmp_path / "today.npy", faces + 0.1 * generator.normal(size=faces.shape))
    study = {"rank": generator.geometric(0.7, 60), "sex": patients["sex"][:60], "margin": generator.random(60)}
    write_table(pa.table(study), tmp_path / "study.csv")
    for name, last in (("faces", 0.9), ("voices", 0.6), ("gait", 0.3)):
        write_table(pa.table({"n": [10, 100, 1_000], "correctness": [0.99, 0.95, last]}), tmp_path / f"{name}.csv")
    return tmp_path


@pytest.mark.parametrize("page", [page for page, lines in EXAMPLES.items() if lines])
def test_commands_shown_as_examples_are_understood(page, invented, capsys):
    for line in EXAMPLES[page]:
        words = shlex.split(line, comments=True)
        given = ["FILE.parquet" if word == "FILE" else word for word in words[1:]]
        if given[0] == "serve":
            continue  # it never ends; tests/web run it
        if given[0] == "assess" and "--qi" not in given:
            given.append("--yes")  # there is no terminal to ask on
        if "--out" in given and (invented / given[given.index("--out") + 1]).exists():
            given.append("--force")
        with pytest.raises(SystemExit) as stopped:
            main(given)
        assert stopped.value.code in (0, 1), (line, capsys.readouterr().err)


@pytest.mark.parametrize("page", ALL)
def test_a_block_that_says_no_language_is_python_or_our_commands(page):
    for body in blocks(page, ""):
        assert body.startswith((">>> ", "incrowd ", "git clone ", "python -m papers ")), body


def test_the_hook_and_the_ci_step_run_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = "how-to/engineer.md"
    for command in commands(page):
        assert run(command, capsys) == 0
    (tmp_path / "data").mkdir()
    (tmp_path / "stays.parquet").rename(tmp_path / "data" / "release.parquet")
    hook, step = (yaml.safe_load(body) for body in blocks(f"docs/{page}", "yaml"))
    (wanted,) = hook["repos"][0]["hooks"]
    assert {"id", "name", "entry", "language"} <= wanted.keys()
    assert re.search(wanted["files"], "data/release.parquet")
    for command in (wanted["entry"], step[0]["run"]):
        assert run(command, capsys) == 0, command
    assert (tmp_path / "incrowd.xml").is_file()


def test_the_example_test_runs():
    (body,) = (block for block in blocks("docs/how-to/engineer.md", "python") if ">>>" not in block)
    for export, passes in (({"age": [1] * 5, "zip": [2] * 5}, True), ({"age": [1, 2], "zip": [3, 4]}, False)):
        names = {"export": lambda export=export: export}
        exec(body, names)
        if passes:
            names["test_the_export_is_anonymous"](assert_anonymous)
        else:
            with pytest.raises(AssertionError):
                names["test_the_export_is_anonymous"](assert_anonymous)


def test_the_command_reference_is_that_of_the_commands():
    from docs.write_cli_reference import reference

    written = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "run: python -m docs.write_cli_reference > docs/reference/cli.md"


def test_the_reference_of_protect_is_what_is_declared():
    from docs.write_protect_reference import reference

    written = (ROOT / "docs" / "reference" / "protect.md").read_text(encoding="utf-8")
    assert written == reference(), "run: python -m docs.write_protect_reference > docs/reference/protect.md"
    assert all(f"| `{name}` |" in written for name in PROTECTION_METHODS)
    assert all(f"| `{name}` |" in written for name in OPTIONS)


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
