"""The papers' tables and figures, made again with this package: our number, the paper's, and what differs."""

from __future__ import annotations

from importlib import import_module

from incrowd.errors import InputError
from incrowd.reproduce.parts import Comparison, Context, Grid, Paper, Part, PartResult, Picture, Row
from incrowd.reproduce.run import KeptPart, reproduce

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

PAPERS = {
    "scaling-law": "incrowd.reproduce.scaling_law",
    "synthetic-estimator": "incrowd.reproduce.synthetic_estimator",
    "proper-anonymization": "incrowd.reproduce.proper_anonymization",
    "leak-attack": "incrowd.reproduce.leak_attack",
}
"""A paper's name, and the module that holds its `PAPER`; loaded only when it is asked for."""


def paper(name: str) -> Paper:
    """The paper of that name.

    >>> paper("scaling-law").parts[0].name
    'regimes'
    """
    if name not in PAPERS:
        raise InputError(f"no paper named {name!r}; there are: {', '.join(PAPERS)}")
    found: Paper = import_module(PAPERS[name]).PAPER
    return found
