"""The scaling law's quick run, and the data it is made on."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from papers.corpora import FAMILIES, TABLES, available_tables, generated, random_attributes
from papers.page import write_pages
from papers.scaling_law.plain_fit import fit_as_published, published_loss
from papers.scaling_law.published import FACES_2002, FRACTIONS, NAMES, TABLE_1
from papers.scaling_law.specification import _remark_on_prior, _remark_on_sign
from papers.scaling_law.studies import collections, corpora, movement, sparse_studies
from papers.scaling_law.world_population import _interval_in_words

from incrowd.curves import Curve
from incrowd.errors import UnsupportedError
from incrowd.forecasts import Estimate
from incrowd.pitman_yor import PitmanYor, fit_curve
from papers import Context, paper, reproduce


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The quick run on generated data alone, and where it was kept."""
    out = tmp_path_factory.mktemp("scaling-law")
    return {part.name: part for part in reproduce(paper("scaling-law"), out, Context(quick=True))}, out


def rows(part, table=0):
    return {row.quantity: row for row in part.tables[table].rows}


@pytest.mark.paper("scaling-law", "Fig. 3", "Fig. 4", "Fig. 5")
def test_the_numbers_of_the_text_are_the_papers(quick):
    found = rows(quick[0]["regimes"])
    for row in list(found.values())[:4]:
        assert row.ours == pytest.approx(row.paper, abs=0.007)
        assert row.remark.startswith("The same" if f"{row.ours:.2f}" == f"{row.paper:.2f}" else "0.0")
    assert [row.remark for row in list(found.values())[4:]] == ["So here."] * 3
    caption = quick[0]["regimes"].figures[2].remark
    bits = [int(number) for number in re.findall(r"(\d+) (?:bits|at)", caption)]
    assert len(bits) == 3
    assert bits[0] < 10 < bits[1] < bits[2]  # critical at γ = 0 only


@pytest.mark.paper("scaling-law", "Fig. 1a", "Table S1", "Table S2")
def test_the_model_describes_light_tails_and_overstates_zipf(quick):
    by_corpus = {row[0]: row for row in quick[0]["specification"].tables[1].cells}
    assert by_corpus["geometric"][2] < 0.01
    assert by_corpus["poisson"][2] < 0.01
    assert by_corpus["zipf"][3] > 0.01  # the paper: a small positive bias for synthetic data, from the prior
    assert abs(by_corpus["zipf"][5]) < 0.2 * by_corpus["zipf"][3]  # which it is: without the prior it is gone
    assert "the prior exp" in rows(quick[0]["specification"])["RMSE of κ, Zipf"].remark
    assert by_corpus["all"][1] == 24


@pytest.mark.paper("scaling-law", "Table 1", "Fig. 2")
def test_the_scaling_law_beats_the_rules_of_thumb(quick):
    table = quick[0]["extrapolation"].tables[1]
    whole = {row[1]: row for row in table.cells if row[0] == "100 %"}
    for kind in ("exact", "sparse", "robust"):
        law, entropy, exponential = (float(cell.split(" ")[0].rstrip("*")) for cell in whole[kind][3:6])
        assert law < 0.03
        assert law <= exponential < entropy


@pytest.mark.paper("scaling-law", "Fig. 3")
def test_published_points_are_forecast(quick):
    found = rows(quick[0]["scale"])
    law = next(row for what, row in found.items() if what.endswith("PYC-MB"))
    assert law.ours == pytest.approx(0.73, abs=0.03)


def test_its_pages_hold_every_figure(quick):
    parts, out = quick
    markdown, html = write_pages(out, paper("scaling-law"), list(parts.values()))
    figures = [figure.file for part in parts.values() for figure in part.figures]
    assert len(figures) == 8
    for file in figures:
        assert f"scaling-law-quick/{file}" in markdown.read_text(encoding="utf-8")
        assert (out / "scaling-law-quick" / file).stat().st_size < 200_000
    assert html.read_text(encoding="utf-8").count("<svg role") == len(figures)


@pytest.mark.paper("scaling-law", "Table 1")
def test_the_papers_table_was_typed_in_whole():
    assert set(TABLE_1) == {(kind, fraction) for kind in ("exact", "sparse", "robust") for fraction in FRACTIONS}
    best = [min(NAMES, key=lambda name: row[name]) for row in TABLE_1.values()]
    assert best.count("PYC") == 17  # the text: all "but one (0.1% for sparse matching)"
    assert TABLE_1["sparse", 0.001]["EXP"] == 0.302
    assert TABLE_1["exact", 1.0]["count"] == 400


@pytest.fixture
def folder(tmp_path):
    """A folder with a public table in it, invented."""
    random = np.random.default_rng(0)
    columns = {name: random.integers(size, size=600) for name, size in zip("abcdefghij", range(3, 33, 3), strict=True)}
    pq.write_table(pa.table({"id": np.arange(600), **columns}), tmp_path / "hdv2003.parquet")
    baskets = np.repeat(np.arange(300), 4)
    pq.write_table(
        pa.table({"basket": baskets, "item": random.zipf(1.5, baskets.size) % 50}), tmp_path / "groceries.parquet"
    )
    return tmp_path


def test_attribute_sets_leave_out_identifiers_and_the_obvious(folder):
    assert available_tables(folder) == ["hdv2003"]
    assert available_tables(None) == []
    found = list(random_attributes(folder, "hdv2003", 10, np.random.default_rng(1)))
    assert len(found) == 10
    for one in found:
        assert "id" not in one.columns
        assert 2 <= len(one.columns) <= 9
        assert 0.01 < one.correctness < 0.99
        assert one.sizes(50).people == 50
        assert one.sizes(one.people).classes == np.unique(one.classes).size


def test_no_set_comes_twice_and_a_small_table_gives_those_it_has(tmp_path):
    random = np.random.default_rng(0)
    pq.write_table(pa.table({name: random.integers(9, size=500) for name in "abcd"}), tmp_path / "fars.parquet")
    found = [frozenset(one.columns) for one in random_attributes(tmp_path, "fars", 50, random)]
    assert 0 < len(found) == len(set(found)) <= 11  # 2, 3 or 4 of 4 columns


def test_a_search_for_sets_ends(tmp_path):
    random = np.random.default_rng(0)
    pq.write_table(pa.table({name: random.integers(2, size=5_000) for name in "abc"}), tmp_path / "hdv2003.parquet")
    with pytest.raises(UnsupportedError, match="hdv2003"):
        list(random_attributes(tmp_path, "hdv2003", 5, random))
    with pytest.raises(UnsupportedError, match="geometric"):
        list(generated("geometric", 1, 1, random))  # one person: κ is 1


def test_weights_and_numbers_of_households_are_no_attributes():
    assert "fnlwgt" in TABLES["adult"]
    assert {"hid", "id", "pid"} <= set(TABLES["eusilc_population"])


@pytest.mark.paper("scaling-law", "eq. 4")
def test_the_published_fit_reaches_the_least_loss():
    """Nelder–Mead against a fine grid of h and γ, on points of the law and on noisy ones."""
    grid = np.stack(np.meshgrid(np.linspace(2, 20, 181), np.linspace(-1, 1, 81)), axis=-1)
    sizes = np.unique(np.rint(np.geomspace(2, 5_000, 30)))
    for gamma, noise in ((0.4, 0.0), (0.7, 0.01), (-0.8, 0.003)):
        model = PitmanYor.from_entropy(h=7.0, gamma=gamma)
        wrong = noise * np.random.default_rng(1).standard_normal(sizes.size)
        curve = Curve.from_points(sizes, np.clip(model.correctness(sizes) + wrong, 1 / sizes, 1))
        found = fit_as_published(curve)
        reached = float(published_loss(np.array([found.h, found.gamma]), curve))
        assert reached <= published_loss(grid, curve).min() + 1e-12
        assert reached <= float(np.log(sizes) @ (curve.correctness - model.correctness(sizes)) ** 2) + 1e-12


@pytest.mark.paper("scaling-law", "Tables S3–S5", "Tables S6, S7", "Figs. S1–S17")
def test_every_corpus_stands_at_every_share(quick):
    """The corpora of a kind together are the row of Table 1, so their squares add up to its."""
    part = quick[0]["extrapolation"]
    of_kind, by_corpus = part.tables[1], part.tables[2]
    assert by_corpus.columns[2:] == ("0.1 %", "0.5 %", "1 %", "5 %", "10 %", "100 %")
    whole = {row[1]: row for row in of_kind.cells if row[0] == "100 %"}
    for kind in ("exact", "sparse", "robust"):
        parts = [row[-1].rstrip(")").split(" (") for row in by_corpus.cells if row[0] == kind]
        squares = sum(float(error) ** 2 * int(count) for error, count in parts)
        count = sum(int(count) for _, count in parts)
        assert count == int(whole[kind][2].split(" ")[0])
        assert (squares / count) ** 0.5 == pytest.approx(float(whole[kind][3].split(" ")[0].rstrip("*")), abs=0.002)


def test_sentences_follow_the_numbers():
    assert _remark_on_prior([0.02], [-0.001]).startswith(
        "Upwards in both. It is the prior's: without it the bias is -0.0010"
    )
    assert "17% of it is the prior's: without it the bias is +0.1000" in _remark_on_prior([0.12], [0.10])
    assert "None of it is the prior's" in _remark_on_prior([0.02], [0.03])
    assert "Downwards" in _remark_on_prior([-0.02], [-0.02])
    assert _remark_on_sign([0.01], "negative", []) == "The other way here."
    assert _remark_on_sign([0.01], "positive", []) == "The same sign."
    assert "+0.0010" in _remark_on_sign([0.1, 0.001], "negative", [0.001])


def test_the_laws_interval_holds_what_was_measured(quick):
    law = next(row for what, row in rows(quick[0]["scale"]).items() if what.endswith("PYC-MB"))
    low, high = map(float, re.search(r"95 % interval (\S+) to ([\d.]+\d)", law.remark).groups())
    assert low < law.paper < high
    assert "one-sided" not in law.remark
    others = [row.remark for what, row in rows(quick[0]["scale"]).items() if not what.endswith("PYC-MB")]
    assert all("off" in remark for remark in others)
    assert sum("nearest" in row.remark for row in rows(quick[0]["scale"]).values()) == 1


def test_an_interval_that_ends_at_the_estimate_says_so():
    fit = fit_curve(Curve.from_points(list(FACES_2002), list(FACES_2002.values())))
    both_sides = _interval_in_words(fit, Estimate.containing([0.7], [0.6], [0.8]))
    stretched = _interval_in_words(fit, Estimate.containing([0.7], [0.5], [0.6]))
    assert both_sides == "95 % interval 0.60 to 0.80."
    assert stretched.startswith("95 % interval 0.50 to 0.70: one-sided")


def test_held_tables_are_used(folder):
    context = Context(data=folder, quick=True)
    assert corpora(context) == ["hdv2003", *FAMILIES]
    assert sum(1 for _ in collections(context, "hdv2003")) == 2
    assert any(study.corpus.startswith("baskets") for study in sparse_studies(context))


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_families_are_reproducible(family):
    first, second = (list(generated(family, 3, 500, np.random.default_rng(7))) for _ in range(2))
    assert all(np.array_equal(a.classes, b.classes) for a, b in zip(first, second, strict=True))
    assert len({one.correctness for one in first}) == 3


def test_everybody_moves():
    traces = movement(200, 24, np.random.default_rng(0))
    seen = np.bincount(traces["person"])
    assert seen.size == 200
    assert seen.min() >= 4
    assert seen.max() <= 60
    assert traces["item"].max() < 600 * 24
