"""One self-contained page: no network, no other file, aggregates only."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup

from incrowd._support.files import written_whole
from incrowd.assessment import Assessment
from incrowd.reports.document import document, verdict_figure
from incrowd.reports.first_page import Origin, first_page
from incrowd.reports.fixed_text import CAVEATS, GLOSSARY, OUTSIDE
from incrowd.reports.static_charts import static_chart
from incrowd.reports.template_values import TEMPLATES, plain_document, templates
from incrowd.wording import display_names, with_display_names


def write_html(
    assessment: Assessment,
    path: str | Path,
    *,
    external: bool = False,
    origin: Origin | None = None,
    force: bool = False,
) -> Path:
    """Write the report as one file.

    Args:
        assessment: the assessment.
        path: the file.
        external: leave out what would help an attacker.
        origin: what a protected table was made of, and who decided about it.
        force: replace an existing file.

    Returns:
        The path.

    Raises:
        InputError: the file exists and may not be replaced.
    """
    with written_whole(path, force=force) as temporary:
        temporary.write_text(to_html(assessment, external=external, origin=origin), encoding="utf-8", newline="\n")
    return Path(path)


def to_html(assessment: Assessment, *, external: bool = False, origin: Origin | None = None) -> str:
    """The report as HTML: one page for those who decide, and an appendix.

    Args:
        assessment: the assessment.
        external: make the short report that leaves out what would help an attacker.
        origin: what a protected table was made of, and who decided about it.
    """
    plain = plain_document(assessment, external=external)
    shown = display_names([one.column for one in assessment.roles.suggested])
    figures = [verdict_figure(assessment)]
    figures += [figure for section in document(assessment, external=external) for figure in section.figures]
    charts = {figure.name: Markup(static_chart(figure, shown)) for figure in figures}
    return (
        templates()
        .get_template("report.html")
        .render(
            plain,
            charts=charts,
            first=with_display_names(first_page(assessment, origin), shown),
            glossary=[entry for entry in GLOSSARY if not external or entry[0] in OUTSIDE],
            caveats=CAVEATS,
            style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
            dark=(TEMPLATES / "dark.css").read_text(encoding="utf-8"),
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
