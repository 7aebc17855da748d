"""The page as text: complete, escaped, aggregates only, small, and in need of nothing."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from unittest.mock import Mock

import jsonschema
import pytest

from incrowd import ClassSizes, InputError, assess
from incrowd.populations.estimators import explain_method
from incrowd.recipients import RECIPIENTS
from incrowd.reports import Origin, document, html, read_assessment, schema, to_html, verdict_figure, write_html
from incrowd.reports.fixed_text import CONDITION, GLOSSARY
from incrowd.reports.template_values import plain_document
from incrowd.wording import Advice, display_names, with_display_names

pytestmark = [
    pytest.mark.xdist_group("report"),  # one worker: the assessments are made once
    pytest.mark.usefixtures("quick_estimates"),
]


class Page(HTMLParser):
    """Which elements there are, their attributes, and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.inside = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            continue

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.words.append(data)


def test_the_json_keeps_to_the_published_schema(ordinary, nasty, tmp_path):
    jsonschema.Draft202012Validator.check_schema(schema())
    for number, found in enumerate((ordinary, nasty)):
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        jsonschema.Draft202012Validator(schema()).validate(plain)
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(plain))
        assert read_assessment(file) == plain


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("{}", "does not say"),
        ('{"schema": "incrowd/assessment/1"}', "version 1.*assess the table again"),
        ('{"schema": "incrowd/assessment/2"}', "does not keep to the schema"),
    ],
)
def test_a_file_that_is_no_assessment_is_refused(tmp_path, content, message):
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        read_assessment(file)


def test_the_page_needs_nothing_from_anywhere(ordinary):
    page = to_html(ordinary)
    assert len(page.encode()) < 300_000
    for tag, attributes in Page(page).elements:
        assert tag not in {"link", "iframe", "object", "embed", "img", "form", "base"}
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy
    assert "unsafe-eval" not in policy


def test_every_figure_has_a_table_and_every_table_a_caption(ordinary):
    sections = document(ordinary)
    figures = [figure for section in sections for figure in section.figures]
    assert {figure.name for figure in figures} == {
        "class-sizes",
        "known",
        "sets",
        "drivers",
        "population",
        "forecast",
        "leaks",
        "protection",
    }
    assert all(figure.table.rows and figure.table.caption and figure.says for figure in figures)
    page = to_html(ordinary)
    assert page.count("<figure>") == page.count('class="chart"') == len(figures) + 1
    tags = [tag for tag, _ in Page(page).elements]
    assert tags.count("table") == tags.count("caption")


def test_the_page_has_glossary_methods_and_what_it_takes_to_repeat_it(ordinary):
    words = " ".join(Page(to_html(ordinary)).words)
    for part in (
        "Glossary",
        "Methods and sources",
        "Shapley 1953",
        "SHA-256",
        "seed",
        "0.1.0",
        "2,000 rows",
        "numpy",
        "python",
    ):
        assert part in words
    assert "incrowd assess" in words
    assert "--qi age_yrs,sex,race,patcnty --sensitive charge" in words
    assert "--population 200000 --recipient restricted --groups census=age_yrs,sex" in words


def test_the_page_explains_the_estimator_that_was_used(ordinary):
    words = " ".join(" ".join(Page(to_html(ordinary)).words).split())
    assert ordinary.population.method == "combined"
    assert explain_method("combined").how in words
    other = replace(ordinary, population=replace(ordinary.population, method="posterior"), forecast=None)
    words = " ".join(" ".join(Page(to_html(other)).words).split())
    assert explain_method("posterior").how in words
    assert explain_method("posterior").source in words
    assert "The crowd model: each column" not in words


def test_sections_stand_in_the_order_of_the_assessment_and_the_others_after_the_one_they_name(ordinary):
    others = ["facts", "evidence", "knowledge", "drivers", "population", "forecast", "leaks", "protection", "columns"]
    assert [section.key for section in document(ordinary) if section.key != "attacks"] == others


def test_every_section_says_how_it_was_computed_and_every_figure_how_to_read_it(ordinary):
    sections = document(ordinary)
    assert [section.key for section in sections if not section.methods] == ["columns"]
    assert all(all(method) for section in sections for method in section.methods)
    assert all(len(figure.means) > 50 for section in sections for figure in section.figures)
    unanswered = document(replace(ordinary, population=None, forecast=None, protection=None))
    assert {one.key for one in unanswered if not one.methods} == {"population", "forecast", "protection", "columns"}


def test_the_external_page_leaves_out_what_helps_an_attacker(ordinary):
    page = to_html(ordinary, external=True)
    words = " ".join(Page(page).words)
    for part in ("By what the attacker knows", "drives the risk", "adds most", "If part of it is stolen", "charge:"):
        assert part not in words
    for part in ('"figure-known"', '"known":', '"leaks":', '"drivers":', '"class-sizes":'):
        assert part not in page
    for part in (
        "incrowd assess",
        "SHA-256",
        ordinary.provenance.sha256 or "SHA-256",
        "in classes below",
        "quasi identifiers",
    ):
        assert part not in words
    for part in (
        "look like nobody else",
        "is certain for",
        "Protect it",
        "(--",
        "keep secret whose",
        "nobody outside knows",
    ):
        assert part not in words
    assert "Do not look for people in it" not in words  # nothing is asked of those who do not get it
    verdict = replace(ordinary.verdict, decision="within")
    assert "Do not look for people in it" in to_html(replace(ordinary, verdict=verdict), external=True)
    assert "What protection would cost" in words
    assert "Glossary" in words


def test_the_external_page_of_a_yes_on_conditions_says_so_and_names_no_column(ordinary):
    secret = Advice("This yes holds while charge stays secret: an attacker who knows it too finds 9 people alone.")
    for reasons, declared in (((secret,), ()), ((), ("charge",)), ((), ())):
        verdict = replace(ordinary.verdict, decision="within", internal_reasons=reasons, declared=declared)
        words = " ".join(Page(to_html(replace(ordinary, verdict=verdict), external=True)).words)
        assert (CONDITION in words) == bool(reasons or declared)
        assert "takes charge" not in words
        assert "finds 9 people" not in words


def test_the_glossary_names_every_recipient_with_the_classes_it_accepts():
    limits = dict(GLOSSARY)["limit (threshold)"]
    assert all(f"{one.name} (classes of {one.limits.class_size}" in limits for one in RECIPIENTS)


@pytest.mark.parametrize("recipient", RECIPIENTS, ids=lambda one: one.name)
def test_only_those_who_are_not_the_public_are_told_to_pass_nothing_on(ordinary, recipient):
    verdict = replace(ordinary.verdict, decision="within", recipient=recipient.name)
    page = to_html(replace(ordinary, verdict=verdict), external=True)
    assert "Do not look for people in it" in page
    assert ("give it to nobody else" in page) == ("Delete it" in page) == (not recipient.is_public)


def test_names_and_values_are_data_and_never_markup(nasty):
    page = to_html(nasty)
    parsed = Page(page)
    assert "script" not in [tag for tag, _ in parsed.elements]
    assert "img" not in [tag for tag, _ in parsed.elements]
    words = "".join(parsed.words)
    assert "<script>window.hacked=1</script>" in words
    assert "{{ 7*7 }}{% raw %}" in words
    assert "x" * 200 not in page
    assert "\u202e" not in page
    assert "\u2068שם" in page


def test_no_cell_of_the_data_is_in_the_report(nasty):
    assert "cell-" not in to_html(nasty)
    assert "cell-" not in json.dumps(nasty.to_dict())


def test_a_report_is_not_written_over_another_file(ordinary, tmp_path):
    file = write_html(ordinary, tmp_path / "report.html")
    with pytest.raises(InputError, match="exists already"):
        write_html(ordinary, file)
    assert ordinary.to_html(file, force=True) == file.read_text(encoding="utf-8") == to_html(ordinary)


def test_a_page_that_is_written_is_drawn_once(ordinary, tmp_path, monkeypatch):
    drawn = Mock(side_effect=plain_document)
    monkeypatch.setattr(html, "plain_document", drawn)
    ordinary.to_html(tmp_path / "report.html")
    assert drawn.call_count == 1


def test_every_chart_keeps_to_the_schema_of_vega_lite(ordinary, nasty):
    """Pages are drawn without this check, which takes longer than the drawing."""
    for found in (ordinary, nasty):
        for figure in (verdict_figure(found), *(figure for part in document(found) for figure in part.figures)):
            assert figure.chart.to_dict(validate=True) == figure.chart.to_dict(validate=False)


def test_strange_names_are_shown_tamely():
    shown = display_names(["age", "a\x00b", "y" * 70, "y" * 71])
    assert "age" not in shown
    assert shown["a\x00b"] == "a\ufffdb"
    assert shown["y" * 70] != shown["y" * 71]
    assert with_display_names({"k": ["see a\x00b", 3]}, shown) == {"k": ["see a\ufffdb", 3]}


@pytest.fixture(scope="module")
def declared():
    child = [number % 3 == 0 for number in range(600)]
    return assess(
        {
            "age_group": ["child" if one else "adult" for one in child],
            "sex": ["f", "m"] * 300,
            "school": [("primary", "secondary")[number % 2] if one else None for number, one in enumerate(child)],
            "illness": ["flu", "cold", "HIV"] * 200,
            "shoe_size": [38 + number % 5 for number in range(600)],
        },
        quasi_identifiers=["age_group", "sex"],
        sensitive=["school", "illness"],
        other=["shoe_size"],
        secrets=["illness=HIV"],
        rows_are_people=True,
        protection=False,
    )


def test_the_report_says_what_was_judged_declared_and_given_away(ordinary, declared):
    words = " ".join(" ".join(Page(to_html(declared)).words).split())
    assert "Declared by you (--other): nobody outside can know shoe_size." in words
    assert "Declared by you (--rows-are-people): every row is another person." in words
    assert "Declared by you (--secret): the secret of illness is 1 named value." in words
    assert "school is missing in 400 records because of age_group (structural missing); that is no secret." in words
    (section,) = (one for one in document(declared) if one.key == "evidence")
    (secrets,) = (table for table in section.tables if "attribute disclosure" in table.caption)
    by_column = {row[0]: row for row in secrets.rows}
    assert by_column["school"][2:4] == (400, 600)  # missing, and certain: boys and girls are asked in turn
    (section,) = (one for one in document(ordinary) if one.key == "evidence")
    open_columns = next(table for table in section.tables if "nobody judged" in table.caption)
    assert [row[0] for row in open_columns.rows] == [one.column for one in ordinary.evidence.undecided]
    assert "patzip" in {row[0] for row in open_columns.rows}


def test_what_to_do_stands_with_its_commands(ordinary):
    page = to_html(ordinary)
    commands = [command for action in ordinary.verdict.actions for command in action.commands]
    assert len(commands) >= 2
    shown = "".join(Page(page).words)
    assert all(command in shown for command in commands)
    assert page.count('<pre class="commands"') == sum(bool(action.commands) for action in ordinary.verdict.actions)
    assert 'class="commands"' not in to_html(ordinary, external=True).partition("</style>")[2].partition("<script")[0]


def test_outsiders_are_not_told_what_nobody_judged(ordinary, declared):
    for found in (ordinary, declared):
        words = " ".join(Page(to_html(found, external=True)).words)
        assert "What was judged" not in words
        assert "Declared by you" not in words
        assert "nobody judged" not in words
        for one in (*found.evidence.undecided, *(found.evidence.secrets.columns if found.evidence.secrets else ())):
            assert not re.search(rf"\b{one.column}\b", words)


def test_columns_that_nobody_judged_count_in_the_numbers_beside_the_decision(ordinary):
    known = ordinary.evidence.if_known
    cards = {one["name"]: one for one in plain_document(ordinary)["cards"]}
    assert cards["smallest class (k)"]["value"] == known["k"]
    assert cards["average risk"]["value"] == known["correctness"] > ordinary.verdict.risk
    assert f"{known['uniques']:,} people are alone" in cards["smallest class (k)"]["meaning"]


@pytest.mark.parametrize("external", [False, True])
def test_four_numbers_stand_beside_the_decision(ordinary, external):
    judged = replace(ordinary, evidence=replace(ordinary.evidence, undecided=(), sizes_if_known=None))
    page = to_html(judged, external=external)
    cards = page[page.index('<dl class="cards">') : page.index("</dl>", page.index('<dl class="cards">'))]
    assert re.findall("<dt>([^<]+)</dt>", cards) == [
        "people",
        "smallest class (k)",
        "person at highest risk",
        "average risk",
    ]
    assert "journalist risk" in cards
    for term in ("re-identification risk", "equivalence class", "k"):
        assert term in page


def test_the_report_of_a_candidate_has_before_and_after_and_the_conditions_that_were_confirmed(ordinary):
    secret = Advice("This yes holds while charge stays secret: 9 people are alone.")
    verdict = replace(ordinary.verdict, decision="within", internal_reasons=(secret,))
    found = replace(ordinary, verdict=verdict, evidence=replace(ordinary.evidence, undecided=(), sizes_if_known=None))
    before = ClassSizes.from_sizes([1] * 700 + [2] * 650)
    signed = Origin(
        before, 0.75, 9, 11, "A. Reviewer, 2026-01-02", {str(secret): "nobody asks for it"}, {"a.csv": "7c1e"}
    )
    page = to_html(found, origin=signed)
    words = " ".join(" ".join(Page(page).words).split())
    assert page.count('<svg class="crowd-picture"') == 2
    sizes = found.facts.sizes
    for text in (f"People who stand alone 700 {sizes.uniques:,}", "Cells unchanged 100% 75.0%", "Columns 11 9"):
        assert text in words
    assert f"☑ {secret} “nobody asks for it”" in words
    assert "A. Reviewer, 2026-01-02 Decided by: name, date" in words
    assert "a.csv, SHA-256 7c1e" in words
    assert 'class="verdict if"' in page
    outside = " ".join(Page(to_html(found, external=True, origin=signed)).words)
    assert CONDITION in outside
    assert "charge stays secret" not in outside
    unsigned = " ".join(Page(to_html(found, origin=replace(signed, signed="", confirmed={}, files={}))).words)
    assert f"☐ {secret}" in unsigned
