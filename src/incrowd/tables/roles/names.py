"""Topics of columns from the words of their names, or from a public codebook."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

_RECOGNISED = 3  # variables of a codebook in one table, from which the table counts as following the codebook
_LIKE_A_CODE = re.compile(r"(?=.{6})(?=.*[\d_]).*")  # a name that is hardly another word by accident
_WAVE = re.compile(r"^(?:[a-z]{1,2}\d{0,2}_|(?:w|wave)\d{1,2}_?|[rsh]\d{1,2}(?=[a-z]{3}))")
_SPECIAL_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "đ": "d"})

_UNSURE = ("part", "unrecognised codebook", "stem", "sentence")
_LONGEST_NAME = 6  # words of a name; more are a sentence, such as a question, whose words say less
_COUNTED = re.compile(r"(?:has|is|any|count|counts|number of|no of|nr of|(?:num|n)(?= .*[^s]s$)) ")


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject that a column can be about."""

    name: str
    role: str
    meaning: str
    also: str = ""
    leads: bool = False
    quantity: bool = False
    words: str = ""
    phrases: str = ""
    stems: str = ""
    values: str = ""

    @property
    def rank(self) -> int:
        """The priority among several topics of one name: the lowest rank is taken."""
        if self.leads:
            return 1
        return {"identifier": 0, "sensitive": 2, "quasi-identifier": 3}.get(self.role, 1)


@dataclass(frozen=True, slots=True)
class NameEvidence:
    """A topic of a name and the strength of the evidence: a codebook, a phrase, a word, or a part of a word.

    `how` is "phrase", "word", "part", "unrecognised codebook", "stem", "sentence", or the title of a recognised
    codebook.
    """

    topic: str
    how: str

    @property
    def sure(self) -> bool:
        return self.how not in _UNSURE

    @property
    def by_codebook(self) -> bool:
        return self.how not in {"phrase", "word", *_UNSURE}

    @property
    def found_in(self) -> str:
        """Where it was found, in a word."""
        return "codebook" if self.by_codebook else "word" if self.sure else self.how


@lru_cache(maxsize=1024)
def words_of(name: str) -> str:
    """The words of a column name in lower case, without accents and digits, separated by spaces.

    >>> words_of("dateOfBirth"), words_of("freres.soeurs"), words_of("Prénom_2"), words_of("płeć")
    ('date of birth', 'freres soeurs', 'prenom', 'plec')
    """
    plain = unicodedata.normalize("NFKD", name.translate(_SPECIAL_LETTERS))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return re.sub(r"[\W\d_]+", " ", apart).strip().lower()


@lru_cache(maxsize=8)
def recognise_codebooks(names: tuple[str, ...]) -> tuple[str, ...]:
    """The public codebooks that the columns of a table follow, the one with most variables first.

    Only names that are no common words count: every survey has an `age`.
    """
    odd = [name.lower() for name in names if not _by_words(words_of(name))]
    counts = [(sum(_is_variable(title, name) for name in odd), title) for title in _codebooks()]
    return tuple(title for count, title in sorted(counts, reverse=True) if count >= _RECOGNISED)


def find_topics(name: str, codebooks: Sequence[str] = ()) -> list[NameEvidence]:
    """The topics of a name, the strongest evidence first.

    >>> [evidence.topic for evidence in find_topics("household_income")]
    ['income', 'household']
    """
    words = words_of(name)
    by_codebook = ((title, _in_codebook(title, name.lower())) for title in codebooks)
    evidence = [NameEvidence(topic, title) for title, topic in by_codebook if topic]
    evidence += [NameEvidence(topic, "phrase") for topic in _by_phrases(words)]
    evidence += [NameEvidence(topic, "word") for topic in _by_words(words)]
    if not evidence:
        evidence += [NameEvidence(topic, "part") for topic in _by_parts(words)]
    if not evidence:
        evidence += [NameEvidence(topic, "unrecognised codebook") for topic in _in_any_codebook(name.lower())]
    if not evidence:
        evidence += [NameEvidence(topic, "stem") for topic in _by_stems(words)]
    if len(words.split()) > _LONGEST_NAME:
        evidence = [NameEvidence(one.topic, "sentence") for one in evidence if not one.by_codebook]
    return [one for one in evidence if one.topic not in _CONTACTS or _is_about_people(words, one.topic)]


_CONTACTS = {"person name", "contact", "address", "account", "national number"}


def _is_about_people(words: str, topic: str) -> bool:
    """True if a name is about a person, not about a thing (`drug_name`) or a contact's property (`email_status`)."""
    parts = words.split()
    if _COUNTED.match(words) or (len(parts) > 1 and parts[-1] in word_list("names", "said_about_contacts")):
        return False
    instead = {"person name": "things", "address": "areas"}.get(topic)
    return not (instead and len(parts) > 1 and word_list("names", instead) & {*parts})


@cache
def topics() -> dict[str, Topic]:
    """Every topic by its name."""
    return {name: Topic(name, **entries) for name, entries in _read("topics.toml").items()}


@cache
def word_list(section: str, entry: str) -> frozenset[str]:
    """The words of one of the lists in wordlists.toml."""
    return frozenset(_read("wordlists.toml")[section][entry].split())


@cache
def word_pattern(section: str, entry: str) -> re.Pattern[str]:
    """One of the regular expressions in wordlists.toml, for whole words."""
    return whole_words(_read("wordlists.toml")[section][entry].replace("\n", ""))


@cache
def _read(file: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(file).read_text(encoding="utf-8"))


@cache
def _codebooks() -> dict[str, tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]]:
    """The topics of the variables of every codebook, and of patterns of variables."""
    codebooks = {}
    for title, by_topic in _read("codebooks.toml").items():
        exact: dict[str, str] = {}
        patterns = []
        for topic, variables in by_topic.items():
            for variable in variables.split():
                if "*" in variable or "#" in variable:
                    pattern = variable.replace("*", "[a-z0-9_]*").replace("#", r"\d+")
                    patterns.append((re.compile(pattern), topic))
                else:
                    exact.setdefault(variable, topic)
        codebooks[title] = (exact, patterns)
    return codebooks


def _is_variable(title: str, name: str) -> bool:
    """True if a name is in a codebook, exactly except for its number and its wave."""
    exact, patterns = _codebooks()[title]
    plain = [pattern for pattern, _ in patterns if "*" not in pattern.pattern]
    return any(one in exact or any(pattern.fullmatch(one) for pattern in plain) for one in _without_wave(name))


def _in_codebook(title: str, name: str) -> str | None:
    exact, patterns = _codebooks()[title]
    for one in _without_wave(name):
        if topic := exact.get(one) or next((topic for pattern, topic in patterns if pattern.fullmatch(one)), None):
            return topic
    return None


def _without_wave(name: str) -> tuple[str, ...]:
    """A codebook name, and the name without the wave of a panel: `b_jbstat`, `w3_jbstat`, `r13shlt`."""
    rest = _WAVE.sub("", name, count=1)
    return (name,) if rest == name else (name, rest)


def _in_any_codebook(name: str) -> Iterator[str]:
    """The topic of a name that occurs in one codebook and hardly anywhere else."""
    for exact, _ in _codebooks().values():
        topic = exact.get(name)
        if topic and ((topic == "weight" and len(name) > 4) or _LIKE_A_CODE.fullmatch(name)):
            yield topic
            return


@cache
def _patterns() -> list[tuple[str, frozenset[str], re.Pattern[str], re.Pattern[str]]]:
    """The plain words, the words with a star and the phrases of every topic, by rank."""
    patterns = []
    for topic in sorted(topics().values(), key=lambda one: one.rank):
        words = topic.words.split()
        plain = frozenset(word for word in words if "*" not in word and "_" not in word)
        starred = "|".join(word.replace("*", "[^ ]*") for word in words if "*" in word)
        phrases = [one.strip() for one in topic.phrases.replace("\n", " ").split(",") if one.strip()]
        phrases += [word.replace("_", " ") for word in words if "_" in word]
        patterns.append(
            (
                topic.name,
                plain,
                whole_words(starred),
                whole_words("|".join(one.replace("*", "[^ ]*") for one in phrases)),
            )
        )
    return patterns


def whole_words(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words; an empty one matches nothing."""
    return re.compile(f"(?<![^ ])(?:{pattern or '(?!)'})(?![^ ])")


@cache
def _by_phrases(words: str) -> tuple[str, ...]:
    return tuple(topic for topic, _, _, phrases in _patterns() if phrases.search(words))


@cache
def _by_words(words: str) -> tuple[str, ...]:
    parts = {*words.split()}
    return tuple(topic for topic, plain, starred, _ in _patterns() if parts & plain or starred.search(words))


@cache
def _by_parts(words: str) -> tuple[str, ...]:
    """Topics of words that are joined with a common prefix or suffix."""
    topics_found: list[str] = []
    for word in words.split():
        for rest in _without_affixes(word):
            for topic, plain, _, _ in _patterns():
                if rest in plain and topic not in topics_found:
                    topics_found.append(topic)
    return tuple(topics_found)


@cache
def _by_stems(words: str) -> tuple[str, ...]:
    """Topics whose stems a word contains, for abbreviations that are in no list."""
    return tuple(
        topic.name
        for topic in sorted(topics().values(), key=lambda one: one.rank)
        if topic.stems and any(_stems(topic.stems).fullmatch(word) for word in words.split())
    )


@cache
def _stems(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _without_affixes(word: str) -> Iterator[str]:
    """A word without a known prefix, a known suffix, or both, if three letters or more are left."""
    starts = ["", *(one for one in word_list("affixes", "prefixes") if word.startswith(one))]
    ends = ["", *(one for one in word_list("affixes", "suffixes") if word.endswith(one))]
    for start in starts:
        for end in ends:
            rest = word[len(start) : len(word) - len(end)]
            if (start or end) and len(rest) >= (4 if len(start) == 2 else 3):
                yield rest
