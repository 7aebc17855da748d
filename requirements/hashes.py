"""Adds to every line of locks the SHA-256 of all files of that release, as pip's index lists them.

python requirements/hashes.py requirements/base.lock requirements/dev.lock

A mirror that serves files unchanged has the same hashes. All files are listed, so a lock holds on every platform.
"""

import os
import re
import sys
import urllib.request
from pathlib import Path

from pip._internal.models.index import PyPI  # the address that pip asks by default

INDEX = os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")


def with_hashes(line: str) -> str:
    """A line of a lock, `name==version`, with one --hash for every file of the release."""
    pinned = line.split()[0]
    name, version = pinned.split("==")
    page = f"{INDEX}/{re.sub('[-_.]+', '-', name).lower()}/"
    with urllib.request.urlopen(urllib.request.Request(page, headers={"Accept": "text/html"})) as answer:
        listed = answer.read().decode()
    of_version = rf'-{re.escape(version)}(?:-[^/"#]+\.whl|\.tar\.gz|\.zip)#sha256=([0-9a-f]{{64}})"'
    found = sorted(set(re.findall(of_version, listed)))
    if not found:
        sys.exit(f"{pinned}: the index lists no file with a SHA-256")
    return " ".join([pinned, *(f"--hash=sha256:{one}" for one in found)])


if __name__ == "__main__":
    for lock in map(Path, sys.argv[1:]):
        lock.write_text("".join(f"{with_hashes(line)}\n" for line in lock.read_text().splitlines()))
