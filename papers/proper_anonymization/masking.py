"""Safe harbour: the population masked as the paper's Table S3 says, and filled in again by its Algorithm S1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, part
from incrowd.backends import encode
from incrowd.classes import ClassSizes
from incrowd.demo import AS_NUMBERS, FULL_SIZE, GROUPS, QUASI_IDENTIFIERS
from incrowd.evaluation import unique_records
from incrowd.evaluation.labels import LabelMeanings, read_meanings
from incrowd.evaluation.loss import correlations
from incrowd.protection import HIPAA_STEPS, protect, regenerate
from incrowd.tables import read_table
from papers.figures.anonymization import count_bars
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.proper_anonymization import printed_numbers as printed
from papers.proper_anonymization.generated_population import flatten_triangle, upper_triangle

if TYPE_CHECKING:
    import pyarrow as pa

READINGS = {
    "masked by seven": tuple(name for name in QUASI_IDENTIFIERS if name not in ("los", "oshpd_id")),
    "masked by eight": tuple(name for name in QUASI_IDENTIFIERS if name != "los"),
    "masked by all nine": QUASI_IDENTIFIERS,
}
"""Which columns a record must not be alone by. Table S3's caption says those it lists, which are seven: neither the
hospital nor the stay is among them."""
_REGENERATED = "masked by eight"  # the reading that Tables S4 and S5 are made by


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """A masked table, what its columns mean, and unique records by the box rule for every set of groups."""

    table: pa.Table
    meanings: dict[str, LabelMeanings]
    uniques: dict[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """The share of masked cells of every column."""
        return {name: float((meaning.covered > 1)[meaning.codes].mean()) for name, meaning in self.meanings.items()}


def reproduce_masking(context: Context) -> PartResult:
    """Figure S3 with the masked tables; Table S4 from unmasked values, Table S5 after regenerating the others."""
    table = printed.hospital_population(context)
    before = _by_group(table)
    found = {
        name: mask_uniques(table, columns, part(context.progress, 0.05 + 0.27 * at, 0.32 + 0.27 * at))
        for at, (name, columns) in enumerate(READINGS.items())
    }
    chosen = found[_REGENERATED]
    context.progress("regenerating masked values", 0.85)
    from_earlier_run = regenerate_masked(table, chosen, context.seed)
    context.progress("correlating columns", 0.93)
    truth, unmasked, regenerated = _correlations(chosen, from_earlier_run)
    by_race = masked_counts(table, chosen, "race")
    filled = ClassSizes.from_table(from_earlier_run, quasi_identifiers=QUASI_IDENTIFIERS)
    rows = (
        *_by_reading(table.num_rows, found),
        *_by_pairs(truth, unmasked, regenerated),
        _row_on_regenerated(table.num_rows, list(before.values())[-1], filled.uniques),
    )
    return PartResult(
        (
            Comparison("Masking and regenerating", rows),
            _risks(table.num_rows, before, found),
            _cells(found),
            _pairs(truth, unmasked, regenerated),
            _counts_by_race(by_race),
        ),
        (_picture(table.num_rows, before, found), *_count_pictures(by_race, masked_counts(table, chosen, "age_yrs"))),
        (
            printed.note_on_size(context),
            "Table S3 masks a record “until the record becomes non-unique with regard to these attributes”: by its "
            "words the seven it lists (age, ethnicity, race, sex, quarter, ZIP code, county), without hospital and "
            "stay. Two wider readings stand beside it: with the hospital (eight), and all nine. "
            f"{_nearest_reading(table.num_rows, found)} Tables S4 and S5 are made by the reading with eight columns.",
        ),
    )


def masked_counts(table: pa.Table, found: Masked, name: str) -> dict[int, tuple[int, int]]:
    """For every value of a column, how many records have it and of how many of them it was masked (Figures S1, S2)."""
    hidden = (found.meanings[name].covered > 1)[found.meanings[name].codes]
    values = table[name].to_numpy()
    every, total = np.unique(values, return_counts=True)
    masked = np.bincount(np.searchsorted(every, values[hidden]), minlength=every.size)
    return {int(value): (int(all_), int(some)) for value, all_, some in zip(every, total, masked, strict=True)}


_Counts = Mapping[int, tuple[int, int]]


def _counts_by_race(counts: _Counts) -> Grid:
    theirs = dict(enumerate(printed.MASKED_BY_RACE, start=1))
    cells: list[list[Value]] = [
        [race, total, masked, f"{masked / total:.1%}", theirs.get(race)] for race, (total, masked) in counts.items()
    ]
    return Grid(
        "Figure S1 in numbers: records and masked records by race",
        ("race", "records", "masked", "share", "masked, the paper"), cells,
        "The paper prints the masked counts only. The rarer a race, the more of its records are masked, as it says.",
    )  # fmt: skip


def _count_pictures(by_race: _Counts, by_age: _Counts) -> tuple[Picture, Picture]:
    race, age = (count_bars(counts, what) for counts, what in ((by_race, "race"), (by_age, "age")))
    return (
        Picture("fig-s1", "Figure S1: records and masked records by race", race),
        Picture("fig-s2", "Figure S2: records and masked records by age", age),
    )


def _sets_of_groups() -> list[tuple[str, list[str]]]:
    return [
        (" + ".join(groups), [name for group in groups for name in GROUPS[group]])
        for size in range(1, len(GROUPS) + 1)
        for groups in combinations(GROUPS, size)
    ]


def _by_group(table: pa.Table) -> dict[str, int]:
    read = read_table(table)
    return {
        label: ClassSizes.from_table(read, quasi_identifiers=columns).uniques for label, columns in _sets_of_groups()
    }


def mask_uniques(table: pa.Table, columns: Sequence[str], progress: Progress) -> Masked:
    """Mask step by step whoever is alone by these columns, and count unique records by the box rule."""
    numbers = read_table(table, scales=AS_NUMBERS)
    safe = protect(
        numbers, quasi_identifiers=columns, k=2, method="mask", steps=HIPAA_STEPS, drop=False, identifiers=[]
    )
    names = list(QUASI_IDENTIFIERS)
    pairs = zip(encode(read_table(table), names), encode(read_table(safe.table), names), strict=True)
    meanings = {was.name: read_meanings(was, now) for was, now in pairs}
    uniques, wanted = {}, _sets_of_groups()
    for done, (label, known) in enumerate(wanted):
        tell = part(progress, 0.2 + 0.8 * done / len(wanted), 0.2 + 0.8 * (done + 1) / len(wanted))
        uniques[label] = unique_records([meanings[name] for name in known], tell).unique
    return Masked(safe.table, meanings, uniques)


def regenerate_masked(table: pa.Table, found: Masked, seed: int) -> pa.Table:
    """Algorithm S1: masked cells filled from the counts of the values behind them, column by column."""
    import pyarrow as pa

    counts: dict[str, dict[Any, int]] = {}
    for name, meaning in found.meanings.items():
        hidden = (meaning.covered > 1)[meaning.codes]
        if hidden.any():
            values, tally = np.unique(table[name].to_numpy()[hidden], return_counts=True)
            counts[name] = {str(value): int(count) for value, count in zip(values, tally, strict=True)}
    filled = regenerate(found.table, counts, seed=seed)
    return pa.table({name: filled[name].cast(table.schema.field(name).type) for name in QUASI_IDENTIFIERS})


def _correlations(
    found: Masked, from_earlier_run: pa.Table
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of the population, of the unmasked values (Table S4), and of the regenerated table (Table S5)."""
    meanings = [replace(meaning, wildcard=meaning.covered > 1) for meaning in found.meanings.values()]
    both = correlations(meanings)
    filled = np.corrcoef([from_earlier_run[name].to_numpy() for name in QUASI_IDENTIFIERS])
    return upper_triangle(both.before), upper_triangle(both.after), upper_triangle(filled)


def _printed_numbers(rows: int, found: dict[str, Masked]) -> dict[str, tuple[dict[str, float], float]]:
    """What the paper prints of its masked table, and the same by each reading."""
    return {
        "unique after masking, all known": (
            {name: list(one.uniques.values())[-1] / rows for name, one in found.items()},
            printed.MASKED_UNIQUENESS,
        ),
        "masked races": ({name: one.shares["race"] for name, one in found.items()}, printed.MASKED_RACES / FULL_SIZE),
        "masked cells, mean over nine columns": (
            {name: sum(one.shares.values()) / len(one.shares) for name, one in found.items()},
            1 - printed.UNMASKED / FULL_SIZE,
        ),
    }


def _nearest(shares: dict[str, float], paper: float) -> str:
    return min(shares, key=lambda name: abs(shares[name] - paper)).removeprefix("masked ")


def _by_reading(rows: int, found: dict[str, Masked]) -> list[Row]:
    why = {
        "unique after masking, all known": "hospital and stay are never masked: records alike in the others are told "
        "apart by them unless the reading counts them",
        "masked races": "the sum of the counts printed under Algorithm S1",
    }
    readings = ", ".join(name.removeprefix("masked ") for name in found)
    return [
        Row(
            f"{what}: {readings}",
            ", ".join(f"{share:.2%}" for share in shares.values()),
            f"{paper:.2%}",
            "; ".join([f"nearest {_nearest(shares, paper)}", *([why[what]] if what in why else [])]),
        )
        for what, (shares, paper) in _printed_numbers(rows, found).items()
    ]


def _nearest_reading(rows: int, found: dict[str, Masked]) -> str:
    """Which reading the printed numbers speak for."""
    nearest = [_nearest(shares, paper) for shares, paper in _printed_numbers(rows, found).values()]
    if len(set(nearest)) == 1:
        return f"All three numbers that the paper prints are nearest to the reading {nearest[0]}."
    return (
        f"No reading agrees with all that the paper prints: its share of unique records is nearest {nearest[0]}, its "
        f"masked races {nearest[1]}, its masked cells {nearest[2]}."
    )


def _by_pairs(
    truth: NDArray[np.float64], unmasked: NDArray[np.float64], regenerated: NDArray[np.float64]
) -> tuple[Row, ...]:
    """Tables S4 and S5 against each other and against the population, which only a generated one can be."""
    s4, s5 = flatten_triangle(printed.TABLE_S4), flatten_triangle(printed.TABLE_S5)
    shrunk = [int((np.abs(after) < np.abs(before)).sum()) for before, after in ((truth, regenerated), (s4, s5))]
    return (
        Row(
            "correlation between Tables S4 and S5",
            float(np.corrcoef(unmasked, regenerated)[0, 1]),
            printed.AGREEMENT,
            f"from the printed tables it is {np.corrcoef(s4, s5)[0, 1]:.3f}",
        ),
        Row(
            "largest difference: Table S4 to the population",
            float(np.abs(unmasked - truth).max()),
            None,
            "the paper cannot tell: masked records are the rare ones, and leaving them out shifts correlations",
        ),
        Row(
            "largest difference: Table S5 to the population",
            float(np.abs(regenerated - truth).max()),
            None,
            f"Algorithm S1 fills each column by itself: {shrunk[0]} of {len(s4)} correlations are nearer to 0 than in "
            f"the population, in the paper {shrunk[1]} nearer than in S4 (age and ethnicity 0.359 → 0.209)",
        ),
    )


def _row_on_regenerated(rows: int, before: int, after: int) -> Row:
    return Row(
        "unique by all nine: the population, regenerated",
        f"{before / rows:.2%}, {after / rows:.2%}",
        f"{printed.UNIQUENESS} (regenerated)",
        f"the paper's {printed.UNIQUENESS} is of its regenerated table; the table it came from cannot be counted. Here "
        f"it can: regenerating moves the share by {100 * (after - before) / rows:+.1f} points",
    )


def _risks(rows: int, before: dict[str, int], found: dict[str, Masked]) -> Grid:
    cells: list[list[Value]] = [
        [label, f"{uniques / rows:.4%}", *(f"{one.uniques[label] / rows:.4%}" for one in found.values())]
        for label, uniques in before.items()
    ]
    return Grid(
        "Figure S3 in numbers: unique records",
        ("the attacker knows", "the population", *found),
        cells,
        "Masked records are boxes: one is unique if some value it may stand for is in nobody else's box.",
    )


def _cells(found: dict[str, Masked]) -> Grid:
    cells: list[list[Value]] = [
        [name, *(f"{one.shares[name]:.1%}" for one in found.values())] for name in QUASI_IDENTIFIERS
    ]
    return Grid("Masked cells", ("column", *found), cells)


def _pairs(truth: NDArray[np.float64], unmasked: NDArray[np.float64], regenerated: NDArray[np.float64]) -> Grid:
    columns = (truth, unmasked, flatten_triangle(printed.TABLE_S4), regenerated, flatten_triangle(printed.TABLE_S5))
    cells: list[list[Value]] = [
        [f"{a}, {b}", *(f"{values[at]:.3f}".replace("-0.000", "0.000") for values in columns)]
        for at, (a, b) in enumerate(printed.PAIRS)
    ]
    heads = ("pair", "population", "unmasked, ours", "Table S4", "regenerated, ours", "Table S5")
    return Grid("Tables S4 and S5: pairwise correlations", heads, cells)


def _picture(rows: int, before: dict[str, int], found: dict[str, Masked]) -> Picture:
    from papers.figures.anonymization import risk_bars

    series = {"the population": before} | {name: one.uniques for name, one in found.items()}
    shares = {name: {label: count / rows for label, count in counts.items()} for name, counts in series.items()}
    return Picture(
        "fig-s3",
        "Figure S3: risk by what the attacker knows, before and after masking",
        risk_bars(shares),
        f"The paper prints {printed.UNIQUENESS} and, for the masked table, {printed.MASKED_UNIQUENESS:.2%}.",
    )
