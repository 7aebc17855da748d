"""The anonymisation paper: what it prints, its figures' numbers against the library's, and the whole paper, quick."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from papers.page import write_pages
from papers.proper_anonymization import printed_numbers as printed
from papers.proper_anonymization.coarsening import _remark_on_steps, coarsened
from papers.proper_anonymization.generated_population import flatten_triangle
from papers.proper_anonymization.masking import READINGS, mask_uniques, masked_counts, regenerate_masked
from papers.proper_anonymization.protection import t_by_record

from incrowd import evaluate, measure, protect, read_table
from incrowd._support.progress import silent
from incrowd.demo import AS_NUMBERS, CENSUS, QUASI_IDENTIFIERS, SPATIAL, TEMPORAL, demo_table
from incrowd.measures import risk_by_group
from incrowd.protection import HIPAA_STEPS
from incrowd.protection.paper_methods import bound_on_t
from papers import Context, paper, reproduce


@pytest.fixture(scope="module")
def small():
    return demo_table(3_000, seed=1).select([*QUASI_IDENTIFIERS, "charge"])


@pytest.mark.paper("proper-anonymization", "Table S4", "Table S5")
def test_the_printed_tables_agree_as_the_paper_says():
    s4, s5 = flatten_triangle(printed.TABLE_S4), flatten_triangle(printed.TABLE_S5)
    assert s4.size == s5.size == len(printed.PAIRS) == 36
    assert np.corrcoef(s4, s5)[0, 1] == pytest.approx(printed.AGREEMENT, abs=0.0005)


@pytest.mark.paper("proper-anonymization", "Table S9")
def test_table_s9_is_equation_6():
    for k, t in printed.T_BY_K.items():
        assert bound_on_t(3_985_166, k) == pytest.approx(t, abs=0.005)


@pytest.mark.parametrize(("places", "people"), [(2, 2), (8, 32), (None, 4), (16, None)])
@pytest.mark.paper("proper-anonymization", "Fig. S5", "Fig. S6")
def test_coarsened_cells_are_what_protect_and_evaluate_give(small, places, people):
    cells = {(cell.spatiotemporal, cell.census): cell for cell in coarsened(small, Context())}
    resolution = dict.fromkeys(SPATIAL + TEMPORAL, places) | dict.fromkeys(CENSUS, people)
    given = {name: parts for name, parts in resolution.items() if parts is not None}
    safe = protect(
        read_table(small, scales=AS_NUMBERS), quasi_identifiers=QUASI_IDENTIFIERS, method="coarsen", resolution=given
    )
    found = safe.evaluate()
    cell = cells[places, people]
    assert cell.uniques == found.uniques
    assert cell.loss == pytest.approx(found.information_loss, rel=1e-5)


@pytest.mark.paper("proper-anonymization", "Fig. 1")
def test_risk_by_what_is_known_is_a_plain_count(small):
    rows = small.to_pylist()
    for risk in risk_by_group(small, {"census": CENSUS, "spatial": SPATIAL, "temporal": TEMPORAL}):
        alike = Counter(tuple(row[name] for name in risk.columns) for row in rows)
        assert risk.uniques == sum(count == 1 for count in alike.values())


@pytest.mark.paper("proper-anonymization", "Table S1")
def test_the_population_has_the_columns_of_table_s1():
    table = demo_table(500)
    assert set(QUASI_IDENTIFIERS) == {
        "oshpd_id", "age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr",
    }  # fmt: skip
    assert {"charge", "diag_p"} <= set(table.column_names)
    assert (len(CENSUS), len(SPATIAL), len(TEMPORAL)) == (6, 1, 2)


def test_the_original_loses_nothing(small):
    cell = coarsened(small, Context())[-1]
    assert cell.loss == 0
    assert cell.uniques == measure(small, quasi_identifiers=QUASI_IDENTIFIERS).sizes.uniques


def test_the_readings_of_table_s3_are_its_columns_and_wider():
    seven, eight, nine = READINGS.values()
    assert set(seven) == {column for column, _ in HIPAA_STEPS}
    assert set(seven) < set(eight) < set(nine) == set(QUASI_IDENTIFIERS)


def test_a_straight_fall_is_told_from_a_bent_one():
    assert _remark_on_steps([0.4, 0.3, 0.2, 0.1, 0.0]).startswith("so here: doubling the width")
    assert _remark_on_steps([0.0857, 0.0389, 0.0108, 0.0008, 0.0]).startswith("not here")


@pytest.mark.paper("proper-anonymization", "Fig. S3", "Table S3")
def test_masking_counts_as_evaluate_does(small):
    found = mask_uniques(small, READINGS["masked by all nine"], silent)
    told = evaluate(small, found.table, quasi_identifiers=QUASI_IDENTIFIERS)
    assert list(found.uniques.values())[-1] == told.uniques
    assert found.shares["los"] == found.shares["oshpd_id"] == 0
    assert 0 < found.shares["sex"] < found.shares["age_yrs"]


@pytest.mark.paper("proper-anonymization", "Algorithm S1", "Table S5")
def test_regenerating_keeps_every_column_as_it_was_and_what_was_not_masked(small):
    found = mask_uniques(small, READINGS["masked by eight"], silent)
    filled = regenerate_masked(small, found, seed=3)
    for name in QUASI_IDENTIFIERS:
        was, now = small[name].to_numpy(), filled[name].to_numpy()
        assert np.array_equal(np.sort(was), np.sort(now))
        meaning = found.meanings[name]
        plain = (meaning.covered == 1)[meaning.codes]
        assert np.array_equal(was[plain], now[plain])
    assert not filled["age_yrs"].equals(small["age_yrs"])


@pytest.mark.paper("proper-anonymization", "Fig. S1", "Fig. S2")
@pytest.mark.parametrize("name", ["race", "age_yrs"])
def test_masked_counts_are_those_of_a_plain_count(small, name):
    found = mask_uniques(small, READINGS["masked by eight"], silent)
    pairs = list(zip(small[name].to_pylist(), map(str, found.table[name].to_pylist()), strict=True))
    expected = {
        value: (sum(was == value for was, _ in pairs), sum(was == value and now != str(was) for was, now in pairs))
        for value in {was for was, _ in pairs}
    }
    counts = masked_counts(small, found, name)
    assert counts == expected
    rare, common = min(counts, key=lambda value: counts[value][0]), max(counts, key=lambda value: counts[value][0])
    shares = {value: masked / total for value, (total, masked) in counts.items()}
    assert (
        shares[rare] >= shares[common]
    )  # “the less frequent original values are proportionally more frequently masked”


@pytest.mark.parametrize("k", [2, 5])
def test_s4_keeps_its_bound_by_record_though_charges_are_equal(small, k):
    tied = small.set_column(9, "charge", pa.array(small["charge"].to_numpy() // 20_000))
    options = {"quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["charge"], "k": k, "t": "bound"}
    safe = protect(tied, method="tcloseness", **options)
    assert t_by_record(safe.table) <= bound_on_t(3_000, k) * (1 + 1e-9)
    assert safe.guarantee.t > t_by_record(safe.table)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("hospital")
    kept = reproduce(paper("proper-anonymization"), out, Context(quick=True))
    return {part.name: part for part in kept}, write_pages(out, paper("proper-anonymization"), kept)


def rows_of(part):
    return {row.quantity: row for table in part.tables for row in getattr(table, "rows", ())}


@pytest.mark.paper("proper-anonymization", "Fig. 2", "Fig. S4", "Fig. S7")
def test_the_papers_claims_hold_on_a_small_population(made):
    parts, _ = made
    claims = rows_of(parts["protection"])
    assert claims["unequivocal re-identifications under k-anonymity"].ours == "0 of 12,000"
    told, holders = claims["charge certain with t-closeness"].ours.split(" of ")
    assert told == "0"
    assert int(holders.replace(",", "")) > 1_000
    assert claims["correct random re-identification, S2, k = 2, 3, 5, 10"].ours == "0.5000, 0.3333, 0.2000, 0.1000"
    sorted_loss, fixed_loss = claims["loss: 2-anonymity (S2) against 1/8 intervals"].ours.split(" against ")
    assert float(sorted_loss) < float(fixed_loss)
    readings = rows_of(parts["masked"])["masked races: by seven, by eight, by all nine"]
    shares = [float(share.rstrip("%")) for share in readings.ours.split(", ")]
    assert shares == sorted(shares)
    assert readings.remark.startswith("nearest by seven")
    left = rows_of(parts["coarsening"])["records still unique with every column in two intervals"]
    assert left.ours > 0


def test_ours_loses_less_at_the_same_k_and_t(made):
    parts, _ = made
    loss = {(method, setting): float(row[-1]) for method, setting, *row in parts["protection"].tables[2].cells}
    for k in printed.T_BY_K:
        assert loss["k-anonymity, ours", f"k = {k}"] < 0.5 * loss["k-anonymity (S2)", f"k = {k}"]
        assert loss["with t-closeness, ours", f"k = {k}"] < 0.6 * loss["with t-closeness (S4)", f"k = {k}"]


def test_a_quick_run_says_so_and_every_figure_is_on_the_page(made):
    _, written = made
    text = written[0].read_text(encoding="utf-8")
    assert "A quick run: 12,000 records instead of 3,985,166" in text
    for number in (
        "Figure 1",
        "Figure 2",
        "Figure S1",
        "Figure S2",
        "Figure S3",
        "Figure S4",
        "Figure S5",
        "Figure S6",
        "Figure S7",
    ):
        assert f"![{number}" in text
    for number in ("Tables S4 and S5", "Table S9"):
        assert f"### {number}" in text
