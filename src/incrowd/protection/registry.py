"""The registry of protection methods: a new method is a module of its own and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.blank import blank
from incrowd.protection.coarsen import coarsen
from incrowd.protection.generalise import generalise
from incrowd.protection.histories import partition_histories
from incrowd.protection.mask import mask
from incrowd.protection.method_options import (
    OPTIONS,
    BlankOptions,
    CoarsenOptions,
    GeneraliseOptions,
    MaskOptions,
    MethodOptions,
    PartitionOptions,
    PerturbOptions,
)
from incrowd.protection.paper_methods import sort, t_close_partition, t_closeness
from incrowd.protection.partition import partition
from incrowd.protection.perturbation.perturb import perturb
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding


@dataclass(frozen=True, slots=True)
class ProtectionMethod:
    """Name, functions and abilities of a protection method. Every method takes hierarchies.

    - `label` is its name in plain words, and `help` its description.
    - `run` protects records. None: the method works only by strata, and needs a sensitive column.
    - `run_by_strata` also takes the number of strata of one sensitive column, and reaches the bound on t (S4).
    - `run_by_person` also takes the person of every record, and protects whole histories.
    - `options` is the class of the method's own options.
    - `wishes` are those that it applies: importance, columns to keep, largest widths, people to keep apart.
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
    options: type[MethodOptions] | None = None
    wishes: tuple[str, ...] = ()
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

    def takes(self, option: str) -> bool:
        """True if an option of `protect` other than a role has an effect with this method; others are refused or idle.

        >>> [name for name, method in PROTECTION_METHODS.items() if method.takes("widest")]
        ['partition', 'generalise']
        """
        if option in OPTIONS:
            return self.options is not None and option in {one.name for one in fields(self.options)}
        if option in _WISHES:
            return option in self.wishes
        needed = _NEEDED_INPUTS.get(option)
        if needed is not None:
            return not {*needed}.isdisjoint(self.inputs)
        return option == "leave_out" or not self.perturbs


_WISHES = ("importance", "keep", "widest", "apart")
_NEEDED_INPUTS = {  # options that have an effect only with one of these inputs
    **{name: (name,) for name in ("k", "l", "t", "aim")},
    "diverse": ("l", "t"),
    "diversity": ("l",),
    "c": ("l",),
    "beta": ("t",),
    "delta": ("t",),
}

PROTECTION_METHODS: dict[str, ProtectionMethod] = {
    "partition": ProtectionMethod(
        "partition",
        partition,
        t_close_partition,
        partition_histories,
        options=PartitionOptions,
        wishes=_WISHES,
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
        options=CoarsenOptions,
        codes_alike=True,
        guarantees_k=False,
        help="The same ranges for everybody, whatever the risk: nothing is promised about k.",
        inputs=("resolution",),
        compared_by="resolution",
    ),
    "generalise": ProtectionMethod(
        "one coding for all",
        generalise,
        options=GeneraliseOptions,
        wishes=("importance", "keep", "widest"),
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
        options=BlankOptions,
        wishes=("importance", "keep"),
        reaches_l=True,
        help="Blanks the fewest cells, the important ones last; a blank counts as a value.",
        inputs=("k", "l"),
        compared_by=None,
    ),
    "mask": ProtectionMethod(
        "by hand, column by column",
        mask,
        options=MaskOptions,
        help="Each column as you say, only for people who stand out; those who still do are left out.",
        inputs=("k", "steps"),
        compared_by=None,
    ),
    "perturb": ProtectionMethod(
        "values changed by chance",
        perturb,
        options=PerturbOptions,
        guarantees_k=False,
        perturbs=True,
        help="Noise, swapping, PRAM, microaggregation, rounding: no promise about classes, the risk is attacked.",
        inputs=("perturbation",),
        compared_by=None,
    ),
}


def choose_method(
    method: str | MethodOptions, given: Mapping[str, Any]
) -> tuple[str, ProtectionMethod, MethodOptions | None]:
    """Find a method by its name or by its options object; `given` are options passed as keywords."""
    if isinstance(method, MethodOptions):
        found = [name for name, entry in PROTECTION_METHODS.items() if entry.options is type(method)]
        if not found or given:
            raise InputError(
                f"the method is given as {type(method).__name__}; "
                + (f"put {', '.join(given)} into it" if found else "no method has these options")
            )
        return found[0], PROTECTION_METHODS[found[0]], method
    if not isinstance(method, str) or method not in PROTECTION_METHODS:
        raise InputError(f"there is no method {method!r}; use {', '.join(PROTECTION_METHODS)}", hint="method")
    options = PROTECTION_METHODS[method].options
    unknown = sorted(set(given) - {field.name for field in fields(options)} if options else given)
    if unknown:
        raise InputError(f"{method!r} does not take {', '.join(unknown)}")
    return method, PROTECTION_METHODS[method], options(**given) if options else None
