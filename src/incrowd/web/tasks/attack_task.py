"""The task that attacks a release of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incrowd._support.progress import Progress
from incrowd.assessment.sections.attacks import JudgedAttack, judge_each_attack
from incrowd.attacks import ReleaseAttacks, attack_release
from incrowd.figures.attack_charts import attack_plot
from incrowd.reports import DataTable, Figure
from incrowd.tables import Table
from incrowd.web import models
from incrowd.web.attack_results import summarize_attacks
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.releases import AttackedRelease
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.table_question import decided_question
from incrowd.wording import chosen_percent, percent_interval

_MAX_EXPOSED = 20  # listed records that several attacks find, the most exposed first
_MEANS = (
    "A point is the share of the people safe without the release whom the attack exposes, the line its 95% interval. "
    "Of linkage it is how often the right record is named. Where the line reaches 0, chance explains what was seen. "
    "The dashed line is the limit: an attack whose line crosses it cannot be judged yet."
)


def attackers(table: OpenTable, question: models.AttackQuestion) -> Any:
    """The columns that attackers know: those of the request, the groups of the settings, or all quasi-identifiers."""
    return question.known or table.settings.groups or table.with_role("quasi-identifier") or None


def attack_options(table: OpenTable, question: models.AttackQuestion, holdout: Any) -> dict[str, Any]:
    """The arguments of `attack_release` that differ from its defaults."""
    given = question.model_dump(exclude={"released", "by", "known", "holdout"}, exclude_defaults=True)
    return {"known": attackers(table, question), **given} | ({} if holdout is None else {"holdout": holdout})


def attack_task(
    table: OpenTable, question: models.AttackQuestion, released: AttackedRelease, holdout: Table | None
) -> Task:
    """Attack a release of a table with every requested attack that can be run."""
    options, judged_by = attack_options(table, question, holdout), decided_question(table)

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = attack_release(table.table, released.table, **options, kept_rows=released.kept_rows, progress=progress)
        groups = found.by_group(table.table, question.by) if question.by is not None else []
        exposed = found.exposed()
        limit = judged_by.limits.of_average
        judged = judge_each_attack(found, limit)
        result = {
            **found.to_dict(),
            "attacked": released.name,
            "limit": limit,
            "judged": [one._asdict() for one in judged],
            "conclusion": _conclude(judged, found.copies, limit),
            "groups": [one.to_dict() | {"interval": percent_interval(*one.success[1:])} for one in groups],
            "exposed": {"people": len(exposed), "rows": [one.to_dict() for one in exposed[:_MAX_EXPOSED]]},
        }
        figures = as_figures([_figure(found, limit)] if found.attacks else [], table.table.columns)
        summary = summarize_attacks(found, question.released, released)
        return Outcome(found, lambda: result, lambda: figures, summary=summary)

    return run


def _conclude(judged: Sequence[JudgedAttack], copies: Sequence[str], limit: float) -> dict[str, str]:
    """The judgement of all attacks together: above the limit if one is, within it only if each is."""
    accepted = chosen_percent(limit)
    over = [one.name for one in judged if one.judgement == "over"]
    if over or copies:
        names = ", ".join(over) or "copies of people"
        return {"decision": "over", "sentence": f"Above the limit: {names}. At most {accepted} is accepted."}
    open_ones = [one.name for one in judged if one.judgement in ("borderline", "not run")]
    if open_ones or not any(one.judgement == "within" for one in judged):
        names = ", ".join(open_ones) or "no attack was judged"
        return {"decision": "borderline", "sentence": f"Not known to be within the limit of {accepted}: {names}."}
    return {"decision": "within", "sentence": f"Every attack is within the limit: at most {accepted} is accepted."}


def _figure(found: ReleaseAttacks, limit: float) -> Figure:
    columns = ("attack", "success", "without the release", "risk", "95% interval")
    return Figure(
        "attacks",
        "The risk that the release adds, by attack, with its 95% interval.",
        attack_plot(found, limit),
        DataTable("Attacks on the release", columns, tuple(found.as_text())),
        means=_MEANS,
    )
