"""The sections of a report, one a file: `show(assessment, external)` is None where outsiders are not shown it."""
