"""The synthetic estimator's quick run, and the truths it is scored against."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from papers.synthetic_estimator.cases import Population, samples
from papers.synthetic_estimator.formulas import _remark_on_noise
from papers.synthetic_estimator.simulation import METHODS, estimate_case

from incrowd.demo import QUASI_IDENTIFIERS, demo_table
from incrowd.errors import UnsupportedError
from incrowd.tables import read_table
from papers import Context, paper, reproduce

pytestmark = pytest.mark.xdist_group("synthetic-estimator")  # one worker: what the fixtures make is made once


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The quick run on generated data alone."""
    found = reproduce(paper("synthetic-estimator"), tmp_path_factory.mktemp("synthetic"), Context(quick=True))
    return {part.name: part for part in found}


@pytest.fixture(scope="module")
def hospital_population():
    table = demo_table(2_000)
    return table, Population.of("hospital", read_table(table), QUASI_IDENTIFIERS)


@pytest.mark.paper("synthetic-estimator", "A (a)", "A (b)")
def test_the_formulas_are_what_attacks_reach(quick):
    found = [row.ours for row in quick["formulas"].tables[0].rows]
    assert found[0] == pytest.approx(found[1], abs=0.003)
    assert found[2] == pytest.approx(found[3], abs=0.006)
    assert "no more than chance" in quick["formulas"].tables[0].remark
    assert "more than chance: one of the two is wrong" in _remark_on_noise((0.1, 0.2), (0.1, 0.3), 10_000)


@pytest.mark.paper("synthetic-estimator", "D comparison")
def test_the_average_keeps_the_abstracts_word(quick):
    claims = {row.quantity: row for row in quick["simulation"].tables[0].rows}
    assert claims["average, median error"].ours < 0.05
    assert claims["Benedetti–Franconi, median error"].ours > claims["average, median error"].ours
    assert claims["cases in which A exceeds B"].ours == 0


def test_the_abstracts_claim_is_judged_by_the_best_rival(quick):
    claims = {row.quantity: row for row in quick["simulation"].tables[0].rows}
    (rival,) = (row for what, row in claims.items() if what.startswith("best of the classical"))
    refuted = rival.ours < claims["average, median error"].ours
    assert rival.paper == "larger than the average's"
    assert ("does not hold here" in rival.remark) == refuted
    assert ("So here" in rival.remark) != refuted
    assert "By population" in claims["average, largest median error over populations"].remark


def test_a_search_for_columns_ends():
    table = pa.table({name: np.arange(5_000) % 2 for name in "abc"})
    with pytest.raises(UnsupportedError, match="dull"):
        list(samples(Population.of("dull", read_table(table), ["a", "b", "c"]), 0.5, 1, seed=0))


@pytest.mark.paper("synthetic-estimator", "D comparison", "E")
def test_every_estimator_has_its_row(quick):
    *by_kind, uniqueness = quick["simulation"].tables[1:]
    assert {"zayatz", "snb", "dankar", "pitman", "combined", "average"} <= {row[0] for row in uniqueness.cells}
    for table in by_kind:
        assert [row[0] for row in table.cells][: len(METHODS)] == list(METHODS)


@pytest.mark.paper("synthetic-estimator", "D sensitivity")
def test_an_overstated_population_hides_risk(quick):
    change = {row.quantity: float(row.ours.rstrip("%")) for row in quick["sensitivity"].tables[0].rows}
    for method in ("average", "combined"):
        assert change[f"{method}, N × 0.5"] > 0 > change[f"{method}, N × 2"]


@pytest.mark.paper("synthetic-estimator", "formula (1)", "formula (2)", "E")
def test_the_truth_of_a_sample_is_counted(hospital_population):
    table, population = hospital_population
    for truth, sample in samples(population, 0.2, 2, seed=3):
        records = list(zip(*(table.column(name).to_pylist() for name in truth.columns), strict=True))
        everybody = Counter(records)
        assert truth.expected == pytest.approx(len(everybody) / 2_000)
        assert truth.uniqueness == sum(count == 1 for count in everybody.values()) / 2_000
        assert sample.sizes.people == truth.people == 400
        assert pytest.approx(sample.sizes.classes / 2_000) == truth.A
        assert sample.columns().codes.shape == (len(truth.columns), 400)
        assert truth.A <= truth.B <= sample.sizes.correctness


def test_a_whole_sample_is_its_own_truth(hospital_population):
    """At a fraction of 1 the estimators count; their parts then are not estimates."""
    truth, sample = next(samples(hospital_population[1], 1.0, 1, seed=0))
    case = estimate_case(truth, sample, seed=0)
    assert case.error("combined") == pytest.approx(0, abs=1e-12)
    assert pytest.approx(truth.expected) == truth.B


def test_samples_are_the_same_for_the_same_seed(hospital_population):
    first, second = ([truth for truth, _ in samples(hospital_population[1], 0.3, 3, seed=5)] for _ in range(2))
    assert first == second
    assert len({truth.columns for truth in first}) > 1
    assert np.unique([truth.B for truth in first]).size > 1
