"""Sampling weights: detection, and distinction from body weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from incrowd.tables.roles.column_facts import ColumnFacts
from incrowd.tables.roles.names import word_list, word_pattern, words_of

_LIGHT, _HEAVY = 20.0, 250.0  # lowest and highest mean of a column of body weights, in kilograms or pounds
_HEAVIEST = 10_000.0  # above the highest weight of a body, in grams for the newly born
_SHORT = 4  # letters of a name that may say several weights
REPLICATES = 20  # columns with one stem and a number, from which they are replicate weights


@dataclass(frozen=True, slots=True)
class WeightEvidence:
    """The kind of a weight and the confidence; `rank` orders several weights, and the lowest is proposed."""

    role: str
    reason: str
    confidence: str
    rank: int = 0


_OF_A_BODY = WeightEvidence("quasi-identifier", "its name says how heavy a person is, which others may see", "high")


def kind_of_weight(words: str) -> str | None:
    """The kind of weight in a name: "sampling", "household", "plain" (nothing else), "factor", "body"…; or None.

    "joined" is a longer word that ends in one for a weight: its values have to tell of what.

    >>> [kind_of_weight(name) for name in ("fnlwgt", "sampling weight", "weight", "body weight", "weight loss", "coef")]
    ['sampling', 'sampling', 'plain', 'body', None, 'factor']
    >>> [kind_of_weight(name) for name in ("perweight", "birthwt", "growth")]
    ['joined', 'body', None]
    """
    parts = {*words.split()}
    is_weight = bool(parts & word_list("weights", "weight"))
    if parts & word_list("weights", "body_weights") or (is_weight and parts & word_list("weights", "of_a_body")):
        return "body"
    sampling = word_pattern("weights", "sampling").search(words)
    if sampling or (is_weight and parts & word_list("weights", "of_a_sample")):
        return "household" if word_pattern("weights", "households").search(words) else "sampling"
    if parts and parts <= word_list("weights", "weight"):
        return "plain"
    if any(word_pattern("weights", "joined").fullmatch(part) for part in parts):
        return "joined"
    return "factor" if parts and parts <= word_list("weights", "factors") else None


def measures_bodies(names: Sequence[str]) -> bool:
    """True if a table measures bodies, so that its `weight` is in kilograms."""
    return any({*words_of(name).split()} & word_list("weights", "bodies") for name in names)


def find_weight(facts: ColumnFacts, *, bodies: bool, in_codebook: bool, alone: bool = False) -> WeightEvidence | None:
    """Decide by name and values whether a column is a sampling weight or a body weight.

    `alone` is for a column whose name says nothing: only values that hardly anything but a weight has are accepted.
    """
    if facts.low is None or facts.mean is None:  # no numbers: the weight of a body in ranges, perhaps
        heavy_in_words = facts.kind == "text" and kind_of_weight(words_of(facts.name)) in {"plain", "body"}
        return _OF_A_BODY if heavy_in_words else None
    positive = facts.low > 0 and not facts.nulls
    kind = "sampling" if in_codebook else kind_of_weight(words_of(facts.name))
    heavy = _LIGHT <= facts.mean <= _HEAVY and (facts.high or 0.0) <= 4 * _HEAVY
    if kind == "sampling" and not in_codebook and bodies and heavy and facts.whole and len(facts.name) <= _SHORT:
        return _OF_A_BODY  # `dwt` may be a father's weight
    if kind in {"sampling", "household"}:
        if facts.low < 0 or facts.mean <= 0:
            return None
        rank = (0 if positive else 1) + (2 if kind == "household" else 0)
        of_whom = "households" if kind == "household" else "people"
        doubt = "" if positive else "; it is zero or missing in some records, which then represent nobody"
        reason = f"its name says that it is a sampling weight of {of_whom}{doubt}"
        return WeightEvidence("weight", reason, "high" if positive else "medium", rank)
    counts_people = positive and _weighs(facts)
    beyond = sum(cell > _HEAVIEST for cell in facts.sample)  # one cell may be a code of a missing weight: 99999
    beyond_bodies = facts.low >= 0 and beyond > len(facts.sample) / 2
    if kind in {"plain", "joined"} and (beyond_bodies or (kind == "joined" and _is_like_nothing_else(facts))):
        doubt = "" if positive else "; it is zero or missing in some records, which then represent nobody"
        reason = f"its name and its values, which no body weighs, are those of a sampling weight{doubt}"
        return WeightEvidence("weight", reason, "high" if positive else "medium", 1 if positive else 2)
    if kind == "plain" and counts_people and not bodies and (not heavy or words_of(facts.name) == "w"):
        return WeightEvidence("weight", "its name and its positive values are those of a sampling weight", "high", 1)
    if kind == "joined":
        return _OF_A_BODY if heavy else None
    if kind in {"plain", "body"} and words_of(facts.name) != "w":
        return _OF_A_BODY
    if kind == "factor" and counts_people and not heavy:
        reason = "its name says a factor, and its positive values are those of a sampling weight"
        return WeightEvidence("weight", reason, "medium", 4)
    if alone and counts_people and _is_like_nothing_else(facts):
        reason = "its values are like those of a sampling weight: positive, known of every record, with many decimals"
        return WeightEvidence("weight", f"{reason}; nothing in its name says so", "low", 5)
    return None


def _weighs(facts: ColumnFacts) -> bool:
    """True if a record represents about one person or more on average."""
    return (facts.mean or 0.0) > 0.9


def _is_like_nothing_else(facts: ColumnFacts) -> bool:
    """True if values are scaled to a mean of one, or are large with decimals that no money and no measurement has."""
    mean, low, high = facts.mean or 0.0, facts.low or 0.0, facts.high or 0.0
    if facts.whole or facts.distinct < 30 or high < 1.2 * low or facts.rows < 50:
        return False
    if abs(mean - 1) < 0.005 and 1.2 < high < 50:  # shares of a year end at 1
        return True
    many_decimals = sum(abs(cell * 1000 - round(cell * 1000)) > 1e-6 * max(1.0, abs(cell)) for cell in facts.sample)
    return high > _HEAVY and mean >= 20 and many_decimals > 0.8 * len(facts.sample) and high < 1000 * low


def find_replicates(columns: Sequence[ColumnFacts]) -> dict[str, int]:
    """Find replicate weights, with the size of their family.

    A family has one stem and a number. Its stem names a weight, or its columns have (nearly) one mean, which replicates
    have and answers to twenty questions have not.
    """
    families: dict[str, list[ColumnFacts]] = {}
    for facts in columns:
        numbered = re.fullmatch(r"(.*?\D)_?\d+", facts.name)
        if numbered and facts.kind in {"integer", "number"} and facts.mean is not None and facts.distinct > 1:
            families.setdefault(numbered[1].lower().rstrip("_"), []).append(facts)
    replicates: dict[str, int] = {}
    for stem, family in families.items():
        if len(family) >= REPLICATES and (_says_replicates(stem) or _have_one_mean(family)):
            replicates |= {facts.name: len(family) for facts in family}
    return replicates


def _says_replicates(stem: str) -> bool:
    words = words_of(stem)
    weight_name = word_pattern("weights", "replicates").fullmatch(words.replace(" ", ""))
    return weight_name is not None or kind_of_weight(words) in {"sampling", "household", "plain"}


def _have_one_mean(family: Sequence[ColumnFacts]) -> bool:
    means = [facts.mean or 0.0 for facts in family]
    middle = median(means)
    close = middle > 0 and all(abs(mean - middle) < 0.05 * middle for mean in means)
    return close and all(facts.distinct > 20 and (facts.low or 0.0) >= 0 for facts in family)
