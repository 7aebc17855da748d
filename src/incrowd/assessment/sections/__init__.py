"""The sections of an assessment, one a file; each ends with its `SECTION`."""
