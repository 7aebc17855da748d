"""What a protected cell covers, read in the plainest way; knows nothing of how protection works."""

import os

TABLES = int(os.environ.get("INCROWD_TABLES", "18"))  # random tables for each property; `make fuzz` takes more


def examples(usual):
    """How many random tables a property is looked at: three fifths of the usual, or as many as were asked for."""
    return int(os.environ.get("INCROWD_TABLES", usual * 3 // 5))


def covers(label, value):
    """Whether a protected cell allows for the original value."""
    if label is None or not isinstance(label, str):
        return label == value
    if label == "*":
        return True
    if label.startswith("[") and ";" in label:
        if value is None:
            return False
        low, high = label[1:-1].split(";")
        return (low == "*" or type(value)(low) <= value) and (high == "*" or value <= type(value)(high))
    if label.startswith("{"):
        return value_in_set(label[1:-1], None if value is None else str(value))
    if label.endswith("*"):
        start = label.rstrip("*")
        return value is not None and str(value).startswith(start) and len(str(value)) == len(label)
    return value is not None and str(value) == label


def value_in_set(inside, value):
    """Letter by letter: a comma outside quotation marks ends a member, nothing at all between commas is a null."""
    members, member, quoting, marked = [], "", False, False
    for place, letter in enumerate(inside + ","):
        if letter == '"':
            member += '"' if not quoting and place and inside[place - 1] == '"' and marked else ""
            quoting, marked = not quoting, True
        elif letter == "," and not quoting:
            members.append(member if member or marked else None)
            member, marked = "", False
        else:
            member += letter
    return value in members


def rows_of(frame):
    """A frame's rows as dictionaries."""
    return frame.to_pylist()
