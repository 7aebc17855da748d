"""A bill of materials (CycloneDX 1.6, JSON) of what the package needs at run time, as it is installed here.

python requirements/sbom.py > sbom.json
"""

import json
import re
import sys
from importlib.metadata import Distribution, distribution
from typing import Any

_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_CONDITION = re.compile("platform|python_version|implementation")
_CLASSIFIER = "License :: OSI Approved :: "


def requirements_of(extras: tuple[str, ...] = ("web", "database", "stats", "spark")) -> list[str]:
    """The names of all packages that incrowd needs, and those that they need in turn."""
    found: dict[str, None] = {}
    waiting = [("incrowd", frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        for line in distribution(name).requires or ():
            needed, _, condition = line.partition(";")
            extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", condition)
            if extra is not None and extra[1] not in wanted:
                continue
            if _CONDITION.search(condition) and not _is_installed(needed):
                continue
            named = _NAME.match(needed)[0].lower().replace("_", "-")  # type: ignore[index]
            if named not in found:
                found[named] = None
                waiting.append((named, frozenset(re.findall(r"\[([^\]]+)\]", needed))))
    return sorted(found)


def _is_installed(needed: str) -> bool:
    try:
        distribution(_NAME.match(needed)[0])  # type: ignore[index]
    except ImportError:
        return False
    return True


def licence_of(package: Distribution) -> str:
    """The licence that a package declares: as an expression, by its classifiers, or in its own words."""
    told = package.metadata
    named = [
        line.removeprefix(_CLASSIFIER) for line in told.get_all("Classifier") or () if line.startswith(_CLASSIFIER)
    ]
    own = (told.get("License") or "").strip().splitlines()
    return told.get("License-Expression") or " AND ".join(named) or (own[0] if own else "unknown")


def bill() -> dict[str, Any]:
    """The bill of materials."""
    parts = [distribution(name) for name in requirements_of()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(distribution("incrowd"), "application")},
        "components": [_component(part, "library") for part in parts],
    }


def _component(part: Distribution, kind: str) -> dict[str, Any]:
    name = part.metadata["Name"]
    return {
        "type": kind,
        "name": name,
        "version": part.version,
        "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{part.version}",
        "licenses": [{"license": {"name": licence_of(part)}}],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(bill(), indent=2) + "\n")
