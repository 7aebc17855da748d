"""Columns that protection keeps and that undo it."""

import numpy as np

from incrowd import protect
from incrowd.assessment import Question, judge_release

GENERATOR = np.random.default_rng(3)
YEARS = GENERATOR.integers(1, 17, 600)
TABLE = {
    "schooling": np.array([f"level {year}" for year in YEARS]),
    "years": YEARS,
    "zip": GENERATOR.integers(10_000, 10_040, 600),
    "score": GENERATOR.normal(size=600),
}


def test_a_column_that_others_may_know_is_said_and_others_are_not():
    safe = protect(TABLE, quasi_identifiers=["schooling", "years"], k=10)
    assert any("others may know" in note and "zip" in note for note in safe.notes)
    assert not any("score" in note for note in safe.kept_column_warnings)
    assert any(note.startswith("score is passed on unchanged with 600 different values") for note in safe.notes)
    assert safe.unchanged == ("zip", "score")
    every = protect(TABLE, quasi_identifiers=["schooling", "years", "zip"], k=10)
    assert not any("unique" in note for note in every.notes)
    assert not any("unique" in note for note in protect(TABLE, quasi_identifiers=["years"], k=10, warn=False).notes)


def test_many_columns_that_tell_people_apart_have_one_warning_together():
    scores = {f"score{number}": GENERATOR.normal(size=100) for number in range(11)}
    table = {"age": GENERATOR.integers(20, 24, 100), **scores}
    (told,) = [note for note in protect(table, quasi_identifiers=["age"], k=5).notes if "passed on unchanged" in note]
    assert told.startswith("11 columns are passed on unchanged with a different value in most of the 100 rows (score0,")
    assert "score9 and 1 more)" in told
    del table["score10"]
    apart = [note for note in protect(table, quasi_identifiers=["age"], k=5).notes if "passed on unchanged" in note]
    assert [note.split()[0] for note in apart] == list(scores)[:10]


def test_a_column_that_nobody_outside_knows_is_not_told_of():
    safe = protect(TABLE, quasi_identifiers=["schooling"], k=10, other=["zip", "years"])
    assert not any("zip" in note for note in safe.notes)
    quiet = protect(TABLE, quasi_identifiers=["schooling"], k=10, other=["zip", "years", "score"])
    assert not any("score" in note for note in quiet.notes)


def test_replicate_weights_are_set_aside_unless_they_are_named():
    generator = np.random.default_rng(5)
    weight = generator.uniform(50, 150, 200)
    replicates = {f"repwt{n}": weight * generator.uniform(0.5, 1.5, 200) for n in range(1, 25)}
    table = {"age": generator.integers(20, 60, 200), "perwt": weight, **replicates}
    safe = protect(table, quasi_identifiers=["age"], k=5)
    assert safe.table.column_names == ["age", "perwt"]
    assert any(note.startswith("24 replicate weights are set aside (repwt1 to repwt24)") for note in safe.notes)
    kept = protect(table, quasi_identifiers=["age"], k=5, other=list(replicates))
    assert kept.table.column_names == list(table)
    assert not any("replicate" in note for note in kept.notes)
    steps = {"method": "perturb", "steps": [("age", "noise=0.1"), ("repwt3", "noise=0.1")], "seed": 1}
    perturbed = protect(table, quasi_identifiers=["age"], k=5, **steps)
    assert perturbed.table.column_names == ["age", "perwt", "repwt3"]
    assert any(note.startswith("23 replicate weights are set aside") for note in perturbed.notes)


def test_twenty_answers_of_one_stem_are_no_replicate_weights():
    generator = np.random.default_rng(6)
    answers = {f"q{n}": generator.integers(0, 1 + n, 200) for n in range(1, 25)}
    safe = protect({"age": generator.integers(20, 60, 200), **answers}, quasi_identifiers=["age"], k=5, warn=False)
    assert set(answers) <= {*safe.table.column_names}


def test_a_value_of_ones_own_is_told_in_the_smallest_table_too():
    people = {"age": [20, 20, 30, 30], "ward": ["P17", "Q4", "R9", "S2"], "floor": [1, 1, 2, 2]}
    notes = protect(people, quasi_identifiers=["age"], k=2).notes
    assert ["ward is passed on unchanged with 4 different values" in note for note in notes].count(True) == 1
    assert not any(note.startswith("floor is passed on") for note in notes)


def test_what_the_release_alone_gives_back_is_told_as_check_will_tell_it():
    code = np.random.default_rng(7).integers(0, 40, 800)
    table = {"branch": [f"branch {one // 10}" for one in code], "sex": ["f", "m"] * 400, "q7": code}
    safe = protect(table, quasi_identifiers=["branch", "sex"], other=["q7"], k=50)
    assert safe.changed_cells["branch"] == 0, "with the original nothing is given back: nothing was made coarser"
    asked = Question(quasi_identifiers=["branch", "sex"], other=["q7"], rows_are_people=True)
    assert judge_release(safe.table, asked).blamed == ("q7",)
    assert any(note.startswith("q7 is a finer form of branch, and is kept") for note in safe.kept_column_warnings)
