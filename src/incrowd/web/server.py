"""The state of one server: its settings, files, sessions and jobs. Tables are opened and closed here."""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from incrowd.errors import IncrowdError, InputError
from incrowd.protection.marks import copy_release
from incrowd.tables import write_table
from incrowd.web.candidate_verdict import judge_candidate
from incrowd.web.fields import ChosenRole
from incrowd.web.jobs import Job, Jobs
from incrowd.web.models import KeptSession, Reading, TableSettings
from incrowd.web.refusals import Refusal, not_found
from incrowd.web.releases import Release
from incrowd.web.saved_sessions import SavedSessions, SavedTable
from incrowd.web.server_settings import ServerSettings
from incrowd.web.session_table import OpenTable, TableSource, file_state
from incrowd.web.sessions import Session, Sessions
from incrowd.web.table_loading import open_table
from incrowd.web.uploads import Store, check_unpacked, ending_of, shown_name

_SAVE_EVERY = 1.0  # seconds
# imported before a thread starts: two threads that are the first to use them can wait for each other
_NATIVE = ("duckdb", "narwhals.stable.v2", "incrowd._support.compiled", "pyarrow.dataset")
_log = logging.getLogger("incrowd.web")
_DEFAULT_READING = Reading()
# with all columns of the demo nearly everybody is unique; these start as "other", and a user can change their roles
_DEMO_ROLES: dict[str, ChosenRole] = dict.fromkeys(("oshpd_id", "patzip", "los", "adm_qtr"), "other")
_DEMO_COLUMNS = (*_DEMO_ROLES, "age_yrs", "sex", "ethncty", "race", "patcnty", "diag_p", "charge")
_DEMO_SETTINGS = TableSettings(roles=_DEMO_ROLES, decided=[*_DEMO_COLUMNS])  # who invented them knows what they are


class Server:
    """The state of the app."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.saved = None if settings.keep is None else SavedSessions(settings.keep, settings.keep_seconds)
        self.store = Store(self.saved.files if self.saved else None)
        self._saving = threading.Lock()
        self._slots = threading.Semaphore(settings.max_opening)
        self.jobs = Jobs(settings.workers, settings.max_jobs, settings.kept_jobs)
        idle = settings.keep_seconds if self.saved else settings.idle_seconds
        is_saved = self.saved.has if self.saved else lambda key: False
        self.sessions = Sessions(settings.max_sessions, idle, self._end_session, self._is_busy, is_saved)
        self._closing = threading.Event()

    def start_threads(self) -> None:
        """Start the thread that loads compiled code, for a quick first count, and the one that saves sessions."""
        for native in _NATIVE:
            import_module(native)
        if self.saved is not None:
            threading.Thread(target=self._save_repeatedly, daemon=True, name="incrowd-save").start()
        threading.Thread(target=_load_kernels, daemon=True, name="incrowd-kernels").start()

    def close(self) -> None:
        """Stop all jobs; save the sessions where they are kept, otherwise delete every file."""
        self._closing.set()
        if self.saved is not None:
            self.save()
            self.sessions.leave_all()
        self.sessions.end_all()
        self.jobs.close()
        self.store.close()
        if self.saved is not None:
            self.saved.close()

    def save(self) -> None:
        """Save every session that has changed, where sessions are kept."""
        if self.saved is None:
            return
        with self._saving:
            for session in self.sessions.open():
                try:
                    with session.lock:
                        if session.is_loaded and not session.ended:
                            tables = list(session.tables.values())
                            self.saved.save(session.key, tables, self.jobs.of_session(session.key))
                except Exception as error:  # such as a full disk; other sessions are saved, and this one is tried again
                    _log.error("work could not be saved: %s", type(error).__name__)

    def _save_repeatedly(self) -> None:
        while not self._closing.wait(_SAVE_EVERY):
            self.save()

    def load_saved(self, session: Session) -> None:
        """Load the tables and candidates of a session that an earlier server saved."""
        with session.loading:
            if session.is_loaded or self.saved is None:
                return
            saved = self.saved.load(session.key)
            if saved is None:
                session.lost.append("what was kept cannot be read; open the tables again")
                saved = {"tables": [], "candidates": {}}
            for one in saved["tables"]:
                try:
                    session.tables[one["id"]] = self._reopen(SavedTable.read(one))
                except Exception as error:  # any error of one table: the other tables are opened all the same
                    session.lost.append(f"{one.get('name', 'a table')}: {_why(error)}")
            for key, name in saved["candidates"].items():
                try:
                    job = self.saved.load_candidate(session.key, key, session.tables)
                    if job is None:
                        raise InputError("its table or its file is gone; protect the table again")
                    job.name = name
                    self.jobs.restore(job)
                except Exception as error:
                    session.lost.append(f"{name or 'a protected table'}: {_why(error)}")
            session.is_loaded = True

    def other_sessions(self, session: Session) -> list[KeptSession]:
        """The saved sessions of other browsers and scripts, without any content."""
        if self.saved is None:
            return []
        used = {self.saved.name_of(one.key) for one in self.sessions.open() if one.watchers or self._is_busy(one)}
        mine = self.saved.name_of(session.key)
        kept = [one for one in self.saved.describe_all() if one.name != mine]
        return [one.model_copy(update={"in_use": one.name in used}) for one in kept]

    def delete_other(self, session: Session, name: str) -> None:
        """Delete a saved session that another browser or script has left."""
        found = next((one for one in self.other_sessions(session) if one.name == name), None)
        if self.saved is None or found is None:
            raise not_found("session")
        if found.in_use:
            raise Refusal(409, "this session is in use: close its pages, or wait until its work is done")
        for one in self.sessions.open():
            if self.saved.name_of(one.key) == name:
                self.load_saved(one)  # what is being loaded now is closed, too
                self.sessions.end(one)
        self.saved.delete(name)

    def _reopen(self, saved: SavedTable) -> OpenTable:
        """A table that an earlier server saved; a file that was opened by its path must be unchanged."""
        assert self.saved is not None
        file, folder = self.saved.place_of(saved)
        if saved.source.kind == "path":
            self._allowed_file(str(file))
        table = open_table(file, saved.name, saved.source, self.settings, saved.id, folder)
        if saved.source.kind == "path":
            table.state_when_opened = saved.seen or ()
            table.check_file()
        table.history.restore(saved.history)
        return table

    def open_upload(
        self, session: Session, folder: Path, given_name: str, reading: Reading = _DEFAULT_READING
    ) -> OpenTable:
        """Open the uploaded file in a folder as a table; the folder is deleted on an error."""
        try:
            name = shown_name(given_name)
            (file,) = folder.iterdir()
            with self.limit_concurrency():
                check_unpacked(file, self.settings.max_unpacked)
                return self._add(session, file, name, TableSource("upload", name, how=reading.options()), folder)
        except Exception:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def open_path(self, session: Session, path: str, reading: Reading = _DEFAULT_READING) -> OpenTable:
        """Open a file in one of the allowed folders."""
        file = self._allowed_file(path)
        ending_of(file.name)
        state = file_state(file)
        with self.limit_concurrency(), self.reserve_place(session):
            check_unpacked(file, self.settings.max_unpacked)
            table = self._add(session, file, file.name, TableSource("path", str(file), how=reading.options()), None)
        table.state_when_opened = state
        return table

    def open_demo(self, session: Session, rows: int, seed: int) -> OpenTable:
        """Open a table of invented hospital stays, written to the private directory like an upload."""
        from incrowd.demo import demo_table

        if rows > self.settings.max_demo_rows:
            raise Refusal(413, f"a demo of {rows:,} rows; this server makes at most {self.settings.max_demo_rows:,}")
        with self.limit_concurrency(), self.reserve_place(session), self._new_folder() as folder:
            file = write_table(demo_table(rows, seed), folder / "demo.parquet")
            seeded = f" --seed {seed}" if seed else ""
            command = f"incrowd demo-data --rows {rows}{seeded} --out demo.parquet"
            source = TableSource("demo", "demo.parquet", rows, seed, (command,))
            return self._add(session, file, f"demo ({rows:,} invented hospital stays)", source, folder, _DEMO_SETTINGS)

    def open_protected(self, session: Session, job: Job) -> OpenTable:
        """Open the result of a protection as a table, with a copy of the file and the settings of its original."""
        outcome = job.answer()
        if outcome.file is None or outcome.release is None or job.source is None:
            raise Refusal(409, "only a protection has a table to open")
        made_by = job.equivalent
        with self.limit_concurrency(), self.reserve_place(session), self._new_folder() as folder:
            file = copy_release(outcome.file, folder / "protected.parquet")
            name = job.source.source.protected_file
            source = TableSource(
                "protection",
                name,
                before=(made_by.cli,),
                script=made_by.python,
                conditions=judge_candidate(job).conditions,
            )
            return self._add(session, file, f"protected {job.source.name}", source, folder, job.settings)

    def read_again(self, session: Session, table: OpenTable, reading: Reading) -> OpenTable:
        """Read the file of a table with other options. The table keeps its id and settings; its results are stale."""
        file = Path(table.table.source or "")
        source = replace(table.source, how=reading.options())
        with self.limit_concurrency():
            again = open_table(file, table.name, source, self.settings, table.id, table.folder)
        again.history.continue_from(table.history)
        again.history.note("read in another way", changed=_changed_options(table.source.how, source.how))
        again.state_when_opened = table.state_when_opened
        with session.while_open():
            if session.tables.get(table.id) is not table:
                raise Refusal(409, "the table was closed or read again meanwhile; ask again")
            session.tables[table.id] = again
        table.replaced_by = again
        return again

    def release(self, session: Session, job_id: str, table: OpenTable) -> Release:
        """The protected table that a job made of a table."""
        job = self.jobs.get(session.key, job_id)
        release = job.answer().release
        if release is None or job.table != table.id:
            raise Refusal(409, "only a protection of this table can be shown beside it")
        return release

    def close_table(self, session: Session, table: OpenTable) -> None:
        """Remove the jobs of a table and delete its files."""
        with session.lock:
            session.tables.pop(table.id, None)
        self.jobs.remove_all(session.key, table.id)
        table.close()

    @contextmanager
    def reserve_place(self, session: Session, size: int = 0) -> Iterator[int]:
        """Reserve a place for one more table while it is received and read; yields how many bytes it may have.

        Reservations of concurrent requests count, so that together they keep to the limits.
        """
        with session.while_open():
            count = len(session.tables) + session.tables_opening
            if count >= self.settings.max_tables:
                raise Refusal(429, f"{count} tables are open already; remove one first")
            allowed = min(self.settings.max_bytes, self._free_bytes(session), size)
            session.tables_opening += 1
            session.reserved_bytes += allowed
        try:
            yield allowed
        finally:
            with session.lock:
                session.tables_opening -= 1
                session.reserved_bytes -= allowed

    def check_room(self, session: Session) -> None:
        """Refuse if the session or the disk has no room left for files."""
        with session.while_open():
            self._free_bytes(session)

    def _free_bytes(self, session: Session) -> int:
        """Number of bytes that the session may still write."""
        used = sum(table.bytes for table in session.tables.values()) + self.jobs.bytes(session.key)
        left = self.settings.max_session_bytes - used - session.reserved_bytes
        if left <= 0:
            raise Refusal(413, "your tables take all the room there is for them; remove one first")
        free = self.store.free(self.settings.min_free)
        if free <= 0:
            raise Refusal(413, "the disk of this machine is almost full; make room on it first")
        return min(left, free)

    @contextmanager
    def limit_concurrency(self) -> Iterator[None]:
        """Limit how many requests read or count at the same time, so that threads are left to serve pages."""
        if not self._slots.acquire(blocking=False):
            raise Refusal(429, "too many tables are being opened at once; try again in a moment")
        try:
            yield
        finally:
            self._slots.release()

    @contextmanager
    def _new_folder(self) -> Iterator[Path]:
        """A new folder for a table, deleted on an error."""
        folder = self.store.new_folder()
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _add(
        self,
        session: Session,
        file: Path,
        name: str,
        source: TableSource,
        folder: Path | None,
        settings: TableSettings | None = None,
    ) -> OpenTable:
        """Open a file as a new table of the session, with these settings if there are any."""
        new_id = secrets.token_hex(8)
        table = open_table(file, name, source, self.settings, new_id, folder)
        if settings is not None:
            table.history.start_with(settings)
        with session.while_open():
            session.tables[new_id] = table
        return table

    def _is_busy(self, session: Session) -> bool:
        return session.tables_opening > 0 or self.jobs.active(session.key) > 0

    def _allowed_file(self, path: str) -> Path:
        """The file with every link resolved; refused unless it is in an allowed folder."""
        if not self.settings.folders:
            raise Refusal(403, "no folder is open to this app; start it with --folder, or drop the file here")
        if "\0" in path:
            raise InputError("a path cannot hold a null character")
        for folder in self.settings.folders:
            root = folder.resolve()
            try:
                file = (root / path).resolve()
                if file.is_relative_to(root) and file.is_file():
                    return file
            except (OSError, RuntimeError, ValueError):
                continue  # an impossible path counts as no file
        allowed = ", ".join(str(folder) for folder in self.settings.folders)
        raise Refusal(404, f"there is no such file in the folders that are open to this app: {allowed}")

    def _end_session(self, session: Session) -> None:
        for table in list(session.tables.values()):
            self.close_table(session, table)
        self.jobs.remove_all(session.key)
        if self.saved is not None:
            self.saved.forget(session.key)


def _changed_options(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Names of the reading options that differ, and columns whose scales differ; no values, which may be cells."""
    scales = [options.get("scales", {}) for options in (before, after)]
    columns = [f"scale of {name}" for name in {**scales[0], **scales[1]} if scales[0].get(name) != scales[1].get(name)]
    others = [name for name in {**before, **after} if name != "scales" and before.get(name) != after.get(name)]
    return [*others, *columns]


def _why(error: Exception) -> str:
    """Why something could not be loaded; of an unexpected error only the type, since its message may quote cells."""
    return str(error) if isinstance(error, IncrowdError | OSError) else f"it is damaged ({type(error).__name__})"


def _load_kernels() -> None:
    """Compile the counting kernels, or load them from the cache."""
    from incrowd.classes import ClassSizes

    rows = 300
    columns = {"a": list(range(rows)), "b": ["x", "y", None] * (rows // 3)}
    with suppress(RuntimeError):  # the interpreter shuts down and starts no new threads
        ClassSizes.from_table(columns, quasi_identifiers=["a", "b"])
