"""Section "attacks": attacks on a release made from the table, and their judgement against the limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from incrowd.assessment.sections.section import AssessmentState, Section, Statement
from incrowd.attacks import AttackRisk, ReleaseAttacks, attack_release, kinds_for
from incrowd.attacks.result import fewest_trials
from incrowd.recipients import Judgement, is_within, judge
from incrowd.wording import Advice, chosen_percent, counted, interval_at, listed, percent

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.result import Assessment

_ALL = "all of them"


class AttackJudgement(NamedTuple):
    """Attacks by their relation to the limit: proven above it, not ruled out, and not run."""

    over: tuple[str, ...] = ()
    borderline: bool = False
    not_run: tuple[str, ...] = ()


class JudgedAttack(NamedTuple):
    """An attack beside the limit, in words: its risk with the interval, the judgement, and what to do.

    `judgement` is "not judged" for distances, which prove nothing, and "not run" for an attack that could not be run.
    """

    name: str
    risk: str
    judgement: Judgement | Literal["not judged", "not run"]
    words: str
    advice: str


def _judge_one(one: AttackRisk, limit: float) -> Judgement:
    return judge(one.risk.value, limit, one.risk[1:])


def judge_each_attack(attacks: ReleaseAttacks, limit: float) -> list[JudgedAttack]:
    """Every attack with its judgement and the next thing to do; those that could not be run come last.

    Args:
        attacks: the attacks on a release.
        limit: the highest accepted risk.
    """
    texts = zip(attacks.attacks, attacks.as_text(), strict=True)
    judged = [
        _in_words(one, name, f"{risk} ({interval})", limit, has_more=one.targets < attacks.rows)
        for one, (name, _, _, risk, interval) in texts
    ]
    return [*judged, *(_not_run(name, reason, name in attacks.not_tried) for name, reason in attacks.not_run.items())]


def _not_run(name: str, reason: str, is_needed: bool) -> JudgedAttack:
    if not is_needed:
        return JudgedAttack(name, "–", "not judged", "not judged", f"Nothing: a decision does not need it ({reason}).")
    advice = f"What was not tried is not known to fail: {reason}."
    return JudgedAttack(name, "–", "not run", "not run", advice)


def _in_words(one: AttackRisk, name: str, risk: str, limit: float, *, has_more: bool) -> JudgedAttack:
    """An attack beside the limit; `has_more`: the original has records that were not attacked."""
    if one.kind == "distances":
        return JudgedAttack(name, risk, "not judged", "not judged", "Nothing: distances alone prove nothing.")
    judgement = _judge_one(one, limit)
    if judgement == "within":
        return JudgedAttack(name, risk, judgement, "within the limit", "Nothing.")
    if judgement == "over":
        advice = "Make the release with larger classes or fewer columns, and attack it again."
        return JudgedAttack(name, risk, judgement, "above the limit", advice)
    fewest = fewest_trials(limit)
    if one.targets < fewest:
        do = "Take more records" if has_more else "Make the release of more people"
        tried = f"{counted(one.targets, 'attack was', 'attacks were')} tried"
        advice = f"{do}: {tried}, and even {fewest - 1:,} without a success do not rule it out."
    elif one.lacks_control:
        advice = "Give a holdout (people who are not in the original): without one, luck cannot be told from a leak."
    elif not is_within(one.risk.value, limit):
        advice = "Make the release with larger classes or fewer columns: what was seen is above the limit."
    else:
        do = "Take more records, or a larger holdout" if has_more else "Give a larger holdout"
        advice = f"{do}: the interval becomes narrower."
    return JudgedAttack(name, risk, judgement, "cannot tell: the limit lies within the interval", advice)


def judge_attacks(question: Question, attacks: ReleaseAttacks | None) -> AttackJudgement:
    """Compare every attack with the limit on the average risk; an attack that was not run counts as open.

    Args:
        question: the question, with its limits.
        attacks: the attacks; None if they were not run.
    """
    if question.released is None:
        return AttackJudgement()
    if attacks is None or attacks.worst is None:
        return AttackJudgement(not_run=(_ALL,))
    limit = question.limits.of_average
    judged = [(one, _judge_one(one, limit)) for one in attacks.deciding]
    return AttackJudgement(
        (
            *attacks.copies,
            *(describe_success(one.sentence, one.about, limit) for one, judgement in judged if judgement == "over"),
        ),
        any(judgement == "borderline" for _, judgement in judged),
        tuple(attacks.not_tried),
    )


def describe_success(sentence: str, about: str, limit: float) -> str:
    """What an attack that is above the limit achieves, by its sentence and what it is about."""
    return f"{sentence.rstrip('.')}. That is above the {chosen_percent(limit)} accepted ({about})."


def reasons_from_attacks(question: Question, attacks: ReleaseAttacks | None) -> Iterator[str]:
    """Reasons that attacks on a release add to the decision."""
    if question.synthetic:
        yield "No row of the release was made from one person, as you said, so attacks decide and not classes."
    if attacks is not None:
        yield attacks.sentence
        yield from (f"Not run: {name}: {reason}." for name, reason in attacks.not_run.items())


def advise_on_release(work: AssessmentState, judgement: AttackJudgement) -> Iterator[Advice]:
    """Advice for a release whose attacks succeed or could not be run."""
    if work.holdout is None:
        yield Advice(
            "Split the original before the release is made (incrowd split), make the release from one part, and give "
            "the other as the holdout: without it some attacks cannot be run, and others not be told from chance.",
            ("holdout",),
        )
    if any(name.endswith("linkage") for name in judgement.not_run):
        yield Advice(
            "Say which row of the original each row of the release was made from, or that its rows come from nobody.",
            ("kept_rows", "synthetic"),
        )
    if judgement.over or judgement.borderline:
        yield Advice(
            "Make the release with less detail or fewer columns and attack it again; incrowd attack names the rows "
            "that are found, so that they can be protected or left out."
        )


def is_asked(work: AssessmentState) -> bool:
    """True if a release is to be attacked."""
    return work.question.released is not None


def _attack(work: AssessmentState) -> ReleaseAttacks | None:
    if not is_asked(work) or work.release_of is None:
        return None
    population = work.question.population
    return attack_release(
        work.release_of,
        work.table,
        known=list(work.roles.quasi_identifiers),
        secret=list(work.roles.sensitive),
        holdout=work.holdout,
        seed=work.seed,
        kept_rows=work.kept_rows,
        kinds=kinds_for(work.roles.sensitive, synthetic=work.question.synthetic),
        population=population if population and population >= work.table.rows else (),
        progress=work.part(SECTION),
    )


def _statements(found: Assessment) -> Iterator[Statement]:
    for one in found.attacks.attacks if found.attacks else ():
        yield Statement(
            "attacks",
            one.about,
            one.risk.value,
            percent(one.risk.value),
            one.sentence,
            interval_at(0.95, *one.risk[1:]),
            _assumed(one),
        )


def _assumed(one: AttackRisk) -> str:
    baseline = "people who are not in the data are attacked as well" if one.control else "no people to compare with"
    return f"the attacker knows {listed(one.known)}; {baseline}"


SECTION = Section("attacks", _attack, _statements, weight=5, is_asked=is_asked)
