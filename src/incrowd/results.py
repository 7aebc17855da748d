"""The base class of every result: its numbers as statements, JSON, data frame, text and notebook output."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from html import escape
from typing import Annotated, Any, ClassVar

from incrowd._support.services import provided
from incrowd.errors import IncrowdError, MissingDependencyError
from incrowd.wording import single_value

COUNTED = "counted, exact for this table"
Share = Annotated[float, (("minimum", 0), ("maximum", 1))]
"""A share or a risk. The published schema has the range."""
Count = Annotated[int, (("minimum", 0),)]
"""A number of things."""

_MAX_ENTRIES = 40  # entries of a result that are shown
_MAX_LINE = 400  # characters of `repr`, about
_MAX_VALUE = 80  # characters of one value in `repr`


class Result:
    """Base of the frozen dataclasses that hold results. It has no fields of its own.

    What a person reads is said here once: `statements` are its numbers, `data_tables` its rows, `sentences` what
    several numbers say together. The terminal, the page, a notebook and the app show these.

    A subclass declares its JSON with class variables: `_hidden` names fields that `to_dict` leaves out, `_derived`
    names properties that it adds after the fields, `_renamed` maps names to keys. `_keys` has the types of keys that an
    overridden `to_dict` adds or changes. A result with several rows overrides `_rows`.
    """

    __slots__ = ()
    _derived: ClassVar[tuple[str, ...]] = ()
    _hidden: ClassVar[frozenset[str]] = frozenset()
    _renamed: ClassVar[Mapping[str, str]] = {}
    _keys: ClassVar[Mapping[str, Any]] = {}

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The numbers that a person reads, each with its meaning and certainty."""
        return ()

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The rows that a person reads."""
        return ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What several numbers say together."""
        return ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # or the dataclass would make a long one

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types: text, numbers, true and false, null, lists and objects."""
        fields = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        names = [name for name in fields if name not in self._hidden]
        return {self._renamed.get(name, name): as_json(getattr(self, name)) for name in [*names, *self._derived]}

    def to_frame(self) -> Any:
        """The result as a pandas DataFrame: one row for each of `_rows()`.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingDependencyError("to_frame needs pandas; pip install pandas installs it") from None
        return pd.DataFrame(list(self._rows()))

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """The rows of the frame: by default one row with every entry of `to_dict`."""
        return [self.to_dict()]

    def __repr__(self) -> str:
        entries: list[str] = []
        for name, value in self.to_dict().items():
            if sum(map(len, entries)) > _MAX_LINE:
                entries.append("…")
                break
            entries.append(f"{name}={_in_repr(value)}")
        return f"{type(self).__name__}({', '.join(entries)})"

    def _shown(self) -> Iterator[DataTable]:
        """What is shown as text and in a notebook: the numbers, or without any the fields; then the rows."""
        entries: list[tuple[str, ...]] = [(number.name, number.shown, number.meaning) for number in self.statements]
        if not entries:
            entries = [(name.replace("_", " "), _in_cell(value)) for name, value in self.to_dict().items()]
        yield DataTable(type(self).__name__, (), tuple(entries[:_MAX_ENTRIES]))
        yield from self.data_tables

    def __str__(self) -> str:
        """Tables of names and values, as text."""
        return "\n".join([*map(str, self._shown()), *self.sentences])

    def _repr_html_(self) -> str:
        sentences = (f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        return "".join([*(table.to_html() for table in self._shown()), *sentences])

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, Any]:
        """Text, HTML and, if the result has a figure, its Vega-Lite specification for notebooks."""
        bundle: dict[str, Any] = {"text/plain": str(self), "text/html": self._repr_html_()}
        chart = _figure(self)
        if chart is not None:
            spec = chart.to_dict()
            bundle["text/html"] += _picture(spec)
            bundle[_vega_lite(spec)] = spec
        return {
            kind: shown
            for kind, shown in bundle.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Statement(Result):
    """One number: its name, its text form, its meaning, its certainty and its assumptions.

    `is_detail` marks a number for those who look for it; a report leaves it out.
    """

    section: str
    name: str
    value: float | None
    shown: str
    meaning: str
    sure: str = COUNTED
    assumed: str = ""
    is_detail: bool = False
    _hidden: ClassVar[frozenset[str]] = frozenset({"is_detail"})


@dataclasses.dataclass(frozen=True, slots=True)
class DataTable:
    """Numbers in rows, with a caption."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __str__(self) -> str:
        rows = [self.columns] if self.columns else []
        cells = [[single_value(value) for value in row] for row in (*rows, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [[f"{text:<{width}}" for text, width in zip(row, widths, strict=True)] for row in cells]
        return "\n".join([self.caption, *("  ".join(["", *line]).rstrip() for line in lines)])

    def to_html(self) -> str:
        """The table for a notebook."""
        left = ' style="text-align:left"'
        heads = "".join(f"<th{left}>{escape(name)}</th>" for name in self.columns)
        rows = [
            f"<th{left}>{escape(single_value(name))}</th>"
            + "".join(f"<td{left}>{escape(single_value(value))}</td>" for value in values)
            for name, *values in self.rows
        ]
        body = "".join(f"<tr>{row}</tr>" for row in ([heads] if heads else []) + rows)
        return f"<table><caption{left}>{escape(self.caption)}</caption>{body}</table>"


def as_json(value: Any) -> Any:
    """A field of a result in plain JSON types."""
    if isinstance(value, Result) or hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): as_json(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # a numpy array or number
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _figure(result: Result) -> Any | None:
    """The chart of a result; None if it has none, or if it is too small to draw."""
    try:
        return provided("figure")(result)
    except IncrowdError:
        return None


def _picture(spec: dict[str, Any]) -> str:
    """The chart as an image embedded in the page, for every viewer."""
    import vl_convert

    svg = base64.b64encode(vl_convert.vegalite_to_svg(json.dumps(spec)).encode()).decode()
    title = escape(str(spec.get("title", {}).get("text", "figure")), quote=True)
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{svg}">'


def _vega_lite(spec: dict[str, Any]) -> str:
    """The MIME type of the Vega-Lite version that the chart uses."""
    version = spec["$schema"].rsplit("/v", 1)[1].split(".")[0]
    return f"application/vnd.vegalite.v{version}+json"


def _in_repr(value: Any) -> str:
    """A value in `repr`: a long list is shown by its length, and a long text is cut."""
    if isinstance(value, str) and len(value) > _MAX_VALUE:
        return repr(f"{value[:_MAX_VALUE]}…")
    if isinstance(value, dict | list):
        nested = any(isinstance(entry, dict | list) for entry in value)
        if nested or len(value) > 6 or len(repr(value)) > _MAX_VALUE:
            return f"<{len(value):,} entries>"
    return repr(value)


def _in_cell(value: Any) -> str:
    """A value in a cell of a table: a long list is shown by its length."""
    if isinstance(value, dict):
        return (
            f"{len(value):,} entries" if len(value) > 6 else ", ".join(f"{k}: {_in_cell(v)}" for k, v in value.items())
        )
    if isinstance(value, list):
        short = len(value) <= 8 and not any(isinstance(entry, dict | list) for entry in value)
        return ", ".join(_in_cell(entry) for entry in value) if short else f"{len(value):,} entries"
    return single_value(value)[:300]
