"""Who learns something new for certain: against a plain count of small tables, and on columns that used to mislead."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import InputError, measure, read_table
from incrowd.backends import MemoryNeeds
from incrowd.measures import Secret, count_disclosed_secrets

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["p", "q"]), st.sampled_from([None, 1, 2, 3])), min_size=1, max_size=25
)


def counted_plainly(rows, structural, *, secret, null_is_secret, certain_from, common_above):
    """Certain, missing and common records, and the base rate and the certainty of each record that is news."""
    classes = {}
    for x, y, value in rows:
        classes.setdefault((x, y), []).append(value)
    values = [value for *_, value in rows]
    asked = len(values) if null_is_secret else len(values) - structural
    certain = missing = common = 0
    base, sure = [], []
    null_is_secret = null_is_secret or (secret is not None and None in secret)
    for members in classes.values():
        filled = [value for value in members if value is not None or null_is_secret]
        for value in members:
            hides = 2 * len(filled) <= len(members) or (value is None and not null_is_secret)
            if secret is None:
                alike, everywhere = members.count(value), values.count(value)
            elif value in secret:
                alike, everywhere = (sum(one in secret for one in among) for among in (members, values))
            else:
                continue
            deviates = alike < len(filled) and secret is not None and certain_from < 1
            alike += 0 if hides else (len(members) - len(filled)) * (alike + 1) / (len(filled) + 2)
            among = len(members) - (deviates and 2 * alike > len(members))  # one who has another value knows it
            if alike < certain_from * among * (1 - 1e-12):
                continue
            certain += 1
            if secret is None and value is None and not null_is_secret:
                missing += 1
            elif secret is None and everywhere > common_above * asked:
                common += 1
            else:
                base.append(everywhere / asked)
                sure.append(alike / among)
    return certain, missing, common, base, sure


@given(
    ROWS,
    st.sampled_from([None, (1,), (2, 3), (None, 1)]),
    st.booleans(),
    st.sampled_from([1.0, 0.75, 0.6]),
    st.sampled_from([0.5, 0.3, 1.0]),
)
def test_counts_are_those_of_a_plain_count(rows, secret, null_is_secret, certain_from, common_above):
    rows = [(0, "p", value) for value in (secret or ())] + rows  # a secret that does not occur is refused
    table = pa.table(
        {
            "x": [x for x, *_ in rows],
            "y": [y for _, y, _ in rows],
            "s": pa.array([value for *_, value in rows], pa.int64()),
        }
    )
    options = {"null_is_secret": null_is_secret, "certain_from": certain_from, "common_above": common_above}
    found = count_disclosed_secrets(
        table,
        quasi_identifiers=["x", "y"],
        sensitive=["s"],
        secrets={"s": Secret(values=secret)} if secret else None,
        **options,
    ).columns[0]
    certain, missing, common, base, sure = counted_plainly(rows, found.structural_missing, secret=secret, **options)
    assert (found.certain, found.certain_missing, found.certain_common) == (certain, missing, common)
    assert found.news == len(base)
    assert found.base_rate == pytest.approx(np.mean(base) if base else 0)
    assert found.rise == pytest.approx(np.mean(sure) - np.mean(base) if base else 0)


def test_a_drug_that_nobody_takes_is_no_secret_given_away():
    rows = 20_000
    drug = np.array(["No"] * rows, dtype=object)
    drug[[17, 4_000]] = "Yes"
    table = {"zip": np.arange(rows) // 10, "drug": drug}
    found = count_disclosed_secrets(table, quasi_identifiers=["zip"], sensitive=["drug"]).columns[0]
    assert found.certain == measure(table, quasi_identifiers=["zip"], sensitive=["drug"]).sensitive[0].homogeneous
    assert (found.certain, found.certain_common, found.news) == (rows - 20, rows - 20, 0)
    asked = {"drug": Secret(values=["No"])}
    named = count_disclosed_secrets(table, quasi_identifiers=["zip"], sensitive=["drug"], secrets=asked).columns[0]
    assert named.news == rows - 20, "a common value counts where it is named"


def children(rows=6_000, nonresponse=0.0):
    """A survey in which only children are asked; the answer is one of three, and a few do not answer."""
    generator = np.random.default_rng(1)
    age, place = generator.integers(0, 90, rows), generator.integers(0, 300, rows)
    answer = pa.array(
        generator.choice(["a", "b", "c"], rows, p=[0.8, 0.1, 0.1]),
        mask=(age >= 18) | (generator.random(rows) < nonresponse),
    )
    return pa.table({"age": age, "place": place, "answer": answer})


@pytest.mark.parametrize("nonresponse", [0.0, 0.1])
def test_a_column_for_children_is_missing_for_adults_and_that_is_no_news(nonresponse):
    table = children(nonresponse=nonresponse)
    adults = int((table["age"].to_numpy() >= 18).sum())
    found = count_disclosed_secrets(table, quasi_identifiers=["place", "age"], sensitive=["answer"]).columns[0]
    assert found.missing_follows_from == ("age",)
    assert found.structural_missing == adults
    assert (found.missing == adults) == (nonresponse == 0)
    assert found.certain_missing >= adults
    assert found.certain_common > 0, "most children answer a, though few people do"
    assert found.news < found.certain - found.certain_missing
    kept = count_disclosed_secrets(
        table, quasi_identifiers=["place", "age"], sensitive=["answer"], null_is_secret=True
    ).columns[0]
    assert (kept.certain_missing, kept.certain) == (0, found.certain)


def test_missing_that_follows_from_two_columns_is_recognised():
    generator = np.random.default_rng(2)
    age, sex = generator.integers(0, 80, 8_000), generator.integers(0, 2, 8_000)
    pregnant = pa.array(generator.choice(["yes", "no"], 8_000), mask=(sex == 0) | (age > 45) | (age < 15))
    table = pa.table({"age": age, "sex": sex, "zip": np.arange(8_000), "pregnant": pregnant})
    found = count_disclosed_secrets(table, quasi_identifiers=["zip", "age", "sex"], sensitive=["pregnant"]).columns[0]
    assert found.missing_follows_from == ("age", "sex")
    assert found.structural_missing == found.missing


@pytest.mark.parametrize("oldest", [1, 9])
def test_one_record_or_a_few_show_no_skip_pattern(oldest):
    age = np.repeat(np.arange(20, 60), 50)
    age[:oldest] = 99 + np.arange(oldest) // 3
    table = pa.table({"age": age, "answer": pa.array(np.arange(2_000) % 7, mask=age > 90)})
    found = count_disclosed_secrets(table, quasi_identifiers=["age"], sensitive=["answer"]).columns[0]
    assert (found.missing, found.structural_missing, found.missing_follows_from) == (oldest, 0, ())


def test_missing_at_random_follows_from_nothing():
    generator = np.random.default_rng(3)
    answer = pa.array(generator.choice(["a", "b"], 5_000), mask=generator.random(5_000) < 0.5)
    table = pa.table({"zip": np.arange(5_000), "age": generator.integers(0, 500, 5_000), "answer": answer})
    found = count_disclosed_secrets(table, quasi_identifiers=["zip", "age"], sensitive=["answer"]).columns[0]
    assert (found.structural_missing, found.missing_follows_from) == (0, ())
    assert found.certain == 5_000


def test_a_class_of_equal_rare_values_is_news():
    ill = ["hiv"] * 5 + ["flu", "cold", "none", "none", "flu"] * 19
    table = {"zip": np.arange(100) // 5, "ill": ill}
    found = count_disclosed_secrets(table, quasi_identifiers=["zip"], sensitive=["ill"]).columns[0]
    assert (found.certain, found.news, found.base_rate, found.rise) == (5, 5, 0.05, 0.95)


def test_a_missing_value_hides_nobody_in_a_class_of_one_value():
    ill = ["hiv"] * 10 + [None] + ["hiv"] * 6 + [None] * 5 + ["flu", "cold"] * 44
    table = {"zip": np.arange(110) // 11, "ill": ill}

    def news(secrets=None, certain_from=0.95):
        asked = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "secrets": secrets}
        return count_disclosed_secrets(table, **asked, certain_from=certain_from).columns[0].news

    assert news() == news({"ill": Secret(values=["hiv"])}) == 10, "six of eleven tell little about the other five"
    assert news(certain_from=0.94) == 16, "(6 + 5 · 7/8) / 11"
    assert news(certain_from=1.0) == 0, "nothing is certain of who has no value"
    assert news({"ill": Secret(values=["hiv", None])}) == 22, "all of both classes have one of the two"


@pytest.mark.parametrize("secret", [None, Secret(values=["hiv"]), Secret(values=["hiv", None])])
def test_classes_in_which_only_missing_values_hide_a_secret_are_counted(secret):
    ill = ["hiv"] * 10 + [None] + ["hiv"] * 6 + [None] * 5 + ["flu"] * 7 + ["cold"] * 4 + [None] * 11 + ["cold"] * 22
    ill += ["cold"] * 33 + [None] * 2 + ["cold"] * 9  # most people have a cold: that is no news
    table = {"zip": np.arange(110) // 11, "ill": ill}
    asked = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "secrets": {"ill": secret} if secret else None}

    def behind(certain_from):
        found = count_disclosed_secrets(table, **asked, certain_from=certain_from).columns[0]
        return found.classes_behind_missing, found.behind_missing

    null_is_named = secret is not None and None in secret.values
    assert behind(0.95) == ((0, 0) if null_is_named else (1, 6))
    assert behind(1.0) == ((0, 0) if null_is_named else (2, 16))


def test_ranges_and_several_columns():
    table = {
        "zip": [1, 1, 2, 2, 3],
        "income": [120_000, 130_000.5, 90_000, 200_000, None],
        "since": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4, 5)],
        "ill": ["a", "b", "a", "b", "a"],
    }
    found = count_disclosed_secrets(
        table,
        quasi_identifiers=["zip"],
        sensitive=["income", "since", "ill"],
        secrets={
            "income": Secret(above="100000"),
            "since": Secret(above="2020-01-01", below=datetime.date(2020, 1, 5)),
        },
    )
    assert [(column.column, column.certain, column.news) for column in found.columns] == [
        ("income", 2, 2), ("since", 2, 2), ("ill", 1, 0)
    ]  # fmt: skip
    assert found.columns[0].secret == "above 100000"
    assert found.to_frame()["news_share"].tolist() == [0.4, 0.4, 0.0]


def test_values_of_histories_are_compared_among_equal_histories():
    table = {"who": ["a", "a", "b", "b"], "age": [30, 60, 30, 60], "ill": ["flu", "hiv", "flu", "hiv"]}
    found = count_disclosed_secrets(table, quasi_identifiers=["age"], sensitive=["ill"], person="who").columns[0]
    assert (found.certain, found.news) == (4, 4)


def test_a_table_larger_than_memory_gives_the_same_counts(tmp_path):
    pq.write_table(children(3_000, 0.1), tmp_path / "table.parquet")
    options = {"quasi_identifiers": ["place", "age"], "sensitive": ["answer"]}
    whole = count_disclosed_secrets(tmp_path / "table.parquet", **options)
    table = read_table(tmp_path / "table.parquet", memory="50MB")
    table.backend.needs = MemoryNeeds(record_class=10**6, class_value=10**6, split_record=10**6)
    parts = count_disclosed_secrets(table, **options)
    assert parts.to_dict() == whole.to_dict()
    assert whole.columns[0].missing_follows_from == ("age",)
    assert whole.columns[0].certain_missing > 0


PATIENTS = {"zip": [1, 2], "ill": ["a", "b"], "age": [3, 4]}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sensitive": []}, "no sensitive columns"),
        ({"sensitive": "ill"}, "must be a list"),
        ({"certain_from": 0.5}, "above 0.5"),
        ({"common_above": 1.5}, "from 0 to 1"),
        ({"secrets": {"age": Secret(above=3)}}, "not among the sensitive columns"),
        (
            {"secrets": {"ill": Secret(values=["a", "zebra"])}},
            "no cell of 'ill' holds 'zebra', which you named as secret",
        ),
        ({"secrets": {"ill": Secret(above=3)}}, "does not fit its type"),
        ({"sensitive": ["age"], "secrets": {"age": Secret(values=["old"])}}, "does not fit its type"),
        ({"sensitive": ["age"], "secrets": {"age": Secret(below="old")}}, "does not fit its type"),
    ],
)
def test_questions_that_make_no_sense_are_refused(wrong, words):
    with pytest.raises(InputError, match=words) as refused:
        count_disclosed_secrets(PATIENTS, **{"quasi_identifiers": ["zip"], "sensitive": ["ill"]} | wrong)
    assert not any(f"'{cell}'" in str(refused.value) for cell in PATIENTS["ill"])


def test_a_secret_is_values_or_a_range():
    with pytest.raises(InputError, match="not by both"):
        Secret(values=["a"], above=3)
    with pytest.raises(InputError, match="must be a list"):
        Secret(values="hiv")


def incomes(draw, classes=40, each=11):
    """Incomes of classes of one size; those of the first class are to be replaced."""
    town = np.repeat(np.arange(classes), each)
    return town, np.exp(draw.normal(10, 0.6, town.size)).round(-2)


def count_pay(town, pay, **options):
    table = {"town": town, "pay": pay}
    (found,) = count_disclosed_secrets(
        table, quasi_identifiers=["town"], sensitive=["pay"], **{"certain_from": 0.95, **options}
    ).columns
    return found


def test_numbers_that_lie_close_together_are_given_away():
    town, pay = incomes(np.random.default_rng(0))
    assert count_pay(town, pay).news == 0
    pay[town == 0] = 50_001 + np.arange(11)
    found = count_pay(town, pay)
    assert (found.certain, found.close, found.news) == (0, 11, 11)
    assert count_pay(town, pay, certain_from=1.0).news == 0  # only what is certain
    assert count_pay(town, pay, secrets={"pay": Secret(above=90_000)}).close == 0
    width = 0.01 * (np.quantile(pay, 0.95) - np.quantile(pay, 0.05))
    pay[town == 0] = 50_000 + np.linspace(0, 1.1 * width, 11)
    assert count_pay(town, pay).news == 0
    pay[town == 0] = np.linspace(50_000, 50_000 + 0.9 * width, 11)
    assert count_pay(town, pay).news == 11


def test_equal_numbers_are_counted_once():
    town, pay = incomes(np.random.default_rng(1), each=20)
    pay[town == 0] = 50_000
    pay[0] = 50_001  # 19 of 20 are certain
    found = count_pay(town, pay)
    assert (found.certain, found.close, found.news) == (19, 0, 19)


@pytest.mark.parametrize(("missing", "close"), [(1, 10), (4, 7), (5, 0)])
def test_a_missing_number_hides_no_close_ones(missing, close):
    town, pay = incomes(np.random.default_rng(2))
    pay = pay.astype(object)
    pay[town == 0] = [50_001.0 + place for place in range(11)]
    pay[:missing] = None
    assert count_pay(town, list(pay)).close == close


def test_close_numbers_that_most_people_have_are_no_news():
    town, pay = incomes(np.random.default_rng(3))
    pay[town < 30] = 10_000 + np.arange(330) % 7  # three quarters of the people
    assert count_pay(town, pay).close == 0


@pytest.mark.parametrize(("word", "close"), [("unknown", 10), ("-9", 10), ("a lot", 0)])
def test_a_word_for_a_missing_number_makes_no_text_of_the_others(word, close):
    town, pay = incomes(np.random.default_rng(6))
    pay[town == 0] = 50_001 + np.arange(11)
    written = [f"{one:.0f}" for one in pay]
    written[0] = written[40] = word
    assert count_pay(town, written).close == close


def test_numbers_among_people_who_mostly_have_none_are_close_too():
    town, pay = incomes(np.random.default_rng(5), classes=100)
    benefits = np.where(np.arange(town.size) % 33 == 32, pay, 0)  # of 97 % of the people 0
    assert count_pay(town, benefits).news == 0
    benefits[town == 0] = 50_001 + np.arange(11)
    assert count_pay(town, benefits).close == 11


def test_small_counts_and_dates_are_never_close():
    draw = np.random.default_rng(4)
    town = np.repeat(np.arange(60), 11)
    visits = np.where(town % 2, draw.integers(3, 5, town.size), draw.integers(0, 60, town.size))
    assert count_pay(town, visits).close == 0
    days = np.datetime64("2020-01-01") + np.where(town, draw.integers(0, 3_000, town.size), draw.integers(0, 9, 660))
    assert count_pay(town, days).close == 0


@given(ROWS)
def test_a_known_secret_is_compared_among_those_who_share_what_else_is_known(rows):
    x, y, z = (list(column) for column in zip(*rows, strict=True))
    table = {"x": x, "y": y, "z": z}
    found = count_disclosed_secrets(table, quasi_identifiers=["x", "y", "z"], sensitive=["z", "x"])
    (of_z,) = count_disclosed_secrets(table, quasi_identifiers=["x", "y"], sensitive=["z"]).columns
    (of_x,) = count_disclosed_secrets(table, quasi_identifiers=["y", "z"], sensitive=["x"]).columns
    assert found.columns == (of_z, of_x)


def test_nothing_is_disclosed_to_somebody_who_knows_nothing_else():
    table = {"grade": [1, 2, 3, 3, 3] * 40}
    (grade,) = count_disclosed_secrets(table, quasi_identifiers=["grade"], sensitive=["grade"]).columns
    assert (grade.records, grade.certain, grade.news) == (200, 0, 0)
