"""Releases: attacks are part of the one decision, and those that could not be run are no yes."""

from dataclasses import replace

import numpy as np
import pyarrow.csv as pacsv
import pytest

from incrowd import InputError, UnsupportedError, assess, protect, read_table
from incrowd._support import services
from incrowd._support.progress import Stopped
from incrowd.assessment import Question, judge_protected, judge_release, read_question
from incrowd.assessment.sections.attacks import judge_attacks, judge_each_attack
from incrowd.assessment.settings_file import save_question
from incrowd.attacks import attack_release, synthesise
from incrowd.attacks.result import Rate
from incrowd.protection import write_protected
from incrowd.protection.marks import read_mark
from incrowd.reports import document, key_numbers, schema

pytestmark = [pytest.mark.xdist_group("assess"), pytest.mark.usefixtures("quick_estimates")]
ASKED = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"], "certain": 1.0, "recipient": "trusted"}


def people(size, seed):
    draws = np.random.default_rng(seed)
    return {
        "age": draws.integers(20, 40, size),
        "zip": np.array(["a", "b", "c"])[draws.integers(0, 3, size)],
        "ill": np.array(["no", "yes"])[draws.integers(0, 2, size)],
    }


@pytest.fixture(scope="module")
def tables():
    return people(1500, 1), people(1500, 2)


def test_a_protected_release_needs_classes_and_attacks_within_the_limits(tables):
    original, holdout = tables
    released = protect(original, quasi_identifiers=["age", "zip"], sensitive=["ill"], k=5, l=2).table
    asked = {**ASKED, "protection": False}
    found = assess(original, released=released, holdout=holdout, **asked)
    assert found.verdict.decision == "within", found.verdict
    assert found.verdict.basis == "table"
    assert found.facts.k >= 5  # that of the release
    assert {one.kind for one in found.attacks.attacks} >= {"linkage", "inference", "attribution", "membership"}
    assert any(section.key == "attacks" and section.tables for section in document(found))
    assert set(schema()["properties"]) >= set(found.to_dict())

    alone = assess(original, released=released, **asked)
    assert alone.verdict.decision == "undecided"
    assert alone.verdict.attacks_not_run == ("membership",)
    assert alone.verdict.headline == "Undecided: attacks that were not run"
    assert "not every attack on it was run (membership)" in alone.verdict.recommendation
    assert alone.verdict.actions[0].hint == ("holdout",)


def test_a_synthetic_release_is_judged_by_its_attacks(tables):
    original, holdout = tables
    asked = {**ASKED, "protection": False, "holdout": holdout, "synthetic": True, "seed": 1}
    made = synthesise(original, model="independent", seed=3).table
    safe = assess(original, released=made, **asked)
    assert (safe.verdict.decision, safe.verdict.basis) == ("within", "attacks")
    assert safe.verdict.risk == safe.attacks.worst.risk.value
    assert [one.name for one in key_numbers(safe)] == ["rows", "worst attack"]
    assert "worst attack exposes" in safe.verdict.sentence

    copies = synthesise(original, copied=1.0, seed=3).table
    exposed = assess(original, released=copies, **{**asked, "threshold": 0.05})
    assert exposed.verdict.decision == "over"
    assert any("above the 5% accepted" in text for text in exposed.verdict.exposures)
    as_rows = assess(original, released=made, **{**asked, "synthetic": False})  # whose rows they are cannot be told
    assert as_rows.verdict.decision in ("undecided", "exposed")
    assert "linkage" in as_rows.verdict.attacks_not_run


def test_attacks_that_were_not_made_are_no_yes(tables):
    original, holdout = tables
    question = Question(**ASKED, released="made.csv")
    assert judge_attacks(question, None).not_run == ("all of them",)
    assert judge_attacks(replace(question, released=None), None) == ((), False, ())
    wide = protect(original, quasi_identifiers=["age", "zip"], sensitive=["ill"], k=5, l=2).table
    assert judge_release(wide, replace(question, released=None)).decision == "within"
    assert judge_release(wide, question).decision == "undecided"  # a policy that asks for attacks
    found = attack_release(original, original, known=["age", "zip"], holdout=holdout, kinds=["singling-out"])
    assert judge_attacks(replace(question, threshold=1e-3), found).borderline or judge_attacks(question, found).over


def test_files_of_a_release_are_named_by_their_last_part_and_asked_for_again(tables, tmp_path):
    import pyarrow as pa

    original, holdout = (pa.table(one) for one in tables)
    for name, table in (("part", original), ("made", original), ("back", holdout)):
        pacsv.write_csv(table.slice(0, 200), tmp_path / f"{name}.csv")
    (tmp_path / "rows.txt").write_text("\n".join(str(row + 1) for row in range(200)))
    files = {
        "released": str(tmp_path / "made.csv"),
        "holdout": str(tmp_path / "back.csv"),
        "kept_rows": str(tmp_path / "rows.txt"),
    }
    found = assess(str(tmp_path / "part.csv"), **ASKED, **files, protection=False)
    asked = found.provenance.question
    assert (asked.source, asked.released, asked.holdout, asked.kept_rows) == (
        "part.csv", "made.csv", "back.csv", "rows.txt",
    )  # fmt: skip
    assert found.provenance.table == "made.csv"
    assert found.provenance.options["released"] == "made.csv"
    assert found.verdict.decision == "exposed"
    assert read_question(save_question(asked, tmp_path / "incrowd.toml")) == replace(asked, protection=True)
    with pytest.raises(InputError, match="about a release"):
        assess(str(tmp_path / "part.csv"), **ASKED, holdout=files["holdout"])


def test_a_perturbed_file_is_judged_by_one_attack_wherever_it_is_judged(tmp_path):
    known = ["age", "zip"]
    safe = protect(
        people(600, 3), quasi_identifiers=known, identifiers=[], method="perturb", steps=[("age", "noise=0.2")], seed=1
    )
    asked = Question(quasi_identifiers=tuple(known), sensitive=("ill",), recipient="restricted", population=60_000)
    written = write_protected(safe, tmp_path / "noisy.parquet")
    linkage = safe.attack().risk.value
    found = assess(
        written, quasi_identifiers=known, sensitive=["ill"], recipient="restricted", population=60_000, protection=False
    )
    verdicts = [found.verdict, judge_protected(safe, asked), judge_release(written, asked)]
    assert [one.risk for one in verdicts] == [linkage] * 3
    assert linkage != found.facts.correctness
    assert len({one.decision for one in verdicts}) == 1
    assert found.verdict.decision != "within"
    assert "classes do not show the risk" in found.verdict.reasons[0]
    (action,) = found.verdict.actions
    assert action.commands[0].startswith("incrowd attack ORIGINAL")


def perturbed_sex():
    steps, draws = [("sex", "pram=0.9")], np.random.default_rng(8)
    table = {"sex": draws.choice(["f", "m"], 600), "ill": draws.choice(["a", "b", "c"], 600)}
    return protect(table, quasi_identifiers=["sex"], identifiers=[], method="perturb", steps=steps, seed=1)


def test_a_perturbed_table_is_attacked_once_and_the_attack_can_be_stopped(tmp_path, monkeypatch):
    made, said = [], []
    attack = services.provided("linkage")
    monkeypatch.setitem(services._SERVICES, "linkage", lambda *safe, **how: made.append(how) or attack(*safe, **how))
    safe, asked = perturbed_sex(), Question(quasi_identifiers=("sex",), sensitive=("ill",))

    def stop(doing, share):
        said.append(share)
        if made:
            raise Stopped

    with pytest.raises(Stopped):
        write_protected(safe, tmp_path / "mixed.parquet", progress=stop)
    assert (len(made), [*tmp_path.iterdir()]) == (1, [])
    assert said == sorted(said)
    write_protected(safe, tmp_path / "mixed.parquet")
    assert judge_protected(safe, asked).risk == safe.attack().risk.value
    assert len(made) == 3  # the judge asks for a secret that protect was not told of
    assert replace(safe, table=safe.table).attack().risk == safe.attack().risk
    assert len(made) == 4  # another table is attacked itself


def test_a_perturbed_table_that_cannot_be_attacked_is_written_and_is_no_yes(tmp_path, monkeypatch):
    one = {"age": [30], "zip": [10_115]}
    steps = [("age", "noise=0.2")]
    safe = protect(one, quasi_identifiers=["age", "zip"], identifiers=[], method="perturb", steps=steps, seed=1)
    written = write_protected(safe, tmp_path / "one.parquet")
    assert read_mark(read_table(written)).linkage is None
    assert judge_release(written, Question(quasi_identifiers=("age", "zip"))).decision != "within"

    def refuse(*safe, **how):
        raise UnsupportedError("the table cannot be attacked")

    monkeypatch.setitem(services._SERVICES, "linkage", refuse)
    safe, asked = perturbed_sex(), Question(quasi_identifiers=("sex",), sensitive=("ill",))  # its classes are large
    written = write_protected(safe, tmp_path / "mixed.parquet")
    assert judge_protected(safe, asked).decision == judge_release(written, asked).decision == "undecided"


def test_an_attack_by_other_columns_does_not_stand_for_a_perturbed_file(tmp_path):
    steps = [("age", "noise=0.2")]
    safe = protect(people(600, 3), quasi_identifiers=["age"], identifiers=[], method="perturb", steps=steps, seed=1)
    written = write_protected(safe, tmp_path / "noisy.parquet")
    verdict = judge_release(written, Question(quasi_identifiers=("age", "zip"), sensitive=("ill",)))
    assert verdict.decision != "within"
    assert any("attack the release" in one.sentence for one in verdict.internal_reasons)


@pytest.mark.parametrize(
    ("targets", "rows", "risk", "has_control", "advice"),
    [
        (20, 100, 0.0, True, "Take more records: 20 attacks were tried"),
        (20, 20, 0.0, True, "Make the release of more people: 20 attacks were tried"),
        (50, 100, 0.0, False, "Give a holdout"),
        (50, 100, 0.2, True, "Make the release with larger classes"),
        (50, 100, 0.0, True, "Take more records, or a larger holdout"),
        (50, 50, 0.0, True, "Give a larger holdout"),
    ],
)
def test_an_attack_that_cannot_be_judged_says_why_and_advises_what_can_be_done(
    tables, targets, rows, risk, has_control, advice
):
    found = attack_release(tables[0], tables[0], known=["age"], secret="ill", kinds=["inference"], targets=10)
    control = Rate(0.0, 0.0, 0.1) if has_control else None
    one = replace(found.attacks[0], targets=targets, risk=Rate(risk, 0.0, 0.5), control=control)
    (judged,) = judge_each_attack(replace(found, attackers=("",), attacks=(one,), rows=rows), 1 / 11)
    assert (judged.judgement, judged.words) == ("borderline", "cannot tell: the limit lies within the interval")
    assert judged.advice.startswith(advice)
