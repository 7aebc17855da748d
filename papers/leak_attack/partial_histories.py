"""What the paper's discussion asks for: partial leaks, partial knowledge, and true and false positives by k."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd import leak_risk, protect
from incrowd.demo import demo_table
from incrowd.leaks import PartialLeak, simulate_partial_leak
from papers.parts import Comparison, Context, Grid, PartResult, Row, Value
from papers.releases import in_fixed_order

KNOWN = ("age_yrs", "sex", "race")
CLASS_SIZES = (1, 2, 5, 10)
SHARE_LEAKED = 0.4
PEOPLE, TRIALS = 3_000, 2_000  # 300 of each when quick


class Attacker(NamedTuple):
    """How much leaks of a person's records, and what the attacker knows of them."""

    words: str
    share: float = 1.0
    known: int | None = None
    errors: float = 0.0


ATTACKERS = (
    Attacker("whole histories, all known (the paper)"),
    Attacker("half of the records leak", share=0.5),
    Attacker("one record known", known=1),
    Attacker("half leak, one known", share=0.5, known=1),
    Attacker("all known, one value in ten wrong", errors=0.1),
)


def reproduce_partial_histories(context: Context) -> PartResult:
    """Invented people with one to three hospital stays, as they are and k-anonymous, before every attacker."""
    people, trials = (300, 300) if context.quick else (PEOPLE, TRIALS)
    tables = {k: _table(people, k, context.seed) for k in CLASS_SIZES}
    found = {
        (k, attacker): _attack(table, people, attacker, trials, context.seed)
        for k, table in tables.items()
        for attacker in ATTACKERS
    }
    cells: list[list[Value]] = [
        [
            k,
            attacker.words,
            *(_share(rate) for rate in (one.true_positive_rate, one.false_positive_rate, one.precision)),
        ]
        for (k, attacker), one in found.items()
    ]
    heads = ("k", "leak and attacker", "true positives", "false positives", "names that are right")
    return PartResult(
        (_claims(tables, found, people), Grid("True and false positives by k", heads, cells, _REMARK)), (), _NOTES
    )


_REMARK = (
    "True positives: of people who leaked, the share named rightly. False positives: of people who did not leak, the "
    "share for whom somebody else is named."
)
_NOTES = (
    "The paper leaves partial leaks, partial knowledge and the rates of true and false positives to future work. The "
    "attacker names whoever in the leak shares the most records with what they know, if anybody shares one.",
    "Protected histories are made by `protect` with a person column. A larger k lowers the true positives and raises "
    "the false ones: somebody in the leak nearly always fits, and an attacker who does not know whether the person is "
    "in the leak names them.",
    "A record is known as the table writes it, so that one record of a protected history tells its class, whose ranges "
    "no other class has. An attacker who knows the person's true values has to find the ranges that hold them, which "
    "several classes have: for k above 1 the rows with one known record are upper bounds.",
)


def _table(people: int, k: int, seed: int) -> Any:
    """One to three stays of every person; k-anonymous histories where k is above 1."""
    lengths = np.random.default_rng(seed).integers(1, 4, people)
    stays = demo_table(int(lengths.sum()), seed).select(list(KNOWN))
    owner = [f"p{person:05}" for person, length in enumerate(lengths) for _ in range(length)]
    table = stays.append_column("person", [owner])
    if k == 1:
        return table
    return in_fixed_order(protect(table, quasi_identifiers=KNOWN, k=k, person="person").table, "person")


def _attack(table: Any, people: int, attacker: Attacker, trials: int, seed: int) -> PartialLeak:
    return simulate_partial_leak(
        table, round(SHARE_LEAKED * people), quasi_identifiers=KNOWN, person="person", share_of_records=attacker.share,
        known_records=attacker.known, error_rate=attacker.errors, trials=trials, seed=seed,
    )  # fmt: skip


def _claims(tables: dict[int, Any], found: dict[tuple[int, Attacker], PartialLeak], people: int) -> Comparison:
    rows = []
    for k, table in tables.items():
        one = found[k, ATTACKERS[0]]
        exact = leak_risk(table, one.leaked, quasi_identifiers=KNOWN, person="person").probability
        away = abs(one.probability - exact) / one.standard_error if one.standard_error else 0.0
        rows.append(
            Row(
                f"k = {k}: named, whole histories and all known", one.probability, f"{exact:.4g} (eq. 7)",
                f"{away:.1f} standard errors from the exact chance",
            )
        )  # fmt: skip
    return Comparison(
        f"{people:,} invented people with one to three stays, {SHARE_LEAKED:.0%} of them leak", tuple(rows)
    )


def _share(rate: float | None) -> Value:
    return None if rate is None else f"{rate:.1%}"
