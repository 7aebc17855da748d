"""The question: as a command, as Python and as a settings file, and read back from each."""

import shlex
import tomllib
from dataclasses import fields, replace
from inspect import signature

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd import InputError, assess, read_table
from incrowd.assessment import Question, api, judge_release, read_question
from incrowd.assessment.column_fingerprints import ONE_ROLE
from incrowd.assessment.command_line import to_command, to_python
from incrowd.assessment.question import OPTIONS, READING
from incrowd.assessment.settings_file import OpenLine, answers_of, from_toml, save_question, to_toml
from incrowd.cli.app import _spread_groups, app
from incrowd.cli.declared_options import ASSESS, question_from

pytestmark = pytest.mark.usefixtures("quick_estimates")

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    [
        "age",
        "income, net",
        "a,b",
        "a",
        "b",
        "a=b",
        "-dash",
        "--qi",
        "--groups",
        " led",
        "it's",
        'say "hi"',
        "$(x)",
        "🙂",
    ]
)
COLUMNS = st.lists(NAMES, min_size=1, max_size=4, unique=True).map(tuple)
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
LISTS = ("quasi_identifiers", "sensitive", "identifiers", "drop", "other")


def with_one_answer(question):
    """The question with each column named once, unless it is known and sensitive."""
    named = {name for name in (question.person, question.weights) if name is not None}
    fields = {}
    for field in LISTS:
        names = tuple(name for name in getattr(question, field) or () if name not in named)
        fields[field] = names or signature(Question).parameters[field].default
        named |= {*names} if field != "quasi_identifiers" else set()
        if field == "sensitive":
            named |= {*(fields["quasi_identifiers"] or ())}
    return replace(question, **fields, weights=question.weights if question.weights != question.person else None)


def in_order(question):
    """The question with the columns of each list sorted; a settings file lists them by answer."""
    sorted_lists = {field: getattr(question, field) and tuple(sorted(getattr(question, field))) for field in LISTS}
    return replace(question, **sorted_lists)


QUESTIONS = st.builds(
    Question,
    quasi_identifiers=st.none() | COLUMNS,
    sensitive=st.none() | COLUMNS,
    person=st.none() | NAMES,
    weights=st.none() | NAMES,
    strata=st.none() | NAMES,
    cluster=st.none() | NAMES,
    identifiers=st.just(()) | COLUMNS,
    drop=st.just(()) | COLUMNS,
    other=st.just(()) | COLUMNS,
    population=st.none() | st.integers(1, 10**12),
    recipient=st.sampled_from([None, "trusted", "restricted", "public"]),
    threshold=st.none() | st.floats(1e-9, 1).filter(lambda limit: limit not in (0.05, 0.09, 0.33)),
    certain=st.none() | st.floats(0.5, 1),
    groups=st.dictionaries(NAMES, COLUMNS, max_size=3),
    released=st.none() | NAMES,
    holdout=st.none() | NAMES,
    kept_rows=st.none() | NAMES,
    synthetic=st.booleans(),
    protection=st.booleans(),
    seed=st.none() | st.integers(-9, 10**9).filter(bool),
    source=st.none() | NAMES.filter(lambda name: not name.startswith("-")),
    separator=TEXTS,
    null=TEXTS,
    skip_bad_lines=st.booleans(),
    sheet=TEXTS,
    header_rows=st.none() | st.integers(1, 9),
    dates=st.none() | st.sampled_from(["day-first", "month-first"]),
    table=TEXTS,
    query=TEXTS,
    timeout=st.none() | st.floats(0.1, 1e6),
    engine=st.sampled_from([None, "duckdb", "spark"]),
).map(with_one_answer)


def columns_of(question):
    lists = [question.quasi_identifiers, question.sensitive, question.identifiers, question.drop, question.other]
    return [name for names in lists for name in names or ()]


def typed(command, columns):
    """What the parser of the command line makes of a command."""
    words = _spread_groups(shlex.split(command)[1:])
    verb = typer.main.get_command(app).commands[words[0]]
    given_options = dict(verb.make_context(words[0], words[1:]).params)
    source, reading_table = given_options.pop("table"), given_options.pop("from_table")
    return replace(question_from({**given_options, "table": reading_table}, columns), source=source)


@given(QUESTIONS)
@example(Question(source="t.csv", quasi_identifiers=("a", "b"), sensitive=("a,b",)))
@example(Question(source="t.csv", quasi_identifiers=("--qi", "-dash"), groups={"-x": ("--groups",)}))
def test_a_command_is_read_back_as_the_question_it_was_made_from(question):
    question = replace(question, source=question.source or "TABLE")
    command = to_command(question)
    if command is not None:
        again = typed(command, columns_of(question))
        assert again == question
        assert to_command(again) == command


@given(COLUMNS, st.dictionaries(NAMES, COLUMNS, max_size=2))
def test_only_names_that_a_command_line_cannot_hold_have_no_command(names, groups):
    question = Question(quasi_identifiers=names, groups=groups)
    blank = any(not name.strip() for name in names)
    members = [name for members in groups.values() for name in members]
    cut = any("=" in label for label in groups) or any("," in name for name in [*groups, *members])
    stripped = any(name != name.strip() for name in [*groups, *members])
    assert (to_command(question) is None) == (blank or cut or stripped)


@given(QUESTIONS)
def test_a_settings_file_is_read_back_as_the_question_it_was_made_from(question):
    text = to_toml(question)
    kept = replace(question, protection=True)
    if question.source is None:  # how a table is read is kept with its name
        kept = replace(kept, **{option.name: option.default for option in READING})
    again = from_toml(text)
    assert in_order(again) == in_order(kept)
    assert to_toml(from_toml(to_toml(again))) == to_toml(again)


def test_each_question_has_an_answer_of_its_own_in_a_file():
    text = """
        [answers]
        age = "known"
        grade = "both"
        charge = "sensitive"
        day = "neither"
        town = "Known?"
        note = ""
        id = "identifier"
        letter = "drop"
        pid = "person"
        w = "weight"
    """
    question = from_toml(text)
    assert (question.quasi_identifiers, question.sensitive) == (("age", "grade"), ("grade", "charge"))
    assert (question.other, question.identifiers, question.drop) == (("day",), ("id",), ("letter",))
    assert (question.person, question.weights) == ("pid", "w")  # a guess and an empty line answer nothing
    assert answers_of(from_toml(to_toml(question))) == answers_of(question)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[answers]\nage = "secret"', "write known, sensitive, both, neither, identifier, drop, person, weight, or"),
        ("[answers]\nage = 3", "the answer for 'age' is not understood"),
        ('[answers]\na = "person"\nb = "person"', "cannot all be the person column"),
        ('[answers]\nage = "both"\n[columns]\nquasi_identifiers = ["age"]', "is in .columns. and in .answers."),
        ('[columns]\ndrop = ["age"]\nsensitive = ["age"]', "two roles"),
    ],
)
def test_an_answer_that_is_none_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        from_toml(text)


def test_guesses_of_a_form_are_read_as_nothing_whatever_names_and_remarks_hold():
    names = ["age", "a, b", "x = 1", "#", "[answers]", "été", "no\nline", '"quoted"', " ", "long " * 60]
    form = [OpenLine(name, guess, "a reason\nwith = two lines # and more") for name in names for guess in ["both"]]
    text = to_toml(Question(population=9, source="t.csv"), form)
    assert from_toml(text) == Question(population=9, source="t.csv")
    assert {*tomllib.loads(text)["answers"]} == {*names}
    assert {*tomllib.loads(text)["answers"].values()} == {"both?"}


def test_one_role_of_an_earlier_file_is_an_answer_to_one_question_of_two():
    text = '[columns]\nquasi_identifiers = ["age"]\nsensitive = ["ill"]\nother = ["day"]\n'
    question = from_toml(text)
    assert question.contents == dict.fromkeys(["age", "ill", "day"], ONE_ROLE)
    table = {"age": [30, 40] * 40, "ill": [*"aabb"] * 20, "day": [*"xxxxyyyy"] * 10}
    assert assess(table, **as_stated(question), rows_are_people=True, protection=False).verdict.decision == "within"
    read = judge_release(table, replace(question, rows_are_people=True))
    assert read.decision == "undecided"
    assert {column.column for column in read.undecided} == {"age", "ill", "day"}


def as_stated(question):
    """The answers as somebody states them in a call."""
    return {field: getattr(question, field) for field in LISTS}


def test_options_on_reading_are_words_of_a_command():
    assert Question(null="NA", skip_bad_lines=True).named == ("TABLE", "--null", "NA", "--skip-bad-lines")
    assert Question(source="one.csv", null="NA;age=-9").named == ("one.csv", "--null", "NA", "--null", "age=-9")


@given(QUESTIONS)
def test_a_script_asks_the_question_it_was_made_from(question):
    calls = {}

    def read(source, **reading):
        calls["source"], calls["reading"] = source, reading
        return "the table"

    def ask(table, **keywords):
        calls["table"], calls["keywords"] = table, keywords

    _, _, *lines = to_python(question).split("\n")
    exec("\n".join(lines[:-1]), {"read_table": read, "assess": ask})
    again = Question(source=question.source and calls["source"], **calls["reading"], **calls["keywords"])
    assert again == question
    assert calls["table"] == "the table"


def test_every_option_of_a_question_is_a_keyword_of_assess_and_an_option_of_its_verb():
    asked = {option.name for option in OPTIONS if option.flag is not None and not option.reading}
    assert asked == set(ASSESS) == set(signature(assess).parameters) - {"data", "progress", "partial"}
    assert {option.name for option in READING} == set(signature(read_table).parameters) - {"source", "most_columns"}
    verb = typer.main.get_command(app).commands["assess"]
    flags = {flag for parameter in verb.params for flag in parameter.opts}
    assert {option.flag for option in OPTIONS if option.flag} <= flags


def test_every_keyword_of_assess_reaches_the_question(monkeypatch):
    questions = []
    monkeypatch.setattr(api, "Question", lambda **asked: asked)
    monkeypatch.setattr(api, "assess_question", lambda data, question, **others: questions.append(question))
    by_hand = {"released", "holdout", "kept_rows", "original", "groups"}
    given = {name: f"what {name} says" for name in signature(assess).parameters if name not in ("progress", "partial")}
    assess(**given)
    asked = {name: value for name, value in given.items() if name != "data"}
    assert questions == [asked]
    assert set(asked) - by_hand <= {one.name for one in fields(Question)}


def test_a_threshold_that_is_the_recipients_own_is_not_written():
    question = Question(recipient="trusted")
    assert (to_command(question), question.limits.highest) == ("incrowd assess TABLE --recipient trusted", 1 / 3)
    assert "threshold" not in to_toml(question)
    assert "highest" not in to_toml(question)
    assert tomllib.loads(to_toml(replace(question, threshold=0.2)))["question"]["threshold"] == 0.2
    assert replace(question, highest=0.09).limits.highest == 1 / 11  # written so, it stands for classes of 11


def test_one_text_in_the_place_of_names_is_refused():
    with pytest.raises(InputError, match=r"not one text; write \['age'\]"):
        Question(quasi_identifiers="age")


def test_what_is_written_to_a_file_is_read_back(tmp_path):
    question = Question(quasi_identifiers=("age",), rules={"min_k": 5, "max_t": 0.2}, seed=3)
    assert read_question(save_question(question, tmp_path / "incrowd.toml")) == question


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns]\nqi = ['age']", "there are: quasi_identifiers"),
        ("[column]\nx = 1", "there are: columns"),
        ("columns = 1", r"write \[columns\]"),
        ("threshold = 0.2", r"put it under \[question\]"),
        ("[columns]\nquasi_identifiers = 'age'", "list of column names"),
        ("[columns]\nperson = 3", "text in quotes"),
        ("[question]\npopulation = 1.5", "a whole number"),
        ("[question]\nseed = true", "a whole number"),
        ("[question]\nthreshold = 'low'", "a number"),
        ("[groups]\ncensus = 'age'", "list of column names"),
        ("[columns", "not valid TOML"),
    ],
)
def test_what_is_not_understood_is_said(tmp_path, text, message):
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_question(file)


def test_a_missing_file_is_said():
    with pytest.raises(InputError, match="there is no file"):
        read_question("nowhere.toml")
