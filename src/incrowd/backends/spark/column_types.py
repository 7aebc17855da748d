"""Columns of Spark frames: quoted names, schemas as text, and comparison of text by its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def quote_name(name: str) -> str:
    """A column's name as a quoted Spark identifier."""
    return "`" + name.replace("`", "``") + "`"


def schema_text(frame: DataFrame, **added: str) -> str:
    """Spark's text form of a frame's schema, with further columns that are given by names and types."""
    return ", ".join(f"{quote_name(name)} {kind}" for name, kind in [*frame.dtypes, *added.items()])


def column_by_bytes(frame: DataFrame, name: str) -> Column:
    """A column by its name; text is compared by bytes, because a collation may make `a` and `A` equal."""
    from pyspark.sql import functions as sql

    column = sql.col(quote_name(name))
    collation = getattr(frame.schema[name].dataType, "collation", "UTF8_BINARY")
    return column if collation == "UTF8_BINARY" else sql.collate(column, "UTF8_BINARY")
