"""What each column is to an attacker: a suggestion with its reason, for a person to confirm."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError
from incrowd.notebook import Shown
from incrowd.table.generalised import parse_generalised
from incrowd.table.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

_LOOKED_AT = 1_000  # filled cells of a column whose text is looked at
ROLES = ("identifier", "quasi-identifier", "sensitive", "person", "weight", "other")

# Words in column names, in the languages our users write; the first role that matches wins.
_WORDS = {
    "weight": r"(sampling|survey|final|person)?_?(weight|weights|wt|wgt|poids|gewicht|peso)(_?\w{0,3})?$",
    "person": r"(patient|person|participant|subject|respondent|customer|client|member|user|household_?member|pers)"
    r"_?(id|nbr|no|nr|num|number|key|pseudonym)$|(personen|patienten)_?(id|nummer)$",
    "identifier": r"(first|last|sur|full|family|given|patient|user|maiden)?_?names?$|nom$|prenom|vorname|nachname"
    r"|apellido|e?_?mail|phone|telephone|fax|mobile|ssn|social_?security|passport|iban|account|card_?n|licen[cs]e"
    r"|(national|tax|insurance|health)_?(id|no|number)|nhs|mrn|medical_?record|street|addr|adresse|url|ip_?addr"
    r"|device_?id|(^|_)uuid|(^|_)guid|photo|biometric",
    "sensitive": r"diag|disease|illness|icd|condition|hiv|cancer|disab|medic|drug|treatment|procedure|symptom"
    r"|salar|income|earning|wage|(^|_)charge|cost|debt|wealth|credit|loan|price|amount|balance|religio|relig$|politic|party|vote"
    r"|sexual|orientation|crim|convict|offen[cs]e|union|genetic|lab_?|result|readmit|outcome|score|grade$",
    "quasi-identifier": r"(^|_)[aâ]ge|alter$|edad|birth|dob|born|geburt|naiss|sex(e|o)?$|gender|geschlecht|genre"
    r"|zip|postal|post_?code|plz|county|cnty|city|town|ville|municip|region|province|state|district|urban|urbrur|place|commune"
    r"|country|nation|citizen|race|ethn|origin|hispanic|language|marital|married|civil|family_?status|hsize|household"
    r"|educ|(^|_)edu|degree|school|nivetud|occup|job|profession|work_?class|workclass|employ|ecostat|industry|qualif|rank"
    r"|hospital|oshpd|admission|admit|adm_|discharge|visit|los$|length_?of_?stay|date|year|quarter|month|height|hair|eye"
    r"|veteran|children|freres|soeurs|relat|hours_?per_?week|vehicle|modelyr",
}


@dataclass(frozen=True, slots=True)
class SuggestedRole(Shown):
    """A column, what it looks like, and the role we suggest for it."""

    column: str
    kind: str
    distinct: int
    nulls: int
    rows: int
    generalised: bool
    role: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}


def suggest_roles(table: Table) -> tuple[SuggestedRole, ...]:
    """A role for every column, with a reason; nothing is decided by it.

    >>> from incrowd import read_table
    >>> [(c.column, c.role) for c in suggest_roles(read_table({"age": [30, 41, 30], "email": ["a", "b", "c"]}))]
    [('age', 'quasi-identifier'), ('email', 'identifier')]
    """
    if table.engine == "cluster":
        return _suggested_there(table)
    try:
        return tuple(_suggest(name, column) for name, column in table.read(table.columns))
    except UnicodeDecodeError:
        raise InputError(f"{table.name} holds text that is not UTF-8; write it again in UTF-8") from None


def _suggest(name: str, column: pa.ChunkedArray) -> SuggestedRole:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    nulls, rows = column.null_count, len(column)
    if pa.types.is_nested(column.type):
        distinct = -1
    elif nulls == rows:
        distinct = 0
    else:
        distinct = pc.count_distinct(column, mode="only_valid").as_py()
    found = _from_facts(name, column.drop_null().slice(0, _LOOKED_AT), distinct, nulls, rows)
    if found.reason == _ALL_DIFFER and found.kind == "integer" and not _numbers_records(column, distinct):
        amount = "every value differs, but like an amount; if it numbers records, it is an identifier"
        return replace(found, role="other", reason=amount)
    return found


def _from_facts(name: str, head: pa.ChunkedArray, distinct: int, nulls: int, rows: int) -> SuggestedRole:
    """A suggestion from some filled cells of a column and its counts."""
    kind = _kind(head.type)
    generalised = kind == "text" and _is_generalised(head)
    role, reason = _role(name, kind, distinct, nulls, rows - nulls, _mean_length(head) if kind == "text" else 0.0)
    return SuggestedRole(name, kind, distinct, nulls, rows, generalised, role, reason)


def _suggested_there(table: Table) -> tuple[SuggestedRole, ...]:
    """The same with values counted in the cluster, all columns at once; of text the first filled cells come here."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    from incrowd.table.readers import engine_errors

    with engine_errors(table.name):
        frame = table.lazy(table.columns)
        kinds = frame.collect_schema()
        plain = frame.with_columns(
            nw.when(~nw.col(key).is_nan()).then(nw.col(key)).alias(key)
            for key, kind in kinds.items()
            if kind.is_float()
        )
        single = [key for key, kind in kinds.items() if not kind.is_nested()]
        counts = [nw.col(key).null_count().alias(f"null {key}") for key in kinds]
        counts += [nw.col(key).n_unique().alias(f"distinct {key}") for key in single]
        facts = plain.select(nw.len().alias("rows"), *counts).collect("pyarrow").rows(named=True)[0]
        heads = {
            key: plain.select(key).filter(~nw.col(key).is_null()).head(_LOOKED_AT).collect("pyarrow").to_native()[key]
            for key, kind in kinds.items()
            if kind == nw.String
        }
    empty = frame.head(0).collect("pyarrow").to_native()
    found = []
    for name, key in zip(table.columns, kinds, strict=True):
        nulls = facts[f"null {key}"]
        distinct = facts[f"distinct {key}"] - (nulls > 0) if key in single else -1  # a null is not among the values
        found.append(_from_facts(name, heads.get(key, pa.chunked_array(empty[key])), distinct, nulls, facts["rows"]))
    return tuple(found)


def _role(name: str, kind: str, distinct: int, nulls: int, filled: int, length: float) -> tuple[str, str]:
    """The role and why, from the name first and from the values where the name says nothing."""
    if kind == "nested":
        return "other", "it holds lists or records"
    if distinct == 0:
        return "other", "every cell is empty"
    if distinct == 1 and not nulls and filled > 1:
        return "other", "the same in every filled cell"
    all_differ = distinct == filled and filled > 20
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace(".", "_").replace("-", "_").replace(" ", "_")
    if re.search(r"(^|_)id$", words) and distinct == filled > 1:
        return "identifier", "by its name, it names a record; no value occurs twice"
    for role, pattern in _WORDS.items():
        if not re.search(pattern, words):
            continue
        if role == "weight" and kind != "number":
            continue
        if role == "person" and all_differ:
            return "identifier", "by its name, whose record it is; no value occurs twice"
        if role == "person":
            return "person", f"by its name, whose record it is: {filled / distinct:.1f} records each"
        if role in {"quasi-identifier", "sensitive"} and kind == "text" and all_differ:
            return "identifier", _ALL_DIFFER
        return role, _BY_NAME[role]
    if kind == "text" and length > 40:
        return "identifier", "long free text often names people"
    if all_differ and kind in {"text", "integer"}:
        return "identifier", _ALL_DIFFER
    return "other", "no sign that others know it"


_ALL_DIFFER = "every value differs, so each one names a record"


def _numbers_records(column: pa.ChunkedArray, distinct: int) -> bool:
    """Whether whole numbers look given out: one after the other, or all equally long; amounts are neither."""
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    low, high = ends["min"], ends["max"]
    equally_long = low > 0 and len(str(low)) == len(str(high)) >= _DIGITS
    return bool(high - low < _DENSE * distinct or equally_long)


_DENSE, _DIGITS = 10, 5  # numbers given out leave few gaps, or have as many digits as there are records to come


_BY_NAME = {
    "weight": "by its name, a sampling weight",
    "identifier": "by its name, it names a person",
    "sensitive": "by its name, people keep it to themselves",
    "quasi-identifier": "by its name, others may know it",
}


def _kind(type_: pa.DataType) -> str:
    """A column's type in a word."""
    import pyarrow as pa

    kind = pa.types
    if kind.is_boolean(type_):
        return "yes/no"
    if kind.is_integer(type_):
        return "integer"
    if kind.is_floating(type_) or kind.is_decimal(type_):
        return "number"
    if kind.is_temporal(type_):
        return "date or time"
    if kind.is_nested(type_):
        return "nested"
    return "text"


def _is_generalised(column: pa.ChunkedArray) -> bool:
    """Whether some of these values are ranges, sets, prefixes or wildcards."""
    return any(parse_generalised(str(value)) is not None for value in column.unique().to_pylist())


def _mean_length(column: pa.ChunkedArray) -> float:
    """Characters in a cell, on average."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(column.type):
        return 0.0
    mean = pc.mean(pc.binary_length(column)).as_py()
    return float(mean or 0.0)
