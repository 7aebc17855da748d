"""The app in a browser: the whole way, by mouse and by keyboard, on a phone, by night; nothing asked of the network."""

from pathlib import Path

import pytest
from tests.web.browsing import answered, demo

pytestmark = pytest.mark.xdist_group("browser-way")  # one worker: the browser is started once
AXE = Path(__file__).parents[2] / ".tools-npm" / "node_modules" / "axe-core" / "axe.min.js"
STEPS = ("roles", "risk", "forecast", "leak", "protect", "report")


def test_the_whole_way_by_mouse(opened, shots, tmp_path):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.screenshot(path=shots / "1-data.png", full_page=True)
    page.select_option("#rows", "3000")
    page.click("#demo button")
    page.wait_for_url("**/roles")
    page.wait_for_selector("html[data-settled=yes]", state="attached")
    assert "100%" not in page.inner_text("#live .cards div:last-child")  # the average

    for column, role in (("oshpd_id", "quasi-identifier"), ("patcnty", "other"), ("oshpd_id", "other")):
        page.select_option(f".card[data-column={column}] select", role)
        page.wait_for_selector(f".lane[data-role={role}] .card[data-column={column}]")
    page.drag_and_drop(".card[data-column=ethncty] b", ".lane[data-role=sensitive] h2")
    page.wait_for_selector(".lane[data-role=sensitive] .card[data-column=ethncty]")
    page.wait_for_selector("#live:not(.fading)")
    assert "100%" not in page.inner_text("#live .cards div:last-child")  # the average
    page.click("#undo")
    page.wait_for_selector(".lane[data-role=quasi-identifier] .card[data-column=ethncty]")
    page.click("#redo")
    page.wait_for_selector(".lane[data-role=sensitive] .card[data-column=ethncty]")
    assert page.query_selector("#live .meter:not(.over):not(.elsewhere)") is None  # nothing is green before the verdict
    assert "columns have only a suggested role" in page.inner_text("#judged")
    page.click(".card[data-column=sex] .confirm")
    page.wait_for_selector(".card[data-column=sex] .confirm", state="detached")
    page.click("#confirm-all")
    page.wait_for_selector("#judged", state="hidden")
    page.click("text=A restricted circle")
    page.fill("#population", "many")
    page.click("text=See the risk")
    page.wait_for_selector("#population[aria-invalid=true]")
    assert page.url.endswith("/roles")
    page.click("#add-group")
    assert "Choose what is known" in page.inner_text(".group output")
    page.click(".group .chip >> nth=0")
    page.wait_for_selector(".group output >> text=named correctly")
    assert "named correctly" in page.inner_text(".group output")
    page.screenshot(path=shots / "2-roles.png", full_page=True)

    page.fill("#population", "0.3 million")
    page.click("text=See the risk")
    page.wait_for_url("**/risk")
    answered(page)
    assert "in the population" in page.inner_text("#verdict")
    assert len(page.query_selector_all("#view .chart[data-drawn=yes]")) == 9
    assert page.inner_text("#verdict-title") == "No: low on average, but not for everybody"
    for figure in page.query_selector_all("#view figure"):
        assert figure.query_selector("figcaption p").inner_text()
        assert figure.query_selector("details table")
        assert "What does this mean?" in figure.inner_text()
    page.screenshot(path=shots / "3-risk.png", full_page=True)

    page.click(".onward a")
    answered(page)
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

    page.click(".onward a")
    answered(page)
    before, first = page.inner_text("#view .cards"), page.get_attribute("#view", "data-shown")
    page.evaluate("share.value = 12; share.dispatchEvent(new Event('input'))")
    answered(page, f"#view:not([data-shown='{first}'])")
    assert page.inner_text("#view .cards") != before
    assert "k = " in page.inner_text("#view .cards")
    page.screenshot(path=shots / "5-leak.png", full_page=True)

    page.click(".onward a")
    page.click("#protection button[type=submit]")
    answered(page)
    said = page.inner_text("#protected-title")
    assert said.startswith(("Yes: ", "No: ", "Too close"))  # every column is judged
    assert ("✓" in page.inner_text("#view .stamp")) == said.startswith("Yes: ")
    page.click("#compare")
    answered(page, "#frontier-view")
    first = page.get_attribute("#view", "data-shown")
    page.click("#figure-frontier .mark-symbol path >> nth=0")
    answered(page, f"#view:not([data-shown='{first}'])")
    with page.expect_download() as download:
        page.click("text=Download CSV")
    download.value.save_as(tmp_path / "safe.csv")
    assert len((tmp_path / "safe.csv").read_text().splitlines()) > 2_900
    page.screenshot(path=shots / "6-protect.png", full_page=True)
    safe = page.url
    page.click("#view .apply")
    page.wait_for_url(lambda url: url != safe and url.endswith("/risk"))
    assert "protected demo" in page.inner_text("#pick-table")
    page.goto(safe)

    page.click(".onward a")
    answered(page)
    with page.expect_download() as download:
        page.click("text=External report")
    assert download.value.suggested_filename.endswith("report-external.html")
    for view, verb in (("#view", "assess"), ("#protected-view", "protect")):
        page.click(f"{view} summary >> text=The same as a command") if verb == "protect" else None
        page.click(f"{view} button[aria-controls^=cli]")
        page.wait_for_selector(f"{view} button[aria-controls^=cli] >> text=Copied")
        assert f"incrowd {verb}" in page.evaluate("navigator.clipboard.readText()")
    page.screenshot(path=shots / "7-report.png", full_page=True)


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

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    press_until("#rows")
    page.keyboard.type("3,000")
    press_until("#demo button")
    page.keyboard.press("Enter")
    page.wait_for_url("**/roles")
    page.wait_for_selector("html[data-settled=yes]", state="attached")
    press_until(".card[data-column=race] select")
    page.keyboard.press("End")
    page.wait_for_selector(".lane[data-role=other] .card[data-column=race]")
    assert page.evaluate("document.activeElement.closest('.card').dataset.column") == "race"
    press_until(".onward a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/risk")
    answered(page)
    press_until("#view summary")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
    page.goto(f"{page.url.rsplit('/', 1)[0]}/leak")
    answered(page)
    press_until("#targets")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#targets-said") == "2"


def test_measured_points_are_forecast_without_a_table(opened, shots):
    page = opened()
    page.click("text=Forecast from measured points")
    page.fill("#pasted", "n,accuracy\n100,1.7")
    page.click("#points button[type=submit]")
    assert "Line 2" in page.inner_text("#problem")
    page.fill("#pasted", "n,accuracy\n100\t99%\n1000 0.95\n10000;0.86")
    page.click("#points button[type=submit]")
    answered(page)
    page.click("text=the world")
    assert "95% interval" in page.inner_text("#there")
    page.screenshot(path=shots / "8-points.png", full_page=True)


def test_every_page_is_without_barriers_by_day_by_night_and_on_a_phone(opened, base, shots):
    page = opened(bypass_csp=True)  # axe is a script that the policy does not know
    table = demo(page)
    found = {}
    for name in ("", "points", *(f"tables/{table}/{step}" for step in STEPS)):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{base}/{name}")
        step = name.rpartition("/")[2] or "data"
        if step == "roles":
            page.wait_for_selector("html[data-settled=yes]", state="attached")
        if step == "protect":
            page.click("#protection button[type=submit]")
        if step not in ("data", "points", "roles"):
            answered(page)
        for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 29)")):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
            page.screenshot(path=shots / f"{step}-{scheme}.png", full_page=scheme == "light")
            found |= barriers(page, f"{scheme} {step}", [] if scheme == "light" else ["color-contrast"])
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="light")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
        if step == "risk":
            page.reload()
            answered(page)
            assert len(page.query_selector_all("#view details.fold:not([open])")) >= 4
            page.click(".contents a >> nth=0")
            page.wait_for_selector("#view details.fold[open]")
        page.screenshot(path=shots / f"{step}-phone.png", full_page=True)
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
