"""The reasons of a verdict in words: people who are found, secrets that are known, facts and assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.attacks.learned_result import POSITION, ROWS_OF_PERSON
from incrowd.protection.release_warnings import describe_refinement, describe_row_order
from incrowd.recipients import Limits, judge
from incrowd.wording import Advice, counted, listed, people, percent, two_digits

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.evidence import Evidence
    from incrowd.attacks.learned_result import LearnedAttack, LearntSecret
    from incrowd.classes import ClassSizes
    from incrowd.measures import Measurement
    from incrowd.measures.auxiliary import Refinement
    from incrowd.measures.disclosed_secrets import DisclosedColumn
    from incrowd.populations import PopulationRisk
    from incrowd.protection.marks import Linkage

_BLAMED = 0.5  # share of the attacker's odds that the columns which are blamed for it explain
_MOST_BLAMED = 3  # columns that a reason names
POPULATION_UNUSED = "The population is not used"  # how the reason begins


@dataclass(frozen=True, slots=True)
class Findings:
    """What a verdict rests on: the question, the roles of the columns, and what was counted and estimated.

    Attributes:
        question: the settled question.
        roles: the columns by role.
        facts: counts of the table.
        evidence: undecided columns, secrets, columns that give others back, the unit of a row.
        population: the risk in the population; None if it is not known or not used.
        by_classes: whether classes show the risk. Otherwise attacks do: values were changed by chance, or rows are
            synthetic.
    """

    question: Question
    roles: Roles
    facts: Measurement
    evidence: Evidence
    population: PopulationRisk | None = None
    by_classes: bool = True

    def find_exposures(self) -> Iterator[str]:
        """Exposures, each a reason for a no at any average risk: people who are found, or whose secret is known."""
        for exposure in _EXPOSURES:
            yield from exposure(self)

    def disclosed_columns(self) -> tuple[DisclosedColumn, ...]:
        """The sensitive columns in which more values are certain and news than are tolerated.

        The population is not considered: it does not protect against attackers who know that a person is in the table.
        """
        columns = self.evidence.secrets.columns if self.evidence.secrets and self.by_classes else ()
        return tuple(column for column in columns if judge(column.news_share, self.question.tolerated) != "within")

    def finer_columns(self) -> tuple[Refinement, ...]:
        """Kept columns by which, as finer forms of quasi-identifiers, classes are smaller than is accepted."""
        if self.rows_are_open:  # a record may be one of several of a person, and then has their values
            return ()
        highest = self.question.limits.highest
        refinements = (fact for fact in self.evidence.refinements if fact.k < self.facts.k)
        return tuple(fact for fact in refinements if judge(1 / fact.k, highest) == "over")

    def exceeds(self, attack: LearnedAttack) -> bool:
        """True if some people are found more often than is accepted, but for chance.

        A population changes nothing: its classes are those of coarsened values, which kept columns undo.
        """
        if not attack.looks:
            return False
        limits = self.question.limits
        everybody = next(look.low for look in attack.looks if look.share == 1)
        return judge(attack.low, limits.highest) == "over" or judge(everybody, limits.of_average) == "over"

    def learnt_secrets(self) -> tuple[LearntSecret, ...]:
        """Sensitive columns that the attack tells for more people than are tolerated."""
        secrets = self.evidence.attack.secrets if self.evidence.attack is not None else ()
        return tuple(secret for secret in secrets if secret.low > self.question.tolerated)

    @property
    def blamed(self) -> tuple[str, ...]:
        """The kept columns from which most of the attacker's odds come; they are more than half of the odds."""
        attack = self.evidence.attack
        if attack is None or not attack.looks:
            return ()
        names: list[str] = []
        total = 0.0
        for name, share in attack.blamed:
            if name not in (POSITION, ROWS_OF_PERSON, *self.roles.quasi_identifiers):
                names.append(name)
            total += share
            if total > _BLAMED:
                break
        return tuple(names)

    @property
    def sees_too_little(self) -> bool:
        """True if the attack would not have seen people who are found, because there are too few people."""
        attack = self.evidence.attack
        if attack is None or not attack.coarse or {*attack.kept} <= {POSITION}:  # the order of rows is looked at itself
            return False
        return attack.least_seen(self.question.limits.highest) >= 1

    @property
    def is_open(self) -> bool:
        """True if something is open: a column, the unit of a row, or something that could not be counted."""
        open_points = self.evidence.undecided or self.evidence.unanswered or self.rows_are_open or self.sees_too_little
        return not self.roles.confirmed or bool(open_points)

    @property
    def rows_are_open(self) -> bool:
        """True if rows may not be people, or a column looks like a person column, and the user has not settled that."""
        settled = self.question.rows_are_people or self.roles.person is not None
        return not settled and (self.evidence.rows.kind != "people" or self.roles.unused_person is not None)


def _people_are_named(findings: Findings) -> Iterator[str]:
    roles = findings.roles
    if roles.identifiers:
        yield (
            f"The table still names people or their records: {listed(roles.identifiers)}. An attacker needs nothing "
            "else to find them."
        )
    if roles.dropped:
        yield f"The table still holds what you want left out: {listed(roles.dropped)}."


def _file_holds_more(findings: Findings) -> Iterator[str]:
    if findings.evidence.not_counted:
        yield (
            f"Besides the rows that were judged, the file holds: {listed(findings.evidence.not_counted)}. Do not give "
            "this file away; protect writes one that holds nothing else."
        )


def _identifiers_are_kept(findings: Findings) -> Iterator[str]:
    roles = findings.roles
    for name in roles.identifiers_kept:
        mend = "let protect replace its numbers" if name == roles.person else "remove it"
        yield f"{name} names people or their records, and is kept as {roles.role_in_words(name)}: {mend}."


def _households_are_linked(findings: Findings) -> Iterator[str]:
    roles = findings.roles
    numbered = {one.column for one in roles.suggested if one.topic == "household number"}
    for name in findings.evidence.linking:
        tells = "tells who lives together" if name in numbered else "links people who have much in common"
        yield (
            f"{name} {tells}, and is kept as {roles.role_in_words(name)}: an attacker who knows the people of a home "
            "finds all of them by it. Leave it out, or count households."
        )


def _records_were_counted_as_people(findings: Findings) -> Iterator[str]:
    if findings.roles.unused_person is not None and not findings.question.rows_are_people:
        yield (
            f"{findings.roles.unused_person} looks like whose record it is, and records were counted as people: "
            "somebody with several records is easier to find than these numbers say."
        )


def _quasi_identifiers_are_known_more_finely(findings: Findings) -> Iterator[str]:
    """Kept columns that are finer forms of quasi-identifiers, by which people are below the limit."""
    for fact in findings.finer_columns():
        yield f"{describe_refinement(fact)}."


def _people_are_found_by_kept_columns(findings: Findings) -> Iterator[str]:
    """Re-identification beyond the classes: the look at the attack with the highest lower bound is above a limit."""
    attack = findings.evidence.attack
    if attack is None or not attack.looks or not findings.exceeds(attack):
        return
    look = max(attack.looks, key=lambda look: look.low)
    if judge(look.low, findings.question.limits.highest) != "over":  # then it is the average
        look = next(look for look in attack.looks if look.share == 1)
    surest = "" if look.share == 1 else f" the {percent(look.share)} of whom they are most confident,"
    why = f" Most of it comes from {listed(list(findings.blamed)[:_MOST_BLAMED])}." if findings.blamed else ""
    yield (
        f"Kept columns find people: an attacker who knows the quasi-identifiers, and from other people how kept "
        f"columns depend on them, names{surest} {look.found:,} of {people(look.people)} rightly "
        f"({percent(look.success)}, at least {percent(look.low)}).{why}"
    )


def _secrets_are_learnt(findings: Findings) -> Iterator[str]:
    attack = findings.evidence.attack
    for secret in findings.learnt_secrets():
        assert attack is not None
        yield (
            f"Attribute disclosure: {secret.column} can be inferred for {secret.right:,} of {people(secret.people)} "
            f"who were attacked. For {secret.news:,} of them everybody else's data would not have told it."
        )


def _row_order_gives_back(findings: Findings) -> Iterator[str]:
    if findings.evidence.row_order and findings.evidence.is_release:
        yield f"{describe_order(findings.evidence)}. Write the rows in random order."


def _secrets_are_disclosed(findings: Findings) -> Iterator[str]:
    question, disclosed = findings.question, findings.disclosed_columns()
    if disclosed:
        nearly = question.certain_from < 1
        certain, who = ("certain, or nearly so,", "nearly all") if nearly else ("certain", "all")
        worst, *others = sorted(disclosed, key=lambda column: -column.news)
        names = listed([f"{column.column} ({percent(column.news_share)})" for column in others])
        also = f" So {'are' if len(others) > 1 else 'is'} {names}." if others else ""
        shared = "share one value, and it is not one that most people have"
        if worst.close:
            shared = "share one value, or have numbers that lie close together, and most people do not have these"
        if worst.column in question.named_secrets:
            shared = "have what you named as secret"
        yield (
            f"{worst.column} is {certain} for {counted(worst.news, 'record', 'records')} "
            f"({percent(worst.news_share)}): {who} who look alike {shared} (attribute disclosure).{also}"
        )


_EXPOSURES = (
    _people_are_named,
    _file_holds_more,
    _identifiers_are_kept,
    _households_are_linked,
    _records_were_counted_as_people,
    _quasi_identifiers_are_known_more_finely,
    _people_are_found_by_kept_columns,
    _secrets_are_learnt,
    _row_order_gives_back,
    _secrets_are_disclosed,
)


def describe_order(evidence: Evidence) -> str:
    """The beginning of a sentence on the columns that the order of the rows follows."""
    words = describe_row_order(evidence.row_order)
    return words[0].upper() + words[1:]


def describe_highest_risk(facts: Measurement, population: PopulationRisk | None, limits: Limits) -> str:
    """Describe who is at a risk above the limit on the person at highest risk."""
    if population is None:
        few = facts.sizes.below(limits.class_size)
        alone = f", {facts.uniques:,} of them alone" if facts.uniques else ""
        others = counted(limits.class_size - 1, "other", "others")
        return (
            f"{people(few)} ({percent(few / facts.people)}) {'looks' if few == 1 else 'look'} like fewer than "
            f"{others}{alone}: an attacker who knows the attributes names them with a chance "
            f"above 1/{limits.class_size}."
        )
    alone_in_all = unique_in_population(facts.sizes, population)
    if alone_in_all >= 1:
        look, who = ("looks", "That person") if facts.uniques == 1 else ("look", "Perhaps all of them")
        if round(alone_in_all) < facts.uniques:
            who = f"Up to {two_digits(alone_in_all)} of them"
        return (
            f"{people(facts.uniques)} {look} like nobody else in the table. {who} may look like nobody else among all "
            f"{population.population:,} people either: an attacker who knows the attributes can be sure to have found "
            "them."
        )
    highest, _ = highest_risk(facts.sizes, population)
    where = "in the table" if population.highest is None else f"among {population.population:,} people"
    return f"The record at highest risk is named with a chance of {percent(highest)} {where}."


def highest_risk(sizes: ClassSizes, population: PopulationRisk | None) -> tuple[float, tuple[float, float] | None]:
    """The risk of the person at highest risk, and its interval if it is an estimate.

    - Without a population, the attacker may know who is in the table: 1 ÷ the smallest class.
    - If somebody of the table may be unique in the population, by the upper end of the estimate: 1.
    - Otherwise the highest estimated 1 ÷ F of a record, with F the size of its class in the population.
    - If no risks of single records were estimated: 1 ÷ the smallest class in the table, which is never lower.
    """
    if population is None:
        return 1 / sizes.smallest, None
    if unique_in_population(sizes, population) >= 1:
        return 1.0, None
    if population.highest is None:
        return 1 / sizes.smallest, None
    return population.highest, population.highest_interval


def unique_in_population(sizes: ClassSizes, population: PopulationRisk) -> float:
    """Upper estimate of the number of people who are unique in the table and in the population."""
    return sizes.uniques * population.still_unique_at_most


def is_upper_bound(sizes: ClassSizes, population: PopulationRisk | None) -> bool:
    """True if the highest risk is 1 by the upper end alone: fewer than one person is expected to be unique in both."""
    if population is None:
        return False
    return unique_in_population(sizes, population) >= 1 > sizes.uniques * (population.still_unique or 0.0)


def describe_linkage(linkage: Linkage) -> str:
    """Result of an attack on a perturbed table, and what the attack cannot show."""
    return (
        f"Values were changed by chance, so classes do not show the risk. Linkage does: {linkage.sentence} "
        "It says nothing about the person at highest risk, nor about attackers who know more; attack the release with "
        "what they may know."
    )


def list_reasons(findings: Findings, *, pending: bool) -> Iterator[str]:
    """Facts and assumptions that the decision rests on; `pending`: the population is still being estimated."""
    facts, population, linkage = findings.facts, findings.population, findings.evidence.linkage
    if linkage is not None:
        yield describe_linkage(linkage)
    if not findings.by_classes:
        return
    attributes = counted(len(facts.quasi_identifiers), "attribute", "attributes")
    if population is None:
        yield (
            f"Prosecutor risk: somebody who knows the {attributes} of a person in this table names the right "
            f"{'person' if facts.person else 'record'} {percent(facts.correctness)} of the time."
        )
        yield _why_no_population(findings.evidence.no_sample, pending)
    else:
        weight = findings.roles.weight if findings.question.population is None else None
        summed = "" if weight is None else f" (the sum of {weight})"
        yield (
            f"Journalist risk: the attacker is taken not to know who is in the table. Among {population.population:,} "
            f"people{summed}, of whom {population.people:,} are in it, a record is matched with the right person "
            f"{percent(population.overall)} of the time."
        )
    if facts.k > 1:
        yield (
            f"By the {attributes} nobody is alone: every equivalence class has at least {facts.k:,} people "
            f"(k = {facts.k:,})."
        )


def _why_no_population(no_sample: Advice | None, pending: bool) -> str:
    if no_sample is not None:
        return f"{POPULATION_UNUSED}, and the attacker is taken to know who is in the table: {no_sample}."
    if pending:
        return "The population is still being estimated; until then the attacker may know who is in the table."
    return (
        "No population was given, so the attacker is taken to know who is in the table. If it is a sample and "
        "they cannot know that, give the population: the risk is then lower."
    )
