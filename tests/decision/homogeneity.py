"""Of how many people does a release say a value? Counted in pandas: no code of the package reads a label here."""

import csv
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

_RANGE = re.compile(r"\[(?P<low>[^;]*);(?P<high>[^;\]]*)\]")
_PREFIX = re.compile(r"(?P<start>[^*]+)(?P<hidden>\*+)")
_FEWEST_ALIKE = 20  # people who share a known value, before what most of them have is expected of the next


@dataclass(frozen=True)
class Homogeneity:
    """People of the original whose value is certain: in the release, as usual, and in the release alone."""

    people: int
    certain: int
    usual: int
    gained: int


def count_homogeneity(original, release, known, secret, certain=0.95):
    """Count people for whom the covering rows nearly all have their own secret value, written as one value.

    An attacker who knows the `known` columns of a person looks at every released row whose labels cover them. Usual is
    the value of that share of the people who share one of the person's known values, or of the whole table.
    """
    classes, class_of_row = _combinations(release, known)
    people, profile_of_person = _combinations(original, known)
    covered = np.ones((len(people), len(classes)), bool)
    for name in known:
        covered &= _cover_columns(classes[name], people[name])
    label_of_row, labels = pd.factorize(_texts(release[secret]))
    counts = np.zeros((len(classes), len(labels)))
    np.add.at(counts, (class_of_row, label_of_row), 1)
    seen = covered @ counts
    is_certain = (seen.max(1) >= certain * np.maximum(seen.sum(1), 1)) & (seen.sum(1) > 0)
    value_of_person, values = pd.factorize(_texts(original[secret]))
    says = _equal(pd.Series(labels, dtype=object), pd.Series(values, dtype=object), original[secret].dtype.kind)
    right = is_certain[profile_of_person] & says[seen.argmax(1)[profile_of_person], value_of_person]
    usual = _usual(original, known, value_of_person, certain)
    return Homogeneity(len(original), int(right.sum()), int(usual.sum()), int((right & ~usual).sum()))


def cover(labels, values):
    """Which label covers which value: values, [a;b] with open ends (*), {a,b}, a prefix with stars, and * alone.

    The value None stands for a missing cell; a set with an empty place covers it, and so does *.
    """
    texts = _texts(values)
    covered = _equal(_texts(labels), texts, values.dtype.kind)
    for place, label in enumerate(_texts(labels)):
        if label is None:
            continue
        if label and not label.strip("*"):
            covered[place] = True
        elif label.startswith("{") and label.endswith("}"):
            covered[place] = _in_set(label[1:-1], values, texts)
        elif bounds := _RANGE.fullmatch(label):
            covered[place] = _in_range(bounds, values)
        elif prefix := _PREFIX.fullmatch(label):
            length = len(label)
            covered[place] = [
                text is not None and len(text) == length and text.startswith(prefix["start"]) for text in texts
            ]
    return covered


def _combinations(table, names):
    """The distinct combinations of these columns, and the place of that of every row."""
    keys = pd.DataFrame({name: pd.factorize(_texts(table[name]))[0] for name in names})
    place = keys.groupby(names, sort=False).ngroup().to_numpy()
    first = np.unique(place, return_index=True)[1]
    return table.iloc[first].reset_index(drop=True), place


def _cover_columns(labels, values):
    label_of_class, distinct_labels = pd.factorize(_texts(labels))
    value_of_person, _ = pd.factorize(_texts(values))
    first = np.unique(value_of_person, return_index=True)[1]
    covered = cover(pd.Series(distinct_labels, dtype=object), values.iloc[first].reset_index(drop=True))
    return covered[label_of_class][:, value_of_person].T


def _texts(column):
    """Cells as texts, a missing one as None, a whole number without decimals."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    texts = [None if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)]
    return pd.Series(texts, dtype=object)


def _equal(labels, texts, kind):
    """Which label is which value, as numbers or times where the column holds them."""
    missing = labels.isna().to_numpy()[:, None] & texts.isna().to_numpy()
    if kind not in "iufM":
        return missing | ((labels.to_numpy()[:, None] == texts.to_numpy()) & texts.notna().to_numpy())
    left, right = _measured(labels, kind), _measured(texts, kind)
    return missing | np.isclose(left[:, None], right, rtol=1e-12, atol=0)


def _measured(texts, kind):
    """Texts as numbers, or as seconds; NaN where they are neither."""
    if kind != "M":
        return pd.to_numeric(texts, errors="coerce").to_numpy(float)
    times = pd.to_datetime(texts, errors="coerce", utc=True, format="mixed")
    return ((times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta("1s")).to_numpy(float)


def _in_set(inside, values, texts):
    """Members are separated by commas; an empty place is a missing cell, and "" an empty text."""
    has_missing = bool(re.search(r"(^|,)\s*(,|$)", re.sub(r'"(?:[^"]|"")*"', "x", inside)))
    members = pd.Series([member for member in next(csv.reader([inside]), []) if member] or [None], dtype=object)
    covered = _equal(members, texts, values.dtype.kind).any(0) & texts.notna().to_numpy()
    if '""' in re.split(r",", inside):
        covered |= (texts == "").to_numpy()
    return covered | (texts.isna().to_numpy() & has_missing)


def _in_range(bounds, values):
    if values.dtype.kind in "iuf":
        numbers = values.to_numpy(float)
        low, high = (-np.inf if bounds["low"] == "*" else float(bounds["low"])), bounds["high"]
        return (numbers >= low) & (numbers <= (np.inf if high == "*" else float(high)))
    days = pd.to_datetime(values, errors="coerce", utc=True, format="mixed")
    inside = days.notna()
    if bounds["low"] != "*":
        inside &= days >= pd.to_datetime(bounds["low"], utc=True)
    if bounds["high"] != "*":
        end = pd.to_datetime(bounds["high"], utc=True)
        inside &= days < end + pd.Timedelta("1D") if len(bounds["high"]) == 10 else days <= end  # a date is a whole day
    return inside.to_numpy()


def _usual(original, known, value_of_person, certain):
    """People whose value is that of nearly all who share one of their known values, or of nearly all people."""
    usual = np.zeros(len(original), bool)
    groups = [np.zeros(len(original), int), *(pd.factorize(_texts(original[name]))[0] for name in known)]
    for group in groups:
        group = group - group.min()  # a missing cell is a value
        counts = np.zeros((group.max() + 1, value_of_person.max() + 1))
        np.add.at(counts, (group, value_of_person), 1)
        totals = counts.sum(1)
        is_clear = (totals >= _FEWEST_ALIKE) & (counts.max(1) >= certain * totals)
        usual |= is_clear[group] & (counts.argmax(1)[group] == value_of_person)
    return usual
