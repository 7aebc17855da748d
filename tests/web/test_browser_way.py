"""The app in a browser: the whole way, by mouse and by keyboard, on a phone, by night; nothing asked of the network."""

from pathlib import Path

import pytest
from tests.web.browsing import answered, ask, choose, demo, look, settled

pytestmark = pytest.mark.xdist_group("browser-way")  # one worker: the browser is started once
AXE = Path(__file__).parents[2] / ".tools-npm" / "node_modules" / "axe-core" / "axe.min.js"
LENSES = {"crowd": None, "risk": "#risk-view", "forecast": "#forecast-view", "leak": "#leak-view"}
LENSES |= {"candidates": "#candidate-view", "attack": None, "curves": None, "report": "#report-view"}


def test_the_whole_way_by_mouse(opened, shots, tmp_path):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.screenshot(path=shots / "1-data.png", full_page=True)
    page.select_option("#rows", "3000")
    page.click("#demo button[type=submit]")
    page.wait_for_url("**/crowd")
    settled(page)
    assert page.get_attribute("#crowd", "data-people") == "3000"
    assert "right 100% of the time" not in page.inner_text("#crowd-words")

    for column, role in (("oshpd_id", "quasi-identifier"), ("patcnty", "other"), ("oshpd_id", "other")):
        choose(page, column)
        page.click(f"#role-buttons button[data-role={role}]")
        page.wait_for_selector(f".column[data-column={column}][data-role={role}][data-decided=yes]")
    choose(page, "ethncty")
    page.keyboard.press("s")
    page.wait_for_selector(".column[data-column=ethncty][data-role=sensitive]")
    page.wait_for_selector(".drawing:not(.fading)")
    assert "right 100% of the time" not in page.inner_text("#crowd-words")
    page.click("#undo")
    page.wait_for_selector(".column[data-column=ethncty][data-role=quasi-identifier]")
    page.click("#redo")
    page.wait_for_selector(".column[data-column=ethncty][data-role=sensitive]")
    assert page.query_selector(".verdict.within, .candidate.within") is None  # nothing is green before the verdict
    assert "columns have only a suggested role" in page.inner_text("#open-words")
    choose(page, "sex")
    page.click("#role-buttons .confirm")
    page.wait_for_selector(".column[data-column=sex][data-decided=yes]")
    page.click("#confirm-all")
    page.wait_for_selector("#confirm-all", state="hidden")
    assert page.inner_text("#tile-columns strong") == "11 of 11"
    page.select_option("#recipient", "restricted")
    page.fill("#population", "many")
    page.click("#assess")
    page.wait_for_selector("#population[aria-invalid=true]")
    assert ask(page, "GET", "/jobs") == []
    page.click(".together summary")
    page.click("#add-group")
    assert "Choose what is known" in page.inner_text(".group output")
    page.click(".group .chip >> nth=0")
    page.wait_for_selector(".group output >> text=named correctly")
    page.screenshot(path=shots / "2-crowd.png")

    page.fill("#population", "0.3 million")
    page.click("#assess")
    page.click("#tab-risk")
    answered(page, "#risk-view")
    assert page.get_attribute("#tile-risk", "data-state") == "done"
    assert "in the population" in page.inner_text("#verdict")
    assert page.inner_text("#verdict-title") == "No: low on average, but not for everybody"
    assert len(page.query_selector_all("#risk-view .cards div")) == 4
    assert len(page.query_selector_all("#risk-view .chart[data-drawn=yes]")) == 3
    page.screenshot(path=shots / "3-risk.png", full_page=True)
    page.evaluate("document.querySelectorAll('#risk-view details.fold').forEach((one) => { one.open = true; })")
    page.wait_for_function("() => document.querySelectorAll('#risk-view .chart[data-drawn=yes]').length === 9")
    for figure in page.query_selector_all("#risk-view figure"):
        assert figure.query_selector("figcaption p").inner_text()
        assert figure.query_selector("details table")
        assert "What does this mean?" in figure.inner_text()

    page.click("#tab-forecast")
    answered(page, "#forecast-view")
    assert page.inner_text("#people") == "300,000"
    page.click("text=the world")
    assert page.inner_text("#people") == "7,530,000,000"
    world = page.inner_text("#there")
    page.evaluate("size.value = 0; size.dispatchEvent(new Event('input'))")
    assert page.inner_text("#people") == "1"
    assert "100%" in page.inner_text("#there")
    assert "counted" in page.inner_text("#there")
    assert page.inner_text("#there") != world
    page.screenshot(path=shots / "4-forecast.png", full_page=True)

    page.click("#tab-leak")
    answered(page, "#leak-view")
    before, first = page.inner_text("#leak-view .cards"), page.get_attribute("#leak-view", "data-shown")
    page.evaluate("share.value = 12; share.dispatchEvent(new Event('input'))")
    answered(page, f"#leak-view:not([data-shown='{first}'])")
    assert page.inner_text("#leak-view .cards") != before
    assert "k = " in page.inner_text("#leak-view .cards")
    page.screenshot(path=shots / "5-leak.png", full_page=True)

    page.click("#protection button[type=submit]")
    answered(page, "#candidate-view")
    said = page.inner_text("#protected-title")
    assert said.startswith(("Yes: ", "No: ", "Too close"))  # every column is judged
    assert ("✓" in page.inner_text("#candidate-view .stamp")) == said.startswith("Yes: ")
    page.click("#compare")
    answered(page, "#frontier-view")
    first = page.get_attribute("#candidate-view", "data-shown")
    page.click("#figure-frontier .mark-symbol path >> nth=0")
    answered(page, f"#candidate-view:not([data-shown='{first}'])")
    page.wait_for_selector("#shelf .candidate >> nth=1")
    good = page.query_selector("#shelf .candidate.within[data-current=yes]") is not None
    assert page.get_attribute("#tile-after", "data-state") == ("done" if good else "open")
    with page.expect_download() as download:
        page.click("text=Download CSV")
    download.value.save_as(tmp_path / "safe.csv")
    assert len((tmp_path / "safe.csv").read_text().splitlines()) > 2_900
    page.screenshot(path=shots / "6-candidates.png", full_page=True)
    copied(page, "#candidate-view", "protect")
    page.click("#tab-report")
    answered(page, "#report-view")
    with page.expect_download() as download:
        page.click("text=External report")
    assert download.value.suggested_filename.endswith("report-external.html")
    copied(page, "#report-view", "assess")
    page.screenshot(path=shots / "7-report.png", full_page=True)
    page.click("#tab-candidates")  # nothing was lost by looking elsewhere
    assert page.inner_text("#protected-title")
    original = page.url
    page.click("#candidate-view .apply")
    page.wait_for_url(lambda url: url != original and url.endswith("/risk"))
    assert "protected demo" in page.inner_text("#pick-table")


def copied(page, view, verb):
    """The command that does the same, copied."""
    if verb == "protect":
        page.click(f"{view} summary >> text=The same as a command")
    page.click(f"{view} button[aria-controls^=cli]")
    page.wait_for_selector(f"{view} button[aria-controls^=cli] >> text=Copied")
    assert f"incrowd {verb}" in page.evaluate("navigator.clipboard.readText()")


def test_the_way_by_keyboard_alone(opened, base):
    page = opened()

    def press_until(selector, most=60):
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"no visible focus on {selector}"
                return
        raise AssertionError(f"{selector} is not reached by Tab")

    def focused():
        return page.evaluate("document.activeElement.dataset.column")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    press_until("#rows")
    page.keyboard.type("3,000")
    press_until("#demo button[type=submit]")
    page.keyboard.press("Enter")
    page.wait_for_url("**/crowd")
    settled(page)
    press_until(".column")
    while focused() != "race":
        before = focused()
        page.keyboard.press("ArrowDown")
        assert focused() != before
    page.keyboard.press("n")
    page.wait_for_selector(".column[data-column=race][data-role=other][data-decided=yes]")
    assert focused() == "race"
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    assert page.inner_text("#chosen") == "3 columns selected"
    page.keyboard.press("i")
    page.wait_for_function(
        "() => document.querySelectorAll('.column[data-role=identifier][data-decided=yes]').length === 3"
    )
    page.keyboard.press("Control+z")
    page.wait_for_selector(".column[data-role=identifier]", state="detached")
    press_until("#tab-crowd")
    page.keyboard.press("ArrowRight")
    answered(page, "#risk-view")  # looking at the risk assesses it
    press_until("#risk-view summary")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
    page.focus("#tab-risk")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    answered(page, "#leak-view")
    press_until("#targets")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#targets-said") == "2"


def test_the_crowd_is_drawn_and_a_record_is_seen_with_other_eyes(opened, base, shots):
    page = opened()
    look(page, base, demo(page, rows=1_000))
    drawn = (
        "() => document.getElementById('crowd').getContext('2d').getImageData(0, 0, 400, 400).data.some((one) => one)"
    )
    assert page.evaluate(drawn)
    alone = int(page.inner_text("#crowd-rows tr:first-child td").replace(",", ""))
    assert f"{alone:,} of 1,000 people" in page.inner_text("#crowd-words")
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.evaluate("const k = document.getElementById('crowd-k'); k.value = 7; k.dispatchEvent(new Event('input'))")
    assert "With classes of at least 7" in page.inner_text("#crowd-words")
    assert page.inner_text("#crowd-rows tr:first-child td:last-child") == "0"
    assert page.input_value("#k") == "7"  # the form asks for what is shown
    assert not {"crowd", "live"} & {*asked}  # dragging k asks nothing of the server
    page.click("#riskiest summary")
    page.wait_for_selector("#riskiest-rows td.masked")
    page.click("#riskiest-rows button >> nth=0")
    page.wait_for_selector("#person-view .path li")
    assert "••••" in page.inner_text("#person-view")
    page.click("#person-view >> text=Show the values")
    page.wait_for_function("() => !document.querySelector('#person-view table').innerText.includes('••••')")
    page.screenshot(path=shots / "crowd-person.png", full_page=True)
    choose(page, "age_yrs")
    page.keyboard.press("n")
    page.wait_for_selector(f"#crowd-rows tr:first-child td:nth-child(2):not(:text-is('{alone:,}'))")


def test_measured_points_are_forecast_without_a_table(opened, shots):
    page = opened()
    page.click("text=Forecast from measured points")
    page.fill("#pasted", "n,accuracy\n100,1.7")
    page.click("#points button[type=submit]")
    assert "Line 2" in page.inner_text("#problem")
    page.fill("#pasted", "n,accuracy\n100\t99%\n1000 0.95\n10000;0.86")
    page.click("#points button[type=submit]")
    answered(page, "#view")
    page.click("text=the world")
    assert "95% interval" in page.inner_text("#there")
    page.screenshot(path=shots / "8-points.png", full_page=True)


def test_every_lens_is_without_barriers_by_day_by_night_and_on_a_phone(opened, base, shots):
    page = opened(bypass_csp=True)  # axe is a script that the policy does not know
    table = demo(page)
    found = {}
    for name in ("", "points", *(f"tables/{table}/{lens}" for lens in LENSES)):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{base}/{name}")
        step = name.rpartition("/")[2] or "data"
        if step in LENSES:
            settled(page)
        if step == "candidates":
            page.click("#protection button[type=submit]")
        if LENSES.get(step):
            answered(page, LENSES[step])
        for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 29)")):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
            page.screenshot(path=shots / f"{step}-{scheme}.png", full_page=scheme == "light")
            found |= barriers(page, f"{scheme} {step}", [] if scheme == "light" else ["color-contrast"])
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="light")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        if step == "risk":
            assert len(page.query_selector_all("#risk-view details.fold:not([open])")) >= 4
            page.click("#risk-view details.fold summary >> nth=0")
            page.wait_for_selector("#risk-view details.fold[open]")
        page.screenshot(path=shots / f"{step}-phone.png", full_page=True)
        for pane in ("columns", "protect") if step == "crowd" else ():
            page.click(f"#panes button[data-pane={pane}]")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, pane
            page.screenshot(path=shots / f"{pane}-phone.png", full_page=True)
            found |= barriers(page, f"phone {pane}", [])
    assert found == {}
    if not AXE.is_file():
        pytest.skip("all but the barriers was looked at: no axe-core here; `make test` installs it where it can")


def barriers(page, where, rules):
    """What axe-core finds serious on a page; all rules, or some of them."""
    if not AXE.is_file():
        return {}
    if not page.evaluate("Boolean(window.axe)"):
        page.add_script_tag(path=AXE)
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    report = page.evaluate("options => axe.run({ exclude: ['.chart svg'] }, options)", options)
    return {
        f"{where}: {one['id']}": [node["html"][:200] for node in one["nodes"][:3]]
        for one in report["violations"]
        if one["impact"] in ("serious", "critical")
    }


def test_the_reader_chooses_light_or_dark(opened):
    page = opened(color_scheme="light")
    page.click("#theme")
    assert page.inner_text("#theme") == "Light"
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 29)"
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
