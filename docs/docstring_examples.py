"""For the site: examples in docstrings are code, and options that a decorator spells out are parameters.

A griffe extension, named in mkdocs.yml.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^( *)>>> .*?(?=\n\s*\n|\Z)", flags=re.MULTILINE | re.DOTALL)


def _shown(default: Any) -> str:
    return default.__name__ if inspect.isfunction(default) else repr(default)


class DocstringExamples(griffe.Extension):
    """Put a fence around every run of lines that starts with >>>."""

    def on_function_instance(self, *, func: Any, **_: Any) -> None:
        """Give a function that `takes_options` decorates its keywords, and the docstring that lists them."""
        if any(str(decorator.value).startswith("takes_options(") for decorator in func.decorators):
            function = getattr(importlib.import_module(func.module.path), func.name)
            func.docstring.value = inspect.getdoc(function)
            func.parameters = griffe.Parameters(
                *(
                    griffe.Parameter(
                        name,
                        annotation=str(parameter.annotation),
                        kind=griffe.ParameterKind[parameter.kind.name.lower()],
                        default=None if parameter.default is parameter.empty else _shown(parameter.default),
                    )
                    for name, parameter in inspect.signature(function).parameters.items()
                )
            )

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
