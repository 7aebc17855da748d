"""What the browser tests do again and again.

A page answers when it can: tests wait for what they assert (`expect`, `answered`, `wait_for_function`), and read at
once only what the page does within the event itself.
"""

import json

from playwright.sync_api import expect

KNOWN = ("age_yrs", "sex", "race", "patcnty")


def ask(page, method, path, body=None):
    """Ask the API as the page would."""
    answer = page.evaluate(
        """async ([method, path, body]) => {
            const sent = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
            const answer = await fetch("/api/v1" + path, { method, ...(body === null ? {} : sent) });
            return { status: answer.status, text: await answer.text() };
        }""",
        [method, path, body],
    )
    assert answer["status"] < 300, answer
    return json.loads(answer["text"]) if answer["text"] else None


def demo(page, rows=3_000):
    """A demo table with few quasi-identifiers."""
    table = ask(page, "POST", "/tables/demo", {"rows": rows})
    roles = {
        column["name"]: "other" for column in table["columns"] if column["suggested"] in ("quasi-identifier", "both")
    }
    roles |= dict.fromkeys(KNOWN, "quasi-identifier")
    ask(
        page,
        "PUT",
        f"/tables/{table['id']}/settings",
        {"roles": roles, "population": 300_000, "recipient": "restricted"},
    )
    return table["id"]


def settled(page):
    """Wait for the workbench: all its parts are there."""
    page.wait_for_selector("html[data-settled=yes]", state="attached")


def look(page, base, table, name="who"):
    """Open the workbench of a table at a place, or at a part of one."""
    page.goto(f"{base}/tables/{table}/{name}")
    settled(page)


def place(page, name):
    """Go to a place of the workbench."""
    page.click(f".steps a[data-place={name}]")
    page.wait_for_selector(f".place[data-place={name}]:visible")


def answered(page, place):
    """Wait for an answer in its place, all of it."""
    page.wait_for_selector(f"{place}[data-shown]:not([aria-busy]):not(:has([data-drawn=now]))", timeout=180_000)
    assert page.query_selector_all(f"{place} [data-drawn=no]") == []


def choose(page, column):
    """Select one column of the table: its drawer opens."""
    page.click(f".column[data-column='{column}'] .name")
    expect(page.locator(f".column[data-column='{column}']")).to_be_focused()
