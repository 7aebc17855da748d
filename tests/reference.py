"""A plain-Python counter that every measure is checked against: slow, short and obvious."""

import math
from collections import Counter, defaultdict
from fractions import Fraction


def classes_of(rows, columns):
    """Rows by their values in the columns; None is a value like any other."""
    found = defaultdict(list)
    for number, row in enumerate(rows):
        found[tuple(row[column] for column in columns)].append(number)
    return list(found.values())


def history_classes(rows, columns, person):
    """People by the multiset of their rows' values."""
    histories = defaultdict(Counter)
    for row in rows:
        histories[row[person]][tuple(row[column] for column in columns)] += 1
    found = defaultdict(list)
    for who, history in histories.items():
        found[frozenset(history.items())].append(who)
    return list(found.values())


def diversity(rows, columns, secret, order):
    """Every measure of one sensitive column, by its definition; `order` lists its values in ascending order."""
    n = len(rows)
    table = {value: Fraction(sum(row[secret] == value for row in rows), n) for value in order}
    worst = {"distinct": len(order), "entropy": math.inf, "equal": 0, "ordered": 0, "alpha": 0, "beta": 0, "delta": 0.0}
    homogeneous, enhanced, tallies = 0, True, []
    for members in classes_of(rows, columns):
        tally = Counter(rows[number][secret] for number in members)
        tallies.append(sorted(tally.values(), reverse=True))
        here = {value: Fraction(tally[value], len(members)) for value in order}
        worst["distinct"] = min(worst["distinct"], len(tally))
        worst["entropy"] = min(worst["entropy"], -sum(float(p) * math.log(p) for p in here.values() if p))
        worst["equal"] = max(worst["equal"], sum(abs(here[v] - table[v]) for v in order) / 2)
        moved = running = Fraction(0)
        for value in order:
            running += here[value] - table[value]
            moved += abs(running)
        if len(order) > 1:
            worst["ordered"] = max(worst["ordered"], moved / (len(order) - 1))
        worst["alpha"] = max(worst["alpha"], max(here.values()))
        for value in order:
            gain = (here[value] - table[value]) / table[value]
            worst["beta"] = max(worst["beta"], gain)
            if gain > 0 and float(gain) > -math.log(table[value]) + 1e-12:
                enhanced = False
            if here[value]:
                worst["delta"] = max(worst["delta"], abs(math.log(here[value] / table[value])))
        homogeneous += len(members) if len(tally) == 1 else 0
    level = worst["distinct"]
    ratio = max(counts[0] / sum(counts[level - 1 :]) for counts in tallies) if level > 1 else None
    return worst | {"homogeneous": homogeneous, "enhanced": enhanced, "recursive": ratio}
