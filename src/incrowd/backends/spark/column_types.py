"""Columns of Spark frames: names and types as Spark is told them, and text compared by its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def quote_name(name: str) -> str:
    """A column's name as Spark reads it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def schema_text(frame: DataFrame, **added: str) -> str:
    """The columns and types of a frame, and of columns to add by their names and types, as Spark is told them."""
    return ", ".join(f"{quote_name(name)} {kind}" for name, kind in [*frame.dtypes, *added.items()])


def column_by_bytes(frame: DataFrame, name: str) -> Column:
    """A column by its name, whatever is in that; text without its collation, by which `a` and `A` may be equal."""
    from pyspark.sql import functions as sql

    column = sql.col(quote_name(name))
    collation = getattr(frame.schema[name].dataType, "collation", "UTF8_BINARY")
    return column if collation == "UTF8_BINARY" else sql.collate(column, "UTF8_BINARY")
