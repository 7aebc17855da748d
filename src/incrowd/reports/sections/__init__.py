"""The sections of a report, one per file, named like the section of the assessment that it shows.

`show(assessment, external)` returns None if outsiders do not see the section.
"""
