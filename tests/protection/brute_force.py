"""The fewest cells that can be blanked, over all ways to do it."""

import itertools
from collections.abc import Sequence

Row = tuple[int, ...]


def fewest_equal(rows: Sequence[Row], k: int) -> int:
    """The fewest cells blanked, over all ways to put records into classes of k or more."""
    if not rows:
        return 0
    found = []
    for size in range(k, len(rows) + 1):
        if 0 < len(rows) - size < k:
            continue
        for others in itertools.combinations(range(1, len(rows)), size - 1):
            members = [rows[at] for at in (0, *others)]
            rest = [row for at, row in enumerate(rows) if at and at not in others]
            cost = len(members) * sum(len({*column}) > 1 for column in zip(*members, strict=True))
            found.append(cost + fewest_equal(rest, k))
    return min(found)


def fewest_matching(rows: Sequence[Row], k: int) -> int:
    """The fewest cells whose blanks give everybody k matches, over all sets of cells; a blank may be any value."""
    everybody, columns = range(len(rows)), range(len(rows[0]))
    for size in range(len(rows) * len(rows[0]) + 1):
        for gone in map(frozenset, itertools.combinations(itertools.product(everybody, columns), size)):

            def match(one: int, other: int, gone: frozenset[tuple[int, int]] = gone) -> bool:
                return all(rows[one][at] == rows[other][at] or {(one, at), (other, at)} & gone for at in columns)

            if all(sum(match(one, other) for other in everybody) >= k for one in everybody):
                return size
    raise AssertionError
