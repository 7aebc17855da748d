"""Class sizes and risks of every record, written by the engine."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from incrowd import population_risk, read_table
from incrowd.classes import class_size_of_each_record, write_class_sizes
from incrowd.cli.app import app
from incrowd.errors import InputError
from incrowd.populations import write_record_risk
from incrowd.populations.records import _risk_of_sizes
from incrowd.populations.sample import read_sample

KNOWN = ["age", "town"]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    generator = np.random.default_rng(2)
    ages = [None if age == 0 else float(age) for age in generator.integers(0, 9, 600)]
    ages[:3] = [float("nan"), -0.0, 0.0]
    towns = [None if town == 0 else f"t{town}" for town in generator.integers(0, 9, 600)]
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(pa.table({"row": np.arange(600), "age": ages, "town": towns}), path)
    return path


def in_order(path):
    return read_table(path).to_arrow().sort_by("row")


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_the_engine_writes_the_risk_of_every_record(people, tmp_path, engine, request):
    if engine == "spark":
        request.getfixturevalue("session")
    there = read_table(people, engine=engine)
    options = {"population": 6_000, "quasi_identifiers": KNOWN}
    write_record_risk(there, tmp_path / "risk.parquet", **options)
    found = in_order(tmp_path / "risk.parquet")
    sizes = class_size_of_each_record(people, quasi_identifiers=KNOWN)
    assert found["class_size"].to_pylist() == sizes.tolist()
    headline = population_risk(there, **options)
    for name, expected in _risk_of_sizes(read_sample(read_table(people), **options), headline, sizes).items():
        assert found[name].to_numpy() == pytest.approx(expected, rel=1e-12)
    risk = found["risk"].to_numpy()
    assert found["risk_rank"].to_pylist() == [1 + int((risk > one).sum()) for one in risk]
    assert risk.mean() == pytest.approx(headline.sample_to_population)
    assert found["risk_unique"].to_numpy().sum() == pytest.approx(headline.still_unique * headline.uniques)
    assert found["town"].to_pylist() == read_table(people).to_arrow()["town"].to_pylist()
    with pytest.raises(InputError, match="exists already"):
        write_class_sizes(there, tmp_path / "risk.parquet", quasi_identifiers=KNOWN)
    write_class_sizes(there, tmp_path / "risk.parquet", quasi_identifiers=KNOWN, force=True)
    assert in_order(tmp_path / "risk.parquet").column_names == ["row", *KNOWN, "class_size"]
    assert [path.name for path in tmp_path.iterdir()] == ["risk.parquet"]
    for place in [people, f"file://{people}"] if engine == "spark" else [people]:
        with pytest.raises(InputError, match="never overwritten"):
            write_class_sizes(there, place, quasi_identifiers=KNOWN, force=True)
    assert in_order(people).column_names == ["row", *KNOWN]


def test_columns_in_the_way_and_other_formats_are_refused(people, tmp_path):
    with pytest.raises(InputError, match="columns named class_size already"):
        write_class_sizes({"class_size": [1]}, tmp_path / "x.parquet", quasi_identifiers=["class_size"])
    with pytest.raises(InputError, match=r"an engine writes Parquet; name it x\.parquet"):
        write_class_sizes(people, tmp_path / "x.csv", quasi_identifiers=KNOWN)


def test_the_command_line_writes_records_by_the_engine(people, tmp_path):
    out = tmp_path / "sizes.parquet"
    found = CliRunner().invoke(app, ["measure", str(people), "--qi", "age,town", "--records", str(out)])
    assert found.exit_code == 0, found.output
    assert (
        in_order(out)["class_size"].to_pylist() == class_size_of_each_record(people, quasi_identifiers=KNOWN).tolist()
    )
