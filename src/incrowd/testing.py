"""For test suites: an assertion that a table keeps its rules. Installed with the package as a pytest fixture too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incrowd.check import Check, check


def assert_anonymous(
    data: Any,
    *,
    qi: Sequence[str],
    k: int | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    **limits: Any,
) -> Check:
    """Fail unless everybody looks like at least k − 1 others and every other limit is kept.

    `limits` are those of `incrowd.check.check`: `max_risk`, `max_uniqueness`, `min_l`, `max_t` and so on.

    >>> assert_anonymous({"age": [30, 30, 41, 41]}, qi=["age"], k=2).passed
    True
    >>> assert_anonymous({"age": [30, 30, 41]}, qi=["age"], k=2)
    Traceback (most recent call last):
    AssertionError: the table is not anonymous enough: people in the smallest class: 1 (rule: at least 2)
    """
    __tracebackhide__ = True
    found = check(data, quasi_identifiers=qi, sensitive=sensitive, person=person, min_k=k, **limits)
    if not found.passed:
        raise AssertionError(
            f"{found.table} is not anonymous enough: " + "; ".join(rule.sentence for rule in found.broken)
        )
    return found
