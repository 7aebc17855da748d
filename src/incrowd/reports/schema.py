"""The published schema of an assessment's JSON, and reading a saved one back."""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import json
import os
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

import numpy as np

from incrowd._support.files import read_small
from incrowd.assessment import SCHEMA, Assessment, provenance  # noqa: F401  # a class that its annotations name
from incrowd.errors import InputError
from incrowd.results import Result

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Path: {"type": "string"},
    np.ndarray: {"type": "array", "items": {"type": "number"}},
}


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of every assessment, made from the classes of its results.

    >>> schema()["properties"]["schema"]
    {'const': 'incrowd/assessment/2'}
    """
    content = result_schema(Assessment)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:incrowd:assessment:2",
        "title": "An assessment of incrowd",
        **content,
        "properties": {"schema": {"const": SCHEMA}, **content["properties"]},
        "required": ["schema", *content["required"]],
        "additionalProperties": False,
    }


def result_schema(result: type[Result]) -> dict[str, Any]:
    """The JSON schema of what `to_dict` of a class gives: its fields, then its derived properties.

    A field with a default may be missing: it may be younger than the file.

    >>> from incrowd.leaks import LeakRisk
    >>> result_schema(LeakRisk)["properties"]["odds"]
    {'type': 'string', 'description': 'The probability as "1 in …".'}
    """
    properties, required = {}, []
    for field in dataclasses.fields(result):  # type: ignore[arg-type]  # every result is a dataclass
        if field.name not in result._hidden:
            key = result._renamed.get(field.name, field.name)
            properties[key] = _type_schema(field.type, _defining_class(result, field.name))
            has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
            required += [] if has_default else [key]
    for name in result._derived:
        key = result._renamed.get(name, name)
        properties[key] = _property_schema(inspect.getattr_static(result, name))
        required.append(key)
    for key, kind in result._keys.items():
        properties[key] = _type_schema(kind, result)
        required.append(key)
    return {
        "type": "object",
        "description": inspect.cleandoc(result.__doc__ or "").partition("\n")[0],
        "properties": properties,
        "required": list(dict.fromkeys(required)),
        "additionalProperties": True,
    }


def _property_schema(found: Any) -> dict[str, Any]:
    """The schema of a property, a cached property or a constant of a class."""
    getter = getattr(found, "fget", None) or getattr(found, "func", None)
    if getter is None:
        return _PLAIN.get(type(found), {})
    about = inspect.cleandoc(getter.__doc__ or "").partition("\n")[0]
    returned = _type_schema(getter.__annotations__["return"], getter)
    return {**returned, "description": about} if about else returned


def _type_schema(kind: Any, owner: Any) -> dict[str, Any]:
    """The schema of values of a type; `owner` is the class or function whose module the annotation is written in."""
    if isinstance(kind, ForwardRef):
        kind = kind.__forward_arg__
    if isinstance(kind, str):
        kind = eval(kind, {"__builtins__": {}}, _Names(owner))
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**_type_schema(arguments[0], owner), **dict(arguments[1])}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type_schema(argument, owner) for argument in arguments]}
    if inspect.isclass(origin) and issubclass(origin, np.ndarray):
        return _PLAIN[np.ndarray]
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type_schema(arguments[1], owner)}
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_type_schema(argument, owner) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is not None:  # a sequence or a set
        return {"type": "array", "items": _type_schema(arguments[0], owner)}
    if inspect.isclass(kind) and issubclass(kind, Result):
        return result_schema(kind)
    if hasattr(kind, "_fields"):  # a named tuple that is an object in JSON
        fields = {name: _type_schema(kind.__annotations__[name], kind) for name in kind._fields}
        return {"type": "object", "properties": fields, "required": [*fields]} if hasattr(kind, "to_dict") else {}
    anything = kind in (Any, object) or (inspect.isclass(kind) and hasattr(kind, "to_dict"))
    return _PLAIN.get(kind, {} if anything else {"type": "string"})  # as `as_json` writes it


def _defining_class(result: type[Result], name: str) -> type:
    """The class whose body has the field."""
    return next(one for one in result.__mro__ if name in inspect.get_annotations(one))


class _Names(dict[str, Any]):
    """Names in an annotation: those of its module, built-in ones, and classes that only type checkers import there."""

    def __init__(self, owner: Any) -> None:
        super().__init__(vars(sys.modules[owner.__module__]))

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        for module in [vars(module) for key, module in [*sys.modules.items()] if key.startswith("incrowd.")]:
            if inspect.isclass(module.get(name)):
                return module[name]
        raise KeyError(name)


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
