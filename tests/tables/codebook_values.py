"""Values for the columns of the lists of codebooks, packages and questions, by the kind that each is said to have."""

import tomllib
import uuid
from pathlib import Path

import numpy as np

ROWS = 600


def read_codebooks(list_="role_codebooks.toml"):
    """By file: the kind of values of each column, and the roles that are right for it."""
    listed = tomllib.loads(Path(__file__).with_name(list_).read_text(encoding="utf-8"))
    return {
        file: {
            column.rpartition(":")[0]: (column.rpartition(":")[2], set(roles.split(" or ")))
            for roles, columns in entries.items()
            for column in (columns.split() if isinstance(columns, str) else columns)
        }
        for file, entries in listed.items()
    }


def draw_table(kinds, seed=0):
    """A table of these columns: a dictionary of names and kinds of values."""
    draw = np.random.default_rng(seed)
    return {name: _draw(kind, draw) for name, kind in kinds.items()}


def _draw(kind, draw):
    if kind.startswith("c") and kind[1:].isdigit():  # codes, the first ones more frequent
        return np.minimum(draw.integers(1, int(kind[1:]) + 1, ROWS), draw.integers(1, int(kind[1:]) + 1, ROWS))
    if kind in _NUMBERS:
        return _NUMBERS[kind](draw)
    if kind in _CHOICES:
        return draw.choice(_CHOICES[kind], ROWS)
    return np.array(_TEXTS[kind](draw), dtype=object)


def _dates(draw, unit="D"):
    days = np.datetime64("2001-01-01", unit) + draw.integers(0, 7_000 * (1 if unit == "D" else 86_400), ROWS)
    return [str(day) for day in days]


def _sparse(values, draw):
    return [value if there else None for value, there in zip(values, draw.random(ROWS) < 0.1, strict=True)]


def _codes(draw, form):
    """Codes in which 0 stands for a digit and A for a letter."""
    letters = "ABCDEFGHJKLMNPRSTW"
    return [
        "".join(
            str(draw.integers(10)) if sign == "0" else draw.choice([*letters]) if sign == "A" else sign for sign in form
        )
        for _ in range(ROWS)
    ]


_NUMBERS = {
    "id": lambda draw: draw.permutation(np.arange(10_000, 10_000 + 3 * ROWS))[:ROWS],
    "person": lambda draw: np.repeat(draw.permutation(np.arange(5_000, 5_000 + ROWS))[: ROWS // 3], 3),
    "household": lambda draw: np.sort(draw.choice(np.arange(20_000, 20_000 + ROWS), ROWS // 2))[
        draw.integers(0, ROWS // 2, ROWS)
    ],
    "psu": lambda draw: np.repeat(np.arange(41_000, 41_000 + ROWS // 10), 10),
    "weight": lambda draw: draw.lognormal(7, 0.5, ROWS),
    "factor": lambda draw: draw.lognormal(-0.1, 0.45, ROWS),
    "age": lambda draw: np.minimum(draw.gamma(4, 12, ROWS), 95).astype(int),
    "year": lambda draw: 2010 - np.minimum(draw.gamma(4, 12, ROWS), 95).astype(int),
    "cmc": lambda draw: draw.integers(700, 1_300, ROWS),
    "count": lambda draw: draw.poisson(2, ROWS),
    "hours": lambda draw: np.where(draw.random(ROWS) < 0.5, 40, draw.integers(1, 80, ROWS)),
    "money": lambda draw: np.round(draw.lognormal(10, 0.8, ROWS), -1).astype(int),
    "measure": lambda draw: np.round(draw.normal(50, 12, ROWS), 1),
    "kilos": lambda draw: np.round(draw.normal(75, 13, ROWS), 1),
    "pounds": lambda draw: draw.normal(165, 30, ROWS).astype(int),
    "inches": lambda draw: draw.normal(67, 4, ROWS).astype(int),
    "centimetres": lambda draw: np.round(draw.normal(170, 10, ROWS), 1),
    "grams": lambda draw: draw.normal(3_400, 400, ROWS).astype(int),
    "isco": lambda draw: draw.choice(draw.integers(1_000, 9_700, 130), ROWS),
    "concept": lambda draw: draw.choice(draw.integers(30_000, 4_000_000, 90), ROWS),
    "mmddyyyy": lambda draw: draw.integers(1, 13, ROWS) * 1_000_000 + draw.integers(1, 29, ROWS) * 10_000 + 2_015,
    "mmyyyy": lambda draw: draw.integers(1, 13, ROWS) * 10_000 + draw.integers(1_930, 2_010, ROWS),
}
_CHOICES = {
    "country": ["AT", "BE", "DE", "ES", "FR", "NL", "PL"],
    "country3": ["LOC", "EU", "OTH"],
    "region": ["AT11", "AT12", "AT13", "DE21", "FR10", "ES30", "PL91"],
    "sex": ["F", "M"],
    "gender": ["female", "male", "other"],
    "marital": ["MARRIED", "SINGLE", "WIDOWED", "DIVORCED"],
    "city": ["Ahausen", "Bestadt", "Cedorf", "Dehafen", "Eberg", "Efhofen", "Gemünd", "Hafeld"],
    "state": ["CA", "NY", "TX", "WA", "MA", "OH"],
    "provider": [f"P{number:04}" for number in range(60)],
    "postdist": ["SW1", "N16", "LS2", "M20", "BS8", "EH9"],
}
_TEXTS = {
    "date": _dates,
    "moment": lambda draw: _dates(draw, "s"),
    "sparse_date": lambda draw: _sparse(_dates(draw), draw),
    "sparse_moment": lambda draw: _sparse(_dates(draw, "s"), draw),
    "code": lambda draw: _codes(draw, "AAA00000000"),
    "icd": lambda draw: draw.choice(_codes(draw, "A00.0")[:90], ROWS),
    "opcs": lambda draw: draw.choice(_codes(draw, "A000")[:90], ROWS),
    "lsoa": lambda draw: draw.choice(_codes(draw, "E010000")[:150], ROWS),
    "postcode": lambda draw: _codes(draw, "AA0 0AA"),
    "zip": lambda draw: draw.choice(_codes(draw, "00000")[:120], ROWS),
    "phone": lambda draw: _codes(draw, "+44 20 7000 0000"),
    "uuid": lambda draw: [str(uuid.UUID(bytes=draw.bytes(16))) for _ in range(ROWS)],
    "name": lambda draw: [name.title() for name in _codes(draw, "AaAeAoAer".replace("a", "A"))],
    "street": lambda draw: [
        f"{number} {name.title()} Street"
        for number, name in zip(draw.integers(1, 99, ROWS), _codes(draw, "AAAAA"), strict=True)
    ],
}
