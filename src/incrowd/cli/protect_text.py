"""Output of `incrowd protect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.cli import terminal
from incrowd.cli.assess_text import show_verdict
from incrowd.results import as_json
from incrowd.wording import counted, listed, number, percent

if TYPE_CHECKING:
    from incrowd.assessment import Verdict
    from incrowd.assessment.solution import Trial
    from incrowd.attacks import AttackRisk
    from incrowd.evaluation import Evaluation
    from incrowd.protection import Protected


@dataclass(frozen=True, slots=True)
class WrittenRelease:
    """A protected table that was written, its cost, and for a recipient the trials of the search and the verdict."""

    safe: Protected
    cost: Evaluation | None
    linkage: AttackRisk | None
    trials: Sequence[Trial]
    verdict: Verdict | None


def to_json(made: WrittenRelease, out: str) -> dict[str, Any]:
    """The result in plain JSON types."""
    parts = {"linkage": made.linkage, "trials": made.trials or None, "verdict": made.verdict}
    answer = {"file": out, **made.safe.to_dict(), "evaluation": as_json(made.cost)}
    return answer | {name: as_json(part) for name, part in parts.items() if part is not None}


def show(made: WrittenRelease, out: str) -> None:
    """Print the result in tables and sentences."""
    if made.trials:
        _show_trials(made.trials)
    _show_release(made.safe, made.cost, out, made.linkage)
    if made.verdict is not None:
        show_verdict(made.verdict)


def _show_trials(trials: Sequence[Trial]) -> None:
    from incrowd.assessment.solution import why_chosen  # not loaded where nothing was searched for

    several = len({trial.method for trial in trials}) > 1
    for trial in trials:
        values = f", {trial.l:g} values of {listed(trial.diverse)}" if trial.l else ""
        left_out = f", {', '.join(trial.left_out)} left out" if trial.left_out else ""
        how = f" by {trial.method}" if several else ""
        kept = f", {percent(trial.detail_kept)} of the detail kept" if trial.detail_kept is not None else ""
        rows = f", {counted(trial.rows_left_out, 'row', 'rows')} left out" if trial.rows_left_out else ""
        cost = f", cost {number(trial.cost)}" if trial.cost is not None else ""
        mark = " ←" if trial.chosen and several else ""
        tried = f"tried classes of {trial.k:,}{how}{values}{left_out}"
        terminal.note(f"{tried}: {trial.decision}{kept}{rows}{cost}{mark}")
    if (reason := why_chosen(trials)) is not None:
        terminal.note(reason)


def _show_release(safe: Protected, cost: Evaluation | None, out: str, linkage: AttackRisk | None) -> None:
    from incrowd.tables.release_marks import mark_of

    terminal.heading(f"{out}: {safe.guarantee.sentence}")
    is_perturbed = bool(safe.guarantee.perturbed)
    if not is_perturbed:
        terminal.line(f"Counted by the quasi-identifiers {listed(safe.quasi_identifiers)}.")
    elif linkage is None:
        terminal.line("It could not be attacked, and classes do not show the risk of changed values: it is not known.")
    else:
        terminal.line(f"For an attacker who knows {listed(safe.quasi_identifiers)}: {linkage.sentence}")
        terminal.line(f"For other attacks: incrowd attack ORIGINAL {out} --known {','.join(safe.quasi_identifiers)}")
    if safe.guarantee.wildcards:
        terminal.line("There a blank may be any value; the numbers below take it for a value, as assess does.")
    if is_perturbed:
        for rows in safe.data_tables:
            terminal.rows(rows)
        if cost is not None and cost.correlation_change is not None:
            mean, most = cost.correlation_change
            terminal.line(
                f"Correlations of quasi-identifiers moved by {number(mean)} on average, {number(most)} at most."
            )
    elif cost is None:
        terminal.statements(safe.statements)
        for rows in safe.data_tables:
            terminal.rows(rows)
    else:
        terminal.result(cost)
    if safe.removed:
        terminal.note(f"left out: {', '.join(safe.removed)}")
    if safe.pseudonymised:
        by = "pseudonyms under your key, which tables under it share" if safe.keyed else "random numbers"
        untraced = "only the key tells whose they are" if safe.keyed else "they cannot be traced back"
        terminal.note(f"replaced by {by}: {', '.join(safe.pseudonymised)}; {untraced}")
    if safe.unchanged:
        terminal.line(f"Passed on unchanged: {', '.join(safe.unchanged)}.")
    for text in safe.notes:
        terminal.note(text)
    again = "" if is_perturbed else "Counted again on the file itself. "
    terminal.line(f"{again}Written to {out}.")
    if cost is not None:
        terminal.note(
            f"{mark_of(Path(out))} tells the next assess what only the original shows; keep it beside the file, and do "
            "not pass it on"
        )
        if safe.perturbed:
            terminal.note(
                f"nothing but that mark tells that {listed(safe.perturbed)} changed by chance: without it the file is "
                "judged as if nothing was changed"
            )
