"""Tables in SQLite: cells of any type, one state of a file that is written to, files that are none."""

import sqlite3
import subprocess
import sys

import pyarrow as pa
import pytest
from tests.backends.databases import to_sqlite

from incrowd import ClassSizes, measure, read_table
from incrowd.backends.sql.sqlite import SQLITE
from incrowd.backends.sql.transaction import Transaction
from incrowd.errors import InputError


def test_a_column_of_several_types_keeps_them_apart(tmp_path):
    with sqlite3.connect(tmp_path / "mixed.db") as connection:
        connection.execute("CREATE TABLE t (late TEXT, mixed, mostly, day TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(None, None, 1, "2020-02-29")] * 2_000)
        rows = [("x", 1, 2.5, None), ("y", "one", 1, None), ("x", b"\xff", 2**52, None), (None, 0.1, None, None)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.close()
    table = read_table(tmp_path / "mixed.db")
    read = table.to_arrow()
    assert read["late"].to_pylist()[-4:] == ["x", "y", "x", None]
    assert read["mixed"].to_pylist()[-4:] == ["1", "one", "blob FF", "0.1"]
    assert read["mostly"].to_pylist()[-4:] == [2.5, 1.0, 2.0**52, None]
    assert read["day"].type == pa.date32()


def test_a_moment_in_two_spellings_is_counted_alike_before_and_after_it_is_copied(tmp_path):
    day = "2020-01-01"
    table = pa.table(
        {
            "two": [f"{day} 00:00:00", f"{day}T00:00:00", "2021-01-01 00:00:00"],
            "one": [f"{day} 00:00:00", f"{day} 00:00:00", "2021-01-01 00:00:00"],
        }
    )
    found = read_table(to_sqlite(tmp_path / "t.db", table))
    expected = {"two": {1: 3}, "one": {1: 1, 2: 1}}
    for _ in range(2):
        sizes = {name: ClassSizes.from_table(found, quasi_identifiers=[name]).histogram() for name in expected}
        assert sizes == expected
        copied = found.to_arrow()
    assert copied["one"].type == pa.timestamp("s")


def test_numbers_are_compared_as_numbers_though_no_type_holds_them_all(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (a)")
        cells = [1, 1.0, 2**53 + 1, float(2**53), 2**53, 0.5, None]
        connection.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in cells])
    connection.close()
    table = read_table(tmp_path / "t.db")
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]).histogram() == {1: 3, 2: 2}
    assert ClassSizes.from_table(table.to_arrow(), quasi_identifiers=["a"]).histogram() == {1: 3, 2: 2}


def test_a_query_keeps_what_its_cells_are(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (whole INTEGER, code TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "01"), (2, "1")])
    connection.close()
    table = read_table(tmp_path / "t.db", query="SELECT whole AS x FROM t UNION ALL SELECT code FROM t")
    assert table.to_arrow()["x"].to_pylist() == ["1", "2", "01", "1"]


def test_one_state_of_a_file_is_read_though_another_program_writes(tmp_path):
    path = to_sqlite(tmp_path / "t.db", pa.table({"a": [1, 1, 2]}))
    write = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"
    subprocess.run([sys.executable, "-c", write, path, "PRAGMA journal_mode = WAL"], check=True)
    table = read_table(path)
    subprocess.run([sys.executable, "-c", write, path, "INSERT INTO people VALUES (9)"], check=True)
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]).histogram() == {1: 1, 2: 1}
    assert table.to_arrow().num_rows == 3
    assert read_table(path).rows == 4


def test_sqlite_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "no.db").write_text("a,b\n1,2\n" * 20)
    with pytest.raises(InputError, match="not an SQLite database"):
        read_table(tmp_path / "no.db")
    with pytest.raises(InputError, match="there is no file"):
        read_table(f"sqlite:///{tmp_path}/nothing.db")
    good = to_sqlite(tmp_path / "cut.db", pa.table({"a": list(range(5_000))}))
    good.write_bytes(good.read_bytes()[: 3 * 4096])
    with pytest.raises(InputError, match=r"damaged|cannot be read"):
        read_table(good).to_arrow()


def test_a_database_that_stays_locked_is_said(tmp_path):
    path = to_sqlite(tmp_path / "t.db", pa.table({"a": [1, 2]}))
    locks = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print(1, flush=True)"
    command = [sys.executable, "-c", f"{locks}; input()", path]  # a lock holds between processes
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        with pytest.raises(InputError, match="locked"):
            Transaction(SQLITE, str(path), None, None, "PRAGMA busy_timeout = 50", "SELECT * FROM people")
        writer.communicate(b"\n")
    assert read_table(path).rows == 2


def test_a_collation_that_only_its_program_knows_is_not_asked_for(tmp_path):
    with sqlite3.connect(tmp_path / "own.db") as connection:
        connection.create_collation("mine", lambda one, other: (one > other) - (one < other))
        kinds = ("number", "real", "word", "bytes", "none", "mixed", "large")
        connection.execute(f"CREATE TABLE t ({', '.join(f'{kind} COLLATE mine' for kind in kinds)})")
        row, large = (1, 0.5, "a", b"\x00", None, "1", 2**62), (2, 1.5, "A", b"\x01", None, 1.0, 2.0**62)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", [row, row, large])
    connection.close()
    expected = {kind: {1: 1, 2: 1} for kind in kinds} | {"none": {3: 1}, "mixed": {1: 1, 2: 1}, "large": {3: 1}}
    table = read_table(tmp_path / "own.db")
    found = {kind: ClassSizes.from_table(table, quasi_identifiers=[kind]).histogram() for kind in kinds}
    assert found == expected
    table.to_arrow()
    assert {kind: ClassSizes.from_table(table, quasi_identifiers=[kind]).histogram() for kind in kinds} == expected


def with_log(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE people (age INT)")
        connection.executemany("INSERT INTO people VALUES (?)", [(age,) for age in (30, 30, 31)])
    connection.close()
    return path


def test_nothing_is_left_beside_a_database_with_a_write_ahead_log(tmp_path):
    file = with_log(tmp_path / "people.db")
    assert measure(file, quasi_identifiers=["age"]).k == 1
    assert [path.name for path in tmp_path.iterdir()] == ["people.db"]


def test_what_is_in_the_log_only_is_read_too(tmp_path):
    file = with_log(tmp_path / "people.db")
    with sqlite3.connect(file) as writer:
        writer.execute("INSERT INTO people VALUES (31)")
        writer.commit()
        assert measure(file, quasi_identifiers=["age"]).k == 2
    writer.close()
