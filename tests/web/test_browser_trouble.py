"""The app in a browser when things go wrong: reloads, cancelled work, wrong files, hostile tables, other people."""

import csv

import pytest
from playwright.sync_api import expect
from tests.web.browsing import answered, ask, choose, demo, look, place, settled

pytestmark = pytest.mark.xdist_group("browser-trouble")  # one worker: the browser is started once
SLIDE = "(slider, size) => { slider.value = size; slider.dispatchEvent(new Event('input', { bubbles: true })); }"
NASTY = (
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=window.hacked=2>",
    "שם פרטי ومدينة",
    "a\u202egpj.exe",
    "{{ 7*7 }}{% raw %}",
    "__proto__",
    "x" * 10_000,
)


@pytest.fixture
def hostile(tmp_path):
    """A table with the worst names and cells, under a name that is no better."""
    file = tmp_path / "<img src=x onerror=window.hacked=3>.csv"
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(NASTY)
        for row in range(80):
            writer.writerow(
                [f"<b onclick=window.hacked=4>{name[:30]}{(row * step) % 3}" for step, name in enumerate(NASTY, 1)]
            )
    return file


def upload(page, file):
    page.set_input_files("#file", file)


def test_a_reload_during_work_finds_it_again_and_it_can_be_cancelled(opened, base, hold):
    page = opened()
    table = demo(page)
    look(page, base, table, "safe")
    hold("frontier")
    expect(page.locator("#nothing")).to_be_visible()
    page.click("#compare")
    page.wait_for_selector("#frontier-view .waiting progress")
    expect(page.locator("#nothing")).to_be_hidden()  # something is on its way
    page.reload()
    page.wait_for_selector("#frontier-view .waiting progress")
    page.goto(f"{base}/")
    page.wait_for_selector("#jobs progress")
    expect(page.locator("#jobs")).to_contain_text("Comparing methods")
    look(page, base, table)
    page.wait_for_selector("#jobs progress")
    look(page, base, table, "safe")
    page.click("#frontier-view .waiting button")
    page.wait_for_selector("#frontier-view >> text=Cancelled.")
    assert [job["state"] for job in ask(page, "GET", "/jobs")] == ["cancelled"]
    steps = [{"column": "sex", "action": "keep=1"}, {"column": "age_yrs", "action": "ranges=7"}]
    kept = {"method": "mask", "k": 60, "steps": steps, "top": {"age_yrs": 80}}
    ask(page, "PATCH", f"/tables/{table}/settings", {"protection": kept})
    page.reload()  # all that was set is in the form, what it does not offer too
    page.wait_for_selector("#protection button[type=submit]:enabled")
    assert (page.input_value("#method"), page.input_value("#k")) == ("mask", "60")
    assert page.eval_on_selector_all(".limit .how", "all => all.map((one) => one.value)") == [
        "keep=1",
        "ranges=7",
        "",
        "",
    ]
    assert page.input_value(".limit[data-column=age_yrs] .top") == "80"
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": {"race": "sensitive"}})  # elsewhere, meanwhile
    page.select_option("#method", "partition")
    page.click("#protection button[type=submit]")
    answered(page, "#candidate-view")
    settings = ask(page, "GET", f"/tables/{table}/settings")["settings"]
    assert (settings["roles"]["race"], settings["protection"]["k"]) == ("sensitive", 60)


def test_an_assessment_that_was_cancelled_can_be_tried_again(opened, base, hold):
    page = opened()
    table = demo(page)
    left_out = ("oshpd_id", "ethncty", "patzip", "los", "adm_qtr", "diag_p")  # an attack on them takes a minute
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": dict.fromkeys(left_out, "drop")})
    hold("assessment")
    look(page, base, table, "risk")
    page.wait_for_selector("#risk-view[data-shown]")
    page.click("#verdict-wait .waiting button")
    page.wait_for_selector(".instead")
    expect(page.locator("#headline")).to_have_text("Not assessed yet")  # what it had found is not the answer
    page.reload()
    page.wait_for_selector("#risk-view .note >> text=This assessment was cancelled")
    answered(page, "#risk-view")
    cancelled = page.get_attribute("#risk-view", "data-shown")
    page.click("text=Try again")
    answered(page, f"#risk-view:not([data-shown='{cancelled}'])")
    page.wait_for_selector("#bar:not(.stale)")
    assert [job["state"] for job in ask(page, "GET", "/jobs")] == ["done", "cancelled"]


def test_what_was_asked_for_is_not_dropped_without_a_word(opened, base):
    page = opened(may_be_refused=True)
    table = demo(page, rows=1_000)
    roles = {"charge": "sensitive", "diag_p": "other"}
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": roles})
    look(page, base, table, "safe")
    page.wait_for_selector("#suggested:visible")
    page.select_option("#sensitive", "")
    page.click("#protection button[type=submit]")
    page.wait_for_selector("#refused >> text=Choose the column that l = 2 is about")
    page.select_option("#sensitive", "charge")
    without = page.eval_on_selector_all(
        "#method option:not([hidden])", "all => all.map((one) => [one.value, one.dataset.inputs.split(' ')])"
    )
    method = next(name for name, inputs in without if "l" not in inputs)
    page.click("#more-ways summary")
    page.click("#further > summary")
    page.select_option("#method", method)
    expect(page.locator("#l")).to_be_visible()  # what is asked for stays in sight
    page.click("#protection button[type=submit]")
    page.wait_for_selector("#refused >> text=makes no promise of l = 2")
    assert ask(page, "GET", "/jobs") == []
    kept = ask(page, "GET", f"/tables/{table}/settings")["settings"]["protection"]
    assert (kept["sensitive"], kept["l"]) == ("charge", 2)  # saved without a protection
    page.select_option("#method", "partition")
    page.fill("#c", "5")
    page.click("#compare")
    answered(page, "#frontier-view")
    page.click("#frontier-view button[data-point]")
    answered(page, "#candidate-view")
    assert ask(page, "GET", f"/tables/{table}/settings")["settings"]["protection"]["l"] == 2
    expect(page.locator("#c")).to_have_value("")  # the form is as the row
    assert page.query_selector("#candidate-view[data-older]") is None
    page.fill("#l", "two")
    page.click("#protection button[type=submit]")
    page.wait_for_selector("#candidate-view[data-older]")  # what is shown is not what was asked for last
    assert page.inner_text("#refused")
    page.select_option("#method", "perturb")
    kinds = page.eval_on_selector_all(".step .kind option", "all => all.map((one) => [one.value, one.textContent])")
    assert ["rankswap", "Values swapped with near ones"] in kinds
    assert [words for kind, words in kinds if words.lower() == kind and kind != "noise"] == []  # no internal names
    place(page, "who")
    page.click("#tab-question")
    page.click("details:has(> label[for=certain]) > summary")
    page.fill("#certain", "40%")
    page.press("#certain", "Tab")
    page.wait_for_selector("#certain[aria-invalid=true]")
    page.fill("#certain", "90%")
    page.press("#certain", "Tab")
    page.wait_for_selector("#certain:not([aria-invalid])")
    page.wait_for_function(
        "async (path) => (await (await fetch(path)).json()).settings.certain === 0.9",
        arg=f"/api/v1/tables/{table}/settings",
    )


def test_after_undo_the_result_that_is_shown_is_the_one_that_the_form_asks_for(opened, base):
    page = opened()
    look(page, base, demo(page, rows=1_000), "safe")
    shown = {}
    for size in (20, 4):
        page.eval_on_selector("#k", SLIDE, size)
        page.click("#protection button[type=submit]")
        others = "".join(f":not([data-shown='{job}'])" for job in shown.values())
        answered(page, f"#candidate-view{others}")
        shown[size] = page.get_attribute("#candidate-view", "data-shown")
    page.wait_for_selector("#shelf .candidate >> nth=1")
    for button, size in (("#undo", 20), ("#redo", 4)):
        page.click(button)
        answered(page, f"#candidate-view[data-shown='{shown[size]}']")
        page.wait_for_selector(f"#shelf .candidate[data-job='{shown[size]}'][data-current=yes]")
        expect(page.locator("#k")).to_have_value(str(size))
        expect(page.locator("#candidate-view .apply")).to_be_enabled()


def test_what_the_table_cannot_answer_is_said_in_words(opened, base):
    page = opened()
    table = ask(page, "POST", "/tables/demo", {"rows": 300})["id"]
    ask(page, "PUT", f"/tables/{table}/settings", {})  # all that looks as if others may know it: everybody is alone
    look(page, base, table, "forecast")
    expect(page.locator("#forecast-view .note")).to_contain_text("alone in their class")  # where the answer would be
    expect(page.locator("#problem .problem")).to_have_count(0)
    page.click("text=Change the roles")
    expect(page.locator(".column:focus")).to_have_count(1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.pdf", b"%PDF-1.4", "not a kind of file"),
        ("empty.csv", b"", "empty"),
        ("broken.parquet", b"PAR1 no", "broken.parquet"),
        ("only-a-header.csv", b"age,sex\n", "no rows"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_words(opened, tmp_path, name, content, words):
    page = opened(may_be_refused=True)
    (tmp_path / name).write_bytes(content)
    upload(page, tmp_path / name)
    page.wait_for_selector("#problem .problem")
    said = page.inner_text("#problem span")
    assert words in said
    assert said.endswith(".")
    assert "Traceback" not in said
    assert page.query_selector_all(".tables li") == []


def test_a_file_can_be_dropped_anywhere(opened):
    page = opened()
    page.evaluate("""() => {
        const data = new DataTransfer();
        const rows = Array.from({ length: 50 }, (_, n) => `${20 + n % 5},${n % 2 ? "f" : "m"}`);
        data.items.add(new File([["age,sex", ...rows].join("\\n")], "dropped.csv", { type: "text/csv" }));
        document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
    }""")
    page.wait_for_url("**/who")
    settled(page)
    expect(page.locator("#pick-table")).to_contain_text("dropped.csv")
    expect(page.locator(".column")).to_have_count(2)


def test_there_is_a_page_for_addresses_without_one(opened, base):
    page = opened(may_be_refused=True)
    assert page.goto(f"{base}/nothing").status == 404
    assert "Not here" in page.inner_text("h1")


def test_a_path_outside_the_open_folder_is_refused(opened, base):
    page = opened(may_be_refused=True)
    page.fill("#path", "../../etc/passwd")
    page.click("#open button")
    expect(page.locator("#problem .problem")).to_contain_text("no such file")
    page.fill("#path", "people.csv")
    page.click("#open button")
    page.wait_for_url("**/who")


def test_a_hostile_table_stays_text(opened, hostile, base, shoot):
    page = opened()
    upload(page, hostile)
    page.wait_for_url("**/who")
    settled(page)
    choose(page, "__proto__")
    page.keyboard.press("k")
    page.wait_for_selector(".column[data-column=__proto__][data-role=quasi-identifier][data-decided=yes]")
    page.keyboard.press("Home")
    for _ in range(len(NASTY)):
        page.keyboard.press("k")
    page.wait_for_selector(".crowd:not(.fading)")
    assert "\u202e" not in page.inner_text("#columns")
    page.wait_for_function("() => document.querySelectorAll('.column[data-role=quasi-identifier]').length >= 6")
    table = page.url.split("/")[4]
    columns = ask(page, "GET", f"/tables/{table}")["columns"]
    roles = {column["name"]: "quasi-identifier" for column in columns[:-1]}
    ask(page, "PUT", f"/tables/{table}/settings", {"roles": roles, "groups": {NASTY[0]: [NASTY[1]]}})
    places = {"who": None, "risk": "#risk-view", "leak": "#leak-view", "decide": "#report-view"}
    for lens, part in {**places, "safe": "#candidate-view"}.items():
        look(page, base, table, lens)
        if lens == "who":
            page.click("#tab-riskiest")
            page.click("#riskiest-show")
            page.wait_for_selector("#riskiest-rows td:not(.number):not(.masked)")
            page.click("#riskiest-rows button >> nth=0")
            page.wait_for_selector("#person-view .chain")
            page.click("tr.column th >> nth=0")
            page.click("#inspector >> text=Show values")
            page.wait_for_selector("#inspector .values li")
        if lens == "safe":
            page.click("#protection button[type=submit]")
        if part:
            answered(page, part)
        if lens == "safe":
            advice = page.inner_text("#todo")
            assert "\u202e" not in advice
            assert "x" * 60 not in advice  # a name of 10,000 letters is not what to do
        page.wait_for_function("() => document.documentElement.scrollWidth <= 1280")
        shoot(page, f"hostile-{lens}.png", full_page=True)
    page.goto(base)
    page.click(".look")
    page.wait_for_selector(".preview td.masked")
    assert "onclick" not in page.inner_text(".preview tbody")
    page.click(".preview button")
    page.wait_for_selector(".preview td:not(.masked)")
    assert "<b onclick=window.hacked=4>" in page.inner_text(".preview tbody")
    page.wait_for_function("() => document.documentElement.scrollWidth <= 1280")
    assert page.evaluate("window.hacked") is None


def test_two_browsers_do_not_see_each_other(opened, base):
    mine, theirs = opened(may_be_refused=True), opened(may_be_refused=True)
    table = demo(mine)
    mine.goto(base)
    theirs.goto(base)
    assert len(mine.query_selector_all(".tables li")) == 1
    assert theirs.query_selector_all(".tables li") == []
    answer = theirs.goto(f"{base}/tables/{table}/risk")
    assert answer.status == 404
    assert "no such table" in theirs.inner_text("main")
    look(mine, base, table, "leak")
    answered(mine, "#leak-view")
    job = mine.get_attribute("#leak-view", "data-shown")
    assert theirs.goto(f"{base}/jobs/{job}/view").status == 404
    assert theirs.goto(f"{base}/api/v1/jobs/{job}").status == 404


def test_several_tables_are_kept_apart_and_removed(opened, base):
    page = opened()
    first, second = demo(page), demo(page, rows=2_000)
    look(page, base, first)
    page.select_option("#pick-table", second)
    page.wait_for_url(f"**/tables/{second}/who")
    settled(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(base)
    page.click(f"li[data-table='{first}'] .remove")
    page.wait_for_selector(f"li[data-table='{first}']", state="detached")
    assert [table["id"] for table in ask(page, "GET", "/tables")] == [second]


def test_without_the_token_there_is_only_a_word(browser, base):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(f"{base}/").status == 401
    assert "start-up" in page.inner_text("body")
    context.close()


def test_a_refused_download_tells_why(opened, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [20.0 + number % 3 for number in range(60)], "sex": ["f", "m"] * 30})
    pyreadstat.write_dta(frame, tmp_path / "été.dta")
    page = opened(may_be_refused=True)
    page.set_input_files("#file", tmp_path / "été.dta")
    page.wait_for_url("**/tables/**")
    settled(page)
    place(page, "safe")
    page.click("#protection button[type=submit]")
    answered(page, "#candidate-view")
    refusal = {"status": 400, "json": {"error": "the file cannot hold it"}}
    page.route("**/table?format=upload", lambda route: route.fulfill(**refusal))
    for link in ("text=Download .dta", "#shelf .take"):
        page.click(link)
        expect(page.locator("#problem")).to_contain_text("The file cannot hold it.")
        page.click("#problem button")
    page.unroute("**/table?format=upload")
    for link in ("text=Download .dta", "#shelf .take"):
        with page.expect_download() as download:
            page.click(link)
        download.value.save_as(tmp_path / "safe.dta")
        assert download.value.suggested_filename.startswith("été-partition")
        assert len(pyreadstat.read_dta(tmp_path / "safe.dta")[0]) == len(frame)
    expect(page.locator("#problem")).to_be_empty()
