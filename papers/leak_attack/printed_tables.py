"""Tables 1 to 4 of the leak-attack paper, typed in as printed."""

from __future__ import annotations

from collections.abc import Sequence

QUASI_IDENTIFIERS = ("sex", "age", "postcode", "ethnicity", "stay")
COLUMNS = ("patient", *QUASI_IDENTIFIERS, "diagnosis")

TABLE_1: tuple[tuple[str, str, int, str, str, int, str], ...] = (
    ("123 456 7890", "M", 50, "OX12 6HU", "White", 2, "Cancer"),
    ("123 456 7890", "M", 50, "OX12 6HU", "White", 6, "Pneumonia"),
    ("111 342 9807", "M", 53, "OX12 9HU", "White", 3, "Cancer"),
    ("111 342 9807", "M", 53, "OX12 9HU", "White", 11, "Stroke"),
    ("878 452 0908", "M", 55, "OX12 8JU", "White", 4, "Pneumonia"),
    ("878 452 0908", "M", 55, "OX12 8JU", "White", 7, "Influenza"),
    ("878 452 0908", "M", 55, "OX12 8JU", "White", 16, "Pneumonia"),
    ("673 542 8745", "F", 64, "OX14 6GU", "Mixed", 22, "Cancer"),
    ("879 543 8132", "F", 65, "OX14 7GU", "Mixed", 24, "Cancer"),
    ("763 356 4625", "F", 65, "OX14 8GU", "Mixed", 27, "Cancer"),
    ("989 323 3221", "F", 58, "OX13 6AB", "Mixed", 4, "Influenza"),
    ("837 473 7584", "F", 62, "OX13 6AF", "Mixed", 2, "Influenza"),
    ("878 462 9834", "F", 60, "OX13 6BX", "Mixed", 3, "Ulcer"),
    ("878 663 2210", "F", 56, "OX13 6FW", "White", 4, "Stroke"),
)
"""Admissions of ten invented people."""

TABLE_2 = ("John Doe", "M", 50, "OX12 6HU", "White")

TABLE_3: tuple[tuple[str, str, str, str, str, str, str], ...] = (
    ("2887", "M", "50-55", "OX12", "White", "0-5", "Cancer"),
    ("2887", "M", "50-55", "OX12", "White", "6-15", "Pneumonia"),
    ("3679", "M", "50-55", "OX12", "White", "0-5", "Cancer"),
    ("3679", "M", "50-55", "OX12", "White", "6-15", "Stroke"),
    ("1208", "M", "50-55", "OX12", "White", "0-5", "Pneumonia"),
    ("1208", "M", "50-55", "OX12", "White", "6-15", "Influenza"),
    ("2257", "F", "60-65", "OX14", "Mixed", "20-25", "Cancer"),
    ("9006", "F", "60-65", "OX14", "Mixed", "20-25", "Cancer"),
    ("8773", "F", "60-65", "OX14", "Mixed", "20-25", "Cancer"),
    ("4653", "F", "55-65", "OX13", "Mixed", "0-5", "Influenza"),
    ("7363", "F", "55-65", "OX13", "Mixed", "0-5", "Influenza"),
    ("5392", "F", "55-65", "OX13", "Mixed", "0-5", "Ulcer"),
    ("6453", "F", "55-65", "OX13", "Mixed", "0-5", "Stroke"),
)
"""The same people, 3-anonymous, as the paper prints it."""

LEAKED_PATIENTS = ("3679", "1208", "4653")  # Table 4


def as_columns(rows: tuple[tuple[object, ...], ...]) -> dict[str, list[object]]:
    """A printed table by column."""
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))


def rows_without_a_place() -> list[tuple[str, str]]:
    """The records of Table 1 that no row of Table 3 with the same diagnosis covers, and in which column it fails.

    >>> rows_without_a_place()
    [('878 452 0908', 'stay'), ('763 356 4625', 'stay'), ('878 663 2210', 'ethnicity')]
    """
    found = []
    for patient, *values, diagnosis in TABLE_1:
        rows = [labels for _, *labels, of in TABLE_3 if of == diagnosis]
        nearest = min((_failing_columns(values, labels) for labels in rows), key=len)
        if nearest:
            found.append((patient, ", ".join(nearest)))
    return found


def _failing_columns(values: Sequence[object], labels: Sequence[str]) -> list[str]:
    cells = zip(QUASI_IDENTIFIERS, values, labels, strict=True)
    return [name for name, value, label in cells if not _fits(value, label)]


def _fits(value: object, label: str) -> bool:
    if isinstance(value, int):
        low, high = label.split("-")
        return int(low) <= value <= int(high)
    return str(value).startswith(label)
