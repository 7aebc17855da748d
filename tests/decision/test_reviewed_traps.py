"""Ways to a false yes that reviewers found: each is a small table."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from incrowd import assess, check, protect
from incrowd.assessment import Question, judge_release
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations.result import PopulationRisk
from incrowd.recipients import judge, settle_limits

pytestmark = pytest.mark.usefixtures("quick_estimates")

CROWD = {"age": [30] * 20 + [40] * 20, "sex": (["f"] * 10 + ["m"] * 10) * 2}


def decide(table, **question):
    question.setdefault("rows_are_people", True)
    return judge_release(table, Question(**{"recipient": "trusted", **question}))


def test_a_secret_that_nobody_judged_and_that_classes_give_away_is_undecided():
    table = {**CROWD, "hiv": ["yes"] * 20 + ["no"] * 20}
    assert decide(table, quasi_identifiers=["age"], other=["sex"]).decision == "undecided"
    assert decide(table, quasi_identifiers=["age"], other=["sex"], sensitive=["hiv"]).decision == "exposed"


def test_a_column_of_one_value_needs_no_judgement():
    table = {**CROWD, "country": ["x"] * 40}
    assert decide(table, quasi_identifiers=["age", "sex"]).decision == "within"


def test_many_columns_hide_none():
    table = {**CROWD, **{f"c{number}": ["x"] * 40 for number in range(401)}, "job": list(range(40))}
    assert decide(table, quasi_identifiers=["age", "sex"]).decision != "within"


def test_a_population_does_not_hide_a_secret():
    draw = np.random.default_rng(1)
    table = {"region": draw.integers(0, 5, 500), "ill": np.where(np.arange(500) < 100, "a", "b")}
    table["region"][:100] = 9
    table["ill"][100:] = draw.choice(["a", "b", "c"], 400)
    for population in (None, 500, 10**6):
        found = decide(table, quasi_identifiers=["region"], sensitive=["ill"], population=population, tolerate=0.01)
        assert found.decision in ("exposed", "over")
        assert found.disclosed == ("ill",)


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_what_names_people_is_no_yes_in_any_role(role):
    table = {**CROWD, "email": [f"p{number}@example.org" for number in range(40)]}
    found = decide(table, quasi_identifiers=["age", "sex"], **{role: ["email"]})
    assert found.decision == "exposed"
    assert "email" in " ".join(found.exposures)
    assert not check(
        table,
        quasi_identifiers=["age", "sex"],
        question=Question(quasi_identifiers=["age", "sex"], **{role: ["email"]}),
    ).passed


def test_an_address_is_no_yes_as_the_person():
    table = {key: list(np.repeat(values, 2)) for key, values in CROWD.items()}
    table["email"] = [f"p{number}@example.org" for number in np.repeat(np.arange(40), 2)]
    assert decide(table, quasi_identifiers=["age", "sex"], person="email").decision == "exposed"


def test_a_guessed_person_column_is_no_error():
    people = np.repeat(np.arange(1_000, 1_060), 3)
    draw = np.random.default_rng(2)
    table = {"patient_id": people, "age": draw.integers(20, 60, 180), "diagnosis": draw.choice(["a", "b"], 180)}
    assert assess(table, protection=False).verdict.decision != "within"


def test_a_guess_never_becomes_a_yes_by_the_advice():
    draw = np.random.default_rng(3)
    table = {"age": draw.integers(20, 30, 400), "sex": draw.choice(["f", "m"], 400), "income": draw.integers(1, 5, 400)}
    found = assess(table, recipient="trusted")
    assert found.verdict.decision != "within"
    assert not any("protect" in command for action in found.verdict.actions for command in action.commands)
    assert judge_release(table, found.provenance.question).decision != "within"


def test_a_panel_under_a_name_that_says_nothing_is_asked_about():
    draw = np.random.default_rng(4)
    table = {
        "nr": np.repeat(np.arange(100, 200), 8),
        "year": np.tile(np.arange(1980, 1988), 100),
        "ethn": np.repeat(draw.integers(0, 2, 100), 8),
        "union": draw.integers(0, 2, 800),
    }
    question = Question(quasi_identifiers=["ethn"], sensitive=["union"], other=["nr", "year"], recipient="trusted")
    assert judge_release(table, question).decision == "undecided"


@pytest.mark.parametrize("share", [-1.0, 1.0, 50.0, float("nan")])
def test_a_tolerated_share_must_be_one(share):
    with pytest.raises(InputError, match="tolerated share"):
        decide(CROWD, quasi_identifiers=["age", "sex"], tolerate=share)


def test_what_is_no_number_is_not_within():
    assert judge(float("nan"), 0.5) == "over"


def test_more_people_than_there_are_is_refused():
    with pytest.raises(InputError, match="more people than there are"):
        decide(CROWD, quasi_identifiers=["age", "sex"], population=10**12)


@pytest.mark.parametrize("roles", [{"weights": "age"}, {"other": ["age"]}, {"person": "age"}])
def test_a_column_has_one_role(roles):
    with pytest.raises(InputError, match="two roles"):
        decide(CROWD, quasi_identifiers=["age", "sex"], **roles)


def test_what_is_exactly_known_is_not_too_close_to_call():
    risk = PopulationRisk(
        people=9,
        classes=9,
        uniques=9,
        population=10,
        sample_to_population=0.5,
        interval=(0.3, 0.7),
        population_uniques=None,
        still_unique=None,
        method="",
        assumptions=(),
    )
    assert risk.overall_interval == (0.9, 0.9)


def test_rules_and_verdict_read_a_limit_alike():
    table = {"age": list(range(10)) * 11}
    assert check(table, quasi_identifiers=["age"], max_risk=0.09).passed
    assert settle_limits("public").class_size == 11
    assert judge_release(table, Question(quasi_identifiers=["age"], recipient="public")).decision == "within"


def test_advice_without_a_trial_removes_what_names_people():
    table = {**CROWD, "email": [f"p{number}@example.org" for number in range(40)]}
    found = assess(table, quasi_identifiers=["age", "sex"], protection=False, recipient="strict")
    commands = [command for action in found.verdict.actions for command in action.commands if " protect " in command]
    assert commands
    assert all("--drop email" in command for command in commands)


def test_a_secret_stays_named_when_a_column_of_a_similar_name_goes():
    question = Question(quasi_identifiers=["age"], sensitive=["illness"], secrets=["illness=HIV", "ill=a"])
    assert question.about_release(["ill", "i"]).secrets == ("illness=HIV",)


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_people_linked_by_a_code_that_is_declared_harmless_are_asked_about(role):
    draw = np.random.default_rng(9)
    codes = [f"{number:04x}" for number in draw.choice(60_000, 400, replace=False)]
    sex, visit = np.repeat(draw.integers(1, 3, 400), 4), draw.integers(0, 9, 1_600)
    table = {"zz": np.repeat(codes, 4), "sex": sex, "visit": visit}
    roles = {"other": ["visit"], "sensitive": []}
    roles[role] = [*roles[role], "zz"]
    asked = {"quasi_identifiers": ["sex"], "recipient": "public", "tolerate": 0.5}
    found = judge_release(table, Question(**asked, **roles))
    assert found.decision == "undecided"
    assert any("zz" in str(reason) for reason in found.internal_reasons)
    assert judge_release(table, Question(**asked, other=["visit"], person="zz")).decision == "within"


def test_a_weight_whose_name_may_mean_that_of_a_body_needs_the_population():
    draw = np.random.default_rng(10)
    table = {"age": draw.integers(3, 6, 600), "wt": draw.normal(70, 9, 600).round(1)}
    with pytest.raises(InputError, match="give the population too"):
        decide(table, quasi_identifiers=["age"], weights="wt")
    found = decide(table, quasi_identifiers=["age"], weights="wt", population=9_000)
    assert (found.decision, found.basis) == ("within", "population")
    with pytest.raises(InputError, match="no sampling weight"):  # nobody means an age by a weight
        decide(table, quasi_identifiers=["wt"], weights="age", population=9_000)


def test_towns_that_tell_which_of_two_groups_they_are_in_are_no_yes():
    draw = np.random.default_rng(11)
    town = draw.integers(0, 60, 1_200)
    table = {"sex": draw.choice(["f", "m"], 1_200), "kind": np.where(town < 25, "urban", "rural"), "x": town + 500}
    found = decide(table, quasi_identifiers=["sex", "kind"], other=["x"], recipient="public")
    assert (found.decision, found.blamed) == ("exposed", ("x",))
    table["x"] = np.where(town < 25, 0, town)  # one value for all of one group tells no more than the group does
    assert decide(table, quasi_identifiers=["sex", "kind"], other=["x"], recipient="public").decision == "within"


def test_rows_that_count_up_and_start_again_are_asked_about():
    draw = np.random.default_rng(12)
    sex = np.repeat(draw.choice(["f", "m"], 60), 20)
    table = {"sex": sex, "minute": np.tile(np.arange(20), 60), "pulse": draw.normal(70, 9, 1_200).round(1)}
    roles = {"quasi_identifiers": ["sex"], "other": ["minute", "pulse"]}
    found = judge_release(table, Question(**roles))
    assert found.decision == "undecided"
    assert any("minute counts up, and starts again 59 times" in str(reason) for reason in found.internal_reasons)
    table["sex"] = draw.choice(["f", "m"], 1_200)  # nothing of a person stays the same
    assert judge_release(table, Question(**roles)).decision == "within"
    mixed = draw.permutation(1_200)
    assert judge_release({name: cells[mixed] for name, cells in table.items()}, Question(**roles)).decision == "within"


@pytest.mark.parametrize("shared", [True, False])
def test_an_amount_to_the_cent_that_links_households_is_asked_about(shared):
    draw = np.random.default_rng(13)
    size = draw.integers(1, 5, 300)
    income = draw.lognormal(10, 0.5, 300).round(2)
    rows = np.repeat(np.arange(300), size)
    cents = income[rows] if shared else draw.lognormal(10, 0.5, rows.size).round(-2)
    mixed = draw.permutation(rows.size)
    table = {"sex": draw.choice(["f", "m"], rows.size), "x": cents[mixed]}
    found = judge_release(table, Question(quasi_identifiers=["sex"], sensitive=["x"]))
    assert found.decision == ("undecided" if shared else "within")
    assert any("x to the last digit" in str(reason) for reason in found.internal_reasons) == shared


@pytest.mark.parametrize(("made", "decision"), [("homes", "undecided"), ("people", "within"), ("tariff", "within")])
def test_a_whole_income_that_links_households_is_asked_about(made, decision):
    draw = np.random.default_rng(17)
    home = np.repeat(np.arange(300), draw.integers(1, 5, 300))
    income = {
        "homes": draw.lognormal(10.5, 0.5, 300).astype(int)[home],
        "people": draw.lognormal(10.5, 0.5, home.size).astype(int),
        "tariff": draw.choice(draw.lognormal(10.5, 0.5, 40).astype(int), home.size),
    }[made]
    mixed = draw.permutation(home.size)
    table = {"sex": draw.choice(["f", "m"], home.size), "hh_income": income[mixed]}
    found = judge_release(table, Question(quasi_identifiers=["sex"], sensitive=["hh_income"]))
    assert found.decision == decision
    assert any("hh_income to the last digit" in str(one) for one in found.internal_reasons) == (made == "homes")


def test_spellings_of_one_illness_do_not_hide_it():
    draw = np.random.default_rng(14)
    region = np.repeat(np.arange(10), 40)
    others = draw.choice(["flu", "asthma", "none", "1.5"], 400)
    table = {"region": region, "ill": np.where(region == 7, draw.choice(["HIV", "hiv", "H.I.V.", "HIV "], 400), others)}
    found = assess(table, quasi_identifiers=["region"], sensitive=["ill"], rows_are_people=True, protection=False)
    assert (found.verdict.decision, found.verdict.disclosed) == ("exposed", ("ill",))
    (ill,) = found.evidence.secrets.columns
    assert (ill.certain, ill.spellings) == (40, 3)
    assert "--fold" in found.verdict.actions[0].commands[0]
    table["ill"] = np.where(region == 7, draw.choice(["1.5", "15", "A+", "A-"], 400), others)  # these are not alike
    assert decide(table, quasi_identifiers=["region"], sensitive=["ill"]).decision == "within"


@pytest.mark.parametrize("linked", [0.2, 1.0])
def test_numbers_of_people_in_a_fifth_of_the_rows_link_them(linked):
    draw = np.random.default_rng(15)
    rows, people = 2_000, int(500 * linked)
    code = np.full(rows, None, dtype=object)
    sex = draw.choice(["f", "m"], rows)
    mixed = draw.permutation(rows)[: 4 * people].reshape(people, 4)
    for name, places in zip(draw.permutation(40_000)[:people], mixed, strict=True):
        code[places], sex[places] = f"{name:04x}", sex[places[0]]
    question = Question(quasi_identifiers=["sex"], other=["x", "y"])
    table = {"sex": sex, "x": list(code), "y": draw.integers(0, 9, rows)}
    assert judge_release(table, question).decision != "within"
    found = assess(table, quasi_identifiers=["sex"], other=["y"], protection=False)
    assert any(f"fill x in the {rows - 4 * people:,} rows" in str(one) for one in found.verdict.actions) == (linked < 1)
    commands = [command for action in found.verdict.actions for command in action.commands]
    assert any("name x as the person" in action.sentence for action in found.verdict.actions) == (linked == 1)
    assert not any("--person" in command or "--rows-are-people" in command for command in commands)  # nobody said so


def test_the_weight_of_a_newborn_is_no_sampling_weight():
    draws = np.random.default_rng(2)
    ounces = np.clip(draws.normal(118, 20, 800), 40, 270).round().astype(int)
    table = {"bwght": ounces, "lbwght": np.log(ounces), "motheduc": draws.integers(6, 19, 800), "male": ounces % 2}
    found = assess(table, protection=False)
    assert found.roles.unused_weight is None
    assert {"bwght", "lbwght"} <= {*found.roles.quasi_identifiers}
    assert not any("--weight" in command for action in found.verdict.actions for command in action.commands)


def test_advice_on_what_others_know_anyway_is_not_to_call_it_secret_again(tmp_path):
    draws = np.random.default_rng(3)
    treated = np.tile([0, 1], 60)  # at most once for each person and value: it numbers their records
    table = {"id": np.repeat(np.arange(60), 2), "age": draws.integers(20, 70, 60).repeat(2), "transplant": treated}
    file = tmp_path / "stays.csv"
    pa.csv.write_csv(pa.table(table), file)
    found = assess(
        file, quasi_identifiers=["age"], sensitive=["transplant"], person="id", recipient="trusted", protection=False
    )
    assert found.roles.known_anyway == ("transplant",)
    judge, again = found.verdict.actions[0].commands
    assert "--qi age " in judge  # transplant is asked for anew
    assert "--sensitive" not in judge + again


def test_dates_that_are_read_as_text_are_all_that_is_advised():
    draws = np.random.default_rng(4)
    days = np.datetime64("1950-01-01") + draws.integers(0, 15_000, 600)
    written = [str(day) if n % 2 else "/".join(str(day).split("-")[::-1]) for n, day in enumerate(days)]
    found = assess({"birth": written, "sex": draws.integers(1, 3, 600)}, quasi_identifiers=["birth", "sex"])
    (action,) = found.verdict.actions
    assert action.sentence.startswith("Dates in birth are read as text")
    assert action.commands == ()  # a smaller audience does not mend them


def test_dates_in_the_texts_of_a_dictionary_are_refused_as_others_are():
    draws = np.random.default_rng(4)
    days = np.datetime64("1950-01-01") + draws.integers(0, 15_000, 600)
    written = [str(day) if n % 7 else "unknown" for n, day in enumerate(days)]
    table = pa.table({"birth": pa.array(written).dictionary_encode(), "sex": draws.integers(1, 3, 600)})
    with pytest.raises(UnsupportedError, match="Dates in birth are read as text"):
        protect(table, quasi_identifiers=["birth", "sex"], k=5)
