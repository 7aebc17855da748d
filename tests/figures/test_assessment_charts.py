"""Figures of an assessment hold the numbers of the assessment."""

from dataclasses import replace

import pytest
from docs.draw_pictures import sample_against_population, what_kappa_is

from incrowd import InputError, assess, demo_table
from incrowd.figures import assessment_charts as plots
from incrowd.figures.theme import save
from incrowd.recipients import RECIPIENTS, Limits

NAMES = ["age_yrs", "sex", "patcnty"]


@pytest.fixture(scope="module")
def found(quick_estimates):
    return assess(demo_table(1_500), quasi_identifiers=NAMES, population=100_000)


def values(chart):
    """All data rows of a chart."""
    plain = chart.to_dict()
    layers = [plain, *plain.get("layer", [])]
    inline = [layer["data"]["values"] for layer in layers if "values" in layer.get("data", {})]
    return [row for rows in [*plain.get("datasets", {}).values(), *inline] for row in rows]


def test_every_person_is_in_one_bin(found):
    rows = plots.class_size_bins(found.facts.sizes)
    assert sum(row["people"] for row in rows) == found.facts.people
    assert sum(row["classes"] for row in rows) == found.facts.classes
    assert rows[0]["people"] == found.facts.uniques


@pytest.mark.parametrize("least", [3, 11, 20, 50])
def test_class_sizes_have_the_colour_of_the_limit(found, least):
    """A bin begins at the limit, so that none is partly accepted; the people of each colour are counted here."""
    rows = values(plots.class_sizes_chart(found.facts.sizes, least))
    people = dict.fromkeys(("nobody else", f"fewer than {least}", f"{least} or more"), 0)
    for row in rows:
        people[row["crowd"]] += row["people"]
    sizes = found.facts.sizes
    small = sizes.below(least)
    assert [*people.values()] == [sizes.uniques, small - sizes.uniques, sizes.people - small]


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_a_figure_becomes_a_file(found, tmp_path, kind):
    assert save(plots.verdict_chart(found), tmp_path / f"risk.{kind}").stat().st_size > 2_000


def test_figures_hold_the_numbers(found):
    assert found.verdict.risk in [row.get("risk") for row in values(plots.verdict_chart(found))]
    added = {row["column"]: row["added"] for row in values(plots.contributions_chart(found.knowledge.contributions))}
    assert added == {part.column: part.correctness for part in found.knowledge.contributions.columns}
    law = [row["risk"] for row in values(plots.forecast_chart(found.forecast)) if "risk" in row]
    assert max(law) == pytest.approx(found.facts.correctness)
    assert {row["k"] for row in values(plots.protection_chart(found.protection)) if "k" in row} >= {"k = 3", "k = 11"}
    assert len(values(plots.leaks_chart(found.leaks))) == 5 * 4


@pytest.mark.parametrize("decision", ["within", "undecided", "borderline", "exposed", "over"])
def test_both_risks_stand_against_the_limits_whatever_is_decided(found, decision):
    verdict = replace(found.verdict, decision=decision, interval=(0.01, 0.2))
    chart = plots.risk_against_limits_chart(verdict)
    rows = values(chart)
    names = [f"{one.name} 1/{one.limits.class_size}" for one in RECIPIENTS]
    assert [row["name"] for row in rows if "bound" in row][: len(names)] == names
    risks = {row["name"]: (row["risk"], row["low"], row["high"]) for row in rows if "risk" in row}
    assert risks["average"] == (verdict.risk, 0.01, 0.2)
    assert risks["person at highest risk"][0] == verdict.highest
    marks = [layer["mark"] for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "point"]
    assert len(marks) == 2
    assert {mark["color"] == plots.GREEN for mark in marks} == {decision == "within"}
    chosen = plots.limits_shown(replace(verdict, limits=Limits(0.2, 0.1)))
    assert chosen[-1] == ("chosen", Limits(0.2, 0.1))


def test_no_figure_of_a_population_that_was_not_given():
    alone = assess(demo_table(300), quasi_identifiers=["sex"], protection=False)
    with pytest.raises(InputError, match="population="):
        plots.population_chart(alone)


def test_pictures_of_the_concepts_tell_the_truth():
    dots = [row for row in values(what_kappa_is([1, 2, 3])) if "who" in row]
    assert len(dots) == 6
    assert sum(row["who"].startswith("named") for row in dots) == 3
    rows = values(sample_against_population(demo_table(3_000), NAMES, shares=(0.1, 1.0)))
    by = {(row["share"], row["kind"]): row["value"] for row in rows}
    assert by[1.0, "unique in the sample"] == by[1.0, "unique in the population too"]
    assert by[0.1, "unique in the sample"] > by[1.0, "unique in the sample"]
