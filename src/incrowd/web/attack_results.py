"""Results of attacks on a candidate: they belong to its cells, and outlive the job, the server and the project file.

The audit trail holds them, with the SHA-256 of the release. It holds risks, so that another limit judges them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Annotated, Any

from pydantic import Field, ValidationError

from incrowd.assessment.sections.attacks import describe_success
from incrowd.attacks import ReleaseAttacks
from incrowd.recipients import judge
from incrowd.web.candidate_jobs import asked_by, release_of, settings_digest
from incrowd.web.fields import Id, Model
from incrowd.web.jobs import Job
from incrowd.web.releases import AttackedRelease
from incrowd.web.table_history import ATTACKED

_MADE = ("protection done", "solution done")


class AttackSummary(Model):
    """One attack: what it is about, its risk with the interval, and the risk in a sentence."""

    about: str
    sentence: str
    risk: Annotated[list[float], Field(min_length=3, max_length=3)]


class AttackResults(Model):
    """Attacks on a release in plain JSON types, without cells.

    `not_run` are the attacks that could not be tried, with the reason. `content` is the SHA-256 of the rows of the
    release and `made_by` that of its settings, null for a table from elsewhere. Results of the first versions have only
    `above_limit`: the sentences on attacks that were above the limit of that time.
    """

    released: Id
    sentence: str
    job: Id | None = None
    content: str | None = None
    made_by: str | None = None
    copies: list[str] = Field(default_factory=list)
    attacks: list[AttackSummary] = Field(default_factory=list)
    not_run: dict[str, str] = Field(default_factory=dict)
    above_limit: list[str] = Field(default_factory=list)

    @property
    def in_words(self) -> str:
        """What the attacks found, and those that were not run, which nobody knows to fail."""
        if not self.not_run:
            return self.sentence
        left = ", ".join(f"{name} ({reason})" for name, reason in self.not_run.items())
        return f"{self.sentence} Not run: {left}."

    def successes(self, limit: float) -> list[str]:
        """The attacks that are above a limit, each in a sentence."""
        return [
            *self.copies,
            *(describe_success(one.sentence, one.about, limit) for one in self.attacks if _is_over(one, limit)),
            *self.above_limit,
        ]


def _is_over(one: AttackSummary, limit: float) -> bool:
    value, low, high = one.risk
    return judge(value, limit, (low, high)) == "over"


def summarize_attacks(found: ReleaseAttacks, key: str, attacked: AttackedRelease) -> dict[str, Any]:
    """Attacks on a release for the audit trail; `key` is the id of the candidate or table."""
    results = AttackResults(
        released=key,
        sentence=found.sentence,
        content=attacked.release.rows_digest if attacked.release else None,
        made_by=attacked.made_by,
        copies=list(found.copies),
        not_run={name: found.not_run[name] for name in found.not_tried},
        attacks=[AttackSummary(about=one.about, sentence=one.sentence, risk=list(one.risk)) for one in found.deciding],
    )
    return results.model_dump(exclude={"job", "above_limit"})


def attacks_on(candidate: Job) -> list[AttackResults]:
    """Attacks on the cells of a candidate, by whatever name and settings they were released; the newest first."""
    return [attack for attack in _list_attacks(candidate) if _is_on(candidate, attack)]


def attacks_before(candidate: Job) -> list[AttackResults]:
    """Attacks on the same protection with other, or unknown, rows, here or in the reopened project; not if repeated.

    Attacks of the first versions were repeated if any was.
    """
    made_by, jobs = settings_digest(candidate), _saved_jobs(candidate)
    earlier = [
        one
        for one in _list_attacks(candidate)
        if (one.released in jobs or (made_by is not None and one.made_by == made_by)) and not _is_on(candidate, one)
    ]
    repeated = [one for attack in attacks_on(candidate) for one in attack.attacks]
    return [attack for attack in earlier if not _are_refuted(attack, repeated)]


def _are_refuted(attack: AttackResults, repeated: Sequence[AttackSummary]) -> bool:
    """True if each of the attacks was repeated, and succeeds clearly less often now: an attack that finds nobody in few
    records, or knows too little, refutes nothing.
    """
    if not attack.attacks:  # of the first versions
        return bool(repeated)
    return all(
        any(again.about == one.about and again.risk[2] < one.risk[1] for again in repeated) for one in attack.attacks
    )


def _saved_jobs(candidate: Job) -> set[str]:
    """The ids of the jobs of the reopened project that protected by the settings of a candidate."""
    history = candidate.source.current.history if candidate.source else None
    reopened, asked = (history.reopened if history else None), asked_by(candidate)
    if history is None or reopened is None or asked is None:
        return set()
    runs = [run for run in reopened.runs if run.protection == asked]
    made = [entry.details for entry in history.trail if entry.what in _MADE]
    named = {run.job for run in runs if run.job is not None}
    return named | {one["job"] for one in made if any(one == {"job": one.get("job"), **run.summary} for run in runs)}


def list_successes(attacks: Iterable[AttackResults], limit: float) -> list[str]:
    """The attacks that are above a limit, each in a sentence, once."""
    return list(dict.fromkeys(line for attack in attacks for line in attack.successes(limit)))


def _is_on(candidate: Job, attack: AttackResults) -> bool:
    if attack.released == candidate.id:
        return True
    with suppress(FileNotFoundError):  # its file was deleted meanwhile
        return attack.content is not None and attack.content == release_of(candidate).rows_digest
    return False


def _list_attacks(candidate: Job) -> list[AttackResults]:
    """All attacks in the audit trail of the candidate's table, the newest first."""
    trail = candidate.source.current.history.trail if candidate.source else []
    found = []
    for entry in reversed(trail):
        if entry.what == ATTACKED:
            try:
                found.append(AttackResults(**entry.details))
            except (ValidationError, TypeError):  # a file that no server wrote
                continue
    return found
