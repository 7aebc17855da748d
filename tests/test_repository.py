"""The files that a repository is carried on by: hooks, workflow, contributing guide and the pages for developers."""

import ast
import functools
import importlib
import inspect
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DEVELOPER_PAGES = ["CONTRIBUTING.md", *(f"docs/dev/{name}.md" for name in ("architecture", "decisions", "releasing"))]


def load(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def resolve(name):
    """The object of a dotted name, such as a function, a class or a method; names of a package win over its modules."""
    package, *parts = name.split(".")
    place, found = package, importlib.import_module(package)
    for part in parts:
        place = f"{place}.{part}"
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(place)
    return found


def test_the_hook_for_other_repositories_works(tmp_path, monkeypatch, capsys):
    (hook,) = load(".pre-commit-hooks.yaml")
    program, *words = shlex.split(hook["entry"])
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    module, function = scripts[program].split(":")
    main = getattr(importlib.import_module(module), function)
    (tmp_path / "people.csv").write_text("age,sex\n30,f\n30,f\n41,m\n41,m\n")
    (tmp_path / "alone.csv").write_text("age,sex\n30,f\n41,m\n")
    assert re.search(hook["files"], "data/people.csv")
    monkeypatch.chdir(tmp_path)
    for table, code in (("people.csv", 0), ("alone.csv", 1), ("missing.csv", 2)):
        with pytest.raises(SystemExit) as end:
            main([*words, table, "--qi", "age,sex", "--min-k", "2"])
        assert end.value.code == code, capsys.readouterr().err


def test_the_workflow_calls_targets_that_exist_on_three_systems_and_four_pythons():
    workflow = load(".github/workflows/ci.yml")
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    called = [word for step in steps for word in step.get("run", "").split()[1:] if "=" not in word]
    assert called
    assert set(called) <= set(targets)


@pytest.mark.parametrize("name", ["ci.yml", "codeql.yml", "attest.yml"])
def test_an_action_is_pinned_by_the_hash_of_its_content(name):
    workflow = load(f".github/workflows/{name}")
    actions = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert actions
    assert all(re.search(r"@[0-9a-f]{40}$", action) for action in actions)
    text = (ROOT / f".github/workflows/{name}").read_text(encoding="utf-8")
    assert all(re.search(rf"{re.escape(action)} # v\d+\.\d+\.\d+$", text, flags=re.MULTILINE) for action in actions)
    assert workflow["permissions"] == {"contents": "read"}


def test_the_locks_hold_each_package_once_with_hashes_and_no_address():
    lines = [line for name in ("base", "dev") for line in (ROOT / f"requirements/{name}.lock").read_text().split("\n")]
    packages = [line.partition("==")[0].lower().replace("_", "-") for line in lines if line]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+( --hash=sha256:[0-9a-f]{64})+", line) for line in lines if line)
    assert len(packages) == len(set(packages))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = (ROOT / "requirements/base.lock").read_text().lower().replace("_", "-")
    for wanted in project["dependencies"]:
        assert f"{re.split('[>=]', wanted)[0]}==" in base
    extras = [re.split(r"[>=\[]", one)[0] for extra in project["optional-dependencies"].values() for one in extra]
    assert set(extras) <= set(packages)


def test_the_templates_and_the_citation_can_be_read():
    for template in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        assert isinstance(load(template), dict)
    assert load("CITATION.cff")["cff-version"] == "1.2.0"
    assert [hook["id"] for hook in load(".pre-commit-config.yaml")["repos"][0]["hooks"]]


@pytest.mark.parametrize("page", DEVELOPER_PAGES)
def test_files_named_on_pages_for_developers_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|docs|papers|requirements|benchmarks|\.github)/[\w./-]+)`", text))
    named |= {f"src/incrowd/{path}" for path in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text) if "/" in path} - {
        f"src/incrowd/{path}" for path in named
    }
    assert named
    new = set(re.findall(r"`([\w./-]+)` \(new\)", text))
    missing = sorted(path for path in named if path not in new and not (ROOT / path).exists())
    assert [path for path in missing if path.removeprefix("src/incrowd/") not in new] == []


def test_every_function_named_on_the_maths_page_exists():
    names = re.findall(r"`(incrowd(?:\.\w+)+)`", (ROOT / "docs/dev/maths.md").read_text(encoding="utf-8"))
    assert len(names) > 40
    kinds = {name: resolve(name) for name in names}
    computed = (property, functools.cached_property)
    assert [name for name, kind in kinds.items() if not callable(kind) and not isinstance(kind, computed)] == []


def defined_names(path):
    """The names that a file defines at its top level."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_every_name_in_a_recipe_is_defined_in_the_file_that_the_recipe_gives():
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    recipes = re.findall(r"`(\w+)`(?: and (?:its|a) [a-z ]+ (?:in|of) `(\w+)`)? (?:in|of) `(src/[\w/]+\.py)`", text)
    assert len(recipes) >= 20
    for first, second, path in recipes:
        assert {first, second or first} <= set(defined_names(path)), (first, second, path)


TABLES = {
    "data",
    "table",
    "before",
    "after",
    "original",
    "released",
    "protected",
    "holdout",
    "probes",
    "gallery",
    "points",
}


def public_functions():
    """Every function among the public names of the package and of its rooms, by its full name."""
    rooms = sorted(path.parent.name for path in (ROOT / "src/incrowd").glob("[a-z]*/__init__.py"))
    for package in ("incrowd", *(f"incrowd.{room}" for room in rooms if room not in {"cli", "web"})):
        module = importlib.import_module(package)
        for name in module.__all__:
            if inspect.isfunction(function := getattr(module, name)):
                yield f"{package}.{name}", function


def test_public_functions_say_which_tables_they_take():
    found = [
        f"{name}({parameter.name}: {parameter.annotation})"
        for name, function in public_functions()
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name in TABLES and re.search(r"\bAny\b", str(parameter.annotation))
    ]
    assert found == []


def test_public_functions_document_every_parameter():
    functions = dict(public_functions())
    assert len(functions) > 100
    missing = [
        f"{name}({parameter})"
        for name, function in functions.items()
        for parameter in {*inspect.signature(function).parameters}
        if not re.search(
            rf"^    (\w+, )*\*{{0,2}}{parameter}(, \w+)*: ", inspect.getdoc(function) or "", flags=re.MULTILINE
        )
    ]
    assert missing == []
