"""The `assert_anonymous` fixture, found by pytest where incrowd is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from incrowd.gate import Check


@pytest.fixture(scope="session")
def assert_anonymous() -> Callable[..., Check]:
    """`assert_anonymous(frame, quasi_identifiers=["age"], k=5)` fails the test unless the frame keeps the rules."""
    from incrowd.gate import assert_anonymous as function

    return function
