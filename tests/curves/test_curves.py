"""Every curve against brute force: all sub-galleries of a small gallery."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd import ClassSizes, InputError, UnsupportedError, correctness_curve, fit_curve
from incrowd.curves import Curve, robust_curve, robust_curve_from_ranks, sparse_curve
from incrowd.curves.exact_matching import share_below
from incrowd.curves.robust_matching import embeddings


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3))
@pytest.mark.paper("scaling-law", "eq. 8", "Fig. 1b–i, insets")
def test_exact_curves_are_means_over_all_galleries(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    people = labels.size
    curve = correctness_curve(ClassSizes.from_sizes(sizes), at=range(1, people + 1))
    for size, correctness, uniqueness in zip(curve.sizes, curve.correctness, curve.uniqueness, strict=True):
        counts = [
            np.unique(labels[list(chosen)], return_counts=True)[1] for chosen in combinations(range(people), size)
        ]
        assert correctness == pytest.approx(np.mean([count.size / size for count in counts]), abs=1e-12)
        assert uniqueness == pytest.approx(np.mean([(count == 1).sum() / size for count in counts]), abs=1e-12)
        below = np.mean([count[count < 3].sum() / size for count in counts])
        assert share_below(ClassSizes.from_sizes(sizes), int(size), 3) == pytest.approx(below, abs=1e-12)


def test_a_curve_starts_at_exactly_one_and_ends_at_the_table():
    sizes = ClassSizes.from_counts({1: 1_000_003, 2: 400_001, 17: 20_000, 100_000: 3})
    curve = correctness_curve(sizes)
    assert curve.correctness[0] == 1.0
    assert curve.uniqueness[0] == 1.0
    assert (curve.correctness[-1], curve.uniqueness[-1]) == (sizes.correctness, sizes.uniqueness)
    assert np.all(np.diff(curve.correctness) < 0)
    near = correctness_curve(sizes, at=[2, sizes.people - 1])
    repeat = sum(f * (f - 1) * a for f, a in sizes.histogram().items()) / (sizes.people * (sizes.people - 1))
    assert near.correctness[0] == pytest.approx(1 - repeat / 2, abs=1e-13)
    assert near.correctness[1] == pytest.approx(sizes.correctness, abs=1e-6)


HELD = {1: "abc", 2: "abd", 3: "ab", 4: "cd", 5: "a"}
ROWS = {
    "who": [who for who, items in HELD.items() for _ in items],
    "what": [item for items in HELD.values() for item in items],
}


def test_sparse_curves_are_means_over_draws_and_galleries():
    curve = sparse_curve(ROWS, person="who", item="what", known=2, draws=4000, at=[1, 2, 3, 5], seed=1)
    for size, correctness in zip(curve.sizes, curve.correctness, strict=True):
        chances = []
        for who, items in HELD.items():
            for points in combinations(items, min(2, len(items))):
                weight = 1 / max(len(list(combinations(items, min(2, len(items))))), 1)
                others = [other for other in HELD if other != who]
                galleries = list(combinations(others, size - 1))
                alike = [1 + sum(set(points) <= set(HELD[other]) for other in chosen) for chosen in galleries]
                chances.append(weight * np.mean([1 / count for count in alike]))
        assert correctness == pytest.approx(sum(chances) / len(HELD), abs=0.01)
    assert "1 of 5 people has fewer than 2 points" in curve.notes[0]
    assert curve.correctness[0] == 1.0


def test_sparse_results_repeat_and_do_not_depend_on_bitmaps(monkeypatch):
    random = np.random.default_rng(0)
    rows = {"who": np.repeat(np.arange(3000), 12), "what": random.zipf(1.4, 36_000) % 900}
    curve = sparse_curve(rows, person="who", item="what", known=3, seed=5)
    assert np.array_equal(curve.correctness, sparse_curve(rows, person="who", item="what", known=3, seed=5).correctness)
    monkeypatch.setattr("incrowd.curves.sparse_matching._BITMAP_BYTES", 0)
    few = sparse_curve(rows, person="who", item="what", known=3, seed=5)
    assert np.array_equal(curve.correctness, few.correctness)
    assert not np.array_equal(
        curve.correctness, sparse_curve(rows, person="who", item="what", known=3, seed=6).correctness
    )


def test_points_may_have_several_columns():
    rows = {"who": [1, 1, 2, 2], "place": ["x", "y", "x", "y"], "hour": [1, 2, 1, 3]}
    assert sparse_curve(rows, person="who", item="place", known=2, at=[2]).correctness[0] == 0.5
    assert sparse_curve(rows, person="who", item=["place", "hour"], known=2, at=[2]).correctness[0] == 1.0


@pytest.mark.parametrize(
    ("rows", "known", "words"),
    [
        (ROWS, 9, "nobody has 9 points"),
        (ROWS, 0, "1 or more"),
        ({"who": [1, None], "what": [1, 2]}, 1, "without a person"),
        ({"who": [1, 2], "what": [1, None]}, 1, "no points"),
    ],
)
def test_bad_points_are_refused(rows, known, words):
    with pytest.raises(InputError, match=words):
        sparse_curve(rows, person="who", item="what", known=known)


def test_empty_rows_of_people_with_points_are_noted():
    curve = sparse_curve({"who": [1, 1, 2], "what": [1, None, 2]}, person="who", item="what", known=1)
    assert "1 row without a point was" in curve.notes[0]


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_robust_curves_are_means_over_all_galleries(metric, kind):
    random = np.random.default_rng(3)
    gallery = random.normal(size=(7, 3)).astype(kind)
    gallery[5] = gallery[2]  # a tie
    probes = (gallery + 0.8 * random.normal(size=gallery.shape)).astype(kind)
    curve = robust_curve(probes, gallery, metric=metric, at=range(1, 8))
    first, second = probes.astype(float), gallery.astype(float)
    if metric == "cosine":
        first, second = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (first, second))
    score = first @ second.T if metric != "euclidean" else -np.linalg.norm(first[:, None] - second, axis=2)
    for size, correctness in zip(curve.sizes, curve.correctness, strict=True):
        wins = []
        for i in range(7):
            for others in combinations([j for j in range(7) if j != i], size - 1):
                best = max([score[i, i], *(score[i, j] for j in others)])
                tied = 1 + sum(abs(score[i, j] - best) < 1e-5 for j in others)
                wins.append(1 / tied if score[i, i] > best - 1e-5 else 0.0)
        assert correctness == pytest.approx(np.mean(wins), abs=1e-9)


def brute_ranks(probes, gallery, metric):
    first, second = probes.astype(np.longdouble), gallery.astype(np.longdouble)
    if metric == "euclidean":
        score = -np.stack([np.sum((one - second) ** 2, axis=1) for one in first])
    else:
        score = first @ second.T
    return 1 + np.sum(score > np.diag(score)[:, None], axis=1)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "dot", "cosine"])
def test_vectors_far_from_the_origin_are_not_all_ties(kind, metric):
    random = np.random.default_rng(1)
    gallery = random.normal(size=(400, 24))
    probes = gallery + 0.9 * random.normal(size=gallery.shape)
    far = 1000 if metric == "euclidean" and kind != np.float16 else 0
    gallery, probes = (gallery + far).astype(kind), (probes + far).astype(kind)
    first, second = probes.astype(float), gallery.astype(float)
    if metric == "cosine":
        first, second = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (first, second))
    truth = robust_curve_from_ranks(brute_ranks(first, second, metric)).correctness
    assert np.allclose(robust_curve(probes, gallery, metric=metric).correctness, truth, rtol=0, atol=1e-12)
    assert 0.1 < truth[-1] < 1


@pytest.mark.parametrize("metric", ["euclidean", "dot"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_one_long_row_spoils_no_other(metric, kind):
    random = np.random.default_rng(2)
    gallery = random.normal(size=(300, 16)).astype(kind)
    probes = (gallery + 0.5 * random.normal(size=gallery.shape)).astype(kind)
    gallery[7] *= 1e6
    truth = robust_curve_from_ranks(brute_ranks(probes, gallery, metric)).correctness
    assert np.allclose(robust_curve(probes, gallery, metric=metric).correctness, truth, rtol=0, atol=1e-12)


def test_huge_short_numbers_do_not_overflow():
    rows = np.random.default_rng(3).normal(size=(50, 4)).astype(np.float32) * np.float32(1e30)
    assert robust_curve(rows, rows, metric="euclidean").correctness[-1] == 1.0


def test_vectors_are_not_copied_into_another_type():
    rows = np.arange(12, dtype=np.int8).reshape(4, 3)
    assert embeddings(rows, "probes") is rows
    assert robust_curve(rows, rows, metric="euclidean").correctness[-1] == 1.0


def test_a_column_of_identifiers_is_not_a_dimension():
    random = np.random.default_rng(4)
    rows = {"id": np.arange(9), "x": random.normal(size=9), "y": random.normal(size=9)}
    with pytest.raises(InputError, match=r"as identifiers do: id;"):
        robust_curve(rows, rows)
    levels = {"x": np.arange(9), "y": random.integers(-99, 99, 9)}
    assert robust_curve(levels, levels, metric="euclidean").sizes[-1] == 9
    many = {"id": np.arange(300), "y": random.integers(-99, 99, 300)}
    with pytest.raises(InputError, match=r"as identifiers do: id;"):
        robust_curve(many, many)


def test_blocks_do_not_change_the_ranks(monkeypatch):
    random = np.random.default_rng(4)
    gallery = random.normal(size=(150, 8))
    probes = gallery[:90] + random.normal(size=(90, 8))
    whole = robust_curve(probes, gallery)
    monkeypatch.setattr("incrowd.curves.robust_matching._PROBES", 7)
    monkeypatch.setattr("incrowd.curves.robust_matching._GALLERY", 11)
    assert np.allclose(whole.correctness, robust_curve(probes, gallery).correctness, rtol=0, atol=1e-12)
    assert whole.people == 90
    assert whole.sizes[-1] == 150


def test_ranks_give_the_same_curve():
    curve = robust_curve_from_ranks([1, 2, 5, 1, 1], at=[1, 3, 5])
    assert curve.correctness.tolist() == pytest.approx([1, (3 + 0.5) / 5, 3 / 5])
    shared = robust_curve_from_ranks([1, 1], ties=[2, 2], at=[2])
    assert shared.correctness[0] == 0.5


def test_vectors_come_from_files(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    np.save(tmp_path / "rows.npy", rows)
    pq.write_table(pa.table({f"x{i}": rows[:, i] for i in range(3)}), tmp_path / "rows.parquet")
    pq.write_table(pa.table({"vector": rows.tolist()}), tmp_path / "lists.parquet")
    truth = robust_curve(rows, rows).correctness
    for name in ("rows.npy", "rows.parquet", "lists.parquet"):
        assert np.array_equal(robust_curve(tmp_path / name, rows).correctness, truth)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: robust_curve(np.ones((3, 2)), np.ones((3, 4))),
        lambda: robust_curve(np.ones((4, 2)), np.ones((3, 2))),
        lambda: robust_curve(np.array([[1.0, np.nan]]), np.ones((1, 2))),
        lambda: robust_curve(np.ones(3), np.ones((3, 2))),
        lambda: robust_curve(np.ones((3, 2)), np.ones((3, 2)), metric="taxi"),
        lambda: robust_curve({"a": ["x"]}, np.ones((1, 1))),
        lambda: robust_curve_from_ranks([0, 1]),
        lambda: robust_curve_from_ranks([1.5]),
        lambda: robust_curve_from_ranks([9, 1]),
        lambda: robust_curve_from_ranks([1, 1], ties=[1]),
        lambda: correctness_curve(ClassSizes.from_sizes([1, 2]), at=[4]),
        lambda: correctness_curve(ClassSizes.from_sizes([1, 2]), at=[0]),
        lambda: correctness_curve(ClassSizes.from_sizes([1, 2]), at=[1.5]),
        lambda: Curve.from_points([1, 2], [0.5]),
        lambda: Curve.from_points([], []),
        lambda: Curve.from_points(["a"], [0.5]),
        lambda: Curve.from_points([2], ["x"]),
    ],
)
def test_bad_input_is_refused_in_words(wrong):
    with pytest.raises(InputError):
        wrong()


def test_unsorted_and_repeated_points_are_put_in_order():
    curve = Curve.from_points([100, 10, 100], [0.6, 0.9, 0.8])
    assert (curve.sizes.tolist(), curve.correctness.tolist()) == ([10, 100], [0.9, pytest.approx(0.7)])
    assert len(curve.notes) == 2
    assert "1 repeated size was" in curve.notes[1]


def test_curves_survive_a_file(tmp_path):
    curve = correctness_curve(ClassSizes.from_counts({1: 60, 2: 20, 3: 8, 7: 2}))
    back = Curve.read(curve.write(tmp_path / "curve.csv"))
    assert np.array_equal(back.sizes, curve.sizes)
    assert np.array_equal(back.correctness, curve.correctness)
    assert np.array_equal(back.uniqueness, curve.uniqueness)
    assert (back.people, back.kind) == (curve.people, "exact") == (138, "exact")
    assert (tmp_path / "curve.csv").read_text().startswith('"n","correctness","people"') or (
        tmp_path / "curve.csv"
    ).read_text().startswith("n,correctness,people")
    robust = Curve.read(robust_curve_from_ranks([1, 2, 5, 1, 1]).write(tmp_path / "robust.csv"))
    assert (robust.people, robust.kind) == (5, "robust")
    for text in ("n,correctness,people\n10,0.9,5\n20,0.8,6\n", "n,correctness,kind\n10,0.9,loose\n"):
        (tmp_path / "odd.csv").write_text(text)
        with pytest.raises(InputError, match="in every row"):
            Curve.read(tmp_path / "odd.csv")
    (tmp_path / "wrong.csv").write_text("size,kappa\n1,2\n")
    with pytest.raises(InputError, match="no column 'n' or 'correctness'"):
        Curve.read(tmp_path / "wrong.csv")
    (tmp_path / "words.csv").write_text("n,correctness\n10,high\n20,low\n")
    with pytest.raises(InputError, match="not a number"):
        Curve.read(tmp_path / "words.csv")
    for value in ("99%", '"0,99"'):
        (tmp_path / "percent.csv").write_text(f"n,correctness\n10,{value}\n20,{value}\n")
        with pytest.raises(InputError, match=r"without a percent sign|divide percentages by 100"):
            Curve.read(tmp_path / "percent.csv")
    with pytest.raises(InputError, match="divide percentages by 100"):
        Curve.from_points([10, 20], [99, 80])


def test_part_of_a_curve():
    curve = robust_curve_from_ranks([1, 2, 5, 1, 1], at=[1, 3, 5]).up_to(3)
    assert curve.sizes.tolist() == [1, 3]
    assert curve.covariance.shape == (2, 2)


def test_a_table_has_the_curve_of_its_class_sizes():
    rows = {"who": [1, 2, 3, 3], "age": [30, 30, 41, 52]}
    by_records = correctness_curve(rows, [1, 2, 4], quasi_identifiers=["age"])
    assert by_records.to_dict() == correctness_curve(ClassSizes.from_sizes([2, 1, 1]), [1, 2, 4]).to_dict()
    assert correctness_curve(rows, quasi_identifiers=["age"], person="who").people == 3
    with pytest.raises(InputError, match="give the table"):
        correctness_curve(ClassSizes.from_sizes([2, 1]), quasi_identifiers=["age"])


@pytest.mark.parametrize("people", [3, 50, 999, 123_456])
def test_everybody_unique_is_1_by_count_and_refused(people):
    curve = correctness_curve(ClassSizes.from_counts({1: people}))
    assert set(curve.correctness.tolist()) == set(curve.uniqueness.tolist()) == {1.0}
    rounded = Curve.from_points(curve.sizes, np.nextafter(curve.correctness, 0.0), people=people)
    for one in (curve, rounded, robust_curve_from_ranks([1] * 50)):
        with pytest.raises(UnsupportedError, match="1 at every size"):
            fit_curve(one)
    one_pair = correctness_curve(ClassSizes.from_counts({1: people - 2, 2: 1}))
    assert fit_curve(one_pair).h > 0


def test_sparse_points_that_are_all_different_are_1_by_count():
    rows = {"who": np.repeat(np.arange(70), 3), "item": np.arange(210)}
    assert set(sparse_curve(rows, person="who", item="item", known=2).correctness.tolist()) == {1.0}


def test_a_curve_is_a_frame_with_a_row_for_each_size():
    frame = correctness_curve(ClassSizes.from_sizes([2, 1]), at=[1, 3]).to_frame()
    assert frame["n"].tolist() == [1, 3]
    assert frame["correctness"].tolist() == [1.0, 2 / 3]
