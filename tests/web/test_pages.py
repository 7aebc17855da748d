"""The pages: one workbench for every place, addresses of former pages, and parts that scripts rely on."""

import re
from pathlib import Path

import pytest

from incrowd.web.pages import PLACES, SECTIONS

STATIC = Path(__file__).parents[2] / "src" / "incrowd" / "web" / "static"


@pytest.fixture
def address(script, demo):
    return f"/tables/{demo(script)['id']}"


def test_every_place_has_an_address_and_former_pages_lead_to_one(script, address):
    for place in (*PLACES, "curves"):
        page = script.get(f"{address}/{place}")
        assert page.status_code == 200
        assert f'data-place="{place}"' in page.text
    assert script.get(address).headers["location"] == f"{address}/who"
    for former, place in SECTIONS.items():
        answer = script.get(f"{address}/{former}")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{address}/{place}#{former}")
    assert script.get(f"{address}/nothing").status_code == 404


def test_no_id_is_given_twice_on_the_workbench(script, address):
    ids = re.findall(r'\bid="([^"]+)"', script.get(f"{address}/who").text)
    assert len(ids) == len({*ids})


def test_every_module_is_used_and_every_import_is_there():
    modules = {file.name: file.read_text() for file in STATIC.glob("*.js")}
    entries = {"curves.js", "data.js", "points.js", "theme.js", "workbench.js"}
    imported = {name for text in modules.values() for name in re.findall(r'(?:from|import) "\./([\w-]+\.js)"', text)}
    assert imported | entries == {*modules}


def test_what_pages_load_is_the_files_and_comes_again_only_when_it_has_changed(script):
    kinds = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
    names = [*(path.name for path in STATIC.iterdir()), "vega.js", "report.css", "dark.css", "charts.js"]
    for name in names:
        answer = script.get(f"/static/{name}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, kinds[Path(name).suffix])
        assert answer.headers["cache-control"] == "no-cache"  # kept, and asked for again
        assert not (STATIC / name).exists() or answer.content == (STATIC / name).read_bytes()
        again = script.get(f"/static/{name}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert script.get(f"/static/{name}", headers={"if-none-match": '"another"'}).content == answer.content
        assert script.head(f"/static/{name}").headers["etag"] == answer.headers["etag"]


def test_what_a_page_has_loaded_is_not_asked_for_again_until_another_version_is_served(script):
    (folder,) = {*re.findall(r'(?:href|src)="(/static/\w+)/[\w-]+\.\w+"', script.get("/").text)}
    answer = script.get(f"{folder}/app.css")
    assert (answer.status_code, answer.content) == (200, (STATIC / "app.css").read_bytes())
    assert answer.headers["cache-control"] == "max-age=31536000, immutable"
    other = script.get("/static/0123456789abcdef/app.css")  # a page that another version sent
    assert (other.status_code, other.headers["cache-control"]) == (200, "no-cache")
    missing = script.get(f"{folder}/nothing.js")
    assert (missing.status_code, missing.headers["cache-control"]) == (404, "no-store")


@pytest.mark.parametrize("name", ["nothing.js", "", "..%2fpages.py", "%2e%2e/pages.py", "a/../../pages.py"])
def test_nothing_else_is_loaded(script, name):
    assert script.get(f"/static/{name}").status_code == 404
