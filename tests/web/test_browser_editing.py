"""The workbench in a browser: scales, missing codes, cut points, groups, and what candidates are called."""

import pytest
from tests.web.browsing import answered, ask, choose, place, settled

pytestmark = pytest.mark.xdist_group("browser-bench")  # one worker: the browser is started once
ROLES = {"age": "quasi-identifier", "city": "quasi-identifier", "race": "quasi-identifier", "income": "other"}


def people(page, tmp_path):
    """A table of 240 people, opened in the workbench."""
    rows = [f"{18 + n * n % 71},{'ABCDEF'[n % 6]},{1 + n % 4},{-9 if n % 9 == 0 else 900 + n}" for n in range(240)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["age,city,race,income", *rows]))
    page.set_input_files("#file", file)
    page.wait_for_url("**/who")
    settled(page)
    table = page.get_attribute("body", "data-table")
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": ROLES, "rows_are_people": True})
    page.reload()
    settled(page)
    return table


def test_scales_missing_codes_cut_points_and_groups_reach_the_release(opened, shoot, tmp_path):
    page = opened()
    table = people(page, tmp_path)
    choose(page, "race")
    page.click("#inspector summary")
    page.select_option("#scale", "nominal")
    page.wait_for_selector("#inspector p >> text=nominal")
    choose(page, "income")
    page.click("#inspector >> text=-9 is missing")
    page.wait_for_selector("#inspector p >> text=27 missing")
    assert page.input_value("#missing") == "-9"
    reading = ask(page, "GET", f"/tables/{table}")["reading"]
    assert (reading["null"], reading["scales"]) == ("income=-9", {"race": "nominal"})

    place(page, "safe")
    page.click("#coarsen-columns summary")
    page.click("#coarsened button[data-column=age]")
    page.select_option("#way", "cuts")
    page.click(".add-cut")
    page.wait_for_selector(".cut-list li")
    page.fill("#cut-points", "65, 30")
    page.locator("#cut-points").blur()
    page.wait_for_selector(".cut-list li >> nth=1")
    page.wait_for_selector(".made >> text=Level 1: 3 parts")
    handle = page.locator(".handles .cut").first
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".handles .cut[aria-valuetext='29']")
    box = page.locator(".handles").bounding_box()
    grip = page.locator(".handles .cut").last.bounding_box()
    page.mouse.move(grip["x"] + 12, grip["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, grip["y"] + 10, steps=4)
    page.mouse.up()
    page.wait_for_selector(".cut-list li:nth-child(2):not(:has-text('from 65'))")
    page.fill("#importance", "3")
    shoot(page, "editing-cuts.png")
    page.click("#coarsening >> text=Use this")
    page.wait_for_selector("#coarsened button[data-column=age] >> text=importance 3")

    page.click("#coarsened button[data-column=city]")
    page.select_option("#way", "groups")
    page.click(".show-values")
    page.drag_and_drop(".values-list li[data-value=A]", ".box.new")
    page.wait_for_selector(".box input[aria-label='Name of the group']")
    page.fill(".box input", "north")
    page.locator(".box input").blur()
    page.select_option(".values-list li[data-value=B] select", "=north")
    page.wait_for_selector(".box p >> text=A, B")
    shoot(page, "editing-groups.png")
    with page.expect_download() as download:
        page.click(".save-file")
    download.value.save_as(tmp_path / "city.csv")
    assert (tmp_path / "city.csv").read_text().startswith("A;north;*\nB;north;*\nC;C;*\n")
    page.click("#coarsening >> text=Use this")
    page.wait_for_selector("#coarsened button[data-column=city] >> text=groups of values")
    page.click("#protection button[type=submit]")
    answered(page, "#candidate-view")
    kept = ask(page, "GET", f"/tables/{table}/settings")["settings"]["protection"]
    assert kept["hierarchies"]["age"].startswith("cuts:29,")
    assert (kept["importance"], kept["hierarchies"]["city"][1]) == ({"age": 3}, ["B", "north"])
    command = page.text_content("#candidate-view pre")
    for part in (
        "--hierarchy age=cuts:29,",
        "--hierarchy city=hierarchy-2.csv",
        "--importance age=3",
        "--scale race=nominal",
    ):
        assert part in command


def test_a_candidate_is_renamed_and_downloaded_while_the_form_asks_for_something_else(opened, tmp_path):
    page = opened()
    table = people(page, tmp_path)
    place(page, "safe")
    page.click("#protection button[type=submit]")
    page.wait_for_selector("#shelf .candidate")
    page.click("#shelf .rename")
    page.fill("#shelf .new-name", "for the ministry")
    ask(page, "PATCH", f"/tables/{table}/settings", {"protection": {"k": 6}})
    page.wait_for_timeout(500)  # the list is read again meanwhile
    assert page.input_value("#shelf .new-name") == "for the ministry"
    page.press("#shelf .new-name", "Enter")
    page.wait_for_selector("#shelf .headline >> text=for the ministry")
    ask(page, "PATCH", f"/tables/{table}/settings", {"protection": {"k": 7}})
    page.wait_for_selector("#shelf >> text=other settings than those in the form")
    with page.expect_download() as download:
        page.click("#shelf .take")
    assert download.value.suggested_filename == "people-for-the-ministry.csv"
    ask(page, "PATCH", f"/tables/{table}/settings", {"recipient": "strict"})
    page.wait_for_selector("#shelf >> text=have changed since")
    assert page.query_selector("#shelf .take") is None
