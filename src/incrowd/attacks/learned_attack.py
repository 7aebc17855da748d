"""The attacker who decides: whom do a release's kept columns find, and whose secrets do they tell?

The attacker knows the exact known columns of everybody and holds the release. Classes are counted elsewhere, exactly;
this attack measures what kept columns say beyond them, on people of whom no model has learned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from incrowd._support.progress import Progress, silent
from incrowd.attacks.columns_as_numbers import Feature, features_of, of_people
from incrowd.attacks.learned_posterior import RowPosterior, posteriors
from incrowd.attacks.learned_result import (
    ERROR,
    FEWEST,
    ROWS_OF_PERSON,
    SHARES,
    LearnedAttack,
    LearntSecret,
    Look,
    lower_bound,
)
from incrowd.attacks.learned_secrets import (
    Candidates,
    Halves,
    SecretInputs,
    SensitiveColumn,
    guess_by_label,
    guess_secret,
    weigh_by_control,
)
from incrowd.attacks.likeness import KnownColumn, Rows
from incrowd.attacks.released_columns import ReleasedColumn, classes_of
from incrowd.backends import Coded
from incrowd.special import Floats

_MOST_ROWS = 30_000  # rows of a larger table that are compared: whole classes, drawn at random
CERTAIN = 0.95
"""A posterior that counts as knowing."""

_STEPS = (CERTAIN, 0.97, 0.99, 0.995, 0.999)  # from which certainty on guesses count; the first that is right as often
_UNSEEN = 0.5  # rows as good as the likeliest one, in as many others as were compared
_MOST_TARGETS = 4_000  # people whose secret is attacked by their class
_MOST_COVERED = 1_000  # people whose known secret is attacked by the rows that cover the other known columns
_ROUGH = 0.5  # the least posterior without a control from which on it is worth to be looked at


def attack_by_learning(
    known: Sequence[ReleasedColumn],
    kept: Sequence[Coded],
    secrets: Sequence[ReleasedColumn] = (),
    *,
    person: Rows | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> LearnedAttack:
    """Attack a release by what its kept columns say of exact known values, and of secrets.

    Args:
        known: the known columns, in the order of the released rows.
        kept: the columns of the release that the attacker sees and does not know.
        secrets: the sensitive columns; they may be known, kept or left out.
        person: whose row each is, numbered from 0; None: every row is another person's.
        seed: of the sample and of the parts.
        progress: called with what is done and how far it is.
    """
    rng = np.random.default_rng([seed, 0x1EA12])
    progress("learning what kept columns say", 0.0)
    rows = known[0].before.codes.size
    person = np.arange(rows) if person is None else np.unique(person, return_inverse=True)[1]
    first, classes = _persons(classes_of(known, rows), person, rng)
    known = [column.take(first) for column in known]
    secrets = [column.take(first) for column in secrets]
    names = tuple(column.name for column in known)
    coarse = [column.is_coarse for column in known]
    some = _some_classes(classes, rng)
    columns = [
        KnownColumn.of(column.before.take(some), is_coarse=flag) for column, flag in zip(known, coarse, strict=True)
    ]
    features = _features(kept, person, some)
    _, of_class = np.unique(classes[some], return_inverse=True)
    blame: dict[str, float] = {}
    found = list(posteriors(columns, features, of_class, rng, blame))
    looks: tuple[Look, ...] = ()
    if found and features and any(coarse):
        progress("looking at what was found", 0.4)
        guesses = [_guess_rows(posterior) for posterior in found]
        looks = _looks(*(np.concatenate(parts) for parts in zip(*guesses, strict=True)))
    learnt = []
    for place, column in enumerate(secrets):
        progress(f"learning {column.name}", 0.5 + place / len(secrets) / 2)
        is_known = column.name in names
        if is_known and column.after is not None:
            others = [other for other in known if other.name != column.name]
            learnt.append(_learnt_by_label(column, others, classes, rng))
            continue
        inputs = SecretInputs.of([other for other in columns if other.name != column.name], features)
        candidates = Candidates.of_posteriors(found, _MOST_TARGETS)
        if is_known:  # the posterior is that of somebody who knows the secret
            candidates = candidates.without_weights()
        learnt.append(_learnt(SensitiveColumn.of(column.take(some)), candidates, inputs, Halves.of(of_class, rng)))
    return LearnedAttack(
        names,
        tuple(name for name, flag in zip(names, coarse, strict=True) if flag),
        tuple(column.name for column in kept if column.size > 1),
        looks[0].people if looks else 0,
        looks,
        tuple(learnt),
        _shares(blame),
    )


def _persons(row_classes: Rows, person: Rows, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """A row of every person, which says what is known of them, and the person's class: by the labels of all their rows.

    It is the first row by its labels: which of several rows is written first says nothing.
    """
    order = np.lexsort((row_classes, person))
    people, first = np.unique(person[order], return_index=True)
    if people.size == person.size:
        return order[first], row_classes[order[first]]
    drawn = rng.integers(0, 2**63, int(row_classes.max()) + 1).astype(np.uint64)
    histories = np.zeros(people.size, dtype=np.uint64)
    np.add.at(histories, person, drawn[row_classes])  # equal for equal rows in any order, and for hardly any others
    return order[first], np.unique(histories, return_inverse=True)[1].astype(np.int64)


def _features(kept: Sequence[Coded], person: Rows, people: Rows) -> list[Feature]:
    """Kept columns of some people as numbers: the mean of their rows, and how many these are."""
    is_drawn = np.zeros(int(person.max()) + 1, dtype=np.bool_)
    is_drawn[people] = True
    rows = np.flatnonzero(is_drawn[person])
    features = features_of([column.take(rows) for column in kept])
    if rows.size == people.size:
        return features
    _, whose = np.unique(person[rows], return_inverse=True)
    tally = np.bincount(whose)
    number = Feature("number of rows", (ROWS_OF_PERSON,), tally.astype(np.float64), tally.astype(np.int64))
    return [*(of_people(feature, whose) for feature in features), number]


def _some_classes(classes: Rows, rng: np.random.Generator) -> Rows:
    """Everybody, or all members of some classes that are drawn at random."""
    if classes.size <= _MOST_ROWS:
        return np.arange(classes.size)
    sizes = np.bincount(classes)
    order = rng.permutation(sizes.size)
    is_drawn = np.zeros(sizes.size, dtype=np.bool_)
    is_drawn[order[: 1 + int(np.searchsorted(np.cumsum(sizes[order]), _MOST_ROWS))]] = True
    return np.flatnonzero(is_drawn[classes])


def _guess_rows(posterior: RowPosterior) -> tuple[Floats, Floats]:
    """How confident the attacker is of the likeliest row of each member, and the chance that it is theirs.

    Of several rows that are as likely the attacker takes any. Where only some members of a class were compared, the
    odds of the others are like those of the ones that were, and some go as well with the person as the likeliest row: a
    row is found as much less often.
    """
    weights = posterior.weights
    size = posterior.members.size
    best = weights.max(axis=1)
    is_likeliest = weights >= best[:, None] * (1 - 1e-9)
    found = np.diagonal(is_likeliest) / is_likeliest.sum(axis=1)
    if posterior.size > size:
        others = (1 - best) + (posterior.size - size) * (1 - best + best * _UNSEEN) / (size - 1)
        all_odds = best / (best + others)
        found = found * all_odds / best
        best = all_odds
    return best, found


def _looks(confidence: Floats, chances: Floats) -> tuple[Look, ...]:
    order = np.argsort(-confidence, kind="stable")
    looks = []
    for share in SHARES:
        people = min(order.size, max(FEWEST, int(share * order.size)))
        found = int(chances[order[:people]].sum())
        looks.append(Look(share, people, found, float(lower_bound(found, people, ERROR / len(SHARES)))))
    return tuple(looks)


def _learnt_by_label(
    column: ReleasedColumn, others: Sequence[ReleasedColumn], classes: Rows, rng: np.random.Generator
) -> LearntSecret:
    """A known column whose labels the release shows, attacked by somebody who knows the other known columns."""
    secret = SensitiveColumn.of(column)
    inputs = SecretInputs.of([KnownColumn.of(other.before, is_coarse=True) for other in others], [])
    halves = Halves.of(classes, rng)
    candidates = Candidates.of_covering(others, classes.size, _MOST_COVERED, rng)
    rough = guess_by_label(secret, candidates)
    if (rough >= _ROUGH).sum() < FEWEST:
        return LearntSecret(secret.name, candidates.targets.size, 0, 0, 0, 0.0)
    candidates = weigh_by_control(secret, candidates, others, inputs, halves, rng)
    return _learnt(secret, candidates, inputs, halves)


def _learnt(secret: SensitiveColumn, candidates: Candidates, inputs: SecretInputs, halves: Halves) -> LearntSecret:
    """Of how many people a secret was learnt, by the guesses that are right as often as they say."""
    guesses = guess_secret(secret, candidates, inputs, halves, CERTAIN)
    is_certain = guesses.certainty >= CERTAIN
    for step in _STEPS:
        is_certain = guesses.certainty >= step
        right = int((is_certain & guesses.is_right).sum())
        is_calibrated = binom.cdf(right, is_certain.sum(), CERTAIN) > ERROR
        if is_calibrated:
            break
    news = int((is_certain & guesses.is_right & (guesses.usual < 1 / 2)).sum())
    people = guesses.is_right.size
    low = float(lower_bound(news, people, ERROR / 2)) if is_calibrated and news >= FEWEST else 0.0
    return LearntSecret(secret.name, people, int(is_certain.sum()), right, news, low)


def _shares(blame: dict[str, float]) -> tuple[tuple[str, float], ...]:
    total = sum(blame.values()) or 1.0
    ordered = sorted(blame.items(), key=lambda pair: -pair[1])
    return tuple((name, round(float(share / total), 4)) for name, share in ordered if share > 0)
