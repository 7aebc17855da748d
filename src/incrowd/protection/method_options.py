"""The options of single methods, each declared once.

The command line, the app, and the commands and scripts that the app writes are generated from these declarations. This
module imports nothing slow, because the command line loads it at every start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypedDict, get_args

from incrowd._support.option import Option, option, options_of
from incrowd.errors import InputError

Measure = Literal["granularity", "association", "entropy", "discernibility", "class size"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
MethodName = Literal["partition", "sorted", "tcloseness", "coarsen", "generalise", "blank", "mask", "perturb"]


def require_whole(name: str, value: Any, least: int) -> None:
    """Refuse a value that is no whole number, or too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of {least} or more; {value!r} was given")


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """Base class of the options of a method; it has no fields."""


@dataclass(frozen=True, slots=True)
class CoarsenOptions(MethodOptions):
    """Intervals per column (16, "1/8", or by column), and levels of hierarchies by column."""

    resolution: float | str | Mapping[str, float | str] | None = option(
        "resolution", "For coarsen: 16, 1/8, or age=20,zip=1/8."
    )
    levels: Mapping[str, int] | None = option("numbers", on_command_line=False)


@dataclass(frozen=True, slots=True)
class SuppressOptions(MethodOptions):
    """The share of rows that may be suppressed."""

    suppress: float = option(
        "share",
        "Share of rows that may go; in partition and blank only with keep or widest.",
        default=0.0,
    )

    def __post_init__(self) -> None:
        if not 0.0 <= float(self.suppress) < 1.0:
            raise InputError(f"at most a share of {self.suppress:g} of the rows suppressed; give 0 or more, below 1")


@dataclass(frozen=True, slots=True)
class PartitionOptions(SuppressOptions):
    """The share of rows that may be suppressed if wishes leave no class for them; and k-map.

    With `k_map`, every class covers at least that many people of the population: counted in `population_table`, a table
    of everybody, or estimated from the size `population` of a population of which the table is a random sample. For the
    estimate, a class of the partition has two more records for every column written as ranges, and one more for every
    value of a set after the first.
    """

    k_map: int | None = option("whole", "Every class covers so many people of the population.", lowest=1)
    population_table: Any | None = option(  # noqa: RUF009
        "file", "For k-map: a table of everybody."
    )
    population: float | None = option(
        "people", "Of how many people the table is a random sample: for k-map by an estimate, or for a verdict."
    )

    def __post_init__(self) -> None:
        SuppressOptions.__post_init__(self)
        given = (self.population_table is not None) + (self.population is not None)
        if given != (self.k_map is not None):
            raise InputError(
                "k-map counts people of a population: give how many a class must cover, and either a table of "
                "everybody or how many people the table is a random sample of",
                hint=("k_map", "population_table", "population"),
            )
        if self.k_map is not None:
            require_whole("k of k-map", self.k_map, 1)


@dataclass(frozen=True, slots=True)
class GeneraliseOptions(PartitionOptions):
    """The share of rows that may be suppressed, k-map as for the partition, and the loss to minimise.

    Of all combinations of levels that satisfy the demand, the one with the smallest `measure` is chosen:

    - "granularity": the share of its column's values that a cell covers. The default where a hierarchy is given.
    - "association": half granularity, half the mutual information of the columns with each other. The default where all
      hierarchies are automatic.
    - "entropy": the information that cells lose, common values counting less (non-uniform entropy).
    - "discernibility": the sum of squared class sizes; a suppressed row counts as many as there are rows.
    - "class size": the average class (AECS); all suppressed rows are one class.
    """

    measure: Measure | None = option(  # noqa: RUF009
        "text", f"For generalise: the loss to keep smallest: {', '.join(MEASURES)}.", choices=MEASURES
    )

    def __post_init__(self) -> None:
        PartitionOptions.__post_init__(self)
        if self.measure is not None and self.measure not in MEASURES:
            raise InputError(f"there is no measure {self.measure!r}; use {', '.join(MEASURES)}", hint="measure")


@dataclass(frozen=True, slots=True)
class StepOptions(MethodOptions):
    """Steps, in order: pairs of a column and an action, or step objects."""

    steps: Sequence[Any] = option(
        "steps",
        "In order. For mask: age:ranges=20, zip:keep=3, sex:*. For perturb: age:noise=0.1. Repeat.",
        default=(),
        typed="step",
    )


@dataclass(frozen=True, slots=True)
class MaskOptions(StepOptions):
    """Steps of masking, and limits of top and bottom coding by column.

    A step is a column and an action: `*` hides the cell, `ranges=20` puts it into one of 20 intervals, `keep=3` keeps
    the first characters; or a mapping from old to new values, or a `Hierarchy` (its first level). Values beyond a limit
    become one open range. `drop=False` keeps the records that are still in small classes after the last step.
    """

    top: Mapping[str, float] | None = option(
        "numbers", "For mask: values from here on are one range without an end, age=85. Repeat."
    )
    bottom: Mapping[str, float] | None = option(
        "numbers", "For mask: values up to here are one range without a beginning, age=18. Repeat."
    )
    drop: bool = option("switch", on_command_line=False, default=True)


@dataclass(frozen=True, slots=True)
class BlankOptions(SuppressOptions):
    """The share of rows that may be suppressed if columns to keep leave no class for them.

    With `wildcards`, a blank matches any value when k is counted. With `subsets`, k holds for every combination of that
    many columns, against attackers who know no more columns.
    """

    wildcards: bool = option("switch", "For blank: a blank may be any value. Default: it is a value.", default=False)
    subsets: int | None = option("whole", "For blank with wildcards: k by all sets of so many columns.", lowest=1)

    def __post_init__(self) -> None:
        SuppressOptions.__post_init__(self)
        if self.subsets is not None and not self.wildcards:
            raise InputError(
                "k by subsets of columns is counted with blanks as wildcards; ask for both", hint="wildcards"
            )
        if self.subsets is not None:
            require_whole("the size of subsets", self.subsets, 1)


@dataclass(frozen=True, slots=True)
class PerturbOptions(StepOptions):
    """Steps of perturbation, in order, and the seed of their draws.

    A step is an object such as `Noise(("income",), 0.1)`, or a pair of columns and an action: `("income",
    "noise=0.1")`. A person who knows the seed can undo the draws: keep it as secret as the original. Without a seed,
    the random numbers of the operating system are used.
    """

    seed: int | None = option("whole", "For perturb: seed of every draw, to keep secret. Default: none.")


class MethodKeywords(TypedDict, total=False):
    """The options of all methods as keywords of `protect`. None, or left out: the method's default."""

    resolution: float | str | Mapping[str, float | str] | None
    """For "coarsen": the number of intervals, or the share of the domain that each covers, by column or for all."""
    levels: Mapping[str, int] | None
    """For "coarsen": levels of the hierarchies, by column."""
    suppress: float | None
    """For "generalise", and for "partition" and "blank" with `keep` or `widest`: the share of rows that may be left
    out."""
    k_map: int | None
    """For "partition" and "generalise": the fewest people of the population that a class covers."""
    population_table: Any
    """For `k_map`: a table of everybody, with the quasi-identifiers; whatever `read_table` reads."""
    population: float | None
    """For `k_map` by an estimate, which is no guarantee: the size of the population of which the table is a random
    sample."""
    measure: Measure | None
    """For "generalise": the loss that is kept smallest. Default: granularity, or association if all hierarchies are
    automatic."""
    steps: Sequence[Any] | None
    """For "mask": pairs of a column and an action, in order. For "perturb": such pairs, or objects such as `Noise`, for
    columns of any role."""
    top: Mapping[str, float] | None
    """For "mask": limits by column; values from there on become one range without an end."""
    bottom: Mapping[str, float] | None
    """For "mask": limits by column; values up to there become one range without a beginning."""
    drop: bool | None
    """For "mask": whether records in small classes after the last step are left out. Default: yes."""
    wildcards: bool | None
    """For "blank": whether a blank matches any value, which needs fewer blanks. Default: a blank is a value."""
    subsets: int | None
    """For "blank" with wildcards: k holds for every combination of this many quasi-identifiers, instead of for all."""
    seed: int | None
    """For "perturb": the seed of every draw. A person who knows it can undo the draws. Without a seed, the system's
    random numbers are used."""


OPTIONS: Mapping[str, Option] = {
    option.name: option
    for made in (CoarsenOptions, GeneraliseOptions, MaskOptions, BlankOptions, PerturbOptions)
    for option in options_of(made)
}
"""Every option of a single method, by name."""
