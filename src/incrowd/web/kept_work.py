"""Work that survives a restart: tables, settings, decisions and candidates of sessions in a private folder.

The folder is readable by this user alone and holds rows in clear text; a session that ends takes its files with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from incrowd._support.files import written_whole
from incrowd._support.private_folders import locked
from incrowd.assessment import Question
from incrowd.errors import InputError
from incrowd.web import models
from incrowd.web.jobs import Job, Outcome
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable

Saved = dict[str, Any]


class KeptWork:
    """A folder of kept work: `files` of tables, `sessions` with a JSON file each, and `candidates`.

    Args:
        folder: made if it is not there; nobody else can read it.
        seconds: sessions that were not saved for so long are deleted at the start.

    Raises:
        InputError: the folder belongs to somebody else, cannot be used, or another server uses it.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.files, self._sessions, self._candidates = (folder / name for name in ("files", "sessions", "candidates"))
        try:
            for part in (folder, self.files, self._sessions, self._candidates):
                part.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.chmod(part, 0o700)
            self._lock = open(folder / ".lock", "w")  # noqa: SIM115 - held as long as the server runs
        except OSError as error:
            raise InputError(f"work cannot be kept in {folder}: {error.strerror}; name another folder") from None
        if locked(self._lock) is False:
            self._lock.close()
            raise InputError(f"another server keeps its work in {folder}; name another folder")
        self._written: dict[str, str] = {}
        self._remove_old(seconds)

    def close(self) -> None:
        """Let another server use the folder; the work stays."""
        self._lock.close()

    def has(self, key: str) -> bool:
        """Whether there is work of a session."""
        return self._file(key).exists()

    def load(self, key: str) -> Saved:
        """What was saved of a session."""
        found: Saved = json.loads(self._file(key).read_text(encoding="utf-8"))
        return found

    def forget(self, key: str) -> None:
        """Delete what was saved of a session; its tables delete their files themselves."""
        if self.has(key):
            for candidate in self.load(key)["candidates"]:
                self._candidate(candidate).unlink(missing_ok=True)
            self._file(key).unlink(missing_ok=True)
        self._written.pop(key, None)

    def save(self, key: str, tables: list[OpenTable], jobs: list[Job]) -> None:
        """Save a session, if something has changed."""
        candidates = [job for job in jobs if job.state == "done" and job.outcome and job.outcome.release]
        for job in candidates:
            if not self._candidate(job.id).exists():
                self._write(self._candidate(job.id), json.dumps(self._dump_candidate(job)))
        state = {
            "tables": [self._dump_table(table) for table in tables],
            "candidates": {job.id: job.name for job in candidates},
        }
        text = json.dumps(state)
        if text == self._written.get(key) or not (tables or self.has(key)):
            return
        gone = {*self.load(key)["candidates"]} - {*state["candidates"]} if self.has(key) else set()
        self._write(self._file(key), text)
        self._written[key] = text
        for candidate in gone:
            self._candidate(candidate).unlink(missing_ok=True)

    def load_candidate(self, key: str, candidate: str, tables: dict[str, OpenTable]) -> Job | None:
        """A candidate of a session as a job that is done; None where its table or its file is gone."""
        saved: Saved = json.loads(self._candidate(candidate).read_text(encoding="utf-8"))
        table, file = tables.get(saved["table"]), self.files / saved["file"]
        if table is None or not file.exists():
            return None
        release = Release(file, tuple(saved["quasi_identifiers"]), saved["person"], question=Question(**saved["about"]))
        if release.rows_file.exists():
            release = replace(release, kept_rows=np.load(release.rows_file))
        result, figures = saved["result"], saved["figures"]
        made = Outcome(None, lambda: result, lambda: figures, file, file.stat().st_size, release, saved["summary"])
        return Job(
            key,
            saved["kind"],
            table.id,
            None,
            models.Equivalent(**saved["equivalent"]),
            id=candidate,
            created=datetime.fromisoformat(saved["created"]),
            state="done",
            progress=1.0,
            stage="done",
            outcome=made,
            stages=1,
            source=table,
            settings=models.TableSettings(**saved["settings"]),
            question=saved["question"],
        )

    def place_of(self, saved: Saved) -> tuple[Path, Path | None]:
        """The file of a saved table, and its own folder if it has one."""
        if saved["folder"] is None:
            return Path(saved["file"]), None
        folder = self.files / saved["folder"]
        return folder / saved["file"], folder

    def _dump_table(self, table: OpenTable) -> Saved:
        file = Path(table.table.source or "")
        return {
            "id": table.id,
            "name": table.name,
            "source": asdict(table.source),
            "folder": table.folder.name if table.folder else None,
            "file": file.name if table.folder else str(file),
            "seen": table.seen,
            "history": table.history.to_dict(),
        }

    def _dump_candidate(self, job: Job) -> Saved:
        outcome = job.answer()
        release = outcome.release
        assert release is not None
        assert job.settings is not None
        if release.kept_rows is not None:
            np.save(release.rows_file, release.kept_rows)
        return {
            "kind": job.kind,
            "table": job.table,
            "created": job.created.isoformat(),
            "question": job.question,
            "settings": job.settings.model_dump(mode="json"),
            "equivalent": job.equivalent.model_dump(),
            "result": outcome.to_json(),
            "figures": outcome.to_figures(),
            "summary": outcome.summary,
            "file": release.file.name,
            "quasi_identifiers": list(release.quasi_identifiers),
            "person": release.person,
            "about": asdict(release.question) if release.question else {},
        }

    def _file(self, key: str) -> Path:
        return self._sessions / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def _candidate(self, job: str) -> Path:
        return self._candidates / f"{job}.json"

    def _write(self, file: Path, text: str) -> None:
        with written_whole(file, force=True) as draft:
            draft.write_text(text, encoding="utf-8")

    def _remove_old(self, seconds: float) -> None:
        """Delete sessions that nobody came back to, and files that no session names: a killed server left them."""
        used, candidates = set(), set()
        for file in self._sessions.glob("*.json"):
            if file.stat().st_mtime < time.time() - seconds:
                file.unlink()
                continue
            saved = json.loads(file.read_text(encoding="utf-8"))
            used |= {table["folder"] for table in saved["tables"]}
            candidates |= {*saved["candidates"]}
        for file in self._candidates.glob("*.json"):
            if file.stem in candidates:
                name = json.loads(file.read_text(encoding="utf-8"))["file"]
                used |= {part.name for part in self.files.glob(f"{Path(name).stem}.*")}
            else:
                file.unlink()
        for part in self.files.iterdir():
            if part.name not in used:
                shutil.rmtree(part) if part.is_dir() else part.unlink()
