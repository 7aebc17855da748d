"""Results for people and machines: one self-contained page, and JSON with a published schema."""

from incrowd.report.document import document, verdict_figure
from incrowd.report.html import chart_engine, to_html, write_html
from incrowd.report.names import renamed, shown_names
from incrowd.report.parts import chart_spec
from incrowd.report.pieces import DataTable, Figure, Section
from incrowd.report.schema import read_assessment, schema

__all__ = [
    "DataTable",
    "Figure",
    "Section",
    "chart_engine",
    "chart_spec",
    "document",
    "read_assessment",
    "renamed",
    "schema",
    "shown_names",
    "to_html",
    "verdict_figure",
    "write_html",
]
