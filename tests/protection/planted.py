"""Tables with planted values, every method that protects them, and the raw bytes of what is released."""

import json
import re
import struct
import zlib
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet

from incrowd import Hierarchy, protect
from incrowd._support.compressed_files import COMPRESSIONS
from incrowd.tables.formats import WRITERS

QIS = ["zip", "age", "income"]
ROWS = 60
FORMATS = sorted({*WRITERS} - {".pq", ".arrow"}) + [f".csv{ending}" for ending in COMPRESSIONS]
_PREFIXES = {"hierarchies": {"zip": Hierarchy.prefixes([6, 5])}}
METHODS = {
    "partition": {},
    "partition with a hierarchy": _PREFIXES,
    "partition with t": {"t": "bound", "sensitive": ["illness"]},
    "partition with l": {"l": 2, "sensitive": ["illness"]},
    "partition with wishes": {"importance": {"age": 3}, "widest": {"age": 40}, "suppress": 0.5} | _PREFIXES,
    "partition in numbers": {"output": {"age": "bounds", "income": "mean", "zip": "mode"}},
    "sorted": {"method": "sorted"},
    "tcloseness": {"method": "tcloseness", "t": "bound", "sensitive": ["illness"]},
    "coarsen": {"method": "coarsen", "resolution": {"age": 3, "income": 3}, "levels": {"zip": 1}}
    | {"hierarchies": {"zip": Hierarchy.prefixes([5])}},
    "generalise": {"method": "generalise", "suppress": 0.3} | _PREFIXES,
    "blank": {"method": "blank"},
    "mask": {"method": "mask", "steps": [("age", "ranges=3"), ("income", "ranges=2"), ("zip", "keep=6")]},
    "perturb": {"method": "perturb", "steps": [("age", "round=10"), ("income", "round=1000"), ("zip", "pram=0.8")]},
    "perturb with means and dates": {
        "method": "perturb",
        "steps": [("age+income", "microaggregate=3"), ("seen", "shiftdates=400,person=who"), ("zip", "recordswap=0.2")],
        "identifiers": ["who"],
    },
    "perturb with noise and ends": {
        "method": "perturb",
        "steps": [
            *(
                ("age", "noise=0.3"),
                ("age+income", "correlated=0.2"),
                ("income", "top=10050"),
                ("income", "bottom=10010"),
            ),
            *(("hidden", "rankswap=0.5"), ("age", "shuffle")),
        ],
    },
    "histories": {"person": "who"},
    "histories under a key": {"person": "who", "key": bytes(range(7, 71))},
    "partition for a k-map": {"k_map": 4, "population": 400.0},
}


def planted(seed, rows=ROWS):
    """A table of dictionaries with values of their own for many, of which some are used by nobody."""
    draw = np.random.default_rng(seed)
    people = np.sort(draw.integers(0, rows // 2, rows))
    illnesses = [f"illness{code:03}" for code in range(12)] + ["illness-of-nobody"]
    illness = np.where(draw.random(rows) < 0.5, 0, draw.integers(0, 12, rows))
    numbers = pa.array(draw.integers(0, 9, rows), mask=draw.random(rows) < 0.3)
    seen = np.random.default_rng([seed, 1]).integers(10**15, 10**15 + 10**14, rows)
    table = pa.table(
        {
            "who": [f"person{code:05}" for code in people],
            "zip": pa.array([f"zip{code:05}" for code in draw.integers(10_000, 10_040, rows)]).dictionary_encode(),
            "age": draw.integers(20, 90, rows),
            "illness": pa.DictionaryArray.from_arrays(pa.array(illness.astype(np.int32)), illnesses),
            "note": [f"note{code:05}" for code in draw.permutation(rows)],
            "hidden": numbers,
            "income": 10_000 + draw.permutation(rows) + draw.integers(1, 1_000, rows) / 1_024,
            "seen": pa.array(seen, pa.timestamp("us")),
        }
    )
    table = table.replace_schema_metadata({"about": "metadata-of-the-original", "pandas": json.dumps({"x": "secret"})})
    return table.set_column(3, pa.field("illness", table["illness"].type, metadata={"of": "field-metadata"}), table[3])


def protected(table, asked, warn=False):
    """The table with classes of three."""
    return protect(table, quasi_identifiers=QIS, k=3, warn=warn, **{"identifiers": [], **asked})


def gone(table, released):
    """The originals that no released cell holds, not even as a part of a set or a range; texts, or bytes of numbers."""
    cells = "\n".join(
        str(cell) for name in released.column_names for cell in released[name].unique().to_pylist() if cell is not None
    )
    texts = {"metadata-of-the-original", "field-metadata", "illness-of-nobody"}
    texts |= {cell for name in ("who", "zip", "illness", "note") for cell in table[name].to_pylist()}
    numbers = [number for number in table["income"].to_pylist() if repr(number) not in cells]
    times = [time for time in table["seen"].to_pylist() if str(time) not in cells]
    found = [text.encode() for text in sorted(texts) if text not in cells]
    found += [form for number in numbers for form in (repr(number).encode(), struct.pack("<d", number))]
    return found + [form for time in times for form in (str(time).encode(), time.isoformat().encode(), _ticks(time))]


def _ticks(time):
    """A time as Arrow stores it: microseconds since 1970."""
    return struct.pack("<q", (time - datetime(1970, 1, 1)) // timedelta(microseconds=1))


def raw_bytes(file):
    """All that a file holds, unpacked where it is packed."""
    packing = COMPRESSIONS.get(Path(file).suffix.lower())
    if packing is not None:
        with packing(file, "rb") as opened:
            return opened.read()
    raw = Path(file).read_bytes()
    return raw + b"".join(_unpacked(raw)) if Path(file).suffix == ".zsav" else raw


def _unpacked(raw):
    """Every stream of zlib within the bytes."""
    for start in (match.start() for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", raw)):
        try:
            yield zlib.decompressobj().decompress(raw[start:])
        except zlib.error:
            continue


def unpacked_files(monkeypatch):
    """Let files hold their bytes as they are, so that they can be searched."""
    parquet, feather, orc = pyarrow.parquet.write_table, pyarrow.feather.write_feather, pyarrow.orc.write_table
    monkeypatch.setattr(pyarrow.parquet, "write_table", lambda t, f, **_: parquet(t, f, compression="none"))
    monkeypatch.setattr(pyarrow.feather, "write_feather", lambda t, f: feather(t, f, compression="uncompressed"))
    monkeypatch.setattr(pyarrow.orc, "write_table", lambda t, f, compression: orc(t, f, compression="uncompressed"))


def rows_of_file(file):
    """The rows of a released file as dictionaries, by another reader than incrowd's own."""
    kind = file.suffix.lower()
    if kind == ".parquet":
        return pyarrow.parquet.read_table(file).to_pylist()
    if kind == ".feather":
        return pyarrow.feather.read_table(file).to_pylist()
    if kind == ".orc":
        return pyarrow.orc.read_table(file).to_pylist()
    if kind in (".sav", ".zsav", ".dta", ".xpt"):
        import pyreadstat

        read = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}.get(kind, pyreadstat.read_sav)
        frame, _ = read(str(file), disable_datetime_conversion=True)
        return frame.astype(object).where(frame.notna(), None).to_dict("records")
    import csv

    lines = raw_bytes(file).decode().splitlines()
    return list(csv.DictReader(lines, delimiter="\t" if kind == ".tsv" else ","))


def smallest_class(rows, names):
    """The fewest rows that share their cells in these columns."""
    keys = [tuple(str(row[name]) for name in names) for row in rows]
    counts = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return min(counts.values())
