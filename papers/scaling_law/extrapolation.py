"""Table 1 and Fig. 2: a small study is fitted by five curves, and each says what happens among everybody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from incrowd.curves import Curve
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import CurveFit, compare_fits
from incrowd.pitman_yor.curve_fit import Name
from papers.corpora import Collection
from papers.figures.scaling_law import extrapolation_figure
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.scaling_law.plain_fit import fit_as_published
from papers.scaling_law.published import FRACTIONS, KINDS, NAMES, TABLE_1
from papers.scaling_law.specification import rmse
from papers.scaling_law.studies import (
    Study,
    collections,
    corpora,
    exact_study,
    movement_studies,
    robust_studies,
    robust_study,
    sparse_studies,
)
from papers.workers import map_in_processes

_FEWEST_COLLECTIONS = 10  # collections, below which a row of the table says little
_SHOWN = (0.01, 0.05, 0.1)  # the shares of Fig. 2
_LABELS = {"PYC": "PYC-MB"}
PLAIN = "PYC-MB as published"
_SCORED = (*NAMES, PLAIN)


@dataclass(slots=True)
class _Scores:
    """Errors by kind, share and method, those of PYC-MB also by corpus, and how many samples were refused."""

    errors: dict[tuple[str, float, str], list[float]] = field(default_factory=dict)
    by_corpus: dict[tuple[str, float, str], list[float]] = field(default_factory=dict)
    refused: int = 0

    def __add__(self, other: _Scores) -> _Scores:
        return _Scores(
            {key: self.errors.get(key, []) + other.errors.get(key, []) for key in {**self.errors, **other.errors}},
            {key: self.by_corpus.get(key, []) + other.by_corpus.get(key, [])
             for key in {**self.by_corpus, **other.by_corpus}},
            self.refused + other.refused,
        )  # fmt: skip


def reproduce_extrapolation(context: Context) -> PartResult:
    """Every study at every share."""
    names = [*corpora(context), "sparse matching", "robust matching"]
    found = sum(map_in_processes(_scores, names, context), _Scores())
    shown = [
        exact_study(_typical_collection(collections(context, names[0]))),
        *movement_studies(context, 24, range(2, 3)),
        robust_study(context, 16, 0.7, 0.6),
    ]
    drawn = {study.kind: _curve_and_fits(study, context.seed) for study in shown}
    notes = [f"{found.refused} samples were refused by a fit and are left out."] if found.refused else []
    return PartResult(
        (_main_numbers(found), _table_1(found), _corpora(found)),
        (
            Picture(
                "curves", "Fig. 2: forecasts from 1, 5 and 10 % of the people", extrapolation_figure(drawn),
                "Exact: of the first corpus, the attributes whose κ is nearest 0.4; sparse: movement, two points "
                "known; robust: 16 dimensions, uneven noise. Shaded: what was measured; dots: the truth; "
                f"forecasts outside 0 to 1 are not drawn.{_note_on_empty_panels(drawn)}",
            ),
        ),
        (*notes, *_NOTES),
    )  # fmt: skip


_NOTES = (
    "A sample is one draw of people, not an average over draws: its curve is the exact expectation over its own "
    "sub-galleries. As in the paper, samples with κ below 0.01 or above 0.99 are left out, which is why there are "
    "fewer collections at small shares.",
    "Sparse: market baskets and web visits (where they are held) and generated traces of movement; the paper's mobile "
    "apps, shops and calls are not at hand. Robust: no face, voice or location embeddings are at hand, so people are "
    "points in 8 to 128 dimensions and a probe is the point with normal noise, the same for all or log-normal "
    "between people. That noise model is ours; the paper took published rates of real techniques.",
    "PYC-MB here takes the middle of the models that fit equally well and lets γ below 0 only on clear evidence. “As "
    "published” is the minimum of eq. 4 by Nelder–Mead with γ free from −1 to 1.",
    "POL goes through κ(1) = 1, has three degrees of freedom (two where a sample has only two points) and is cut off "
    "at 0 and 1, as in the authors' package; the paper's text speaks of two degrees.",
)


def _typical_collection(found: Iterable[Collection]) -> Collection:
    return min(found, key=lambda one: abs(one.correctness - 0.4))


def _studies(name: str, context: Context) -> Iterator[Study]:
    if name == "sparse matching":
        return sparse_studies(context)
    if name == "robust matching":
        return robust_studies(context)
    return (exact_study(collection) for collection in collections(context, name))


def _scores(name: str, context: Context) -> _Scores:
    """The errors of all studies of one corpus, or of one kind of matching."""
    found = _Scores()
    for number, study in enumerate(_studies(name, context)):
        for fraction in FRACTIONS:
            # a random guess is a new one for each study and share
            guess = np.random.default_rng([context.seed, *study.corpus.encode(), number, round(1000 * fraction)])
            _fit(study, fraction, found, int(guess.integers(2**31)))
    return found


def _fit(study: Study, fraction: float, found: _Scores, seed: int) -> None:
    curve = study.measured(fraction)
    if curve is None:
        return
    try:
        fits = compare_fits(curve, seed=seed)
    except UnsupportedError:
        found.refused += 1
        return
    forecasts: dict[str, float] = {name: float(fit.model.correctness(study.people)) for name, fit in fits.items()}
    forecasts[PLAIN] = float(fit_as_published(curve).correctness(study.people))
    for name, forecast in forecasts.items():
        found.errors.setdefault((study.kind, fraction, name), []).append(forecast - study.truth)
    corpus = study.corpus.split(",")[0]
    found.by_corpus.setdefault((study.kind, fraction, corpus), []).append(forecasts["PYC"] - study.truth)


def _main_numbers(found: _Scores) -> Comparison:
    rows = []
    for kind in KINDS:
        for fraction in (0.01, 0.1, 1.0):
            errors = found.errors.get((kind, fraction, "PYC"))
            if errors:
                paper = TABLE_1[kind, fraction]["PYC"]
                remark = f"{_difference_to_paper(rmse(errors), paper)} {_worst_corpus(found, kind, fraction)}"
                rows.append(Row(f"{kind}, {fraction:.0%} measured", rmse(errors), paper, remark.rstrip()))
    rows += _other_rows(found)
    rows.append(_best_row(found))
    return Comparison("RMSE of PYC-MB at full size", tuple(rows), _WHY)


_WHY = (
    "Exact matching is the same task on other tables; sparse and robust matching are the same task on other kinds of "
    "data, so only the order of size and the order of the methods can be compared."
)


def _difference_to_paper(ours: float, paper: float) -> str:
    """How far from the paper, in words."""
    points = 100 * (ours - paper)
    if abs(points) < 0.05:
        return "The same."
    return f"{abs(points):.1f} points {'above' if points > 0 else 'below'} the paper's."


def _worst_corpus(found: _Scores, kind: str, fraction: float) -> str:
    """Which corpus the error is largest in, and what it is in the others."""
    groups = {
        corpus: errors
        for (of, at, corpus), errors in found.by_corpus.items()
        if (of, at) == (kind, fraction) and errors
    }
    if len(groups) < 2:
        return ""
    worst = max(groups, key=lambda corpus: rmse(groups[corpus]))
    others = [error for corpus, errors in groups.items() if corpus != worst for error in errors]
    return f"Largest in {worst}, {rmse(groups[worst]):.3f}; {rmse(others):.3f} in the others."


def _other_rows(found: _Scores) -> list[Row]:
    """PYC-MB as published and POL, exact matching, at the shares that the text quotes."""
    rows = []
    for name, column in ((PLAIN, "PYC"), ("POL", "POL")):
        for fraction in (0.01, 0.1, 1.0):
            if errors := found.errors.get(("exact", fraction, name)):
                paper = TABLE_1["exact", fraction][column]
                remark = _difference_to_paper(rmse(errors), paper)
                rows.append(Row(f"{name}, exact, {fraction:.0%} measured", rmse(errors), paper, remark))
    return rows


def _best_row(found: _Scores) -> Row:
    """In how many rows PYC-MB, ours or as published, is best."""
    best = {
        (kind, fraction): min(_SCORED, key=lambda name: rmse(found.errors[kind, fraction, name]))
        for kind in KINDS
        for fraction in FRACTIONS
        if (kind, fraction, "PYC") in found.errors
    }
    others = [f"{kind} at {100 * at:g} % ({name})" for (kind, at), name in best.items() if name not in ("PYC", PLAIN)]
    theirs = [min(NAMES, key=lambda name: row[name]) for row in TABLE_1.values()]
    ours = f"Ours: {', '.join(others)}." if others else "Here there is none."
    return Row(
        "rows of Table 1 in which PYC-MB is best", f"{len(best) - len(others)} of {len(best)}",
        f"{theirs.count('PYC')} of {len(theirs)}", f"The paper's exception is sparse at 0.1 %. {ours}",
    )  # fmt: skip


def _table_1(found: _Scores) -> Grid:
    cells: list[list[Value]] = []
    for fraction in FRACTIONS:
        for kind in KINDS:
            errors = {name: found.errors.get((kind, fraction, name), []) for name in _SCORED}
            if not errors["PYC"]:
                continue
            paper = TABLE_1[kind, fraction]
            best = min(_SCORED, key=lambda name: rmse(errors[name]))
            plain = f"{rmse(errors[PLAIN]):.3f}{'*' if best == PLAIN else ''}"
            row = [f"{rmse(errors[name]):.3f}{'*' if name == best else ''} ({paper[name]:.3f})" for name in NAMES]
            count = f"{len(errors['PYC'])} ({paper['count']:.0f})"
            cells.append([f"{100 * fraction:g} %", kind, count, *row, plain])
    heads = ("measured", "matching", "collections", *(_LABELS.get(name, name) for name in NAMES), PLAIN)
    few = [
        f"{kind} at {100 * fraction:g} %"
        for fraction in FRACTIONS
        for kind in KINDS
        if 0 < len(found.errors.get((kind, fraction, "PYC"), [])) < _FEWEST_COLLECTIONS
    ]
    remark = "Ours (the paper's); * is our best in the row."
    if few:
        remark += f" Rows of fewer than {_FEWEST_COLLECTIONS} collections say little: {', '.join(few)}."
    return Grid("Table 1: RMSE of the forecast at full size", heads, cells, remark)


def _corpora(found: _Scores) -> Grid:
    """Tables S3 to S7: every corpus at every share."""
    groups = dict.fromkeys((kind, corpus) for kind, _, corpus in found.by_corpus)
    cells: list[list[Value]] = [
        [kind, corpus, *(_rmse_and_count(found.by_corpus.get((kind, at, corpus), [])) for at in FRACTIONS)]
        for kind, corpus in groups
    ]
    heads = ("matching", "corpus", *(f"{100 * fraction:g} %" for fraction in FRACTIONS))
    remark = "RMSE at full size, and in brackets the number of collections; the columns are the shares measured."
    return Grid("Tables S3 to S7: PYC-MB by corpus", heads, cells, remark)


def _rmse_and_count(errors: list[float]) -> Value:
    return f"{rmse(errors):.3f} ({len(errors)})" if errors else None


_CurvesAndFits = dict[float, tuple[Curve, Mapping[Name, CurveFit]]]


def _note_on_empty_panels(drawn: Mapping[str, _CurvesAndFits]) -> str:
    """Panels in which there is nothing to extrapolate from."""
    empty = [
        f"{kind}, {share:.0%}" for kind, shares in drawn.items() for share, (_, fits) in shares.items() if not fits
    ]
    if not empty:
        return ""
    return f" No lines in {'; '.join(empty)}: of so few people nearly all, or hardly any, were named, or no fit stands."


def _curve_and_fits(study: Study, seed: int) -> _CurvesAndFits:
    """The whole curve and the fits, for each share of the figure."""
    whole = study.measure(study.people)
    found: _CurvesAndFits = {}
    for fraction in _SHOWN:
        curve = study.measured(fraction)
        try:
            fits = compare_fits(curve, seed=seed) if curve is not None else {}
        except UnsupportedError:
            fits = {}
        found[fraction] = (whole, fits)
    return found
