"""The Adult census extract, where it is at hand: figures that ARX gives for the same 30 162 records."""

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from incrowd import measure
from incrowd.measures import risk_by_subset

ATTRIBUTES = (
    "age",
    "sex",
    "race",
    "marital_status",
    "education",
    "native_country",
    "workclass",
    "occupation",
    "income",
)


@pytest.fixture(scope="module")
def adult(shared_data):
    table = pq.read_table(shared_data / "adult.parquet")
    return table.filter(pc.equal(table["split"], "train")).drop_null()


def test_nine_attributes(adult):
    found = measure(adult, quasi_identifiers=ATTRIBUTES)
    assert (found.records, found.classes, found.uniques, found.largest_class) == (30_162, 19_502, 15_512, 45)
    assert found.average_risk == pytest.approx(0.646575, abs=1e-6)


def test_eight_attributes(adult):
    found = measure(adult, quasi_identifiers=ATTRIBUTES[:8], sensitive=["income"])
    assert (found.classes, found.uniques, found.largest_class) == (18_109, 14_021, 45)
    assert found.average_risk == pytest.approx(0.600391, abs=1e-6)


def test_every_set_of_nine_attributes(adult):
    found = {risk.columns: risk for risk in risk_by_subset(adult, ATTRIBUTES)}
    assert len(found) == 511
    assert (found[ATTRIBUTES].classes, found[ATTRIBUTES].uniques) == (19_502, 15_512)
    assert (found[ATTRIBUTES[:8]].classes, found[ATTRIBUTES[:8]].uniques) == (18_109, 14_021)


def test_the_tables_own_counts(shared_data):
    found = measure(
        shared_data / "eusilc_population.parquet",
        quasi_identifiers=["region", "hsize", "age", "gender", "citizenship", "ecoStat"],
    )
    assert (found.records, found.classes, found.uniques) == (58_654, 14_029, 5_778)


def test_a_column_with_a_dot_in_its_name(shared_data):
    names = ["age", "sexe", "nivetud", "occup", "qualif", "freres.soeurs", "relig"]
    found = measure(shared_data / "hdv2003.parquet", quasi_identifiers=names)
    assert (found.records, found.classes, found.uniques) == (2_000, 1_962, 1_927)


def test_the_eight_row_table(shared_data):
    found = measure(shared_data / "sdc_francdat.parquet", quasi_identifiers=["Key1", "Key2", "Key3", "Key4"])
    assert (found.records, found.classes, found.uniques) == (8, 6, 4)
