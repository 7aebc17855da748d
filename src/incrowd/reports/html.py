"""One self-contained page: no network, no other file, aggregates only."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from incrowd._support.files import written_whole
from incrowd.assessment import Assessment
from incrowd.reports.fixed_text import CAVEATS, GLOSSARY, OUTSIDE
from incrowd.reports.template_values import TEMPLATES, plain_document, safe_json, templates


def write_html(assessment: Assessment, path: str | Path, *, external: bool = False, force: bool = False) -> Path:
    """Write the report as one page.

    Args:
        assessment: the assessment.
        path: the file.
        external: leave out what would help an attacker.
        force: replace an existing file.

    Returns:
        The path.

    Raises:
        InputError: the file exists and may not be replaced.
    """
    with written_whole(path, force=force) as temporary:
        temporary.write_text(to_html(assessment, external=external), encoding="utf-8", newline="\n")
    return Path(path)


def to_html(assessment: Assessment, *, external: bool = False) -> str:
    """The report as HTML.

    Args:
        assessment: the assessment.
        external: make the short page that leaves out what would help an attacker.
    """
    plain = plain_document(assessment, external=external)
    engine = chart_engine()
    script = (TEMPLATES / "charts.js").read_text(encoding="utf-8")
    return (
        templates()
        .get_template("report.html")
        .render(
            {**plain, "specs": safe_json(plain["specs"])},
            glossary=[entry for entry in GLOSSARY if not external or entry[0] in OUTSIDE],
            caveats=CAVEATS,
            engine=engine,
            script=script,
            style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
            dark=(TEMPLATES / "dark.css").read_text(encoding="utf-8"),
            hashes=[_script_hash(text) for text in (engine, script)],
        )
    )


def chart_engine() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, bundled by the installed vl-convert.

    Bundling takes seconds, so the script is cached in the user's cache folder, one for each version.
    """
    cached = _cache() / f"vega-{version('vl-convert-python')}.js"
    if cached.is_file():
        return cached.read_text(encoding="utf-8")
    import vl_convert

    bundle: Any = vl_convert.javascript_bundle
    script: str = bundle().replace("\r\n", "\n").replace("</script", "<\\/script")
    try:
        with written_whole(cached, force=True) as temporary:
            temporary.write_text(script, encoding="utf-8", newline="\n")
    except ValueError:
        return script  # the cache folder cannot be written, so the script is bundled each time
    return script


def _cache() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "incrowd"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "incrowd"


def _script_hash(script: str) -> str:
    """The hash that the page's content security policy allows: this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
