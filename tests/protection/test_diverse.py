"""Of several sensitive columns, those that l holds for."""

import pytest

from incrowd import protect
from incrowd.errors import InputError
from incrowd.protection import write_protected
from incrowd.protection.marks import read_log

TABLE = {
    "age": [20 + row // 3 for row in range(120)],
    "ill": ["ab"[row // 6 % 2] for row in range(120)],
    "faith": ["xyz"[row // 40] for row in range(120)],
}
ASKED = {"quasi_identifiers": ["age"], "k": 3, "sensitive": ["ill", "faith"], "l": 2, "identifiers": []}


def fewest(safe, name):
    ages, cells = (safe.table[column].to_pylist() for column in ("age", name))
    return min(len({cell for age, cell in zip(ages, cells, strict=True) if age == one}) for one in set(ages))


def test_only_the_columns_that_are_named_must_differ(tmp_path):
    some, all_of_them = protect(TABLE, **ASKED, diverse=["ill"]), protect(TABLE, **ASKED)
    assert (fewest(some, "ill"), fewest(some, "faith")) == (2, 1)
    assert (fewest(all_of_them, "ill"), fewest(all_of_them, "faith")) == (2, 2)
    assert (some.sensitive, some.diverse) == (("ill", "faith"), ("ill",))
    assert some.evaluate().granularity > all_of_them.evaluate().granularity
    write_protected(some, tmp_path / "safe.csv")
    log = read_log(tmp_path / "safe.csv")
    assert (log.sensitive, log.diverse) == (("ill", "faith"), ("ill",))


def test_no_column_named_means_all():
    assert protect(TABLE, **ASKED, diverse=[]).diverse == ("ill", "faith")


def test_a_column_that_is_not_sensitive_is_refused():
    with pytest.raises(InputError, match="not among the sensitive columns"):
        protect(TABLE, **{**ASKED, "sensitive": ["ill"]}, diverse=["faith"])
