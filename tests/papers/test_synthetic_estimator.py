"""The synthetic estimator's quick run, and the truths it is scored against."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from papers.synthetic_estimator.cases import Population, samples
from papers.synthetic_estimator.formulas import _remark_on_noise
from papers.synthetic_estimator.published_estimators import ADULT
from papers.synthetic_estimator.simulation import METHODS, estimate_case
from papers.synthetic_estimator.vine import NOT_POSITIVE, SUP_DISTANCE, vine_edges

from incrowd.demo import QUASI_IDENTIFIERS, demo_table
from incrowd.errors import UnsupportedError
from incrowd.populations.copula_fit import correlation_of_vine, nearest_correlation
from incrowd.tables import read_table
from papers import Context, paper, reproduce


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


@pytest.mark.paper("synthetic-estimator", "B (b) 2.a", "Figure 1")
def test_the_vine_has_every_pair_once_and_edges_become_nodes():
    trees = vine_edges(5)
    assert trees[1] == ["13|2", "24|3", "35|4"]  # as printed
    assert trees[3] == ["15|234"]
    pairs = [edge.split("|")[0] for tree in trees for edge in tree]
    assert sorted(pairs) == sorted(f"{i}{j}" for i, j in combinations(range(1, 6), 2))
    for tree, following in pairwise(trees):
        for (left, right), edge in zip(pairwise(tree), following, strict=True):
            one, other = (set(name.replace("|", "")) for name in (left, right))
            ends, _, given = edge.partition("|")
            assert (set(ends), set(given)) == (one ^ other, one & other)  # the proximity condition of a regular vine


@pytest.mark.paper("synthetic-estimator", "B (b) 3")
def test_drawing_edge_by_edge_is_drawing_from_the_matrix():
    """The d-vine's sampling algorithm with h-functions of Gaussian pairs, against the matrix that stands for it."""
    partial = np.array([[1, 0.6, -0.3, 0.2], [0.6, 1, 0.5, 0.4], [-0.3, 0.5, 1, 0.7], [0.2, 0.4, 0.7, 1.0]])
    random = np.random.default_rng(4)
    people, count = 60_000, 4
    drawn = np.zeros((count, people))
    forward, backward = {}, {}  # (i, j): normal score of i given i+1 … j, and of j given i … j−1
    for j in range(count):
        score = random.standard_normal(people)
        for i in range(j):  # undo the conditioning on 0 … j−1, the farthest first
            rho = partial[i, j]
            score = rho * forward[i, j - 1] + np.sqrt(1 - rho**2) * score
        drawn[j] = score
        forward[j, j] = backward[j, j] = score
        for i in range(j - 1, -1, -1):
            rho, ahead, behind = partial[i, j], forward[i, j - 1], backward[i + 1, j]
            forward[i, j] = (ahead - rho * behind) / np.sqrt(1 - rho**2)
            backward[i, j] = (behind - rho * ahead) / np.sqrt(1 - rho**2)
    assert np.corrcoef(drawn) == pytest.approx(correlation_of_vine(partial), abs=0.015)


@pytest.mark.paper("synthetic-estimator", "B (a) 2.d")
def test_the_nearest_matrix_by_the_largest_change_is_another_one():
    """No correlation matrix has cells nearer than `SUP_DISTANCE`; the one nearest by squares is a little farther."""
    high, low = np.linspace(0.7, 1, 31), np.linspace(0, 0.3, 31)
    steps = np.array([[[1, a, c], [a, 1, b], [c, b, 1.0]] for a in high for b in high for c in low])
    positive = steps[np.linalg.eigvalsh(steps)[:, 0] > -1e-12]
    nearest = np.abs(positive - NOT_POSITIVE).max(axis=(1, 2)).min()
    assert SUP_DISTANCE <= nearest < SUP_DISTANCE + 0.011  # a step of the grid
    moved = np.abs(nearest_correlation(NOT_POSITIVE) - NOT_POSITIVE).max()
    assert SUP_DISTANCE < moved < SUP_DISTANCE + 0.03


@pytest.mark.paper("synthetic-estimator", "B (a) 2.b.i–ii", "D comparison")
def test_the_published_monte_carlo_stands_beside_the_deterministic_fit(quick):
    found = quick["published"].tables[1]
    assert len(found.cells) == 3
    for _, _, *estimates in found.cells:
        for monte_carlo, ours in zip(estimates[::2], estimates[1::2], strict=True):
            assert float(ours) == pytest.approx(float(monte_carlo), abs=0.06)
    sample, truth, *estimates = found.cells[-1]
    assert sample == "30%"
    assert [float(estimate) for estimate in estimates] == pytest.approx([float(truth)] * 6, abs=0.05)


@pytest.mark.paper("synthetic-estimator", "C 1")
def test_adult_has_the_eleven_columns_of_the_appendix(shared_data):
    assert len(ADULT) == 11
    table = read_table(shared_data / "adult.parquet")
    assert set(ADULT) <= set(table.columns)


def test_what_is_not_at_hand_is_said_with_what_stands_for_it(quick):
    notes = " ".join(quick["simulation"].notes)
    for words in ("Texas", "Washington", "Nexoid", "invented hospital stays"):
        assert words in notes
    assert {"age_yrs", "sex", "race", "patcnty", "los"} <= set(QUASI_IDENTIFIERS)  # of appendix C 2 and C 3
