"""The model against mpmath, against simulation and against the published numbers."""

import math

import mpmath as mp
import numpy as np
import oracle
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from incrowd import InputError
from incrowd.pitman_yor import PitmanYor
from incrowd.pitman_yor.kernels import model_at, shortfall
from incrowd.pitman_yor.model import discount_and_concentration, expected_correctness, expected_uniqueness
from incrowd.special import inverse_digamma, log_beta_binomial, log_chance_missed, log_steps

ENTROPY = st.floats(0.5, 80)
TAIL = st.one_of(
    st.integers(-(10**12), 10**12).map(lambda i: i / 10**12),
    st.sampled_from([-1.0, 0.0, 1.0, 1e-12, -1e-12, 1e-6, -1e-6, 1 - 1e-9, 1e-17]),
)
PEOPLE = st.one_of(st.floats(0, 12).map(lambda x: float(int(10**x))), st.sampled_from([1.0, 2.0, 3.0, 1e12]))


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.generate])  # shrinking takes minutes
@given(ENTROPY, TAIL, PEOPLE, st.floats(0, 1))
@example(80.0, -1.0, 1e12, 0.5)
@example(80.0, 1.0, 1e12, 0.5)
@example(0.5, -1.0, 1e12, 0.9)
@pytest.mark.paper("scaling-law", "eq. 2", "eq. 12", "eq. 13")
def test_expectations_agree_with_mpmath(h, gamma, n, place):
    with mp.workdps(180):  # 69 digits of α cancel twice
        d, alpha = oracle.parameters(h, gamma)
        j = float(int(n**place))
        truth = [
            float(value)
            for value in (
                oracle.correctness(d, alpha, n),
                oracle.uniqueness(d, alpha, n),
                oracle.class_size_pmf(d, alpha, n, j),
            )
        ]
    model = PitmanYor.from_entropy(h=h, gamma=gamma)
    assert model.correctness(n) == pytest.approx(truth[0], abs=1e-9)
    assert model.uniqueness(n) == pytest.approx(truth[1], abs=1e-9)
    assert model.class_size_pmf(n, j) == pytest.approx(truth[2], abs=1e-9)


@given(ENTROPY, TAIL)
@settings(max_examples=50, deadline=None)
def test_alone_everybody_is_named(h, gamma):
    model = PitmanYor.from_entropy(h=h, gamma=gamma)
    assert model.correctness(1) == 1.0
    assert model.uniqueness(1) == 1.0


@pytest.mark.parametrize(
    ("h", "unit", "gamma", "n", "value"),
    [
        (40, "bits", 0, 7.53e9, 0.99395031),
        (40, "bits", 1, 7.53e9, 0.44764689),
        (41.54, "nats", 0.68, 4e9, 0.74381502),
    ],
)
@pytest.mark.paper("scaling-law", "eq. 3", "Fig. 5")
def test_published_answers(h, unit, gamma, n, value):
    assert PitmanYor.from_entropy(h=h, gamma=gamma, unit=unit).correctness(n) == pytest.approx(value, abs=5e-9)


@pytest.mark.parametrize("gamma", [-1.0, -0.3, 0.0, 0.4, 1.0])
@pytest.mark.paper("scaling-law", "eq. 14")
def test_chances_of_class_sizes_add_up_and_give_violations(gamma):
    model = PitmanYor.from_entropy(h=3, gamma=gamma)
    chances = model.class_size_pmf(200, np.arange(1, 201))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert model.violations(200, 5) == pytest.approx(chances[:4].sum(), abs=1e-14)
    assert model.violations(200, 201) == 1.0
    assert model.correctness(200) == pytest.approx((chances / np.arange(1, 201)).sum(), abs=1e-12)
    assert model.violations(200, 2) == pytest.approx(model.uniqueness(200), abs=1e-14)


@pytest.mark.parametrize(("h", "gamma"), [(5, 0.6), (5, 0.0), (4, -0.6), (30, -0.5)])
@pytest.mark.paper("scaling-law", "eq. 12", "eq. 13", "Fig. 4")
def test_samples_have_the_expected_correctness(h, gamma):
    model, people = PitmanYor.from_entropy(h=h, gamma=gamma), 1000
    samples = [model.sample(people, seed) for seed in range(200)]
    assert all(sizes.sum() == people for sizes in samples)
    found = np.array([(sizes.size / people, (sizes == 1).sum() / people) for sizes in samples])
    error = 4 * found.std(axis=0) / math.sqrt(200) + 2e-3  # a finite model is sampled with whole categories
    assert abs(found[:, 0].mean() - model.correctness(people)) < error[0]
    assert abs(found[:, 1].mean() - model.uniqueness(people)) < error[1]


def test_the_same_seed_gives_the_same_sample():
    model = PitmanYor(d=0.5, alpha=10)
    assert np.array_equal(model.sample(500, 7), model.sample(500, 7))
    assert not np.array_equal(model.sample(500, 7), model.sample(500, 8))


@pytest.mark.parametrize(("h", "gamma"), [(4, 0.5), (4, 0.0), (3, -0.7)])
@pytest.mark.paper("scaling-law", "Fig. 1b–i")
def test_sticks_have_the_expected_chance_of_a_repeat(h, gamma):
    model = PitmanYor.from_entropy(h=h, gamma=gamma)
    sticks = model.stick_breaking(3000, 1, draws=400)
    assert np.all(np.diff(sticks, axis=1) <= 0)
    assert np.all(sticks.sum(axis=1) <= 1 + 1e-12)
    repeat = 1 - model.uniqueness(2)  # two people share a class with chance Σ p²
    assert (sticks**2).sum(axis=1).mean() == pytest.approx(repeat, rel=0.1)


@pytest.mark.paper("scaling-law", "eq. 2")
def test_entropy_and_tail_come_back():
    model = PitmanYor.from_entropy(h=7.5, gamma=0.31)
    assert (model.h, model.gamma) == (pytest.approx(7.5), pytest.approx(0.31))
    assert PitmanYor.from_entropy(h=10, gamma=0, unit="bits").h == pytest.approx(10 * math.log(2))
    assert PitmanYor.from_entropy(h=5, gamma=-1).categories < math.inf == model.categories


def test_arrays_give_arrays_and_numbers_numbers():
    model = PitmanYor(d=0.2, alpha=30)
    assert model.correctness([1, 10, 100]).shape == (3,)
    assert isinstance(model.correctness(10), float)
    assert model.class_size_pmf(np.array([10, 20])[:, None], [1, 2, 30]).shape == (2, 3)
    assert model.class_size_pmf(10, 11) == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PitmanYor(d=1.0, alpha=1),
        lambda: PitmanYor(d=0.5, alpha=-0.5),
        lambda: PitmanYor(d=math.nan, alpha=1),
        lambda: PitmanYor.from_entropy(h=0, gamma=0),
        lambda: PitmanYor.from_entropy(h=5, gamma=1.1),
        lambda: PitmanYor.from_entropy(h=5, gamma=0, unit="bytes"),
        lambda: PitmanYor.from_entropy(h=400, gamma=0),
        lambda: PitmanYor(d=0.5, alpha=1).correctness(0),
        lambda: PitmanYor(d=0.5, alpha=1).correctness([1, math.nan]),
        lambda: PitmanYor(d=0.5, alpha=1).violations(10, 0),
        lambda: PitmanYor(d=0.5, alpha=1).class_size_pmf(10, 0),
        lambda: PitmanYor(d=0.5, alpha=1).sample(0, 1),
        lambda: PitmanYor(d=0.5, alpha=1).stick_breaking(0, 1),
    ],
)
def test_impossible_models_and_sizes_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_the_compiled_law_is_the_same_law():
    random = np.random.default_rng(0)
    h, gamma = random.uniform(0.1, 80, 400), random.uniform(-1, 1, 400)
    n = np.floor(10 ** random.uniform(0, 12, 400))
    d, alpha = discount_and_concentration(h, gamma)
    for unique, expected in ((False, expected_correctness), (True, expected_uniqueness)):
        compiled = [shortfall(*row, unique) for row in zip(1 - d, 1 + alpha, n, strict=True)]
        assert np.allclose(compiled, 1 - expected(d, alpha, n), rtol=0, atol=1e-12)


@pytest.mark.paper("scaling-law", "eq. 2", "eq. 12", "eq. 13")
def test_what_accurate_techniques_miss_agrees_with_mpmath_in_every_digit():
    random = np.random.default_rng(0)
    for _ in range(150):
        tail, most = 10 ** random.uniform(-5, 0.5), random.uniform(0, 40)
        c, x = model_at(math.log(tail), most * random.choice([1.0, 0.03, 1e-5]))
        n = float(np.floor(10 ** random.uniform(0.31, 12)))
        with mp.workdps(140):
            c_, x_ = mp.mpf(c), mp.mpf(x)
            if x_ <= c_:
                continue
            kappa = (mp.gammaprod([x_, n + x_ - c_], [x_ - c_, n + x_ - 1]) - x_ + 1) / (n * (1 - c_))
            alone = mp.gammaprod([x_, n - 1 + x_ - c_], [x_ - c_, n + x_ - 1])
            truth = float(1 - kappa), float(1 - alone)
        assert (shortfall(c, x, n, False), shortfall(c, x, n, True)) == pytest.approx(truth, rel=1e-11, abs=0)


@given(st.floats(-200, 200))
@settings(deadline=None)
def test_inverse_digamma_is_the_inverse(y):
    assert float(mp.psi(0, mp.mpf(float(inverse_digamma(y))))) == pytest.approx(y, abs=1e-11 * max(1, abs(y)))


@given(st.floats(-0.9, 50), st.floats(0.01, 3), st.integers(0, 3000))
@settings(deadline=None, max_examples=60)
def test_long_sums_of_logs_are_right(start, step, terms):
    if start + step <= 1e-6:
        return
    truth = math.fsum(math.log(start + i * step) for i in range(1, terms + 1))
    assert float(log_steps(start, step, terms)) == pytest.approx(truth, abs=1e-9, rel=1e-12)


def test_sums_that_end_near_zero_are_right():
    step, terms = -0.01, 1000
    start = 1000 * 0.01 + 1e-7
    truth = math.fsum(math.log(start + i * step) for i in range(1, terms + 1))
    assert float(log_steps(start, step, terms)) == pytest.approx(truth, rel=1e-9)


def test_chances_of_missing_a_group_are_ratios_of_binomials():
    for total in range(1, 9):
        for group in range(total + 1):
            for drawn in range(total + 1):
                truth = math.comb(total - group, drawn) / math.comb(total, drawn)
                assert float(np.exp(log_chance_missed(total, group, drawn))) == pytest.approx(truth, abs=1e-13)


def test_beta_binomial_chances_add_up():
    chances = np.exp(log_beta_binomial(np.arange(501.0), 500, 0.3, 1e30))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
