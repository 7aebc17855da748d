"""A verdict does not depend on the order of rows, but for what it says of that order itself."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.decision import traps

from incrowd import protect, read_table, suggest_roles
from incrowd._support.files import file_hash
from incrowd.assessment import Question, judge_release
from incrowd.protection import write_protected
from incrowd.protection.release_warnings import describe_row_order
from incrowd.tables.release_marks import mark_of

pytestmark = pytest.mark.usefixtures("quick_estimates")

ORDERS = min(int(os.environ.get("INCROWD_TABLES", "1")), 20)  # random ones of each table; `make fuzz` takes more
ORDER = describe_row_order(["x"]).partition(" x")[0]
# what is looked for between columns takes time by the square of their number: a wide table is two, of the same people
REAL = ["nhanes first", "nhanes others", "eusilc_population", "happy", "adult", "atus"]
SPLIT = 38  # after what was measured of the body, before diseases and habits
KEPT = 5  # columns of both: who somebody is
GENERATED = {
    "towns": lambda: traps.kept_beside(0.05),
    "bodies": lambda: traps.body_mass(0.04),
    "stays": lambda: traps.stays(0.05),
    "questions": lambda: traps.skip_patterns(25_000),
    "linked": lambda: linked_rows(),
}


def linked_rows(rows=24_000, seed=5):
    """Pairs of rows that share a code and mostly a sex; half of the ages are told by a kept score, in a large table."""
    draw = np.random.default_rng(seed)
    code = np.repeat(draw.permutation(rows // 2), 2)
    sex = np.repeat(draw.integers(1, 3, rows // 2), 2)
    sex = np.where(draw.random(rows) < 0.05, 3 - sex, sex)
    age = draw.integers(18, 90, rows)
    score = np.where(draw.random(rows) < 0.5, age, draw.integers(18, 90, rows))
    wards = draw.integers(0, 900, rows)
    text = np.array([f"ward {number} {'Smith' if number % 7 else 'Anna Meyer'}" for number in wards])
    return {"code": code, "sex": sex, "age": age, "score": score, "text": text, "pay": np.round(age * 31.7, 2)}


def question_about(table, **more):
    """Every suggestion confirmed."""
    by_role = {}
    for one in suggest_roles(read_table(table)):
        by_role.setdefault(one.role, []).append(one.column)
    return Question(
        recipient="public",
        rows_are_people=True,
        quasi_identifiers=tuple(by_role.get("quasi-identifier", ())),
        sensitive=tuple(by_role.get("sensitive", ())),
        identifiers=tuple(by_role.get("identifier", ())),
        other=tuple(name for role in ("other", "weight", "person") for name in by_role.get(role, ())),
        **more,
    )


def in_random_order(table, seed):
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def told(verdict):
    """The whole verdict, but for what it says of the order of rows."""
    found = verdict.to_dict()
    for name in ("exposures", "reasons", "inside_reasons"):
        found[name] = [one for one in found[name] if ORDER not in str(one).lower()]
    found["decision"] = verdict.decision if len(found["exposures"]) == len(verdict.exposures) else "by its order"
    return found


@pytest.fixture(scope="module", params=[*GENERATED, *REAL])
def table(request):
    if request.param in GENERATED:
        return pa.table({name: pa.array(values) for name, values in GENERATED[request.param]().items()})
    name, _, part = request.param.partition(" ")
    found = pq.read_table(request.getfixturevalue("shared_data") / f"{name}.parquet")
    if part:
        found = found.select(
            found.column_names[:SPLIT] if part == "first" else found.column_names[:KEPT] + found.column_names[SPLIT:]
        )
    rows = np.sort(np.random.default_rng(0).choice(found.num_rows, min(2_000, found.num_rows), replace=False))
    return found.take(rows)


def test_of_an_original(table):
    question = question_about(table)
    assert all(question_about(in_random_order(table, seed)) == question for seed in range(ORDERS))
    asked = Question(recipient="public", quasi_identifiers=question.quasi_identifiers, sensitive=question.sensitive)
    for one in (question, asked):  # with every column judged, and with some that nobody judged
        first = told(judge_release(table, one))
        for seed in range(ORDERS):
            assert told(judge_release(in_random_order(table, seed), one)) == first


def test_of_a_release(table, tmp_path):
    question = question_about(table)
    names, secret = list(question.quasi_identifiers), list(question.sensitive)
    safe = protect(
        table, quasi_identifiers=names, k=11, identifiers=list(question.identifiers), other=[*question.other, *secret]
    )
    question = question.about_release(safe.removed)
    file = tmp_path / "safe.parquet"
    write_protected(safe, file)
    marked, mark = pq.read_table(file), json.loads(mark_of(file).read_text())
    by_mark = told(judge_release(read_table(file), question))
    with_original = told(judge_release(marked, question, original=table))
    by_original = with_original["decision"], with_original["risk"], with_original["highest"]
    for seed in range(ORDERS):
        again = tmp_path / f"again{seed}.parquet"
        pq.write_table(in_random_order(marked, seed), again)
        mark_of(again).write_text(json.dumps({**mark, "sha256": file_hash(again)}))
        assert told(judge_release(read_table(again), question)) == by_mark
    for seed in range(ORDERS if len(table.column_names) < 10 else 1):  # it takes long
        mixed = in_random_order(marked, seed), in_random_order(table, 100 + seed)
        found = told(judge_release(mixed[0], question, original=mixed[1]))
        # rows that say the same are anybody's among those, so numbers of the attack differ within its error
        assert (found["decision"], found["risk"], found["highest"]) == by_original
