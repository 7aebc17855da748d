"""Tables in PostgreSQL and SQLite: the same counts as anywhere, one state, no secrets, no half answers."""

import datetime
import json
import math
import sqlite3
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd import ClassSizes, demo_table, measure, protect, read_table
from incrowd.cli import main
from incrowd.engines import count_in_engine
from incrowd.errors import InputError, UnsupportedError
from incrowd.table.address import masked
from incrowd.table.database import one_select

PASSWORD = "s3cr3t-never-shown"
LETTERS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=2)
KINDS = {
    "whole": (pa.int32(), st.integers(-3, 3) | st.integers(-(2**31), 2**31 - 1)),
    "long": (pa.int64(), st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1)),
    "number": (pa.float64(), st.sampled_from([0.0, -0.0, math.nan, math.inf, 1.5, -1.5]) | st.floats()),
    "text": (pa.string(), st.sampled_from(["", "a", "A", "a ", "ß", "é"]) | LETTERS),
    "day": (pa.date32(), st.dates(datetime.date(1900, 1, 1))),
    "yes": (pa.bool_(), st.booleans()),
}
DEMO = ["age_yrs", "sex", "race", "patcnty"]


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


def to_sqlite(path, table, name="people"):
    """A file with these rows; days and moments as text, as SQLite has them."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in table.column_names)
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        rows = [
            [str(cell) if isinstance(cell, datetime.date) else cell for cell in row.values()]
            for row in table.to_pylist()
        ]
        marks = ", ".join("?" * table.num_columns)
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    connection.close()
    return path


@pytest.fixture(scope="module")
def demo(postgres):
    table = demo_table(3_000)
    postgres.load("patients", table.set_column(10, "diag_p", table["diag_p"].cast(pa.string())))
    return table


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_every_engine_counts_the_same_classes(postgres, tmp_path, table):
    names = table.column_names
    expected = ClassSizes.from_table(table, quasi_identifiers=names)
    pq.write_table(table, tmp_path / "t.parquet")
    assert ClassSizes.from_counts(*count_in_engine(read_table(tmp_path / "t.parquet"), names)) == expected
    postgres.load("random", table)
    sources = [
        read_table(postgres.address(), table="random"),
        read_table(to_sqlite(tmp_path / "t.db", table), table="people"),
    ]
    for source in sources:
        assert ClassSizes.from_table(source, quasi_identifiers=names) == expected, "pushed down"
        assert source.counted_in_engine, "nothing was copied to count"
        copied = ClassSizes.from_table(source.to_arrow(), quasi_identifiers=names)
        assert copied == expected, "copied"
        assert not source.counted_in_engine
        assert ClassSizes.from_counts(*count_in_engine(source, names)) == expected, "counted in the copy"


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


@pytest.mark.parametrize(
    ("query", "repeatable"),
    [
        ("SELECT * FROM patients WHERE age_yrs > 50", True),
        ("SELECT p.sex, lower(q.race::text) AS t FROM patients p JOIN patients q USING (age_yrs)", True),
        ("WITH old AS (SELECT * FROM patients) SELECT sex FROM old UNION ALL SELECT sex FROM old", True),
        ("SELECT sex, now() AS moment FROM patients", True),
        ("SELECT * FROM patients LIMIT 10", False),
        ("SELECT * FROM patients TABLESAMPLE BERNOULLI (10)", False),
        ("SELECT sex, random() AS r FROM patients", False),
        ("SELECT sex, clock_timestamp() AS r FROM patients", False),
        ("SELECT * FROM patients WHERE age_yrs > (SELECT random() * 100)", False),
        ("SELECT sex, row_number() OVER () AS r FROM patients", False),
        ("SELECT sex, careless() AS r FROM patients", False),
    ],
)
def test_only_a_query_that_stays_the_same_is_counted_in_the_server(postgres, demo, query, repeatable):
    postgres.run("CREATE OR REPLACE FUNCTION careless() RETURNS int AS 'BEGIN RETURN 1; END' LANGUAGE plpgsql VOLATILE")
    table = read_table(postgres.address(), query=query)
    assert table.counted_in_engine is repeatable
    assert read_table(postgres.address(), table="patients").counted_in_engine


def test_a_query_keeps_what_its_cells_are(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (whole INTEGER, code TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "01"), (2, "1")])
    connection.close()
    table = read_table(tmp_path / "t.db", query="SELECT whole AS x FROM t UNION ALL SELECT code FROM t")
    assert table.to_arrow()["x"].to_pylist() == ["1", "2", "01", "1"]


def test_rows_that_differ_from_those_counted_are_not_taken(postgres, demo, monkeypatch):
    monkeypatch.setattr("incrowd.table.postgres.Postgres._is_repeatable", lambda self: True)
    moment = "extract(microseconds FROM clock_timestamp())::bigint % 50000"
    table = read_table(postgres.address(), query=f"SELECT i FROM generate_series(1, 1001 + ({moment})) i")
    assert table.rows > 1_000
    with pytest.raises(InputError, match="not the same table twice"):
        table.to_arrow()


@pytest.mark.parametrize("cell", ["1 / (i - 200000)", "('x' || nullif(i, 1))::int", "sqrt(200000 - i)"])
def test_a_value_that_cannot_be_computed_is_not_told_as_a_lost_connection(postgres, cell):
    query = f"SELECT i, {cell} AS a FROM generate_series(1, 400000) i"
    with pytest.raises(InputError, match="cannot compute") as caught:
        read_table(postgres.address(), query=query).to_arrow()
    assert "lost" not in str(caught.value)
    table = read_table(postgres.address(), query=query)
    with pytest.raises(InputError, match="cannot compute"):
        ClassSizes.from_table(table, quasi_identifiers=["a"])
    with pytest.raises(InputError, match="open it again"):
        ClassSizes.from_table(table, quasi_identifiers=["a"])


def test_one_state_is_read_though_the_table_changes(postgres):
    postgres.run(
        "DROP TABLE IF EXISTS moving", "CREATE TABLE moving AS SELECT i % 10 AS a FROM generate_series(1, 100) i"
    )
    table = read_table(postgres.address(), table="moving")
    postgres.run("DELETE FROM moving WHERE a < 5")
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]).histogram() == {10: 10}
    postgres.run("INSERT INTO moving SELECT 77 FROM generate_series(1, 5)")
    assert table.to_arrow().num_rows == table.rows == 100
    fresh = read_table(postgres.address(), table="moving")
    assert ClassSizes.from_table(fresh, quasi_identifiers=["a"]).histogram() == {5: 1, 10: 5}


def test_one_state_of_a_file_is_read_though_another_program_writes(tmp_path):
    path = to_sqlite(tmp_path / "t.db", pa.table({"a": [1, 1, 2]}))
    write = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"
    subprocess.run([sys.executable, "-c", write, path, "PRAGMA journal_mode = WAL"], check=True)
    table = read_table(path)
    subprocess.run([sys.executable, "-c", write, path, "INSERT INTO people VALUES (9)"], check=True)
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]).histogram() == {1: 1, 2: 1}
    assert table.to_arrow().num_rows == 3
    assert read_table(path).rows == 4


def test_a_connection_lost_in_the_middle_of_a_read_is_said_and_leaves_nothing(postgres, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    slow = "SELECT i, md5(i::text) AS t FROM generate_series(1, 3000000) i"
    table = read_table(postgres.address(password=PASSWORD), query=slow)
    database = table._reader._database
    batches = database.stream
    killed = []

    def cut(columns):
        for batch in batches(columns):
            if not killed:
                killed.append(True)
                who = "query LIKE '%generate_series(1, 3000000)%' AND pid <> pg_backend_pid()"
                postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {who}")
            yield batch

    monkeypatch.setattr(database, "stream", cut)
    with pytest.raises(InputError, match=r"connection to postgresql://127.0.0.1:[0-9]+/postgres was lost"):
        table.to_arrow()
    assert killed
    assert list(tmp_path.iterdir()) == [], "nothing is left of the copy"
    with pytest.raises(InputError, match="was lost"):
        ClassSizes.from_table(table, quasi_identifiers=["i"])


def test_who_may_not_read_is_told(postgres):
    postgres.run("DROP TABLE IF EXISTS closed", "CREATE TABLE closed AS SELECT 1 AS a")
    with pytest.raises(InputError, match="no permission to read closed"):
        read_table(postgres.address("reader", PASSWORD), table="closed").to_arrow()
    with pytest.raises(InputError, match="no permission to read the rows of the query"):
        read_table(postgres.address("reader", PASSWORD), query="SELECT * FROM closed").to_arrow()
    with pytest.raises(InputError, match="there are") as listed:
        read_table(postgres.address("reader", PASSWORD), table="nothing")
    assert "closed" not in str(listed.value)


def test_an_unknown_table_lists_what_there_is(postgres, demo, tmp_path):
    with pytest.raises(InputError, match=r"no table 'patient'; there are: .*patients"):
        read_table(postgres.address(), table="patient")
    with pytest.raises(InputError, match=r"which table .*there are: .*patients"):
        read_table(postgres.address())
    with pytest.raises(InputError, match="has no table 'x'; there are: people"):
        read_table(to_sqlite(tmp_path / "t.db", demo.slice(0, 1)), table="x")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM patients", "not a SELECT"),
        ("SELECT 1; DROP TABLE patients", "several statements"),
        ("/* SELECT */ UPDATE patients SET sex = 1", "not a SELECT"),
        ("WITH gone AS (DELETE FROM patients RETURNING *) SELECT * FROM gone", "would write"),
        ("SELECT nothing FROM patients", 'not understood: column "nothing" does not exist'),
        ("SELECT 1 AS a, 2 AS a", "more than once"),
        ("", "not a SELECT"),
    ],
)
def test_a_query_that_does_not_just_read_is_refused(postgres, demo, query, message):
    with pytest.raises(InputError, match=message):
        read_table(postgres.address(), query=query)
    assert read_table(postgres.address(), table="patients").rows == 3_000


def test_a_semicolon_in_a_text_or_at_the_end_is_no_second_statement():
    plain = "SELECT ';' AS a, \"x;y\", $$;$$, $a$;$a$ /* ; */ FROM t"
    assert one_select(plain) == plain
    assert one_select(plain + "; -- ; done") == plain
    assert one_select(" (SELECT 1) ; ") == " (SELECT 1) "


def test_a_statement_that_takes_too_long_is_stopped(postgres):
    table = read_table(postgres.address(), query="SELECT pg_sleep(60)::text AS a", timeout=0.2)
    with pytest.raises(InputError, match="took too long"):
        ClassSizes.from_table(table, quasi_identifiers=["a"])
    with pytest.raises(InputError, match="above 0"):
        read_table(postgres.address(), table="patients", timeout=0)


@pytest.mark.parametrize("value", ["'infinity'::timestamp", "'-infinity'::date", "'294276-01-01'::timestamptz"])
def test_a_moment_that_arrow_cannot_hold_is_said(postgres, value):
    table = read_table(postgres.address(), query=f"SELECT {value} AS a")
    with pytest.raises(UnsupportedError, match="Arrow cannot hold"):
        table.to_arrow()


def test_credentials_come_from_the_environment_a_password_file_or_a_service(postgres, demo, tmp_path, monkeypatch):
    postgres.run("GRANT SELECT ON patients TO reader")
    bare = f"postgresql://reader@127.0.0.1:{postgres.port}/postgres"
    with pytest.raises(InputError, match=r"refuses the user or the password.*PGPASSWORD"):
        read_table(bare, table="patients")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert read_table(bare, table="patients").rows == 3_000
    monkeypatch.delenv("PGPASSWORD")
    secrets = tmp_path / "pgpass"
    secrets.write_text(f"127.0.0.1:{postgres.port}:postgres:reader:{PASSWORD}\n")
    secrets.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(secrets))
    assert read_table(bare, table="patients").rows == 3_000
    monkeypatch.delenv("PGPASSFILE")
    services = tmp_path / "services"
    services.write_text(
        f"[clinic]\nhost=127.0.0.1\nport={postgres.port}\ndbname=postgres\nuser=reader\npassword={PASSWORD}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert read_table("postgresql://?service=clinic", table="patients").rows == 3_000
    monkeypatch.setenv("PGSERVICE", "clinic")
    assert read_table("PostgreSQL://", table="patients").rows == 3_000


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://reader:{secret}@127.0.0.1:{port}/nowhere", "refuses|no such database"),
        ("postgresql://reader:x{secret}@127.0.0.1:{port}/postgres", "refuses.*those in the address"),
        ("postgresql://reader:{secret}@127.0.0.1:1/postgres", r"does not answer[^(]*$"),
        ("postgresql://reader:a@{secret}@127.0.0.1:{port}/postgres", "postgresql://…"),
        ("postgresql://reader:a/{secret}@127.0.0.1:{port}/postgres", "postgresql://…"),
        ("postgresql://reader:a?{secret}@127.0.0.1:{port}/postgres", "postgresql://…"),
        ("postgresql://127.0.0.1:{port}/postgres?user=reader&password=x{secret}", "refuses"),
        ("postgresql://127.0.0.1:{port}/postgres?user=reader&password={secret}&nonsense=1", "not a valid address"),
        ("mysql://reader:{secret}@127.0.0.1/x", "mysql:// is not a database"),
        ("postgresql:/reader:{secret}@127.0.0.1/x", "postgresql"),
        ("host=127.0.0.1 user=reader password={secret}", "write the address of a database as postgresql://"),
    ],
)
def test_a_password_is_in_no_error(postgres, address, message):
    given = address.format(secret=PASSWORD, port=postgres.port)
    with pytest.raises(InputError, match=message) as caught:
        read_table(given, table=None if given.startswith("host") else "patients")
    assert PASSWORD not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return stopped.value.code, *capsys.readouterr()


def test_a_password_is_in_no_output(postgres, demo, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    postgres.run("GRANT SELECT ON patients TO reader")
    address = postgres.address("reader", PASSWORD)
    where = [address, "--table", "patients"]
    qi = ["--qi", ",".join(DEMO)]
    table = read_table(address, table="patients")
    shown = [repr(table), table.name, *table.named, masked(address)]
    for command in (
        ["profile", *where],
        ["measure", *where, *qi, "--sensitive", "charge", "--json"],
        ["check", *where, *qi, "--min-k", "1", "--json"],
        [
            "assess",
            *where,
            "--qi",
            "age_yrs,sex",
            "--sensitive",
            "charge",
            "--population",
            "60000",
            "--html",
            "report.html",
            "--save",
        ],
        ["measure", address, "--table", "nothing", *qi],
    ):
        _, told, noted = run(capsys, *command)
        assert "should not have happened" not in noted
        shown += [told, noted]
    shown += [path.read_text() for path in tmp_path.iterdir()]
    assert (tmp_path / "report.html").exists()
    assert all(PASSWORD not in text for text in shown)
    assert f"127.0.0.1:{postgres.port}/postgres --table patients" in (tmp_path / "incrowd.toml").read_text()
    assert any("come from PGUSER and PGPASSWORD" in text for text in shown)
    assert any("there are: " in text for text in shown)


def test_every_verb_reads_a_database(postgres, demo, tmp_path, capsys, monkeypatch):
    where = ["postgresql://", "--table", "patients"]
    for name, value in {"HOST": "127.0.0.1", "PORT": postgres.port, "USER": "owner", "DATABASE": "postgres"}.items():
        monkeypatch.setenv(f"PG{name}", str(value))
    qi = ["--qi", ",".join(DEMO)]
    sizes = ClassSizes.from_table(demo, quasi_identifiers=DEMO)
    found = json.loads(run(capsys, "measure", *where, *qi, "--sets", "2", "--json")[1])
    assert (found["people"], found["classes"]) == (3_000, sizes.classes)
    assert len(found["by_set"]) == 10
    for command in (
        ["check", *where, *qi, "--sensitive", "charge", "--min-l", "1", "--min-k", "1"],
        ["population", *where, *qi, "--population", "60000"],
        ["leak", *where, *qi, "--leaked", "100"],
        ["curve", *where, *qi],
        ["protect", *where, *qi, "--k", "5", "--out", tmp_path / "safe.parquet"],
    ):
        code, _, noted = run(capsys, *command)
        assert code == 0, (command, noted)
    assert ClassSizes.from_table(str(tmp_path / "safe.parquet"), quasi_identifiers=DEMO).smallest >= 5


def test_the_missing_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)
    with pytest.raises(InputError, match=r"pip install 'incrowd\[database\]'"):
        read_table("postgresql://127.0.0.1/x", table="t")
    with pytest.raises(InputError, match=r"pip install 'incrowd\[database\]'"):
        read_table(to_sqlite(tmp_path / "t.db", pa.table({"a": [1]})))


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


def test_a_database_that_stays_locked_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.table.sqlite._WAIT", 50)
    path = to_sqlite(tmp_path / "t.db", pa.table({"a": [1, 2]}))
    locks = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print(1, flush=True)"
    command = [sys.executable, "-c", f"{locks}; input()", path]  # a lock holds between processes
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        with pytest.raises(InputError, match="locked"):
            read_table(path)
        writer.communicate(b"\n")
    assert read_table(path).rows == 2


def test_an_empty_table_has_no_classes(postgres, tmp_path):
    postgres.run("DROP TABLE IF EXISTS nobody", "CREATE TABLE nobody (a int)")
    for table in (
        read_table(postgres.address(), table="nobody"),
        read_table(to_sqlite(tmp_path / "t.db", pa.table({"a": pa.array([], pa.int64())}))),
    ):
        assert table.rows == 0
        with pytest.raises(InputError, match="no rows"):
            measure(table, quasi_identifiers=["a"])
        with pytest.raises(InputError, match="no rows"):
            protect(table, quasi_identifiers=["a"], k=2)


def test_what_is_for_databases_is_refused_for_files(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="for databases"):
        read_table(tmp_path / "t.parquet", table="a")
    with pytest.raises(InputError, match="not both"):
        read_table("postgresql://", table="a", query="SELECT 1")


def test_a_file_that_changes_while_it_is_read_is_said(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), path)
    table = read_table(path)
    assert next(table.read(["a"]))[1].to_pylist() == [1, 2]
    pq.write_table(pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}), path)
    with pytest.raises(InputError, match="changed while it was read"):
        next(table.read(["b"]))
    with pytest.raises(InputError, match="changed while it was read"):
        count_in_engine(table, ["a"])
    assert ClassSizes.from_table(str(path), quasi_identifiers=["a"]).people == 3
