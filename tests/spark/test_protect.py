"""A table that is protected in its cluster keeps its promise, and costs as much as on one machine."""

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from incrowd import demo_table, evaluate, measure, protect, read_table
from incrowd.cli.app import app
from incrowd.engines import encode
from incrowd.engines.choose import row_hashes
from incrowd.errors import InputError, UnsupportedError
from incrowd.protect import spreading
from incrowd.protect.problem import Demand
from incrowd.table.cluster import spark_errors

KNOWN = ["age_yrs", "sex", "race", "patcnty", "adm_qtr"]
ROWS = 9_000


@pytest.fixture(scope="module")
def rows():
    return demo_table(ROWS, seed=1).append_column("row", pa.array(np.arange(ROWS)))


@pytest.fixture(scope="module")
def there(rows, session):
    return read_table(rows, engine="spark", memory="4GB")


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    """Cells so small that there are several."""
    monkeypatch.setattr(spreading, "_CELL", 3_000)


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("partition", {}),
        ("sorted", {}),
        ("tcloseness", {"sensitive": "charge", "t": "bound"}),
        ("partition", {"sensitive": "diag_p", "l": 3}),
    ],
)
def test_classes_are_k_to_2k_and_the_loss_is_that_of_one_machine(rows, there, tmp_path, method, asked):
    options = {"quasi_identifiers": KNOWN, "k": 5, "method": method, "identifiers": [], **asked}
    safe = protect(there, out=tmp_path / "safe.parquet", **options)
    here = protect(rows, **options)
    written = read_table(tmp_path / "safe.parquet").to_arrow().sort_by("row")
    found = measure(written, quasi_identifiers=KNOWN, sensitive=[asked["sensitive"]] if asked else [])
    assert safe.guarantee.holds
    assert found.k == safe.guarantee.k >= 5
    assert found.sizes == safe.classes
    if asked:
        assert found.sensitive[0].t == pytest.approx(safe.guarantee.t)
    assert written.drop_columns(KNOWN).to_pydict() == rows.drop_columns(KNOWN).to_pydict()
    cost = evaluate(rows.drop_columns("row"), written.drop_columns("row"), quasi_identifiers=KNOWN)
    assert cost.information_loss <= 1.05 * here.evaluate().information_loss
    assert {column.column: column.changed for column in cost.columns} == safe.changed


def test_people_who_are_told_apart_get_classes_of_k_to_2k_less_one(session, tmp_path):
    generator = np.random.default_rng(0)
    everybody = {"x": generator.normal(size=9_000), "y": generator.normal(size=9_000), "name": np.arange(9_000)}
    safe = protect(
        read_table(everybody, engine="spark"), quasi_identifiers=["x", "y"], k=7, out=tmp_path / "safe.parquet"
    )
    assert safe.settings["cells"] > 1
    assert (safe.classes.smallest, safe.classes.largest <= 13) == (7, True)
    assert safe.removed == ("name",)


def test_what_a_cluster_does_not_do_is_said(there, tmp_path):
    options = {"quasi_identifiers": KNOWN, "identifiers": []}
    with pytest.raises(InputError, match="say where the cluster writes"):
        protect(there, **options)
    with pytest.raises(InputError, match="a cluster writes Parquet"):
        protect(there, **options, out=tmp_path / "x.csv")
    for method in ("coarsen", "generalise", "mask"):
        with pytest.raises(UnsupportedError, match="not done in a cluster; use partition, sorted, tcloseness"):
            protect(there, **options, method=method, out=tmp_path / "x.parquet")
    with pytest.raises(UnsupportedError, match="use method='tcloseness'"):
        protect(there, **options, t=0.1, sensitive="charge", out=tmp_path / "x.parquet")
    with pytest.raises(UnsupportedError, match="people with several records"):
        protect(there, **options, person="row", out=tmp_path / "x.parquet")


def test_a_promise_that_cannot_be_kept_leaves_nothing_behind(there, tmp_path):
    with pytest.raises((UnsupportedError, InputError), match="diverse"):
        protect(
            there, quasi_identifiers=KNOWN, identifiers=[], sensitive="los", l=5_000,
            out=tmp_path / "safe.parquet",
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_cells_that_are_poor_in_values_are_joined_and_texts_that_end_like_ranges_are_not_changed(session, tmp_path):
    x = np.arange(9_000)
    everybody = {
        "x": x.tolist(),
        "town": np.where(x % 2 == 0, "Bern (CH)", "Paris (FR)").tolist(),
        "ill": np.where((x < 4_500) & (x > 0), "a", "b").tolist(),  # the middle has both, the ends have one each
    }
    options = {"quasi_identifiers": ["x", "town"], "identifiers": [], "k": 5}
    told = {**options, "sensitive": "ill", "l": 2, "method": "partition"}
    safe = protect(read_table(everybody, engine="spark"), **told, out=tmp_path / "safe.parquet")
    assert safe.guarantee.holds
    assert safe.guarantee.l == protect(everybody, **told).guarantee.l == 2
    names = ["town"]
    towns = protect(
        read_table(everybody, engine="spark"), **{**options, "quasi_identifiers": names}, out=tmp_path / "towns.parquet"
    )
    assert towns.changed == protect(everybody, **{**options, "quasi_identifiers": names}).changed == {"town": 0}


def test_towns_that_a_collation_takes_for_one_are_written_as_they_are(session, tmp_path):
    frame = session.sql(
        "SELECT town COLLATE UTF8_LCASE AS town FROM VALUES ('Aarau'), ('Zug'), ('ZUG') AS rows(town), range(6)"
    )
    protect(frame, quasi_identifiers=["town"], identifiers=[], k=5, out=tmp_path / "safe.parquet")
    written = read_table(tmp_path / "safe.parquet").to_arrow()["town"].to_pylist()
    assert {town: written.count(town) for town in set(written)} == {"Aarau": 6, "Zug": 6, "ZUG": 6}


def test_the_command_line_protects_in_a_cluster(there, tmp_path, rows, cluster):
    import pyarrow.parquet as pq

    pq.write_table(rows, tmp_path / "in.parquet")
    out = tmp_path / "safe.parquet"
    command = ["protect", str(tmp_path / "in.parquet"), "--qi", "age_yrs,sex", "--k", "3", "--out", str(out)]
    found = CliRunner().invoke(app, [*command, "--identifier", "none", "--engine", "spark", "--master", cluster.master])
    assert found.exit_code == 0, found.output
    assert "shares their values with at least" in found.stdout
    assert measure(out, quasi_identifiers=["age_yrs", "sex"]).k >= 3


def test_the_same_rows_are_chosen_on_every_engine(rows, there, monkeypatch):
    monkeypatch.setattr(spreading, "_SAMPLE", 40)
    names = KNOWN[:3]
    with spark_errors("the table", "it failed"):
        work = spreading.Spreading(there, names, Demand(5), None, None, (), lambda doing, share: None)
    distinct = rows.select(names).group_by(names).aggregate([([], "count_all")])
    hashes = row_hashes(encode(read_table(distinct), names))
    chosen = distinct.take(pa.array(np.argsort(hashes)[:40]))
    work.close()
    assert work.sample.to_pylist() == chosen.select(names).to_pylist()
    assert work.weights.tolist() == chosen["count_all"].to_pylist()
