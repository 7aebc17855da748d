"""The three places in a browser: columns by keys, the crowd before and after, one verdict, and a signed decision."""

import csv
import io
from collections import Counter

import pytest
from playwright.sync_api import expect
from tests.web.browsing import answered, ask, look, place, settled

pytestmark = pytest.mark.xdist_group("browser-bench")  # one worker: the browser is started once
ROWS = [
    (20 + n * n % 53, "fm"[n % 2], "ABCDEFGH"[n * n % 8], ["flu", "none", "none"][n % 3], n % 5, n % 4, n % 3)
    for n in range(400)
]
NAMES = ["age", "sex", "town", "illness", "q1_1", "q1_2", "q1_3"]


def people(page, tmp_path):
    """A table of 400 people, nothing of which is answered; its id."""
    text = "\n".join(",".join(map(str, row)) for row in [NAMES, *ROWS])
    (tmp_path / "people.csv").write_text(text)
    page.set_input_files("#file", tmp_path / "people.csv")
    page.wait_for_url("**/who")
    settled(page)
    return page.get_attribute("body", "data-table")


def counted(page):
    """The people of the legend: alone, too few, enough."""
    return [int(page.inner_text(f"#legend [data-kind='{kind}'] b").replace(",", "")) for kind in (0, 1, 2)]


def by_limit(rows, least=11):
    """The same, counted here."""
    sizes = Counter(Counter(rows)[row] for row in rows)
    return [
        sum(people for size, people in sizes.items() if size == 1),
        sum(people for size, people in sizes.items() if 1 < size < least),
        sum(people for size, people in sizes.items() if size >= least),
    ]


def test_from_a_table_to_a_signed_decision(opened, base, tmp_path, shoot):
    page = opened()
    table = people(page, tmp_path)
    expect(page.locator("#bar")).to_have_class("bar verdict stale")
    expect(page.locator("#because")).to_contain_text("7 of 7 columns are not answered: they count as known")
    page.wait_for_selector("#crowd[data-people='400']")
    assert counted(page) == by_limit(ROWS)  # what nobody has judged counts as known
    expect(page.locator("tr.column")).to_have_count(5)  # a family is one row
    page.locator("tr.column").first.focus()
    for key in "kkksn":  # one key answers both questions and goes on
        page.keyboard.press(key)
    expect(page.locator("#decided")).to_have_text("7 of 7 answered")
    settings = ask(page, "GET", f"/tables/{table}/settings")["settings"]
    assert [settings["roles"][name] for name in NAMES] == ["quasi-identifier"] * 3 + ["sensitive"] + ["other"] * 3
    ask(page, "PATCH", f"/tables/{table}/settings", {"rows_are_people": True})
    expect(page.locator("#legend [data-kind='2'] b")).to_have_text(f"{by_limit([row[:3] for row in ROWS])[2]:,}")
    assert counted(page) == by_limit([row[:3] for row in ROWS])
    expect(page.locator("#person-title")).to_contain_text("One of")
    expect(page.locator(".chain strong").first).to_have_text("400")
    page.click("#next")
    page.wait_for_selector("#bar.no", timeout=120_000)
    shoot(page, "who.png")
    expect(page.locator("#next")).to_have_text("Make it safe")
    page.click("#next")
    page.click("#solve")
    page.wait_for_selector("#bar.if", timeout=120_000)
    shoot(page, "safe.png")
    place(page, "who")
    page.click("#which-crowd [data-crowd=candidate]")
    made = page.get_attribute("#bar", "data-about")
    page.wait_for_selector(f"#crowd[data-of='{made}']")
    answer = page.context.request.get(f"{base}/api/v1/jobs/{made}/table")
    release = [tuple(row) for row in csv.reader(io.StringIO(answer.text()))]
    known = [release[0].index(name) for name in NAMES[:3] if name in release[0]]
    assert counted(page) == by_limit([tuple(row[place] for place in known) for row in release[1:]])
    shoot(page, "who-after.png")
    place(page, "decide")
    boxes = page.locator("#conditions input[type=checkbox]")
    expect(boxes).not_to_have_count(0)
    expect(page.locator("#goes-out")).to_be_disabled()
    page.fill("#by", "A. Reviewer")
    for number in range(boxes.count()):
        expect(page.locator("#goes-out")).to_be_disabled()
        boxes.nth(number).check()
    expect(page.locator("#goes-out")).to_be_enabled()
    shoot(page, "decide.png", full_page=True)
    page.click("#goes-out")
    expect(page.locator("#decisions")).to_contain_text("A. Reviewer")
    (decision,) = ask(page, "GET", f"/tables/{table}/decisions")
    assert decision["decision"] == "release"
    assert {one["condition"] for one in decision["confirmed"]} == {*decision["after"]["conditions"]}


def test_one_answer_leaves_the_other_question_open_and_a_drawer_tells_more(opened, tmp_path):
    page = opened()
    table = people(page, tmp_path)
    row = page.locator("tr.column[data-column=illness]")
    row.locator("[data-question=known]").click()
    assert ask(page, "GET", f"/tables/{table}/settings")["settings"]["decided"] == []
    row.locator("[data-question=sensitive]").click()
    expect(row).to_have_attribute("data-decided", "yes")
    row.locator("th").click()
    page.wait_for_selector("#inspector .histogram i")
    expect(page.locator("#inspector .added")).to_contain_text("Alone it singles out nobody; with ")
    page.select_option("#inspector .treat select", "drop")
    expect(row).to_have_attribute("data-role", "drop")
    page.click("#undo")
    expect(row).not_to_have_attribute("data-role", "drop")
    family = page.locator("tr.column[data-column='q1_1 …']")
    expect(family).to_contain_text("3 columns")
    family.click()
    expect(page.locator("tr.column")).to_have_count(7)
    page.fill("#search", "q1_2")
    expect(page.locator("tr.column")).to_have_count(1)


def test_the_page_has_its_verdict_once(opened, base, tmp_path):
    page = opened()
    table = people(page, tmp_path)
    roles = dict(zip(NAMES, ["quasi-identifier"] * 3 + ["sensitive"] + ["other"] * 3, strict=True))
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": roles, "rows_are_people": True})
    look(page, base, table, "risk")
    answered(page, "#risk-view")
    assert page.locator("#risk-view .verdict").count() == 0
    said = page.inner_text("#headline")
    for name in ("safe", "decide"):
        place(page, name)
        expect(page.locator("#headline")).to_have_text(said)
    page.select_option("#recipient", "trusted")
    expect(page.locator("#bar")).to_have_class("bar verdict stale")  # never an old colour beside new settings
    page.click("#undo")
    page.wait_for_selector("#bar.no")


def test_a_reload_comes_back_to_the_same_place(opened, base, tmp_path):
    page = opened()
    people(page, tmp_path)
    place(page, "decide")
    page.reload()
    settled(page)
    expect(page.locator(".place[data-place=decide]")).to_be_visible()
    expect(page.locator(".place[data-place=who]")).to_be_hidden()
