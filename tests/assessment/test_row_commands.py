"""Commands about what a row is: none says that rows are people where the table shows that they are not."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from incrowd import assess

pytestmark = pytest.mark.usefixtures("quick_estimates")


def visits(draw):
    return {
        "visit": np.tile([1, 2, 3, 4], 400),
        "sex": np.repeat(draw.choice(["m", "f"], 400), 4),
        "birth_year": np.repeat(draw.integers(1940, 2000, 400), 4),
        "score": draw.integers(0, 5, 1_600),
    }


def records_without_numbers(draw):
    number = np.repeat(draw.permutation(300) + 1, 3).astype(object)
    number[:5] = None
    return {
        "person_id": list(number),
        "sex": np.repeat(draw.choice(["m", "f"], 300), 3),
        "age": np.repeat(draw.integers(20, 60, 300), 3),
        "score": draw.integers(0, 5, 900),
    }


@pytest.mark.parametrize(
    ("made", "known", "drop", "says"),
    [
        (visits, ["sex", "birth_year", "visit"], [], "name the column that tells whose record it is"),
        (records_without_numbers, ["sex", "age"], ["person_id"], "fill person_id in the 5 rows"),
    ],
)
def test_rows_that_are_no_people_are_not_said_to_be(tmp_path, made, known, drop, says):
    file = tmp_path / "table.csv"
    csv.write_csv(pa.table(made(np.random.default_rng(3))), file)
    found = assess(file, quasi_identifiers=known, other=["score"], drop=drop, protection=False)
    (rows,) = [one for one in found.verdict.actions if "rows_are_people" in one.hint]
    assert says in rows.sentence
    assert rows.commands == ()
