"""Tables on which other tools answer wrongly; here they must not."""

import pandas as pd
import pytest

from incrowd import measure


def test_a_row_with_a_missing_attribute_is_counted():
    table = pd.DataFrame({"age": [30, 30, None, 41], "sex": ["f", "f", "m", None]})
    found = measure(table, quasi_identifiers=["age", "sex"])
    assert (found.k, found.uniques, found.people) == (1, 2, 4)


def test_two_missing_values_look_alike():
    found = measure({"age": [None, None, 3, 3]}, quasi_identifiers=["age"])
    assert (found.k, found.classes) == (2, 2)


def test_the_order_of_a_pandas_index_does_not_matter():
    table = pd.DataFrame({"qi": [1, 1, 2, 2], "secret": ["a", "a", "b", "b"]}, index=[2, 0, 3, 1])
    found = measure(table, quasi_identifiers=["qi"], sensitive=["secret"]).sensitive[0]
    assert found.distinct == 1
    assert found.t == pytest.approx(0.5)


def test_average_risk_is_over_people_not_over_classes():
    found = measure({"qi": [1, 1, 1, 2]}, quasi_identifiers=["qi"])
    assert found.average_risk == pytest.approx(2 / 4)  # over classes it would be (1/3 + 1) / 2


def test_recursive_diversity_sets_the_most_frequent_value_against_the_rare_ones():
    table = {"qi": [1] * 6, "secret": ["a", "a", "a", "b", "b", "c"]}
    found = measure(table, quasi_identifiers=["qi"], sensitive=["secret"]).sensitive[0]
    assert found.recursive_c == pytest.approx(3 / 1)  # l is 3: 3 a's against 1 c


def test_leading_zeros_of_a_zip_code_survive(tmp_path):
    file = tmp_path / "zip.csv"
    file.write_text("zip,n\n00501,1\n501,2\n02139,3\n")
    assert measure(file, quasi_identifiers=["zip"]).classes == 3
