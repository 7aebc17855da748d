"""Tables in PostgreSQL: what the server counts and what is copied, one state, no secrets, failures in words."""

import json
import math
import re
import tempfile

import pytest
from tests.backends.databases import DEMO, PASSWORD
from tests.cli.running import run

from incrowd import ClassSizes, read_table
from incrowd._support.addresses import masked
from incrowd.backends.sql.transaction import Transaction
from incrowd.errors import InputError, UnsupportedError

pytestmark = pytest.mark.xdist_group("postgres")  # one worker: the server is started once


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM patients WHERE age_yrs > 50",
        "SELECT * FROM patients LIMIT 10",
        "SELECT * FROM patients TABLESAMPLE BERNOULLI (10)",
        "SELECT sex, random() AS r FROM patients",
        "SELECT * FROM patients WHERE age_yrs > (SELECT random() * 10)",
    ],
)
def test_what_a_query_or_a_view_gives_is_copied_once_and_counted_there(postgres, demo, query):
    postgres.run("DROP VIEW IF EXISTS seen", f"CREATE VIEW seen AS {query}")
    for table in (read_table(postgres.address(), query=query), read_table(postgres.address(), table="seen")):
        assert not table.backend.counts_in_database
        sizes = ClassSizes.from_table(table, quasi_identifiers=[table.columns[0]])
        assert sizes.records == table.rows == table.to_arrow().num_rows
    postgres.run("DROP VIEW seen")


def test_stored_rows_are_counted_in_the_server(postgres, demo):
    postgres.run("CREATE MATERIALIZED VIEW IF NOT EXISTS kept AS SELECT * FROM patients")
    for name in ("patients", "kept"):
        assert read_table(postgres.address(), table=name).backend.counts_in_database
    postgres.run("DROP MATERIALIZED VIEW kept")


def test_rows_that_differ_from_those_counted_are_not_taken(postgres, demo):
    moment = "extract(microseconds FROM clock_timestamp())::bigint % 50000"
    table = read_table(postgres.address(), query=f"SELECT i FROM generate_series(1, 1001 + ({moment})) i")
    table.backend._repeatable = True
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


def test_a_connection_lost_in_the_middle_of_a_read_is_said_and_leaves_nothing(postgres, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    slow = "SELECT i, md5(i::text) AS t FROM generate_series(1, 3000000) i"
    table = read_table(postgres.address(password=PASSWORD), query=slow)
    database = table.backend.database
    batches = database.stream
    killed = []

    def cut():
        for batch in batches():
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


@pytest.mark.parametrize("verb", ["assess", "protect"])
def test_a_server_that_restarts_in_the_middle_is_said_and_leaves_nothing(
    postgres, demo, tmp_path, capsys, monkeypatch, verb
):
    """The rows come in parts, and the server restarts after the first one."""
    place, temporary = tmp_path / "place", tmp_path / "temporary"
    place.mkdir()
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    batches, restarts = Transaction.stream, []

    def cut(database):
        for batch in batches(database):
            if not restarts:
                restarts.append(postgres.restart())
            yield batch

    monkeypatch.setattr(Transaction, "stream", cut)
    many = "SELECT patients.* FROM patients, generate_series(1, 150)"
    asked = [postgres.address(password=PASSWORD), "--query", many, "--qi", ",".join(DEMO)]
    outputs = ["--html", place / "report.html"] if verb == "assess" else ["--k", "5", "--out", place / "safe.csv"]
    code, shown, said = run(capsys, verb, *asked, *outputs)
    assert restarts
    assert (code, shown) == (2, "")
    assert re.search(r"error: the connection to postgresql://127.0.0.1:[0-9]+/postgres was lost", said), said
    assert PASSWORD not in said
    assert list(place.iterdir()) == []
    assert list(temporary.iterdir()) == []
    monkeypatch.undo()
    assert ClassSizes.from_table(read_table(postgres.address(), table="patients"), quasi_identifiers=DEMO).records


def test_a_connection_that_is_gone_without_a_word_is_told_as_lost(postgres):
    database = read_table(postgres.address(), query="SELECT 1 AS a").backend.database
    with pytest.raises(InputError, match="was lost"):
        database.explain(OSError("IO: Failed to prepare query: \nQuery was: SELECT 1"))
    with pytest.raises(InputError, match="most likely at a value"):
        database.explain(OSError("IO: Failed to prepare query: something else\nQuery was: SELECT 1"))


def test_who_may_not_read_is_told(postgres):
    postgres.run("DROP TABLE IF EXISTS closed", "CREATE TABLE closed AS SELECT 1 AS a")
    with pytest.raises(InputError, match="no permission to read closed"):
        read_table(postgres.address("reader", PASSWORD), table="closed").to_arrow()
    with pytest.raises(InputError, match="no permission to read the rows of the query"):
        read_table(postgres.address("reader", PASSWORD), query="SELECT * FROM closed").to_arrow()
    with pytest.raises(InputError, match="there are") as listed:
        read_table(postgres.address("reader", PASSWORD), table="nothing")
    assert "closed" not in str(listed.value)


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


def test_a_statement_that_takes_too_long_is_stopped(postgres):
    table = read_table(postgres.address(), query="SELECT pg_sleep(60)::text AS a", timeout=0.2)
    with pytest.raises(InputError, match="took too long"):
        ClassSizes.from_table(table, quasi_identifiers=["a"])
    for seconds in (0, math.inf, math.nan, 1e9):  # PostgreSQL holds milliseconds in 31 bits
        with pytest.raises(InputError, match="above 0"):
            read_table(postgres.address(), table="patients", timeout=seconds)


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
        (
            "postgresql://reader:x{secret}@127.0.0.1:{port}/postgres",
            "refuses.*in the address.*in the address",
        ),
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


def test_a_password_is_in_no_output(postgres, demo, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    postgres.run("GRANT SELECT ON patients TO reader")
    address = postgres.address("reader", PASSWORD)
    where = [address, "--table", "patients"]
    qi = ["--qi", ",".join(DEMO)]
    table = read_table(address, table="patients")
    shown = [repr(table), table.name, table.place, masked(address)]
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
            "--question",
            "question.toml",
        ],
        ["measure", address, "--table", "nothing", *qi],
    ):
        _, told, noted = run(capsys, *command)
        assert "should not have happened" not in noted
        shown += [told, noted]
    shown += [path.read_text() for path in tmp_path.iterdir()]
    assert (tmp_path / "report.html").exists()
    assert all(PASSWORD not in text for text in shown)
    assert f"127.0.0.1:{postgres.port}/postgres --table patients" in (tmp_path / "question.toml").read_text()
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
