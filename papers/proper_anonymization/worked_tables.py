"""The paper's small tables: S2 protected to S6, the files of S10, and its slips, each with a number that proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from incrowd import evaluate, protect, read_table
from incrowd.demo import FULL_SIZE
from incrowd.protection.paper_methods import bound_on_t
from papers.parts import Comparison, Context, Grid, PartResult, Row, Value
from papers.proper_anonymization.printed_numbers import T_BY_K

TABLE_S2: Mapping[str, Sequence[Any]] = {
    "Hospital": ["Cedars-Sinai"] * 6,
    "Age": [42, 35, 52, 70, 57, 61],
    "Gender": ["Male", "Male", "Male", "Female", "Male", "Male"],
    "Ethnicity": ["Non-hispanic", "Non-hispanic", "Non-hispanic", "Hispanic", "Non-hispanic", "Non-hispanic"],
    "Race": ["White", "White", "Black", "White", "White", "White"],
    "Zip code": [93722, 93611, 93561, 93560, 93555, 93551],
    "County": ["Fresno", "Fresno", "Kern", "Kern", "Kern", "Los Angeles"],
    "Admission quarter": [1, 2, 2, 2, 4, 2],
    "Length of stay": [33, 47, 13, 1, 2, 2],
    "Charges": [505785, 1083683, 252303, 107179, 34392, 24846],
    "Diagnosis": ["Pneumonia", "Meningitis", "Necrosis", "Breast Cancer", "Kidney Cancer", "Stomach Cancer"],
}
SECRETS = ("Charges", "Diagnosis")
KNOWN = tuple(name for name in TABLE_S2 if name not in SECRETS)
# by class: its three rows are alike in the quasi-identifiers
TABLE_S6: Mapping[str, tuple[str, str]] = {
    "Hospital": ("Cedars-Sinai", "Cedars-Sinai"),
    "Age": ("[42;52]", "[57;70]"),
    "Gender": ("Male", "{Female,Male}"),
    "Ethnicity": ("Non-hispanic", "{Hispanic,Non-hispanic}"),
    "Race": ("{Black,White}", "White"),
    "Zip code": ("[93561;93722]", "[93551;93560]"),
    "County": ("{Fresno,Kern}", "{Kern,Los Angeles}"),
    "Admission quarter": ("[1;2]", "[2;4]"),
    "Length of stay": ("[13;47]", "[1;2]"),
}
SHARED_ALREADY = (1, 1, 1, 2, 2)  # 2-anonymous as it is, but cut into runs of two it is not left alone


def table_s6_as_printed() -> dict[str, list[Any]]:
    """Table S6 in full: the secrets are those of Table S2."""
    labels = {name: [first] * 3 + [second] * 3 for name, (first, second) in TABLE_S6.items()}
    return labels | {name: list(TABLE_S2[name]) for name in SECRETS}


def reproduce_worked_tables(context: Context) -> PartResult:
    """Table S2 through `protect`, the paper's files through `evaluate`, and what is wrong in print."""
    table = read_table(TABLE_S2, scales={"Zip code": "numeric"})
    safe = protect(table, quasi_identifiers=KNOWN, k=3, identifiers=[])
    cells: list[list[Value]] = [[str(row[name]) for name in TABLE_S2] for row in safe.table.to_pylist()]
    return PartResult(
        (
            Grid("Table S6 from Table S2, k = 3", tuple(TABLE_S2), cells),
            Comparison("The small tables in numbers", (*_against_s6(safe.table), *_secrets(safe), _files())),
            Comparison("Slips", (*_slips(),), "Each is proved by a test, in `tests/papers/test_slips.py`."),
        ),
    )


def _against_s6(table: Any) -> tuple[Row, ...]:
    printed = table_s6_as_printed()
    different = [name for name in KNOWN if [str(cell) for cell in table[name].to_pylist()] != printed[name]]
    remark = f"all but {', '.join(different)}: see the slips" if different else ""
    return (Row("columns that are as in Table S6", f"{len(KNOWN) - len(different)} of {len(KNOWN)}", None, remark),)


def _secrets(safe: Any) -> tuple[Row, ...]:
    wealthy = safe.evaluate(sensitive=["Charges"], secret=(250_000, None)).disclosure
    sick = [str(name).endswith("Cancer") for name in TABLE_S2["Diagnosis"]]
    told = sum(sick[i] and all(sick[j] for j in range(3, 6)) for i in range(3, 6))
    return (
        Row("charges above 250,000 that a class gives away (eq. 5)", f"{wealthy.disclosed} of {wealthy.records}",
            "the first group", "nobody is unique, and yet the whole first class is known to be wealthy"),
        Row("cancers that a class gives away", f"{told} of {sum(sick)}", "the second group", "any kind of cancer"),
    )  # fmt: skip


def _files() -> Row:
    """Table S10's format: a header, commas, [min;max], the confidential column last; read back and compared."""
    names = ("age_yrs", "patzip", "charge")
    with TemporaryDirectory() as folder:
        original, masked = Path(folder) / "SPD_dataset.txt", Path(folder) / "3_anonymous_SPD.txt"
        lines = zip(TABLE_S2["Age"][:3], TABLE_S2["Zip code"][:3], TABLE_S2["Charges"][:3], strict=True)
        original.write_text("\n".join([",".join(names), *(",".join(map(str, line)) for line in lines)]) + "\n")
        rows = (f"[35;52],[93561;93722],{charge}" for charge in TABLE_S2["Charges"][:3])
        masked.write_text("\n".join([",".join(names), *rows]) + "\n")
        found = evaluate(original, masked, quasi_identifiers=names[:2])
    return Row("Table S10: a pair of its files, read and compared", f"k = {found.k}, {found.uniques} unique", None,
               "header, commas, [min;max], the confidential column last: read as they are")  # fmt: skip


def _slips() -> tuple[Row, ...]:
    printed = evaluate(TABLE_S2, table_s6_as_printed(), quasi_identifiers=KNOWN)
    runs = protect({"x": SHARED_ALREADY}, quasi_identifiers=["x"], k=2, method="sorted", identifiers=[]).table["x"]
    changed = sum(str(now) != str(was) for now, was in zip(runs.to_pylist(), SHARED_ALREADY, strict=True))
    ours = protect({"x": SHARED_ALREADY}, quasi_identifiers=["x"], k=2, identifiers=[]).table["x"]
    left = sum(str(now) != str(was) for now, was in zip(ours.to_pylist(), SHARED_ALREADY, strict=True))
    over = [k for k in T_BY_K if FULL_SIZE % k]
    return (
        Row("cells of Table S6 that do not cover the original", printed.contradicting, 0,
            "the ages [42-52] omit 35, the age of the second record; the range is [35-52]"),
        Row("records changed by S2 in 1, 1, 1, 2, 2 with k = 2", changed, 0,
            "the text says that records which fulfil k-anonymity already “do not need to be modified”; the pseudo-code "
            f"cuts the sorted records into runs of k whatever they are. Our partition changes {left}"),
        Row("k of Table S9 that leave records over", ", ".join(map(str, over)), "none",
            f"eq. 6 is for k that divide n = {FULL_SIZE:,}. In the loop of S4 those left over, with the highest "
            "values, are one more subset to take from, so that a class may pass the bound "
            f"({bound_on_t(FULL_SIZE, 10):.4f} for k = 10; Table S9 above says by how much it does)"),
    )  # fmt: skip
