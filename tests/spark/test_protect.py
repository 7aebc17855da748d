"""A table that is protected in its cluster keeps its promise, and costs as much as on one machine."""

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.standalone import wait_for
from typer.testing import CliRunner

from incrowd import demo_table, evaluate, measure, protect, read_table
from incrowd.backends import encode
from incrowd.backends.block_protection import BlockLimits
from incrowd.backends.row_hash import row_hashes
from incrowd.backends.spark.column_values import count_column_values, sample_distinct_rows
from incrowd.backends.spark.session import spark_errors
from incrowd.cli.app import app
from incrowd.errors import InputError, UnsupportedError

KNOWN = ["age_yrs", "race", "patcnty"]
ROWS = 6_000


@pytest.fixture(scope="module")
def rows():
    return demo_table(ROWS, seed=1).append_column("row", pa.array(np.arange(ROWS)))


@pytest.fixture(scope="module")
def there(rows, session):
    return in_small_blocks(rows, memory="4GB")


def in_small_blocks(source, **options):
    """A table in the cluster that is protected in blocks so small that there are several."""
    table = read_table(source, engine="spark", **options)
    table.backend.block_limits = BlockLimits(rows=2_000)
    return table


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("partition", {}),
        ("sorted", {}),
        ("tcloseness", {"sensitive": ["charge"], "t": "bound"}),
        ("partition", {"sensitive": ["diag_p"], "l": 3}),
    ],
)
def test_classes_are_k_to_2k_and_the_loss_is_that_of_one_machine(rows, there, tmp_path, method, asked):
    options = {"quasi_identifiers": KNOWN, "k": 5, "method": method, "identifiers": [], **asked}
    warned = method == "sorted"  # what is kept beside is looked at once
    safe = protect(there, out=tmp_path / "safe.parquet", warn=warned, **options)
    here = protect(rows, **options)
    written = read_table(tmp_path / "safe.parquet").to_arrow().sort_by("row")
    found = measure(written, quasi_identifiers=KNOWN, sensitive=asked["sensitive"] if asked else [])
    assert safe.guarantee.holds
    assert found.k == safe.guarantee.k >= 5
    assert found.sizes == safe.classes
    if asked:
        assert found.sensitive[0].t == pytest.approx(safe.guarantee.t)
    assert written.drop_columns(KNOWN).to_pydict() == rows.drop_columns(KNOWN).to_pydict()
    cost = evaluate(rows.drop_columns("row"), written.drop_columns("row"), quasi_identifiers=KNOWN)
    assert cost.information_loss <= 1.05 * here.evaluate().information_loss
    assert any("others may know these columns" in note for note in safe.kept_column_warnings) == warned
    assert set(safe.unchanged) == set(here.unchanged)
    assert {column.column: column.changed for column in cost.columns} == safe.changed_cells


def test_scales_are_those_of_one_machine(rows, session, tmp_path):
    there = in_small_blocks(rows, scales="patcnty=numeric,sex=place")
    safe = protect(there, quasi_identifiers=["race", "patcnty"], k=5, out=tmp_path / "safe.parquet")
    written = read_table(tmp_path / "safe.parquet").to_arrow()
    assert not [cell for cell in written["race"].unique().to_pylist() if cell.startswith("[")]
    assert not [cell for cell in written["patcnty"].unique().to_pylist() if cell.startswith("{")]
    assert safe.notes[0].startswith("taken as codes, not as quantities, by their names: race;")
    for scales in (None, "race=numeric"):
        found = measure(read_table(rows, scales=scales), quasi_identifiers=["sex"], sensitive=["race"]).sensitive
        far = read_table(rows, engine="spark", memory="4GB", scales=scales)
        assert measure(far, quasi_identifiers=["sex"], sensitive=["race"]).sensitive == found
        assert (found[0].ordered_t is None) == (scales is None)
    with pytest.raises(UnsupportedError, match="'sex' holds codes of places"):
        protect(there, quasi_identifiers=["sex"], k=5, out=tmp_path / "other.parquet")


def test_what_a_cluster_does_not_do_is_said(there, tmp_path, monkeypatch):
    options = {"quasi_identifiers": KNOWN, "identifiers": []}
    with monkeypatch.context() as closed:
        closed.setattr("os.access", lambda path, mode: False)
        with pytest.raises(InputError, match="no permission; name another folder"):
            protect(there, **options, out=tmp_path / "x.parquet")
    dotted = read_table(there.native.withColumnRenamed("los", "length.of.stay"), memory="4GB")
    with pytest.raises(InputError, match=r"columns named length\.of\.stay"):
        protect(dotted, **options, out=tmp_path / "x.parquet")
    with pytest.raises(InputError, match="Python of the workers has no incrowd"), spark_errors("it", "it failed"):
        raise RuntimeError("ModuleNotFoundError: No module named 'incrowd'")
    with pytest.raises(InputError, match="say where the cluster writes"):
        protect(there, **options)
    with pytest.raises(InputError, match="a cluster writes Parquet"):
        protect(there, **options, out=tmp_path / "x.csv")
    for method in ("coarsen", "generalise", "mask"):
        with pytest.raises(UnsupportedError, match="not done in a cluster; use partition, sorted, tcloseness"):
            protect(there, **options, method=method, out=tmp_path / "x.parquet")
    with pytest.raises(UnsupportedError, match="use method='tcloseness'"):
        protect(there, **options, t=0.1, sensitive=["charge"], out=tmp_path / "x.parquet")
    with pytest.raises(UnsupportedError, match="people with several records"):
        protect(there, **options, person="row", out=tmp_path / "x.parquet")


def test_a_promise_that_cannot_be_kept_leaves_nothing_behind(there, tmp_path):
    with pytest.raises((UnsupportedError, InputError), match="diverse"):
        protect(
            there, quasi_identifiers=["sex"], identifiers=[], sensitive=["los"], l=5_000,
            out=tmp_path / "safe.parquet",
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_blocks_that_are_poor_in_values_are_joined(session, tmp_path):
    x = np.arange(6_000)
    ill = np.where((x < 3_000) & (x > 0), "a", "b")  # the middle has both, the ends have one each
    everybody = {"x": x, "ill": ill.tolist()}
    asked = {"quasi_identifiers": ["x"], "identifiers": [], "k": 5, "sensitive": ["ill"], "l": 2, "method": "partition"}
    safe = protect(in_small_blocks(everybody), **asked, out=tmp_path / "safe.parquet")
    assert safe.guarantee.holds
    assert safe.guarantee.l == protect(everybody, **asked).guarantee.l == 2


def test_towns_alike_to_a_collation_are_not_changed_nor_texts_that_end_like_ranges(session, tmp_path):
    towns = ("Aarau (CH)", "Paris (FR)", "PARIS (FR)")
    values = ", ".join(f"('{town}')" for town in towns)
    frame = session.sql(f"SELECT town COLLATE UTF8_LCASE AS town FROM VALUES {values} AS rows(town), range(6)")
    safe = protect(frame, quasi_identifiers=["town"], identifiers=[], k=5, out=tmp_path / "safe.parquet")
    written = read_table(tmp_path / "safe.parquet").to_arrow()["town"].to_pylist()
    assert {town: written.count(town) for town in set(written)} == dict.fromkeys(towns, 6)
    assert safe.changed_cells == {"town": 0}


def test_the_command_line_protects_in_a_cluster_and_writes_to_addresses(session, tmp_path, rows, cluster):
    pq.write_table(rows.slice(0, 1_000), tmp_path / "in.parquet")
    out = tmp_path / "safe.parquet"
    address = f"file://{out}"
    command = ["protect", str(tmp_path / "in.parquet"), "--qi", "age_yrs,sex", "--k", "3", "--out", address]
    found = CliRunner().invoke(app, [*command, "--identifier", "none", "--engine", "spark", "--master", cluster.master])
    assert found.exit_code == 0, found.output
    assert f"Written to {address}" in found.stdout.replace("\n", "")
    assert "average risk (κ)" in found.stdout
    steps = ("with Spark", "protecting", "looking at a sample", "making classes and writing them", "checking")
    assert all(step in found.stderr for step in steps)
    assert "information loss are measured row by row" in found.stderr
    assert measure(out, quasi_identifiers=["age_yrs", "sex"]).k >= 3
    refused = CliRunner().invoke(app, command)
    assert "is an address; only Spark writes to one" in str(refused.exception)


def test_the_same_rows_are_chosen_on_every_engine(rows, there):
    names = KNOWN[:3]
    with spark_errors("the table", "it failed"):
        values = [one.column.values for one in count_column_values(there.backend, names, 10**6)]
        sample, weights = sample_distinct_rows(there.backend, names, values, 40)
    distinct = rows.select(names).group_by(names).aggregate([([], "count_all")])
    hashes = row_hashes(encode(read_table(distinct), names))
    chosen = distinct.take(pa.array(np.argsort(hashes)[:40]))
    assert sample.to_pylist() == chosen.select(names).to_pylist()
    assert weights.tolist() == chosen["count_all"].to_pylist()
    told = "more than 40 values, too many to tell every worker, and 'age_yrs' has"
    with pytest.raises(UnsupportedError, match=told), spark_errors("the table", "it failed"):
        count_column_values(there.backend, names, 40)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_a_worker_that_is_lost_in_the_middle_changes_nothing(session, cluster, tmp_path):
    """Everybody differs here, so that classes have k to 2k - 1 people."""
    generator = np.random.default_rng(0)
    everybody = {"x": generator.normal(size=4_500), "y": generator.normal(size=4_500), "name": np.arange(4_500)}

    held = tmp_path / "held"  # while this file is there, only the first part of the rows goes on

    def slowly(batches):
        import time

        from pyspark import TaskContext

        while TaskContext.get().partitionId() and held.exists():
            time.sleep(0.02)
        yield from batches

    rows = in_small_blocks(everybody)
    slow = rows.native.repartition(6).mapInArrow(slowly, "x double, y double, name bigint")
    options = {"quasi_identifiers": ["x", "y"], "identifiers": [], "k": 7}
    safe = protect(rows, **options, out=tmp_path / "safe.parquet")
    assert safe.settings["cells"] > 1
    assert (safe.classes.smallest, safe.classes.largest <= 13) == (7, True)
    found = []

    def hold(what, done):
        if what == "making classes and writing them":
            held.touch()

    def again():
        found.append(protect(in_small_blocks(slow), **options, out=tmp_path / "again.parquet", progress=hold))

    working = threading.Thread(target=again)
    working.start()
    wait_for(lambda: not working.is_alive() or (held.exists() and task_is_done(session)), seconds=400)
    in_the_middle = working.is_alive()
    cluster.kill(cluster.running[1])
    held.unlink(missing_ok=True)
    working.join(timeout=400)
    assert in_the_middle
    assert found[0].classes == safe.classes
    files = [tmp_path / f"{name}.parquet" for name in ("safe", "again")]
    first, second = (read_table(file).to_arrow().sort_by("name").to_pydict() for file in files)
    assert first == second


def task_is_done(session):
    """Whether a part of what runs now is done, and not all of it; running[1] of a cluster is its first worker."""
    tracker = session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(stage and stage.numCompletedTasks for stage in stages)
