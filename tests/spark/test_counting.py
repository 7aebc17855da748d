"""Numbers do not depend on where a table is counted: here, in DuckDB, in a cluster of two workers."""

import datetime
import json

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from incrowd import ClassSizes, assess, check, demo_table, measure, population_risk, read_table
from incrowd.backends import MemoryNeeds, TooManyDistinctError, encode
from incrowd.backends.spark.backend import SparkBackend
from incrowd.cli.app import app
from incrowd.errors import InputError
from incrowd.measures import minimal_sets, risk_by_group, risk_by_subset
from incrowd.measures.contribution import contributions
from incrowd.tables import Table

KNOWN = ["age_yrs", "sex", "race", "patcnty", "adm_qtr"]
GROUPS = {"census": ["age_yrs", "sex", "race"], "spatial": ["patcnty"], "temporal": ["adm_qtr"]}


@pytest.fixture(scope="module")
def rows():
    return demo_table(2_000, seed=3)


@pytest.fixture(scope="module")
def there(rows, session, tmp_path_factory):
    """The demo table as the cluster reads it."""
    path = tmp_path_factory.mktemp("demo") / "demo.parquet"
    pq.write_table(rows, path)
    return read_table(path, engine="spark", memory="4GB")


def with_few_distinct(table, most):
    """The table where at most so many distinct rows may be brought out of the cluster."""
    few = MemoryNeeds(cell=0, row=table.memory // 4 // most)
    fresh = Table(SparkBackend(nw.from_native(table.native), name=table.name, memory=table.memory, needs=few))
    assert fresh.backend.most_distinct(5) == most
    return fresh


def cells(kind):
    plain = {
        "text": st.sampled_from(["", "a", "A", "é", " a"]),
        "whole": st.integers(-2, 2),
        "number": st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf"), 1e300]),
        "day": st.sampled_from([datetime.date(1970, 1, 1), datetime.date(2024, 2, 29)]),
        "time": st.sampled_from([datetime.datetime(2020, 1, 1), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)]),
        "yes": st.booleans(),
    }
    return st.one_of(st.none(), plain[kind])


TYPES = {
    "text": pa.string(),
    "whole": pa.int32(),
    "number": pa.float64(),
    "day": pa.date32(),
    "time": pa.timestamp("us"),
    "yes": pa.bool_(),
}


@st.composite
def tables(draw):
    size = draw(st.integers(1, 40))
    return pa.table(
        {kind: pa.array(draw(st.lists(cells(kind), min_size=size, max_size=size)), TYPES[kind]) for kind in TYPES}
    )


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_random_tables_have_the_same_classes_on_every_engine(session, table):
    names = table.column_names
    here = ClassSizes.from_table(table, quasi_identifiers=names)
    database = duckdb.connect()
    assert ClassSizes.from_table(database.from_arrow(table), quasi_identifiers=names) == here
    there = read_table(table, engine="spark")
    assert ClassSizes.from_table(there, quasi_identifiers=names) == here
    rows = there.backend.counted_rows(names)
    assert (
        ClassSizes.from_table(Table(rows.backend), quasi_identifiers=names).classes == rows.backend.rows == here.classes
    )
    assert sorted(rows.times.tolist()) == sorted(np.repeat(here.sizes, here.counts).tolist())


def test_every_fact_is_the_same_and_a_spark_frame_is_a_table(rows, there):
    secrets = ["charge", "los"]
    here = measure(rows, quasi_identifiers=KNOWN, sensitive=secrets)
    assert measure(there, quasi_identifiers=KNOWN, sensitive=secrets).to_dict() == here.to_dict()
    assert measure(there.native, quasi_identifiers=KNOWN).sizes == here.sizes
    limits = {"min_k": 2, "max_t": 0.5, "min_l": 2}
    found = check(there, quasi_identifiers=KNOWN, sensitive=["los"], **limits)
    expected = check(rows, quasi_identifiers=KNOWN, sensitive=["los"], **limits)
    assert (found.rules, found.notes) == (expected.rules, expected.notes)
    assert found.notes


def test_every_set_of_columns_is_the_same(rows, there):
    here = risk_by_subset(rows, KNOWN)
    assert risk_by_subset(there, KNOWN) == here
    assert risk_by_group(there, GROUPS) == risk_by_group(rows, GROUPS)
    assert contributions(there, KNOWN) == contributions(rows, KNOWN)
    assert minimal_sets(there, KNOWN, up_to=3).to_dict() == minimal_sets(rows, KNOWN, up_to=3).to_dict()


def test_where_classes_are_too_many_sets_are_counted_in_the_cluster(rows, there):
    fresh = with_few_distinct(there, 20)
    with pytest.raises(TooManyDistinctError, match="more than 20 rows that differ"):
        fresh.backend.counted_rows(KNOWN)
    assert risk_by_subset(fresh, KNOWN[:2]) == risk_by_subset(rows, KNOWN[:2])
    fresh = with_few_distinct(there, 1_000)
    with pytest.raises(TooManyDistinctError, match="more than 1,000 rows that differ"):
        fresh.backend.counted_rows([*KNOWN, "los"])
    here = measure(rows, quasi_identifiers=KNOWN, sensitive=["los"])
    found = measure(fresh, quasi_identifiers=KNOWN, sensitive=["los"])  # part by part
    assert found.sizes == here.sizes
    facts, expected = (one.sensitive[0].to_dict() for one in (found, here))
    numbers = {name for name, value in expected.items() if isinstance(value, float)}
    exact = pytest.approx({name: expected[name] for name in numbers}, rel=1e-12)  # sums of the same counts
    assert {name: facts[name] for name in numbers} == exact
    assert all(facts[name] == value for name, value in expected.items() if name not in numbers)


def test_people_with_several_records_are_counted_in_the_cluster(session):
    generator = np.random.default_rng(5)
    visits = {
        "who": generator.integers(0, 300, 700),
        "age": generator.integers(0, 3, 700),
        "ward": [None if x == 0 else f"w{x}" for x in generator.integers(0, 3, 700)],
        "ill": generator.integers(0, 5, 700),
    }
    options = {"quasi_identifiers": ["age", "ward"], "sensitive": ["ill"], "person": "who"}
    here, found = measure(visits, **options), measure(read_table(visits, engine="spark"), **options)
    assert here.sizes.largest > 1
    assert found.sizes == here.sizes
    assert found.sensitive == here.sensitive


def test_population_risk_is_the_same(rows, there):
    options = {"population": 40_000, "quasi_identifiers": KNOWN, "method": "combined"}
    here, found = population_risk(rows, **options), population_risk(there, **options)
    # people are grown in the order of the records, which a cluster does not keep: equal but for the scatter of seeds
    assert (found.sample_to_population, *found.interval) == pytest.approx(
        (here.sample_to_population, *here.interval), abs=0.01
    )
    assert found.parts.keys() == here.parts.keys()
    options["method"] = "posterior"  # by the class sizes alone, which are exact
    here, found = population_risk(rows, **options), population_risk(there, **options)
    assert (found.sample_to_population, found.interval, found.still_unique) == (
        here.sample_to_population,
        here.interval,
        here.still_unique,
    )


def test_a_copula_is_fitted_from_contingency_tables(rows, there):
    options = {"population": 40_000, "quasi_identifiers": KNOWN[:4]}
    here = population_risk(rows, **options, method="anchored")
    largest = rows.group_by(["age_yrs", "patcnty"]).aggregate([]).num_rows  # of all pairs
    fresh = with_few_distinct(there, largest)
    assert (
        pytest.approx(here.sample_to_population, rel=1e-9)
        == population_risk(fresh, **options, method="anchored").sample_to_population
    )
    with pytest.raises(TooManyDistinctError, match="rows that differ"):
        population_risk(fresh, **options, method="dvine")


def test_an_assessment_says_what_a_cluster_does_not_do(rows, there):
    options = {"quasi_identifiers": KNOWN[:3], "sensitive": ["los"], "population": 40_000, "recipient": "trusted"}
    # people are grown in the order of the records, which a cluster does not keep: they are sorted by their values
    codes = [column.codes for column in encode(read_table(rows), KNOWN[:3])]
    in_order = rows.take(np.lexsort(codes[::-1]))
    found, here = assess(there, **options), assess(in_order, **options, protection=False)
    assert found.facts.to_dict() == here.facts.to_dict()
    assert found.knowledge.by_set == here.knowledge.by_set
    assert found.roles.suggested == here.roles.suggested
    assert pytest.approx(here.population.sample_to_population, rel=1e-9) == found.population.sample_to_population
    assert any("sorted by their values" in note for note in found.population.notes)
    assert "stay in their cluster" in str(found.skipped["protection"])


def test_the_command_line_counts_on_a_cluster(rows, there, cluster):
    command = ["measure", there.source, "--qi", ",".join(KNOWN), "--sensitive", "los", "--json"]
    here = CliRunner().invoke(app, command)
    found = CliRunner().invoke(app, [*command, "--engine", "spark", "--master", cluster.master])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout) == json.loads(here.stdout)


def test_a_csv_file_has_the_same_types_on_a_cluster(tmp_path, session):
    path = tmp_path / "people.csv"
    path.write_text("zip,age\n00501,30\n501,30\n,41\n")
    table = read_table(path, engine="spark")
    assert ClassSizes.from_table(table, quasi_identifiers=["zip"]).histogram() == {1: 3}


def test_a_small_table_may_come_out_of_its_cluster_and_a_large_one_not(there, rows):
    assert there.to_arrow(["age_yrs"]).num_rows == rows.num_rows
    large = Table(SparkBackend(nw.from_native(there.native), name="people", memory=1_000_000))
    with pytest.raises(ValueError, match="stays in its cluster, and this needs its rows here"):
        large.to_arrow(["age_yrs"])


def test_text_is_compared_by_its_bytes_whatever_the_collation_and_names_are_names(session):
    frame = session.sql("SELECT a COLLATE UTF8_LCASE AS `a.b`, a AS `c``d` FROM VALUES ('a'), ('A'), ('b') AS rows(a)")
    assert ClassSizes.from_table(frame, quasi_identifiers=["a.b"]).histogram() == {1: 3}
    assert ClassSizes.from_table(frame, quasi_identifiers=["a.b", "c`d"]).histogram() == {1: 3}
    rows = Table(read_table(frame).backend.counted_rows(["a.b"]).backend)
    assert sorted(rows.to_arrow()["a.b"].to_pylist()) == ["A", "a", "b"]


def test_a_file_that_is_replaced_or_goes_away_is_noticed_and_folders_are_no_columns(session, tmp_path):
    folder = tmp_path / "two words" / "year=1"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 1, 2]}), folder / "part%1.parquet")
    for name in (tmp_path / "two words", (tmp_path / "two words").as_uri().replace("%20", " ")):
        table = read_table(name, engine="spark")
        assert table.columns == ("a",)
        assert "year=…" in table.notes[0]
    assert ClassSizes.from_table(table, quasi_identifiers=["a"]).people == table.rows == 3
    pq.write_table(pa.table({"a": list(range(7))}), folder / "part%1.parquet")
    with pytest.raises(InputError, match="changed while"):
        ClassSizes.from_table(table, quasi_identifiers=["a"])
    with pytest.raises(InputError, match="changed while"):
        table.backend.counted_rows(["a"])
    fresh = read_table(name, engine="spark")
    (folder / "part%1.parquet").unlink()
    with pytest.raises(InputError, match="were not found by the cluster, or changed while they were read"):
        ClassSizes.from_table(fresh, quasi_identifiers=["a"])
