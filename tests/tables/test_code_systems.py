"""Codes of well-known hierarchies are recognised, and become the coarser codes of their own system."""

import pytest

from incrowd import Hierarchy, protect, read_table
from incrowd.backends import encode
from incrowd.tables import suggest_roles
from incrowd.tables.code_systems import recognise_codes
from incrowd.tables.suggest_reading import suggest_scales

KNOWN = [  # a column, one of its codes, and the coarser codes of its system
    ("diagnosis", "J45.9", ("J45", "J00-J99")),
    ("icd10", "D489", ("D48", "C00-D49")),
    ("icd10", "D50", ("D50", "D50-D89")),
    ("icd10", "H59.8", ("H59", "H00-H59")),
    ("icd10", "H60", ("H60", "H60-H95")),
    ("cause_of_death", "T98.3", ("T98", "S00-T98")),
    ("cause_of_death", "X59", ("X59", "V00-Y99")),
    ("icd", "B99", ("B99", "A00-B99")),
    ("nuts3", "DE212", ("DE21*", "DE2**", "DE***")),
    ("region", "FR10", ("FR1*", "FR**")),
    ("nace2", "62.01", ("62.0", "62", "section J")),
    ("nace", "J6201", ("62.0", "62", "section J")),
    ("nace", "01", ("01", "01", "section A")),
    ("isco08", "2221", ("222*", "22**", "2***")),
    ("county_fips", "06037", ("06***",)),
    ("geoid", "06037137000", ("06037******", "06*********")),
    ("zip", "02139", ("021**", "0****")),
    ("postcode", "SW1A 1AA", ("SW1A 1", "SW1A", "SW")),
    ("postcode", "M11AE", ("M1 1", "M1", "M")),
]


@pytest.mark.parametrize(("column", "code", "coarser"), KNOWN)
def test_codes_become_the_coarser_codes_of_their_system(column, code, coarser):
    assert recognise_codes(column, [code]).coarser(code) == coarser


@pytest.mark.parametrize(
    ("column", "value"),
    [("town", "Ulm"), ("room", "A101"), ("score", "2221"), ("nace", "food"), ("diagnosis", "asthma"), ("zip", "2139")],
)
def test_what_only_looks_like_a_code_is_none(column, value):
    assert recognise_codes(column, [value]) is None
    assert recognise_codes(column, []) is None


def test_every_division_of_nace_has_its_section():
    """Sections and their divisions, as the classification lists them."""
    listed = (
        "A 1-3,B 5-9,C 10-33,D 35-35,E 36-39,F 41-43,G 45-47,H 49-53,I 55-56,J 58-63,K 64-66,L 68-68,M 69-75,N 77-82,"
        "O 84-84,P 85-85,Q 86-88,R 90-93,S 94-96,T 97-98,U 99-99"
    )
    for entry in listed.split(","):
        section, divisions = entry.split()
        first, last = map(int, divisions.split("-"))
        for division in range(first, last + 1):
            code = f"{division:02d}.1"
            assert recognise_codes("nace", [code]).coarser(code)[-1] == f"section {section}"


def test_a_hierarchy_of_codes_needs_no_file():
    codes = ["J45", "J45.9", "J44.1", "C50.1", None]
    (column,) = encode(read_table({"diagnosis": codes}), ["diagnosis"])
    levels = [[level.labels[group] for group in level.groups] for level in Hierarchy.parse("places").levels(column)]
    assert column.values.to_pylist() == ["C50.1", "J44.1", "J45", "J45.9", None]
    assert levels[1:3] == [["C50", "J44", "J45", "J45", None], ["C00-D49", "J00-J99", "J00-J99", "J00-J99", None]]


def test_codes_that_are_stated_as_places_are_released_as_coarser_codes():
    nuts = [f"DE2{part}{place}" for part in range(1, 5) for place in range(1, 6)] * 2
    table = read_table({"nuts3": nuts, "n": [1.5] * 40}, scales="nuts3=place")
    safe = protect(table, quasi_identifiers=["nuts3"], k=10)
    assert set(safe.table["nuts3"].to_pylist()) == {f"DE2{part}*" for part in range(1, 5)}
    assert safe.evaluate().k == 10


def test_texts_of_codes_are_suggested_as_places():
    table = read_table(
        {"nuts3": ["DE212", "FR101", "DE212"], "town": ["Ulm", "Bonn", "Ulm"], "icd": ["J45", None, "C50"]}
    )
    assert suggest_scales(table, suggest_roles(table)) == {"nuts3": "place", "icd": "place"}


def test_values_are_read_one_by_one_and_no_further_than_the_first_that_is_no_code():
    def texts():
        yield "J45.9"
        yield "asthma"
        raise AssertionError("nobody needs the next one")

    assert recognise_codes("diagnosis", texts()) is None
    assert recognise_codes("diagnosis", iter(["J45.9", "C50"])).name == "ICD-10"
