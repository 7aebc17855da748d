"""Every release of every method and file format is read back: each original value is covered by its own label."""

import string
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from tests.protection.plain import examples

from incrowd import Hierarchy, protect, read_table
from incrowd.attacks.encoding import encode_tables
from incrowd.backends import encode
from incrowd.errors import InputError
from incrowd.evaluation.labels import read_meanings
from incrowd.tables import write_table
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats import WRITERS
from incrowd.tables.labels import read_labels
from incrowd.tables.released_values import join_bounds

ROWS = 30
TABLES = examples(4)  # tables for each method; `make fuzz` takes more
FORMATS = [ending for ending in WRITERS if ending not in (".zsav", ".pq", ".arrow", ".tsv")]  # the same formats
ODD_TEXTS = [
    "a", "b", " b", "a,b", "{a,b}", "{a}", "}", 'say "x"', '"', "=1+1", "@home", "+49", "-5", "'quoted", "''", "*",
    "a*", "**", "[1;2]", "[a", "1", "1.0", "20-29", ">5", "85+", "line\u2028next", "tab\tin", "Zoë", "2020-01-01",
]  # fmt: skip
START = datetime(2020, 10, 25)  # clocks in Europe go back in this night


def moments(draws, kind):
    seconds = draws.integers(0, 3 * 86_400, ROWS).tolist()
    start = START if kind.tz is None else START.replace(tzinfo=UTC)
    return pa.array([start + timedelta(seconds=number) for number in seconds], kind)


def whole(draws, least, most, kind):
    distance = draws.integers(0, min(most - least, 2**62), ROWS).tolist()
    return pa.array([least + step for step in distance], kind)


def fractions(draws, kind=None):
    numbers = np.concatenate([draws.normal(0, 1, ROWS - 5), [0.1 + 0.2, 1e-7, 1e22, -1e-30, 1 / 3]])
    return pa.array(draws.permutation(numbers).astype(np.float32 if kind else np.float64), kind)


def decimals(draws, size, kind):
    return pa.array([Decimal(int(n)).scaleb(-kind.scale) for n in draws.integers(-size, size, ROWS)], kind)


KINDS = {
    "whole": partial(whole, least=-20, most=60, kind=pa.int64()),
    "beyond floats": partial(whole, least=2**53 - 9, most=2**53 + 40, kind=pa.int64()),
    "far apart": partial(whole, least=-(2**62), most=2**62, kind=pa.int64()),
    "unsigned": partial(whole, least=2**64 - 90, most=2**64 - 1, kind=pa.uint64()),
    "fraction": fractions,
    "float32": partial(fractions, kind=pa.float32()),
    "decimal": partial(decimals, size=10**12, kind=pa.decimal128(25, 4)),
    "long decimal": partial(decimals, size=10**18, kind=pa.decimal128(25, 4)),
    "day": lambda draws: pa.array([date(1890, 1, 1) + timedelta(int(n)) for n in draws.integers(0, 80_000, ROWS)]),
    "midnights": lambda draws: pa.array([START + timedelta(int(n)) for n in draws.integers(0, 90, ROWS)]),
    "moment": partial(moments, kind=pa.timestamp("us")),
    "moment in UTC": partial(moments, kind=pa.timestamp("s", "UTC")),
    "moment in Berlin": partial(moments, kind=pa.timestamp("ns", "Europe/Berlin")),
    "truth": lambda draws: pa.array(draws.random(ROWS) < 0.4),
    "code": lambda draws: pa.array([f"{n:05d}" for n in draws.integers(0, 120, ROWS) * 37]),
    "odd text": lambda draws: pa.array(draws.choice(ODD_TEXTS, ROWS).tolist()),
    "random text": lambda draws: pa.array(["".join(draws.choice([*string.printable[:95]], 3)) for _ in range(ROWS)]),
}  # fmt: skip


def made_table(draws, method):
    """A table of columns of different kinds, some of them with missing cells."""
    columns = {}
    count = 2 if method in ("generalise", "blank") else 4  # these search all combinations of columns
    kinds = [kind for kind in KINDS if method not in REFUSED_BY.get(kind, ())]
    for kind in draws.choice(kinds, count, replace=False).tolist():
        cells = KINDS[kind](draws)
        if draws.random() < 0.4:
            cells = pa.array([None if draws.random() < 0.2 else cell for cell in cells.to_pylist()], cells.type)
        columns[f"{kind.replace(' ', '_')}_"[:30]] = cells
    return pa.table({**columns, "secret": pa.array(draws.integers(0, 3, ROWS).astype(str).tolist())})


BY_INTERVALS = ("coarsen", "generalise", "mask")
# limits of intervals are floats, and so are bounds in files of statistics packages
REFUSED_BY = {"long decimal": (*BY_INTERVALS, "bounds"), "decimal": ("bounds",)}
METHODS = {
    "partition": {"method": "partition"},
    "bounds": {"method": "partition", "output": "bounds"},
    "sorted": {"method": "sorted"},
    "tcloseness": {"method": "tcloseness", "sensitive": ["secret"], "t": "bound"},
    "coarsen": {"method": "coarsen", "resolution": 4},
    "generalise": {"method": "generalise", "suppress": 0.3},
    "blank": {"method": "blank"},
    "mask": {"method": "mask", "drop": False},
}


def released(table, names, method, draws):
    """The release of a table by one method, and the original row of each row."""
    options = dict(METHODS[method])
    if method == "mask":
        options["steps"] = [
            (name, "*" if draws.random() < 0.4 else "ranges=4") for name in names if is_range(table, name)
        ]
        options["steps"] += [(name, "keep=2") for name in names if pa.types.is_string(table[name].type)]
    safe = protect(table, quasi_identifiers=names, k=2, identifiers=[], warn=False, **options)
    rows = np.arange(table.num_rows) if safe.kept_rows is None else safe.kept_rows
    return safe.table, rows


def is_range(table, name):
    return not (pa.types.is_string(table[name].type) or pa.types.is_boolean(table[name].type))


def uncovered(original, release, names, rows, hierarchies):
    """The cells whose own label does not cover them, as the reader sees it and, if they are filled, an evaluation."""
    wrong = []
    for was, now in zip(encode(original, names), encode(release, names), strict=True):
        hides = None if now.tally[now.filled_size :].sum() <= was.tally[was.filled_size :].sum() else True
        cover = read_labels(now.values, was.values, name=was.name, missing_hides=hides)
        if was.name not in hierarchies:
            wrong += [(was.name, "unread", now.values[int(label)].as_py()) for label in cover.unread]
            missed = np.flatnonzero(~cover.pairs(now.codes, was.codes[rows]))
            wrong += [(was.name, was.values[int(was.codes[rows[at]])].as_py(), now.values[int(now.codes[at])].as_py())
                      for at in missed]  # fmt: skip
        meaning = read_meanings(was, now, hierarchies.get(was.name))
        codes = meaning.original.codes[rows]
        value = meaning.place[codes]
        is_within = (meaning.low[meaning.codes] <= value) & (value <= meaning.high[meaning.codes])
        is_within &= meaning.cover.pairs(meaning.codes, codes)
        wrong += [(was.name, "evaluated", int(row)) for row in rows[~is_within & now.is_filled]]
    return wrong


def not_fitting(original, release, names, rows):
    """The filled cells that do not fit their own label as an attack sees it."""
    wrong = []
    filled = [column.is_filled for column in encode(release, names)]
    for column, is_filled in zip(encode_tables([original, release], names).columns, filled, strict=True):
        people, labels = column.labels
        person, label = people.codes[rows], labels.codes
        fits = (labels.low[label] <= people.low[person]) & (people.high[person] <= labels.high[label])
        for place, members in labels.members.items():
            fits[label == place] &= np.isin(people.low[person[label == place]], members)
        wrong += [(column.name, "attacked", int(row)) for row in rows[~fits & is_filled]]
    return wrong


def written(release, folder, formats=FORMATS):
    """The release, and as every format that holds its types gives it back."""
    copies = {"": read_table(release)}
    for ending in formats:
        try:
            copies[ending] = read_table(write_table(release, folder / f"release{ending}", force=True))
        except InputError:  # a type that this format does not hold
            continue
    return copies


@pytest.mark.parametrize("method", METHODS)
def test_every_value_is_covered_by_its_own_label(method, tmp_path):
    for seed in range(TABLES):
        draws = np.random.default_rng([seed, *method.encode()])
        table = made_table(draws, method)
        names = [name for name in table.column_names if name != "secret"]
        release, rows = released(table, names, method, draws)
        original, copies = read_table(table), written(release, tmp_path)
        assert {".csv", ".parquet"} <= {*copies}
        for ending, copy in copies.items():
            joined = join_bounds(copy, original.columns)
            assert uncovered(original, joined, names, rows, {}) == [], (seed, ending)
            assert not_fitting(original, joined, names, rows) == [], (seed, ending)


TOWNS = [("Rome", "Italy", "Europe"), ("Bari", "Italy", "Europe"), ("Oslo", "Norway", "Europe"), ("Lima", "Peru", "*")]


@pytest.mark.parametrize("method", ["coarsen", "generalise", "partition"])
def test_names_of_hierarchies_cover_what_is_below_them(method, tmp_path):
    draws = np.random.default_rng(2)
    towns = [None if n == 4 else TOWNS[n][0] for n in draws.integers(0, 5, ROWS)]
    table = pa.table(
        {"town": towns, "age": draws.integers(0, 90, ROWS), "zip": draws.integers(100, 999, ROWS).astype(str)}
    )
    ladders = {
        "town": Hierarchy.from_rows(TOWNS),
        "age": Hierarchy.intervals([5, 20]),
        "zip": Hierarchy.prefixes([2, 1]),
    }
    options = {"levels": dict.fromkeys(ladders, 1)} if method == "coarsen" else {}
    safe = protect(
        table, quasi_identifiers=[*ladders], k=2, identifiers=[], hierarchies=ladders, method=method, **options
    )
    rows = np.arange(ROWS) if safe.kept_rows is None else safe.kept_rows
    for ending, copy in written(safe.table, tmp_path, [".csv", ".sav"]).items():
        named = {"town": ladders["town"]}
        assert uncovered(read_table(table), copy, [*ladders], rows, named) == [], ending


@pytest.mark.parametrize("ending", [".sav", ".dta", ".csv", ".parquet"])
def test_codes_with_labels_are_covered_by_either(ending, tmp_path):
    labels = {1: "never", 2: "often, or so", 3: "{daily}"}
    codes = np.random.default_rng(4).integers(1, 4, ROWS)
    codebook = FileCodebook(value_labels={"smokes": labels})
    source = write_table(
        pa.table({"smokes": [labels[code] for code in codes.tolist()]}), tmp_path / "t.sav", codebook=codebook
    )
    table = read_table(source)
    safe = protect(table, quasi_identifiers=["smokes"], k=9, identifiers=[])
    copy = read_table(write_table(safe.table, tmp_path / f"release{ending}", codebook=table.codebook))
    (now,) = encode(copy, ["smokes"])
    cover = read_labels(now.values, pa.array([1, 2, 3]), value_labels=labels)
    assert cover.pairs(now.codes, codes[np.arange(ROWS) if safe.kept_rows is None else safe.kept_rows] - 1).all()
