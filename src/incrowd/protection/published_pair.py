"""A released file and its mark get their names together, or neither does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incrowd._support.files import check_free, locked_target, written_whole
from incrowd.protection.marks import require_own_mark


@contextmanager
def published_pair(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield a path to write a release to; the block also writes the mark of `target`.

    No other program writes a release of this name meanwhile. If the block fails, or the file does not get its name, the
    mark that was there before is put back.

    Raises:
        InputError: the file exists already, another program writes it now, or another file has the name of its mark.
    """
    with locked_target(target):
        check_free(target, force=force)
        mark = require_own_mark(target)
        previous = mark.read_bytes() if mark.exists() else None
        try:
            with written_whole(target, force=force) as temporary:
                yield temporary
        except BaseException:
            _restore(mark, previous)
            raise


def _restore(mark: Path, content: bytes | None) -> None:
    """Put back the previous content of a mark; None deletes the mark."""
    if content is None:
        mark.unlink(missing_ok=True)
    elif not mark.exists() or mark.read_bytes() != content:
        with written_whole(mark, force=True) as temporary:
            temporary.write_bytes(content)
