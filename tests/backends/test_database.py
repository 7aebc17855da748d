"""Tables in PostgreSQL and SQLite alike: the same counts as anywhere, one state, no half answers."""

import datetime
import math
import sqlite3
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.backends.databases import DEMO, to_sqlite

from incrowd import ClassSizes, measure, protect, read_table
from incrowd.backends.relational import count_in_engine
from incrowd.backends.sql.database import check_select
from incrowd.errors import InputError

pytestmark = pytest.mark.xdist_group("postgres")  # one worker: the server is started once
LETTERS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=2)
KINDS = {
    "whole": (pa.int32(), st.integers(-3, 3) | st.integers(-(2**31), 2**31 - 1)),
    "long": (pa.int64(), st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1)),
    "number": (pa.float64(), st.sampled_from([0.0, -0.0, math.nan, math.inf, 1.5, -1.5]) | st.floats()),
    "text": (pa.string(), st.sampled_from(["", "a", "A", "a ", "ß", "é"]) | LETTERS),
    "day": (pa.date32(), st.dates(datetime.date(1900, 1, 1))),
    "yes": (pa.bool_(), st.booleans()),
}


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 8))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    columns = {}
    for place, kind in enumerate(kinds):
        arrow, values = KINDS[kind]
        cells = draw(st.lists(values | st.none(), min_size=rows, max_size=rows))
        columns[f"c{place} {kind}"] = pa.array(cells, arrow)
    return pa.table(columns)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_every_engine_counts_the_same_classes(postgres, tmp_path, table):
    names = table.column_names
    expected = ClassSizes.from_table(table, quasi_identifiers=names)
    pq.write_table(table, tmp_path / "t.parquet")
    assert ClassSizes.from_counts(*count_in_engine(read_table(tmp_path / "t.parquet").backend, names)) == expected
    postgres.load("random", table)
    sources = [
        read_table(postgres.address(), table="random"),
        read_table(to_sqlite(tmp_path / "t.db", table), table="people"),
    ]
    for source in sources:
        assert ClassSizes.from_table(source, quasi_identifiers=names) == expected, "pushed down"
        assert source.backend.counts_in_database, "nothing was copied to count"
        copied = ClassSizes.from_table(source.to_arrow(), quasi_identifiers=names)
        assert copied == expected, "copied"
        assert not source.backend.counts_in_database
        assert ClassSizes.from_counts(*count_in_engine(source.backend, names)) == expected, "counted in the copy"


def test_the_facts_of_a_database_are_those_of_the_file(postgres, demo, tmp_path):
    sources = [
        read_table(postgres.address(), table="patients"),
        read_table(postgres.address(), query="SELECT * FROM patients WHERE age_yrs >= 0 -- all"),
        read_table(f"sqlite:///{to_sqlite(tmp_path / 'demo.sqlite', demo, 'patients')}"),
    ]
    expected = measure(demo, quasi_identifiers=DEMO, sensitive=["charge", "diag_p"]).to_dict()
    for source in sources:
        assert measure(source, quasi_identifiers=DEMO, sensitive=["charge", "diag_p"]).to_dict() == expected


def test_protecting_a_database_gives_what_protecting_the_file_gives(postgres, demo):
    from_database = protect(read_table(postgres.address(), table="patients"), quasi_identifiers=DEMO, k=5)
    safe = protect(demo, quasi_identifiers=DEMO, k=5)
    assert from_database.table.num_rows == safe.table.num_rows == 3_000
    assert from_database.guarantee == safe.guarantee
    assert from_database.guarantee.k >= 5


def test_names_are_names_whatever_is_in_them(postgres, tmp_path):
    hostile = ['a"b', "select", "x; DROP TABLE people", "%s", "a'b", "ünï cødé", "{}", "r", "c1"]
    table = pa.table({name: [1, 1, 2] for name in hostile})
    postgres.run('DROP TABLE IF EXISTS "pe""op.le; --"')
    cells = ", ".join('"' + name.replace('"', '""') + '" int' for name in hostile)
    postgres.run(f'CREATE TABLE "pe""op.le; --" ({cells})')
    for row in table.to_pylist():
        postgres.run(f'INSERT INTO "pe""op.le; --" VALUES ({", ".join(str(cell) for cell in row.values())})')
    for source in (
        read_table(postgres.address(), table='pe"op.le; --'),
        read_table(to_sqlite(tmp_path / "t.db", table), table="people"),
    ):
        assert source.columns == tuple(hostile)
        assert ClassSizes.from_table(source, quasi_identifiers=hostile).histogram() == {1: 1, 2: 1}
        assert source.to_arrow().to_pydict() == table.to_pydict()


def test_text_is_compared_by_its_letters_and_numbers_by_their_value(postgres, tmp_path):
    postgres.run(
        "DROP TABLE IF EXISTS odd",
        "DROP COLLATION IF EXISTS careless",
        "CREATE COLLATION careless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE odd (careless text COLLATE careless, padded char(5), exact numeric, wide numeric, span interval)",
        "INSERT INTO odd VALUES ('a', 'x', 1.0, 12345678901234567890.1, '1 mon'), "
        "('A', 'x ', 1.00, 12345678901234567890.2, '30 days'), ('a', 'x', 'NaN', NULL, NULL)",
    )
    table = read_table(postgres.address(), table="odd")
    counted = {name: ClassSizes.from_table(table, quasi_identifiers=[name]).histogram() for name in table.columns}
    expected = {"careless": {1: 1, 2: 1}, "padded": {3: 1}, "exact": {1: 1, 2: 1}, "wide": {1: 3}, "span": {1: 3}}
    assert counted == expected
    assert table.to_arrow()["exact"].to_pylist() == [1, 1, None]
    assert {
        name: ClassSizes.from_table(table, quasi_identifiers=[name]).histogram() for name in table.columns
    } == expected
    with sqlite3.connect(tmp_path / "odd.db") as connection:
        connection.execute("CREATE TABLE t (careless TEXT COLLATE NOCASE)")
        connection.executemany("INSERT INTO t VALUES (?)", [("a",), ("A",), ("a",)])
    connection.close()
    sizes = ClassSizes.from_table(read_table(tmp_path / "odd.db"), quasi_identifiers=["careless"])
    assert sizes.histogram() == {1: 1, 2: 1}


RANDOM = {
    "sampled": "SELECT a FROM sampled_from WHERE {chance}",
    "first": "SELECT a FROM sampled_from ORDER BY random() LIMIT 500",
    "view": "SELECT * FROM some_rows",
}


def assert_one_state(table):
    """Whatever is asked, and in whatever order, is asked of the same rows."""
    sizes = ClassSizes.from_table(table, quasi_identifiers=["a"])
    assert 300 < sizes.people < 700
    assert table.rows == sizes.people
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]) == sizes
    copied = table.to_arrow()
    assert ClassSizes.from_table(copied, quasi_identifiers=["a"]) == sizes
    assert copied.num_rows == table.rows
    assert table.to_arrow() == copied


@pytest.mark.parametrize("query", RANDOM)
def test_a_query_that_is_another_table_each_time_is_run_once(postgres, tmp_path, query):
    postgres.run(
        "DROP TABLE IF EXISTS sampled_from CASCADE",
        "CREATE TABLE sampled_from AS SELECT i % 400 AS a FROM generate_series(1, 1000) i",
        "CREATE VIEW some_rows AS SELECT a FROM sampled_from WHERE random() < 0.5",
    )
    table = read_table(postgres.address(), query=RANDOM[query].format(chance="random() < 0.5"))
    assert_one_state(table)
    path = to_sqlite(tmp_path / "t.db", pa.table({"a": [i % 400 for i in range(1000)]}), "sampled_from")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW some_rows AS SELECT a FROM sampled_from WHERE abs(random()) % 2 = 0")
    connection.close()
    assert_one_state(read_table(path, query=RANDOM[query].format(chance="abs(random()) % 2 = 0")))
    if query == "view":
        assert_one_state(read_table(postgres.address(), table="some_rows"))
        assert_one_state(read_table(path, table="some_rows"))


def test_an_unknown_table_lists_what_there_is(postgres, demo, tmp_path):
    with pytest.raises(InputError, match=r"no table 'patient'; there are: .*patients"):
        read_table(postgres.address(), table="patient")
    with pytest.raises(InputError, match=r"which table .*there are: .*patients"):
        read_table(postgres.address())
    with pytest.raises(InputError, match="has no table 'x'; there are: people"):
        read_table(to_sqlite(tmp_path / "t.db", demo.slice(0, 1)), table="x")


def test_a_semicolon_in_a_text_or_at_the_end_is_no_second_statement():
    plain = "SELECT ';' AS a, \"x;y\", $$;$$, $a$;$a$ /* ; */ FROM t"
    assert check_select(plain) == plain
    assert check_select(plain + "; -- ; done") == plain
    assert check_select(" (SELECT 1) ; ") == " (SELECT 1) "


def test_the_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)
    with pytest.raises(InputError, match=r"pip install 'incrowd\[database\]'"):
        read_table("postgresql://127.0.0.1/x", table="t")
    with pytest.raises(InputError, match=r"pip install 'incrowd\[database\]'"):
        read_table(to_sqlite(tmp_path / "t.db", pa.table({"a": [1]})))


def test_an_empty_table_has_no_classes(postgres, tmp_path):
    postgres.run("DROP TABLE IF EXISTS nobody", "CREATE TABLE nobody (a int)")
    for table in (
        read_table(postgres.address(), table="nobody"),
        read_table(to_sqlite(tmp_path / "t.db", pa.table({"a": pa.array([], pa.int64())}))),
    ):
        assert table.rows == 0
        with pytest.raises(InputError, match=r" no rows$"):
            measure(table, quasi_identifiers=["a"])
        with pytest.raises(InputError, match="no rows"):
            protect(table, quasi_identifiers=["a"], k=2)


def test_what_is_for_databases_is_refused_for_files(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="for databases"):
        read_table(tmp_path / "t.parquet", table="a")
    with pytest.raises(InputError, match="not both"):
        read_table("postgresql://", table="a", query="SELECT 1")
