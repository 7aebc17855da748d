"""Input and output files of a command: declared on the options, checked together before any work is done.

The annotation of an option that names files has a marker: `Input()` for files that are read, `Output()` for files that
are written. `check_files` wraps every verb and refuses an output that is one of the inputs, even with --force.
"""

from __future__ import annotations

import fnmatch
import functools
import glob
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from incrowd._support.addresses import SQLITE_FILES, is_address, masked, sqlite_file
from incrowd._support.memory import prepare_address_space
from incrowd.cli import terminal
from incrowd.errors import InputError

FIGURES = (".html", ".svg", ".png", ".json")


@dataclass(frozen=True, slots=True)
class Input:
    """Marks an option that names a file, a folder, a pattern or an address to read.

    Args:
        after: the file's name begins after this text, as in `column=file.csv`.
        address: whether an address of a database or a store is allowed.
    """

    after: str = ""
    address: bool = True

    def paths(self, value: Any) -> Iterator[str]:
        """The names in the value of an option."""
        for entry in value if isinstance(value, list | tuple) else [value]:
            yield str(entry).partition(self.after)[2].strip() if self.after else str(entry)


@dataclass(frozen=True, slots=True)
class StepInput(Input):
    """Marks steps of protection, some of which read a file: `town:pram=matrix.csv`, `seen:shiftdates=9,key=key.txt`."""

    after: str = ":pram="
    address: bool = False

    def paths(self, value: Any) -> Iterator[str]:
        """The parameters of the steps that are files or addresses."""
        for parameter in (one for step in value for one in step.split(",")):
            name = parameter.partition("=")[2].strip()
            if os.path.isfile(name) or is_address(name):
                yield name


@dataclass(frozen=True, slots=True)
class Output:
    """Marks an option that names a file to write.

    Args:
        what: the word for the file in messages.
        endings: allowed endings of the file's name, or a function that returns them; empty allows all.
        store: whether an address of a store is allowed, which only Spark writes to.
        replaces: whether the verb itself handles a file that exists.
    """

    what: str = "file"
    endings: Sequence[str] | Callable[[], Sequence[str]] = ()
    _: KW_ONLY
    store: bool = False
    replaces: bool = False


def _table_endings() -> Sequence[str]:
    from incrowd._support.compressed_files import COMPRESSIONS
    from incrowd.tables.formats import WRITERS  # its imports would slow down every start

    return (*WRITERS, *COMPRESSIONS)


TABLE_OUTPUT = Output("table", _table_endings)
STORED_TABLE = Output("table", _table_endings, store=True)
FIGURE_OUTPUT = Output("figure", FIGURES)


def marked_parameters(command: Callable[..., Any], kind: type[Input] | type[Output]) -> dict[str, Any]:
    """The markers of a kind by parameter, for parameters that have one."""
    markers = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        for one in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(one, kind):
                markers[name] = one
    return markers


def check_files(command: Callable[..., None]) -> Callable[..., None]:
    """The verb, with all its output files checked against all its input files, and its memory, before it runs."""

    @functools.wraps(command)
    def checked(**given: Any) -> None:
        prepare_address_space()
        read = []
        for name, one in marked_parameters(command, Input).items():
            paths = list(one.paths(given[name])) if given.get(name) else []
            if not one.address and (addresses := [path for path in paths if is_address(path)]):
                raise InputError(f"{masked(addresses[0])} is an address; name a file", hint=name)
            read += paths
        written: list[str] = []
        for name, output in marked_parameters(command, Output).items():
            if given.get(name):
                path = str(given[name])
                _check_output(output, path, read, written, force=bool(given.get("force")), engine=given.get("engine"))
                written.append(path)
        command(**given)

    return checked


def _check_output(
    output: Output, path: str, inputs: list[str], others: list[str], *, force: bool, engine: str | None
) -> None:
    shown, target = masked(path), Path(path)
    to_store = output.store and engine is not None and _writes_to_store(engine)
    if is_address(path):
        if to_store:
            return
        advice = "only Spark writes to one: name a file, or choose Spark" if output.store else "name a file"
        raise InputError(f"{shown} is an address; {advice}", hint="engine=spark" if output.store else ())
    for given in inputs:
        if _reads_from(given, target):
            raise InputError(f"{shown} is read by this command; it is never overwritten, name another file")
        if _would_join(given, target):
            raise InputError(f"{shown} would become part of the table that is read; write it to another folder")
    if any(_same_file(other, target) for other in others):
        raise InputError(f"{shown} is named for two outputs; name another file for one of them")
    endings = output.endings() if callable(output.endings) else output.endings
    if endings and target.suffix.lower() not in endings:
        ending = target.suffix or "a file without ending"
        *first, last = endings
        usable = f"{', '.join(first)} or {last}" if first else last
        raise InputError(f"a {output.what} cannot be written as {ending!r}; use {usable}")
    if output.replaces:
        return
    if target.is_dir() and not to_store:
        raise InputError(f"{shown} is a folder; name a file to write")
    if target.exists() and not force:
        raise InputError(f"{shown} exists already; name another file, or say that it may be replaced", hint="force")


def _writes_to_store(engine: str) -> bool:
    from incrowd.backends import choose_engine

    return choose_engine(engine).opens_store


def _reads_from(given: str, target: Path) -> bool:
    """True if an input is the file, is a link to it, or has it among its parts."""
    if is_address(given):
        if not given.lower().startswith("sqlite:"):
            return False
        given = sqlite_file(given)
    names = [given, *(glob.glob(given, recursive=True) if glob.has_magic(given) else ())]
    return any(_same_file(name, target) for name in names)


def _same_file(name: str, target: Path) -> bool:
    try:
        return os.path.samefile(name, target)
    except OSError:  # one of them does not exist
        return os.path.realpath(name) == os.path.realpath(target)


def _would_join(source: str, target: Path) -> bool:
    """True if the target would be read as part of the source, because it is in its folder or fits its pattern."""
    if os.path.isfile(source) or is_address(source) or Path(source).suffix.lower() in SQLITE_FILES:
        return False
    place, path = Path(source).resolve(), target.resolve()
    if place.is_dir():
        return path.is_relative_to(place)
    if "**" in place.parts:
        return fnmatch.fnmatch(str(path), str(place))
    pairs = zip(path.parts, place.parts, strict=False)
    return len(path.parts) == len(place.parts) and all(fnmatch.fnmatch(part, wanted) for part, wanted in pairs)


def save_figure(chart: Any, path: Path, *, force: bool) -> None:
    """Write a chart and print where."""
    from incrowd.figures import save

    terminal.note(f"figure written to {save(chart, path, force=force)}")


def place_of(out: str) -> str | Path:
    """The target of a table: a path, or the text of an address, whose double slash a path would lose."""
    return out if is_address(out) else Path(out)
