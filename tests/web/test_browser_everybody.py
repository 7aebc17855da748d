"""What everybody can see: no barriers by day, by night, on a phone; by keyboard; the tour; points and no table."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.web.browsing import answered, ask, demo, look, place, settled

pytestmark = pytest.mark.xdist_group("browser-way")  # one worker: the browser is started once
AXE = Path(__file__).parents[2] / ".tools-npm" / "node_modules" / "axe-core" / "axe.min.js"
PARTS = {
    "risk": "#risk-view",
    "forecast": "#forecast-view",
    "leak": "#leak-view",
    "safe": "#candidate-view",
    "decide": "#report-view",
}


def test_every_place_is_without_barriers_by_day_by_night_and_on_a_phone(opened, base, shoot):
    page = opened(bypass_csp=True)  # axe is a script that the policy does not know
    table = demo(page)
    found = {}
    for name in ("", "points", *(f"tables/{table}/{part}" for part in ("who", "curves", *PARTS, "attack"))):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{base}/{name}")
        step = name.rpartition("/")[2] or "data"
        if name.startswith("tables"):
            settled(page)
        if step == "safe":
            page.click("#protection button[type=submit]")
        if step in PARTS:
            answered(page, PARTS[step])
        if step == "who":  # a column whose drawer is open
            page.click("tr.column th >> nth=0")
            page.click("#inspector summary")
        for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 21, 24)")):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function("scheme => document.documentElement.style.colorScheme === scheme", arg=scheme)
            expect(page.locator("body")).to_have_css("background-color", paper)
            shoot(page, f"{step}-{scheme}.png", full_page=scheme == "light")
            found |= barriers(page, f"{scheme} {step}", [] if scheme == "light" else ["color-contrast"])
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="light")
        page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
        shoot(page, f"{step}-phone.png", full_page=True)
        if step in ("who", "safe", "decide"):
            found |= barriers(page, f"phone {step}", [])
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


def test_the_coarsening_dialog_is_for_everybody_also_on_a_phone(opened, base, shoot):
    page = opened(bypass_csp=True)
    look(page, base, demo(page, rows=300), "safe")
    found = {}
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.eval_on_selector("#coarsen-columns", "(one) => { one.open = true; }")
        for column, way in (("age_yrs", "cuts"), ("patcnty", "groups")):
            page.click(f"#coarsened button[data-column={column}]")
            page.select_option("#way", way)
            if way == "cuts":
                page.fill("#cut-points", "18, 40, 65")
                page.press("#cut-points", "Tab")
                expect(page.locator(".cut-list li")).to_have_count(3)
            else:
                page.click(".show-values")
                page.select_option(".values-list li >> nth=0 >> select", "new")
                expect(page.locator(".boxes fieldset")).to_have_count(1)
            box = page.locator("#coarsening").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert page.eval_on_selector("#coarsening", "(one) => one.scrollWidth <= one.clientWidth")
            found |= barriers(page, f"{way} at {width}", [])
            shoot(page, f"coarsening-{way}-{width}.png")
            page.keyboard.press("Escape")
    assert found == {}
    if not AXE.is_file():
        pytest.skip("all but the barriers was looked at: no axe-core here; `make test` installs it where it can")


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


def test_the_reader_chooses_light_or_dark(opened):
    page = opened(color_scheme="light")
    page.click("#theme")
    expect(page.locator("#theme")).to_have_text("Light")
    page.reload()
    expect(page.locator("body")).to_have_css("background-color", "rgb(20, 21, 24)")
    page.click("#theme")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")


def test_the_guided_tour_finds_a_neighbour(opened, shoot):
    page = opened()
    page.click("#guided")
    page.wait_for_url("**/who#tour")
    settled(page)
    expect(page.locator("#tour")).to_contain_text("do not exist")
    page.click("#tour >> text=Next")
    expect(page.locator("#tour h2")).to_have_text("Your neighbour is among them")
    expect(page.locator("#tour h2")).to_be_focused()
    page.click("#tour >> text=Find them")
    page.wait_for_selector("#person-view .chain .found")
    expect(page.locator("#tour")).to_contain_text("years old")
    for secret in ("charge", "diag_p"):  # what the tour says is read then
        expect(page.locator("#person-view")).to_contain_text(f"{secret} secret")
    shoot(page, "tour.png")
    page.click("#tour >> text=Next")
    page.click("#tour >> text=Next")
    page.click("#tour >> text=Take age away")
    page.wait_for_selector(".column[data-column=age_yrs][data-role=other]")
    page.click("#tour >> text=Leave the tour")
    expect(page.locator("#tour")).to_be_hidden()


def test_the_way_by_keyboard_alone(opened, base):
    page = opened()

    def press_until(selector, most=80):
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"no visible focus on {selector}"
                return
        raise AssertionError(f"{selector} is not reached by Tab")

    look(page, base, demo(page, rows=300))
    page.wait_for_selector("#crowd[data-people='300']")
    press_until(".steps a[aria-current]")
    press_until("#recipient")
    press_until("tr.column")
    first = page.evaluate("document.activeElement.dataset.column")
    page.keyboard.press("n")
    page.wait_for_selector(f".column[data-column='{first}'][data-role=other][data-decided=yes]")
    assert page.evaluate("document.activeElement.dataset.column") != first  # it goes on
    page.keyboard.press("Control+z")
    press_until("#crowd")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#person-view .chain")
    press_until("#tab-risk")
    page.keyboard.press("Enter")
    answered(page, "#risk-view")  # looking at the risk assesses it


def test_two_tabs_are_in_step(opened, base):
    page = opened()
    table = demo(page, rows=300)
    look(page, base, table)
    other = page.context.new_page()
    look(other, base, table)
    page.bring_to_front()
    page.locator(".column[data-column=race]").focus()
    page.keyboard.press("s")
    other.bring_to_front()
    other.wait_for_selector(".column[data-column=race][data-role=sensitive]")
    other.click("#undo")
    page.bring_to_front()
    page.wait_for_selector(".column[data-column=race][data-role=quasi-identifier]")


def test_an_attack_takes_the_yes_back_everywhere(opened, base, tmp_path):
    page = opened()
    rows = [f"{20 + n * n % 53},{'fm'[n % 2]},{30 + n % 19},{'ABCDEFGH'[n * n % 8]}" for n in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,shoe,city", *rows]))
    page.set_input_files("#file", tmp_path / "people.csv")
    page.wait_for_url("**/who")
    table = page.get_attribute("body", "data-table")
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "shoe": "other", "city": "other"}
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": roles, "rows_are_people": True, "protection": {"k": 11}})
    ask(page, "POST", f"/tables/{table}/protections", {})
    look(page, base, table, "safe")
    answered(page, "#candidate-view")
    page.wait_for_selector("#bar.if")
    made = page.get_attribute("#candidate-view", "data-shown")
    asked = {"released": made, "kinds": ["linkage"], "known": ["age", "sex", "shoe", "city"]}
    ask(page, "POST", f"/tables/{table}/attacks", asked)
    page.wait_for_selector("#bar.no")
    expect(page.locator("#headline")).to_have_text("No: an attack on it succeeds")
    expect(page.locator("#protected-title")).to_have_text("No: an attack on it succeeds")
    place(page, "decide")
    expect(page.locator("#decided-on")).to_have_value(made)  # what the bar speaks of, though it is no yes
    page.fill("#by", "A. Reviewer")
    expect(page.locator("#goes-out")).to_be_disabled()
    expect(page.locator("#why-not")).to_contain_text("write in the note why")


def test_a_project_is_kept_and_opened_again(opened, base, tmp_path):
    page = opened()
    table = demo(page, rows=300)
    ask(page, "PATCH", f"/tables/{table}/settings", {"protection": {"k": 4}})
    look(page, base, table, "safe")
    page.click("#protection button[type=submit]")
    page.wait_for_selector("#shelf .candidate")
    place(page, "decide")
    with page.expect_download() as download:
        page.click("#save-project")
    download.value.save_as(tmp_path / "kept.incrowd")
    page.set_input_files("#project-file", tmp_path / "kept.incrowd")
    expect(page.locator("#project-changed")).to_contain_text("same columns")
    place(page, "safe")
    expect(page.locator("#shelf .candidate")).to_have_count(1)  # it is there already: it is not made again
