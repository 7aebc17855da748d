"""What somebody found who used the app for the first time, in a browser: no answer is better than what is known."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect
from tests.web.browsing import answered, ask, choose, demo, look

from incrowd.web.models import KeptSession

pytestmark = pytest.mark.xdist_group("browser-bench")  # one worker: the browser is started once
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "shoe": "other", "city": "other"}


def people(page, base, tmp_path, roles=ROLES, weighed=False, **settings):
    """A table of 400 people with given roles, or also with a weight that is another for everybody; its id."""
    rows = [f"{20 + n * n % 53},{'fm'[n % 2]},{30 + n % 19},{'ABCDEFGH'[n * n % 8]}" for n in range(400)]
    weights = [f",{50 + n * 0.07:.2f}" if weighed else "" for n in range(400)]
    lines = [row + weight for row, weight in zip(rows, weights, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join([f"age,sex,shoe,city{',kilo' * weighed}", *lines, ""]))
    page.set_input_files("#file", tmp_path / "people.csv")
    page.wait_for_url("**/crowd")
    table = page.get_attribute("body", "data-table")
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": roles, "rows_are_people": True, **settings})
    look(page, base, table)
    return table


def test_advice_that_an_attack_took_back_says_so_and_the_decision_is_about_what_leads(opened, base, tmp_path, shoot):
    page = opened(viewport={"width": 1400, "height": 900})
    table = people(page, base, tmp_path)
    page.click("#assess")
    page.locator("#todo button", has_text="Protect with classes").first.click()
    answered(page, "#candidate-view")
    expect(page.locator("#shelf .candidate.within")).to_have_count(1)
    made = page.get_attribute("#candidate-view", "data-shown")
    asked = {"released": made, "kinds": ["linkage"], "known": ["age", "sex", "shoe", "city"]}
    ask(page, "POST", f"/tables/{table}/attacks", asked)
    expect(page.locator("#candidate-title")).to_have_text("No: an attack on it succeeds")
    expect(page.locator("#todo .taken-back")).to_contain_text("But since then: No: an attack on it succeeds")
    expect(page.locator("#todo button.made")).to_have_text("Show partition, k = 11")
    shoot(page, "150-attacked.png", full_page=True)
    page.click("#tab-report")
    expect(page.locator("#decided-on")).to_have_value(made)  # what the banner speaks of, though it is no yes
    expect(page.locator("#decided-on option:checked")).to_contain_text("(No: an attack on it succeeds)")
    shoot(page, "151-decide.png")


def test_a_candidate_of_other_settings_is_shown_and_stays(opened, base, tmp_path):
    page = opened(viewport={"width": 1400, "height": 900})
    table = people(page, base, tmp_path)
    made = []
    for k in (11, 5):
        ask(page, "PATCH", f"/tables/{table}/settings", {"protection": {"k": k}})
        made.append(ask(page, "POST", f"/tables/{table}/protections", {})["id"])
    look(page, base, table, "candidates")
    answered(page, f"#candidate-view[data-shown='{made[1]}']")
    with page.expect_response(f"**/tables/{table}/candidates"):  # the list is read again, and what is shown stays
        page.click(f"#shelf .candidate[data-job='{made[0]}'] button.show")
    page.wait_for_timeout(500)
    answered(page, f"#candidate-view[data-shown='{made[0]}']")


def test_leaving_a_column_out_of_a_shown_candidate_keeps_its_other_settings(opened, base, tmp_path):
    page = opened(viewport={"width": 1400, "height": 900})
    table = people(page, base, tmp_path, ROLES | {"kilo": "other"}, weighed=True, protection={"k": 11})
    made = ask(page, "POST", f"/tables/{table}/protections", {})["id"]
    look(page, base, table, "candidates")
    answered(page, f"#candidate-view[data-shown='{made}']")
    ask(page, "PATCH", f"/tables/{table}/settings", {"protection": {"k": 5}})
    page.click("#candidate-view button.drop")
    expect(page.locator("#shelf .candidate")).to_have_count(2)
    newer = page.locator(f"#shelf .candidate:not([data-job='{made}'])")
    expect(newer).to_contain_text("partition, k = 11, without kilo")


def test_a_count_by_some_columns_is_no_all_clear(opened, base, tmp_path, shoot):
    page = opened(viewport={"width": 1400, "height": 900})
    table = people(page, base, tmp_path)
    ask(page, "PUT", f"/tables/{table}/settings", {"roles": ROLES | {"age": "other"}, "decided": ["sex", "age"]})
    look(page, base, table)
    expect(page.locator("#crowd-words")).to_contain_text("Not the whole risk: counted by 1 of 4 columns; 2 not decided")
    expect(page.locator("#tile-risk small")).to_have_text("by 1 of 4; 2 undecided")
    shoot(page, "152-partly.png")
    for column in ("shoe", "city"):
        page.click(f".column[data-column={column}] .name")
        page.click("#role-buttons button[data-role=other]")
        expect(page.locator(f".column[data-column={column}][data-decided=yes]")).to_have_count(1)
    expect(page.locator("#crowd-words")).to_have_text(
        "By 1 column, everybody looks like at least 199 others. An attacker who knows who is in the table guesses "
        "right 0.50% of the time."
    )
    expect(page.locator("#tile-risk small")).to_have_text("in the table; not assessed yet")


def test_a_search_asks_for_the_columns_first(opened, base, tmp_path, shoot):
    page = opened()
    table = people(page, base, tmp_path)
    ask(page, "PUT", f"/tables/{table}/settings", {"roles": ROLES, "decided": ["sex", "age"]})
    look(page, base, table)
    page.click("#solve")
    expect(page.locator("#refused")).to_contain_text("Decide the columns first: 2 of 4 are not decided")
    shoot(page, "153-decide-first.png")
    page.click("#refused a")
    expect(page.locator(".column[data-column=shoe]")).to_be_focused()
    assert page.input_value("#filter") == "undecided"
    assert ask(page, "GET", "/jobs") == []


def test_what_was_written_down_stays_in_sight_if_the_app_ends(opened, base, tmp_path, shoot):
    page = opened(may_be_refused=True)
    table = people(page, base, tmp_path, protection={"k": 11})
    ask(page, "POST", f"/tables/{table}/protections", {})
    look(page, base, table, "candidates")
    answered(page, "#candidate-view")
    decision = {"decision": "later", "by": "A. Reviewer", "note": "to be asked again"}
    ask(page, "POST", f"/tables/{table}/decisions", decision)
    look(page, base, table)
    page.route("**/api/**", lambda route: route.abort())
    page.route("**/jobs/**", lambda route: route.abort())
    page.click("#tab-report")
    expect(page.locator("#problem")).to_contain_text("The app does not answer")
    expect(page.locator("#decide-outdated")).to_be_visible()
    expect(page.locator("#decisions")).to_contain_text("A. Reviewer")
    assert page.locator("#decided-on option").count() == 2
    shoot(page, "154-ended.png")


def test_small_things_are_said_in_full(opened, base, tmp_path, shoot):
    page = opened(viewport={"width": 1400, "height": 900})
    table = people(page, base, tmp_path, protection={"k": 11})
    ask(page, "POST", f"/tables/{table}/protections", {})
    look(page, base, table, "candidates")
    answered(page, "#candidate-view")
    expect(page.locator("#tile-after small")).to_have_text("in the table; on 2 conditions")
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    assert page.eval_on_selector_all(".tile small", cut) == []
    expect(page.locator("#candidate-verdict details.condition summary")).to_have_text("the 2 conditions")
    expect(page.locator("#shelf details.condition summary")).to_have_text("the 2 conditions")
    expect(page.locator("#candidate-view p.condition").first).to_be_visible()
    for place in ("#candidate-title", "#protected-title", "#shelf .candidate > p:nth-child(2)"):
        expect(page.locator(place)).to_have_text("Yes, on conditions: within the limits")
    assert "Yes, on conditions: within the limits" in page.get_attribute("#tile-after", "title")
    colours = {
        page.eval_on_selector(place, "(one) => getComputedStyle(one).color")
        for place in ("#candidate-title", "#protected-title", "#shelf .mark", "#candidate-view .stamp")
    }
    borderline = "getComputedStyle(document.getElementById('tile-after'), '::after').color"
    assert colours == {page.evaluate(borderline)}
    shoot(page, "155-conditions.png")
    page.click("#select-all")
    expect(page.locator("#chosen")).to_have_text("4 columns selected")
    page.click("#select-all")
    page.click(".column[data-column=shoe] .name")
    page.keyboard.press("s")
    expect(page.locator(".column[data-column=shoe][data-role=sensitive]")).to_have_count(1)
    expect(page.locator("#undo")).to_be_enabled()
    page.click("#undo")
    expect(page.locator("#undone")).to_contain_text("Undone: shoe: neither")
    shoot(page, "156-undone.png")
    project = ask(page, "GET", f"/tables/{table}/project")
    ask(page, "POST", f"/tables/{table}/project", project)
    page.goto(base)
    expect(page.locator("#tables")).to_contain_text(
        f"Goes on with the project that was saved on {project['saved'][:10]}."
    )
    page.click("#tables h3 a")
    page.wait_for_url("**/crowd")


def test_on_a_low_screen_what_to_do_is_folded(opened, base, tmp_path, shoot):
    page = opened(viewport={"width": 700, "height": 450})
    people(page, base, tmp_path)
    page.click("#assess")
    expect(page.locator("#todo summary")).to_be_visible()
    expect(page.locator("#todo ol")).to_be_hidden()
    shoot(page, "157-low.png", full_page=True)
    page.click("#todo summary")
    expect(page.locator("#todo ol")).to_be_visible()


def test_on_a_phone_the_tour_covers_nothing_that_it_speaks_of(opened, shoot):
    page = opened(viewport={"width": 390, "height": 844})
    page.click("#guided")
    page.wait_for_url("**/crowd#tour")
    box = "(one) => { const { top, bottom } = one.getBoundingClientRect(); return [top, bottom]; }"
    for place in ("#crowd", "#crowd", "#person-view"):
        expect(page.locator("#tour h2")).to_be_visible()
        page.wait_for_timeout(700)  # the marks move, and the page scrolls
        top = page.eval_on_selector("#tour", box)[0]
        assert page.eval_on_selector(place, box)[0] < top - 100
        shoot(page, f"158-tour-{place[1:]}.png")
        page.locator("#tour button", has_text="Next").click()


def test_what_is_said_in_several_places_is_the_same(opened, base, tmp_path, shoot):
    page = opened(viewport={"width": 1366, "height": 850})
    table = people(page, base, tmp_path)
    (tmp_path / "other.csv").write_text("price,brand\n1,a\n2,b\n")
    (tmp_path / "more.csv").write_text("age,sex\n31,f\n44,m\n")
    for name in ("other", "more"):
        page.goto(base)
        page.set_input_files("#file", tmp_path / f"{name}.csv")
        page.wait_for_url("**/crowd")
    ask(page, "PUT", f"/tables/{table}/settings", {"roles": ROLES | {"city": "drop"}, "decided": ["city"]})
    look(page, base, table)
    expect(page.locator("#open-words")).to_contain_text("3 of 4 columns have only a suggested role")
    expect(page.locator("#tile-risk small")).to_contain_text("3 undecided")
    expect(page.locator(".column[data-column=city] .adds")).to_have_text("–")
    expect(page.locator(".column[data-column=sex] .adds")).to_have_text("+0")
    choose(page, "sex")
    expect(page.locator("#inspector .bar-labels")).to_have_text("50.0%50.0%")
    page.keyboard.press("s")
    page.click("#undo")
    expect(page.locator("#undone")).to_contain_text("Undone")
    choose(page, "sex")
    page.keyboard.press("q")
    expect(page.locator("#undone")).to_be_empty()
    foot, leaves = (page.locator(place).bounding_box() for place in ("#protection > .row:last-child", "#leaves-out"))
    assert leaves is None or leaves["y"] < foot["y"]
    page.click("#tab-attack")
    expect(page.locator("#holdout option")).to_have_text(["none", "more.csv"])
    expect(page.locator("#released option")).to_have_text(["nothing protected yet", "more.csv"])
    page.set_input_files("#released-file", tmp_path / "other.csv")
    expect(page.locator("#problem")).to_contain_text("other.csv has no column of this table")
    page.click("#tab-risk")
    answered(page, "#risk-view")
    figures = page.text_content("#risk-view script.figures")
    assert "fewer than 11" in figures
    assert "fewer than 5" not in figures
    shoot(page, "159-same.png", full_page=True)


def test_work_of_other_browsers_that_is_kept_leaves_the_first_page_alive(opened, base, app, monkeypatch):
    kept = KeptSession(name="ab" * 8, tables=2, bytes=3_000, used=datetime.now(UTC), in_use=False)
    monkeypatch.setattr(app.state.server, "other_sessions", lambda session: [kept])
    page = opened()
    demo(page, rows=300)
    page.goto(base)
    expect(page.locator("#others")).to_contain_text("2 tables")
    page.click(".look")
    expect(page.locator(".preview table")).to_be_visible()
    expect(page.locator("#open button[type=submit]")).to_be_enabled()


def test_ticks_select_what_is_ticked_and_keys_work_after_select_all(opened, base, tmp_path):
    page = opened()
    people(page, base, tmp_path)
    choose(page, "age")
    for column in ("sex", "shoe", "city"):
        page.click(f".column[data-column={column}] .tick")
    expect(page.locator("#chosen")).to_have_text("3 columns selected")
    page.click("#select-all")
    page.keyboard.press("n")
    expect(page.locator(".column[data-role=other][data-decided=yes]")).to_have_count(4)


def test_a_secret_that_is_left_out_is_no_secret_to_keep(opened, base, tmp_path, shoot):
    page = opened()
    roles = ROLES | {"shoe": "sensitive"}
    table = people(page, base, tmp_path, roles, protection={"k": 3, "leave_out": ["shoe"]})
    expect(page.locator("#sensitive")).to_have_value("")  # not suggested
    expect(page.locator("#l")).to_have_value("")
    page.eval_on_selector("#k", "(k) => { k.value = 7; k.dispatchEvent(new Event('input', { bubbles: true })); }")
    page.click("#protection button[type=submit]")
    answered(page, "#candidate-view")
    expect(page.locator("#refused")).to_be_empty()
    page.uncheck("#leave-out input[value=shoe]")
    page.select_option("#sensitive", "shoe")
    page.fill("#l", "2")
    page.eval_on_selector("#further", "(fold) => { fold.open = true; }")
    page.fill("#beta", "3")
    page.check("#leave-out input[value=shoe]")
    expect(page.locator("#sensitive")).to_have_value("")
    expect(page.locator("#l")).to_have_value("")
    expect(page.locator("#beta")).to_have_value("")
    shoot(page, "160-left-out.png")
    page.fill("#l", "2")
    page.click("#protection button[type=submit]")
    expect(page.locator("#refused")).to_contain_text("Choose the column that l = 2 is about")
    page.fill("#l", "")
    page.click("#protection button[type=submit]")
    expect(page.locator("#refused")).to_be_empty()
    assert ask(page, "GET", f"/tables/{table}/settings")["settings"]["protection"]["sensitive"] is None
