"""Forecasts, from the library and from the command line."""

import json
import re

import numpy as np
import pytest

from incrowd import ClassSizes, InputError, correctness_curve, fit_curve, forecast, population_risk
from incrowd.cli import main
from incrowd.curves import Curve, robust_curve_from_ranks
from incrowd.forecasts import forecast_table
from incrowd.pitman_yor import PitmanYor, fit_class_sizes

pytestmark = pytest.mark.usefixtures("quick_estimates")

SIZES = ClassSizes.from_sizes(PitmanYor.from_entropy(h=8, gamma=0.3).sample(3000, 1))


def test_a_forecast_from_class_sizes_starts_at_the_table_and_falls():
    answer = forecast(fit_class_sizes(SIZES), [100, 3000, 10_000, "city", "world"], k=[2, 5])
    assert answer.correctness.value[1] == SIZES.correctness
    assert answer.uniqueness.value[1] == pytest.approx(SIZES.uniqueness)
    assert answer.violations[5].value[1] == pytest.approx(SIZES.below(5) / SIZES.people)
    for estimate in (answer.correctness, answer.uniqueness, answer.violations[5]):
        assert np.all(np.diff(estimate.value) < 0)
        assert np.all((estimate.low <= estimate.value) & (estimate.value <= estimate.high))
    assert np.allclose(answer.violations[2].value, answer.uniqueness.value, rtol=0.05)
    assert answer.people_named[2] == answer.correctness.value[2] * 10_000
    assert answer.names == ("100", "3,000", "10,000", "city", "world")


@pytest.mark.paper("scaling-law", "Fig. 3")
def test_both_fits_forecast_a_simulated_population():
    model = PitmanYor.from_entropy(h=9, gamma=0.25)
    whole = model.sample(60_000, 3)
    counts = np.bincount(np.random.default_rng(0).permutation(np.repeat(np.arange(whole.size), whole))[:4000])
    sizes = ClassSizes.from_sizes(counts[counts > 0])
    from incrowd import correctness_curve

    for fit in (fit_class_sizes(sizes), fit_curve(correctness_curve(sizes))):
        answer = forecast(fit, 60_000)
        assert answer.correctness.value[0] == pytest.approx(whole.size / 60_000, abs=0.03)
        assert answer.correctness.low[0] < whole.size / 60_000 < answer.correctness.high[0]


@pytest.mark.parametrize("at", [2, 3, 10, 100, 1_000, 10_000])
def test_no_limit_leaves_0_to_1(at):
    """Published points: a few people are nearly all named, and nobody more than all."""
    published = Curve.from_points([800, 1_600, 37_437], [0.85, 0.83, 0.73])
    found = forecast(fit_curve(published), at=[at])
    for estimate in (found.correctness, found.uniqueness):
        assert estimate is None or 0.0 <= estimate.low[0] <= estimate.value[0] <= estimate.high[0] <= 1.0


def test_named_populations_can_be_given():
    fit = fit_class_sizes(SIZES)
    answer = forecast(fit, ["Here", "us"], populations={"here": 5000})
    assert answer.at.tolist() == [5000, 331_000_000]
    json.dumps(answer.to_dict(), allow_nan=False)


def test_an_under_determined_fit_says_so():
    few = ClassSizes.from_counts({1: 30, 2: 1})
    assert any("under-determined" in note for note in forecast(fit_class_sizes(few), "city").notes)


@pytest.mark.parametrize(
    ("at", "more"),
    [("atlantis", {}), ([0], {}), ([1.5], {}), ([1e13], {}), ([], {}), (100, {"k": [1]}), (100, {"level": 2})],
)
def test_impossible_questions_are_refused(at, more):
    with pytest.raises(InputError):
        forecast(fit_class_sizes(SIZES), at, **more)


def test_robust_matching_has_no_uniqueness_and_no_k():
    fit = fit_curve(robust_curve_from_ranks(np.random.default_rng(0).geometric(0.3, 400)))
    answer = forecast(fit, [10_000])
    assert answer.uniqueness is None
    assert answer.people_unique is None
    assert answer.to_dict()["uniqueness"] is None
    with pytest.raises(InputError, match="no classes"):
        forecast(fit, [10_000], k=[5])


def test_what_was_assumed_about_points_is_said():
    points = Curve.from_points([10, 100, 1000], [0.9, 0.6, 0.2])
    assert "assumed that 1,000 people were tested" in forecast(fit_curve(points), 1e4).notes[0]
    known = Curve.from_points([10, 100, 1000], [0.9, 0.6, 0.2], people=500)
    assert not any("assumed" in note for note in forecast(fit_curve(known), 1e4).notes)


def test_a_curve_of_another_shape_is_noted_beyond_its_noise_only():
    bent = {"sizes": [10, 100, 1000, 10_000], "correctness": [0.97, 0.95, 0.5, 0.3]}
    for people, noted in ((3000, True), (100, False)):
        fit = fit_curve(Curve.from_points(**bent, people=people))
        assert any("another shape" in note for note in forecast(fit, 1e5).notes) == noted


def test_a_parameter_at_its_limit_is_noted():
    answer = forecast(fit_class_sizes(ClassSizes.from_counts({100: 400, 101: 300})), 1e6)
    assert any("γ is at its limit of -1" in note for note in answer.notes)
    value, low, high = answer.gamma
    assert -1 <= low <= value <= high <= 1
    assert answer.h[1] <= answer.h[0] <= answer.h[2]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    random = np.random.default_rng(0)
    rows = [f"{a},{b},{c}" for a, b, c in zip(*(random.integers(0, n, 800) for n in (60, 12, 5)), strict=True)]
    path.write_text("age,region,kind\n" + "\n".join(rows) + "\n")
    return path


def run(*arguments):
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code or 0
    return 0


def test_curve_then_forecast_on_the_command_line(table, tmp_path, capsys):
    curve = tmp_path / "curve.csv"
    assert run("curve", table, "--qi", "age,region", "--out", curve, "--plot", tmp_path / "curve.svg") == 0
    assert "named correctly" in capsys.readouterr().out
    assert run("forecast", curve, "--at", "1e4,us,mine=5e5", "--compare", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["forecast"]["at"] == [1e4, 331e6, 5e5]
    assert set(answer["baselines"]) == {"ENT", "EXP", "POL", "RND"}
    assert answer["hold_out"]["size"] == 800


def test_forecast_from_a_table_on_the_command_line(table, tmp_path, capsys):
    plot = tmp_path / "forecast.png"
    assert run("forecast", table, "--qi", "age,region,kind", "--at", "1e5,world", "--k", "3", "--plot", plot) == 0
    shown = capsys.readouterr().out
    assert "world" in shown
    assert "k = 3" in shown
    assert plot.stat().st_size > 10_000
    assert run("forecast", table, "--qi", "age,region,kind", "--at", "1e5", "--ml", "--json") == 0
    assert json.loads(capsys.readouterr().out)["fit"]["method"] == "ml"


def test_sparse_and_robust_curves_on_the_command_line(tmp_path, capsys):
    random = np.random.default_rng(0)
    points = tmp_path / "points.csv"
    rows = [
        f"{who},{what}" for who, what in zip(np.repeat(np.arange(200), 6), random.integers(0, 30, 1200), strict=True)
    ]
    points.write_text("who,what\n" + "\n".join(rows) + "\n")
    assert run("curve", points, "--person", "who", "--item", "what", "--known", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "sparse"
    vectors = random.normal(size=(100, 4))
    np.save(tmp_path / "gallery.npy", vectors)
    np.save(tmp_path / "probes.npy", vectors + random.normal(size=vectors.shape))
    files = ("--probes", tmp_path / "probes.npy", "--gallery", tmp_path / "gallery.npy")
    assert run("curve", *files, "--json") == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "robust"
    assert run("forecast", *files, "--at", "1e4") == 0


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("n,correctness\n10,0.99\n100,0.98\n1000,0.9\n10000,0.0012\n")
    return path


def test_a_failed_check_is_said_everywhere(points, tmp_path, capsys):
    figure = tmp_path / "figure.json"
    assert run("forecast", points, "--at", "1e6", "--people", "300", "--plot", figure) == 0
    shown = capsys.readouterr()
    assert "with what is larger left out" in shown.out
    assert "OUTSIDE" in shown.out
    assert "the law missed the largest measured size" in shown.err
    assert "the law missed the largest measured size" in figure.read_text()
    assert run("forecast", points, "--at", "1e6", "--people", "300", "--json") == 0
    assert any("the law missed" in note for note in json.loads(capsys.readouterr().out)["forecast"]["notes"])


def test_impossible_and_vanishing_percentages_are_words(points, capsys):
    assert run("forecast", points, "--at", "world", "--compare") == 0
    shown = capsys.readouterr().out
    assert "out of range" not in shown  # POL is cut off at 0 and 1
    assert "nobody" in shown
    assert re.search(r"0\.0000\d\d%", shown)  # not 2.1e-05%
    assert not re.search(r"\de-\d", shown)


def test_the_figure_names_the_population_asked_for(table, tmp_path, capsys):
    figure = tmp_path / "figure.json"
    assert run("forecast", table, "--qi", "age,region", "--at", "small=100", "--plot", figure) == 0
    (first,) = json.loads(figure.read_text())["title"]["subtitle"][:1]
    assert " of 100 people (small), 95% interval " in first
    assert "measured up to 800" in first


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("forecast", "{table}", "--qi", "age,region", "--uniqueness"), "--uniqueness fits a curve"),
        (("forecast", "{points}", "--compare", "--uniqueness"), "leave out --uniqueness"),
        (("forecast", "{points}", "--person", "n"), "--person goes with"),
        (("forecast", "{points}", "--at", "=5"), "without a name"),
        (("forecast", "{table}", "--qi", "age,region", "--people", "9"), "--people goes with a curve file"),
        (("curve", "{table}", "--qi", "age", "--item", "kind", "--known", "1"), "give one of them"),
        (("forecast", "{table}", "--qi", "age", "--person", "kind", "--item", "kind", "--known", "1"), "one of them"),
        (("curve", "{table}", "--qi", "age", "--known", "1"), "are for sparse matching"),
        (("curve", "{table}", "--qi", "age", "--metric", "dot"), "is for robust matching"),
        (("curve", "--probes", "a.npy", "--gallery", "b.npy", "--qi", "age"), "leave out --qi"),
    ],
)
def test_options_that_would_be_ignored_are_refused(arguments, words, table, points, capsys):
    assert run(*(argument.format(table=table, points=points) for argument in arguments)) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("curve",),
        ("curve", "{table}"),
        ("curve", "{table}", "--qi", "nothing"),
        ("curve", "{table}", "--item", "age"),
        ("curve", "--probes", "none.npy"),
        ("forecast", "{table}", "--at", "1e5"),
        ("forecast", "{table}", "--qi", "age", "--at", "nowhere"),
        ("forecast", "{table}", "--qi", "age", "--at", "1e5", "--k", "1"),
        ("forecast", "missing.csv", "--at", "1e5"),
    ],
)
def test_bad_commands_exit_2_with_a_sentence(arguments, table, capsys):
    assert run(*(argument.format(table=table) for argument in arguments)) == 2
    assert "error:" in capsys.readouterr().err


def rows_of_people(people=400, seed=3):
    random = np.random.default_rng(seed)
    return {"age": random.geometric(0.05, people), "county": random.integers(0, 20, people)}


def test_class_sizes_are_forecast_as_their_fit_is_and_a_table_by_its_columns():
    rows, names = rows_of_people(), ["age", "county"]
    sizes = ClassSizes.from_table(rows, quasi_identifiers=names)
    by_fit = forecast(fit_class_sizes(sizes), at=[50, "city"], k=[3])
    assert forecast(sizes, at=[50, "city"], k=[3]).to_dict() == by_fit.to_dict()
    of_table = forecast(rows, at=[50, "city"], k=[3], quasi_identifiers=names)
    assert of_table.violations[3].to_dict() == by_fit.violations[3].to_dict()
    assert (of_table.h, of_table.gamma) == (by_fit.h, by_fit.gamma)
    risk = population_risk(rows, population=1_000_000, quasi_identifiers=names)
    assert of_table.correctness.value[1] == pytest.approx(risk.sample_to_population, rel=0.02)  # the copula's draws
    assert of_table.correctness.value[0] == by_fit.correctness.value[0]


def test_a_curve_and_a_table_of_points_are_forecast_as_their_fit_is():
    points = {"n": [10, 100, 1_000], "correctness": [0.99, 0.9, 0.6]}
    curve = Curve.from_points(points["n"], points["correctness"])
    by_fit = forecast(fit_curve(curve), at="world")
    assert forecast(curve, at="world").to_dict() == by_fit.to_dict()
    assert forecast(points, at="world").correctness.to_dict() == by_fit.correctness.to_dict()


@pytest.mark.parametrize("kind", ["sizes", "fit", "curve"])
def test_columns_go_with_a_table_only(kind):
    sizes = ClassSizes.from_counts({1: 30, 2: 9, 5: 2})
    data = {"sizes": sizes, "fit": fit_class_sizes(sizes), "curve": correctness_curve(sizes)}[kind]
    with pytest.raises(InputError, match="give the table"):
        forecast(data, at="city", quasi_identifiers=["age"])


def test_a_table_without_quasi_identifiers_is_refused():
    with pytest.raises(InputError, match="quasi-identifiers"):
        forecast(rows_of_people(), at="city")


def test_the_forecast_of_a_table_is_exact_within_it_and_the_population_estimate_beyond():
    rows, names = rows_of_people(), ["age", "county"]
    found = forecast_table(rows, at=[50, 9_000, 10**6], quasi_identifiers=names, population=9_000, k=[3], seed=2)
    sizes = ClassSizes.from_table(rows, quasi_identifiers=names)
    near, middle, far = (
        [getattr(found.forecast.correctness, side)[place] for side in ("value", "low", "high")] for place in range(3)
    )
    assert near == [correctness_curve(sizes, at=[50]).correctness[0]] * 3
    risk = population_risk(rows, population=9_000, quasi_identifiers=names, seed=2)
    assert middle == [risk.sample_to_population, *risk.interval]
    assert far[1] < far[0] < middle[0]
    law = forecast(sizes, at=[50, 9_000, 10**6], k=[3])
    assert found.forecast.violations[3].to_dict() == law.violations[3].to_dict()
    assert (found.population, found.why_no_columns, found.forecast.method) == (9_000, None, "combined")
    at = found.curve.at.tolist()
    assert at == sorted(set(at))
    assert at[0] == 1
    assert found.curve.correctness.value[0] == 1


def test_a_forecast_is_a_frame_with_a_row_for_each_population():
    found = forecast(ClassSizes.from_counts({1: 30, 2: 9, 5: 2}), at=[10, "city"], k=[2])
    frame = found.to_frame()
    assert frame["population"].tolist() == ["10", "city"]
    assert frame["correctness"].tolist() == found.correctness.value.tolist()
    assert frame["violations of k = 2 high"].tolist() == found.violations[2].high.tolist()


def test_techniques_stand_side_by_side(tmp_path, capsys):
    for name, last in (("faces", 0.95), ("voices", 0.6)):
        (tmp_path / f"{name}.csv").write_text(f"n,correctness\n10,0.99\n100,0.98\n1000,{last}\n")
    files = [tmp_path / "faces.csv", tmp_path / "voices.csv"]
    assert run("forecast", *files, "--at", "1e5,world", "--people", "900") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "faces names the most" in shown
    assert "measured up to" in shown
    assert run("forecast", *files, "--at", "1e5", "--people", "900", "--json") == 0
    both = json.loads(capsys.readouterr().out)["techniques"]
    assert [one["name"] for one in both] == ["faces", "voices"]
    for one, file in zip(both, files, strict=True):
        assert run("forecast", file, "--at", "1e5", "--people", "900", "--json") == 0
        assert json.loads(capsys.readouterr().out)["forecast"] == one["forecast"]  # each as if it were alone
    assert run("forecast", *files, "--compare") == 2
    assert "about one technique" in capsys.readouterr().err


@pytest.mark.paper("scaling-law", "Fig. 1b–i", "Table S2")
def test_the_predictive_check_tells_a_right_law_from_a_wrong_one(tmp_path, capsys):
    """Samples of a process lie inside its band; two kinds of people, one unique and one all alike, do not."""
    right = PitmanYor.from_entropy(h=4.0, gamma=0.3).sample(3_000, seed=1)
    wrong = [1] * 1_500 + [500] * 3
    inside = {}
    for name, sizes in (("right", right), ("wrong", wrong)):
        file = tmp_path / f"{name}.csv"
        file.write_text("kind\n" + "".join(f"c{at}\n" * int(size) for at, size in enumerate(sizes)))
        assert run("forecast", file, "--qi", "kind", "--at", "1e5", "--predictive-check", "--json") == 0
        sampled, broken = json.loads(capsys.readouterr().out)["predictive_check"]
        inside[name] = sampled["inside"]
        assert broken["inside"] <= sampled["inside"]
    assert inside["right"] > 0.85 > 0.7 > inside["wrong"]
    assert run("forecast", file, "--qi", "kind", "--at", "1e5", "--predictive-check") == 0
    assert "samples from the fitted law" in capsys.readouterr().out
    assert run("forecast", tmp_path / "none.csv", "--predictive-check") == 2


@pytest.mark.paper("scaling-law", "eq. 1", "eq. 7", "eq. 11", "Fig. 5")
def test_known_distributions_and_the_law_itself_on_the_command_line(tmp_path, capsys):
    shares = tmp_path / "shares.csv"
    shares.write_text("kind,share\na,0.5\nb,0.25\nc,0.25\n")
    assert run("forecast", shares, "--frequencies", "share", "--at", "2,mine=3", "--k", "3", "--json") == 0
    two, three = json.loads(capsys.readouterr().out)["expected"]
    assert (two["correctness"], two["uniqueness"]) == (0.8125, 0.625)
    assert three["population"] == "mine"
    assert three["violations"]["3"] == pytest.approx(0.84375)
    assert run("forecast", "--entropy", "40bits", "--tail", "1", "--at", "7.53e9") == 0
    assert "44.8%" in capsys.readouterr().out  # the paper: 45%
    for wrong in (("--entropy", "40"), (shares, "--frequencies", "kind"), (shares, "--entropy", "4", "--tail", "0")):
        assert run("forecast", *wrong, "--at", "us") == 2
        assert "error:" in capsys.readouterr().err
    assert run("forecast", shares, "--frequencies", "share", "--compare") == 2
