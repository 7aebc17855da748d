"""Run in the environment of the anonypy package: Mondrian on a table, its classes written as ours are."""
# mypy: ignore-errors

import sys
import time
from pathlib import Path

import anonypy
import pandas as pd

work = Path(sys.argv[1])
frame = pd.read_parquet(work / "in.parquet")
names = list(frame.columns)
for name in names:
    if frame[name].dtype == object or not pd.api.types.is_numeric_dtype(frame[name]):
        frame[name] = frame[name].astype("category")
frame["secret"] = "x"  # it wants a sensitive column
started = time.perf_counter()
rows = anonypy.Preserver(frame, names, "secret").anonymize_k_anonymity(k=5)
seconds = time.perf_counter() - started


def label(name, value):
    """Its ranges 17-21 as [17;21], its lists a,b as {a,b}."""
    if isinstance(value, list):
        value = ",".join(map(str, value))
    text = str(value)
    if name == "age":
        low, dash, high = text.partition("-")
        return f"[{int(float(low))};{int(float(high))}]" if dash else str(int(float(low)))
    return "{" + text + "}" if "," in text else text


out = pd.DataFrame([{name: label(name, row[name]) for name in names} for row in rows for _ in range(row["count"])])
out.to_parquet(work / "out.parquet")
print(seconds)
