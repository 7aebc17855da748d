"""The sections of a report, one a file, named as the section of the assessment that it shows.

`show(assessment, external)` is None where outsiders are not shown the section.
"""
