"""The errors that this package raises on purpose. No message contains the value of a cell.

A message says what is wrong, what was seen and what to do. Its words fit the library, the command line and the app. If
a parameter would help, `hint` names it; the command line shows it as a flag, the app as a field.
"""

from __future__ import annotations

from collections.abc import Iterable


class IncrowdError(ValueError):
    """Base of every error this package raises on purpose.

    Args:
        message: what is wrong, what was seen and what to do.
        hint: names of parameters that would help, such as `"population"`, or with a value, `"method=tcloseness"`.
        choices: the possible values, such as the sheets of a workbook.
    """

    def __init__(self, message: str, *, hint: str | Iterable[str] = (), choices: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.hint: tuple[str, ...] = (hint,) if isinstance(hint, str) else tuple(hint)
        self.choices = tuple(choices)


class InputError(IncrowdError):
    """The data or an option cannot be used; the message says what to change."""


class TooLargeError(InputError):
    """The data is larger than the caller accepts; raised before the data is read."""


class ColumnNotFoundError(InputError, KeyError):
    """A column was named that the table does not have."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes

    @classmethod
    def of(cls, missing: Iterable[str], existing: Iterable[str]) -> ColumnNotFoundError:
        """The error for missing columns, with the names of the existing ones."""
        names = list(existing)
        shown = ", ".join(names[:30]) + (f", … and {len(names) - 30} more" if len(names) > 30 else "")
        return cls(f"no column named {', '.join(repr(name) for name in missing)}; the table has: {shown}")


class MissingDependencyError(InputError, ImportError):
    """An optional package is not installed; the message names the extra that installs it."""


class UnsupportedError(IncrowdError):
    """The question is clear, but the data cannot support an answer."""
