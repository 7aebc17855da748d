"""Files that are cut short or damaged: read as they are or refused in words, and never with a cell."""

import json
import subprocess
import sys
import warnings

import pytest
from tests.cli.running import run
from tests.tables.call_here import call_here
from tests.tables.damage import damage
from tests.tables.made_files import PLANTED, WRITERS, make_file

from incrowd import measure, read_table
from incrowd.errors import IncrowdError
from incrowd.tables.formats import limited_reading

MUTATIONS = 30
IN_CHILDREN = 5  # of files that a child process of a second each opens; further ones are read in one process
IN_PROCESS = {
    ".avro",
    ".rds",
    ".RData",
}  # read by Python code, which no file crashes: most seeds need no child


@pytest.mark.parametrize("ending", WRITERS)
def test_damaged_files_are_read_or_refused_without_a_cell(tmp_path, monkeypatch, ending):
    path, options = make_file(tmp_path, ending)
    whole = path.read_bytes()
    errors = []
    for seed in range(IN_CHILDREN if ending in {".feather", ".xlsx"} else MUTATIONS):
        path.write_bytes(damage(whole, seed))
        if seed == 2 and ending in IN_PROCESS:
            monkeypatch.setattr(limited_reading, "call_limited", call_here)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = read_table(path, memory="200MB", **options)
                measure(table, quasi_identifiers=list(table.columns)[:2])
        except IncrowdError as error:
            errors.append(error)
    assert len(errors) >= 3
    assert not [error for error in errors if PLANTED in str(error)]
    assert not [error for error in errors if error.__cause__]  # another library's words may quote cells


MANY = """
import json, resource, sys
from tests.tables.call_here import call_here
from tests.tables.damage import damage
from incrowd import measure, read_table
from incrowd.errors import IncrowdError
from incrowd.tables.formats import limited_reading
from pathlib import Path

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
limited_reading.call_limited = call_here
path, whole = Path(sys.argv[1]), Path(sys.argv[2]).read_bytes()
for seed in range(int(sys.argv[3]), int(sys.argv[4])):
    path.write_bytes(damage(whole, seed))
    print(json.dumps([seed]), flush=True)  # whatever crashes this process was seed's
    try:
        table = read_table(path, memory="200MB")
        measure(table, quasi_identifiers=list(table.columns)[:2])
    except IncrowdError as error:
        print(json.dumps([seed, str(error)]), flush=True)
"""


@pytest.mark.parametrize("ending", [".feather", ".xlsx"])
def test_many_damaged_files_are_refused_by_what_a_child_process_reads_them_with(tmp_path, ending):
    """One process reads all, without a child for each; a crash is one that the child would have had."""
    pytest.importorskip("resource")
    path, _ = make_file(tmp_path, ending)
    whole = tmp_path / "whole"
    whole.write_bytes(path.read_bytes())
    errors, start = [], 0
    while start < MUTATIONS:
        command = [sys.executable, "-c", MANY, str(path), str(whole), str(start), str(MUTATIONS)]
        child = subprocess.run(command, capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in child.stdout.splitlines()]
        assert found, child.stderr
        assert child.returncode <= 0, child.stderr  # only a crash of compiled code ends it
        errors += [words for _, *words in found if words]
        start = found[-1][0] + 1
    assert len(errors) >= MUTATIONS / 4
    assert not [words for words in errors if PLANTED in str(words)]


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if ending not in {".csv", ".jsonl", ".fwf"}])
def test_the_command_line_refuses_a_file_that_is_cut_short(tmp_path, capsys, ending):
    path, _ = make_file(tmp_path, ending)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 5 // 80 * 80 + 7])  # SAS's records have 80 bytes
    code, out, err = run(capsys, "measure", path, "--qi", "name,age")
    assert code == 2
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert PLANTED not in out + err
