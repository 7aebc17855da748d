"""A whole file of every format, small, with planted values that no output may show; and the commands that read it."""

import gzip
import io
import json
import random
import sqlite3
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
from tests.fuzz import mutate

PLANTED = "Zyxwvut"  # begins every planted value
ROWS = 40
TABLE = {
    "age": [20 + n % 9 for n in range(ROWS)],
    "sex": ["fm"[n % 2] for n in range(ROWS)],
    "zip": [f"0{100 + n % 4}" for n in range(ROWS)],
    "income": [1_000.5 + n for n in range(ROWS)],
    "seen": [f"2024-01-{1 + n % 28:02d}" for n in range(ROWS)],
    "note": [f"{PLANTED}{n}" for n in range(ROWS)],
}
READ = ["--qi", "age,sex,zip"]
COMMANDS = [
    ["measure", "FILE", *READ, "--json"],
    ["measure", "FILE", *READ, "--sensitive", "note"],
    ["profile", "FILE", "--json"],
    ["check", "FILE", *READ, "--min-k", "2"],
    ["protect", "FILE", *READ, "--k", "2", "--out", "OUT.csv"],
    ["protect", "FILE", *READ, "--k", "2", "--method", "mask", "--step", "zip:*", "--out", "OUT.parquet"],
    ["curve", "FILE", *READ, "--out", "OUT.csv"],
    ["leak", "FILE", *READ, "--leaked", "5", "--targets", "2"],
]


def _csv():
    names = list(TABLE)
    return "\n".join(
        [",".join(names), *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True))]
    ).encode()


def _arrow():
    table = pa.table(TABLE)
    return table.set_column(2, "zip", table["zip"].dictionary_encode())


def _written(write):
    out = io.BytesIO()
    write(_arrow(), out)
    return out.getvalue()


def _excel():
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(TABLE))
    for row in zip(*TABLE.values(), strict=True):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _json_lines():
    names = list(TABLE)
    return "\n".join(
        json.dumps(dict(zip(names, row, strict=True))) for row in zip(*TABLE.values(), strict=True)
    ).encode()


def _sqlite(folder):
    file = Path(folder) / "seed.sqlite"
    file.unlink(missing_ok=True)
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE people (age INT, sex TEXT, zip TEXT, income REAL, seen TEXT, note TEXT)")
        connection.executemany("INSERT INTO people VALUES (?,?,?,?,?,?)", zip(*TABLE.values(), strict=True))
    connection.close()
    return file.read_bytes()


def _statistics(folder):
    """Files of statistics packages, where the extra that reads them is installed."""
    try:
        import pandas as pd
        import pyreadstat
    except ImportError:
        return {}
    found = {}
    for ending, write in (
        (".sav", pyreadstat.write_sav),
        (".dta", pyreadstat.write_dta),
        (".xpt", pyreadstat.write_xport),
    ):
        file = Path(folder) / f"seed{ending}"
        write(pd.DataFrame(TABLE), str(file))
        found[ending] = (file.read_bytes(), ending, mutate.bytes_anywhere, COMMANDS[:3])
        file.unlink()
    return found


_POLICY = b"""[columns]
quasi_identifiers = ["age", "sex"]
sensitive = ["note"]

[rules]
min_k = 2
max_uniqueness = 0.5
"""


def _question():
    from incrowd.assessment import Question
    from incrowd.assessment.settings_file import to_toml

    asked = Question(quasi_identifiers=["age", "sex"], population=1_000, recipient="public", protection=False)
    return to_toml(asked).encode()


_HIERARCHY = "\n".join(f"0{100 + n};01{n // 2};*" for n in range(4)).encode()
_RANGES = "\n".join(
    ["age,sex,zip", *(f'[{20 + n % 9 // 3 * 3};{22 + n % 9 // 3 * 3}],"{{f,m}}",*' for n in range(ROWS))]
).encode()
_CURVE = b"n,correctness\n10,0.99\n100,0.95\n1000,0.85\n10000,0.7\n"


def targets(folder):
    """Every kind of input: its whole file, its ending, its mutation, and the commands that read it."""
    (Path(folder) / "plain.csv").write_bytes(_csv())
    feather = _written(lambda table, out: pyarrow.feather.write_feather(table, out, compression="lz4"))
    bare = _written(lambda table, out: pyarrow.feather.write_feather(table, out, compression="uncompressed"))
    parquet = _written(lambda table, out: pq.write_table(table, out))
    plain = _written(lambda table, out: pq.write_table(table, out, compression="none", use_dictionary=False))
    lines = _json_lines()
    array = b"[" + lines.replace(b"\n", b",\n") + b"]"
    text, binary = mutate.lines_and_cells, mutate.bytes_anywhere
    measure = COMMANDS[:4]
    recode = ["protect", "plain.csv", *READ, "--k", "2", "--method", "generalise", "--hierarchy", "zip=FILE"]
    recode += ["--out", "OUT.csv"]
    assess = ["assess", "plain.csv", "--config", "FILE", "--json"]
    forecast = [["forecast", "FILE", "--at", "100000"], ["forecast", "FILE", "--at", "us", "--json"]]
    sqlite = [[*command, "--table", "people"] for command in measure if command[0] != "check"]
    return {
        **_statistics(folder),
        "csv.gz": (gzip.compress(_csv(), mtime=0), ".csv.gz", binary, measure),
        "csv": (_csv(), ".csv", text, COMMANDS),
        "tsv": (_csv().replace(b",", b"\t"), ".tsv", text, measure),
        "parquet": (parquet, ".parquet", binary, COMMANDS),
        "parquet plain": (plain, ".parquet", binary, measure),
        "feather": (feather, ".feather", binary, COMMANDS),
        "feather bare": (bare, ".feather", binary, measure),
        "excel": (_excel(), ".xlsx", mutate.zip_parts, COMMANDS),
        "json lines": (lines, ".jsonl", mutate.json_values, COMMANDS),
        "json": (array, ".json", mutate.json_values, measure),
        "sqlite": (_sqlite(folder), ".sqlite", binary, sqlite),
        "policy": (_POLICY, ".toml", text, [["check", "plain.csv", "--policy", "FILE"]]),
        "question": (_question(), ".toml", text, [assess]),
        "hierarchy": (_HIERARCHY, ".csv", text, [recode]),
        "ranges": (_RANGES, ".csv", text, [["evaluate", "plain.csv", "FILE", *READ], ["measure", "FILE", *READ]]),
        "curve": (_CURVE, ".csv", text, forecast),
    }  # fmt: skip


def case(target, rng: random.Random):
    """A mutated file and a command for it."""
    data, _, mutation, commands = target
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        try:
            data = mutation(data, rng)
        except (
            ValueError,
            IndexError,
            OSError,
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            RuntimeError,
            EOFError,
        ):
            data = mutate.bytes_anywhere(data, rng)  # the last mutation left nothing that has a structure
    return data, rng.choice(commands)
