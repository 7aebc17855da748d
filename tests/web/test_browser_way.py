"""The app in a browser: the whole way, by mouse and by keyboard, on a phone, by night; nothing asked of the network."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.web.browsing import answered, ask, choose, demo, look, settled

pytestmark = pytest.mark.xdist_group("browser-way")  # one worker: the browser is started once
AXE = Path(__file__).parents[2] / ".tools-npm" / "node_modules" / "axe-core" / "axe.min.js"
LENSES = {"crowd": None, "risk": "#risk-view", "forecast": "#forecast-view", "leak": "#leak-view"}
LENSES |= {"candidates": "#candidate-view", "attack": None, "curves": None, "report": "#report-view"}


def test_the_whole_way_by_mouse(opened, shoot, tmp_path):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    shoot(page, "1-data.png", full_page=True)
    page.select_option("#rows", "3000")
    page.click("#demo button[type=submit]")
    page.wait_for_url("**/crowd")
    settled(page)
    expect(page.locator("#crowd")).to_have_attribute("data-people", "3000")
    assert "guesses right 100% of the time" not in page.inner_text("#crowd-words")

    for column, role in (("oshpd_id", "quasi-identifier"), ("patcnty", "other"), ("oshpd_id", "other")):
        choose(page, column)
        page.click(f"#role-buttons button[data-role={role}]")
        page.wait_for_selector(f".column[data-column={column}][data-role={role}][data-decided=yes]")
    choose(page, "ethncty")
    page.keyboard.press("s")
    page.wait_for_selector(".column[data-column=ethncty][data-role=sensitive]")
    page.wait_for_selector(".drawing:not(.fading)")
    assert "guesses right 100% of the time" not in page.inner_text("#crowd-words")
    page.click("#undo")
    page.wait_for_selector(".column[data-column=ethncty][data-role=quasi-identifier]")
    page.click("#redo")
    page.wait_for_selector(".column[data-column=ethncty][data-role=sensitive]")
    assert page.query_selector(".verdict.within, .candidate.within") is None  # nothing is green before the verdict
    expect(page.locator("#open-words")).to_contain_text("columns have only a suggested role")
    choose(page, "sex")
    expect(page.locator("#role-buttons .confirm")).to_have_attribute("aria-disabled", "false")
    page.click("#role-buttons .confirm")
    page.wait_for_selector(".column[data-column=sex][data-decided=yes]")
    page.click("#confirm-all")
    page.wait_for_selector("#confirm-all", state="hidden")
    page.select_option("#filter", "all")  # what has no reason is left to a person, and alone in sight
    names = "(all) => all.map((one) => one.dataset.column)"
    for column in page.eval_on_selector_all(".column[data-decided=no]", names):
        choose(page, column)
        page.keyboard.press("Enter")
        expect(page.locator("#role-buttons .confirm")).to_have_attribute("aria-disabled", "true")
        expect(page.locator("#said")).to_have_text("Nothing is suggested for one column: choose a role.")
        assert page.get_attribute(f".column[data-column={column}]", "data-decided") == "no"
        page.keyboard.press("n")
        page.wait_for_selector(f".column[data-column={column}][data-decided=yes]")
    expect(page.locator("#tile-columns strong")).to_have_text("11 of 11")
    page.select_option("#recipient", "restricted")
    page.fill("#population", "many")
    page.click("#assess")
    page.wait_for_selector("#population[aria-invalid=true]")
    assert ask(page, "GET", "/jobs") == []
    page.click(".together summary")
    page.click("#add-group")
    expect(page.locator(".group output")).to_contain_text("Choose what is known")
    page.click(".group .chip >> nth=0")
    page.wait_for_selector(".group output >> text=named correctly")
    shoot(page, "2-crowd.png")

    page.fill("#population", "0.3 million")
    page.click("#assess")
    page.click("#tab-risk")
    answered(page, "#risk-view")
    expect(page.locator("#tile-risk")).to_have_attribute("data-state", "done")
    expect(page.locator("#verdict")).to_contain_text("in the population")
    expect(page.locator("#verdict-title")).to_have_text("No: low on average, but not for everybody")
    expect(page.locator("#risk-view .cards div")).to_have_count(4)
    expect(page.locator("#risk-view .chart[data-drawn=yes]")).to_have_count(3)
    shoot(page, "3-risk.png", full_page=True)
    page.evaluate("document.querySelectorAll('#risk-view details.fold').forEach((one) => { one.open = true; })")
    expect(page.locator("#risk-view .chart[data-drawn=yes]")).to_have_count(9)
    for figure in page.query_selector_all("#risk-view figure"):
        assert figure.query_selector("figcaption p").inner_text()
        assert figure.query_selector("details table")
        assert "What does this mean?" in figure.inner_text()

    page.click("#tab-forecast")
    answered(page, "#forecast-view")
    expect(page.locator("#people")).to_have_text("300,000")
    page.click("text=the world")
    expect(page.locator("#people")).to_have_text("7,530,000,000")
    world = page.inner_text("#there")
    page.evaluate("size.value = 0; size.dispatchEvent(new Event('input'))")
    expect(page.locator("#people")).to_have_text("1")
    assert "100%" in page.inner_text("#there")
    assert "counted" in page.inner_text("#there")
    assert page.inner_text("#there") != world
    shoot(page, "4-forecast.png", full_page=True)

    page.click("#tab-leak")
    answered(page, "#leak-view")
    before, first = page.inner_text("#leak-view .cards"), page.get_attribute("#leak-view", "data-shown")
    page.evaluate("share.value = 12; share.dispatchEvent(new Event('input'))")
    answered(page, f"#leak-view:not([data-shown='{first}'])")
    expect(page.locator("#leak-view .cards")).not_to_have_text(before, use_inner_text=True)
    expect(page.locator("#leak-view .cards")).to_contain_text("k = ")
    shoot(page, "5-leak.png", full_page=True)

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
    page.wait_for_selector("#shelf .candidate[data-current=yes]:not(.outdated)")
    page.wait_for_function("""() => {
        const good = document.querySelector("#shelf .candidate.within[data-current=yes]") !== null;
        return document.getElementById("tile-after").dataset.state === (good ? "done" : "open");
    }""")
    with page.expect_download() as download:
        page.click("text=Download CSV")
    download.value.save_as(tmp_path / "safe.csv")
    assert len((tmp_path / "safe.csv").read_text().splitlines()) > 2_900
    shoot(page, "6-candidates.png", full_page=True)
    copied(page, "#candidate-view", "protect")
    page.click("#tab-report")
    answered(page, "#report-view")
    with page.expect_download() as download:
        page.click("text=External report")
    assert download.value.suggested_filename.endswith("report-external.html")
    copied(page, "#report-view", "assess")
    shoot(page, "7-report.png", full_page=True)
    page.click("#tab-candidates")  # nothing was lost by looking elsewhere
    expect(page.locator("#protected-title")).not_to_be_empty()
    original = page.url
    page.click("#candidate-view .apply")
    page.wait_for_url(lambda url: url != original and url.endswith("/risk"))
    assert "protected demo" in page.inner_text("#pick-table")


def copied(page, view, verb):
    """The command that does the same, copied."""
    page.click(f"{view} summary >> text=The same as a command")
    button = page.locator(f"{view} button[aria-controls^=cli]")
    said = button.evaluate_handle(  # it says so for two seconds only
        """button => {
            const seen = [];
            new MutationObserver(() => seen.push(button.textContent)).observe(button, { childList: true });
            return seen;
        }"""
    )
    button.click()
    page.wait_for_function("seen => seen[0] === 'Copied'", arg=said)
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
    expect(page.locator("#chosen")).to_have_text("3 columns selected")
    page.keyboard.press("i")
    expect(page.locator(".column[data-role=identifier][data-decided=yes]")).to_have_count(3)
    page.keyboard.press("Control+z")
    page.wait_for_selector(".column[data-role=identifier]", state="detached")
    press_until("#tab-crowd")
    page.keyboard.press("ArrowRight")
    answered(page, "#risk-view")  # looking at the risk assesses it
    press_until("#risk-view summary")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.parentElement.open")
    page.focus("#tab-risk")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    answered(page, "#leak-view")
    press_until("#targets")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#targets-said")).to_have_text("2")


def test_the_crowd_is_drawn_and_a_record_is_seen_with_other_eyes(opened, base, shoot):
    page = opened()
    look(page, base, demo(page, rows=1_000))
    drawn = (
        "() => document.getElementById('crowd').getContext('2d').getImageData(0, 0, 400, 400).data.some((one) => one)"
    )
    page.wait_for_function(drawn)
    alone = int(page.inner_text("#crowd-rows tr:first-child td").replace(",", ""))
    expect(page.locator("#crowd-words")).to_contain_text(f"{alone:,} of 1,000 people")
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    asked_for = page.input_value("#k")
    page.evaluate("const k = document.getElementById('crowd-k'); k.value = 7; k.dispatchEvent(new Event('input'))")
    expect(page.locator("#crowd-words")).to_contain_text("With classes of at least 7")
    expect(page.locator("#crowd-rows tr:first-child td:last-child")).to_have_text("0")
    assert page.input_value("#k") == asked_for != "7"  # looking changes nothing of what will be made
    page.click("text=Use k = 7")
    expect(page.locator("#k")).to_have_value("7")
    assert not {"crowd", "live"} & {*asked}  # dragging k asks nothing of the server
    page.click("#riskiest summary")
    page.wait_for_selector("#riskiest-rows td.masked")
    page.click("#riskiest-rows button >> nth=0")
    page.wait_for_selector("#person-view .path li")
    for name in ("The record, column by column", "What an attacker then also learns"):
        expect(page.get_by_role("table", name=name)).to_contain_text("••••")
    page.click("#person-view >> text=Show the values")
    page.wait_for_function("() => !document.querySelector('#person-view').innerText.includes('••••')")
    shoot(page, "crowd-person.png", full_page=True)
    choose(page, "age_yrs")
    page.keyboard.press("n")
    page.wait_for_selector(f"#crowd-rows tr:first-child td:nth-child(2):not(:text-is('{alone:,}'))")


def test_measured_points_are_forecast_without_a_table(opened, shoot):
    page = opened()
    page.click("text=Forecast from measured points")
    page.fill("#pasted", "n,accuracy\n100,1.7")
    page.click("#points button[type=submit]")
    expect(page.locator("#problem")).to_contain_text("Line 2")
    page.fill("#pasted", "n,accuracy\n100\t99%\n1000 0.95\n10000;0.86")
    page.click("#points button[type=submit]")
    answered(page, "#view")
    page.click("text=the world")
    expect(page.locator("#there")).to_contain_text("95% interval")
    shoot(page, "8-points.png", full_page=True)


def test_every_lens_is_without_barriers_by_day_by_night_and_on_a_phone(opened, base, shoot):
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
        if step == "crowd":  # a column that is selected, with what it adds
            page.click(".column:has(.adds) .name >> nth=0")
            page.click("#inspector summary")
        for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 29)")):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function("scheme => document.documentElement.style.colorScheme === scheme", arg=scheme)
            expect(page.locator("body")).to_have_css("background-color", paper)
            shoot(page, f"{step}-{scheme}.png", full_page=scheme == "light")
            found |= barriers(page, f"{scheme} {step}", [] if scheme == "light" else ["color-contrast"])
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="light")
        page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
        if step == "risk":
            assert len(page.query_selector_all("#risk-view details.fold:not([open])")) >= 4
            page.click("#risk-view details.fold summary >> nth=0")
            page.wait_for_selector("#risk-view details.fold[open]")
        shoot(page, f"{step}-phone.png", full_page=True)
        for pane in ("columns", "protect") if step == "crowd" else ():
            page.click(f"#panes button[data-pane={pane}]")
            page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
            shoot(page, f"{pane}-phone.png", full_page=True)
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
    expect(page.locator("#theme")).to_have_text("Light")
    page.reload()
    expect(page.locator("body")).to_have_css("background-color", "rgb(18, 22, 29)")
    page.click("#theme")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
