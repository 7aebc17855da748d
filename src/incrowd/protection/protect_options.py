"""The options of `protect`, each declared once, as a field: type, spelling, range, help, and the methods that take it.

The signature and the help of `protect`, the command line, the requests and the form of the app, generated commands and
scripts, and the tables of the documentation are all made from these fields. This module imports nothing slow, because
the command line loads it at every start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from incrowd._support.option import Option, option, options_of
from incrowd._support.progress import Progress, silent
from incrowd.protection.method_options import MEASURES, Measure, MethodName

if TYPE_CHECKING:
    from os import PathLike

DiversityKind = Literal["distinct", "entropy", "recursive"]
Aim = Literal["information", "granularity"]
OutputKind = Literal["range", "bounds", "midpoint", "mean", "mode", "label"]

_METHODS, _KINDS, _AIMS, _OUTPUTS = map(get_args, (MethodName, DiversityKind, Aim, OutputKind))

_role = partial(option, group="known and secret")
_guarantee = partial(option, group="guarantees")
_wish = partial(option, group="wishes")
_output = partial(option, group="output")
_OF_METHOD = "of single methods"
_of_method = partial(option, group=_OF_METHOD)
_limit = partial(_guarantee, "number", above=0, highest=1e6)
_amounts = partial(_wish, "numbers", lowest=0, highest=1e12)

_QUASI_IDENTIFIERS = Option(
    "columns", "Columns an attacker may know.", "qi", form="Commas or repeats.", group="known and secret"
)


@dataclass(frozen=True, kw_only=True)
class ProtectOptions:
    """The options of `protect`. None, or left out: the default of the option."""

    quasi_identifiers: Sequence[str] = field(metadata={"option": _QUASI_IDENTIFIERS})
    sensitive: Sequence[str] | None = _role(
        "columns",
        "Columns that would harm somebody if learned. May be known too.",
        more="l, t, beta and delta need at least one. Those that are left out too are not released, and kept columns "
        "that give them back are told of.",
    )
    person: str | None = _role(
        "text",
        "Column that says whose record it is: the unit becomes the person.",
        more="A class is then made of people with all their records, and the column is replaced by random numbers that "
        "cannot be reproduced.",
        by_role=True,
    )
    key: bytes | str | PathLike[str] | None = _role(
        "key",
        "With a person column: file of a secret key; people have one pseudonym in all tables under it.",
        more="Bytes, or a file that holds them. Only with the key can a pseudonym be traced back to a person.",
    )
    identifiers: Sequence[str] | None = _role(
        "columns",
        "Columns that name people, to remove, or 'none'. Default: those that look so.",
        typed="identifier",
        empty="none",
        by_role=True,
    )
    leave_out: Sequence[str] | None = _role(
        "columns", "Columns to leave out besides.", typed="drop", form="Commas or repeats."
    )
    other: Sequence[str] | None = _role("columns", "Columns that nobody can know and that harm nobody.", by_role=True)
    method: MethodName = option(
        "text",
        f"{', '.join(_METHODS)}. Default: partition; for a recipient, the least loss of several.",
        group="guarantees",
        default="partition",
        choices=_METHODS,
    )
    k: int = _guarantee(
        "whole",
        "Everybody looks like at least k - 1 others.",
        form="Default 5, or what the recipient needs.",
        default=5,
        lowest=2,
        highest=10**9,
        inputs=("k",),
    )
    l: float | None = _guarantee(  # noqa: E741
        "number",
        "Every class has l different secrets.",
        more="l-diversity, of every sensitive column.",
        lowest=1,
        highest=1e6,
        inputs=("l",),
    )
    diversity: DiversityKind = _guarantee(
        "text",
        f"Kind of l: {', '.join(_KINDS)}. Default: distinct.",
        default="distinct",
        choices=_KINDS,
        inputs=("l",),
    )
    c: float = _limit(
        "For recursive diversity: the commonest value's limit. Default: 3.",
        more="The c of (c, l)-diversity.",
        default=3.0,
        inputs=("l",),
    )
    t: float | Literal["bound"] | None = _limit(
        "No class is farther than t from the table; or 'bound': what k allows.",
        more="t-closeness: the largest distance between the values of a sensitive column in a class and in the whole "
        "table. The partition merges classes until they satisfy it. 'bound' is the t that classes of k reach by strata "
        "of one sensitive column (algorithm S4).",
        choices=("bound",),
        highest=1,
        inputs=("t",),
    )
    beta: float | None = _limit(
        "No secret is over 1 + beta times as common in a class as in all.", more="β-likeness.", inputs=("t",)
    )
    delta: float | None = _limit(
        "No secret is over e^delta times as common, or as rare, in a class.",
        more="δ-disclosure.",
        highest=700,
        inputs=("t",),
    )
    diverse: Sequence[str] | None = _guarantee(
        "columns", "Secret columns that l, t, beta and delta hold for. Default: all.", inputs=("l", "t")
    )
    hierarchies: Mapping[str, Any] | None = _wish(
        "hierarchies",
        "age=5,10,20, age=cuts:18,65, zip=prefix:5,3,1, pay=quantiles:10, or column=file.csv (ARX).",
        more="By column, a `Hierarchy`, or a text for `Hierarchy.parse`: '5,10,20' or the path of a file.",
        typed="hierarchy",
    )
    importance: Mapping[str, float] | None = _amounts(
        "What a loss weighs by column.",
        form="As age=3,zip=0. Default 1.",
        more="Default 1; with 0 the column may lose all its detail.",
        methods=("partition", "generalise", "blank"),
    )
    keep: Sequence[str] | None = _wish(
        "columns",
        "Known columns that stay as they are: no class mixes them.",
        methods=("partition", "generalise", "blank"),
    )
    widest: Mapping[str, float] | None = _amounts(
        "Longest range, or largest set, by column.",
        form="As age=10,town=3.",
        more="In the column's own unit (days for dates).",
        methods=("partition", "generalise"),
    )
    nominal: Sequence[str] | None = _wish("columns", "Columns whose numbers are codes: sets, never ranges.")
    aim: Aim | None = _wish(
        "text",
        f"Loss to keep small: {' or '.join(_AIMS)}.",
        more="None: granularity where a quasi-identifier is text.",
        choices=_AIMS,
        inputs=("aim",),
    )
    output: OutputKind | Mapping[str, OutputKind] | None = _output(
        "words",
        "range, bounds, midpoint, mean, mode or label; for all, or age=mean,zip=label.",
        more="By column, or one for every column that can have it: 'range' (text of ranges and sets), 'bounds' (two "
        "columns, `age_low` and `age_high`), 'midpoint', 'mean' or 'mode' of the class (one value of the column's own "
        "type), or 'label' (of its hierarchy). None: labels where there is a hierarchy, else ranges.",
        choices=_OUTPUTS,
    )
    shuffle: bool | None = _output(
        "switch",
        "Release rows in random order, or as they are. Default: where their order tells something.",
        more="The order cannot be reproduced; `kept_rows` of the result holds the original row of every released row. "
        "Rows are also shuffled where people get random numbers. False keeps the order; a release with an informative "
        "order then never gets a yes.",
    )
    resolution: float | str | Mapping[str, float | str] | None = _of_method(
        "resolution",
        "16, 1/8, or age=20,zip=1/8.",
        more="The number of intervals, or the share of the domain that each covers, by column or for all.",
        methods=("coarsen",),
    )
    levels: Mapping[str, int] | None = _of_method(
        "numbers", "Levels of the hierarchies, by column.", methods=("coarsen",), on_command_line=False
    )
    suppress: float = _of_method(
        "share",
        "Share of rows that may go; in partition and blank only with keep or widest.",
        default=0.0,
        methods=("partition", "generalise", "blank"),
    )
    k_map: int | None = _of_method(
        "whole",
        "Every class covers so many people of the population.",
        more="Counted in a table of everybody, or estimated from the size of a population of which the table is a "
        "random sample, which is no guarantee. For the estimate, a class of the partition has two more records for "
        "every column written as ranges, and one more for every value of a set after the first.",
        lowest=1,
        methods=("partition", "generalise"),
    )
    population_table: Any | None = _of_method(
        "file",
        "For k-map: a table of everybody.",
        more="With the quasi-identifiers; whatever `read_table` reads.",
        methods=("partition", "generalise"),
    )
    population: float | None = _of_method(
        "people",
        "Of how many people the table is a random sample: for k-map by an estimate, or for a verdict.",
        methods=("partition", "generalise"),
    )
    measure: Measure | None = _of_method(
        "text",
        f"The loss to keep smallest: {', '.join(MEASURES)}.",
        more="Of all combinations of levels that satisfy the demand, the one with the smallest measure is chosen: the "
        "share of its column's values that a cell covers (granularity, the default where a hierarchy is given); half "
        "that, half the mutual information of the columns with each other (association, the default where all "
        "hierarchies are automatic); the information that cells lose, common values counting less (entropy); the sum "
        "of squared class sizes, a suppressed row counting as many as there are rows (discernibility); the average "
        "class, all suppressed rows being one (class size).",
        choices=MEASURES,
        methods=("generalise",),
    )
    steps: Sequence[Any] | None = _of_method(
        "steps",
        "In order. For mask: age:ranges=20, zip:keep=3, sex:*. For perturb: age:noise=0.1. Repeat.",
        more="Pairs of a column and an action, or objects: in mask a mapping from old to new values or a `Hierarchy`, "
        "in perturb steps such as `Noise`, for columns of any role. `*` hides a cell, `ranges=20` puts it into one of "
        "20 intervals, `keep=3` keeps the first characters.",
        default=(),
        typed="step",
        methods=("mask", "perturb"),
    )
    top: Mapping[str, float] | None = _of_method(
        "numbers",
        "Values from here on are one range without an end, age=85. Repeat.",
        methods=("mask",),
    )
    bottom: Mapping[str, float] | None = _of_method(
        "numbers",
        "Values up to here are one range without a beginning, age=18. Repeat.",
        methods=("mask",),
    )
    drop: bool = _of_method(
        "switch",
        "Leave out the records that are still in small classes after the last step.",
        on_command_line=False,
        default=True,
        methods=("mask",),
    )
    wildcards: bool = _of_method(
        "switch",
        "A blank may be any value. Default: it is a value.",
        more="That needs fewer blanks.",
        default=False,
        methods=("blank",),
    )
    subsets: int | None = _of_method(
        "whole",
        "K holds for all sets of so many columns, with wildcards.",
        more="Against attackers who know no more columns.",
        lowest=1,
        methods=("blank",),
    )
    seed: int | None = _of_method(
        "whole",
        "Seed of every draw, to keep secret. Default: none.",
        more="A person who knows it can undo the draws. None: the random numbers of the system.",
        methods=("perturb",),
    )


@dataclass(frozen=True, kw_only=True)
class ProtectCall(ProtectOptions):
    """What `protect` is called with: its options, and how it runs."""

    warn: bool = _output("switch", "Note the kept columns that undo the protection.", default=True)
    out: str | PathLike[str] | None = _output("file", "For tables in a cluster: the Parquet folder to write.")
    force: bool = _output("switch", "For tables in a cluster: replace an existing folder.", default=False)
    progress: Progress = _output("call", "Called with what is done and how far it is.", default=silent)


OPTIONS: Mapping[str, Option] = {declared.name: declared for declared in options_of(ProtectOptions)}
"""Every option of `protect`, by name."""

OF_METHODS = [name for name, declared in OPTIONS.items() if declared.group == _OF_METHOD]
"""The options that single methods have."""
WISHES = [name for name, declared in OPTIONS.items() if declared.group == "wishes"]
"""The options that say what may be lost."""
APPENDED_WISHES = ("other", "output", *WISHES)
"""The options that also apply to records that join a release later."""


class SearchKeywords(TypedDict, total=False):
    """The options of `protect` that a search for a release changes from trial to trial."""

    method: MethodName
    sensitive: Sequence[str] | None
    diverse: Sequence[str] | None
    l: float | None  # noqa: E741
    diversity: DiversityKind
    c: float
    t: float | Literal["bound"] | None
    beta: float | None
    delta: float | None
    person: str | None
    key: bytes | str | PathLike[str] | None
    other: Sequence[str] | None
    importance: Mapping[str, float] | None
    keep: Sequence[str] | None
    identifiers: Sequence[str] | None
    leave_out: Sequence[str]
    suppress: float
