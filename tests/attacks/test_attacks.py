"""Every kind of attack: known answers, no success on independent releases, more success the more is copied."""

from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from incrowd import InputError, UnsupportedError
from incrowd.attacks import KINDS, attack, attack_release, singling_out, split_table, synthesise
from incrowd.attacks.api import ATTACKS
from incrowd.attacks.membership import area
from incrowd.attacks.result import excess, wilson

EVERY = [(kind, method) for kind, ways in ATTACKS.items() for method in ways if kind != "linkage"]
KNOWN = ["age", "job", "zip", "pay"]


def population(size, seed):
    """People whose illness depends on age and job."""
    draws = np.random.default_rng(seed)
    age = draws.integers(20, 70, size)
    job = draws.integers(0, 8, size)
    ill = (draws.random(size) < 0.15 + 0.5 * (age > 50) + 0.02 * job).astype(int) + (job == 3)
    return {
        "age": age,
        "job": np.array([f"job {one}" for one in range(8)])[job],
        "zip": np.array([f"{one:03d}" for one in range(60)])[draws.integers(0, 60, size)],
        "pay": np.round(draws.lognormal(3, 0.4, size), 2),
        "ill": np.array(["no", "yes", "badly"])[ill],
    }


def arguments(kind):
    return {"secret": "ill"} if kind in ("inference", "attribution") else {}


@pytest.mark.parametrize(("kind", "method"), EVERY)
def test_a_release_of_other_people_gives_nobody_away(kind, method):
    """Type I error: at most 5 % of the 95 % intervals exclude 0 where original and holdout are alike to the release."""
    wrong = 0
    for seed in range(20):
        original, released, holdout = (population(400, [seed, part]) for part in range(3))
        found = attack(
            original, released, kind=kind, method=method, known=KNOWN, holdout=holdout, targets=200, seed=seed,
            **arguments(kind),
        )  # fmt: skip
        wrong += found.proven
    assert wrong <= 2  # of 20 with a chance of 2.5 % each, more than 2 come up once in a hundred times


@pytest.mark.parametrize(("kind", "method"), [one for one in EVERY if one != ("inference", "learnt")])
def test_the_more_rows_are_copied_the_more_an_attack_succeeds(kind, method):
    original, holdout = population(600, 1), population(600, 2)
    risks = []
    for copied in (0.0, 0.5, 1.0):
        released = synthesise(original, model="independent", copied=copied, seed=3).table
        found = attack(
            original, released, kind=kind, method=method, known=KNOWN, holdout=holdout, targets=600, **arguments(kind)
        )
        risks.append(found.risk)
    assert risks[0].value < risks[1].value < risks[2].value
    assert risks[2].low > 0.1


def test_a_learnt_model_knows_the_population_and_not_its_people():
    original, holdout = population(2000, 1), population(2000, 2)
    found = attack(original, original, kind="inference", method="learnt", known=KNOWN, secret="ill", holdout=holdout)
    assert found.attack.value > found.chance + 0.05
    assert found.risk.value < 0.2


def test_nobody_is_singled_out_by_the_columns_that_were_looked_at_and_that_is_all_it_says():
    table = {"age": [30, 40] * 20, "town": ["a", "b"] * 20, "code": list(range(40))}
    found = attack(table, table, kind="singling-out", known=["age", "town"])
    (note,) = (one for one in found.notes if "singled" in one)
    assert note.startswith("nobody is singled out by age, town")
    assert note.endswith("other columns were not tried")


def test_singling_out_counts_as_brute_force_does():
    original, released = population(120, 4), population(120, 5)
    found = attack(original, released, kind="singling-out", method="univariate", known=["pay", "zip"], targets=50)
    pays, zips = list(released["pay"]), list(released["zip"])
    singles = [("pay", one) for one in set(pays) if pays.count(one) == 1]
    singles += [("zip", one) for one in set(zips) if zips.count(one) == 1]
    singles += [("low", min(pays)), ("high", max(pays))]
    own = list(original["pay"])
    hits = {
        "pay": own.count,
        "zip": list(original["zip"]).count,
        "low": lambda one: sum(pay <= one for pay in own),
        "high": lambda one: sum(pay >= one for pay in own),
    }
    possible = [hits[column](one) == 1 for column, one in singles]
    everything = attack(original, released, kind="singling-out", method="univariate", known=["pay", "zip"], targets=120)
    assert everything.targets <= len(singles)
    assert everything.attack.value * everything.targets <= sum(possible) + 1e-9
    assert 0 < found.targets <= 50


@pytest.mark.parametrize("method", ["multivariate", "univariate"])
def test_singling_out_without_a_holdout_takes_no_chance_off(method):
    draws = np.random.default_rng(5)
    original, others = ({name: draws.integers(0, 10**6, 400).astype(str) for name in "abc"} for _ in range(2))
    copied = np.arange(400) < 140  # 35 % of the people, fewer than a predicate of weight 1/n may isolate by chance
    released = {name: np.where(copied, column, others[name]) for name, column in original.items()}
    found = attack(original, released, kind="singling-out", method=method, known=["a", "b", "c"])
    assert found.risk == found.attack
    assert found.risk.low > 0.25
    assert any("upper bound" in note for note in found.notes)


def test_thinning_makes_different_sizes_comparable():
    """A predicate that fits two of four people isolates one of two with the chance 2/3."""
    from incrowd.attacks.singling_out import _isolates

    assert _isolates(np.array([2]), 4, 2)[0] == pytest.approx(float(Fraction(2, 3)))
    assert _isolates(np.array([0, 1, 4]), 4, 4).tolist() == pytest.approx([0, 1, 0])


def test_the_cap_family_on_a_table_that_is_counted_by_hand():
    original = {"key": ["a", "a", "b", "c", "d"], "secret": ["x", "x", "x", "y", "y"]}
    released = {"key": ["a", "a", "a", "b", "c"], "secret": ["x", "x", "y", "x", "x"]}
    found = attack(original, released, kind="attribution", known=["key"], secret="secret")
    caps = [Fraction(2, 3), Fraction(2, 3), Fraction(1), Fraction(0), Fraction(0)]
    assert found.attack.value == pytest.approx(float(sum(caps) / 5))
    assert found.measures["people without a match"] == pytest.approx(1 / 5)
    assert found.measures["CAP of people with a match"] == pytest.approx(float(sum(caps) / 4))
    assert found.measures["disclosive and correct (DiSCO)"] == pytest.approx(1 / 5)  # b
    assert found.measures["WEAP"] == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1) / 5)
    assert found.measures["TCAP"] == pytest.approx(1 / 2)  # b is right, c is wrong
    assert found.chance == pytest.approx((4 / 5 * 3 + 1 / 5 * 2) / 5)


def test_area_under_the_curve_counts_pairs():
    draws = np.random.default_rng(0)
    members, outsiders = draws.integers(0, 9, 40).astype(float), draws.integers(0, 7, 30).astype(float)
    pairs = [(one > other) + 0.5 * (one == other) for one in members for other in outsiders]
    assert area(members, outsiders).value == pytest.approx(np.mean(pairs))


def test_intervals_are_those_of_wilson_and_newcombe():
    first, second = wilson(56, 70), wilson(48, 80)  # Newcombe (1998), table II, (a): 0.2, 0.0524 to 0.3339
    assert first[1:] == pytest.approx((0.6921, 0.8771), abs=2e-3)
    found = excess(first, second)
    assert np.array(found) * (1 - second.value) == pytest.approx([0.2, 0.0524, 0.3339], abs=1e-4)


def test_nearest_neighbours_are_those_of_a_plain_search():
    from incrowd.attacks.setting import AttackOptions, prepare
    from incrowd.tables import read_table

    original, released = population(80, 1), population(300, 2)
    tables = [read_table(one) for one in (original, released)]
    setting = prepare(tables, ["age", "job", "pay"], (), targets=80, seed=0, options=AttackOptions())
    distances, rows = setting.gallery(setting.known, 1, 0).nearest(
        setting.probes(setting.known, 0, np.arange(80)), wanted=3
    )
    ranges = {name: np.ptp(np.concatenate([original[name], released[name]])) for name in ("age", "pay")}
    for person in range(80):
        gaps = (original["job"][person] != released["job"]).astype(float)
        for name, width in ranges.items():
            gaps += np.abs(original[name][person] - released[name]) / width
        order = np.argsort(gaps, kind="stable")[:3]
        np.testing.assert_allclose(distances[person], gaps[order])
        assert rows[person, 0] == order[0]


def test_who_is_found_again_and_again():
    original, holdout = population(500, 1), population(500, 2)
    copied = {name: np.concatenate([column[:100], holdout[name][::-1][:400]]) for name, column in original.items()}
    found = attack_release(original, copied, known=KNOWN, secret="ill", targets=500)
    exposed = found.exposed()
    assert exposed
    assert np.mean([one.row < 100 for one in exposed]) > 0.75  # those who were copied, a fifth of all
    groups = {**original, "group": np.array(["copied"] * 100 + ["not"] * 400)}
    first, second = found.by_group(groups, "group")
    assert first.group == "copied"
    assert first.success.low > second.success.high
    with pytest.raises(UnsupportedError, match="rows"):
        found.by_group(population(10, 3), "job")


def test_several_attackers_stand_side_by_side():
    original = population(300, 1)
    found = attack_release(
        original, original, known={"neighbour": ["age", "zip"], "employer": ["job", "pay"]}, kinds=["linkage"]
    )
    assert found.attackers == ("neighbour", "employer")
    assert [one.known for one in found.attacks] == [("age", "zip"), ("job", "pay")]


def test_what_cannot_be_run_is_said():
    found = attack_release(population(50, 1), population(60, 2), known=KNOWN)
    assert {"linkage", "inference", "attribution", "membership"} <= set(found.not_run)
    assert "whose record" in found.not_run["linkage"]
    found = attack_release(population(50, 1), population(60, 2), known=KNOWN, kinds=["linkage"])
    assert found.worst is None
    assert found.sentence == "No attack could be run, so nothing is known about the release."


def test_an_attacker_called_distances_hides_no_attack_that_was_not_run():
    original, released = population(50, 1), population(50, 2)
    found = attack_release(original, released, known={"distances": KNOWN}, kinds=["linkability", "membership"])
    assert set(found.not_run) == {"distances membership"}
    assert not found.within(1.0)
    assert "distances membership" in found.reason_against(1.0)


def test_a_date_is_guessed_within_a_share_of_the_range_of_dates():
    days = [date(2020, 1, 1) + timedelta(days) for days in range(0, 1000, 10)]
    original = {"key": [f"{place:02d}" for place in range(100)], "visit": days}
    for off, right in ((49, 1.0), (60, 0.0)):  # days, of a range of 1,050 days at most
        released = {"key": original["key"], "visit": [day + timedelta(off) for day in days]}
        found = attack(original, released, kind="inference", known=["key"], secret="visit", tolerance=0.05)
        assert found.attack.value == right


def test_records_that_are_equally_near_share_the_join_in_any_order():
    draws = np.random.default_rng(8)
    original, released = ({name: draws.integers(0, 4, 60).astype(str) for name in "abcd"} for _ in range(2))
    expected = []
    for person in range(60):
        near = []
        for names in (["a", "b"], ["c", "d"]):
            gaps = sum((released[name] != original[name][person]).astype(int) for name in names)
            near.append(set(np.flatnonzero(gaps == gaps.min()).tolist()))
        expected.append(len(near[0] & near[1]) / (len(near[0]) * len(near[1])))
    for order in (np.arange(60), draws.permutation(60)):
        shuffled = {name: column[order] for name, column in released.items()}
        found = attack(original, shuffled, kind="linkability", known=["a", "b"], others=["c", "d"])
        np.testing.assert_allclose(found.successes, expected)


def test_a_release_that_fits_nobody_joins_nothing():
    draws = np.random.default_rng(8)
    original, released = ({name: draws.integers(0, 10**9, 300).astype(str) for name in "ab"} for _ in range(2))
    released["a"][0] = original["a"][0]  # some value of the original occurs in the release
    assert attack(original, released, kind="linkability", known=["a", "b"]).risk.value < 0.01


def test_results_are_plain_and_repeatable():
    original, holdout = population(200, 1), population(200, 2)
    runs = [attack_release(original, original, secret="ill", holdout=holdout, seed=5).to_dict() for _ in range(2)]
    assert runs[0] == runs[1]
    assert "rows" not in runs[0]["attacks"][0]
    assert all(set(one["risk"]) == {"value", "low", "high"} for one in runs[0]["attacks"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "linkability", "others": ["ill"], "secret": "ill"}, "is among the columns of the second part"),
        ({"known": ["nothing"]}, "no column named 'nothing'"),
        ({"known": ["age"], "targets": 0}, "whole number of 1 or more"),
        ({"kind": "telepathy"}, "there is no attack 'telepathy'"),
        ({"method": "loud"}, "has no method 'loud'"),
        ({"kind": "inference"}, "name its column"),
        ({"tolerance": 2}, "tolerance"),
        ({"noise": {"pay": 1}, "known": ["age"]}, "which the attacker does not know"),
        ({"missing": 1.0}, "missing"),
        ({"population": 10}, "a population of 10"),
    ],
)
def test_options_that_make_no_sense_are_refused(change, message):
    table = population(50, 1)
    given = {"kind": "linkage"} | change
    with pytest.raises(InputError, match=message):
        attack(table, table, **given)


def test_tables_that_cannot_be_compared_are_refused():
    table = population(50, 1)
    with pytest.raises(InputError, match="no columns in common"):
        attack(table, {"other": [1, 2, 3]}, kind="distances")
    with pytest.raises(UnsupportedError, match="1 row"):
        attack(table, {name: column[:1] for name, column in table.items()}, kind="distances")
    with pytest.raises(InputError, match="no value of the original occurs in the release"):
        attack({"a": [1, 2, 3], "b": ["x", "y", "z"]}, {"a": [91, 92, 93], "b": ["p", "q", "r"]}, kind="distances")
    with pytest.raises(InputError, match="one value only"):
        attack({"a": [1, 1, 1]}, {"a": [1, 1]}, kind="distances")
    with pytest.raises(InputError, match="neither these nor ranges"):
        attack({"a": [1, 2, 3]}, {"a": ["one", "two", "three"]}, kind="distances")
    with pytest.raises(InputError, match=r"100% of the holdout's records are in the original"):
        attack(table, population(50, 2), kind="distances", holdout={k: column[:20] for k, column in table.items()})


def test_a_holdout_split_off_by_chance_is_not_refused():
    draws = np.random.default_rng(1)
    table = {
        "age": draws.integers(20, 60, 400),
        "zip": draws.integers(90, 99, 400),
        "sex": draws.choice(["f", "m"], 400),
        "illness": draws.choice(["a", "b", "c"], 400),
    }
    for seed in range(30):
        part, holdout = split_table(table, holdout=0.2, seed=seed)
        found = attack(part, part, kind="distances", known=list(table), holdout=holdout, targets=20)
        assert found.targets == 20


def test_messages_hold_no_cell():
    table = {"a": ["Smith", "Jones", "Miller"], "b": [1, 2, 3]}
    for released in ({"a": ["Secretname", "x", "y"], "b": ["Hidden", "2", "3"]},):
        with pytest.raises(InputError) as error:
            attack(table, released, kind="distances")
        assert not any(name in str(error.value) for name in ("Smith", "Secretname", "Hidden"))


def test_numbers_written_as_text_and_nulls_keep_their_meaning():
    original = {"a": [1, 2, 3, None], "b": ["x", "y", None, "z"]}
    released = {"a": ["1", "2", "3", None], "b": ["x", "y", None, "*"]}
    found = attack(original, released, kind="linkage", known=["a", "b"])
    assert found.attack.value == 1.0
    found = attack({"a": [1, 2, 3, 4]}, {"a": [1, 2, None, None]}, kind="linkage", known=["a"])
    # a null where the original has none is a cell that was taken out, and fits everybody
    np.testing.assert_allclose(found.successes, [1 / 3, 1 / 3, 1 / 2, 1 / 2])


def test_without_a_holdout_that_is_said():
    found = attack(population(100, 1), population(100, 2), kind="linkability", known=KNOWN)
    assert any("without a holdout" in note for note in found.notes)
    with pytest.raises(UnsupportedError, match="holdout"):
        attack(population(100, 1), population(100, 2), kind="membership", known=KNOWN)


def test_a_person_is_in_one_part_of_a_split_only():
    table = {"who": np.repeat(np.arange(100), 3), "wave": np.tile([1, 2, 3], 100)}
    kept, back = split_table(table, holdout=0.3, person="who", seed=1)
    assert not set(kept["who"].to_pylist()) & set(back["who"].to_pylist())
    assert (kept.num_rows, back.num_rows) == (210, 90)
    with pytest.raises(InputError, match="leaves a part without any"):
        split_table(table, holdout=0.0)


def test_synthetic_tables_have_the_margins_and_types_of_the_original():
    original = population(3000, 1)
    made = synthesise(original, seed=2).table
    assert made.schema.names == list(original)
    assert np.mean(made["age"].to_numpy() > 45) == pytest.approx(np.mean(original["age"] > 45), abs=0.04)
    old = np.array(made["age"].to_pylist()) > 50
    ill = np.array(made["ill"].to_pylist()) != "no"
    assert ill[old].mean() > ill[~old].mean() + 0.3  # the model keeps what depends on what
    free = synthesise(original, model="independent", seed=2).table
    old, ill = np.array(free["age"].to_pylist()) > 50, np.array(free["ill"].to_pylist()) != "no"
    assert abs(ill[old].mean() - ill[~old].mean()) < 0.06
    copies = synthesise(original, copied=1.0, rows=3000).table.to_pylist()
    rows = set(zip(*(column.tolist() for column in original.values()), strict=True))
    assert all(tuple(row.values()) in rows for row in copies)
    with pytest.raises(UnsupportedError, match="as names have"):
        synthesise({"name": [f"person {place}" for place in range(100)]})


def test_every_kind_is_listed():
    assert set(ATTACKS) == set(KINDS)


def test_predicates_of_one_column_are_counted_in_it_as_among_all_records(monkeypatch):
    draws = np.random.default_rng(8)

    def people(size):
        pay = draws.integers(0, 90, size).astype(float)
        pay[::17] = np.nan
        return {"pay": pa.array(pay, from_pandas=True), "town": draws.integers(0, 70, size).astype(str)}

    original, holdout = people(150), people(140)
    released = {name: column[:120] for name, column in original.items()}
    asked = {"kind": "singling-out", "method": "univariate", "holdout": holdout, "targets": 60}
    in_column = attack(original, released, **asked)
    monkeypatch.setattr(singling_out, "_are_exact", lambda setting: False)
    among_records = attack(original, released, **asked)
    assert in_column.to_dict() == among_records.to_dict()
    assert in_column.rows.tolist() == among_records.rows.tolist()
    assert in_column.successes.tolist() == among_records.successes.tolist()
    assert 0 < in_column.successes.sum() < 60
    for row in in_column.rows[in_column.rows >= 0].tolist():
        values = [original[name].tolist() if name == "town" else original[name].to_pylist() for name in original]
        pays = [one for one in values[0] if one is not None]
        alone = [column.count(column[row]) == 1 for column in values]
        assert any(alone) or values[0][row] in (min(pays), max(pays))


def test_a_secret_that_others_may_know_is_guessed_by_what_else_is_known():
    table, holdout = population(300, 1), population(300, 2)
    named = {"kind": "inference", "secret": "ill", "holdout": holdout, "seed": 3}
    with_it = attack(table, table, known=["age", "job", "ill"], **named)
    assert with_it.to_dict() == attack(table, table, known=["age", "job"], **named).to_dict()
    found = attack_release(
        table, table, known=["age", "job", "ill"], secret="ill", seed=3, kinds=["linkage", "inference"]
    )
    assert [one.known for one in found.attacks][:2] == [("age", "job", "ill"), ("age", "job")]
    alone = attack_release(table, table, known=["ill"], secret="ill", seed=3, kinds=["linkage", "inference"])
    assert "nothing is known but the secret" in alone.not_run["inference"]
