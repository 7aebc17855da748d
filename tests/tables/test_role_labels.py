"""Suggested roles against labels: of public tables where they are found, and of the names of columns in many more."""

import re
from collections import Counter

import numpy as np
import pytest
from tests.tables.codebook_values import draw_table, read_codebooks
from tests.tables.role_scores import count_matches, precision, read_labels, read_names, recall

from incrowd import read_table


@pytest.mark.parametrize("half", ["development", "validation"])
def test_columns_of_public_tables_get_their_roles(shared_data, half):
    counts, wrong = Counter(), []
    for name, (split, labels) in read_labels().items():
        if split != half or not (shared_data / f"{name}.parquet").is_file():
            continue
        table = read_table(shared_data / f"{name}.parquet")
        assert set(table.columns) == set(labels)
        found, missed = count_matches(table, labels)
        counts += found
        wrong += [f"{name}.{one}" for one in missed]
    assert counts, "no table of this half was found"
    told = "\n".join(wrong)
    assert recall(counts, "quasi-identifier") >= 0.97, told
    assert precision(counts, "quasi-identifier") >= 0.95, told
    assert recall(counts, "sensitive") >= 0.95, told
    assert precision(counts, "sensitive") >= 0.95, told
    for role in ("identifier", "weight", "person"):
        assert recall(counts, role) == precision(counts, role) == 1, told


def draw_values(labels, rows=600):
    """Values for labelled columns, such that the name has to tell: codes, numbers of records, weights, bodies."""
    generator = np.random.default_rng(0)
    drawn = {}
    for name, roles in labels.items():
        if roles == {"identifier"}:
            drawn[name] = generator.permutation(np.arange(10_000, 10_000 + 3 * rows))[:rows]
        elif "person" in roles:
            drawn[name] = np.repeat(np.arange(5_000, 5_000 + rows // 2), 2)
        elif roles == {"weight"}:
            drawn[name] = generator.lognormal(6, 0.5, rows)
        elif re.match("(?i)weight|wt", name):
            drawn[name] = generator.normal(75, 12, rows)
        else:
            drawn[name] = generator.integers(1, 30 if roles == {"sensitive"} else 9, rows)
    return drawn


def test_names_of_columns_in_public_files_tell_their_roles():
    counts, wrong = Counter(), []
    for name, labels in read_names().items():
        found, missed = count_matches(read_table(draw_values(labels)), labels)
        counts += found
        wrong += [f"{name}.{one}" for one in missed]
    told = "\n".join(wrong)
    assert recall(counts, "quasi-identifier") >= 0.94, told
    assert precision(counts, "quasi-identifier") >= 0.94, told
    assert recall(counts, "sensitive") >= 0.88, told
    assert recall(counts, "weight") == precision(counts, "weight") == 1, told
    assert recall(counts, "identifier") == 1, told


def score_drawn(list_):
    """The counts of roles in tables whose values are drawn, and what went wrong."""
    counts, wrong = Counter(), []
    for name, columns in read_codebooks(list_).items():
        kinds = {column: kind for column, (kind, _) in columns.items()}
        labels = {column: roles for column, (_, roles) in columns.items()}
        found, missed = count_matches(read_table(draw_table(kinds)), labels)
        counts += found
        wrong += [f"{name}.{one}" for one in missed]
    return counts, "\n".join(wrong)


def test_columns_of_codebooks_with_values_like_theirs_get_their_roles():
    counts, told = score_drawn("role_codebooks.toml")
    assert recall(counts, "quasi-identifier") >= 0.97, told
    assert precision(counts, "quasi-identifier") >= 0.95, told
    assert recall(counts, "sensitive") >= 0.96, told
    assert recall(counts, "weight") == precision(counts, "weight") == 1, told
    assert recall(counts, "identifier") == recall(counts, "person") == 1, told


def test_columns_of_tables_in_packages_with_values_like_theirs_get_their_roles():
    counts, told = score_drawn("role_packages.toml")
    assert recall(counts, "quasi-identifier") >= 0.93, told
    assert precision(counts, "quasi-identifier") >= 0.85, told
    assert recall(counts, "sensitive") >= 0.5, told
    assert recall(counts, "weight") == precision(counts, "weight") == 1, told
    assert recall(counts, "identifier") == 1, told
