"""Kept columns that follow from quasi-identifiers, counted in plain Python."""

import tracemalloc
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from incrowd import read_table
from incrowd.backends import encode
from incrowd.measures import kept_column_facts, missing_cells
from incrowd.measures.compared_release import ComparedRelease
from incrowd.tables.suggest_reading import find_not_asked_values

ROWS = 3_000


def in_tens(values):
    return [f"[{value // 10 * 10};{value // 10 * 10 + 9}]" for value in values]


def people(draw):
    table = {"age": draw.integers(20, 70, ROWS), "region": draw.integers(0, 12, ROWS)}
    return table, {"age": in_tens(table["age"]), "region": [f"{{{value // 4}}}" for value in table["region"]]}


def altered(cells, share, draw):
    wrong = draw.random(len(cells)) < share
    return np.where(wrong, draw.permutation(cells), cells)


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_column_that_follows_from_two_coarsened_ones_counts_as_known(share):
    draw = np.random.default_rng(0)
    before, after = people(draw)
    tariffs = draw.choice(list("abcdef"), (70, 12))  # of no order, so that no formula tells them
    tariff = altered(tariffs[before["age"], before["region"]], share, draw)
    kept = {"tariff": tariff, "noise": draw.choice(list("xyz"), ROWS)}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], list(kept))
    classes = Counter(zip(after["age"], after["region"], tariff, strict=True))
    assert (fact.column, {fact.gives_back, *fact.others}) == ("tariff", {"age", "region"})
    assert fact.k == min(classes.values())
    assert fact.told >= 1 - 3 * share


def test_bands_that_cross_the_released_ranges_count_as_known():
    draw = np.random.default_rng(1)
    before, after = people(draw)
    kept = {"band": np.array(["low", "middle", "high", "top"])[np.digitize(before["age"], [24, 35, 57])]}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["band"])
    classes = Counter(zip(after["age"], after["region"], kept["band"], strict=True))
    assert (fact.column, fact.gives_back, fact.k) == ("band", "age", min(classes.values()))


def test_a_value_that_nobody_expects_makes_no_class_smaller():
    """Children are not asked, and nobody outside knows who of the others said yes."""
    draw = np.random.default_rng(2)
    before, after = people(draw)
    asked = np.where(before["age"] < 30, "a child", np.where(draw.random(ROWS) < 0.004, "yes", "no"))
    facts = kept_column_facts({**before, "a": asked}, {**after, "a": asked}, list(before), ["a"])
    assert not any(fact.undoes for fact in facts)
    moved = np.where(before["age"] < 35, "a child", np.where(draw.random(ROWS) < 0.004, "yes", "no"))
    (fact,) = kept_column_facts({**before, "a": moved}, {**after, "a": moved}, list(before), ["a"])
    expected = Counter(cells for cells in zip(after["age"], after["region"], moved, strict=True) if cells[2] != "yes")
    assert (fact.column, fact.k) == ("a", min(expected.values()))


@pytest.mark.parametrize("secrets", [(), ("band",)])
def test_a_secret_that_some_refuse_to_tell_follows_too(secrets):
    draw = np.random.default_rng(1)
    before, after = people(draw)
    band = np.array(["low", "middle", "high", "top"])[np.digitize(before["age"], [24, 35, 57])]
    kept = {"band": [None if draw.random() < 0.03 else one for one in band]}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["band"], secrets=secrets)
    classes = Counter(cells for cells in zip(after["age"], after["region"], kept["band"], strict=True) if cells[2])
    assert (fact.column, fact.gives_back, fact.k) == ("band", "age", min(classes.values()))
    assert fact.kind != "expected value"


def test_parts_of_a_code_that_only_together_give_it_back_follow_from_it():
    draw = np.random.default_rng(3)
    before, after = people(draw)
    letters = np.array(list("qwertyuiop"))
    mixed = draw.permutation(100)[before["age"]]  # parts of a code that no number tells
    kept = {"first": letters[mixed // 10], "second": letters[::-1][mixed % 10]}
    facts = kept_column_facts(before | kept, after | kept, ["age", "region"], list(kept))
    assert [(fact.column, fact.gives_back) for fact in facts] == [("first", "age"), ("second", "age")]


@pytest.mark.parametrize("copies", [1, 30])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
def test_few_values_of_each_area_that_other_areas_have_too_count_as_known(share, copies):
    """Every village has three of forty rates; in a large table only some of the villages are compared first."""
    draw = np.random.default_rng(5)
    village = np.tile(draw.integers(0, 60, ROWS), copies) + 60 * np.repeat(np.arange(copies), ROWS)
    rates = draw.integers(0, 40, (60 * copies, 3))
    rate = altered(rates[village, draw.integers(0, 3, village.size)] / 8, share, draw)
    before, after = {"village": village}, {"village": in_tens(village)}
    kept = {"rate": rate, "income": draw.choice(np.unique(rate), village.size)}
    (fact,) = kept_column_facts(before | kept, after | kept, ["village"], list(kept))
    assert (fact.column, fact.gives_back, fact.kind, fact.undoes) == ("rate", "village", "following column", True)
    assert fact.k == min(Counter(zip(after["village"], rate, strict=True)).values())
    assert fact.by_chance < 0.1 < 0.9 < fact.told
    told = kept_column_facts(before | kept, after | kept, ["village"], list(kept), secrets=["rate"])
    assert [one.is_reported_only(["rate"], 11) for one in told] == [True]


def test_answers_of_the_only_people_who_were_asked_follow_from_nothing():
    """Occupations of the employed: nobody else has one to compare with, and each is a person's own."""
    draw = np.random.default_rng(5)
    status = draw.choice(["employed", "retired", "student"], ROWS, p=[0.6, 0.2, 0.2])
    asked = pa.array(draw.choice([*"abcdef"], ROWS), mask=status != "employed")
    released = np.where(status == "employed", status, "{retired,student}")
    before, after = {"status": status, "occupation": asked}, {"status": released, "occupation": asked}
    assert kept_column_facts(before, after, ["status"], ["occupation"]) == ()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [200, 1_000, 3_000])
def test_noise_follows_from_nothing(rows, seed):
    draw = np.random.default_rng(seed)
    before, after = people(draw)
    before, after = ({name: values[:rows] for name, values in table.items()} for table in (before, after))
    kept = {f"x{size}": draw.choice([f"v{number}" for number in range(size)], rows) for size in (2, 3, 5, 20, 60)}
    kept["rare"] = np.where(draw.random(rows) < 0.03, "yes", "no")
    kept["older"] = np.where(draw.random(rows) < before["age"] / 70, "yes", "no")
    assert kept_column_facts(before | kept, after | kept, ["age", "region"], list(kept)) == ()


def asked_where(is_asked, draw):
    """Answers of those who were asked; nobody can guess them."""
    return [value if asked else None for value, asked in zip(draw.choice(list("abc"), ROWS), is_asked, strict=True)]


def smallest(after, *columns):
    """The smallest class by ages and regions, and by which cells of other columns are missing."""
    flags = [[cell is None for cell in column] for column in columns]
    return min(Counter(zip(after["age"], after["region"], *flags, strict=True)).values())


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_which_cells_are_missing_counts_as_known_of_a_secret(share):
    draw = np.random.default_rng(4)
    before, after = people(draw)
    kept = {"a": asked_where(altered(before["age"] < 34, share, draw), draw)}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], secrets=["a"])
    assert (fact.column, fact.gives_back, fact.kind) == ("a", "age", "missing cells")
    thirties = [place for place, label in enumerate(after["age"]) if label == "[30;39]"]  # only there somebody is told
    assert (fact.k, fact.k_without) == (smallest(*at(thirties, after, kept["a"])), smallest(after))
    assert fact.undoes


def at(places, after, cells):
    """Some rows of a release and of a kept column."""
    return {name: [column[place] for place in places] for name, column in after.items()}, [cells[i] for i in places]


@pytest.mark.parametrize("refused", [0.08, 0.15, 0.4])
def test_a_skip_pattern_beside_many_refusals_counts_as_known(refused):
    draw = np.random.default_rng(7)
    before, after = people(draw)
    kept = {"a": asked_where((before["age"] >= 34) & (draw.random(ROWS) >= refused), draw)}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], secrets=["a"])
    thirties = [place for place, label in enumerate(after["age"]) if label == "[30;39]" and kept["a"][place] is None]
    assert (fact.column, fact.gives_back, fact.kind) == ("a", "age", "missing cells")
    assert fact.k == smallest(*at(thirties, after, kept["a"]))  # whoever is 30 is among those without an answer
    mixed = draw.permutation(ROWS)
    released = {name: [column[place] for place in mixed] for name, column in (after | kept).items()}
    assert kept_column_facts(before | kept, released, ["age", "region"], ["a"], secrets=["a"]) == (fact,)


@pytest.mark.parametrize(
    ("code", "answers"), [(-9, [1, 2, 3]), (99, [0, 1, 2]), ("Sans objet", list("xyz")), ("N/A", list("xyz"))]
)
def test_a_code_for_those_who_were_not_asked_counts_as_a_missing_cell(code, answers):
    draw = np.random.default_rng(7)
    before, after = people(draw)
    given = draw.integers(0, 3, ROWS)
    kept = {"a": [answers[one] if age >= 34 else code for one, age in zip(given, before["age"], strict=True)]}
    nulls = {"a": [None if value == code else value for value in kept["a"]]}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], secrets=["a"])
    assert (fact,) == kept_column_facts(before | nulls, after | nulls, ["age", "region"], ["a"], secrets=["a"])
    assert (fact.column, fact.gives_back, fact.kind) == ("a", "age", "missing cells")


def test_a_code_and_a_missing_cell_are_told_apart():
    draw = np.random.default_rng(7)
    before, after = people(draw)
    kept = {"a": [None if age < 34 else -9 if age < 40 else int(draw.integers(1, 9)) for age in before["age"]]}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], secrets=["a"])
    sorts = Counter(zip(after["age"], after["region"], kept["a"], strict=True))
    assert fact.k == min(size for (label, _, _), size in sorts.items() if label == "[30;39]")


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, -1, -2, -8, -9], 4),
        ([1, -3, -40], 0),
        (["x", "-9", "."], 2),
        (["does not apply", "no"], 1),
        ([0.5, -9.0], 1),
    ],
)
def test_usual_codes_say_that_nothing_was_asked(values, codes):
    assert sum(find_not_asked_values(pa.array(values)).to_pylist()) == codes


def test_a_skip_pattern_counts_as_known_where_every_age_has_few_records():
    draw = np.random.default_rng(10)
    before = {"age": draw.integers(0, 60, 720)}  # a dozen of each
    ranges = np.array(["[0;13]", "[14;28]", "[29;43]", "[44;59]"])
    after = {"age": list(ranges[np.digitize(before["age"], [14, 29, 44])])}
    kept = {"a": [None if age < 16 or draw.random() < 0.3 else "x" for age in before["age"]]}
    (fact,) = kept_column_facts(before | kept, after | kept, ["age"], ["a"], secrets=["a"])
    told = Counter(label for label, cell in zip(after["age"], kept["a"], strict=True) if cell is None)
    assert fact.k == told["[14;28]"]  # who is 14 or 15 is among those without an answer


@pytest.mark.parametrize(("sexes", "not_asked", "refused"), [(1, 6, 0), (2, 6, 0), (1, 6, 3), (1, 2, 0)])
def test_people_of_rare_values_who_were_not_asked_count_as_known(sexes, not_asked, refused):
    """Incomes above 35,000 that one person each has, and that were not asked as those of the next range were not."""
    usual = [income for income in range(20_000, 60_001, 1_000) if not 35_000 <= income < 40_000]
    incomes = np.array([*np.repeat(usual, 50), *(35_001 + 137 * np.arange(not_asked))])
    kept = {"a": ["x" if income < 35_000 else None for income in incomes]}
    for place in range(refused):
        kept["a"][place * 50] = None
    before = {"income": incomes, "sex": np.arange(incomes.size) % sexes}
    tens = [f"[{income // 10_000 * 10_000};{income // 10_000 * 10_000 + 9_999}]" for income in incomes]
    after = {**before, "income": tens}
    (fact,) = kept_column_facts(before | kept, after | kept, list(before), ["a"], coarse=["income"], secrets=["a"])
    assert (fact.gives_back, fact.k, fact.k_without) == ("income", not_asked // sexes, 50 // sexes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("refused", [0.02, 0.04])
def test_those_of_rare_values_who_refuse_are_not_found(refused, seed):
    draw = np.random.default_rng(seed)
    incomes = np.array([*np.repeat(range(20_000, 60_000, 1_000), 40), *draw.integers(20_000, 60_000, 400)])
    kept = {"a": ["x" if income < 40_000 and draw.random() >= refused else None for income in incomes]}
    after = {"income": [f"[{income // 10_000 * 10_000};{income // 10_000 * 10_000 + 9_999}]" for income in incomes]}
    assert kept_column_facts({"income": incomes} | kept, after | kept, ["income"], ["a"], secrets=["a"]) == ()


def test_a_skip_pattern_by_two_columns_beside_refusals_counts_as_known():
    draw = np.random.default_rng(8)
    before, after = people(draw)
    before["sex"] = after["sex"] = draw.choice(["f", "m"], ROWS)
    asked = (before["sex"] == "f") & (before["age"] >= 34) & (draw.random(ROWS) >= 0.3)
    kept = {"a": asked_where(asked, draw)}
    named = {"coarse": ["age", "region"], "secrets": ["a"]}
    (fact,) = kept_column_facts(before | kept, after | kept, list(before), ["a"], **named)
    women = [i for i in range(ROWS) if (after["age"][i], after["sex"][i]) == ("[30;39]", "f") and not asked[i]]
    assert (fact.gives_back, fact.k) == ("age", smallest(*at(women, after, kept["a"])))


@pytest.mark.parametrize("refused", [0.004, 0.02, 0.1])
def test_those_who_refuse_beside_a_skip_pattern_are_not_found(refused):
    """Who is not asked is told by the ranges that are released, and nobody knows who of the others did not answer."""
    draw = np.random.default_rng(9)
    before, after = people(draw)
    kept = {"a": asked_where((before["age"] >= 30) & (draw.random(ROWS) >= refused), draw)}
    assert kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], secrets=["a"]) == ()


def test_a_plain_value_among_ranges_stands_for_itself_alone():
    """Who is 30 was asked, as their label says, so that those of 30 who refused are not found."""
    draw = np.random.default_rng(9)
    ages = draw.integers(20, 34, ROWS)
    after = {"age": ["[20;29]" if age < 30 else str(age) for age in ages]}
    kept = {"a": asked_where((ages >= 30) & (draw.random(ROWS) >= 0.05), draw)}
    assert kept_column_facts({"age": ages} | kept, after | kept, ["age"], ["a"], secrets=["a"]) == ()


def test_missing_cells_that_do_no_harm_alone_are_counted_together():
    ages = [29] * 25 + [age for age in range(30, 36) for _ in range(20)]
    table = {"age": ages * 2, "sex": ["f"] * 145 + ["m"] * 145}
    after = {**table, "age": ["[20;29]" if age < 30 else "[30;35]" for age in table["age"]]}
    kept = {f"from{start}": [None if age < start else "x" for age in table["age"]] for start in (33, 34)}

    def facts(names):
        return kept_column_facts(table | kept, after | kept, ["age", "sex"], names, coarse=["age"], secrets=names)

    assert [facts([name]) for name in kept] == [(), ()]
    (fact,) = facts(list(kept))  # those of 33 are told by both together
    assert (fact.column, fact.k, fact.k_without) == ("from34", 20, 25)


def test_missing_cells_count_together_by_the_column_that_tells_most_of_them():
    ages = ([29] * 25 + [age for age in range(30, 36) for _ in range(20)]) * 2
    table = {"age": ages, "region": [7 if age == 29 else place % 3 for place, age in enumerate(ages)]}
    after = {"age": ["[20;29]" if age < 30 else "[30;35]" for age in ages]}
    after["region"] = ["{7}" if age < 30 else "{0,1,2}" for age in ages]
    kept = {f"from{start}": [None if age < start else "x" for age in ages] for start in (33, 34)}
    facts = kept_column_facts(table | kept, after | kept, list(table), list(kept), secrets=list(kept))
    assert [(fact.column, fact.k, fact.k_without) for fact in facts] == [("from34", 40, 50)]


@pytest.mark.parametrize("refused", [0.0, 0.02])
def test_missing_cells_that_follow_from_what_is_released_as_it_was_give_nothing_back(refused):
    draw = np.random.default_rng(5)
    before, after = people(draw)
    after["region"] = before["region"]
    is_asked = (before["region"] > 2) & (draw.random(ROWS) >= refused)
    kept = {"a": asked_where(is_asked, draw)}
    named = {"coarse": ["age"], "secrets": ["a"]}
    assert kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], **named) == ()
    kept = {"a": asked_where(is_asked & (before["age"] != 69), draw)}  # now ages tell more than regions do
    (fact,) = kept_column_facts(before | kept, after | kept, ["age", "region"], ["a"], **named)
    told = [i for i, label in enumerate(after["age"]) if label == "[60;69]" and after["region"][i] > 2]
    assert (fact.gives_back, fact.k) == ("age", smallest(*at(told, after, kept["a"])))


def pensioners(not_asked):
    """Wages that nobody above 65 has, few years of school mostly among the old, and ranges that keep those apart."""
    chance = np.random.default_rng(5)
    age = np.repeat(np.arange(20, 90), 60)
    school = np.where(chance.random(age.size) < np.where(age > 65, 0.3, 0.01), 5, chance.integers(8, 13, age.size))
    has_none = (age > 65) | (chance.random(age.size) < 0.35) | (not_asked & (school == 5))
    wage = pa.array(chance.integers(10, 60, age.size), mask=has_none)
    ranges = [f"[{low};{low + 22}]" for low in np.where(age > 65, 66, np.where(age > 42, 43, 20))]
    before = {"age": age, "school": school, "wage": wage}
    return before, {"age": ranges, "school": ["[5;12]"] * age.size, "wage": wage}


@pytest.mark.parametrize("not_asked", [False, True])
def test_missing_cells_that_another_column_explains_are_not_given_back_by_this_one(not_asked):
    before, after = pensioners(not_asked)
    young = before["age"] <= 65
    missing = before["wage"].is_null().to_numpy(zero_copy_only=False)
    few = before["school"] == 5
    assert np.mean(missing[few]) > 0.9  # school predicts them, by way of age
    assert (np.mean(missing[few & young]) > 0.9) == not_asked
    facts = kept_column_facts(before, after, ["age", "school"], ["wage"])
    assert [fact.gives_back for fact in facts if fact.kind == "missing cells"] == (["school"] if not_asked else [])


def test_cells_that_are_missing_at_random_give_nothing_back():
    draw = np.random.default_rng(6)
    before, after = people(draw)
    kept = {f"x{share}": asked_where(draw.random(ROWS) > share, draw) for share in (0.01, 0.2, 0.5, 0.98)}
    assert kept_column_facts(before | kept, after | kept, list(before), list(kept), secrets=list(kept)) == ()


TEXTS = [
    "Not applicable",
    "n/a",
    "N. A.",
    "ENTFÄLLT",
    "non concernée",
    "não se aplica",
    "yes",
    "no",
    "1 (skip)",
    "",
    " ",
    "Ж",
]


def test_few_texts_say_the_same_as_many(monkeypatch):
    values = pa.array([*TEXTS, None])
    one_by_one = find_not_asked_values(values).to_pylist()
    monkeypatch.setattr("incrowd.tables.suggest_reading._AT_ONCE", 0)
    assert (
        find_not_asked_values(values).to_pylist()
        == one_by_one
        == [True] * 6 + [False, False, True, False, False, False, True]
    )


def asked_by_age(columns, rows):
    """A table whose columns are each missing below an age of their own, with those who refuse, in ranges and before."""
    draw = np.random.default_rng(8)
    before = {"age": draw.integers(20, 70, rows), "region": draw.integers(0, 4, rows)}
    kept = {}
    for number in range(columns):
        gone = (before["age"] < 22 + number) | (draw.random(rows) < 0.02)
        kept[f"q{number}"] = pa.array(draw.integers(0, 5, rows), mask=gone)
    return before | kept, before | {"age": in_tens(before["age"])} | kept, list(kept)


def test_patterns_that_memory_does_not_hold_are_found_again(monkeypatch):
    before, after, kept = asked_by_age(8, ROWS)
    kept = [*kept, *(f"again {name}" for name in kept)]  # missing in the same records
    for table in (before, after):
        table |= {f"again {name}": table[name] for name in kept[:8]}
    facts = kept_column_facts(before, after, ["age", "region"], kept)
    assert facts
    monkeypatch.setattr(missing_cells, "patterns_held", lambda table, known: 1)
    assert kept_column_facts(before, after, ["age", "region"], kept) == facts


def test_patterns_of_missing_cells_keep_to_the_memory():
    before, after, kept = asked_by_age(40, 20_000)
    known, others = (encode(read_table(before), names) for names in (["age", "region"], kept))
    released = read_table(after, memory="50MB")
    assert missing_cells.patterns_held(released, 2) == 11
    encode(released, [*before])
    tracemalloc.start()
    facts = list(missing_cells.facts_of_missing_cells(others, ComparedRelease(known, released, ["age"])))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert facts
    assert peak < 12_000_000  # of 800,000 cells; 23 million where every pattern is held


@pytest.mark.parametrize(("altered_share", "decides"), [(0.0, True), (0.0004, True), (0.02, False)])
def test_a_secret_that_is_computed_from_quasi_identifiers_is_none(altered_share, decides):
    draw = np.random.default_rng(8)
    before, after = people(draw)
    kept = {"over_45": altered(np.where(before["age"] > 45, "yes", "no"), altered_share, draw)}
    facts = kept_column_facts(before | kept, after | kept, list(before), ["over_45"], secrets=["over_45"])
    (fact,) = [one for one in facts if one.kind in ("following column", "computed column")]
    assert (fact.kind == "computed column", fact.is_reported_only(["over_45"], 11)) == (decides, not decides)
    halves = Counter(zip(after["age"], after["region"], kept["over_45"], strict=True))
    assert fact.k == min(halves.values())


@pytest.mark.parametrize("names", [["age", "hint"], ["hint", "age"]])
def test_the_order_of_quasi_identifiers_hides_no_function(names):
    """A hint tells the tariff for 98 % of the people, and the age for all."""
    draw = np.random.default_rng(2)
    age = draw.integers(20, 70, 6_000)
    code = draw.permutation(70)[age] % 3
    hint = np.where(draw.random(age.size) < 0.03, draw.integers(0, 30, age.size), code + 3 * (age % 10))
    before = {"age": age, "hint": hint, "tariff": np.array([*"pqs"])[code]}
    after = before | {"age": in_tens(age), "hint": in_tens(hint)}
    (fact,) = kept_column_facts(before, after, names, ["tariff"], secrets=["tariff"])
    assert (fact.gives_back, fact.others, fact.told, fact.kind) == ("age", (), 1.0, "computed column")
    assert not fact.is_reported_only(["tariff"], 11)
    assert fact.k == min(Counter(zip(*(after[name] for name in (*names, "tariff")), strict=True)).values())


@pytest.mark.parametrize("names", [["age", "region"], ["region", "age"]])
def test_a_function_of_two_columns_is_one_though_the_first_nearly_tells_it(names):
    draw = np.random.default_rng(2)
    age, region = draw.integers(20, 70, 6_000), draw.choice([*"ABCDEFGH"], 6_000, p=[0.04] + [0.96 / 7] * 7)
    code = draw.permutation(70)[age] % 3
    before = {"age": age, "region": region, "tariff": np.array([*"pqs"])[np.where(region == "A", code + 1, code) % 3]}
    after = before | {"age": in_tens(age)}
    (fact,) = kept_column_facts(before, after, names, ["tariff"], coarse=["age"], secrets=["tariff"])
    assert ({fact.gives_back, *fact.others}, fact.told, fact.kind) == ({"age", "region"}, 1.0, "computed column")
    assert fact.k == min(Counter(zip(after["age"], region, before["tariff"], strict=True)).values())


@pytest.mark.parametrize("secrets", [(), ("over_50",)])
def test_a_column_that_is_computed_from_days_of_birth_counts_as_known(secrets):
    """Most days have one person, of whom nobody else tells anything; the few that are shared show the rule."""
    draw = np.random.default_rng(5)
    born = np.sort(draw.integers(0, 20_000, 2_000))
    days = np.datetime64("1950-01-01") + born
    label = np.repeat([f"[{days[start]};{days[start + 99]}]" for start in range(0, 2_000, 100)], 100)
    kept = {"over_50": np.where(np.arange(2_000) < 905, "yes", "no")}  # five people of the tenth class
    (fact,) = kept_column_facts({"born": days} | kept, {"born": label} | kept, ["born"], ["over_50"], secrets=secrets)
    assert (fact.gives_back, fact.told, fact.kind) == ("born", 1.0, "computed column")
    assert (fact.k, fact.k_without) == (5, 100)


def test_people_of_one_household_predict_nobody_else():
    """Those who share an exact rent are mostly one household; of all others nobody can tell the region by it."""
    draw = np.random.default_rng(6)
    home = np.repeat(np.arange(3_000), np.where(draw.random(3_000) < 0.1, 2, 1))
    rent, region = draw.integers(30_000, 150_000, 3_000)[home], draw.choice([*"ABCDEFGH"], 3_000)[home]
    order = np.argsort(rent, kind="stable")
    labels = np.empty(rent.size, dtype=object)
    for part in np.array_split(order, rent.size // 25):
        labels[part] = f"[{rent[part].min()};{rent[part].max()}]"
    facts = kept_column_facts(
        {"rent": rent, "region": region}, {"rent": labels, "region": region}, ["rent"], ["region"]
    )
    assert [one for one in facts if one.undoes and not one.is_reported_only([], 11)] == []
