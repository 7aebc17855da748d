"""The page in a browser that has no network: drawn, readable, in the dark, on paper, by keyboard, on a phone."""

import pytest

from incrowd.reports import write_html

pytestmark = pytest.mark.xdist_group("report")  # one worker: the assessments are made once


@pytest.fixture(scope="module")
def file(ordinary, tmp_path_factory):
    return write_html(ordinary, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def opened(browser, file):
    """A function that opens the report; at the end nothing was asked of the network and nothing went wrong."""
    contexts, troubles = [], []

    def watch(request):
        if not request.url.startswith(("file:", "data:")):
            troubles.append(f"asked for {request.url}")

    def open_page(path=file, **options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", watch)
        page.on("console", lambda message: troubles.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def test_every_figure_is_drawn_and_nothing_is_fetched(opened):
    page = opened()
    charts = page.query_selector_all(".chart svg")
    assert len(charts) == 9
    for chart in charts:
        box = chart.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 60
        assert chart.query_selector_all("[aria-roledescription]")
    assert page.query_selector_all("script") == []
    ids = page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert len(ids) == len({*ids})


def test_the_first_page_is_one_sheet_of_paper(opened):
    """Verdict, chain, numbers and lines to sign come before the appendix, which begins a new sheet."""
    page = opened(viewport={"width": 688, "height": 1_017})  # A4 between margins of 14 mm
    page.emulate_media(media="print")
    end = page.eval_on_selector(".page", "(one) => one.getBoundingClientRect().bottom")
    assert end <= 1_017
    for part in (".verdict", ".chain", ".crowd-picture", ".pair table", ".sigs"):
        assert page.query_selector(f".page {part}"), part
    assert page.eval_on_selector(".appendix", "(one) => getComputedStyle(one).breakBefore") == "page"


def test_the_tables_open_by_keyboard_and_can_be_read(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    summary = page.query_selector("#facts summary")
    summary.focus()
    page.keyboard.press("Enter")
    rows = page.query_selector_all("#facts details tbody tr")
    assert len(rows) > 2
    assert all(row.is_visible() and row.inner_text().strip() for row in rows)


def lightness(page, selector, what):
    """How light a colour is, from 0 to 1."""
    colour = page.evaluate("([s, w]) => getComputedStyle(document.querySelector(s))[w]", [selector, what])
    red, green, blue = (float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_by_day_and_by_night(opened, scheme):
    page = opened(color_scheme=scheme)
    paper = lightness(page, "body", "backgroundColor")
    assert (paper > 0.9) if scheme == "light" else (paper < 0.15)
    for selector, what in (("body", "color"), (".chart svg text", "fill"), (".verdict h2", "color")):
        assert abs(lightness(page, selector, what) - paper) > 0.4


def test_it_prints_to_a_clean_pdf(opened, tmp_path):
    page = opened(color_scheme="dark")
    page.pdf(path=tmp_path / "report.pdf", format="A4", print_background=True)
    paper = (tmp_path / "report.pdf").read_bytes()
    assert paper.startswith(b"%PDF")
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") + paper.count(b"/Type /Page/") >= 3
    page.emulate_media(media="print")
    assert lightness(page, "body", "backgroundColor") > 0.99
    assert not page.query_selector("nav").is_visible()


def test_it_fits_a_phone(opened):
    page = opened(viewport={"width": 380, "height": 800})
    page.wait_for_function("document.documentElement.scrollWidth <= 380")


def test_a_table_that_attacks_its_reader_fails(opened, nasty, tmp_path):
    page = opened(write_html(nasty, tmp_path / "nasty.html"))
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
