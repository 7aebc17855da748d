"""The published schema of an assessment's JSON, and reading a saved one back."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from incrowd._support.files import read_small
from incrowd.assessment import SCHEMA
from incrowd.assessment.result import SECTIONS
from incrowd.errors import InputError

_FILE = files(__package__) / "assessment-2.schema.json"


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of every assessment.

    A section that the file does not describe is an object, or null if it has no answer.

    >>> schema()["properties"]["schema"]
    {'const': 'incrowd/assessment/2'}
    """
    content: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    for section in SECTIONS:
        content["properties"].setdefault(section.name, {"type": ["object", "null"]})
    return content


def read_assessment(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read an assessment that was saved as JSON.

    Args:
        path: the file.

    Returns:
        The assessment in plain JSON types.

    Raises:
        InputError: the file cannot be read, or is no assessment of a version this package knows.
    """
    import jsonschema

    name = Path(path).name
    try:
        content = json.loads(read_small(path))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the name and the folder you are in") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{name} is not JSON text; give an assessment that was saved as JSON", hint="json") from None
    stated = content.get("schema") if isinstance(content, dict) else None
    if stated == "incrowd/assessment/1":
        raise InputError(
            f"{name} is an assessment of version 1, which held only the average against a limit; assess the table again"
        )
    if stated != SCHEMA:
        other = f"it says {stated!r}" if isinstance(stated, str) else "it does not say what it is"
        raise InputError(f"{name} is not an assessment of this version ({SCHEMA}): {other}")
    wrong = next(iter(jsonschema.Draft202012Validator(schema()).iter_errors(content)), None)
    if wrong is not None:
        where = "/".join(str(part) for part in wrong.absolute_path) or "the top"
        raise InputError(f"{name} does not keep to the schema of an assessment at {where}; make it anew")
    plain: dict[str, Any] = content
    return plain
