"""JUnit XML, which CI servers show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple
from xml.etree import ElementTree

_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


class JunitCase(NamedTuple):
    """A test case; `problem` says why it did not pass, and is None if it passed."""

    name: str
    problem: str | None
    details: str = ""
    kind: Literal["failure", "error"] = "failure"


def junit_xml(suite: str, cases: Sequence[JunitCase], class_name: str, output: str = "") -> str:
    """A suite of test cases as JUnit XML.

    >>> junit_xml("check", [JunitCase("k", "too small")], "gate").count("<failure")
    1
    """
    problems = [case.kind for case in cases if case.problem is not None]
    counts = {"failures": problems.count("failure"), "errors": problems.count("error"), "skipped": 0}
    texts = {name: str(count) for name, count in {"tests": len(cases), **counts}.items()}
    root = ElementTree.Element("testsuite", {"name": _xml_text(suite), **texts})
    for case in cases:
        element = ElementTree.SubElement(root, "testcase", classname=class_name, name=_xml_text(case.name))
        if case.problem is not None:
            why = ElementTree.SubElement(element, case.kind, message=_xml_text(case.problem))
            why.text = _xml_text(case.details or case.problem)
    if output:
        ElementTree.SubElement(root, "system-out").text = _xml_text(output)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml_text(text: str) -> str:
    """Text without the control characters and lone surrogates that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
