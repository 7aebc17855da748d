"""Results for people and machines: one self-contained page, and JSON with a published schema."""

from incrowd.report.document import document
from incrowd.report.html import to_html, write_html
from incrowd.report.pieces import DataTable, Figure, Section
from incrowd.report.schema import read_assessment, schema

__all__ = ["DataTable", "Figure", "Section", "document", "read_assessment", "schema", "to_html", "write_html"]
