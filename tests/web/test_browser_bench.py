"""The workbench in a browser: the guided tour, candidates side by side, the project, two tabs in step, many columns."""

import json

import pyarrow.parquet
import pytest
from playwright.sync_api import expect
from tests.web.browsing import KNOWN, answered, ask, choose, demo, look, settled

from incrowd import demo_table

pytestmark = pytest.mark.xdist_group("browser-bench")  # one worker: the browser is started once
SLIDE = "(slider, size) => { slider.value = size; slider.dispatchEvent(new Event('input', { bubbles: true })); }"

HAS_COLOUR = """() => {
    const crowd = document.getElementById("crowd"), side = crowd?.width;
    const cells = side ? crowd.getContext("2d").getImageData(0, 0, side, side).data : [];
    return cells.some((value, place) => place % 4 === 0 && cells[place + 3] && Math.abs(value - cells[place + 2]) > 40);
}"""


def test_the_guided_tour_finds_a_neighbour(opened, shoot):
    page = opened()
    page.click("#guided")
    page.wait_for_url("**/crowd#tour")
    settled(page)
    expect(page.locator("#tour")).to_contain_text("do not exist")
    page.click("#tour >> text=Next")
    expect(page.locator("#tour h2")).to_have_text("Your neighbour is among them")
    expect(page.locator("#tour h2")).to_be_focused()
    page.click("#tour >> text=Find them")
    page.wait_for_selector("#person-view .path li:last-child >> text=found")
    expect(page.locator("#tour")).to_contain_text("years old")
    for secret in ("charge", "diag_p"):  # what the tour says is read then
        expect(page.locator("#person-view")).to_contain_text(f"{secret} secret")
    shoot(page, "tour.png")
    page.click("#tour >> text=Next")
    page.click("#tour >> text=Next")
    page.click("#tour >> text=Take age away")
    page.wait_for_selector(".column[data-column=age_yrs][data-role=other]")
    page.click("#tour >> text=Next")
    page.click("#tour >> text=Show it")
    expect(page.locator("#crowd-words")).to_contain_text("With classes of at least 11")
    page.click("#tour >> text=Leave the tour")
    expect(page.locator("#tour")).to_be_hidden()
    page.wait_for_url("**/crowd")


def test_a_k_map_is_asked_for_in_the_form_by_a_table_of_everybody(opened, base):
    page = opened()
    everybody = demo(page, rows=600)
    table = demo(page, rows=300)
    roles = ask(page, "GET", f"/tables/{table}/settings")["settings"]["roles"]  # all of them are decided by that
    ask(page, "PATCH", f"/tables/{table}/settings", {"population": None, "roles": roles})
    look(page, base, table)
    expect(page.locator("#population-unknown")).to_be_visible()
    page.click("#more-ways summary")
    page.fill("#k-map", "30")
    page.click("#solve")
    expect(page.locator("#refused")).to_contain_text("choose a table of everybody")
    page.select_option("#k-map-people", everybody)
    page.click("#solve")
    expect(page.locator("#shelf .candidate")).to_contain_text("k-map = 30 in another table")
    expect(page.locator("#k-map-people")).to_have_value(everybody)  # what was found is what the form asks for
    expect(page.locator("#k-map")).to_have_value("30")


def test_a_leak_is_held_against_the_limits_of_the_recipient_of_now(opened, base):
    page = opened()
    look(page, base, demo(page, rows=300), "leak")
    limits = page.locator("#bound option:not([hidden])")
    expect(page.locator("#leak-k-said")).to_have_text("3")
    expect(limits).to_contain_text(["1/3, 33.3% (for this table)", "1/11", "1/20", "1%", "0.1%"])
    page.select_option("#recipient", "public")
    expect(page.locator("#leak-k-said")).to_have_text("11")
    expect(limits).to_contain_text(["1/11, 9.09% (for this table)", "1/3", "1/20", "1%", "0.1%"])


def test_nothing_that_is_chosen_or_in_focus_is_behind_the_bar_or_the_buttons(opened, base):
    page = opened()
    look(page, base, demo(page, rows=300))
    expect(page.locator("#population-unknown")).to_contain_text("By this number you say that an attacker does not know")
    page.click("#more-ways summary")
    fields = page.locator("#protection :is(input, select, summary):visible")
    for place in range(fields.count()):
        fields.nth(place).focus()
        field, buttons = fields.nth(place).bounding_box(), page.locator("#protection > .row").bounding_box()
        assert field["y"] + field["height"] <= buttons["y"] + 1
    below = "document.querySelector('[role=tablist]').getBoundingClientRect().top - bar.getBoundingClientRect().bottom"
    page.eval_on_selector("#tile-after small", "(words) => { words.textContent = 'on two lines '.repeat(9); }")
    for width, height in ((390, 844), (640, 400), (1360, 500)):  # a phone, a small screen at 200 %, a wide one
        page.set_viewport_size({"width": width, "height": height})
        for lens in ("attack", "crowd"):
            page.evaluate("scrollTo(0, 0)")
            page.click(f"#tab-{lens}")
            assert page.evaluate(f"(() => {{ const bar = document.querySelector('nav.bar'); return {below}; }})()") >= 0


def test_the_bar_never_covers_the_panes(opened, base):
    page = opened(viewport={"width": 1400, "height": 900})
    look(page, base, demo(page, rows=300))
    page.eval_on_selector("#tile-after small", "(words) => { words.textContent = 'on many lines '.repeat(20); }")
    for enlarged in (False, True):  # a bar of any height
        if enlarged:
            page.eval_on_selector("nav.bar", "(bar) => { bar.style.minHeight = '9rem'; }")
        for width, height in ((1400, 900), (1280, 800), (1100, 600)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(100)
            for top in (0, 300):
                page.evaluate(f"scrollTo(0, {top})")
                bar = page.locator("nav.bar").bounding_box()
                for pane in (".columns-pane", ".protect-pane"):
                    assert page.locator(pane).bounding_box()["y"] >= bar["y"] + bar["height"], (width, top, pane)


def test_two_candidates_are_compared_and_the_project_is_kept_and_opened_again(opened, base, shoot, tmp_path):
    page = opened()
    table = demo(page, rows=300)
    look(page, base, table, "candidates")
    for place, size in enumerate((4, 12)):
        page.eval_on_selector("#k", SLIDE, size)
        page.click("#protection button[type=submit]")
        page.wait_for_selector(f"#shelf .candidate >> nth={place}")
    for place in (0, 1):
        page.click(f"#shelf .candidate >> nth={place} >> .pin")
        expect(page.locator("#shelf .pin[aria-pressed=true]")).to_have_count(place + 1)
    expect(page.locator("#comparison figure")).to_have_count(len(KNOWN))
    expect(page.locator("#comparison h3")).to_be_focused()
    expect(page.locator("#comparison h3")).to_be_in_viewport()
    expect(page.locator("#candidate-verdict .eyebrow")).to_contain_text("Candidate partition, k = ")
    expect(page.locator("#original > summary")).to_be_visible()
    expect(page.locator("#original > summary")).to_contain_text("The table as it is: ")
    expect(page.locator("#verdict-place")).to_be_hidden()  # folded
    expect(page.locator(".example .was").first).to_contain_text("••••")
    expect(page.locator(".example .now").first).to_contain_text("••••")
    assert page.query_selector("#comparison td.better")
    longest = max(len(cell.inner_text()) for cell in page.query_selector_all("#comparison td.number"))
    assert longest < 16  # numbers are written for people
    page.click("#comparison summary")
    page.wait_for_selector("#comparison .rows td.changed")
    expect(page.locator("#comparison .rows").first).to_contain_text("••••")
    shoot(page, "comparison.png", full_page=True)
    page.reload()
    settled(page)
    expect(page.locator("#shelf .pin[aria-pressed=true]")).to_have_count(2)
    expect(page.locator("#comparison figure")).to_have_count(len(KNOWN))
    page.click("#theme")
    page.click("#tab-crowd")
    page.wait_for_function(HAS_COLOUR)  # chosen while the crowd was not looked at
    page.click("#tab-candidates")
    page.click("#shelf .report >> nth=0")
    with page.expect_download() as download:
        page.click("#shelf .candidate a >> text=external")
    assert download.value.suggested_filename.endswith(".html")
    page.click("#tab-report")
    answered(page, "#report-view")
    headline = page.inner_text("#verdict-title")
    page.fill("#by", "A. Person")
    page.select_option("#decision", "later")
    page.click("#decide button[type=submit]")
    page.wait_for_selector("#decisions li >> text=A. Person")
    with page.expect_download() as download:
        page.click("#save-project")
    kept = tmp_path / download.value.suggested_filename
    download.value.save_as(kept)
    assert kept.suffix == ".incrowd"
    assert json.loads(kept.read_text())["settings"]["roles"]["sex"] == "quasi-identifier"
    choose(page, "sex")
    page.keyboard.press("n")
    page.wait_for_selector(".column[data-column=sex][data-role=other]")
    page.set_input_files("#project-file", kept)
    page.wait_for_selector(".column[data-column=sex][data-role=quasi-identifier]")
    expect(page.locator("#project-changed")).to_contain_text("same columns")
    page.click("#tab-candidates")
    expect(page.locator("#shelf .candidate")).to_have_count(2)  # they are there already: none is made again

    pyarrow.parquet.write_table(demo_table(300), tmp_path / "stays.parquet")
    page.goto(base)
    page.set_input_files("#file", [kept])
    expect(page.locator("#project-waits")).to_contain_text("waits for its table")
    page.set_input_files("#file", [tmp_path / "stays.parquet"])
    page.wait_for_url("**/candidates*")
    settled(page)
    expect(page.locator("#shelf .candidate:not(.outdated)")).to_have_count(2)  # quick, so that they are made at once
    expect(page.locator("#shelf")).to_contain_text("the same as when it was saved")
    expect(page.locator("#reopened")).to_be_hidden()
    expect(page.locator("#verdict-title")).to_have_text(headline)
    expect(page.locator("#tile-risk")).to_have_attribute("data-state", "done")  # not out of date
    page.click("#tab-report")
    expect(page.locator("#verdict-again")).to_have_text("Assessed again: the same.")
    expect(page.locator("#decisions .elsewhere")).to_contain_text("A. Person")  # a file of another name


def test_two_tabs_are_in_step(opened, base):
    page = opened()
    table = demo(page, rows=300)
    look(page, base, table)
    other = page.context.new_page()
    look(other, base, table)
    page.bring_to_front()
    choose(page, "race")
    page.keyboard.press("s")
    other.bring_to_front()
    other.wait_for_selector(".column[data-column=race][data-role=sensitive]")
    other.click("#undo")
    page.bring_to_front()
    page.wait_for_selector(".column[data-column=race][data-role=quasi-identifier]")


def test_many_columns_are_a_list_to_work_through(opened, base, tmp_path, shoot):
    page = opened()
    names = [f"answer_{number:02}" for number in range(40)]
    rows = [",".join(str((row * (place + 3)) % (2 + place % 5)) for place in range(40)) for row in range(90)]
    file = tmp_path / "many.csv"
    file.write_text("\n".join([",".join(names), *rows, "1,2"]))  # the last line is too short
    page.click("#reading summary")
    page.check("#skip_bad_lines")
    page.set_input_files("#file", file)
    page.wait_for_url("**/crowd")
    settled(page)
    page.wait_for_function("() => document.documentElement.scrollHeight < 1600")  # a list, not a wall
    expect(page.locator("#notes")).to_contain_text("line")  # what was left out is told
    page.select_option("#filter", "undecided")
    choose(page, names[0])
    page.keyboard.press("Control+a")
    expect(page.locator("#chosen")).to_have_text("40 columns selected")
    page.keyboard.press("n")
    expect(page.locator("#filter")).to_have_value("all")  # the last one is decided
    expect(page.locator(".column")).to_have_count(40)
    expect(page.locator("#tile-columns strong")).to_have_text("40 of 40")
    expect(page.locator("#tile-columns")).to_have_attribute("data-state", "done")
    page.select_option("#filter", "all")
    page.fill("#search", "answer_07")
    expect(page.locator(".column")).to_have_count(1)
    choose(page, "answer_07")
    page.wait_for_selector("#inspector .histogram i")
    page.click("#inspector button")
    page.wait_for_selector("#inspector .values li")
    shoot(page, "many-columns.png")


def test_only_columns_in_sight_are_confirmed_and_the_chosen_one_stays_in_sight(opened, tmp_path):
    page = opened()
    names = [*(f"income_{number:02}" for number in range(11)), "answer_0", "a_name_that_takes_two_lines"]
    file = tmp_path / "some.csv"
    file.write_text("\n".join([",".join(names), *(",".join(str(row % 3) for _ in names) for row in range(40))]))
    page.set_input_files("#file", file)
    page.wait_for_url("**/crowd")
    settled(page)
    expect(page.locator("#confirm-all")).to_have_text("Confirm 11")  # nothing is suggested for the others
    button, pane = (page.locator(place).bounding_box() for place in ("#confirm-all", ".columns-pane"))
    assert button["x"] + button["width"] <= pane["x"] + pane["width"]
    page.fill("#search", "income_0")
    expect(page.locator("#confirm-all")).to_have_text("Confirm 10")
    page.click("#confirm-all")
    expect(page.locator("#tile-columns strong")).to_have_text("10 of 13")
    expect(page.locator("#confirm-all")).to_be_hidden()
    page.fill("#search", "")
    page.click("#confirm-all")
    expect(page.locator("#decided")).to_have_text("11 of 13 decided, 2 without a suggestion")
    expect(page.locator("#columns .column")).to_have_count(2)  # those that remain are shown
    expect(page.locator("#confirm-all")).to_be_hidden()
    page.select_option("#filter", "all")
    choose(page, names[-1])
    line, box = (page.locator(place).bounding_box() for place in (f"[data-column={names[-1]}]", "#columns"))
    assert line["y"] + line["height"] <= box["y"] + box["height"] + 1
    page.click("#inspector summary")
    expect(page.locator("#scale")).to_be_in_viewport(ratio=1)
