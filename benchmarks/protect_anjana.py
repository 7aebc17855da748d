"""Run in the environment of the ANJANA package: full-domain k-anonymity on a table with the given hierarchies."""
# mypy: ignore-errors

import sys
import time
from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity

work, folder = Path(sys.argv[1]), Path(sys.argv[2])
frame = pd.read_parquet(work / "in.parquet").astype(str)
names = list(frame.columns)
files = {name: folder / f"{name.replace('_', '-')}.csv" for name in names} | {"income": folder / "salary-class.csv"}
levels = {name: dict(pd.read_csv(files[name], sep=";", header=None, dtype=str)) for name in names}
started = time.perf_counter()
safe = k_anonymity(frame, [], names, 5, 5, levels)  # k = 5; at most 5 % of the rows may go
seconds = time.perf_counter() - started
safe[names].to_parquet(work / "out.parquet", index=False)
print(seconds)
