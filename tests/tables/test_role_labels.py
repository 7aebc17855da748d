"""Suggestions against labels: of public tables where they are found, and of the names of columns in many more."""

from importlib.resources import files

import pytest
from tests.tables.role_scores import (
    LISTS,
    count_matches,
    evidence_as_text,
    label,
    precision,
    read_labels,
    recall,
    score_answers,
    suggest_for,
)

from incrowd import read_table

LEAST = {  # of each list: precision and recall of known, and of sensitive, and the share of due secrets called harmless
    "role_names.toml": ((0.99, 0.95), (0.97, 0.94), 0.0),
    "role_codebooks.toml": ((0.98, 0.94), (0.96, 0.97), 0.0),
    "role_packages.toml": ((0.95, 0.84), (0.93, 0.51), 0.03),
    "role_questions.toml": ((0.8, 0.9), (0.75, 0.45), 0.0),
}


@pytest.mark.parametrize("half", ["development", "validation"])
def test_columns_of_public_tables_get_their_roles(shared_data, half):
    columns = []
    for name, (split, labels) in read_labels().items():
        if split != half or not (shared_data / f"{name}.parquet").is_file():
            continue
        table = read_table(shared_data / f"{name}.parquet")
        assert set(table.columns) == set(labels)
        columns += label(name, labels, table)
    assert columns, "no table of this half was found"
    counts, wrong = count_matches(columns)
    for role in ("quasi-identifier", "sensitive"):
        assert recall(counts, role) >= 0.97, wrong
        assert precision(counts, role) >= 0.97, wrong
    for role in ("identifier", "weight", "person"):
        assert recall(counts, role) == precision(counts, role) == 1, wrong
    assert score_answers(columns)["harmless"] == 0


@pytest.mark.parametrize("list_", LEAST)
def test_answers_are_right_where_they_are_given(list_):
    scores, (known, sensitive, harmless) = score_answers(suggest_for(list_)), LEAST[list_]
    _, wrong = count_matches(suggest_for(list_))
    for question, least in (("known", known), ("sensitive", sensitive)):
        assert scores[question][0] >= least[0], wrong
        assert scores[question][1] >= least[1], wrong
    assert scores["harmless"] <= harmless, wrong


def test_of_all_columns_that_are_sensitive_two_in_a_hundred_at_most_are_suggested_as_harmless():
    columns = [column for list_ in LISTS for column in suggest_for(list_)]
    scores = score_answers(columns)
    assert scores["harmless"] <= 0.02
    assert scores["known"][0] >= 0.97
    assert scores["sensitive"][0] >= 0.95


@pytest.mark.parametrize("list_", LEAST)
def test_identifiers_and_weights_are_found_all(list_):
    counts, wrong = count_matches(suggest_for(list_))
    assert recall(counts, "identifier") == recall(counts, "weight") == 1, wrong
    assert precision(counts, "weight") == 1 or not counts["suggested", "weight"], wrong
    if list_ in ("role_codebooks.toml", "role_names.toml"):
        assert recall(counts, "person") == 1, wrong


def test_words_of_a_question_are_no_evidence():
    said = [column for column in suggest_for("role_questions.toml") if len(column.suggested.column.split()) > 7]
    assert len(said) > 50
    assert {column.evidence.role for column in said} > {"other"}  # words that would have pointed somewhere
    assert {column.suggested.guess for column in said} == {""}


def test_the_numbers_of_the_evidence_are_those_of_the_labels():
    written = files("incrowd.tables.roles").joinpath("evidence.toml").read_text(encoding="utf-8")
    assert written == evidence_as_text()
