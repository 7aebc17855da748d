"""A number is said once, by its result: the terminal, a notebook, JSON, its schema, the page and the app show it."""

import dataclasses
import json
from dataclasses import dataclass
from typing import ClassVar

import jsonschema
import pytest

from incrowd import InputError
from incrowd.cli import terminal
from incrowd.populations import PopulationRisk
from incrowd.reports import read_assessment, schema, to_html
from incrowd.reports.schema import result_schema
from incrowd.reports.template_values import plain_document
from incrowd.results import Count, Result, Share, Statement

pytestmark = [pytest.mark.xdist_group("report"), pytest.mark.usefixtures("quick_estimates")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskWithTwins(PopulationRisk):
    """The risk in the population, with one number more."""

    twins: Share = 0.125

    @property
    def statements(self):
        twins = Statement(
            "population", "people with a twin", self.twins, "12.5%", "Twins share it all.", "exact", "luck"
        )
        return (*PopulationRisk.statements.fget(self), twins)


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """A terminal in which no name is folded."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def richer(ordinary):
    """An assessment whose population has one number more."""
    fields = {field.name: getattr(ordinary.population, field.name) for field in dataclasses.fields(PopulationRisk)}
    return dataclasses.replace(ordinary, population=RiskWithTwins(**fields))


def test_a_number_that_is_added_to_a_result_is_shown_everywhere(richer, capsys):
    risk = richer.population
    terminal.result(risk)
    assert "people with a twin" in capsys.readouterr().out
    assert "people with a twin" in str(risk)
    assert "Twins share it all." in risk._repr_html_()
    assert risk.to_dict()["twins"] == 0.125
    assert result_schema(RiskWithTwins)["properties"]["twins"] == {"type": "number", "minimum": 0, "maximum": 1}
    assert "Twins share it all." in to_html(richer)
    (section,) = (one for one in plain_document(richer)["sections"] if one["key"] == "population")  # what the app shows
    assert section["statements"][-1]["name"] == "people with a twin"
    assert "people with a twin" in [one["name"] for one in richer.to_dict()["statements"]]


def test_a_detail_is_in_the_terminal_and_in_json_but_not_on_the_page(ordinary, capsys):
    (detail,) = (one for one in ordinary.population.statements if one.name == "in the table alone")
    assert detail.is_detail
    terminal.result(ordinary.population)
    assert detail.name in capsys.readouterr().out
    assert detail.name in [one["name"] for one in ordinary.to_dict()["statements"]]
    assert detail.name not in to_html(ordinary)


@dataclass(frozen=True, slots=True)
class Kinds(Result):
    """One field of every kind."""

    name: str
    some: tuple[str, ...]
    pair: tuple[float, float] | None
    by_size: dict[int, Count]
    risk: PopulationRisk | None
    secret: str = "x"
    later: int = 0
    _hidden: ClassVar[frozenset[str]] = frozenset({"secret"})
    _derived: ClassVar[tuple[str, ...]] = ("twice",)
    _renamed: ClassVar[dict[str, str]] = {"some": "several"}

    @property
    def twice(self) -> list[Share]:
        """The share, twice."""
        return [0.5, 0.5]


def test_the_schema_is_that_of_the_class():
    found = result_schema(Kinds)
    assert [*found["properties"]] == ["name", "several", "pair", "by_size", "risk", "later", "twice"]
    assert found["required"] == ["name", "several", "pair", "by_size", "risk", "twice"]
    assert found["properties"]["twice"]["description"] == "The share, twice."
    validator = jsonschema.Draft202012Validator(found)
    validator.validate(Kinds("a", ("b",), (0.0, 1.0), {3: 1}, None).to_dict() | {"pair": [0.0, 1.0]})
    for name, wrong in {
        "name": 1,
        "several": [1],
        "pair": [1.0],
        "by_size": {"3": -1},
        "risk": {"people": 3},
        "twice": [1.5],
    }.items():
        plain = Kinds("a", (), None, {}, None).to_dict()
        validator.validate(plain)
        assert not validator.is_valid(plain | {name: wrong}), name


@pytest.mark.parametrize(("section", "key"), [("facts", "correctness"), ("population", "overall"), ("forecast", "at")])
def test_an_assessment_with_a_wrong_number_is_refused(ordinary, tmp_path, section, key):
    plain = json.loads(json.dumps(ordinary.to_dict()))
    jsonschema.Draft202012Validator(schema()).validate(plain)
    plain[section][key] = "much"
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match=f"schema of an assessment at {section}"):
        read_assessment(file)
