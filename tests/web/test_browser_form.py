"""The protection form in a browser: it shows all that is asked for, by whomever it was asked, also after a reload."""

import pytest
from playwright.sync_api import expect
from tests.web.browsing import answered, ask, demo, look, settled

pytestmark = pytest.mark.xdist_group("browser-bench")  # one worker: the browser is started once
SECRETS = ["charge", "diag_p"]
STEPS = [{"column": "patcnty", "action": "*"}, {"column": "age_yrs", "action": "ranges=5"}]
FORM = """() => [...document.querySelectorAll("#protection, #question")]
    .flatMap((form) => [...form.querySelectorAll("input, select, textarea, details, output")])
    .map((one) => [
        one.id || one.className || one.value, one.closest("[data-column]")?.dataset.column ?? "",
        one.type === "checkbox" ? one.checked : one.nodeName === "DETAILS" ? one.open : one.value,
        one.checkVisibility(),
    ])"""


def chosen(page, place):
    """The columns that are chosen among the chips in a place."""
    return page.eval_on_selector_all(f"{place} :checked", "all => all.map((one) => one.value)")


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 7, "sensitive": SECRETS, "l": 2, "t": 0.9, "leave_out": ["adm_qtr"], "output": "midpoint"},
        {"k": 60, "method": "generalise", "k_map": 3, "suppress": 0.1, "measure": "entropy", "importance": {"sex": 2}},
        {"k": 4, "hierarchies": {"age_yrs": "5,10"}, "output": {"age_yrs": "mean"}},
        {"method": "coarsen", "resolution": {"age_yrs": 8, "sex": 2, "race": 2, "patcnty": 5}},
        {"method": "mask", "k": 3, "steps": STEPS, "top": {"age_yrs": 80}},
        {"sensitive": SECRETS, "l": 2, "diverse": ["diag_p"], "diversity": "recursive", "c": 4, "beta": 900},
        {
            "k": 3,
            "widest": {"age_yrs": 60.5},
            "keep": ["sex"],
            "nominal": ["race"],
            "aim": "information",
            "suppress": 0.9,
        },
        {"k": 3, "method": "blank", "wildcards": True, "subsets": 2},
    ],
)
def test_after_a_reload_the_form_is_as_it_was_left(opened, base, asked):
    page = opened()
    table = demo(page, rows=1_000)
    roles = {"charge": "sensitive", "diag_p": "sensitive", "adm_qtr": "other", "los": "other"}
    limits = {"highest": 0.2, "groups": {"census": ["age_yrs", "sex"]}}
    ask(page, "PATCH", f"/tables/{table}/settings", {"roles": roles, "protection": asked, **limits})
    job = ask(page, "POST", f"/tables/{table}/protections", {})
    while (ended := ask(page, "GET", f"/jobs/{job['id']}"))["state"] in ("waiting", "running"):
        page.wait_for_timeout(50)
    assert (ended["state"], ended["message"]) == ("done", "")
    look(page, base, table, "safe")
    page.wait_for_selector("#shelf .candidate")
    before, kept = page.evaluate(FORM), ask(page, "GET", f"/tables/{table}/settings")["settings"]
    page.click("#protection button[type=submit]")  # what is shown is what is asked for
    page.wait_for_selector("#shelf .candidate")
    expect(page.locator("#candidate-view")).not_to_have_attribute("aria-busy", "true")
    assert ask(page, "GET", f"/tables/{table}/settings")["settings"] == kept
    assert page.evaluate(FORM) == before
    page.reload()
    settled(page)
    assert page.evaluate(FORM) == before


def test_further_demands_are_refused_beside_their_field_or_made_told_and_undone(opened, base):
    page = opened()
    table = demo(page, rows=1_000)
    path = f"/tables/{table}"
    ask(page, "PATCH", f"{path}/settings", {"roles": {"charge": "sensitive", "patzip": "drop"}})
    look(page, base, table, "safe")
    page.select_option("#sensitive", "")
    page.fill("#l", "")
    page.click("#more-ways > summary")
    expect(page.locator("#beta")).to_be_hidden()
    page.click("#further > summary")
    expect(page.locator("#measure")).to_be_hidden()  # of another method
    page.fill("#widest", "age_yrs=sixty")
    page.fill("#beta", "40")
    page.click("#protection button[type=submit]")
    expect(page.locator("#widest-wrong")).to_contain_text("is not a number")
    expect(page.locator("#widest")).to_be_focused()
    expect(page.locator("#beta-wrong")).to_contain_text("without a column under “Keep secret”")
    assert ask(page, "GET", "/jobs") == []
    page.select_option("#sensitive", "charge")
    page.fill("#widest", "age_yrs=60")
    expect(page.locator("#widest-wrong")).to_be_empty()
    page.click("#keep .chip >> text=sex")
    page.fill("#suppress", "90 %")
    page.click("#protection button[type=submit]")
    answered(page, "#candidate-view")
    told = "charge kept secret, patzip left out, beta = 40, keep: sex, widest: age_yrs=60, suppress = 0.9"
    expect(page.locator("#shelf")).to_contain_text(told)
    job = page.get_attribute("#candidate-view", "data-shown")
    command = ask(page, "GET", f"/jobs/{job}/equivalent")["cli"]
    assert all(words in command for words in ("--beta 40", "--keep sex", "--widest age_yrs=60", "--suppress 0.9"))
    kept = ask(page, "GET", f"{path}/settings")["settings"]["protection"]
    assert [kept[name] for name in ("beta", "keep", "widest", "suppress")] == [40, ["sex"], {"age_yrs": 60}, 0.9]

    page.select_option("#method", "sorted")
    page.click("#protection button[type=submit]")
    expect(page.locator("#keep-wrong")).to_contain_text("Partition, One coding for all, Fewest cells blanked")
    expect(page.locator("#beta-wrong")).to_be_empty()
    page.click("#undo")
    expect(page.locator("#beta")).to_have_value("")
    assert chosen(page, "#keep") == []
    page.click("#redo")
    expect(page.locator("#widest")).to_have_value("age_yrs=60")
    assert chosen(page, "#keep") == ["sex"]
    page.click("#diverse .chip >> text=charge")
    page.select_option("#sensitive", "")
    expect(page.locator("#diverse .chip")).to_have_count(0)  # only what is kept secret can be diverse
