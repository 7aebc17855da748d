"""Sessions that survive a restart: tables, settings, decisions and candidates in a private folder.

The folder is readable by this user alone and holds rows in clear text. The files of a session are deleted when it ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from incrowd._support.files import file_hash, written_whole
from incrowd._support.private_folders import locked
from incrowd.assessment import Question
from incrowd.errors import InputError
from incrowd.web import models
from incrowd.web.fields import Id, Model, Name
from incrowd.web.jobs import Job, Outcome
from incrowd.web.project_models import SavedHistory
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable, TableSource
from incrowd.web.uploads import TABLE_FOLDER

Saved = dict[str, Any]
MARKER = ".incrowd-kept-work"
"""The file that marks a folder as one of saved sessions; the server writes to and deletes from no other folder."""
_SESSION, _CANDIDATE = re.compile(r"[0-9a-f]{64}\.json"), re.compile(r"[0-9a-f]{16}\.json")
_RELEASE = re.compile(r"[0-9a-f]{16}\.(parquet|parquet\.incrowd|rows\.npy)")


def _is_name(file: str) -> bool:
    """True if a text is the name of a file without a path to another folder."""
    return Path(file).name == file and file not in ("", "..")


class SavedTable(Model):
    """A table of a session as it is saved: its file is a name in its own `folder`, or a path.

    `seen` is the state of a file that was opened by its path.
    """

    id: Id
    name: Name
    source: TableSource
    folder: str | None
    file: str
    seen: tuple[int, ...] | None
    history: SavedHistory

    @classmethod
    def read(cls, saved: Saved) -> SavedTable:
        """A table as it was saved; content that no server writes is refused."""
        return cls.model_validate_json(json.dumps(saved))


class SavedSessions:
    """A folder of saved sessions: `files` of tables, and a JSON file for each of the `sessions` and `candidates`.

    Args:
        folder: created if it does not exist; no other user can read it.
        seconds: at the start, sessions that were not saved for this long are deleted.

    Raises:
        InputError: the folder holds other files, belongs to somebody else, cannot be used, or another server uses it.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.files, self._sessions, self._candidates = (folder / name for name in ("files", "sessions", "candidates"))
        try:
            if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
                raise InputError(f"{folder} holds files that are not kept work; name a new or an empty folder")
            for part in (folder, self.files, self._sessions, self._candidates):
                part.mkdir(mode=0o700, parents=True, exist_ok=True)
                _require_own(part, may_be_link=part == folder)
                os.chmod(part, 0o700)
                if part == folder:
                    (folder / MARKER).touch()
            held = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            self._lock = os.fdopen(held, "r+")  # open as long as the server runs
        except OSError as error:
            raise InputError(f"work cannot be kept in {folder}: {error.strerror}; name another folder") from None
        if locked(self._lock) is False:
            self._lock.close()
            raise InputError(f"another server keeps its work in {folder}; name another folder")
        self._written: dict[str, str] = {}  # the JSON of each session that was written last
        self._remove_old(seconds)

    def close(self) -> None:
        """Release the lock, so that another server can use the folder; its files stay."""
        self._lock.close()

    def has(self, key: str) -> bool:
        """True if a session is saved."""
        return self._file(key).exists()

    def load(self, key: str) -> Saved | None:
        """A saved session, which counts as used now; None if it cannot be read."""
        saved = self._saved(key)
        if saved is not None:
            os.utime(self._file(key))
        return saved

    def name_of(self, key: str) -> str:
        """The name of a session for people: part of the name of its file, which does not open the session."""
        return self._file(key).stem[:16]

    def describe_all(self) -> list[models.KeptSession]:
        """Every saved session, with counts only: no name of a table, and no content."""
        found = []
        for file in _named_like(self._sessions, _SESSION):
            saved = _read_session(file)
            with suppress(FileNotFoundError):  # it was deleted meanwhile
                used = datetime.fromtimestamp(file.stat().st_mtime).astimezone()
                size = sum(_size(part) for part in self._parts(saved))
                described = models.KeptSession(name=file.stem[:16], used=used, tables=len(saved["tables"]), bytes=size)
                found.append(described)
        return found

    def delete(self, name: str) -> None:
        """Delete the saved session of a name, its candidates and all files of its tables."""
        for file in self._sessions.glob(f"{name}*.json"):
            saved = _read_session(file)
            parts = self._parts(saved)
            file.unlink()  # first, so that no saved session lacks its candidates
            for part in (*map(self._candidate, saved["candidates"]), *parts):
                if part.is_dir():
                    shutil.rmtree(part)
                else:
                    part.unlink(missing_ok=True)

    def forget(self, key: str) -> None:
        """Delete what is saved of a session."""
        self.delete(self.name_of(key))
        self._written.pop(key, None)

    def save(self, key: str, tables: list[OpenTable], jobs: list[Job]) -> None:
        """Save a session, if something has changed."""
        done = [(job, job.outcome) for job in jobs if job.state == "done"]  # another thread may discard the outcome
        candidates = [(job, outcome, outcome.release) for job, outcome in done if outcome and outcome.release]
        for job, outcome, release in candidates:
            if not self._candidate(job.id).exists():
                with suppress(FileNotFoundError):  # its file was deleted meanwhile
                    self._write(self._candidate(job.id), json.dumps(self._dump_candidate(job, outcome, release)))
        state = {
            "tables": [self._dump_table(table) for table in tables],
            "candidates": {job.id: job.name for job, _, _ in candidates},
        }
        text = json.dumps(state)
        if text == self._written.get(key) or not (tables or self.has(key)):
            return
        gone = {*(self._saved(key) or state)["candidates"]} - {*state["candidates"]}
        self._write(self._file(key), text)
        self._written[key] = text
        for candidate in gone:
            self._candidate(candidate).unlink(missing_ok=True)

    def load_candidate(self, key: str, candidate: str, tables: dict[str, OpenTable]) -> Job | None:
        """A candidate of a session as a finished job; None if its table or its file is gone."""
        saved = _read(self._candidate(candidate), "file")
        if saved is None or not _RELEASE.fullmatch(saved["file"]):
            return None
        if saved.pop("sum", None) != _checksum(saved):
            raise InputError("its file was changed; protect the table again")
        table, file = tables.get(saved["table"]), self.files / saved["file"]
        if table is None or not file.exists():
            return None
        release = Release(file, tuple(saved["quasi_identifiers"]), saved["person"], question=Question(**saved["about"]))
        if any(file_hash(self.files / name) != known for name, known in saved["sha256"].items()):
            raise InputError("its table was changed; protect it again")
        if release.rows_file.exists():
            release = replace(release, kept_rows=np.load(release.rows_file))
        if release.last_record >= table.table.rows:
            raise InputError("the original table has changed since; protect it again")
        result, figures = saved["result"], saved["figures"]
        outcome = Outcome(None, lambda: result, lambda: figures, file, file.stat().st_size, release, saved["summary"])
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
            outcome=outcome,
            stages=1,
            source=table,
            settings=models.TableSettings(**saved["settings"]),
            reading=saved.get("reading"),
            question=saved["question"],
        )

    def place_of(self, saved: SavedTable) -> tuple[Path, Path | None]:
        """The file of a saved table, and its own folder if it has one."""
        is_path = saved.source.kind == "path"
        if saved.folder is None and is_path:  # the server checks that it is in an allowed folder
            return Path(saved.file), None
        if is_path or not TABLE_FOLDER.fullmatch(saved.folder or "") or not _is_name(saved.file):
            raise InputError("its file is none that is kept here; open the table again")
        folder = self.files / (saved.folder or "")
        return folder / saved.file, folder

    def _dump_table(self, table: OpenTable) -> Saved:
        file = Path(table.table.source or "")
        return {
            "id": table.id,
            "name": table.name,
            "source": asdict(table.source),
            "folder": table.folder.name if table.folder else None,
            "file": file.name if table.folder else str(file),
            "seen": table.state_when_opened,
            "history": table.history.to_dict(),
        }

    def _dump_candidate(self, job: Job, outcome: Outcome, release: Release) -> Saved:
        assert job.settings is not None
        hashes = {release.file.name: file_hash(release.file)}  # raises if the file was deleted, before rows are written
        if release.kept_rows is not None:
            np.save(release.rows_file, release.kept_rows)
            hashes[release.rows_file.name] = file_hash(release.rows_file)
        saved = {
            "kind": job.kind,
            "table": job.table,
            "created": job.created.isoformat(),
            "question": job.question,
            "reading": job.reading,
            "settings": job.settings.model_dump(mode="json"),
            "equivalent": job.equivalent.model_dump(),
            "result": outcome.to_json(),
            "figures": outcome.to_figures(),
            "summary": outcome.summary,
            "file": release.file.name,
            "quasi_identifiers": list(release.quasi_identifiers),
            "person": release.person,
            "about": asdict(release.question) if release.question else {},
            "sha256": hashes,
        }
        return {**saved, "sum": _checksum(saved)}

    def _saved(self, key: str) -> Saved | None:
        return _read(self._file(key), "tables", "candidates")

    def _file(self, key: str) -> Path:
        return self._sessions / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def _candidate(self, job: str) -> Path:
        return self._candidates / f"{job}.json"

    def _write(self, file: Path, text: str) -> None:
        with written_whole(file, force=True) as draft:
            draft.write_text(text, encoding="utf-8")

    def _parts(self, saved: Saved) -> list[Path]:
        """The folders of tables and the files of candidates of a saved session that exist."""
        folders = [table["folder"] for table in saved["tables"] if TABLE_FOLDER.fullmatch(table["folder"] or "")]
        candidates = [_read(self._candidate(one), "file") for one in saved["candidates"]]
        stems = [Path(one["file"]).stem for one in candidates if one and _RELEASE.fullmatch(one["file"])]
        files = [part for stem in stems for part in self.files.glob(f"{stem}.*")]
        return [part for part in (*(self.files / folder for folder in folders), *files) if part.exists()]

    def _remove_old(self, seconds: float) -> None:
        """Delete unused sessions, and files of no session, which a killed server leaves behind.

        Only files with names that a server gives are deleted. If a session or candidate cannot be read, no file that
        it may name is deleted.
        """
        used: set[str] = set()
        candidates: set[str] = set()
        is_known = True  # all sessions and candidates can be read, so that `used` and `candidates` are complete
        for file in _named_like(self._sessions, _SESSION):
            if file.stat().st_mtime < time.time() - seconds:
                file.unlink()
            elif (saved := _read(file, "tables", "candidates")) is not None:
                used |= {part.name for part in self._parts(saved)}
                candidates |= {*saved["candidates"]}
            else:
                is_known = False
        for file in _named_like(self._candidates, _CANDIDATE):
            if file.stem not in candidates and is_known:
                file.unlink()
            elif _read(file, "file") is None:
                is_known = False
        for part in self.files.iterdir() if is_known else ():
            if part.name in used:
                continue
            if part.is_dir() and TABLE_FOLDER.fullmatch(part.name):
                shutil.rmtree(part)
            elif part.is_file() and _RELEASE.fullmatch(part.name):
                part.unlink()


def _require_own(folder: Path, *, may_be_link: bool) -> None:
    """Refuse a folder of another user, who could read what is saved there, and a link to a folder elsewhere."""
    if folder.is_symlink() and not may_be_link:
        raise InputError(f"{folder} is a link; work is kept in a folder of its own")
    if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
        raise InputError(f"{folder} belongs to somebody else; name another folder")


def _checksum(saved: Saved) -> str:
    """A checksum that is the same after the content was written as JSON and read again."""
    read_again = json.loads(json.dumps(saved))  # keys that are numbers become text, which has another order
    return hashlib.sha256(json.dumps(read_again, sort_keys=True).encode()).hexdigest()


def _read_session(file: Path) -> Saved:
    """A saved session; one that cannot be read holds nothing that is known."""
    return _read(file, "tables", "candidates") or {"tables": [], "candidates": {}}


def _size(part: Path) -> int:
    return sum(file.stat().st_size for file in (part.rglob("*") if part.is_dir() else [part]) if file.is_file())


def _named_like(folder: Path, name: re.Pattern[str]) -> list[Path]:
    return [file for file in folder.iterdir() if name.fullmatch(file.name) and file.is_file()]


def _read(file: Path, *needed: str) -> Saved | None:
    """Content of a saved session or candidate with the needed keys; None if the file is gone or malformed."""
    try:
        found: Saved = json.loads(file.read_text(encoding="utf-8"))
        kinds: dict[str, type] = {"tables": list, "candidates": dict, "file": str}
        fits = all(isinstance(found[name], kinds[name]) for name in needed)
        fits = fits and all(isinstance(table["folder"], str | None) for table in found.get("tables", ()))
        named = found.get("candidates", {}).items()
        fits = fits and all(_CANDIDATE.fullmatch(f"{key}.json") and isinstance(name, str) for key, name in named)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return found if fits else None
