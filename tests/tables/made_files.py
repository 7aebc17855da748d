"""One small table of people as a file of every format, made by the library that owns the format."""

import bz2
import gzip
import lzma
import zipfile
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pyreadstat
import rdata

PLANTED = "Zaphod"  # a name that no message may hold
ROWS = 60
LABELS = {1.0: "male", 2.0: "female"}


def people(rows=ROWS):
    """A pandas frame: a name, codes, whole numbers, decimals, dates, nulls."""
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "name": [PLANTED] * rows,
            "age": generator.integers(0, 90, rows).astype(float),
            "sex": generator.integers(1, 3, rows).astype(float),
            "income": generator.normal(5e4, 1e4, rows).round(2),
            "zip": [f"{number:05d}" for number in generator.integers(0, 99_999, rows)],
            "born": [date.fromordinal(int(day)) for day in generator.integers(710_000, 735_000, rows)],
        }
    )
    frame.loc[3, "income"] = np.nan
    return frame


def arrow_people(rows=ROWS):
    return pa.Table.from_pandas(people(rows), preserve_index=False).replace_schema_metadata(None)


def _write_zip(frame, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", frame.to_csv(index=False))


def _write_fixed_width(frame, path):
    widths = {"name": 10, "age": 5, "sex": 4, "income": 12, "zip": 6, "born": 10}
    text = frame.astype(object).where(frame.notna(), "").map(str)
    lines = ["".join(str(row[name]).ljust(width) for name, width in widths.items()) for _, row in text.iterrows()]
    path.write_text("\n".join(lines) + "\n")
    starts = np.cumsum([1, *widths.values()])
    layout = [f"{name},{start},{width}" for (name, width), start in zip(widths.items(), starts, strict=False)]
    path.with_name("layout.csv").write_text("name,start,width\n" + "\n".join(layout) + "\n")


def _compressed(opener):
    def write(frame, path):
        with opener(path, "wb") as file:
            file.write(frame.to_csv(index=False).encode())

    return write


def _write_zstandard(frame, path):
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(frame.to_csv(index=False).encode())


def _for_r(frame):
    frame = frame.drop(columns="born").assign(sex=pd.Categorical(frame["sex"].map(LABELS)))
    return frame.assign(name=frame["name"].astype(object), zip=frame["zip"].astype(object))


WRITERS = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".parquet": lambda frame, path: pq.write_table(arrow_people(len(frame)), path),
    ".feather": lambda frame, path: pyarrow.feather.write_feather(arrow_people(len(frame)), str(path)),
    ".orc": lambda frame, path: pyarrow.orc.write_table(arrow_people(len(frame)), str(path)),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".jsonl": lambda frame, path: frame.astype({"born": str}).to_json(path, orient="records", lines=True),
    ".sav": lambda frame, path: pyreadstat.write_sav(frame, path, variable_value_labels={"sex": LABELS}),
    ".zsav": lambda frame, path: pyreadstat.write_sav(
        frame, path, variable_value_labels={"sex": LABELS}, compress=True
    ),
    ".por": lambda frame, path: pyreadstat.write_por(frame.rename(columns=str.upper), path),
    ".dta": lambda frame, path: pyreadstat.write_dta(frame, path, variable_value_labels={"sex": LABELS}),
    ".xpt": lambda frame, path: pyreadstat.write_xport(frame, path, file_format_version=8),
    ".rds": lambda frame, path: rdata.write_rds(path, _for_r(frame)),
    ".RData": lambda frame, path: rdata.write_rda(path, {"people": _for_r(frame)}),
    ".fwf": _write_fixed_width,
    ".csv.gz": _compressed(gzip.open),
    ".csv.bz2": _compressed(bz2.open),
    ".csv.xz": _compressed(lzma.open),
    ".csv.zst": _write_zstandard,
    ".zip": _write_zip,
}
"""By ending, what writes the frame to a path."""


def make_file(folder, ending, rows=ROWS):
    """A file of the people, and the options that open it."""
    path = folder / f"people{ending}"
    WRITERS[ending](people(rows), path)
    return path, {"layout": folder / "layout.csv"} if ending == ".fwf" else {}
