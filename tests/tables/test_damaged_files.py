"""Files that are cut short or damaged: read as they are or refused in words, and never with a cell."""

import warnings

import pytest
from tests.cli.running import run
from tests.tables.damage import damage
from tests.tables.made_files import PLANTED, WRITERS, make_file

from incrowd import measure, read_table
from incrowd.errors import IncrowdError

pytestmark = pytest.mark.usefixtures("forked_reads")

MUTATIONS = 30
IN_CHILDREN = [".feather", ".xlsx"]  # read by compiled code in a child process, which a file may crash


@pytest.mark.parametrize("ending", WRITERS)
def test_damaged_files_are_read_or_refused_without_a_cell(tmp_path, ending):
    errors = _errors(tmp_path, ending, range(MUTATIONS))
    assert len(errors) >= 3
    assert not [error for error in errors if error.__cause__]  # another library's words may quote cells


@pytest.mark.parametrize("ending", IN_CHILDREN)
def test_many_damaged_files_are_refused_by_what_a_child_process_reads_them_with(tmp_path, ending):
    assert len(_errors(tmp_path, ending, range(MUTATIONS, 2 * MUTATIONS))) >= MUTATIONS / 4


def _errors(folder, ending, seeds):
    """What is said of the damaged files that are refused: never a cell."""
    path, options = make_file(folder, ending)
    whole = path.read_bytes()
    assert read_table(path, memory="200MB", **options).columns  # so that what is refused is refused for its damage
    errors = []
    for seed in seeds:
        path.write_bytes(damage(whole, seed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = read_table(path, memory="200MB", **options)
                measure(table, quasi_identifiers=list(table.columns)[:2])
        except IncrowdError as error:
            errors.append(error)
    assert not [error for error in errors if PLANTED in str(error)]
    return errors


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
