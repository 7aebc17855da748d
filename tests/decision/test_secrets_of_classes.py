"""What classes tell of a secret where somebody refused, where one record deviates, and what was tolerated."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.cli.running import run

from incrowd import InputError
from incrowd.assessment import Question, find_release, judge_release
from incrowd.tables.untold_values import find_untold_values

ASKED = {"quasi_identifiers": ["age", "town"], "sensitive": ["illness"], "rows_are_people": True}
WORDS = ["refused", "no answer", "unknown", "keine Angabe", "ne sait pas", "No sabe / no contesta", "não respondeu"]
WORDS += ["non risponde", "geen antwoord", "odmowa odpowiedzi", "-9", "9: Refused", "DK", "?", ""]


def people(illness_of, classes=60, each=11):
    """Classes of equal people, each with the values that `illness_of` gives the class."""
    values = [illness_of(number) for number in range(classes)]
    return {
        "age": [20 + number for number in range(classes) for _ in range(each)],
        "town": [f"T{number % 5}" for number in range(classes) for _ in range(each)],
        "illness": [value for members in values for value in members],
    }


def judged(table, **asked):
    return judge_release(table, Question(**{**ASKED, **asked}, recipient="public"))


def with_a_refusal(word, secret="HIV", others=("flu", "asthma", "none")):
    draw = np.random.default_rng(7)

    def illness_of(number):
        if number < 8:
            return [secret] * 10 + [word]
        return [others[place] for place in draw.integers(0, 3, 10)] + [word]

    return people(illness_of)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_for_a_refusal_hides_nobody(word):
    verdict = judged(with_a_refusal(word))
    assert verdict.decision == "exposed"
    assert verdict.disclosed == ("illness",)
    assert judged(with_a_refusal(word), secrets=["illness=HIV"]).decision == "exposed"
    assert any("nobody declared them" in str(one) for one in verdict.internal_reasons)


@pytest.mark.parametrize("code", [99_999, -9, -1, 999_998, 77_777])
def test_a_number_for_a_refusal_hides_nobody(code):
    table = with_a_refusal(code, 5_000, (1_000, 2_000, 3_000))
    assert judged(table).decision == "exposed"


def test_a_class_of_refusals_gives_nothing_away():
    def illness_of(number):
        return ["refused"] * 11 if number < 3 else ["flu", "asthma", "none", "cold"] * 2 + ["flu", "asthma", "none"]

    verdict = judged(people(illness_of))
    assert verdict.decision == "within"
    assert any("nobody declared them" in str(one) for one in verdict.conditions)


def test_a_refusal_that_is_named_as_the_secret_is_a_value():
    table = with_a_refusal("refused")
    assert judged(table, secrets=["illness=refused"]).decision == "within"
    assert judged(table, secrets=["illness=HIV,refused"]).decision == "exposed"


def test_a_scale_from_minus_one_to_one_has_no_code():
    table = people(lambda number: [(number % 2) * 2 - 1] * 4 + [0] * 7)
    assert judged(table).decision == "within"


def test_answers_are_no_refusals():
    answers = [
        "none",
        "no",
        "nose",
        "other",
        "unknown virus",
        "refused treatment",
        "+",
        "-",
        "normal",
        "Ulm",
        "refugee",
    ]
    may_be, surely = find_untold_values(pa.array(answers))
    assert not may_be.any()
    assert not surely.any()


@pytest.mark.parametrize("share", [1, 1.0, 0.6, -0.1, float("nan")])
def test_a_tolerated_share_that_is_meant_as_a_percentage_is_refused(share):
    with pytest.raises(InputError, match=r"1% or 0\.01"):
        judged(with_a_refusal("refused"), tolerate=share)


def test_a_tolerated_share_is_refused_on_the_command_line_and_in_a_settings_file(capsys, tmp_path):
    file = tmp_path / "people.csv"
    pd.DataFrame(with_a_refusal("refused")).to_csv(file, index=False)
    settings = tmp_path / "question.toml"
    settings.write_text('[answers]\nage = "known"\ntown = "known"\nillness = "sensitive"\n[question]\ntolerate = 1\n')
    asked = ["--qi", "age,town", "--sensitive", "illness", "--recipient", "public", "--tolerate", "1"]
    for words in (
        ["assess", file, *asked],
        ["check", file, *asked],
        ["protect", file, *asked, "--out", tmp_path / "safe.csv"],
        ["assess", file, "--question", settings],
    ):
        code, _, err = run(capsys, *words)
        assert (code, "1% or 0.01" in " ".join(err.split())) == (2, True), words


def test_a_yes_says_what_was_tolerated():
    def illness_of(number):
        return ["HIV"] * 11 if number == 7 else ["flu", "asthma", "none", "cold"] * 2 + ["flu", "asthma", "none"]

    assert judged(people(illness_of)).decision == "exposed"
    verdict = judged(people(illness_of), tolerate=0.02)
    assert verdict.decision == "within"
    (said,) = [str(one) for one in verdict.conditions if "You accept" in str(one)]
    assert "2% of the records" in said
    assert "illness (11 records, 1.67%)" in said


def mostly(count, each=11, classes=60):
    """Twelve classes in which `count` of `each` people have HIV, and others in which nobody has it."""
    rest = ["flu", "asthma", "none", "cancer"]

    def illness_of(number):
        ill = count if number < 12 else 0
        return ["HIV"] * ill + [rest[(number + place) % 4] for place in range(each - ill)]

    return people(illness_of, classes, each)


def likely_in(verdict):
    return [str(one) for one in verdict.conditions if "Not certain, but likely" in str(one)]


def test_a_yes_says_which_secrets_are_likely():
    verdict = judged(mostly(10))
    assert verdict.decision == "within"
    (said,) = likely_in(verdict)
    assert "illness (up to 90.9% of a class; 120 records)" in said
    assert "95%" in said
    assert next(one for one in verdict.conditions if str(one) == said).hint == ("certain",)
    assert likely_in(judged(mostly(8)))
    assert not likely_in(judged(mostly(7)))  # below two thirds


def test_a_value_that_is_not_much_more_common_than_in_the_table_is_not_told():
    def illness_of(number):
        return ["flu"] * (8 if number % 2 else 4) + ["asthma"] * 3 + ["none"] * (0 if number % 2 else 4)

    assert not likely_in(judged(people(illness_of)))  # 73% of a class, 55% of the table


@pytest.mark.parametrize("each", [3, 11, 15, 19])
def test_one_deviating_record_does_not_hide_a_named_secret(each):
    asked = {"secrets": ["illness=HIV"], "highest": 1 / 3}
    for count in (each, each - 1):
        assert judged(mostly(count, each), **asked).disclosed == ("illness",), count
    assert judged(mostly(each - 2, each), **asked).decision == "within"
    assert judged(mostly(each - 1, each), **asked, certain=1.0).decision == "within"


def test_a_secret_that_is_not_named_may_be_hidden_by_one_record():
    assert judged(mostly(11)).decision == "exposed"
    assert judged(mostly(10)).decision == "within"


def test_protection_hides_a_named_secret_behind_two_records():
    table = pa.table(mostly(10))
    question = Question(**ASKED, secrets=["illness=HIV"], recipient="public")
    found = find_release(table, question, quasi_identifiers=ASKED["quasi_identifiers"], sensitive=["illness"])
    assert found.passes
    assert found.protected.removed == ()
    assert found.verdict.decision == "within"


def test_incomes_that_lie_close_together_are_no_yes_and_a_way_to_yes_is_found():
    draw = np.random.default_rng(9)
    table = people(lambda number: np.exp(draw.normal(10, 0.6, 11)).round(-2))
    assert judged(table).decision == "within"
    table["illness"][33:44] = [50_001.0 + place for place in range(11)]
    found = judged(table)
    assert (found.decision, found.disclosed) == ("exposed", ("illness",))
    assert (
        "11 records (1.67%): nearly all who look alike share one value, or have numbers that lie close together"
        in (found.exposures[0])
    )
    assert judged(table, certain=1.0).decision == "within"
    question = Question(**ASKED, recipient="public")
    solved = find_release(table, question, quasi_identifiers=["age", "town"], identifiers=[])
    assert solved.passes
