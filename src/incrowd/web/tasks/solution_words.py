"""The demands that a search settled on, in sentences: every one that was asked for or suggested, and why."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.assessment.solution import Solution
from incrowd.web.protection_models import ProtectionRequest
from incrowd.wording import listed, number


def demands_in_words(asked: ProtectionRequest, found: Solution, secrets: Sequence[str]) -> list[str]:
    """Sentences on the class size and on what is demanded of secrets.

    Args:
        asked: what the search was asked for.
        found: what it found.
        secrets: the columns that are kept secret, of which the search may demand something.
    """
    (trial,) = (trial for trial in found.trials if trial.chosen)
    told = [f"k = {trial.k:,}: {found.why_this_size}"]
    demand = found.protected.demand
    if trial.l is not None:
        why = "as was asked for" if trial.l == asked.l else "otherwise a class would give it away"
        told.append(f"l = {number(trial.l)} for {listed(trial.diverse)}: {why}")
    free = [name for name in secrets if name not in (*trial.diverse, *trial.left_out)]
    if free and (asked.l is None or trial.l is not None):
        why = (
            "no class makes a value nearly certain without it" if found.passes else "no trial came so far as to need it"
        )
        told.append(f"No l for {listed(free)}: {why}")
    held = {name: getattr(demand, name) for name in ("l", "t", "beta", "delta")} | {"t": demand.t or demand.asks_t}
    told += [
        f"{name} = {getattr(asked, name)} was asked for, of columns that are left out: nothing is left to hold it"
        for name, value in held.items()
        if getattr(asked, name) is not None and value in (None, False)
    ]
    return [one if one.endswith(".") else f"{one}." for one in told]
