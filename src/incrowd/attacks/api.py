"""`attack`: one attack on a release; `attack_release`: every attack that can be run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from incrowd._support.progress import Progress, part, silent
from incrowd.attacks.attribution import attack_by_attribution
from incrowd.attacks.copies import count_copied_people, find_near_copies
from incrowd.attacks.distances import attack_by_distances
from incrowd.attacks.inference import attack_by_inference
from incrowd.attacks.linkability import attack_by_linkability
from incrowd.attacks.linkage import attack_by_linkage
from incrowd.attacks.membership import attack_by_membership
from incrowd.attacks.report import ReleaseAttacks
from incrowd.attacks.result import AttackKind, AttackRisk
from incrowd.attacks.setting import AttackOptions, Setting, prepare
from incrowd.attacks.singling_out import attack_by_singling_out
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables import Table, TableLike, read_table
from incrowd.tables.released_values import join_bounds

ATTACKS: Mapping[AttackKind, Mapping[str, Callable[[Setting], AttackRisk]]] = {
    "linkage": {"": attack_by_linkage},
    "singling-out": {
        "multivariate": attack_by_singling_out,
        "univariate": lambda setting: attack_by_singling_out(setting, "univariate"),
    },
    "linkability": {"": attack_by_linkability},
    "inference": {
        "nearest": attack_by_inference,
        "learnt": lambda setting: attack_by_inference(setting, "learnt"),
    },
    "attribution": {"": attack_by_attribution},
    "membership": {
        "distance": attack_by_membership,
        "density": lambda setting: attack_by_membership(setting, "density"),
    },
    "distances": {"": attack_by_distances},
}
"""Every attack by its kind and method; the first method of a kind is the default."""

KINDS: tuple[AttackKind, ...] = get_args(AttackKind)
_OF_SECRETS = ("inference", "attribution")


def attack(
    original: TableLike,
    released: TableLike,
    *,
    kind: AttackKind,
    known: Sequence[str] | None = None,
    secret: str | None = None,
    holdout: TableLike | None = None,
    targets: int = 2000,
    seed: int = 0,
    method: str | None = None,
    noise: Mapping[str, float] | None = None,
    missing: float = 0.0,
    spread: Mapping[str, float] | None = None,
    population: int | Sequence[int] = (),
    kept_rows: Sequence[int] | str | os.PathLike[str] | None = None,
    others: Sequence[str] = (),
    tolerance: float = 0.05,
    width: int = 3,
    progress: Progress = silent,
) -> AttackRisk:
    """Attack a released table: protected, perturbed or synthetic.

    Args:
        original: the table that the release was made from.
        released: the table to be released; ranges, sets, prefixes and * are understood.
        kind: "linkage", "singling-out", "linkability", "inference", "attribution", "membership" or "distances".
        known: the columns that the attacker knows; by default all columns that the tables share, except the secret.
        secret: the column that inference and attribution guess, by the other known columns if it is known as well.
        holdout: people of the same population who are not in `original`; the success on them is the control.
        targets: number of people to attack, drawn at random.
        seed: seed of every random choice.
        method: if a kind has several: "multivariate" or "univariate" (singling out), "nearest" or "learnt"
            (inference), "distance" or "density" (membership).
        noise: for linkage, the largest error of the attacker's knowledge, by column: 1 is ± 1, and for text ± one
            value in sorted order, such as the next postcode.
        missing: for linkage, the share of cells of the known columns that the attacker does not know.
        spread: for linkage, the published standard deviation of the noise in the release, by column of numbers.
        population: for linkage, sizes of populations for which the correctness is forecast.
        kept_rows: for linkage, the row of the original that each released row was made from, from 0; or a text file
            with these rows, from 1. By default row i of the release was made from row i of the original.
        others: for linkability, the columns of the second part; by default every second known column.
        tolerance: for inference, the accepted error of a number, relative to the number; of a date, relative to the
            range of the dates.
        width: for singling out, the number of columns of a predicate.
        progress: callback that receives the current step and the share done.

    Returns:
        Success, control, and the risk with its 95 % interval.

    Raises:
        InputError: the tables cannot be compared, or an option makes no sense.
        UnsupportedError: the tables cannot support this attack.

    >>> table = {"age": [30, 31, 31, 62, 64], "sex": ["f", "m", "m", "f", "m"]}
    >>> attack(table, table, kind="linkage", known=["age", "sex"]).attack.value
    0.8
    """
    if kind not in ATTACKS:
        raise InputError(f"there is no attack {kind!r}; there are: {', '.join(KINDS)}", hint="kind")
    ways = ATTACKS[kind]
    way = next(iter(ways)) if method is None else method
    if way not in ways:
        offered = f"there are: {', '.join(ways)}" if len(ways) > 1 else "it has one only"
        raise InputError(f"{kind} has no method {way!r}; {offered}", hint="method")
    options = AttackOptions(
        noise or {}, missing, spread or {}, _sizes(population), kept_rows, tuple(others), tolerance, width
    )
    _check_options(options)
    tables = _read_tables(original, released, holdout)
    secrets = () if secret is None else (secret,)
    told = _advancing(progress)
    setting = prepare(tables, known, secrets, targets=targets, seed=seed, options=options, progress=told)
    return ways[way](_without_secret(setting, kind))


def attack_release(
    original: TableLike,
    released: TableLike,
    *,
    known: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    secret: str | Sequence[str] | None = None,
    holdout: TableLike | None = None,
    targets: int = 2000,
    seed: int = 0,
    kinds: Sequence[AttackKind] = KINDS,
    noise: Mapping[str, float] | None = None,
    missing: float = 0.0,
    population: int | Sequence[int] = (),
    kept_rows: Sequence[int] | str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> ReleaseAttacks:
    """Run every attack that can be run on a release, by every method.

    Args:
        original: the table that the release was made from.
        released: the table to be released.
        known: the columns that the attacker knows; or a mapping from labels of several attackers to their columns.
        secret: the column, or columns, that inference and attribution guess; without one they are not run.
        holdout: people of the same population who are not in `original`.
        targets: number of people to attack.
        seed: seed of every random choice.
        kinds: the attacks to run.
        noise: for linkage, the largest error of the attacker's knowledge, by column.
        missing: for linkage, the share of cells of the known columns that the attacker does not know.
        population: sizes of populations for which the correctness of linkage is forecast.
        kept_rows: for linkage, the row of the original that each released row was made from; see `attack`.
        progress: callback that receives the current step and the share done.

    Returns:
        The attacks, and why others could not be run.

    Raises:
        InputError: the tables cannot be compared.

    >>> table = {"age": [30, 31, 31, 62, 64] * 4, "sex": ["f", "m", "m", "f", "m"] * 4}
    >>> found = attack_release(table, table, known=["age", "sex"])
    >>> found.attacks[0].attack.value, sorted(found.not_run)
    (0.2, ['attribution', 'inference', 'membership'])
    """
    unknown = [kind for kind in kinds if kind not in ATTACKS]
    if unknown or not kinds:
        raise InputError(f"there is no attack {', '.join(unknown)!r}; there are: {', '.join(KINDS)}", hint="kind")
    attackers = dict(known) if isinstance(known, Mapping) else {"": known}
    if not attackers:
        raise InputError("name what one attacker knows, at least", hint="known")
    tables = _read_tables(original, released, holdout)
    options = AttackOptions(noise or {}, missing, populations=_sizes(population), kept_rows=kept_rows)
    secrets = (secret,) if isinstance(secret, str) else tuple(secret or ())
    results: list[AttackRisk] = []
    labels: list[str] = []
    not_run: dict[str, str] = {}
    # linkage finds people in rows that come from people; rows that are drawn may be copies
    looks_for_copies = "linkage" not in kinds and holdout is not None
    stages = len(attackers) + looks_for_copies
    for place, (label, columns) in enumerate(attackers.items()):
        span = part(progress, place / stages, (place + 1) / stages)
        setting = prepare(tables, columns, secrets, targets=targets, seed=seed, options=options, progress=span)
        runs = [(each, one) for each in kinds for one in _guessed(each, secrets)]
        for begun, (kind, guessed) in enumerate(runs):
            step = part(span, begun / len(runs), (begun + 1) / len(runs))
            done, failed = _run(kind, _without_secret(replace(setting, secret=guessed, progress=step), kind))
            results += done
            labels += [label] * len(done)
            about = guessed if len(secrets) > 1 else None
            not_run |= {" ".join(filter(None, (label, about, name))): why for name, why in failed.items()}
    copied = near_copies = None
    if looks_for_copies:
        told = _advancing(part(progress, 1 - 1 / stages, 1.0), "copies: ")
        known_columns = (name for columns in attackers.values() for name in columns or setting.known)
        compared = list(dict.fromkeys([*known_columns, *secrets]))
        copied = count_copied_people(tables[0], tables[1], tables[2], compared)
        try:
            if len(attackers) > 1:  # copies are detected best by the columns of all attackers together
                setting = prepare(tables, compared, (), targets=targets, seed=seed, options=options)
            near_copies = find_near_copies(replace(setting, progress=told), compared)
        except UnsupportedError as reason:
            not_run["near copies"] = str(reason)
        if copied.copied and not copied.unique_others:
            not_run["copies"] = (
                "nobody of the holdout is unique, so copies of people cannot be distinguished from chance"
            )
    return ReleaseAttacks(
        tables[0].name,
        tables[1].name,
        tables[0].rows,
        tables[1].rows,
        tuple(labels),
        tuple(results),
        not_run,
        seed,
        copied,
        near_copies,
    )


def kinds_for(secrets: Sequence[str], *, synthetic: bool = False) -> list[AttackKind]:
    """The possible attacks: those on secrets if there are some, linkage if rows come from people.

    Args:
        secrets: the sensitive columns.
        synthetic: True if rows of the release were not made from single people.
    """
    left_out = {*(() if secrets else _OF_SECRETS), *(("linkage",) if synthetic else ())}
    return [kind for kind in KINDS if kind not in left_out]


def _without_secret(setting: Setting, kind: AttackKind) -> Setting:
    """The attacker who guesses a secret does not know it, though others may."""
    if kind not in _OF_SECRETS:
        return setting
    return replace(setting, known=tuple(name for name in setting.known if name != setting.secret))


def _guessed(kind: AttackKind, secrets: Sequence[str]) -> Sequence[str | None]:
    return secrets if kind in _OF_SECRETS and secrets else (None,)


def _run(kind: AttackKind, setting: Setting) -> tuple[list[AttackRisk], dict[str, str]]:
    """Run an attack by every method; also return, by name, the reasons why some could not be run."""
    done: list[AttackRisk] = []
    failed: dict[str, str] = {}
    ways = ATTACKS[kind]
    for begun, (method, run) in enumerate(ways.items()):
        step = _advancing(part(setting.progress, begun / len(ways), (begun + 1) / len(ways)), f"{kind}: ")
        step("preparing", 0.0)
        try:
            if kind in _OF_SECRETS and setting.secret is None:
                raise UnsupportedError("no secret column was named")
            done.append(run(replace(setting, progress=step)))
        except UnsupportedError as reason:
            failed[f"{kind} {method}".strip()] = str(reason)
    if not done and len(set(failed.values())) == 1:
        failed = {kind: next(iter(failed.values()))}
    return done, failed


def _advancing(progress: Progress, kind: str = "") -> Progress:
    """A progress callback whose shares never decrease: an attack may compare records several times."""
    furthest = 0.0

    def tell(doing: str, share: float) -> None:
        nonlocal furthest
        furthest = max(furthest, share)
        progress(kind + doing, furthest)

    return tell


def _read_tables(original: TableLike, released: TableLike, holdout: TableLike | None) -> list[Table]:
    """The original, the release with ranges in place of their limits, and the holdout if there is one."""
    before = read_table(original)
    tables = [before, join_bounds(read_table(released), before.columns)]
    return tables if holdout is None else [*tables, read_table(holdout)]


def _sizes(population: int | Sequence[int]) -> tuple[int, ...]:
    return (int(population),) if isinstance(population, int | float) else tuple(int(one) for one in population)


def _check_options(options: AttackOptions) -> None:
    if not 0 <= options.tolerance < 1:
        raise InputError(f"the tolerance is a share from 0 to below 1; {options.tolerance} was given")
    if options.width < 1:
        raise InputError(f"a predicate has one column or more; {options.width} was given")
    if any(not value > 0 for value in options.spread.values()):
        raise InputError("the spread of a column is a standard deviation above 0")
