"""A release at a given k as `protect` writes it, with its mark, and the verdict of `assess` on that file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

import incrowd
from benchmarks.decision.running import Ran, role_words, run
from incrowd.protection import write_protected


@dataclass(frozen=True, slots=True)
class Release:
    """A released file, its verdict, and the CPU seconds of protecting and of judging."""

    path: Path
    protected: Any
    ran: Ran
    cpu_protect: float

    @property
    def frame(self) -> pd.DataFrame:
        """The released cells."""
        table = self.protected.table
        return table.to_pandas() if hasattr(table, "to_pandas") else pd.DataFrame(table)


def release(
    folder: str | Path,
    table: pa.Table | pd.DataFrame,
    known: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    other: Sequence[str] = (),
    k: int = 11,
    shuffle: bool = True,
    recipient: str = "public",
    extra: Sequence[str] = (),
) -> Release:
    """Protect a table with classes of k, write it beside its mark, and judge the file with these answers for columns.

    A column may be known and sensitive. Where the program takes one answer for a column, the known ones win.
    """
    secrets = list(sensitive)
    if set(secrets) & set(known) and not _takes_both():
        secrets = [name for name in secrets if name not in known]
    started = time.process_time()
    protected = incrowd.protect(
        table, quasi_identifiers=list(known), k=k, sensitive=secrets, other=list(other), identifiers=[], shuffle=shuffle
    )
    path = Path(folder) / f"release{k}.parquet"
    for stale in Path(folder).glob(f"{path.stem}.*"):
        stale.unlink()
    write_protected(protected, str(path))
    cpu = time.process_time() - started
    roles = role_words(known, secrets, other)
    asked = ["--recipient", recipient, "--rows-are-people", "--no-protection", "--json"]
    return Release(path, protected, run(folder, ["incrowd", "assess", path.name, *roles, *asked, *extra]), cpu)


def class_numbers(frame: pd.DataFrame, known: Sequence[str]) -> NDArray[np.int64]:
    """The class of every released row, counted from its labels."""
    names = list(known)
    texts = frame[names].astype(str)
    return np.asarray(texts.groupby(names, sort=False, dropna=False).ngroup().to_numpy(), np.int64)


_BOTH: list[bool] = []


def _takes_both() -> bool:
    """Whether a column may be named known and sensitive."""
    if not _BOTH:
        table = {"a": ["x", "y"] * 20, "b": ["u"] * 40}
        try:
            incrowd.assess(table, quasi_identifiers=["a"], sensitive=["a"], other=["b"], protection=False)
            _BOTH.append(True)
        except incrowd.InputError:
            _BOTH.append(False)
    return _BOTH[0]
