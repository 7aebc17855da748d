"""Lenses beyond the risk: the check of the law, k^m-anonymity, curves of sparse, ranked and noisy matching."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

pytest.importorskip("fastapi")

from incrowd import ClassSizes, fit_curve, forecast, read_table
from incrowd.curves import robust_curve, robust_curve_from_ranks, sparse_curve
from incrowd.leaks import simulate_leak, simulate_partial_leak
from incrowd.measures import itemset_anonymity
from incrowd.pitman_yor import fit_class_sizes
from incrowd.pitman_yor.model_checks import rank_size_check
from incrowd.protection import regenerate


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


def test_two_forecasts_of_one_population_say_by_what_each_is_made(script, upload, result):
    """The law alone and the columns may differ by much: no sentence of one reads like that of the other."""
    columns = {"a": [n * n % 61 for n in range(300)], "b": [n % 7 for n in range(300)]}
    table = upload(columns)
    script.put(f"{table}/settings", json={"roles": dict.fromkeys("ab", "quasi-identifier")})
    by_law = result(f"{table}/curves/exact", at=[10_000])
    by_columns = result(f"{table}/forecasts", at=[10_000])
    law = forecast(fit_class_sizes(ClassSizes.from_table(columns, quasi_identifiers=["a", "b"]), method="ml"), [10_000])
    assert by_law["forecast"]["correctness"]["value"][0] == pytest.approx(float(law.correctness.value[0]))
    assert [one.startswith("By the scaling law alone, among ") for one in by_law["sentences"]] == [True]
    assert [one.startswith("Among ") for one in by_columns["sentences"]] == [True]


def test_sets_of_items_are_measured(upload, result, script):
    rng = np.random.default_rng(0)
    columns = {"who": rng.integers(0, 40, 300).tolist(), "what": rng.integers(0, 12, 300).tolist()}
    table = upload(columns)
    found = result(f"{table}/itemsets", person="who", item="what", known=3)
    assert found == itemset_anonymity(columns, person="who", item="what", known=3).to_dict()
    assert script.post(f"{table}/itemsets", json={"person": "who", "item": "who"}).status_code == 400
    assert script.post(f"{table}/itemsets", json={"person": "who", "item": "nobody"}).status_code == 400


def test_sets_of_items_and_points_are_protected(upload, result, script):
    table = upload({"who": [1, 1, 2, 2, 3], "what": ["a", "b", "a", "b", "c"], "day": [1, 9, 2, 9, 9]})
    items = result(f"{table}/set-protections", person="who", item="what", k=2)
    assert (items["found"]["k"], items["suppressed"], items["without_items"]) == (2, 1, 1)
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    assert "1 person has none left" in script.get(f"/jobs/{newest}/view").text
    download = script.get(f"/api/v1/jobs/{newest}/table")
    assert sorted(line.split(",")[1] for line in download.text.split()) == ['"a"', '"a"', '"b"', '"b"', '"what"']
    assert "table-protected.csv" in download.headers["content-disposition"]
    command = script.get(f"/api/v1/jobs/{newest}/equivalent").json()["cli"]
    assert "protect table.parquet --person who --item what --k 2 --out protected.csv" in command
    points = result(f"{table}/set-protections", person="who", time="day", place=["what"], known=1, k=2)
    assert points["k"] == 2
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    assert "singled out" in script.get(f"/jobs/{newest}/view").text
    assert script.get(f"{table}/candidates").json() == []
    for asked in ({"item": "who"}, {"item": "nobody"}, {}, {"item": "what", "time": "day"}, {"time": "day"}):
        assert script.post(f"{table}/set-protections", json={"person": "who", **asked}).status_code in (400, 422), asked


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


def test_columns_of_the_table_have_a_curve_and_the_law_goes_on(upload, result, script):
    columns = {"a": [n * n % 61 for n in range(300)], "b": [n % 7 for n in range(300)]}
    table = upload(columns)
    found = result(f"{table}/curves/exact", quasi_identifiers=["a", "b"], at=[10_000], compare=True)
    sizes = ClassSizes.from_table(columns, quasi_identifiers=["a", "b"])
    law = forecast(fit_class_sizes(sizes, method="ml"), [10_000])
    assert found["forecast"]["correctness"]["value"] == pytest.approx(law.correctness.value.tolist())
    assert set(found["baselines"]) == {"ENT", "EXP", "POL", "RND"}
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    command = script.get(f"/api/v1/jobs/{newest}/equivalent").json()["cli"]
    assert "incrowd forecast" in command
    assert "--qi a,b --ml --at 10000 --compare" in command
    assert "Under Populations the columns are used too" in script.get(f"/jobs/{newest}/view").text


def test_the_accuracy_of_a_study_is_split_and_ranks_may_be_pasted(upload, result, script):
    ranks, groups = [1, 1, 2, 5] * 20, ["f", "f", "m", "m"] * 20
    table = upload({"rank": ranks, "group": groups, "sure": [9, 8, 7, 1] * 20})
    found = result(f"{table}/curves/ranks", ranks="rank", group="group", confidence="sure", at=[1_000])
    assert [(one["part"], one["accuracy"]) for one in found["study"]["groups"]] == [("f", 1.0), ("m", 0.0)]
    assert found["study"]["confident"][1]["accuracy"] == 1.0
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    assert "--group group --confidence sure" in script.get(f"/api/v1/jobs/{newest}/equivalent").json()["cli"]
    assert "By group" in script.get(f"/jobs/{newest}/view").text
    job = script.post(f"{table}/curves/ranks", json={"ranks": ranks, "at": [1_000]}).json()
    assert "END\nincrowd forecast ranks.csv" in script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["cli"]
    assert script.post(f"{table}/curves/ranks", json={"ranks": ranks, "group": "group"}).status_code == 400
    assert script.post(f"{table}/curves/ranks", json={"ranks": [0, 1]}).status_code == 422


def test_techniques_stand_side_by_side(upload, script, wait_for):
    table = upload({"rank": [1, 2, 3]})
    sizes = [10, 100, 1_000]
    shares = {"faces": [0.99, 0.97, 0.93], "voices": [0.7, 0.5, 0.3]}
    asked = [
        {"name": name, "points": [{"n": n, "correctness": one} for n, one in zip(sizes, curve, strict=True)]}
        for name, curve in shares.items()
    ]
    job = wait_for(script, script.post(f"{table}/curves/techniques", json={"techniques": asked, "at": [10_000]}).json())
    assert job["state"] == "done", job["message"]
    found = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    for one in found["techniques"]:
        alone = forecast(fit_curve(sizes, correctness=shares[one["name"]]), [10_000])
        assert one["forecast"]["correctness"]["value"] == pytest.approx(alone.correctness.value.tolist())
    assert found["leaders"] == ["10,000: faces names the most, its interval lies above that of voices."]
    assert found["leaders"][0] in script.get(f"/jobs/{job['id']}/view").text
    assert (
        "forecast technique-1.csv technique-2.csv" in script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["cli"]
    )
    refused = {"techniques": [asked[0], {**asked[1], "name": "faces"}]}
    assert script.post(f"{table}/curves/techniques", json=refused).status_code == 400


def test_a_masked_file_is_counted_by_what_it_stands_for(upload, result, script):
    table = upload({"age": ["26", "[24;28]", "24", "[25;27]", "28"]})
    found = result(f"{table}/masked", quasi_identifiers=["age"])
    assert (found["unique"], found["unique_as_written"], found["masked_columns"]) == (0, 5, ["age"])
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    assert found["sentence"] in script.get(f"/jobs/{newest}/view").text
    assert "--qi age --fit" in script.get(f"/api/v1/jobs/{newest}/equivalent").json()["cli"]


@pytest.mark.paper("proper-anonymization", "Algorithm S1")
def test_masked_cells_are_filled_from_published_counts(upload, result, script, wait_for):
    masked = {"race": ["*", "1", "*", "2", "*"], "age": ["31", "*", "[20;29]", "44", "31"]}
    counts = {"column": ["race", "race", "age", "age"], "value": ["1", "3", "25", "60"], "count": [2, 1, 1, 1]}
    table, published = upload(masked), upload(counts)
    asked = {"counts": published[-16:], "seed": 4}
    found = result(f"{table}/regenerations", **asked)
    assert found == {"cells": 5, "columns": ["race", "age"], "sentence": "5 masked cells of race, age were filled."}
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    filled = script.get(f"/api/v1/jobs/{newest}/table", params={"format": "parquet"})
    there = pyarrow.parquet.read_table(io.BytesIO(filled.content)).to_pydict()
    assert there == regenerate(masked, {"race": {"1": 2, "3": 1}, "age": {"25": 1, "60": 1}}, seed=4).to_pydict()
    assert sorted(there["race"]) == ["1", "1", "1", "2", "3"]
    assert script.get(f"/api/v1/jobs/{newest}/table").text.startswith('"race","age"\n')
    assert "Download CSV" in script.get(f"/jobs/{newest}/view").text
    command = script.get(f"/api/v1/jobs/{newest}/equivalent").json()["cli"]
    assert "regenerate table.parquet --counts table.parquet --out filled.csv --seed 4" in command
    assert script.post(f"/api/v1/jobs/{newest}/apply").status_code == 409
    assert script.get(f"{table}/candidates").json() == []
    wrong = wait_for(script, script.post(f"{table}/regenerations", json={"counts": table[-16:]}).json())
    assert (wrong["state"], "they need column, value and count" in wrong["message"]) == ("failed", True)
    assert script.post(f"{table}/regenerations", json={"counts": "0" * 16}).status_code == 404


def test_leaks_are_simulated_with_histories_in_part(upload, result, script):
    stays = {"who": [n // 2 for n in range(60)], "days": [n * n % 11 for n in range(60)]}
    table = upload(stays)
    script.put(f"{table}/settings", json={"roles": {"who": "person", "days": "quasi-identifier"}})
    asked = {"leaked": 10, "targets": 2, "targets_from": "leak", "records_known": 1, "trials": 500}
    found = result(f"{table}/leak-simulations", **asked)
    known = {"quasi_identifiers": ["days"], "person": "who", "trials": 500}
    assert found["simulated"] == simulate_leak(stays, 10, targets=2, targets_from="leak", **known).to_dict()
    assert found["partial"] == simulate_partial_leak(stays, 10, known_records=1, **known).to_dict()
    newest = script.get("/api/v1/jobs").json()[0]["id"]
    assert "false positives" in script.get(f"/jobs/{newest}/view").text
    command = script.get(f"/api/v1/jobs/{newest}/equivalent").json()["cli"]
    assert "--simulate 500 --targets-from leak --records-known 1" in command
    script.put(f"{table}/settings", json={"roles": {"who": "other", "days": "quasi-identifier"}})
    assert script.post(f"{table}/leak-simulations", json=asked).status_code == 400
