"""The settings file: what is written is read back, and what is not understood is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from incrowd.assessment.settings import Settings, read_settings

from incrowd import InputError

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(
    columns=st.lists(NAMES, unique=True).map(tuple),
    person=st.none() | NAMES,
    groups=st.dictionaries(NAMES, st.lists(NAMES, min_size=1).map(tuple), max_size=3),
    population=st.none() | st.integers(1, 10**12),
    threshold=st.none() | st.floats(0.001, 1),
)
def test_what_is_written_is_read_back(tmp_path_factory, columns, person, groups, population, threshold):
    settings = Settings(columns, person=person, groups=groups, population=population, threshold=threshold, seed=3)
    path = settings.save(tmp_path_factory.mktemp("settings") / "incrowd.toml")
    assert read_settings(path) == settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns]\nqi = ['age']", "there are: quasi_identifiers"),
        ("[column]\nx = 1", "there are: columns"),
        ("columns = 1", r"write \[columns\]"),
        ("[columns]\nquasi_identifiers = 'age'", "list of column names"),
        ("[columns]\nperson = 3", "text in quotes"),
        ("[question]\npopulation = 1.5", "a whole number"),
        ("[question]\nseed = true", "a whole number"),
        ("[columns", "not valid TOML"),
    ],
)
def test_what_is_not_understood_is_said(tmp_path, text, message):
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_settings(file)


def test_a_missing_file_is_said():
    with pytest.raises(InputError, match="there is no file"):
        read_settings("nowhere.toml")
