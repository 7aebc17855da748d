"""Work in the background: results in stages, cancelling, failing in words, fairness, and what is forgotten."""

import resource
import sys
import threading
import time
from pathlib import Path

import pytest

from incrowd.errors import InputError
from incrowd.web.jobs import Job, Jobs, Outcome
from incrowd.web.models import Equivalent
from incrowd.web.refusals import Refusal

TABLES = "/api/v1/tables"
SAME = Equivalent(cli="", python="")


@pytest.fixture
def jobs():
    found = Jobs(workers=1, max_active=5, max_finished=3)
    yield found
    found.close()


def outcome(found=None, file=None):
    return Outcome(found, lambda: {"found": found}, dict, file)


def job_of(session, work, kind="leak"):
    return Job(session, kind, None, work, SAME)


def until(condition, seconds=180):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def waiting_work(gate, done=None, name=None):
    """Work that says how far it is until the gate opens."""

    def work(progress, publish):
        while not gate.wait(0.005):
            progress("waiting at the gate", 0.5)
        if done is not None:
            done.append(name)
        return outcome(name)

    return work


def test_an_assessment_comes_in_stages_and_ends_as_the_library_says(script, demo, wait_for):
    from incrowd import assess, demo_table

    table = demo(script)["id"]
    chosen = dict.fromkeys(("oshpd_id", "patzip", "los", "adm_qtr", "diag_p"), "other")
    names = ["age_yrs", "sex", "ethncty", "race", "patcnty"]
    chosen |= dict.fromkeys(names, "quasi-identifier") | {"charge": "sensitive"}
    script.put(f"{TABLES}/{table}/settings", json={"roles": chosen, "recipient": "trusted", "population": 50_000})
    job = script.post(f"{TABLES}/{table}/assessments", json={"seed": 3}).json()
    assert job["state"] in ("waiting", "running")
    over = wait_for(script, job)
    assert (over["state"], over["progress"], over["stages"]) == ("done", 1.0, 4)
    result = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    expected = assess(
        demo_table(1_000),
        quasi_identifiers=names,
        sensitive=["charge"],
        population=50_000,
        recipient="trusted",
        other=[name for name, role in chosen.items() if role == "other"],
        seed=3,
    ).to_dict()
    for found in (result, expected):
        del found["population"]["seconds"]
        for action in found["verdict"]["actions"]:
            action["commands"] = [command.split()[3:-1] for command in action["commands"]]  # the files have other names
    for section in ("verdict", "facts", "knowledge", "population", "forecast", "leaks", "protection", "skipped"):
        assert result[section] == expected[section], section
    figures = script.get(f"/api/v1/jobs/{job['id']}/figures").json()
    assert {"verdict", "class-sizes", "known", "drivers", "population", "forecast", "leaks"} <= set(figures)
    for figure in figures.values():
        assert figure["spec"]["description"].startswith(figure["title"])
        assert figure["table"]["rows"]
    for name in ("report.html", "report-external.html", "report.json"):
        report = script.get(f"/api/v1/jobs/{job['id']}/{name}")
        assert report.headers["content-disposition"].startswith("attachment; filename=")
    assert report.json()["schema"] == "incrowd/assessment/2"


def test_the_library_tells_what_it_knows_so_far():
    from incrowd import assess, demo_table
    from incrowd.assessment import Assessment

    early: list[Assessment] = []
    found = assess(
        demo_table(1_000), quasi_identifiers=["age_yrs", "sex", "patcnty"], population=9_000, partial=early.append
    )
    both = {"population", "protection"}
    assert [set(one.skipped) for one in early] == [both, both, {"protection"}]
    assert "still being estimated" in early[0].verdict.reasons[1]
    assert early[2].population == found.population
    assert early[0].facts.to_dict() == found.facts.to_dict()
    assert early[1].knowledge.to_dict() == found.knowledge.to_dict()
    assert all(one.to_html() for one in early[:1])
    plain = assess(demo_table(1_000), quasi_identifiers=["age_yrs", "sex", "patcnty"], population=9_000)
    assert plain.to_dict()["verdict"] == found.to_dict()["verdict"]


def test_a_job_is_cancelled_where_it_next_says_how_far_it_is(jobs):
    gate = threading.Event()
    job = jobs.add(job_of("a", waiting_work(gate)))
    until(lambda: job.stage == "waiting at the gate")
    jobs.cancel(job)
    assert job.state == "cancelled"
    after = jobs.add(job_of("a", lambda progress, publish: outcome(2)))
    until(lambda: after.state == "done")  # the one thread is free again
    assert job.state == "cancelled"
    with pytest.raises(Refusal, match="cancelled"):
        job.answer()
    jobs.remove(job)
    with pytest.raises(Refusal, match="no such job"):
        jobs.get("a", job.id)


def test_a_job_that_waits_is_cancelled_before_it_begins(jobs):
    gate, done = threading.Event(), []
    first = jobs.add(job_of("a", waiting_work(gate, done, "first")))
    second = jobs.add(job_of("a", waiting_work(gate, done, "second")))
    jobs.cancel(second)
    gate.set()
    until(lambda: first.state == "done")
    assert done == ["first"]
    assert second.state == "cancelled"


def test_sessions_take_turns(jobs):
    gate, done = threading.Event(), []
    hold = jobs.add(job_of("a", waiting_work(gate)))
    until(lambda: hold.state == "running")
    mine = [jobs.add(job_of("a", waiting_work(gate, done, f"a{number}"))) for number in range(4)]
    other = jobs.add(job_of("b", waiting_work(gate, done, "b0")))
    gate.set()
    until(lambda: all(job.finished for job in [*mine, other]))
    assert done.index("b0") <= 1  # not behind all four of the other session
    assert [name for name in done if name[0] == "a"] == ["a0", "a1", "a2", "a3"]


def test_a_failure_is_a_sentence_and_quotes_nothing(jobs, caplog):
    def refused(progress, publish):
        raise InputError("k must be 2 or more")

    def broken(progress, publish):
        raise RuntimeError("Jane Doe, HIV positive")

    def large(progress, publish):
        raise MemoryError

    found = [jobs.add(job_of("a", work)) for work in (refused, broken, large)]
    until(lambda: all(job.finished for job in found))
    assert [job.state for job in found] == ["failed"] * 3
    assert found[0].message == "k must be 2 or more"
    assert found[1].message == "this should not have happened (RuntimeError); please tell us"
    assert "memory" in found[2].message
    assert "Jane" not in caplog.text + found[1].message


def test_only_so_many_jobs_wait_and_only_so_many_results_are_kept(jobs, tmp_path):
    gate = threading.Event()
    held = [jobs.add(job_of("a", waiting_work(gate))) for _ in range(5)]
    with pytest.raises(Refusal, match="5 jobs are waiting or running") as refused:
        jobs.add(job_of("a", waiting_work(gate)))
    assert refused.value.status == 429
    jobs.add(job_of("b", waiting_work(gate)))  # others are not held up
    gate.set()
    until(lambda: all(job.finished for job in held))
    until(lambda: len(jobs.of_session("a")) == 3)
    file = tmp_path / "protected.parquet"
    file.write_bytes(b"x")
    with_file = jobs.add(job_of("c", lambda progress, publish: outcome(1, file)))
    until(lambda: with_file.finished)
    for _ in range(3):
        jobs.add(job_of("c", lambda progress, publish: outcome(1)))
    until(lambda: not file.exists())  # forgotten with its file


def test_moving_a_slider_costs_no_other_result_and_waits_for_no_long_work(jobs):
    gate = threading.Event()
    whole = jobs.add(job_of("a", lambda progress, publish: outcome("whole"), "assessment"))
    until(lambda: whole.finished)
    hold = jobs.add(job_of("a", waiting_work(gate), "protection"))
    until(lambda: hold.state == "running")
    for number in range(34):
        moved = jobs.add(job_of("a", lambda progress, publish, number=number: outcome(number)))
        until(lambda moved=moved: moved.finished)  # the one thread for long work is taken
    assert hold.state == "running"
    gate.set()
    until(lambda: hold.finished)
    kept = [job.kind for job in jobs.of_session("a")]
    assert sorted(kept) == ["assessment", "leak", "leak", "leak", "protection"]
    assert (whole.answer().value, moved.answer().value) == ("whole", 33)


def test_a_job_survives_a_reload_and_can_be_cancelled_by_it(new_browser, demo, wait_for):
    browser = new_browser()
    table = demo(browser)["id"]
    job = browser.post(f"{TABLES}/{table}/assessments").json()
    listed = browser.get("/api/v1/jobs").json()  # all that a reloaded page has is its cookie
    assert [one["id"] for one in listed] == [job["id"]]
    assert browser.post(f"/api/v1/jobs/{job['id']}/cancel").json()["state"] == "cancelled"
    assert browser.get(f"/api/v1/jobs/{job['id']}").json()["state"] == "cancelled"
    assert browser.delete(f"/api/v1/jobs/{job['id']}").status_code == 204
    assert browser.get(f"/api/v1/jobs/{job['id']}").status_code == 404


def test_cancelling_what_is_over_keeps_its_result(script, demo, wait_for):
    table = demo(script)["id"]
    job = script.post(f"{TABLES}/{table}/leaks", json={"share": 0.5}).json()
    assert wait_for(script, job)["state"] == "done"
    assert script.post(f"/api/v1/jobs/{job['id']}/cancel").json()["state"] == "done"
    assert script.get(f"/api/v1/jobs/{job['id']}/result").status_code == 200


def test_removing_a_table_stops_its_jobs_and_forgets_them(script, demo):
    table = demo(script)["id"]
    script.post(f"{TABLES}/{table}/assessments")
    assert script.delete(f"{TABLES}/{table}").status_code == 204
    assert script.get("/api/v1/jobs").json() == []


def test_a_result_that_is_not_there_yet_says_so(jobs):
    gate = threading.Event()
    job = jobs.add(job_of("a", waiting_work(gate)))
    with pytest.raises(Refusal, match="not done yet"):
        job.answer()
    gate.set()
    until(lambda: job.finished)
    assert job.answer().to_json() == {"found": None}


def test_only_the_work_that_makes_it_has_a_report_or_a_table(script, demo, wait_for):
    table = demo(script)["id"]
    job = script.post(f"{TABLES}/{table}/leaks", json={"share": 0.5}).json()
    assert wait_for(script, job)["state"] == "done"
    for path in ("report.html", "table"):
        answer = script.get(f"/api/v1/jobs/{job['id']}/{path}")
        assert (answer.status_code, "only a" in answer.json()["error"]) == (409, True)
    assert script.post(f"/api/v1/jobs/{job['id']}/apply").status_code == 409


def test_work_without_quasi_identifiers_is_refused_at_once(script, demo):
    table = demo(script)
    roles = {column["name"]: "other" for column in table["columns"]}
    script.put(f"{TABLES}/{table['id']}/settings", json={"roles": roles})
    for kind in ("assessments", "forecasts", "leaks", "protections", "frontiers"):
        answer = script.post(f"{TABLES}/{table['id']}/{kind}")
        assert (answer.status_code, "no column is a quasi-identifier" in answer.json()["error"]) == (400, True)


def test_a_protection_is_downloaded_and_applied(script, wait_for):
    rows = "age,note\n" + "".join(f"{20 + n % 9},{'=1+1' if n % 2 else '-2+3'}\n" for n in range(60))
    table = script.post(TABLES, files={"file": ("people.csv", rows.encode())}).json()["id"]
    script.put(f"{TABLES}/{table}/settings", json={"roles": {"age": "quasi-identifier", "note": "other"}})
    job = script.post(f"{TABLES}/{table}/protections", json={"protection": {"k": 10}}).json()
    assert wait_for(script, job)["state"] == "done"
    result = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    assert result["after"]["k"] >= 10 > result["before"]["k"]
    figures = script.get(f"/api/v1/jobs/{job['id']}/figures").json()
    assert list(figures) == ["class-sizes", "before-after-0"]
    csv = script.get(f"/api/v1/jobs/{job['id']}/table")
    assert csv.headers["content-type"].startswith("text/csv")
    assert "'=1+1" in csv.text  # a spreadsheet would run it
    assert ",=1" not in csv.text.replace('"', "")
    parquet = script.get(f"/api/v1/jobs/{job['id']}/table", params={"format": "parquet"})
    assert parquet.content[:4] == b"PAR1"
    made = script.post(f"/api/v1/jobs/{job['id']}/apply").json()
    assert (made["rows"], made["source"]) == (60, "protection")
    live = script.post(f"{TABLES}/{made['id']}/live", json={"quasi_identifiers": ["age"]}).json()
    assert live["k"] >= 10
    assert script.delete(f"/api/v1/jobs/{job['id']}").status_code == 204
    assert script.get(f"{TABLES}/{made['id']}/preview", params={"show": True}).status_code == 200  # has its own file


def test_every_point_of_the_frontier_can_be_applied(script, demo, wait_for):
    table = demo(script)["id"]
    question = {"k": [5], "methods": ["partition", "t-close partition", "coarsen"], "sensitive": "charge"}
    job = script.post(f"{TABLES}/{table}/frontiers", json=question).json()
    assert wait_for(script, job)["state"] == "done"
    points = script.get(f"/api/v1/jobs/{job['id']}/result").json()["points"]
    assert len(points) == 5
    for point in points:
        made = script.post(f"{TABLES}/{table}/protections", json={"protection": point["protection"]}).json()
        assert wait_for(script, made)["state"] == "done"
        found = script.get(f"/api/v1/jobs/{made['id']}/result").json()["evaluation"]
        assert (found["correctness"], found["granularity"]) == (point["correctness"], point["granularity"])


def test_the_compared_ways_do_what_the_form_asks_and_say_why_not(script, demo, wait_for):
    table = demo(script)["id"]
    known = ["age_yrs", "sex", "race"]
    roles = {one["name"]: "drop" for one in script.get(f"{TABLES}/{table}").json()["columns"]}
    roles |= dict.fromkeys(known, "quasi-identifier") | {"charge": "sensitive", "diag_p": "other", "los": "sensitive"}
    script.put(f"{TABLES}/{table}/settings", json={"roles": roles, "rows_are_people": True})
    demands = {"l": 2, "leave_out": ["diag_p"], "importance": {"age_yrs": 3}, "hierarchies": {"age_yrs": "5,10"}}
    asked = {"k": [4, 11], "methods": ["partition", "sorted"], "sensitive": ["charge", "los"], "protection": demands}
    job = script.post(f"{TABLES}/{table}/frontiers", json=asked).json()
    assert wait_for(script, job)["state"] == "done", wait_for(script, job)
    points = script.get(f"/api/v1/jobs/{job['id']}/result").json()["points"]
    assert [point["setting"] for point in points] == ["k=4, l=2", "k=11, l=2", "k=4", "k=11"]
    page = script.get(f"/jobs/{job['id']}/view").text
    for point in points:
        assert (point["reason"] is None) == (point["decision"] == "within")
        assert point["reason"] is None or point["reason"][:40] in page
        made = script.post(f"{TABLES}/{table}/protections", json={"protection": point["protection"]}).json()
        assert wait_for(script, made)["state"] == "done"
        found = script.get(f"/api/v1/jobs/{made['id']}/result").json()
        assert (found["verdict"]["decision"], found["after"]["k"]) == (point["decision"], point["k"])
        assert (found["evaluation"]["granularity"], "diag_p" in found["removed"]) == (point["granularity"], True)
    assert points[0]["protection"] == {"method": "partition", "sensitive": ["charge", "los"], "k": 4, **demands}
    assert points[0]["reason"] == "The smallest class has 4 people; 11 are needed."
    same = script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()
    assert "demands={'l': 2.0, 'leave_out': ['diag_p']" in same["python"]
    assert "use the Python script" in same["cli"]


def test_a_forecast_needs_no_table(script, wait_for):
    points = [{"n": 100, "correctness": 0.98}, {"n": 1_000, "correctness": 0.9}, {"n": 10_000, "correctness": 0.7}]
    job = script.post("/api/v1/forecasts", json={"points": points, "at": [1_000_000, "world"]}).json()
    assert wait_for(script, job)["state"] == "done"
    result = script.get(f"/api/v1/jobs/{job['id']}/result").json()
    from incrowd import fit_curve, forecast
    from incrowd.forecasts.population_sizes import POPULATIONS

    expected = forecast(fit_curve([100, 1_000, 10_000], correctness=[0.98, 0.9, 0.7]), at=[1_000_000, "world"])
    assert result["forecast"]["correctness"] == expected.to_dict()["correctness"]
    assert result["curve"]["at"][0] == 1
    assert result["curve"]["at"][-1] == POPULATIONS["world"]
    assert len(result["sentences"]) == 2
    assert list(script.get(f"/api/v1/jobs/{job['id']}/figures").json()) == ["forecast"]


def test_what_was_decided_goes_on_with_the_protected_table(script, wait_for):
    rows = "".join(f"{20 + n % 9},{'AB'[n % 2]},{n % 3},x{n}\n" for n in range(200))
    file = {"file": ("a.csv", "age,town,dx,note\n" + rows)}
    table = script.post("/api/v1/tables", files=file).json()["id"]
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "dx": "quasi-identifier", "note": "identifier"}
    decided = {
        "roles": roles,
        "recipient": "trusted",
        "population": 60_000_000,
        "threshold": 0.2,
        "groups": {"near": ["age", "note"], "gone": ["note"]},
    }
    assert script.put(f"/api/v1/tables/{table}/settings", json=decided).status_code == 200
    job = script.post(f"/api/v1/tables/{table}/protections", json={"protection": {"k": 5}}).json()
    assert wait_for(script, job)["state"] == "done"
    script.put(f"/api/v1/tables/{table}/settings", json={"roles": {"dx": "other"}})  # afterwards: does not count
    made = script.post(f"/api/v1/jobs/{job['id']}/apply").json()
    found = script.get(f"/api/v1/tables/{made['id']}/settings").json()
    assert found["can_undo"] is False
    settings = found["settings"]
    assert settings["roles"] == dict.fromkeys(("age", "town", "dx"), "quasi-identifier")
    assert (settings["recipient"], settings["population"], settings["threshold"]) == ("trusted", 60_000_000, 0.2)
    assert settings["groups"] == {"near": ["age"]}


def several_records_each(script):
    rows = "".join(f"p{n % 100},{20 + (n * 7) % 13},{(n * 5) % 11}\n" for n in range(500))
    table = script.post("/api/v1/tables", files={"file": ("a.csv", "who,age,town\n" + rows)}).json()["id"]
    roles = {"who": "person", "age": "quasi-identifier", "town": "quasi-identifier"}
    assert script.put(f"/api/v1/tables/{table}/settings", json={"roles": roles}).status_code == 200
    return table


def test_a_point_of_the_frontier_is_what_one_gets_where_people_have_several_records(script, wait_for):
    table = several_records_each(script)
    job = script.post(f"/api/v1/tables/{table}/frontiers", json={"k": [5]}).json()
    assert wait_for(script, job)["state"] == "done"
    (point,) = script.get(f"/api/v1/jobs/{job['id']}/result").json()["points"]
    assert "--person who" in script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()["cli"]
    asked = {"protection": point["protection"]}
    applied = script.post(f"/api/v1/tables/{table}/protections", json=asked).json()
    assert wait_for(script, applied)["state"] == "done"
    after = script.get(f"/api/v1/jobs/{applied['id']}/result").json()["after"]
    assert after == {name: point[name] for name in ("k", "uniqueness", "correctness")}


def test_a_leak_is_a_share_of_people_not_of_rows(script, wait_for):
    table = several_records_each(script)
    for share, targets, leaked in ((0.1, 1, 10), (1, 1, 100), (0.001, 5, 1)):
        asked = {"share": share, "targets": [targets], "k": 5, "at_most": 0.05}
        job = wait_for(script, script.post(f"/api/v1/tables/{table}/leaks", json=asked).json())
        assert job["state"] == "done", job
        result = script.get(f"/api/v1/jobs/{job['id']}/result").json()
        assert (result["people"], result["leaked"]) == (100, leaked)
        assert script.get(f"/jobs/{job['id']}/view").status_code == 200


def test_protecting_twice_can_be_done_again_without_the_app(script, wait_for):
    rows = "".join(f"{20 + n % 9},{'AB'[n % 2]}\n" for n in range(60))
    made = script.post("/api/v1/tables", files={"file": ("a.csv", "age,town\n" + rows)}).json()
    script.put(f"{TABLES}/{made['id']}/settings", json={"roles": dict.fromkeys(("age", "town"), "quasi-identifier")})
    for out in ("protected.parquet", "protected-2.parquet"):
        asked = {"protection": {"k": 2, "method": "mask", "top": {"age": 1234567}, "steps": []}}
        asked = asked if out == "protected.parquet" else {"protection": {"k": 3}}
        job = wait_for(script, script.post(f"{TABLES}/{made['id']}/protections", json=asked).json())
        assert job["state"] == "done", job
        again = script.get(f"/api/v1/jobs/{job['id']}/equivalent").json()
        assert again["cli"].endswith(f"--out {out}")
        assert again["python"].endswith(f"write_table(safe.table, {out!r})")
        made = script.post(f"/api/v1/jobs/{job['id']}/apply").json()
    assert "age=1234567" in again["cli"]
    assert again["python"].count("protect(") == 2


def test_a_step_of_masking_that_makes_no_sense_is_refused_at_once(script, demo):
    table = demo(script)["id"]
    for action in ("nonsense", "ranges=abc", "keep=x", "ranges="):
        asked = {"protection": {"method": "mask", "k": 2, "steps": [{"column": "sex", "action": action}]}}
        assert script.post(f"{TABLES}/{table}/protections", json=asked).status_code == 422, action


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another allocator")
def test_memory_that_a_job_has_freed_goes_back_to_the_system(jobs):
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    def work(report, publish):
        pieces = [bytes(1_000) for _ in range(200_000)]
        return outcome(pieces[-1])  # one of the last stays, as results do

    before = resident()
    job = jobs.add(job_of("a", work, "assessment"))
    end = time.monotonic() + 60
    while (not job.finished or resident() - before > 50_000_000) and time.monotonic() < end:
        time.sleep(0.01)
    assert job.state == "done"
    assert resident() - before < 50_000_000
