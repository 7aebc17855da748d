"""For the site: examples in docstrings are code, not text. A griffe extension, named in mkdocs.yml."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^( *)>>> .*?(?=\n\s*\n|\Z)", flags=re.MULTILINE | re.DOTALL)


class DocstringExamples(griffe.Extension):
    """Put a fence around every run of lines that starts with >>>."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
