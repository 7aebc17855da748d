"""Results for people and machines: one self-contained page, and JSON with a published schema."""

from incrowd.reports.document import document, key_numbers, verdict_figure
from incrowd.reports.elements import DataTable, Figure, ReportSection
from incrowd.reports.first_page import Origin
from incrowd.reports.html import chart_engine, to_html, write_html
from incrowd.reports.schema import read_assessment, schema
from incrowd.reports.template_values import chart_spec

__all__ = [
    "DataTable",
    "Figure",
    "Origin",
    "ReportSection",
    "chart_engine",
    "chart_spec",
    "document",
    "key_numbers",
    "read_assessment",
    "schema",
    "to_html",
    "verdict_figure",
    "write_html",
]
