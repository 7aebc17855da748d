"""Suggestions for reading a table: scales, spellings, and numbers that may mean missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.arrow_columns import is_text, without_dictionary
from incrowd.backends.scales import ScaleKind
from incrowd.tables.code_systems import recognise_codes
from incrowd.tables.guess_scales import CODED_TOPICS
from incrowd.tables.reshape import count_spellings, holds_serial_dates
from incrowd.tables.roles import SuggestedRole, suggest_roles
from incrowd.tables.roles.names import find_topics
from incrowd.tables.roles.weights import REPLICATES
from incrowd.tables.table import Table

_NOMINAL_TOPICS = CODED_TOPICS | {"employment"}  # only suggested: employment may also be hours or years
_ORDERED_TOPICS = frozenset({"education"})
_MISSING_CODES = (-1, -2, -3, -4, -5, -6, -7, -8, -9, -66, -77, -88, -99, -666, -777, -888, -999, -9999)

_NINES = (99, 999, 9_999, 99_999, 999_999, 9_999_999, 99_999_999)
_HIGH_CODES = (  # 97 to 99, 997 to 999; from three digits also 777, 888 and 999
    *({base - 2, base - 1, base} for base in _NINES),
    *({base // 9 * 7, base // 9 * 8, base} for base in _NINES[1:]),
)
_FEWEST_RECORDS = 10  # records with a code, at least; a rarer number may be the value of a person
_AT_ONCE = 10_000  # texts that are Python objects at once
_FAR_BELOW = 0.7  # share of the lowest high code; no other number may be above it
NOT_ASKED = frozenset(
    """notapplicable inapplicable nonapplicable doesnotapply notasked skipped skip validskip legitimateskip iap niu
    notinuniverse na sansobjet nonconcerné nonconcernée nonposé nonposée entfällt trifftnichtzu nichtzutreffend
    nichtgefragt noaplica noprocede noaplicable nãoseaplica nãoaplicável nonapplicabile nonsiapplica
    nietvantoepassing nvt niedotyczy""".split()  # noqa: SIM905
)
"""Texts for "not asked", letters only, in the languages of `suggest_roles`."""


def suggest_scales(table: Table, columns: Sequence[SuggestedRole]) -> dict[str, ScaleKind]:
    """Suggest scales for columns that look like codes, if the user has not stated any.

    Whole numbers on a topic of categories are nominal or ordered; texts that are all codes of a well-known hierarchy,
    such as ICD or NUTS, are places.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> table = read_table({"race": [1, 2, 9, 1], "age": [30, 41, 30, 25]})
    >>> suggest_scales(table, suggest_roles(table))
    {'race': 'nominal'}
    """
    unsaid = [one for one in columns if one.column not in table.scales and one.distinct > 1]
    places = {
        name
        for name, column in _cells(table, [one.column for one in unsaid if one.kind == "text"])
        if recognise_codes(name, _texts(without_dictionary(column.unique().drop_null())))
    }
    scales: dict[str, ScaleKind] = {}
    for one in unsaid:
        if one.column in places:
            scales[one.column] = "place"
        elif one.kind == "integer" and one.topic in _NOMINAL_TOPICS:
            scales[one.column] = "nominal"
        elif one.kind == "integer" and one.topic in _ORDERED_TOPICS:
            scales[one.column] = "ordered"
    return scales


def _texts(values: pa.Array) -> Iterator[str]:
    """Yield Python texts block by block, because all of them at once take much memory."""
    for start in range(0, len(values), _AT_ONCE):
        yield from values.slice(start, _AT_ONCE).to_pylist()


def suspect_serial_dates(table: Table, columns: Sequence[SuggestedRole]) -> list[str]:
    """Find columns of whole numbers with a date in the name and values that are Excel day numbers.

    A table in a cluster is not read.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> table = read_table({"admission_date": [43831, 43900, 44001], "age": [30, 41, 25]})
    >>> suspect_serial_dates(table, suggest_roles(table))
    ['admission_date']
    """
    named = [
        one.column
        for one in columns
        if one.kind == "integer" and any(dates.topic in ("date", "birth") for dates in find_topics(one.column))
    ]
    return [name for name, column in _cells(table, named) if holds_serial_dates(column)]


def find_spellings(table: Table, columns: Sequence[SuggestedRole]) -> dict[str, int]:
    """By column, the number of values that differ from another only in case, blanks or Unicode form.

    A table in a cluster is not read.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> table = read_table({"town": ["Ulm", "ulm ", "Bonn"]})
    >>> find_spellings(table, suggest_roles(table))
    {'town': 1}
    """
    spellings = {}
    for name, column in _cells(table, [one.column for one in columns if one.kind == "text"]):
        values = column.unique().drop_null()
        joined = len(values) - count_spellings(values)
        if joined:
            spellings[name] = joined
    return spellings


def _cells(table: Table, names: Sequence[str]) -> Iterable[tuple[str, pa.ChunkedArray]]:
    """The named columns; none if the rows are in a cluster."""
    return table.read(names) if names and table.backend.rows_are_local else ()


def find_replicate_weights(table: Table, columns: Sequence[str]) -> list[str]:
    """Find replicate weights: families of many columns with one stem, a number, and one mean.

    Columns are read only if their names form a family.
    """
    stems = [re.sub(r"_?\d+$", "", name).lower() for name in columns]
    many = {stem for stem, times in Counter(stems).items() if times >= REPLICATES}
    numbered = [name for name, stem in zip(columns, stems, strict=True) if stem in many and name[-1].isdigit()]
    roles = suggest_roles(table, numbered) if numbered else ()
    return [one.column for one in roles if one.topic == "replicate weight"]


def suspect_missing_codes(table: Table, columns: Sequence[str] | None = None) -> dict[str, tuple[int, ...]]:
    """Find codes such as -9 in columns that are otherwise never negative, and 97 to 99 far above all other values.

    A number that few records have may belong to a person and is not reported. A table in a cluster is not read.
    `columns` are those to examine; None means all.

    >>> from incrowd import read_table
    >>> table = {"age": [30, -9, 41] * 10, "change": [-3, -9, 2] * 10, "children": [0, 2, 99] * 10}
    >>> suspect_missing_codes(read_table(table))
    {'age': (-9,), 'children': (99,)}
    """
    types = table.backend.types()
    names = [name for name in types if columns is None or name in columns]
    names = [name for name in names if pa.types.is_integer(types[name]) or pa.types.is_floating(types[name])]
    codes: dict[str, tuple[int, ...]] = {}
    for name, column in _cells(table, names):
        found = codes_among(column.unique())
        found = {code for code in found if pc.sum(pc.equal(column, code)).as_py() >= _FEWEST_RECORDS}
        if found:
            codes[name] = tuple(sorted(int(code) for code in found))
    return codes


def find_not_asked_values(values: pa.Array) -> pa.BooleanArray:
    """The values of a column that mean "not asked": nulls, a usual code, or words such as "not applicable".

    >>> find_not_asked_values(pa.array(["yes", "No", "Sans objet", None])).to_pylist()
    [False, False, True, True]
    >>> find_not_asked_values(pa.array([20, 31, -9])).to_pylist()
    [False, False, True]
    """
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    kind, is_missing = values.type, pc.is_null(values)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        negative = {*values.filter(pc.fill_null(pc.less(values, pa.scalar(0, kind)), False)).to_pylist()}
        usual = negative if negative <= {*_MISSING_CODES} else set()
        return pc.or_(is_missing, pc.is_in(values, value_set=pa.array(sorted({*usual, *_high_codes(values)}), kind)))
    if is_text(kind):
        codes = pa.array([".", *map(str, _MISSING_CODES)], kind)
        says_so = pc.is_in(_letters(values), value_set=pa.array(sorted(NOT_ASKED), kind))
        says_so = pc.or_(says_so, pc.is_in(pc.utf8_trim_whitespace(values), value_set=codes))
        return pc.or_(is_missing, says_so)
    return is_missing


def _letters(values: pa.Array) -> pa.Array:
    """The letters of every text, in lower case; few texts are converted in Python, which saves compiling a regex."""
    if len(values) > _AT_ONCE:
        return pc.replace_substring_regex(pc.utf8_lower(values), r"[^\p{L}]", "")
    texts = (None if text is None else "".join(filter(str.isalpha, text.lower())) for text in values.to_pylist())
    return pa.array(texts, values.type)


def codes_among(values: pa.Array | pa.ChunkedArray) -> set[float]:
    """The numbers among a column's values that usually mean a missing value."""
    signed = not pa.types.is_unsigned_integer(values.type)
    negative = values.filter(pc.fill_null(pc.less(values, 0), False)).to_pylist() if signed else []
    is_code = (len(negative) == 1 and negative[0] in _MISSING_CODES) or _all_usual(negative)
    return {*(negative if is_code else []), *_high_codes(values)}


def _high_codes(values: pa.Array | pa.ChunkedArray) -> list[float]:
    """The codes among the highest numbers of a column, if all other numbers are far below."""
    highest = pc.max(values).as_py()
    for family in _HIGH_CODES:
        if highest in family:
            top = values.filter(pc.fill_null(pc.greater_equal(values, _FAR_BELOW * min(family)), False)).to_pylist()
            if {*top} <= family:
                return [float(code) for code in top]
    return []


def _all_usual(codes: Sequence[float]) -> bool:
    """True if all codes are usual in surveys: -6 to -9, or repeated digits such as -66 and -999."""
    usual = {-6, -7, -8, -9, *(code for code in _MISSING_CODES if code < -9)}
    return bool(codes) and set(codes) <= usual
