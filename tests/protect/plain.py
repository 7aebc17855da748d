"""What a protected cell covers, read in the plainest way; knows nothing of how protection works."""

import csv


def covers(label, value):
    """Whether a protected cell allows for the original value."""
    if label == "*":
        return True
    if label == value or (label is not None and value is not None and str(value) == label):
        return True
    if label is None or not isinstance(label, str):
        return False
    if label.startswith("[") and ";" in label:
        if value is None:
            return False
        low, high = label[1:-1].split(";")
        return type(value)(low) <= value <= type(value)(high)
    if label.startswith("{"):
        return ("" if value is None else str(value)) in next(csv.reader([label[1:-1]]))
    if label.endswith("*"):
        start = label.rstrip("*")
        return value is not None and str(value).startswith(start) and len(str(value)) == len(label)
    return False


def rows_of(frame):
    """A frame's rows as dictionaries."""
    return frame.to_pylist()
