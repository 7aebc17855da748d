"""What can go wrong, in words a user can act on. No message ever holds a cell's value."""

from collections.abc import Iterable


class IncrowdError(ValueError):
    """Base of every error this package raises on purpose."""


class InputError(IncrowdError):
    """The data or an option cannot be used as it is; the message says what to change."""


class TooLargeError(InputError):
    """The data is larger than the caller takes; found before it is read."""


class UnsupportedError(IncrowdError):
    """The question is clear, but the data cannot support an answer."""


def unknown_columns(missing: Iterable[str], existing: Iterable[str]) -> InputError:
    """The error for a column that is not there, with the columns that are."""
    names = list(existing)
    shown = ", ".join(names[:30]) + (f", … and {len(names) - 30} more" if len(names) > 30 else "")
    return InputError(f"no column named {', '.join(repr(name) for name in missing)}; the table has: {shown}")
