"""The options that only some methods have, each declared once.

The command line, the app and the commands and scripts it writes are made from these declarations. Nothing slow is
imported here, for the command line reads them whenever it starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

from incrowd._support.option import Option, option, options_of
from incrowd.errors import InputError

Measure = Literal["granularity", "association", "entropy", "discernibility", "class size"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
MethodName = Literal["partition", "sorted", "tcloseness", "coarsen", "generalise", "blank", "mask", "perturb"]


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """Base of the options of one method each; it has no fields of its own."""


@dataclass(frozen=True, slots=True)
class CoarsenOptions(MethodOptions):
    """Intervals per column (16, "1/8", or by column), and levels of hierarchies by column."""

    resolution: float | str | Mapping[str, float | str] | None = option(
        "resolution", "For coarsen: 16, 1/8, or age=20,zip=1/8."
    )
    levels: Mapping[str, int] | None = option("numbers", typed=None)


@dataclass(frozen=True, slots=True)
class SuppressOptions(MethodOptions):
    """The share of rows that may be suppressed."""

    suppress: float = option("share", "For generalise: share of rows that may go.", default=0.0)

    def __post_init__(self) -> None:
        if not 0.0 <= float(self.suppress) < 1.0:
            raise InputError(f"at most a share of {self.suppress:g} of the rows suppressed; give 0 or more, below 1")


@dataclass(frozen=True, slots=True)
class PartitionOptions(SuppressOptions):
    """The share of rows that may be suppressed where wishes leave no class for them; and k-map.

    With `k_map` every class covers at least so many people of `population_table`, a table of everybody; or, by an
    estimate, of a `population` of so many people, of which the table is a random sample. An estimated class of the
    partition has two more records for every column written as ranges, and one for every further value of a set.
    """

    k_map: int | None = option("whole", "Every class covers so many people of the population.", lowest=1)
    population_table: Any | None = option(  # noqa: RUF009
        "file", "For k-map: a table of everybody."
    )
    population: float | None = option(
        "people", "For k-map by an estimate: of how many people the table is a random sample."
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
        is_whole = isinstance(self.k_map, int) and not isinstance(self.k_map, bool)
        if self.k_map is not None and not (is_whole and self.k_map >= 1):
            raise InputError(f"k of k-map must be a whole number of 1 or more; {self.k_map!r} was given")


@dataclass(frozen=True, slots=True)
class GeneraliseOptions(PartitionOptions):
    """The share of rows that may be suppressed; k-map, as of the partition; and the loss that is kept smallest.

    Of all combinations of levels that are safe, the one of least `measure` is taken:

    - "granularity": the share of its column's values that a cell covers. The default where a hierarchy is given.
    - "association": the mutual information of the columns with each other, and some granularity. The default where all
      hierarchies are automatic.
    - "entropy": the information that cells lose, common values counting less (non-uniform entropy).
    - "discernibility": the sum of squared class sizes; a suppressed row counts as many as there are rows.
    - "class size": the average class (AECS); all suppressed rows are one class.
    """

    measure: Measure | None = option(  # noqa: RUF009
        "text", f"For generalise: the loss to keep smallest: {', '.join(MEASURES)}."
    )

    def __post_init__(self) -> None:
        PartitionOptions.__post_init__(self)
        if self.measure is not None and self.measure not in MEASURES:
            raise InputError(f"there is no measure {self.measure!r}; use {', '.join(MEASURES)}", hint="measure")


@dataclass(frozen=True, slots=True)
class StepOptions(MethodOptions):
    """Steps, in order: pairs of a column and what to do with it, or objects."""

    steps: Sequence[Any] = option(
        "steps",
        "In order. For mask: age:ranges=20, zip:keep=3, sex:*. For perturb: age:noise=0.1. Repeat.",
        default=(),
        typed="step",
    )


@dataclass(frozen=True, slots=True)
class MaskOptions(StepOptions):
    """Steps of masking, and limits of top and bottom coding by column.

    A step is a column and what to do: `*` hides the cell, `ranges=20` puts it into one of 20 intervals, `keep=3` keeps
    the first characters; or a mapping from old to new, or a `Hierarchy` (its first level). Values beyond a limit become
    one range without an end. `drop=False` keeps the records that still stand out after the last step.
    """

    top: Mapping[str, float] | None = option(
        "numbers", "For mask: values from here on are one range without an end, age=85. Repeat."
    )
    bottom: Mapping[str, float] | None = option(
        "numbers", "For mask: values up to here are one range without a beginning, age=18. Repeat."
    )
    drop: bool = option("switch", typed=None, default=True)


@dataclass(frozen=True, slots=True)
class BlankOptions(SuppressOptions):
    """The share of rows that may be suppressed where columns that stay leave no class for them.

    With `wildcards` a blank may be any value, and k is counted so. `subsets` then asks for k by every so many columns
    alone, for attackers who know no more than that.
    """

    wildcards: bool = option("switch", "For blank: a blank may be any value. Default: it is a value.", default=False)
    subsets: int | None = option("whole", "For blank with wildcards: k by every so many columns alone.", lowest=1)

    def __post_init__(self) -> None:
        SuppressOptions.__post_init__(self)
        if self.subsets is not None and not self.wildcards:
            raise InputError(
                "k by subsets of columns is counted with blanks as wildcards; ask for both", hint="wildcards"
            )
        if self.subsets is not None and self.subsets < 1:
            raise InputError(f"subsets of {self.subsets!r} columns; give a whole number of 1 or more")


@dataclass(frozen=True, slots=True)
class PerturbOptions(StepOptions):
    """Steps of perturbation, in order, and the seed of their draws.

    A step is an object such as `Noise(("income",), 0.1)`, or a pair of columns and what to do: `("income",
    "noise=0.1")`. Whoever knows the seed can undo the draws: keep it as secret as the original, or leave it out, and
    the system's own source of randomness is used.
    """

    seed: int | None = option("whole", "For perturb: seed of every draw, to keep secret. Default: none.")


class MethodKeywords(TypedDict, total=False):
    """The options of all methods as keywords of `protect`. None, or left out: the method's default."""

    resolution: float | str | Mapping[str, float | str] | None
    """For "coarsen": the number of intervals, or the share of the domain that each covers, by column or for all."""
    levels: Mapping[str, int] | None
    """For "coarsen": levels of the hierarchies, by column."""
    suppress: float | None
    """For "generalise", and for "partition" with `keep` or `widest`: the share of rows that may be left out."""
    k_map: int | None
    """For "partition" and "generalise": the fewest people of the population that a class covers."""
    population_table: Any
    """For `k_map`: a table of everybody, with the quasi-identifiers; whatever `read_table` reads."""
    population: float | None
    """For `k_map` by an estimate, which guarantees nothing: of how many people the table is a random sample."""
    measure: Measure | None
    """For "generalise": the loss that is kept smallest. Default: granularity."""
    steps: Sequence[Any] | None
    """For "mask": pairs of a column and what to do with it, in order. For "perturb": the same, or objects such as
    `Noise`, of columns of any role."""
    top: Mapping[str, float] | None
    """For "mask": limits by column; values from there on become one range without an end."""
    bottom: Mapping[str, float] | None
    """For "mask": limits by column; values up to there become one range without a beginning."""
    drop: bool | None
    """For "mask": whether records that still stand out after the last step are left out. Default: yes."""
    wildcards: bool | None
    """For "blank": whether a blank may be any value, which needs fewer of them. Default: it is a value."""
    subsets: int | None
    """For "blank" with wildcards: k holds by every so many quasi-identifiers alone, not by all together."""
    seed: int | None
    """For "perturb": of every draw. Whoever knows it can undo them; without one the system's randomness is used."""


OPTIONS: Mapping[str, Option] = {
    option.name: option
    for made in (CoarsenOptions, GeneraliseOptions, MaskOptions, BlankOptions, PerturbOptions)
    for option in options_of(made)
}
"""Every option that only some methods have, by name."""
