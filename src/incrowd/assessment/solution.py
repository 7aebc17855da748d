"""Results of a search for a release: what was tried, what was chosen, and why its classes are as large as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from incrowd.assessment.verdict import Verdict
from incrowd.protection import Protected
from incrowd.results import Result
from incrowd.wording import counted, listed, number


@dataclass(frozen=True, slots=True)
class Trial(Result):
    """A protection that was tried.

    Attributes:
        k: the class size.
        l: values in a class of each secret that is `diverse`.
        left_out: columns that were left out.
        decision: the verdict's.
        method: how it was protected.
        loss: the share of detail that is gone, by importance, a row that is left out having none; where several
            trials passed, of these.
        cost: by which they were compared: the columns that the search left out, and `loss` times the number of
            quasi-identifiers; where `loss` is.
        chosen: whether it is the release that was chosen.
        diverse: secrets that had to differ in every class.
        detail_kept: of the quasi-identifiers in the rows that are left, as `evaluate` measures it; where `loss` is.
        rows_left_out: how many rows are not in it; where `loss` is measured.
        why: what speaks most against it; None if it passes.
    """

    k: int
    l: float | None  # noqa: E741
    left_out: tuple[str, ...]
    decision: str
    method: str = "partition"
    loss: float | None = None
    chosen: bool = False
    diverse: tuple[str, ...] = ()
    detail_kept: float | None = None
    rows_left_out: int | None = None
    why: str | None = None
    cost: float | None = None


def why_chosen(trials: Sequence[Trial]) -> str | None:
    """The sentences on the cost by which one of several trials that passed was chosen; None if there was no choice."""
    least = next((trial.cost for trial in trials if trial.chosen), None)
    others = sorted(trial.cost for trial in trials if trial.cost is not None and not trial.chosen)
    if least is None or not others:
        return None
    return (
        f"of the ways that pass, the one that costs least is taken: {number(least)}, and not "
        f"{listed([number(cost) for cost in others])}. A column that is left out costs as much as a quasi-identifier "
        "that lost all its detail, which costs 1"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Solution(Result):
    """The protected table that was chosen, the verdict on it, and all that was tried, in that order."""

    _hidden: ClassVar[frozenset[str]] = frozenset({"protected"})
    _derived: ClassVar[tuple[str, ...]] = ("passes", "why_this_size")
    protected: Protected
    verdict: Verdict
    trials: tuple[Trial, ...]

    @property
    def passes(self) -> bool:
        """True if the verdict is a yes."""
        return self.verdict.decision == "within"

    @property
    def why_this_size(self) -> str:
        """The reason for the size of the classes: the limit, the population, or what smaller classes did or cost."""
        if not self.passes:
            return "no size that was tried passes; this is the last of them"
        (chosen,) = (trial for trial in self.trials if trial.chosen)
        needed = self.verdict.limits.class_size
        if chosen.k == needed:
            return f"the limit on the highest risk asks for classes of {needed:,}"
        if chosen.k < needed:
            return f"in the population they are as good as classes of {needed:,}, which the limit asks for"
        smaller = [trial for trial in self.trials if trial.k < chosen.k and trial.method == chosen.method]
        passing = max((trial for trial in smaller if trial.why is None), key=lambda trial: trial.k, default=None)
        failing = max((trial for trial in smaller if trial.why is not None), key=lambda trial: trial.k, default=None)
        asked = f"the limit asks for classes of {needed:,}, but"
        if passing is not None:
            more = len(passing.left_out) - len(chosen.left_out)
            cost = f"leave out {counted(more, 'column', 'columns')} more" if more > 0 else "lose more detail"
            return f"{asked} those of {passing.k:,} {cost}"
        if failing is not None:
            return f"{asked} those of {failing.k:,} do not pass: {failing.why}"
        return f"{asked} no smaller ones were tried in time"
