"""Cells that name people by themselves, whatever their column is called: names, addresses, telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from incrowd.tables.roles.column_facts import ColumnFacts
from incrowd.tables.roles.names import word_list, word_pattern, words_of
from incrowd.tables.roles.values import ValueEvidence

_FEWEST = 10  # different values, below which they are no list of people
_ALL, _MANY, _SOME = 0.9, 0.5, 0.1  # of the values that must look so, by how easily something else does
_KNOWN_NAMES = 0.3  # of names of people that have a given name of the list: no list has all


def find_direct_identifier(facts: ColumnFacts) -> ValueEvidence | None:
    """What cells say that name people by themselves, where the column has several of them.

    >>> cells = tuple(f"person{number}@example.org" for number in range(30))
    >>> find_direct_identifier(ColumnFacts("x", "text", 30, 0, 30, sample=cells)).topic
    'contact'
    """
    if facts.kind != "text" or facts.generalised or facts.few:
        return None
    values = {*facts.sample}
    for tells, share, meaning, topic in _FORMS:
        named = sum(bool(tells(value)) for value in values)
        if named >= _FEWEST and named >= share * len(values):
            return ValueEvidence("identifier", topic, f"its cells have the form of {meaning}", "high")
    return _given_names(values)


def _given_names(values: Iterable[str]) -> ValueEvidence | None:
    """Full names, which name people, or given names alone, which may."""
    words = [words_of(value).split() if not any(map(str.isdigit, value)) else [] for value in values]
    known = word_list("values", "given_names")
    named = [parts for parts in words if 1 <= len(parts) <= 4 and known & {parts[0], parts[-1]}]
    if len(named) < max(_FEWEST, _KNOWN_NAMES * len(words)):
        return None
    if sum(len(parts) > 1 for parts in named) >= len(named) / 2:
        return ValueEvidence("identifier", "person name", "its cells are names of people", "high")
    return ValueEvidence("identifier", "person name", "its cells are given names of people", "medium")


def _is_initialled(value: str) -> bool:
    """Whether a text is a surname beside initials or a title: E. Clarke, Smith, J. R., Dr Weber."""
    words = value.replace(",", " ").replace(".", ". ").split()
    before = [word for word in words if _INITIAL_OR_TITLE.fullmatch(word)]
    surnames = [word for word in words if word not in before]
    is_named = all(word.istitle() and len(word) > 1 and word.replace("-", "").isalpha() for word in surnames)
    return bool(before) and 1 <= len(surnames) <= 2 and is_named


_INITIAL_OR_TITLE = re.compile(
    r"[^\W\d_]\.|(?:dr|prof|mrs?|ms|miss|herr|frau|mme|mlle|sra?|sig|dhr|mevr|pani?)\.?", re.IGNORECASE
)
_SURNAMES = (  # of most Chinese people
    "王李张劉刘陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖"
    "田董袁潘蒋蔡余杜叶葉程苏蘇魏吕任沈卢姚崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史"
    "陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
)


def _is_address(value: str) -> bool:
    """Whether a text has a word for a street, which may be one letter (C/ Mayor 3), another word, and a number."""
    is_text = re.search(r"\d", value) and re.search(r"[^\W\d_]{3}", value)
    return bool(is_text and word_pattern("values", "streets").search(words_of(value)))


_FORMS: list[tuple[Callable[[str], object], float, str, str]] = [  # a test of values, how many pass, what they are
    (re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}").fullmatch, _SOME, "e-mail addresses", "contact"),
    (re.compile(r"[A-Z]{2}\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{0,4}").fullmatch, _ALL, "bank accounts", "account"),
    (re.compile(r"(?:\d{1,3}\.){3}\d{1,3}").fullmatch, _ALL, "internet addresses", "contact"),
    (
        re.compile(
            r"\+\d[\d ()/.-]{7,17}|0\d{1,4}[ /.-]\d[\d ./-]{4,12}|\(\d{2,4}\) ?\d{3,5}-?\d{4}|\d{3}-\d{3}-\d{4}"
        ).fullmatch,
        _ALL,
        "telephone numbers",
        "contact",
    ),
    (re.compile(r"\d{3}-\d{2}-\d{4}").fullmatch, _ALL, "social security numbers", "national number"),
    (_is_initialled, _ALL, "names of people", "person name"),
    (re.compile(rf"[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}").fullmatch, _ALL, "Chinese names", "person name"),
    (re.compile(r"[а-яё](?:вич|вна|ична)\b").search, _ALL, "names with a patronymic", "person name"),
    (_is_address, _MANY, "addresses with the number of a house", "address"),
]
