"""Lenses beyond the risk: the check of the law, k^m-anonymity, curves of sparse, ranked and noisy matching."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

pytest.importorskip("fastapi")

from incrowd import ClassSizes, read_table
from incrowd.curves import robust_curve, robust_curve_from_ranks, sparse_curve
from incrowd.measures import itemset_anonymity
from incrowd.pitman_yor import fit_class_sizes
from incrowd.pitman_yor.model_checks import rank_size_check


@pytest.fixture
def upload(script):
    def sent(columns):
        written = io.BytesIO()
        pyarrow.parquet.write_table(pa.table(columns), written)
        answer = script.post("/api/v1/tables", files={"file": ("table.parquet", written.getvalue())})
        assert answer.status_code == 201, answer.text
        return f"/api/v1/tables/{answer.json()['id']}"

    return sent


@pytest.fixture
def result(script, wait_for):
    def found(address, **asked):
        answer = script.post(address, json=asked)
        assert answer.status_code == 202, answer.text
        ended = wait_for(script, answer.json())
        assert ended["state"] == "done", ended["message"]
        assert "read_table(" in script.get(f"/api/v1/jobs/{ended['id']}/equivalent").json()["python"]
        return script.get(f"/api/v1/jobs/{ended['id']}/result").json()

    return found


def test_the_share_inside_the_band_is_told(script, upload, result):
    columns = {"a": [n * n % 61 for n in range(300)], "b": [n % 7 for n in range(300)]}
    table = upload(columns)
    script.put(f"{table}/settings", json={"roles": dict.fromkeys("ab", "quasi-identifier")})
    found = result(f"{table}/checks", draws=40)
    fit = fit_class_sizes(ClassSizes.from_table(columns, quasi_identifiers=["a", "b"]))
    assert found["inside"] == rank_size_check(fit, draws=40).inside
    assert "of the ranks" in found["sentence"]
    assert len(found["ranks"]) == len(found["low"]) == len(found["high"])


def test_sets_of_items_are_measured(upload, result, script):
    rng = np.random.default_rng(0)
    columns = {"who": rng.integers(0, 40, 300).tolist(), "what": rng.integers(0, 12, 300).tolist()}
    table = upload(columns)
    found = result(f"{table}/itemsets", person="who", item="what", known=3)
    assert found == itemset_anonymity(columns, person="who", item="what", known=3).to_dict()
    assert script.post(f"{table}/itemsets", json={"person": "who", "item": "who"}).status_code == 400
    assert script.post(f"{table}/itemsets", json={"person": "who", "item": "nobody"}).status_code == 400


def test_curves_are_those_of_the_library_and_are_forecast(upload, result, script):
    rng = np.random.default_rng(1)
    points = {"who": np.repeat(np.arange(120), 6).tolist(), "place": rng.integers(0, 25, 720).tolist()}
    sparse = result(f"{upload(points)}/curves/sparse", person="who", item=["place"], known=3, at=[10_000])
    curve = sparse_curve(read_table(points), person="who", item=["place"], known=3)
    assert sparse["forecast"]["measured"] == curve.people == 120
    assert 0 <= sparse["forecast"]["correctness"]["value"][0] <= curve.correctness[-1]
    ranks = rng.geometric(0.5, 150).clip(1, 150).tolist()
    found = result(f"{upload({'rank': ranks})}/curves/ranks", ranks="rank", at=[10_000])
    assert found["forecast"]["measured"] == robust_curve_from_ranks(ranks).people == 150
    gallery = rng.normal(size=(80, 6))
    probes = gallery + rng.normal(scale=0.8, size=gallery.shape)
    sides = [upload({f"x{n}": side[:, n].tolist() for n in range(6)}) for side in (probes, gallery)]
    noisy = result(f"{sides[0]}/curves/robust", gallery=sides[1][-16:], at=[10_000], metric="euclidean")
    assert noisy["forecast"]["measured"] == robust_curve(probes, gallery, metric="euclidean").people == 80
    assert script.post(f"{sides[0]}/curves/robust", json={"gallery": "0" * 16}).status_code == 404
