"""Refusals of the app: an HTTP status and a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import IncrowdError
from incrowd.protection import PROTECTION_METHODS

_MUST = {
    "less_than_equal": "at most {le:,.15g}",
    "less_than": "below {lt:,.15g}",
    "greater_than_equal": "{ge:,.15g} or more",
    "greater_than": "above {gt:,.15g}",
    "literal_error": "{expected}",
    "too_long": "a list of at most {max_length}",
    "too_short": "a list of at least {min_length}",
    "string_too_long": "at most {max_length} letters long",
    "string_too_short": "at least {min_length} letters long",
    "model_attributes_type": "an object with named fields, {{…}}",
    "model_type": "an object with named fields, {{…}}",
    "dict_type": "an object with named fields, {{…}}",
    "list_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_parsing": "a whole number",
    "string_pattern_mismatch": "written as the document says (/api/v1/openapi.json)",
}


class Refusal(IncrowdError):  # noqa: N818
    """A refused request, with its HTTP status and a sentence that says what to do instead."""

    def __init__(self, status: int, sentence: str, choices: Sequence[str] = ()) -> None:
        super().__init__(sentence, choices=choices)
        self.status = status


def public_words(error: Exception) -> str:
    """The message of an error in the app's words, without paths of files in the server's private directory."""
    return method_labels(re.sub(r"cannot write .*[/\\][^/\\:]+:", "this server cannot write a file:", str(error)))


def method_labels(text: str) -> str:
    """A message with the labels of methods that it names: one in quotes, or several in a list.

    >>> method_labels("'coarsen' does not take keep; partition, generalise and blank do")
    '“same ranges for everybody” does not take keep; “partition”, “one coding for all” and “fewest cells blanked” do'
    """
    name = "|".join(PROTECTION_METHODS)

    def label(match: re.Match[str]) -> str:
        return re.sub(rf"'?\b({name})\b'?", lambda found: f"“{PROTECTION_METHODS[found[1]].label}”", match[0])

    return re.sub(rf"'(?:{name})'|\b(?:{name})(?:(?:, | and | or )(?:{name}))+\b", label, text)


def not_found(what: str) -> Refusal:
    """The refusal for an unknown name; tables and jobs of other sessions are unknown too."""
    return Refusal(404, f"there is no such {what}; it may have been removed, or belong to somebody else")


def describe_validation_error(errors: Sequence[Mapping[str, Any]]) -> str:
    """The first error of a request as a sentence, which repeats names of fields but no values."""
    first = next(iter(errors), {})
    kind, places = first.get("type", ""), [str(part) for part in first.get("loc", ()) if part != "body"]
    where = ".".join(part for part in places if part.replace("_", "").isalnum())  # without members of unions
    if kind == "json_invalid":
        return "the request is not JSON that can be read"
    if kind == "missing":
        return f"{where} is missing" if where else "the request has no body; send JSON"
    if kind == "extra_forbidden":
        return f"there is no field {where} here; /api/v1/openapi.json says which there are"
    if isinstance(error := first.get("ctx", {}).get("error"), IncrowdError):
        return str(error)
    must = _MUST.get(kind, "as the document says (/api/v1/openapi.json)").format(**first.get("ctx", {}))
    return f"{where or 'the request'} is not right: it must be {must}"
