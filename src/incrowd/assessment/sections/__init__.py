"""The sections of an assessment, one a file."""
