"""Public tables with all columns kept: the verdict at k = 11, ways to a yes, and each column named known once."""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

from tests.decision.homogeneity import count_homogeneity

import incrowd
from benchmarks.decision.releases import release
from benchmarks.decision.running import Row, Rows, measured, role_words, run, write_table
from benchmarks.decision.tables import WITH_SECRETS, Public, chosen


def run_tables(asked: argparse.Namespace) -> None:
    """All other columns kept and declared unknown: verdict at k = 11, success by look, and what is blamed."""
    rows = Rows("tables", ("table",), ("table", "rows", "decision", "success", "blamed", "cpu"))
    for public in chosen(asked.names):
        table = public.read((asked.rows or [4_000])[0]).drop_columns(public.left_out)
        row: Row = {"table": public.name, "rows": table.num_rows}
        with tempfile.TemporaryDirectory() as folder:
            try:
                released = release(folder, table, public.known, other=public.kept(table))
            except incrowd.IncrowdError as error:
                rows.add({**row, "decision": f"refused: {error}"})
                continue
        found, verdict = measured(released.ran.answer), released.ran.verdict
        row |= {"decision": released.ran.decision, "why": list(verdict.get("exposures", ()))}
        row |= {"success": found.get("success", ""), "found": found, "cpu": released.ran.cpu}
        rows.add({**row, "blamed": found.get("blamed") or verdict.get("giving_back") or []})


def run_ways(asked: argparse.Namespace) -> None:
    """The ways to a yes that `assess` prints for the public tables: what each keeps, and the verdict once typed."""
    rows = Rows("ways", ("table", "way"), ("table", "way", "k", "kept", "left_out", "expected", "typed", "cpu"))
    for public in chosen(asked.names):
        table = public.read((asked.rows or [4_000])[0]).drop_columns(public.left_out)
        other = public.kept(table)
        with tempfile.TemporaryDirectory() as folder:
            write_table(folder, table)
            words = ["incrowd", "assess", "table.parquet", *role_words(public.known, other=other)]
            ran = run(folder, [*words, "--recipient", "public", "--rows-are-people", "--json"])
            protecting = [action for action in ran.verdict.get("actions", ()) if action.get("protection")]
            for place, action in enumerate(protecting):
                rows.add({"table": public.name, "way": place + 1, **_tried(folder, action, other), "cpu": ran.cpu})


def _tried(folder: str, action: dict[str, Any], other: list[str]) -> Row:
    """What a way promises, and what is said once its commands were typed."""
    said = [run(folder, f"{command} --json").decision for command in action["commands"]]
    settings = action["protection"]
    left_out = [name for name in settings.get("leave_out") or () if name in other]
    row: Row = {"k": settings.get("k"), "kept": f"{len(other) - len(left_out)} of {len(other)}", "left_out": left_out}
    return {**row, "expected": action.get("expected"), "typed": said[-1] if said else "no command", "action": action}


def run_known(asked: argparse.Namespace) -> None:
    """Each column beyond demography named known once: is its disclosure found where covering labels show it?"""
    columns = ("table", "column", "certain", "usual", "gained", "decision", "is_named", "missed", "cpu")
    rows = Rows("known", ("table", "column"), columns)
    for public in chosen(asked.names, WITH_SECRETS):
        table = public.read((asked.rows or [2_000])[0]).drop_columns(public.left_out)
        for column in public.kept(table):
            if asked.columns and column not in asked.columns:
                continue
            rows.add(_named_known(public, table, column))
    stored = list(rows)
    shown = [row for row in stored if row.get("gained", 0) > 0]
    missed = [f"{row['table']}.{row['column']} ({row['gained']})" for row in shown if row["missed"]]
    print(f"\n{len(stored)} columns named known; the count finds a gain in {len(shown)}.")
    print(f"No verdict names it in {len(missed)}: {', '.join(missed)}")


def _named_known(public: Public, table: Any, column: str) -> Row:
    known = (*public.known, column)
    other = [name for name in public.kept(table) if name != column]
    row: Row = {"table": public.name, "column": column}
    with tempfile.TemporaryDirectory() as folder:
        try:
            released = release(folder, table, known, sensitive=[column], other=other)
        except incrowd.IncrowdError as error:
            return {**row, "decision": f"refused: {error}", "missed": False}
    counted = count_homogeneity(table.to_pandas(), released.frame, list(public.known), column)
    verdict = released.ran.verdict
    is_named = column in verdict.get("disclosed", ()) or _says(verdict, column)
    is_no = released.ran.decision in ("over", "exposed")
    row |= {"certain": counted.certain, "usual": counted.usual, "gained": counted.gained, "people": counted.people}
    row |= {"decision": released.ran.decision, "is_named": is_named, "missed": counted.gained > 0 and not is_named}
    row |= {"missed_yes": counted.gained > 0 and not is_no, "why": list(verdict.get("exposures", ()))}
    return {**row, "cpu": released.ran.cpu + released.cpu_protect, "found": measured(released.ran.answer)}


def _says(verdict: Row, column: str) -> bool:
    """Whether an exposure is about what the column discloses (attribute disclosure)."""
    told = [text for text in verdict.get("exposures", ()) if "certain" in text or "disclosure" in text]
    return any(column in text for text in told)
