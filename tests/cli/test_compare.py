"""`incrowd compare`: whatever is a table for the other verbs is one for this."""

import json
import sqlite3

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from incrowd import InputError, read_table
from incrowd.cli.app import app
from incrowd.tables import write_table


@pytest.fixture
def clinic(tmp_path):
    path = tmp_path / "clinic.db"
    with sqlite3.connect(path) as connection:
        for name, ages in {"january": [30, 41, 52, 52], "february": [30, 30, 52, 52]}.items():
            connection.execute(f"CREATE TABLE {name} (age INTEGER)")
            connection.executemany(f"INSERT INTO {name} VALUES (?)", [(age,) for age in ages])
    connection.close()
    (tmp_path / "february.csv").write_text("age;note\n30;a\n30;b\n52;c\n52;d\n")
    return path


def smallest(*arguments):
    found = CliRunner().invoke(app, ["compare", *map(str, arguments), "--qi", "age", "--json"])
    assert found.exit_code == 0, found.output
    changes = {change["name"]: change for change in json.loads(found.stdout)["changes"]}
    change = changes["smallest class (k)"]
    return change["before"], change["after"]


def test_two_tables_of_a_database_are_compared(clinic):
    assert smallest(clinic, clinic, "--table", "january", "--after-table", "february") == (1, 2)
    one = "SELECT * FROM january WHERE age > 50"
    assert smallest(clinic, clinic, "--table", "january", "--after-query", one) == (1, 2)
    assert smallest(clinic, clinic, "--query", one) == (2, 2)


def test_a_table_of_a_database_is_compared_with_a_file(clinic):
    file = clinic.parent / "february.csv"
    assert smallest(clinic, file, "--table", "january", "--separator", ";", "--memory", "1GB") == (1, 2)
    assert smallest(file, clinic, "--after-table", "january", "--engine", "duckdb") == (2, 1)


@pytest.mark.parametrize("option", ["--table", "--after-table"])
def test_what_is_for_databases_is_refused_for_two_files(clinic, option):
    file = str(clinic.parent / "february.csv")
    found = CliRunner().invoke(app, ["compare", file, file, "--qi", "age", option, "january"])
    assert found.exit_code != 0
    assert "for databases" in found.output + str(found.exception)


def test_what_is_for_one_kind_of_file_is_for_the_side_that_is_one_and_refused_where_none_is(clinic):
    file, packed = clinic.parent / "february.csv", clinic.parent / "february.parquet"
    write_table(pa.table({"age": [30, 41, 52]}), packed)
    assert smallest(packed, file, "--separator", ";", "--null", "NA") == (1, 2)
    for option, value in {"--separator": ";", "--null": "NA", "--encoding": "utf-8", "--sheet": "one"}.items():
        found = CliRunner().invoke(app, ["compare", str(packed), str(packed), "--qi", "age", option, value])
        assert " is for " in str(found.exception)
        assert found.exception.hint == (option.removeprefix("--"),)
    with pytest.raises(InputError, match="'sheet' is for Excel and OpenDocument files") as error:
        read_table(file, sheet="one")
    assert error.value.hint == ("sheet",)
    with pytest.raises(InputError, match="'skip bad lines' is for CSV") as error:
        read_table({"age": [1]}, skip_bad_lines=True)
    assert error.value.hint == ("skip_bad_lines",)
