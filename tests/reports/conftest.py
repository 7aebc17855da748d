"""Assessments to report on: an ordinary one, and one with the worst names and values a table can have."""

import numpy as np
import pytest
from tests.growths import few_growths

from incrowd import assess, demo_table

NASTY = (
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=window.hacked=2>",
    '=HYPERLINK("http://example.com","x")',
    "שם פרטי ومدينة",
    "a\u202egpj.exe",
    "{{ 7*7 }}{% raw %}",
    "x" * 10_000,
)


@pytest.fixture(scope="session")
def ordinary():
    with few_growths():
        return assess(
            demo_table(2_000),
            quasi_identifiers=["age_yrs", "sex", "race", "patcnty"],
            sensitive=["charge"],
            population=200_000,
            recipient="restricted",
            groups={"census": ["age_yrs", "sex"]},
        )


@pytest.fixture(scope="session")
def nasty():
    generator = np.random.default_rng(0)
    columns = {name: [f"cell-{name[:40]}-{v}" for v in generator.integers(0, 3, 60)] for name in NASTY}
    secret, groups = [NASTY[-1]], {NASTY[0]: [NASTY[1]]}
    with few_growths():
        return assess(columns, quasi_identifiers=list(NASTY[:-1]), sensitive=secret, groups=groups)
