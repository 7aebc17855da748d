"""Reproduction of the papers' tables and figures: our number, the paper's, and a remark on the difference."""

from __future__ import annotations

from importlib import import_module

from incrowd.errors import InputError
from papers.parts import PAPERS, Comparison, Context, Grid, Paper, Part, PartResult, Picture, Row
from papers.runner import KeptPart, reproduce

__all__ = [
    "PAPERS",
    "Comparison",
    "Context",
    "Grid",
    "KeptPart",
    "Paper",
    "Part",
    "PartResult",
    "Picture",
    "Row",
    "paper",
    "reproduce",
]


def paper(name: str) -> Paper:
    """The paper of that name.

    >>> paper("scaling-law").parts[0].name
    'regimes'
    """
    if name not in PAPERS:
        raise InputError(f"no paper named {name!r}; there are: {', '.join(PAPERS)}")
    found: Paper = import_module(PAPERS[name]).PAPER
    return found
