"""The options of `protect` that all methods have, each declared once: its type, its spelling and its help.

The command line, the requests of the app, generated commands and scripts, and the options of a search, a stream and an
appended batch are all made from these classes. This module imports nothing slow, because the command line loads it at
every start.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Annotated, Any, Literal, TypedDict, get_args

from incrowd._support.option import Option
from incrowd.protection.method_options import OPTIONS as METHOD_OPTIONS
from incrowd.protection.method_options import MethodKeywords, MethodName, MethodOptions

DiversityKind = Literal["distinct", "entropy", "recursive"]
Aim = Literal["information", "granularity"]
OutputKind = Literal["range", "bounds", "midpoint", "mean", "mode", "label"]

_Names = Sequence[str] | None
_Numbers = Mapping[str, float] | None
_columns = partial(Option, "columns")
_limit = partial(Option, "number", above=0, highest=1e6)
_amounts = partial(Option, "numbers", lowest=0, highest=1e12)
_METHODS, _KINDS, _AIMS, _OUTPUTS = map(get_args, (MethodName, DiversityKind, Aim, OutputKind))
_K = "Everybody looks like at least k - 1 others. Default 5, or what the recipient needs."
_METHOD = f"{', '.join(_METHODS)}. Default: partition; for a recipient, the least loss of several."
_APART = "Kept columns that only some people were asked: no class mixes those who were with the others."
_KIND = f"Kind of l: {', '.join(_KINDS)}. Default: distinct."
_T = "No class is farther than t from the table; or 'bound': what k allows."
_KEY = "With a person column: file of a secret key; people have one pseudonym in all tables under it."
_HIERARCHY = "age=5,10,20, age=cuts:18,65, zip=prefix:5,3,1, pay=quantiles:10, or column=file.csv (ARX)."
_OUTPUT = "range, bounds, midpoint, mean, mode or label; for all, or age=mean,zip=label."
_IDENTIFIER = "Columns that name people, to remove, or 'none'. Default: those that look so."
_SHUFFLE = "Release rows in random order, or as they are. Default: where their order tells something."


class ClassKeywords(TypedDict, total=False):
    """The quasi-identifiers and k: options that a search chooses itself."""

    quasi_identifiers: Annotated[Sequence[str], _columns("Columns an attacker may know. Commas or repeats.", "qi")]
    k: Annotated[int, Option("whole", _K, default=5, lowest=2, highest=10**9)]


class DemandKeywords(TypedDict, total=False):
    """The method, the guarantees besides k, and the person column."""

    method: Annotated[MethodName | MethodOptions, Option("text", _METHOD, default="partition", choices=_METHODS)]
    sensitive: Annotated[_Names, _columns("Columns that would harm somebody if learned. May be known too.")]
    diverse: Annotated[_Names, _columns("Secret columns that l, t, beta and delta hold for. Default: all.")]
    l: Annotated[float | None, Option("number", "Every class has l different secrets.", lowest=1, highest=1e6)]  # noqa: E741
    diversity: Annotated[DiversityKind, Option("text", _KIND, default="distinct", choices=_KINDS)]
    c: Annotated[float, _limit("For recursive diversity: the commonest value's limit. Default: 3.", default=3.0)]
    t: Annotated[float | Literal["bound"] | None, _limit(_T, choices=("bound",), highest=1)]
    beta: Annotated[float | None, _limit("No secret is over 1 + beta times as common in a class as in all.")]
    delta: Annotated[
        float | None, _limit("No secret is over e^delta times as common, or as rare, in a class.", highest=700)
    ]
    person: Annotated[
        str | None, Option("text", "Column that says whose record it is: the unit becomes the person.", by_role=True)
    ]
    key: Annotated[bytes | str | PathLike[str] | None, Option("key", _KEY)]


class WishKeywords(TypedDict, total=False):
    """Wishes on columns; they also apply to records that join a release later."""

    other: Annotated[_Names, _columns("Columns that nobody can know and that harm nobody.", by_role=True)]
    hierarchies: Annotated[Mapping[str, Any] | None, Option("hierarchies", _HIERARCHY, "hierarchy")]
    importance: Annotated[_Numbers, _amounts("What a loss weighs by column: age=3,zip=0. Default 1.")]
    keep: Annotated[_Names, _columns("Known columns that stay as they are: no class mixes them.")]
    widest: Annotated[_Numbers, _amounts("Longest range, or largest set, by column: age=10,town=3.")]
    nominal: Annotated[_Names, _columns("Columns whose numbers are codes: sets, never ranges.")]
    output: Annotated[OutputKind | Mapping[str, OutputKind] | None, Option("words", _OUTPUT, choices=_OUTPUTS)]
    aim: Annotated[Aim | None, Option("text", f"Loss to keep small: {' or '.join(_AIMS)}.", choices=_AIMS)]


class StreamKeywords(WishKeywords, total=False):
    """Wishes on a stream, and the columns that are left out from its first batch on."""

    identifiers: Annotated[_Names, _columns(_IDENTIFIER, "identifier", empty="none", by_role=True)]
    leave_out: Annotated[Sequence[str], _columns("Columns to leave out besides. Commas or repeats.", "drop")]


class SearchKeywords(DemandKeywords, StreamKeywords, MethodKeywords, total=False):
    """All options of `protect` except the quasi-identifiers and k, which a search chooses."""

    apart: Annotated[_Names, _columns(_APART)]
    shuffle: Annotated[bool | None, Option("switch", _SHUFFLE)]


class ProtectKeywords(ClassKeywords, SearchKeywords, total=False):
    """All options of `protect`."""


OPTIONS: Mapping[str, Option] = {
    **{
        name: hint.__metadata__[0].named(name)
        for name, hint in ProtectKeywords.__annotations__.items()
        if name not in METHOD_OPTIONS
    },
    **METHOD_OPTIONS,
}
"""Every option of `protect` by name; those of single methods last."""
