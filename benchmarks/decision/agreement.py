"""The same question asked of every command that decides: do the answers agree?"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import incrowd
from benchmarks.decision import laws
from benchmarks.decision.releases import release
from benchmarks.decision.running import Ran, Row, Rows, measured, role_words, run, write_table
from benchmarks.decision.tables import WITH_SECRETS, chosen

_ASKED = ("--recipient", "public", "--rows-are-people")
_SECRET = "illness"


def _cases(tables: int) -> Iterator[tuple[str, pa.Table, list[str], list[str], list[str]]]:
    """Name, table, known, sensitive and other columns: public tables, then relations at three sizes."""
    count = 0
    for public in chosen(None, WITH_SECRETS):
        table = public.read(1_000).drop_columns(public.left_out)
        yield public.name, table, list(public.known), [], public.kept(table)
        count += 1
    for seed, size in enumerate((600, 1_000, 1_500)):
        for law in laws.families():
            if count >= tables:
                return
            known, kept = laws.make(law, size, seed)
            table = pa.Table.from_pandas(known.join(kept), preserve_index=False)
            other = [name for name in kept.columns.tolist() if name != _SECRET]
            yield f"{law.name}, {law.noise}, {size}", table, known.columns.tolist(), [_SECRET], other
            count += 1


def run_agreement(asked: argparse.Namespace) -> None:
    """`assess`, `check`, the report, `attack`, `protect --recipient` and `frontier` on the same release."""
    columns = ("table", "assess", "original", "check", "report", "attack", "protect", "file", "frontier", "differs")
    rows = Rows("agreement", ("table",), columns)
    for name, table, known, sensitive, other in _cases(asked.tables or 60):
        if asked.names and name not in asked.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                row = _answers(folder, table, known, sensitive, other)
            except incrowd.IncrowdError as error:
                row = {"assess": f"refused: {error}", "differs": []}
            rows.add({"table": name, **row})
    stored = list(rows)
    differing = [row["table"] for row in stored if row["differs"]]
    print(f"\nThe answers differ on {len(differing)} of {len(stored)} tables: {', '.join(differing)}")


def _answers(folder: str, table: pa.Table, known: Sequence[str], sensitive: Sequence[str], other: Sequence[str]) -> Row:
    write_table(folder, table)
    roles = role_words(known, sensitive, other)
    released = release(folder, table, known, sensitive=sensitive, other=other)
    name = released.path.name
    by_original = _ask(folder, "assess", name, *roles, "--original", "table.parquet", "--no-protection", "--json")
    checked = _ask(folder, "check", name, *roles, "--json")
    row: Row = {"assess": released.ran.decision, "original": by_original.decision, "check": checked.decision}
    row["report"] = _of_report(folder, name, roles, released.ran)
    row["attack"] = _of_attack(folder, name, known, sensitive, released.ran)
    protected = _ask(folder, "protect", "table.parquet", *roles, "--out", "safe.parquet", "--json")
    row["protect"] = _decision_in(protected)
    row["file"] = ""
    if (Path(folder) / "safe.parquet").exists():
        kept = _columns(folder, "safe.parquet")
        left = [[column for column in names if column in kept] for names in (known, sensitive, other)]
        judged = _ask(folder, "assess", "safe.parquet", *role_words(*left), "--no-protection", "--json")
        row["file"] = judged.decision
    points = run(
        folder,
        ["incrowd", "frontier", "table.parquet", *roles, *_ASKED, "--k", "11", "--method", "partition", "--json"],
    )
    row["frontier"] = _decision_of_point(points)
    return {**row, "differs": _differences(row)}


def _ask(folder: str, verb: str, *words: str) -> Ran:
    return run(folder, ["incrowd", verb, *words, *_ASKED])


def _of_report(folder: str, name: str, roles: Sequence[str], ran: Ran) -> str:
    """The decision that the page shows, by its headline."""
    _ask(folder, "assess", name, *roles, "--no-protection", "--html", "page.html")
    page = Path(folder) / "page.html"
    headline = str(ran.verdict.get("headline", ""))
    return ran.decision if page.exists() and headline in page.read_text(encoding="utf-8") else "another headline"


def _of_attack(folder: str, name: str, known: Sequence[str], sensitive: Sequence[str], ran: Ran) -> str:
    """What the attack measures beside what the verdict says it measured; "same" where both say the same."""
    words = ["incrowd", "attack", "table.parquet", name, "--known", ",".join(known), "--json"]
    for secret in sensitive[:1]:
        words += ["--secret", secret]
    attacked = measured(run(folder, words).answer)
    decided = measured(ran.answer)
    if not attacked or not decided:
        return "not comparable"
    shared = [key for key in attacked if key in decided and isinstance(attacked[key], (int, float, list, dict))]
    return "same" if shared and all(attacked[key] == decided[key] for key in shared) else "other numbers"


def _decision_in(ran: Ran) -> str:
    answer = ran.answer or {}
    verdict = answer.get("verdict") or {}
    return str(verdict.get("decision") or answer.get("decision") or f"exit {ran.code}")


def _decision_of_point(ran: Ran) -> str:
    points: list[dict[str, Any]] = (ran.answer or {}).get("points") or []
    decisions = [str(point.get("decision")) for point in points if point.get("k") == 11]
    return decisions[0] if decisions else f"exit {ran.code}"


def _columns(folder: str, name: str) -> list[str]:
    import pyarrow.parquet as pq

    names: list[str] = pq.read_schema(Path(folder) / name).names
    return names


def _differences(row: Row) -> list[str]:
    """Answers about the same release must be those of `assess`; that of `protect` must be that of its file."""
    differing = [name for name in ("original", "check", "report") if row[name] != row["assess"]]
    if row["frontier"] != row["assess"]:
        differing.append("frontier")
    if row["attack"] == "other numbers":
        differing.append("attack")
    if row["file"] and row["protect"] != row["file"]:
        differing.append("protect")
    return differing
