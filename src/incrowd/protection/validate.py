"""Validation of a request before the method runs: columns and their roles, demands and wishes."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.backends.arrow_columns import is_text
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.method_options import require_whole
from incrowd.protection.problem import DIVERSITIES, Demand, require_known
from incrowd.protection.protect_options import ProtectOptions
from incrowd.tables import Table, suggest_roles
from incrowd.tables.guess_scales import apply_scales
from incrowd.tables.roles.unread_values import advise_on_unread
from incrowd.tables.suggest_reading import find_replicate_weights

if TYPE_CHECKING:
    from incrowd.protection.registry import ProtectionMethod


@dataclass(frozen=True, slots=True)
class SettledColumns:
    """The roles of the columns."""

    quasi_identifiers: list[str]  # the columns that an attacker may know
    sensitive: list[str]  # the sensitive columns
    person: str | None  # the column that says whose record it is
    other: list[str]  # columns that an attacker cannot know
    removed: list[str]  # columns that are left out
    left_out_secrets: list[str]  # those of them that are sensitive
    notes: list[str]  # decisions about columns that the user did not make

    def without_role(self, names: Sequence[str]) -> list[str]:
        """The given columns that have no role."""
        taken = {*self.quasi_identifiers, *self.sensitive, self.person, *self.other, *self.removed}
        return [name for name in names if name not in taken]


def settle_columns(
    table: Table,
    quasi_identifiers: list[str],
    sensitive: list[str],
    left_out_secrets: list[str],
    options: ProtectOptions,
    *,
    described: Collection[str],
    in_steps: Collection[str],
) -> SettledColumns:
    """Settle the roles of columns: those that were named, suggested identifiers, and replicate weights.

    Args:
        table: the table. Quasi-identifiers and sensitive columns whose numbers are codes become categories.
        quasi_identifiers: the columns that an attacker may know.
        left_out_secrets: further sensitive columns, which are left out.
        options: of `protect`: the person column, columns to remove, and columns that nobody can know.
        described: columns whose values are described by an option, so that they keep their types.
        in_steps: columns that perturbation steps change, so that they are not removed.

    Raises:
        InputError: a column has two roles, or does not exist.
        UnsupportedError: a quasi-identifier holds dates as text.
    """
    person, identifiers, leave_out = options.person, options.identifiers, options.leave_out or ()
    notes = _review_texts(table, [name for name in quasi_identifiers if name not in described])
    notes += apply_scales(table, [name for name in [*quasi_identifiers, *sensitive] if name not in described])
    other_columns = table.require(options.other, "other columns") if options.other else []
    with_role = [*quasi_identifiers, *sensitive, person]
    _require_one_role(other_columns, [*with_role, *(identifiers or ())], "be an other column and something else")
    removed = table.require([*(identifiers or ()), *leave_out], "columns to remove") if identifiers or leave_out else []
    _require_one_role(removed, [*with_role, *other_columns], "be removed and be something else")
    settled = SettledColumns(quasi_identifiers, sensitive, person, other_columns, removed, left_out_secrets, notes)
    if identifiers is None and (without_role := settled.without_role(table.columns)):
        removed[:0] = [one.column for one in suggest_roles(table, without_role) if one.role == "identifier"]
    replicates = find_replicate_weights(table, settled.without_role(table.columns))
    replicates = [name for name in replicates if name not in in_steps]
    if replicates:
        removed += replicates
        notes.append(
            f"{len(replicates):,} replicate weights are set aside ({replicates[0]} to {replicates[-1]}): together they "
            "tell which records were drawn together; name them as other columns to pass them on"
        )
    return settled


def _review_texts(table: Table, quasi_identifiers: Sequence[str]) -> list[str]:
    """Refuse quasi-identifiers that hold dates as text, which could only become sets of single days.

    Returns:
        Notes on columns that hold numbers as text, and on those whose cells name people.
    """
    types = table.backend.types()
    texts = [name for name in quasi_identifiers if is_text(types[name])]
    suggested = suggest_roles(table, texts) if texts else []
    unread_columns = [one.unread for one in suggested if one.unread is not None]
    for advice in advise_on_unread(one for one in unread_columns if one.are_dates):
        raise UnsupportedError(advice.sentence, hint=advice.hint)
    naming = [one.column for one in suggested if one.names_people]
    return [
        *(advice.sentence for advice in advise_on_unread(unread_columns)),
        *(f"the cells of {name} name people, and so do sets of them; leave the column out" for name in naming),
    ]


def _require_one_role(names: Sequence[str], others: Sequence[str | None], what: str) -> None:
    """Refuse columns that are named for two roles."""
    in_both = [name for name in names if name in others]
    if in_both:
        raise InputError(f"{', '.join(map(repr, in_both))} cannot {what}; name it once")


def require_sensitive(table: Table, sensitive: Sequence[str] | None) -> list[str]:
    """Check that the sensitive columns exist; None becomes an empty list."""
    if sensitive is None:
        return []
    if not isinstance(sensitive, Sequence) or not all(isinstance(name, str) for name in sensitive):
        raise InputError("sensitive columns must be a list of column names")
    return table.require(sensitive, "sensitive columns") if len(sensitive) else []


def check_columns(
    table: Table, quasi_identifiers: Sequence[str], sensitive: Sequence[str], person: str | None
) -> list[str]:
    """Check the columns, of which the person column has no other role; returns the quasi-identifiers."""
    names = table.require(quasi_identifiers, "quasi-identifiers")
    if person is not None:
        table.require([person], "person column")
    if person in names:
        raise InputError(f"the person column {person!r} is among the quasi-identifiers; take it out of one of them")
    if person in sensitive:
        raise InputError(f"{person!r} cannot be the sensitive column and the person column")
    if not table.rows:
        raise InputError(f"{table.name} has columns but no rows")
    return names


def check_demand(demand: Demand, rows: int, sensitive: Sequence[str], method: ProtectionMethod) -> None:
    """Refuse a k, l, t, beta or delta that is impossible for the number of rows or for the method."""
    require_whole("k", demand.k, 2)
    if demand.k > rows and method.guarantees_k:
        raise InputError(f"classes of {demand.k:,} from {rows:,} rows; ask for a k of at most {rows:,}", hint="k")
    if demand.t is not None and not 0.0 < demand.t <= 1.0:
        raise InputError(f"t must be above 0 and at most 1; {demand.t!r} was given")
    if demand.diversity not in DIVERSITIES:
        raise InputError(f"there is no diversity {demand.diversity!r}; use {', '.join(DIVERSITIES)}", hint="diversity")
    if demand.l is not None and not 1 <= demand.l <= rows:
        raise InputError(f"l must be 1 or more, and at most the {rows:,} rows there are; {demand.l!r} was given")
    if demand.l is not None and demand.diversity != "entropy" and demand.l != int(demand.l):
        raise InputError(f"l must be a whole number for {demand.diversity} l-diversity; {demand.l!r} was given")
    for name, limit in (("beta", demand.beta), ("delta", demand.delta)):
        if limit is not None and not 0 < limit < math.inf:
            raise InputError(f"{name} must be above 0; {limit!r} was given")
    if not demand.c > 0:
        raise InputError(f"c of recursive (c, l)-diversity must be above 0; {demand.c!r} was given")
    if not sensitive and (demand.about_secrets or method.run is None):
        raise InputError("l-diversity, t-closeness, beta and delta need a sensitive column; name it", hint="sensitive")
    if demand.asks_bound_on_t and method.run_by_strata is None:
        raise UnsupportedError(
            "the bound on t is reached by strata; use the partition, or give t", hint="method=partition"
        )
    if demand.wildcards and demand.about_secrets:
        raise UnsupportedError(
            "blanks that may be any value leave no classes for l, t, beta and delta; leave wildcards out"
        )
    if method.perturbs and demand.about_secrets:
        raise UnsupportedError(
            "perturbed values promise no l, t, beta or delta; use the partition", hint="method=partition"
        )
    if len(sensitive) > 1 and (method.run is None or demand.asks_bound_on_t):
        raise UnsupportedError(
            f"strata are made of one sensitive column, and {len(sensitive)} are given; use the partition with a number "
            "for t, which takes several",
            hint="method=partition",
        )


def _is_amount(value: object) -> bool:
    """True if a value is a finite number of 0 or more."""
    try:
        return math.isfinite(value) and value >= 0  # type: ignore[arg-type, operator]
    except (TypeError, OverflowError):
        return False


def check_wishes(names: Sequence[str], options: ProtectOptions, demand: Demand) -> None:
    """Check wishes one by one and against each other. `names` are the quasi-identifiers."""
    given = {
        "an importance": options.importance,
        "a wish to keep": options.keep,
        "a largest width": options.widest,
        "a nominal scale": options.nominal,
    }
    for what, columns in given.items():
        if isinstance(columns, str):
            raise InputError(f"{what} is given as one text; give a list or a mapping of columns")
        require_known(what, columns or (), names)
    keep, weights, limits = options.keep or (), options.importance or {}, options.widest or {}
    for name, weight in weights.items():
        if not _is_amount(weight):
            raise InputError(f"an importance of {weight!r} for {name!r}; give a number of 0 or more")
    for name, limit in limits.items():
        if not _is_amount(limit):
            raise InputError(f"a largest width of {limit!r} for {name!r}; give a number of 0 or more")
    if len(weights) == len(names) and not any(weights.values()):
        raise InputError("every quasi-identifier has importance 0, so nothing is worth keeping; raise one of them")
    for name in keep:
        if weights.get(name) == 0:
            raise InputError(f"{name!r} is to stay as it is, and has importance 0; drop one of these wishes")
        if name in limits:
            raise InputError(f"{name!r} is to stay as it is, and has a largest width; drop one of these wishes")
    if (keep or limits) and demand.asks_bound_on_t:
        raise UnsupportedError(
            "classes by strata heed no columns that stay as they are and no largest widths; give a number for t",
            hint="t",
        )
