"""What the package brings along, and what it asks of the network: permissive licences, and nothing."""

import importlib.util
import json
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PERMISSIVE = ("mit", "bsd", "apache", "isc", "psf", "python software", "zlib", "cc0", "0bsd", "llvm-exception", "hpnd")
OFFLINE = """
import os, sys

def deny(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind", "socket.sendto"):
        os.write(2, f"{event} {arguments[1:]}".encode())
        os._exit(77)

sys.addaudithook(deny)
from incrowd.cli import main

try:
    main(sys.argv[1:])
except SystemExit as end:
    os._exit(end.code)
"""


@pytest.fixture(scope="module")
def sbom():
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "requirements" / "sbom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_that_is_needed_has_a_permissive_licence(sbom):
    for name in sbom.requirements_of():
        licence = sbom.licence_of(distribution(name)).lower()
        parts = licence.replace("(", " ").replace(")", " ").replace(" or ", " and ").split(" and ")
        assert all(any(word in part for word in PERMISSIVE) for part in parts), f"{name}: {licence}"


def test_the_bill_of_materials_names_every_part_with_its_version_and_licence(sbom):
    bill = json.loads(json.dumps(sbom.bill()))
    names = {part["name"].lower() for part in bill["components"]}
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "incrowd")
    assert {"numpy", "pyarrow", "duckdb", "numba", "fastapi", "llvmlite"} <= names
    for part in bill["components"]:
        assert part["purl"].endswith(f"@{part['version']}")
        assert part["licenses"][0]["license"]["name"] != "unknown", part["name"]


@pytest.mark.parametrize(
    ("optimised", "words"),
    [
        ([], ["leak", "people.csv", "--qi", "age,sex", "--leaked", "10", "--plot", "out.svg"]),
        (["-OO"], ["protect", "people.csv", "--qi", "age,sex", "--k", "3", "--out", "out.csv"]),
    ],
    ids=["as usual", "without assertions and docstrings"],
)
def test_no_command_opens_a_socket(tmp_path, optimised, words):
    rows = "".join(f"{20 + n % 7},{'fm'[n % 2]},{n % 5}\n" for n in range(60))
    (tmp_path / "people.csv").write_text("age,sex,illness\n" + rows)
    command = [sys.executable, *optimised, "-c", OFFLINE, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    written = {word for word in words if word.startswith("out.")}
    written |= {"out.csv.incrowd"} if words[0] == "protect" else set()
    assert {path.name for path in tmp_path.iterdir()} == {"people.csv"} | written


def test_figures_without_docstrings_are_refused_in_words():
    command = [sys.executable, "-OO", "-c", "import incrowd.figures"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "figures cannot be drawn where Python drops docstrings (-OO)" in done.stderr
