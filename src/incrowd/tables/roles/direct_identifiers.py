"""Detection of cells that name people by themselves: names, addresses, telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from incrowd.tables.generalised import Choice, parse_generalised
from incrowd.tables.roles.check_digits import are_articles, have_check_digits
from incrowd.tables.roles.column_facts import ColumnFacts, is_json
from incrowd.tables.roles.full_names import are_full_names
from incrowd.tables.roles.names import word_list, word_pattern, words_of
from incrowd.tables.roles.values import ValueEvidence
from incrowd.wording import one_decimal

_FEWEST = 10  # values with the form of an identifier, at least
_ALL, _MANY, _SOME = 0.9, 0.5, 0.1  # share of the values that must have a form; more if other things have it easily
_KNOWN_NAMES = 0.3  # share of the values with a listed given name, at least; no list has all names
_DIFFERENT = 5  # different listed given names, at least
_SURNAMES_KNOWN = 0.2  # share of the surnames that the list has, or whose ending it has
_ADDRESSED_PEOPLE = 3  # different listed surnames after a title; few are enough, because the form is clear
_CODES = 50  # different codes, at least
_ROWS_EACH = 5  # rows for each code, up to which codes may belong to people
_RANDOM_BITS = 48  # entropy of a text in bits, from which it is random: no list of things has as much
_SPARE_BITS = 6  # entropy in bits beyond log2 of the number of values, from which codes are sparse
_LONGEST = 64  # characters of a code that are examined
_CHECKED_EACH = 20  # rows for each code with a check digit, above which it is the code of a product


def find_direct_identifier(facts: ColumnFacts) -> ValueEvidence | None:
    """Describe cells that name people by themselves, if the column has several of them.

    >>> cells = tuple(f"person{number}@example.org" for number in range(30))
    >>> find_direct_identifier(ColumnFacts("x", "text", 30, 0, 30, sample=cells)).topic
    'contact'
    """
    in_text = [_contact(facts)] if facts.contacts or facts.shared_contacts else []
    if facts.generalised:
        values = open_sets(facts)
    elif facts.few or not facts.codes:
        values = set[str]()
    else:
        values = {*facts.sample} if facts.kind == "text" else {f"{int(value)}" for value in facts.sample}
    if not values:
        return next(iter(in_text), None)
    if facts.repeats <= _CHECKED_EACH and have_check_digits(values):
        what, sure = ("goods", "medium") if are_articles(values) else ("people, accounts and devices", "high")
        reason = f"its cells are codes with a check digit, as numbers of {what} have"
        if sure == "high" or not facts.generalised:
            return ValueEvidence("identifier", "national number", reason, sure)
    if facts.kind != "text":
        return None
    evidence = [*_forms_of(values)]
    if _bits(values) >= _RANDOM_BITS and facts.repeats <= _CHECKED_EACH:
        reason = "its cells are random strings, as keys of records are"
        evidence.append(ValueEvidence("identifier", "record number", reason, "high"))
    evidence += [*_names_of_people(values), *in_text]
    if facts.repeats <= _CHECKED_EACH and are_full_names(facts.sample if not facts.generalised else tuple(values)):
        reason = "its cells are words that recur in many combinations, as given names and surnames of people do"
        evidence.append(ValueEvidence("identifier", "person name", reason, "high"))
    if facts.generalised:  # members of sets that only may name people are left to who made them
        evidence = [one for one in evidence if one.confidence == "high"]
    return min(evidence, key=lambda one: one.confidence != "high", default=None)


def open_sets(facts: ColumnFacts) -> set[str]:
    """The plain cells of a column and the members of its sets; ranges and `*` hold no value."""
    values = set[str]()
    for cell in dict.fromkeys(facts.sample):
        label = parse_generalised(cell)
        if label is None:
            values.add(cell)
        elif isinstance(label, Choice):
            values |= {member for member in label.values if member}
    return values


def _forms_of(values: Collection[str]) -> Iterator[ValueEvidence]:
    """Find values whose form is that of contacts, accounts, addresses or names."""
    for tells, share, meaning, topic, confidence in _FORMS:
        named = sum(bool(tells(value)) for value in values)
        if named >= _FEWEST and named >= share * len(values):
            yield ValueEvidence("identifier", topic, f"its cells have the form of {meaning}", confidence)


def _contact(facts: ColumnFacts) -> ValueEvidence:
    """Evidence of contacts in texts: sure if they belong to people, likely if many rows have the same one."""
    found = facts.contacts or facts.shared_contacts
    reason = f"{found:,} of its cells {'has' if found == 1 else 'have'} an e-mail address or a telephone number"
    if facts.contacts:
        return ValueEvidence("identifier", "contact", f"{reason} in the text", "high")
    return ValueEvidence(
        "identifier", "contact", f"{reason} that many rows have, of an office or of a person", "medium"
    )


def find_codes(facts: ColumnFacts) -> ValueEvidence | None:
    """Find codes that may belong to people or their property: each in few rows, and sparse among all possible codes."""
    if facts.kind != "text" or facts.generalised or facts.repeats > _ROWS_EACH:
        return None
    if _bits({*facts.sample}) < np.log2(max(facts.distinct, 1)) + _SPARE_BITS:
        return None
    reason = (
        f"its cells are codes with {one_decimal(facts.repeats)} rows each, as numbers of people or of their things are"
    )
    return ValueEvidence("identifier", "record number", reason, "medium")


def _names_of_people(values: Collection[str]) -> Iterator[ValueEvidence]:
    """Find full names, also in longer texts, which name people, and given names or surnames alone, which may."""
    values = [value for value in values if value]
    addressed = [_ADDRESSED.findall(value) for value in values]
    named = {words_of(name) for names in addressed for name in names}
    is_surname = word_pattern("values", "surnames").fullmatch
    listed = sum(is_surname(name.split()[-1]) is not None for name in named if name)
    if sum(map(bool, addressed)) >= max(_ADDRESSED_PEOPLE, _SOME * len(values)) and listed >= max(
        _ADDRESSED_PEOPLE, _SURNAMES_KNOWN * len(named)
    ):
        yield ValueEvidence("identifier", "person name", "its cells have surnames of people in them", "high")
    words = [words_of(value).split() for value in values]
    known = word_list("values", "given_names")
    full = [parts for parts in words if any(one in known for one in _followed(parts))]
    different = len({one for parts in full for one in _followed(parts) if one in known})
    if len(full) >= max(_FEWEST, _KNOWN_NAMES * len(words)) and different >= _DIFFERENT:
        yield ValueEvidence("identifier", "person name", "its cells have names of people in them", "high")
    alone = [parts for parts in words if len(parts) == 1]
    if sum(parts[0] in known for parts in alone) >= max(_FEWEST, _KNOWN_NAMES * len(words)):
        yield ValueEvidence("identifier", "person name", "its cells are given names of people", "medium")
    if sum(is_surname(parts[0]) is not None for parts in alone) >= max(_FEWEST, _SURNAMES_KNOWN * len(words)):
        yield ValueEvidence("identifier", "person name", "its cells are surnames of people", "medium")


def _followed(parts: Sequence[str]) -> Iterator[str]:
    """The words next to another word of letters, like a given name next to a surname."""
    spelt = [len(word) > 1 and word.isalpha() for word in parts]
    for place, word in enumerate(parts):
        if spelt[place] and any(spelt[max(place - 1, 0) : place] + spelt[place + 1 : place + 2]):
            yield word


_CODE = re.compile(r"[A-Za-z0-9+/=_.-]{5,}|[A-Z0-9 -]{5,}")


def _bits(values: Collection[str]) -> float:
    """The sum of the entropies of the characters at each position, for codes that mix letters and digits."""
    codes = [value for value in values if _CODE.fullmatch(value)]
    mixed = [sum(map(str.isdigit, code)) >= (1 if re.search("[A-Za-z]", code) else 6) for code in codes]
    if len(codes) < max(_CODES, _ALL * len(values)) or sum(mixed) < _MANY * len(codes):
        return 0.0
    width = min(max(map(len, codes)), _LONGEST)
    letters = np.array([list(code[:width].ljust(width)) for code in codes])
    shares = [np.unique(column, return_counts=True)[1] / len(codes) for column in letters.T]
    return float(-sum((share * np.log2(share)).sum() for share in shares))


def _is_initialled(value: str) -> bool:
    """True if a text is a surname with initials or a title: E. Clarke, Smith, J. R., Dr Weber."""
    words = value.replace(",", " ").replace(".", ". ").split()
    before = [word for word in words if _INITIAL_OR_TITLE.fullmatch(word)]
    surnames = [word for word in words if word not in before]
    is_named = all(word.istitle() and len(word) > 1 and word.replace("-", "").isalpha() for word in surnames)
    return bool(before) and 1 <= len(surnames) <= 2 and is_named


_INITIAL_OR_TITLE = re.compile(
    r"[^\W\d_]\.|(?:dr|prof|mrs?|ms|miss|herr|frau|mme|mlle|sra?|sig|dhr|mevr|pani?)\.?", re.IGNORECASE
)
_ADDRESSED = re.compile(  # Frau Schäfer, Mme Dupont, Sr. García, pan Kowalski, dhr. de Vries; but no "Sr. engineer"
    r"\b(?:[Ff]rau|[Hh]errn?|[FH]r\.|M\.|Mme|Mlle|Monsieur|Madame|Mrs?|Ms|Miss|Dr|Prof|[Ss]ra?|[Ss]eñora?|[Dd]oña|Dña"
    r"|[Ss]enhora?|[Ss]ig(?:\.ra|nora?)?|[Pp]ani?|[Pp]anem|[Pp]anią|[Dd]hr|[Mm]evr|[Mm]eneer|[Mm]evrouw)\.?:?\s+"
    r"(?:(?:Dr|Prof)\.?\s+|[^\W\d_]\.[\s-]*)*"  # titles and initials before the surname
    r"((?:(?:de|del|della|der|den|van|von|vom|zu|di|da|do|dos|das|la|le|du|ten|ter)\s+|d['’])*"
    r"[^\W\d_a-zß-öø-ÿ][^\W\d_]+(?:-[^\W\d_]+)?)"
)
_SURNAMES = (  # of most Chinese people
    "王李张劉刘陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖"
    "田董袁潘蒋蔡余杜叶葉程苏蘇魏吕任沈卢姚崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史"
    "陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
)


def _is_address(value: str) -> bool:
    """True if a text has a word for a street, which may be one letter (C/ Mayor 3), another word, and a number."""
    words = words_of(value)
    street = word_pattern("values", "streets").search(words) if any(map(str.isdigit, value)) else None
    named = street is not None and (words.replace(street[0], "", 1).strip(), street[1])
    return bool(named and (named[1] or re.search(r"[^\W\d_]{3}", named[0])))


def _matches(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern, re.IGNORECASE).fullmatch


_DEGREES = r"[-+]?\d{1,3}\.\d{3,}"
_FORMS: list[tuple[Callable[[str], object], float, str, str, str]] = [
    # a test of a value, the share of values that must pass, what they are, the topic, the confidence
    (_matches(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"), _SOME, "e-mail addresses", "contact", "high"),
    (_matches(r"@[\w.]{3,30}"), _ALL, "names of accounts on the internet", "contact", "high"),
    (_matches(r"[A-Z]{2}\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{0,4}"), _ALL, "bank accounts", "account", "high"),
    (
        _matches(r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}"),
        _ALL,
        "internet addresses, or numbers of devices",
        "contact",
        "high",
    ),
    (
        _matches(
            r"\+\d[\d ()/.-]{7,17}|0\d{1,4}[ /.-]\d[\d ./-]{4,12}|\(\d{2,4}\) ?\d{3,5}-?\d{4}|\d{3}([-.])\d{3}\1\d{4}"
        ),
        _ALL,
        "telephone numbers",
        "contact",
        "high",
    ),
    (_matches(r"\d{3}-\d{2}-\d{4}"), _ALL, "social security numbers", "national number", "high"),
    (
        _matches(
            rf"\D{{0,8}}{_DEGREES}[^\d.]{{1,4}}{_DEGREES}\D{{0,3}}|\D?\d{{1,3}} ?°.*\d.*|/{{3}}\w+\.\w+\.\w+"
            "|[2-9CFGHJMPQRVWX]{4,8}[+][2-9CFGHJMPQRVWX]{2,3}"
        ),
        _ALL,
        "coordinates, which say where somebody is to a few metres",
        "address",
        "high",
    ),
    (_matches(r"[^\W\d]{3,}\.[^\W\d]{3,}\.[^\W\d]{3,}"), _ALL, "places in three words", "address", "medium"),
    (_matches(r"https?://\S+"), _ALL, "addresses of pages, which may lead to people", "contact", "medium"),
    (is_json, _ALL, "records (JSON), which are not looked into", "free text", "medium"),
    (_is_initialled, _ALL, "names of people", "person name", "high"),
    (_matches(rf"[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}"), _ALL, "Chinese names", "person name", "high"),
    (re.compile(r"[а-яё](?:вич|вна|ична)\b").search, _ALL, "names with a patronymic", "person name", "high"),
    (_is_address, _MANY, "addresses with the number of a house", "address", "high"),
]
