"""The registry of protection methods: a new method is a module of its own and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from incrowd._support.option import Option
from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.blank import blank
from incrowd.protection.coarsen import coarsen
from incrowd.protection.generalise import generalise
from incrowd.protection.histories import partition_histories
from incrowd.protection.mask import mask
from incrowd.protection.paper_methods import sort, t_close_partition, t_closeness
from incrowd.protection.partition import partition
from incrowd.protection.perturbation.perturb import perturb
from incrowd.protection.problem import Problem
from incrowd.protection.protect_options import OPTIONS, ProtectOptions
from incrowd.protection.recoding import Recoding


@dataclass(frozen=True, slots=True)
class ProtectionMethod:
    """Name, functions and abilities of a protection method. Every method takes hierarchies.

    - `label` is its name in plain words, and `help` its description.
    - `run` protects records. None: the method works only by strata, and needs a sensitive column.
    - `run_by_strata` also takes the number of strata of one sensitive column, and reaches the bound on t (S4).
    - `run_by_person` also takes the person of every record, and protects whole histories.
    - `guarantees_k`: every class has k records. `reaches_l`, `reaches_t`: classes are merged until they are l-diverse
      and within t, β and δ; another method raises an error if it misses them.
    - `runs_in_cluster`: it also runs on a table in a cluster.
    - `perturbs`: it changes values at random, so that it promises no k, l or t.
    - `codes_alike`: it writes every value of a column in the same way for everybody (global recoding).
    - `needs_hierarchies`: it needs hierarchies to be useful.
    - `inputs` are its settings in a form. `compared_by` is the setting that a comparison of methods varies; None if
      there is no such setting.
    """

    label: str
    run: Callable[[Problem], Recoding] | None = None
    run_by_strata: Callable[[Problem, int], Recoding] | None = None
    run_by_person: Callable[[Problem, Coded], Recoding] | None = None
    guarantees_k: bool = True
    reaches_l: bool = False
    reaches_t: bool = False
    runs_in_cluster: bool = False
    perturbs: bool = False
    codes_alike: bool = False
    needs_hierarchies: bool = False
    help: str = ""
    inputs: tuple[str, ...] = ("k", "t", "l")
    compared_by: Literal["k", "resolution"] | None = "k"

    def takes(self, name: str) -> bool:
        """True if an option of `protect` other than a role has an effect with this method; others are refused or idle.

        >>> [name for name, method in PROTECTION_METHODS.items() if method.takes("widest")]
        ['partition', 'generalise']
        """
        option = OPTIONS[name]
        if option.methods:
            return any(PROTECTION_METHODS.get(method) is self for method in option.methods)
        if option.inputs:
            return not {*option.inputs}.isdisjoint(self.inputs)
        return name == "leave_out" or not self.perturbs


def require_method(options: ProtectOptions) -> ProtectionMethod:
    """The method that is asked for; refuses options that only other methods take."""
    if not isinstance(options.method, str) or options.method not in PROTECTION_METHODS:
        raise InputError(f"there is no method {options.method!r}; use {', '.join(PROTECTION_METHODS)}", hint="method")
    others = [option for option in OPTIONS.values() if option.methods and options.method not in option.methods]
    refused = [option for option in others if _is_given(option, getattr(options, option.name))]
    if refused:
        able = [name for name in PROTECTION_METHODS if all(name in option.methods for option in refused)]
        *first, last = able or [""]
        do = f"; {', '.join(first)} and {last} do" if first else f"; {last} does" if able else ""
        names = ", ".join(sorted(option.name for option in refused))
        raise InputError(f"{options.method!r} does not take {names}{do}", hint="method")
    return PROTECTION_METHODS[options.method]


def _is_given(option: Option, value: Any) -> bool:
    """True if a value is neither empty nor the default; a table is not compared."""
    return value is not None and (option.kind == "file" or (value not in ([], (), {}) and value != option.default))


PROTECTION_METHODS: dict[str, ProtectionMethod] = {
    "partition": ProtectionMethod(
        "partition",
        partition,
        t_close_partition,
        partition_histories,
        reaches_l=True,
        reaches_t=True,
        runs_in_cluster=True,
        help="Ranges and sets that fit each neighbourhood: the least loss for most tables.",
        inputs=("k", "t", "l", "k_map", "aim"),
    ),
    "sorted": ProtectionMethod(
        "sorted groups",
        sort,
        runs_in_cluster=True,
        help="Cuts the sorted table into groups of k: quick and simple, coarser.",
    ),
    "tcloseness": ProtectionMethod(
        "groups that hide the secret",
        None,
        t_closeness,
        runs_in_cluster=True,
        help="Groups that also hide the secret: each looks like the whole table.",
        inputs=("k", "t"),
    ),
    "coarsen": ProtectionMethod(
        "same ranges for everybody",
        coarsen,
        codes_alike=True,
        guarantees_k=False,
        help="The same ranges for everybody, whatever the risk: nothing is promised about k.",
        inputs=("resolution",),
        compared_by="resolution",
    ),
    "generalise": ProtectionMethod(
        "one coding for all",
        generalise,
        reaches_l=True,
        reaches_t=True,
        codes_alike=True,
        needs_hierarchies=True,
        help="One coding for the whole table; rows that still stand out are left out.",
        inputs=("k", "t", "l", "suppress", "k_map"),
    ),
    "blank": ProtectionMethod(
        "fewest cells blanked",
        blank,
        reaches_l=True,
        help="Blanks the fewest cells, the important ones last; a blank counts as a value.",
        inputs=("k", "l"),
        compared_by=None,
    ),
    "mask": ProtectionMethod(
        "by hand, column by column",
        mask,
        help="Each column as you say, only for people who stand out; those who still do are left out.",
        inputs=("k", "steps"),
        compared_by=None,
    ),
    "perturb": ProtectionMethod(
        "values changed by chance",
        perturb,
        guarantees_k=False,
        perturbs=True,
        help="Noise, swapping, PRAM, microaggregation, rounding: no promise about classes, the risk is attacked.",
        inputs=("perturbation",),
        compared_by=None,
    ),
}
