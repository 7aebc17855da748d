"""Figures 2, S4 and S7 and Table S9: k-anonymity and t-closeness against fixed intervals and masking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.backends import Coded, encode
from incrowd.classes import assign_classes
from incrowd.demo import AS_NUMBERS, QUASI_IDENTIFIERS
from incrowd.measures import measure_diversity
from incrowd.protection import HIPAA_STEPS, protect
from incrowd.protection.paper_methods import bound_on_t, strata_for
from incrowd.tables import read_table
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.proper_anonymization import printed_numbers as printed

if TYPE_CHECKING:
    import pyarrow as pa

SIZES = tuple(printed.T_BY_K)
SORTED, PARTITION, FIXED, MASKED = "k-anonymity (S2)", "k-anonymity, ours", "fixed intervals (S3)", "safe harbour"
T_SORTED, T_PARTITION = "with t-closeness (S4)", "with t-closeness, ours"
_METHODS: dict[str, dict[str, Any]] = {
    SORTED: {"method": "sorted"},
    PARTITION: {"method": "partition"},
    T_SORTED: {"method": "tcloseness", "t": "bound"},
    T_PARTITION: {"method": "partition", "t": "bound"},
}
_MEASURES = {
    "unique": "Unequivocal re-identification",
    "named": "Correct random re-identification",
    "secret": "Charge above 100,000 certain",
    "loss": "Information loss",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way to protect leaves and costs: shares, and in `uniques` and `told` numbers of records.

    `t` is by distinct charges, `t_by_record` by records ranked by charge.
    """

    kind: str
    setting: str
    k: int | None
    unique: float
    uniques: int
    named: float
    secret: float
    told: int
    loss: float
    t: float
    t_by_record: float | None

    def bar(self) -> dict[str, Any]:
        """As a row of a figure."""
        setting = self.setting if self.k is None else f"k = {self.k}"
        label = f"{self.kind}, {setting}" if self.setting else self.kind
        return {"setting": label, "kind": self.kind, **{name: getattr(self, name) for name in _MEASURES}}


def outcomes(table: pa.Table, context: Context) -> Iterator[Outcome]:
    """Every way and setting of the paper, and the partitions that stand for its methods here."""
    settings: list[tuple[str, str, int | None, dict[str, Any]]] = [
        (kind, f"k = {k}", k, {**options, "k": k}) for kind, options in _METHODS.items() for k in SIZES
    ]
    settings += [(FIXED, f"1/{parts}", None, {"method": "coarsen", "resolution": parts}) for parts in (32, 16, 8)]
    masking = {"method": "mask", "steps": HIPAA_STEPS, "drop": False, "k": 2}
    settings.append((MASKED, "", None, masking))
    for done, (kind, setting, k, options) in enumerate(settings):
        context.progress(f"{kind} {setting}", done / len(settings))
        yield _outcome(table, kind, setting, k, options)


def _outcome(table: pa.Table, kind: str, setting: str, k: int | None, options: dict[str, Any]) -> Outcome:
    numbers = read_table(table, scales=AS_NUMBERS)
    safe = protect(numbers, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["charge"], identifiers=[], **options)
    found = safe.evaluate(secret=printed.SECRET)
    return Outcome(
        kind,
        setting,
        k,
        found.uniqueness,
        found.uniques,
        found.correctness,
        found.disclosure.risk,
        found.disclosure.disclosed,
        found.information_loss,
        found.diversity.t,
        t_by_record(safe.table) if "t" in options else None,
    )


def t_by_record(table: pa.Table) -> float:
    """t of t-closeness with records, not distinct values, as far apart as their ranks, equal values in their order.

    The bound of eq. 6 is for that distance: S4 deals records out by rank.
    """
    import pyarrow as pa

    read = read_table(table)
    (charge,) = encode(read, ["charge"])
    ranks = np.empty(charge.codes.size, dtype=np.int64)
    ranks[np.argsort(charge.codes, kind="stable")] = np.arange(ranks.size)
    ranked = Coded("rank", ranks, pa.array(np.arange(ranks.size)))
    return float(measure_diversity(assign_classes(read, list(QUASI_IDENTIFIERS)).numbers, ranked).t)


def reproduce_protection(context: Context) -> PartResult:
    """Protect the population in every way and measure what is left and lost."""
    table = printed.hospital_population(context)
    found = list(outcomes(table, context))
    above = int((table["charge"].to_numpy() > printed.SECRET[0]).sum())
    at = {(one.kind, one.k or one.setting): one for one in found}
    return PartResult(
        (_claims(at, above, table.num_rows), _table_s9(at, table.num_rows), _grid(found)),
        _pictures(found),
        (
            printed.note_on_size(context),
            "Safe harbour is Table S3's masking of whoever is alone by all nine columns. Its loss counts a masked "
            "cell by the farther end of the column's domain.",
            f"Our partition splits the widest column again and again where Algorithm S2 sorts by one distance: see the "
            f"page on protection.{_remark_on_partition(at)}",
        ),
    )


def _claims(at: dict[tuple[str, Any], Outcome], above: int, rows: int) -> Comparison:
    return Comparison(
        "The paper's claims", (*_rows_on_identity(at, rows), _row_on_loss(at), *_rows_on_charges(at, above, rows))
    )


def _rows_on_identity(at: dict[tuple[str, Any], Outcome], rows: int) -> tuple[Row, ...]:
    anonymous = [at[kind, k] for kind in (SORTED, PARTITION) for k in SIZES]
    fixed = [at[FIXED, f"1/{parts}"] for parts in (32, 16, 8)]
    named = {k: at[SORTED, k].named for k in SIZES}
    over = [f"k = {k}" for k, share in named.items() if share > (1 + 1e-9) / k]
    return (
        Row(
            "unequivocal re-identifications under k-anonymity",
            f"{max(one.uniques for one in anonymous):,} of {rows:,}",
            "zero",
            "the most records by S2 and by ours, for any k",
        ),
        Row(
            "the same in 1/32, 1/16, 1/8 of the domains",
            ", ".join(f"{one.unique:.2%}" for one in fixed),
            "not zero",
            "so here" if all(one.uniques for one in fixed) else "zero in some here",
        ),
        Row(
            "correct random re-identification, S2, k = 2, 3, 5, 10",
            ", ".join(f"{share:.4f}" for share in named.values()),
            "1/k",
            f"above it for {', '.join(over)}"
            if over
            else "never above 1/k; below it where clusters have the same box and so make one class",
        ),
    )


def _row_on_loss(at: dict[tuple[str, Any], Outcome]) -> Row:
    two, eighth = at[SORTED, 2].loss, at[FIXED, "1/8"].loss
    return Row(
        "loss: 2-anonymity (S2) against 1/8 intervals",
        f"{two:.3f} against {eighth:.3f}",
        "less",
        f"{'so here' if two < eighth else 'not here'}; by our partition {at[PARTITION, 2].loss:.3f}",
    )


def _rows_on_charges(at: dict[tuple[str, Any], Outcome], above: int, rows: int) -> tuple[Row, ...]:
    close = [at[kind, k] for kind in (T_SORTED, T_PARTITION) for k in SIZES]
    wider = [at[T_SORTED, k].loss / at[SORTED, k].loss - 1 for k in SIZES]
    return (
        Row(
            "charge certain: S2, k = 2 … 10",
            ", ".join(f"{at[SORTED, k].secret:.2%}" for k in SIZES),
            "the best of all without t",
            _remark_on_disclosure(at),
        ),
        Row(
            "charge certain with t-closeness",
            f"{max(one.told for one in close):,} of {above:,}",
            "zero in all cases",
            _remark_on_closeness(close, above / rows),
        ),
        Row(
            "loss added by t-closeness, S4 against S2, k = 2 … 10",
            ", ".join(f"{more:+.1%}" for more in wider),
            "slightly increased",
            f"with k = 10 {at[T_SORTED, 10].loss:.3f} against {at[FIXED, '1/8'].loss:.3f} in 1/8 intervals; by our "
            f"partition {at[T_PARTITION, 10].loss:.3f}",
        ),
    )


def _remark_on_partition(at: dict[tuple[str, Any], Outcome]) -> str:
    """What smaller boxes give away of the charge, if they do."""
    if not all(at[PARTITION, k].secret > at[SORTED, k].secret for k in SIZES):
        return ""
    return (
        " Plain k-anonymity by the partition gives more charges away than by S2 for every k: the smaller a class's "
        "box, the more alike its members are, also in their charge. That is what a t is for."
    )


def _remark_on_closeness(close: list[Outcome], above: float) -> str:
    """Why t-closeness gives no large charge away, if it does not."""
    told = [f"{one.kind}, {one.setting}: {one.told:,}" for one in close if one.told]
    if told:
        return f"not so here: {'; '.join(told)}"
    remark = f"{above:.1%} of charges are above 100,000"
    if above >= 1 / max(SIZES):
        return remark
    return (
        f"{remark}, fewer than 1 in k for each of these k: they all lie in the top stratum, of which a class has one "
        "record, two at most, so no class can have nothing else"
    )


def _remark_on_disclosure(at: dict[tuple[str, Any], Outcome]) -> str:
    others = {f"1/{parts} intervals": at[FIXED, f"1/{parts}"].secret for parts in (32, 16, 8)}
    others["safe harbour"] = at[MASKED, ""].secret
    better = [f"{name} ({risk:.2%})" for name, risk in others.items() if risk < at[SORTED, 2].secret]
    listed = ", ".join(f"{name} {risk:.2%}" for name, risk in others.items())
    if not better:
        return f"the same: {listed}"
    return f"not here for k = 2: {', '.join(better)} give away less; in all: {listed}"


def _table_s9(at: dict[tuple[str, Any], Outcome], rows: int) -> Grid:
    cells: list[list[Value]] = []
    for k, t in printed.T_BY_K.items():
        s4, ours = at[T_SORTED, k], at[T_PARTITION, k]
        by_record = (s4.t_by_record, ours.t_by_record)
        cells.append(
            [
                *(k, f"{t:.2f}", f"{bound_on_t(rows, k):.4f}", strata_for(rows, k, bound_on_t(rows, k))),
                *(f"{value:.4f}" for value in (*by_record, s4.t, ours.t)),
            ]
        )
    return Grid(
        "Table S9: t for each k",
        (
            "k",
            "the paper",
            "eq. 6",
            "k by eq. 8",
            "reached, S4",
            "reached, ours",
            "S4, by distinct charges",
            "ours, by distinct charges",
        ),
        cells,
        "Reached: the largest distance of a class, counted on the protected table, records being as far apart as their "
        "ranks; that is the distance eq. 6 is for. By distinct charges, the usual definition, equal charges are one "
        "step: where many records share low charges the bound no longer holds." + _remark_on_left_over(at, rows),
    )


def _remark_on_left_over(at: dict[tuple[str, Any], Outcome], rows: int) -> str:
    """Where S4 itself goes past eq. 6: the records that do not fill a class."""
    past = [k for k in printed.T_BY_K if (at[T_SORTED, k].t_by_record or 0.0) > bound_on_t(rows, k) * (1 + 1e-9)]
    return "".join(
        f" S4 goes past eq. 6 at k = {k}: {rows % k} of {rows:,} records are left over by {k}, those with the highest "
        "charges, and each joins a class that has one of the highest already; ours takes those left over from the "
        "middle."
        for k in past
    )


def _grid(found: list[Outcome]) -> Grid:
    cells: list[list[Value]] = []
    for one in found:
        shares = (f"{share:.3%}" for share in (one.unique, one.named, one.secret))
        cells.append([one.kind, one.setting or "Table S3", *shares, f"{one.loss:.4f}"])
    return Grid("Figures 2, S4 and S7 in numbers", ("method", "setting", *_MEASURES.values()), cells)


def _pictures(found: list[Outcome]) -> tuple[Picture, ...]:
    return (
        _picture(
            found, "fig-2", "Figure 2: k-anonymity against fixed intervals", (SORTED, PARTITION, FIXED),
            ("unique", "named", "loss"), "What k-anonymity and fixed intervals leave",
            "Fixed intervals cover 1/32, 1/16 and 1/8 of each column's domain",
            "Correct random re-identification is the chance that a guess within the class is right.",
        ),
        _picture(
            found, "fig-s4", "Figure S4: the same with attribute disclosure and safe harbour",
            (SORTED, PARTITION, FIXED, MASKED), tuple(_MEASURES), "What is left and lost by every method",
            "Charge above 100,000: share of its holders whose whole class has it",
            "Safe harbour masks the cells of whoever is alone, as Table S3 says.",
        ),
        _picture(
            found, "fig-s7", "Figure S7: k-anonymity with and without t-closeness",
            (SORTED, T_SORTED, PARTITION, T_PARTITION), ("secret", "loss"),
            "Charges given away, and what t-closeness costs", "t is the bound of eq. 6 for each k",
            "S2 and S4 are the paper's algorithms; ours are partitions with the same guarantees.",
        ),
    )  # fmt: skip


def _picture(
    found: list[Outcome], name: str, words: str, kinds: tuple[str, ...], measures: tuple[str, ...], title: str,
    subtitle: str, remark: str,
) -> Picture:  # fmt: skip
    from papers.figures.anonymization import bar_panels

    bars = [one.bar() for one in found if one.kind in kinds]
    shown = {measure: _MEASURES[measure] for measure in measures}
    return Picture(name, words, bar_panels(bars, shown, title=title, subtitle=subtitle), remark)
