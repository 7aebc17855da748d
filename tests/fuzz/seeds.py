"""A whole file of every format, small, with planted values that no output may show; and the commands that read it."""

import gzip
import io
import json
import random
import sqlite3
import zipfile
import zlib
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
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
NEWER = {**TABLE, "age": [age + 30 for age in TABLE["age"]], "income": [pay + 99 for pay in TABLE["income"]]}  # others
READ = ["--qi", "age,sex,zip"]
BASE = "mutated.base.csv"  # a release whose mark is mutated
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


def _csv(table=TABLE):
    return "\n".join(
        [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
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
    """Files of statistics packages and of R, where the extra that reads them is installed."""
    try:
        import pandas as pd
        import pyreadstat
        import rdata
    except ImportError:
        return {}
    frame, names = pd.DataFrame(TABLE), (READ[1], "note")
    texts = frame.astype({"sex": object, "zip": object, "seen": object, "note": object})
    writers = {
        ".sav": lambda file: pyreadstat.write_sav(frame, file),
        ".zsav": lambda file: pyreadstat.write_sav(frame, file, compress=True),
        ".por": lambda file: pyreadstat.write_por(frame, file),
        ".dta": lambda file: pyreadstat.write_dta(frame, file),
        ".xpt": lambda file: pyreadstat.write_xport(frame, file),
        ".rds": lambda file: rdata.write_rds(file, texts, compression=None),
        ".RData": lambda file: rdata.write_rda(file, {"people": texts}),
    }
    found = {}
    for ending, write in writers.items():
        file = Path(folder) / f"seed{ending}"
        write(str(file))
        found[ending] = (file.read_bytes(), ending, mutate.bytes_anywhere, COMMANDS[:3])
        file.unlink()
    data, *others, commands = found[".por"]  # its names are large letters
    found[".por"] = (
        data,
        *others,
        [[word.upper() if word in names else word for word in command] for command in commands],
    )
    return found


def _zip(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def _open_document():
    rows = [list(TABLE), *zip(*TABLE.values(), strict=True)]
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = "".join(f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>" for row in rows)
    names = [f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")]
    content = (
        f'<?xml version="1.0"?><office:document-content {" ".join(names)}><office:body><office:spreadsheet>'
        f'<table:table table:name="one">{lines}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return _zip({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": "<manifest/>"})


_WIDTHS = {"age": 3, "sex": 2, "zip": 5, "income": 8, "seen": 11, "note": 10}


def _fixed_width():
    """Lines of cells, and the layout that says where they stand."""
    rows = zip(*TABLE.values(), strict=True)
    lines = ["".join(str(cell).ljust(width) for cell, width in zip(row, _WIDTHS.values(), strict=True)) for row in rows]
    starts = accumulate(_WIDTHS.values(), initial=1)
    layout = [f"{name},{start},{width}" for (name, width), start in zip(_WIDTHS.items(), starts, strict=False)]
    return "\n".join(lines).encode(), "\n".join(["name,start,width", *layout]).encode()


def _release(folder):
    """A released file stays in the folder; its mark."""
    from incrowd.protection import protect, write_protected
    from incrowd.protection.marks import mark_of

    file = write_protected(protect(pa.table(TABLE), quasi_identifiers=READ[1].split(","), k=2), Path(folder) / BASE)
    mark = mark_of(file).read_bytes()
    mark_of(file).unlink()
    return mark


_POLICY = b"""[answers]
age = "known"
sex = "both"
note = "sensitive?"

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
    plain = _written(lambda table, out: pq.write_table(table, out, compression=None, use_dictionary=False))
    lines = _json_lines()
    array = b"[" + lines.replace(b"\n", b",\n") + b"]"
    text, binary = mutate.lines_and_cells, mutate.bytes_anywhere
    measure = COMMANDS[:4]
    recode = ["protect", "plain.csv", *READ, "--k", "2", "--method", "generalise", "--hierarchy", "zip=FILE"]
    recode += ["--out", "OUT.csv"]
    assess = ["assess", "plain.csv", "--question", "FILE", "--json"]
    forecast = [["forecast", "FILE", "--at", "100000"], ["forecast", "FILE", "--at", "us", "--json"]]
    fixed, layout = _fixed_width()
    (Path(folder) / "fixed.txt").write_bytes(fixed)
    (Path(folder) / "layout.csv").write_bytes(layout)
    by_layout = [[*command, "--layout", "layout.csv"] for command in measure]
    (Path(folder) / "newer.csv").write_bytes(_csv(NEWER))
    mark = _release(folder)
    judged = [["assess", BASE, *READ, *also] for also in (["--json"], ["--other", "income,seen,note"])]
    judged += [["check", BASE, *READ, "--recipient", "public"], ["compare", BASE, "plain.csv", *READ]]
    judged += [
        ["protect", BASE, *READ, "--k", "3", "--out", "OUT.csv"],
        ["attack", "plain.csv", BASE, "--known", READ[1]],
    ]
    append = ["protect", "newer.csv", "--append", BASE, "--widest", "age=5", "--out", "OUT.csv"]
    covered = ["protect", "plain.csv", *READ, "--k-map", "2", "--population-table", "FILE", "--out", "OUT.csv"]
    folded = [[*command, "--fold", "--null", "NA,.,-9", "--null", "age=97-99"] for command in COMMANDS]
    sqlite = [[*command, "--table", "people"] for command in measure if command[0] != "check"]
    return {
        **_statistics(folder),
        "csv.gz": (gzip.compress(_csv(), mtime=0), ".csv.gz", binary, measure),
        "csv": (_csv(), ".csv", text, COMMANDS + folded),
        "population": (_csv(), ".csv", text, [covered]),
        "zip": (_zip({"one.csv": _csv()}), ".zip", mutate.zip_parts, measure),
        "fixed width": (fixed, ".txt", text, by_layout),
        "layout": (layout, ".csv", text, [["measure", "fixed.txt", *READ, "--layout", "FILE"]]),
        "mark": (mark, ".base.csv.incrowd", mutate.json_values, [append, ["measure", BASE, *READ]]),
        "mark tree": (mark, ".base.csv.incrowd", mutate.json_tree, [*judged, append]),
        "open document": (_open_document(), ".ods", mutate.zip_parts, measure),
        "orc": (_written(lambda table, out: pyarrow.orc.write_table(pa.table(TABLE), out)), ".orc", binary, measure),
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
