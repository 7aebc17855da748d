"""Opening tables, what may not be opened, previews, settings with undo, counts that follow every click."""

import html
import io
import json
import os
import re
import zipfile

import pytest

from incrowd import ClassSizes, demo_table, read_table
from incrowd.demo import QUASI_IDENTIFIERS
from incrowd.protection import PROTECTION_METHODS
from incrowd.protection.perturbation import STEPS
from incrowd.recipients import RECIPIENTS
from incrowd.web.protection_models import ASKED, FURTHER
from incrowd.web.uploads import shown_name

TABLES = "/api/v1/tables"
CSV = b"name,age,zip\n" + b"".join(b"person%d,%d,%05d\n" % (n, 20 + n % 5, 100 + n % 3) for n in range(60))


def upload(client, name, content):
    return client.post(TABLES, files={"file": (name, content)})


def test_a_file_is_uploaded_looked_at_and_removed(script, app):
    answer = upload(script, "people.csv", CSV)
    assert answer.status_code == 201
    table = answer.json()
    assert table["name"] == "people.csv"
    assert table["rows"] == 60
    assert (table["columns"][0]["name"], table["columns"][0]["role"]) == ("name", "identifier")
    zip_code = table["columns"][2]
    assert (zip_code["type"], zip_code["distinct"], zip_code["nulls"]) == ("text", 3, 0)
    folder = app.state.server.sessions.named(script.headers["x-incrowd-session"]).tables[table["id"]].folder
    assert [file.name for file in folder.iterdir()] == ["data.csv"]
    assert script.delete(f"{TABLES}/{table['id']}").status_code == 204
    assert not folder.exists()
    assert script.get(f"{TABLES}/{table['id']}").status_code == 404


@pytest.mark.parametrize("ending", ["parquet", "feather", "xlsx", "jsonl", "tsv"])
def test_every_kind_of_file_is_read(script, tmp_path, ending):
    import openpyxl
    import pyarrow.feather
    import pyarrow.parquet

    rows = demo_table(30)
    path = tmp_path / f"people.{ending}"
    if ending == "parquet":
        pyarrow.parquet.write_table(rows, path)
    elif ending == "feather":
        pyarrow.feather.write_feather(rows, str(path))
    elif ending == "xlsx":
        book = openpyxl.Workbook()
        book.active.append(rows.column_names)
        for row in rows.to_pylist():
            book.active.append(list(row.values()))
        book.save(path)
    elif ending == "jsonl":
        path.write_text("\n".join(str(row).replace("'", '"') for row in rows.to_pylist()))
    else:
        lines = [rows.column_names, *(row.values() for row in rows.to_pylist())]
        path.write_text("\n".join("\t".join(map(str, line)) for line in lines))
    answer = upload(script, path.name, path.read_bytes())
    assert answer.status_code == 201, answer.text
    assert (answer.json()["rows"], len(answer.json()["columns"])) == (30, 11)


@pytest.mark.parametrize(
    ("name", "content", "status", "words"),
    [
        ("photo.png", b"\x89PNG\r\n", 415, "photo.png is not a kind of file that tables are read from"),
        ("no-ending", b"a,b\n1,2\n", 415, "not a kind of file"),
        ("virus.csv.exe", b"MZ", 415, "not a kind of file"),
        ("empty.csv", b"", 400, "empty.csv is empty"),
        ("head.csv", b"a,b\n", 400, "has a header but no rows"),
        ("broken.parquet", b"PAR1 not really", 400, "broken.parquet is not a parquet file"),
        ("broken.xlsx", b"PK not really", 400, "workbook cannot be read"),
        ("broken.json", b"{", 400, "line 1 is not JSON"),
        ("twice.csv", b"a,a\n1,2\n", 400, "more than once"),
        ("large.csv", b"a,b\n" + b"1,2\n" * 800_000, 413, "larger than the 3 MB"),
        (
            "wide.csv",
            ",".join(f"c{n}" for n in range(60)).encode() + b"\n" + b",".join([b"1"] * 60) + b"\n",
            413,
            "60 columns",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(script, app, name, content, status, words):
    before = set(app.state.server.store.folder.iterdir())
    answer = upload(script, name, content)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text
    assert str(app.state.server.store.folder) not in answer.text
    assert "data." not in answer.text
    assert set(app.state.server.store.folder.iterdir()) <= before  # nothing is left behind
    assert script.get(TABLES).json() == []


def test_a_file_is_read_as_somebody_says(script, folder, wait_for):
    (folder / "odd.csv").write_bytes("name;hint\nä;1\nb;-\nc;2;3\n".encode("cp1252"))
    refused = script.post(f"{TABLES}/open", json={"path": "odd.csv"})
    assert (refused.status_code, "leave them out" in refused.json()["error"]) == (400, True)
    assert "skip" not in refused.json()["error"]
    how = {"separator": ";", "encoding": "cp1252", "null": "-", "skip_bad_lines": True}
    found = script.post(f"{TABLES}/open", json={"path": "odd.csv", "reading": how}).json()
    sent = {"file": ("odd.csv", (folder / "odd.csv").read_bytes())}
    uploaded = script.post(TABLES, params=how, files=sent).json()
    for one in (found, uploaded):
        assert script.get(f"{TABLES}/{one['id']}/preview?show=true").json()["rows"] == [["ä", "1"], ["b", ""]]
    script.patch(f"{TABLES}/{uploaded['id']}/settings", json={"roles": {"hint": "quasi-identifier"}})
    job = wait_for(script, script.post(f"{TABLES}/{uploaded['id']}/leaks", json={"leaked": 1}).json())
    again = script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()
    assert "odd.csv --separator ';' --encoding cp1252 --null=- --skip-bad-lines --qi" in again["cli"]
    assert "read_table('odd.csv', separator=';', encoding='cp1252', null='-', skip_bad_lines=True)" in again["python"]
    wrong = script.post(TABLES, params={"encoding": "no-such"}, files=sent)
    assert wrong.status_code == 400, wrong.text


def test_a_form_without_a_file_is_refused(script):
    assert script.post(TABLES, data={"file": "not a file"}).status_code == 415
    assert script.post(TABLES, files={"other": ("a.csv", CSV)}).status_code == 400
    assert (
        script.post(TABLES, content=b"x", headers={"content-type": "multipart/form-data; boundary=b"}).status_code
        == 400
    )
    two = script.post(TABLES, files=[("file", ("a.csv", CSV)), ("file", ("b.csv", CSV))])
    assert two.status_code == 400
    cut = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n1,'
    answer = script.post(TABLES, content=cut, headers={"content-type": "multipart/form-data; boundary=b"})
    assert "no whole file" in answer.json()["error"]


def test_a_zip_bomb_is_refused(script):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", b"0" * 20_000_000)
    answer = upload(script, "bomb.xlsx", packed.getvalue())
    assert answer.status_code == 413
    assert "unpacks to more than 5 MB" in answer.json()["error"]


def test_a_zip_bomb_that_lies_about_its_size_is_refused(script):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", b"0" * 20_000_000)
    small = packed.getvalue().replace((20_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert upload(script, "bomb.xlsx", small).status_code == 400


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../../etc/passwd.csv", "passwd.csv"),
        ("C:\\Users\\me\\people.csv", "people.csv"),
        ("a\x00b\r\nc\u202e.csv", "abc.csv"),
        ("..", "table"),
        ("x" * 500 + ".parquet", "x" * 111 + "….parquet"),
    ],
)
def test_a_files_name_is_only_shown(given, shown):
    assert shown_name(given) == shown


def test_an_upload_named_like_a_path_stays_in_its_folder(script, app):
    table = upload(script, "../../escape.csv", CSV).json()
    assert table["name"] == "escape.csv"
    opened = app.state.server.sessions.named(script.headers["x-incrowd-session"]).tables[table["id"]]
    assert opened.folder.parent == app.state.server.store.folder


def test_a_path_inside_the_folder_is_opened(script, folder):
    for path in ("people.csv", str(folder / "people.csv"), "./x/../people.csv"):
        answer = script.post(f"{TABLES}/open", json={"path": path})
        assert answer.status_code == 201, answer.text
        assert answer.json()["rows"] == 40
    (table, *_) = script.get(TABLES).json()
    script.delete(f"{TABLES}/{table['id']}")
    assert (folder / "people.csv").exists()  # what was not uploaded is not deleted


def test_paths_outside_the_folder_are_refused_alike(script, folder, tmp_path):
    outside = folder.parent / "secret.csv"
    outside.write_bytes(CSV)
    sibling = folder.parent / "data-of-others"
    sibling.mkdir(exist_ok=True)
    (sibling / "x.csv").write_bytes(CSV)
    link, linked = folder / "link.csv", folder / "linked"
    if not link.exists():
        os.symlink(outside, link)
        os.symlink(folder.parent, linked)
    words = set()
    for path in (
        "../secret.csv", str(outside), "link.csv", "linked/secret.csv", "/etc/passwd", "no-such.csv", ".", "",
        "~/x.csv", "../data-of-others/x.csv", "*.csv", "people.csv/../../secret.csv",
        "file:///etc/passwd", "a" * 3_000,
    ):  # fmt: skip
        answer = script.post(f"{TABLES}/open", json={"path": path})
        assert answer.status_code == (422 if not path else 404), (path, answer.text)
        if path:
            words.add(answer.json()["error"])
    assert len(words) == 1  # a file that is there and may not be opened looks like one that is not there
    assert script.post(f"{TABLES}/open", json={"path": "people.csv\0.png"}).status_code == 400


def test_no_path_is_opened_where_no_folder_is_allowed():
    from incrowd.web.refusals import Refusal
    from incrowd.web.server import Server
    from incrowd.web.server_settings import ServerSettings

    server = Server(ServerSettings(workers=1))
    try:
        with pytest.raises(Refusal, match="no folder is open"):
            server.open_path(server.sessions.named("x"), "/etc/hosts.csv")
    finally:
        server.close()


def test_a_preview_is_masked_unless_values_are_asked_for(script):
    table = upload(script, "people.csv", CSV).json()["id"]
    masked = script.get(f"{TABLES}/{table}/preview", params={"rows": 3}).json()
    assert masked["masked"] is True
    assert masked["rows"] == [["•••• (text)", "•••• (integer)", "•••• (text)"]] * 3
    shown = script.get(f"{TABLES}/{table}/preview", params={"rows": 2, "show": True}).json()
    assert shown["rows"] == [["person0", "20", "00100"], ["person1", "21", "00101"]]
    assert "person0" not in script.get(f"{TABLES}/{table}").text


def test_live_counts_are_those_of_the_library(script, demo):
    table = demo(script)["id"]
    names = list(QUASI_IDENTIFIERS)
    rows = read_table(demo_table(1_000))
    for wanted in (names, names[:3], names[2:4], [names[0]], list(reversed(names[:3]))):
        live = script.post(f"{TABLES}/{table}/live", json={"quasi_identifiers": wanted}).json()
        sizes = ClassSizes.from_table(rows, quasi_identifiers=wanted)
        assert (live["k"], live["classes"], live["uniques"]) == (sizes.smallest, sizes.classes, sizes.uniques)
        assert live["correctness"] == sizes.correctness
    grouped = script.post(
        f"{TABLES}/{table}/live", json={"quasi_identifiers": names, "groups": {"who": ["age_yrs", "sex"]}}
    ).json()
    expected = ClassSizes.from_table(rows, quasi_identifiers=["age_yrs", "sex"])
    assert grouped["groups"][0]["uniques"] == expected.uniques


def test_live_counts_of_nothing_and_of_people(script):
    rows = b"patient_id,ward\n" + b"".join(b"%d,%d\n" % (n // 2, n % 3) for n in range(60))
    table = upload(script, "stays.csv", rows).json()["id"]
    nothing = script.post(f"{TABLES}/{table}/live", json={"quasi_identifiers": []}).json()
    assert (nothing["k"], nothing["uniques"]) == (60, 0)
    people = script.post(f"{TABLES}/{table}/live", json={"quasi_identifiers": ["ward"], "person": "patient_id"}).json()
    assert people["people"] == 30
    unknown = script.post(f"{TABLES}/{table}/live", json={"quasi_identifiers": ["nope"]})
    assert unknown.status_code == 400
    assert "no column named 'nope'" in unknown.json()["error"]


def test_settings_change_and_can_be_undone_and_redone(script, demo):
    table = demo(script)["id"]
    path = f"{TABLES}/{table}/settings"
    start = script.get(path).json()
    assert (start["can_undo"], start["can_redo"]) == (False, False)
    changed = script.put(path, json={"roles": {"los": "other"}, "population": 4_000_000, "recipient": "trusted"}).json()
    assert changed["settings"]["roles"]["los"] == "other"
    assert changed["settings"]["roles"]["sex"] == "quasi-identifier"
    assert changed["can_undo"] is True
    assert {c["name"]: c["role"] for c in script.get(f"{TABLES}/{table}").json()["columns"]}["los"] == "other"
    assert script.post(f"{path}/undo").json()["settings"] == start["settings"]
    again = script.post(f"{path}/redo").json()
    assert again["settings"]["population"] == 4_000_000
    assert again["can_redo"] is False
    assert script.post(f"{path}/redo").status_code == 409
    script.post(f"{path}/undo")
    script.put(path, json={"recipient": "restricted"})
    assert script.get(path).json()["can_redo"] is False


def test_two_pages_that_change_different_settings_both_count(script, demo):
    path = f"{TABLES}/{demo(script)['id']}/settings"
    script.put(path, json={"roles": {"los": "other"}, "population": 4_000_000})
    script.patch(path, json={"roles": {"sex": "sensitive"}})
    settings = script.patch(path, json={"protection": {"k": 60}}).json()["settings"]
    assert (settings["roles"]["los"], settings["roles"]["sex"]) == ("other", "sensitive")
    assert (settings["population"], settings["protection"]["k"]) == (4_000_000, 60)
    assert script.patch(path, json={"population": None}).json()["settings"]["population"] is None
    assert script.patch(path, json={"roles": {"nope": "other"}}).status_code == 400


def test_a_change_of_protection_keeps_what_it_does_not_name(script, demo):
    path = f"{TABLES}/{demo(script)['id']}/settings"
    unnamed = {
        "hierarchies": {"sex": [["1", "any"], ["2", "any"]], "los": "5,10"},
        "keep": ["sex"],
        "widest": {"los": 30.0},
        "nominal": ["sex"],
        "leave_out": ["los"],
        "beta": 2.0,
        "delta": 1.5,
        "wildcards": True,
        "output": "midpoint",
        "seed": 7,
        "steps": [{"column": "los", "action": "*"}],
    }
    first = script.patch(path, json={"protection": {"k": 7, "l": 2.0, "c": 4.0, **unnamed}}).json()["settings"]
    now = script.patch(path, json={"protection": {"k": 11, "l": None, "c": None}}).json()["settings"]
    assert now["protection"] == {**first["protection"], "k": 11, "l": None, "c": 3.0}
    assert {name: now["protection"][name] for name in unnamed} == unnamed
    assert script.patch(path, json={"recipient": "strict"}).json()["settings"]["protection"] == now["protection"]
    gone = script.patch(path, json={"protection": dict.fromkeys([*unnamed, "k"])}).json()["settings"]["protection"]
    fresh = script.put(path, json={}).json()["settings"]["protection"]
    assert gone == fresh
    for wrong in ({"k": 1}, {"k": "5"}, {"unheard": 1}, {"keep": ["nope"]}):
        assert script.patch(path, json={"protection": wrong}).status_code in (400, 422)
    assert script.put(path, json={"protection": {"k": None}}).status_code == 422  # only a change can remove


def test_forms_offer_every_recipient_and_method_and_their_words(script, base, demo):
    table = demo(script)["id"]
    roles, protection = (script.get(f"{base}/tables/{table}/{page}").text for page in ("who", "safe"))
    for kind in RECIPIENTS:
        assert f'value="{kind.name}"' in roles
        assert kind.words[1:] in roles
    for name, method in PROTECTION_METHODS.items():
        line = next(part for part in protection.split("<option ") if part.startswith(f'value="{name}"'))
        able = [name for name in ("hierarchies", "importance", "leave_out", *FURTHER) if method.takes(name)]
        inputs = " ".join(dict.fromkeys([*method.inputs, *able]))
        assert f'data-help="{method.help}" data-inputs="{inputs}"' in line
        assert " hidden" not in line.partition("</option>")[0]
    for kind, step in STEPS.items():  # a new one appears by itself
        assert f'<option value="{kind}" data-usual="{step.usual}" data-help="{step.words}' in protection


def test_every_option_of_a_request_has_a_field(script, base, demo):
    page = script.get(f"{base}/tables/{demo(script)['id']}/safe").text
    together = {"population_table": "k-map-people", "top": "column-limits", "bottom": "column-limits"}
    together |= {"hierarchies": "coarsened", "importance": "coarsened"}
    for name in ASKED:
        assert page.count(f' id="{together.get(name, name.replace("_", "-"))}"') == 1, name
    kinds = {option.kind for option in FURTHER.values()}
    assert kinds <= {"columns", "switch", "text", "number", "whole", "share", "numbers"}  # those that the page reads
    assert [name for name, option in FURTHER.items() if option.kind == "text" and not option.choices] == []
    declared = [json.loads(html.unescape(one)) for one in re.findall(r'data-option="([^"]*)"', page)]
    assert {one["name"]: one["kind"] for one in declared} == {
        name: ASKED[name].kind for name in (*FURTHER, "k_map", "leave_out")
    }
    (beta,) = (one for one in declared if one["name"] == "beta")
    assert (beta["above"], beta["highest"], beta["lowest"], beta["default"]) == (0, 1e6, None, None)
    assert FURTHER["beta"].help in page
    assert "The loss to keep smallest: granularity" in page  # without the method, which it is shown with
    assert "in “partition” and “fewest cells blanked” only with keep or widest." in page


def test_an_unknown_recipient_is_told_which_there_are(script, demo):
    answer = script.put(f"{TABLES}/{demo(script)['id']}/settings", json={"recipient": "mars"})
    assert all(f"'{kind.name}'" in answer.json()["error"] for kind in RECIPIENTS)


def test_settings_that_make_no_sense_are_refused(script, demo):
    path = f"{TABLES}/{demo(script)['id']}/settings"
    for settings, status in (
        ({"roles": {"nope": "other"}}, 400),
        ({"roles": {"sex": "boss"}}, 422),
        ({"roles": {"sex": "person", "los": "person"}}, 400),
        ({"groups": {"g": ["nope"]}}, 400),
        ({"groups": {"g": []}}, 400),
        ({"population": 0}, 422),
        ({"threshold": 2}, 422),
        ({"recipient": "mars"}, 422),
        ({"protection": {"k": 1}}, 422),
        ({"protection": {"top": {"nope": 3}}}, 400),
        ({"unknown": 1}, 422),
    ):
        assert script.put(path, json=settings).status_code == status, settings
    assert script.get(path).json()["can_undo"] is False


def test_what_was_sent_wrongly_is_not_repeated(script, demo):
    table = demo(script)["id"]
    secret = "Jane Doe, HIV positive"
    for body in ({"quasi_identifiers": secret}, {"quasi_identifiers": [{"a": secret}]}, {"groups": {"g": secret}}):
        answer = script.post(f"{TABLES}/{table}/live", json=body)
        assert answer.status_code == 422
        assert secret not in answer.text


def test_a_request_that_does_not_fit_is_refused_in_a_sentence(script, demo):
    table = demo(script)["id"]
    for path, body, words in (
        ("/protections", {"protection": {"t": 5}}, "protection.t is not right: it must be at most 1"),
        ("/protections", {"protection": {"k": 1}}, "protection.k is not right: it must be 2 or more"),
        ("/protections", {"protection": {"method": "magic"}}, "protection.method is not right: it must be 'partition'"),
        ("/leaks", {"size": 1}, "there is no field size here; /api/v1/openapi.json says which there are"),
        ("/live", {}, "quasi_identifiers is missing"),
    ):
        assert script.post(f"{TABLES}/{table}{path}", json=body).json()["error"].startswith(words)
    points = script.post("/api/v1/forecasts", json={"points": [[1, 2], [3, 4]]}).json()["error"]
    assert points == "points.0 is not right: it must be an object with named fields, {…}"
    broken = script.put(f"{TABLES}/{table}/settings", content=b"{no", headers={"content-type": "application/json"})
    assert broken.json()["error"] == "the request is not JSON that can be read"


def test_only_so_many_tables_are_open(script, app):
    for _ in range(app.state.server.settings.max_tables):
        assert upload(script, "people.csv", CSV).status_code == 201
    answer = script.post(f"{TABLES}/demo", json={"rows": 1})
    assert (answer.status_code, "remove one first" in answer.json()["error"]) == (429, True)


def test_closing_the_session_deletes_everything(script, demo, app):
    table = demo(script)["id"]
    folder = app.state.server.sessions.named(script.headers["x-incrowd-session"]).tables[table].folder
    assert script.delete("/api/v1/session").status_code == 204
    assert not folder.exists()
    assert script.get(TABLES).json() == []


def test_limits_are_told(script, folder):
    limits = script.get("/api/v1/limits").json()
    assert limits["max_bytes"] == 3_000_000
    assert limits["folders"] == [str(folder)]
    assert ".parquet" in limits["endings"]


def test_a_file_that_was_replaced_by_a_link_after_it_was_opened_is_not_read(script, folder, tmp_path):
    import pyarrow
    import pyarrow.parquet

    outside, inside = tmp_path / "outside.parquet", folder / "inside.parquet"
    for file in (outside, inside):
        pyarrow.parquet.write_table(pyarrow.table({"age": [30, 31]}), file)
    table = script.post(f"{TABLES}/open", json={"path": "inside.parquet"}).json()["id"]
    assert script.get(f"{TABLES}/{table}/preview?show=true").status_code == 200
    inside.unlink()
    inside.symlink_to(outside)
    answer = script.get(f"{TABLES}/{table}/preview?show=true")
    assert (answer.status_code, "has changed" in answer.json()["error"]) == (409, True)
    assert script.delete(f"{TABLES}/{table}").status_code == 204
    inside.unlink()
