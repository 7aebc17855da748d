"""Independent answers to check against: by definition, by exact polynomials, by partitions, by more digits."""

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import comb, factorial, prod

import mpmath

from incrowd import ClassSizes


def by_definition(sizes: list[int], leaked: int, targets: int) -> Fraction:
    """Every leak and every ordered choice of targets, one by one."""
    person = [index for index, size in enumerate(sizes) for _ in range(size)]
    total, cases = Fraction(0), 0
    for leak in combinations(range(len(person)), leaked):
        for wanted in permutations(range(len(person)), targets):
            cases += 1
            if not set(wanted) <= set(leak):
                continue
            members = [sum(person[one] == index for one in leak) for index in range(len(sizes))]
            risk = Fraction(1)
            for one in wanted:
                risk /= members[person[one]]
                members[person[one]] -= 1
            total += risk
    return total / cases


def by_polynomials(sizes: list[int], leaked: int, targets: int) -> Fraction:
    """The generating function multiplied out in exact fractions."""
    product = {(0, 0): Fraction(1)}
    for size in sizes:
        grown: dict[tuple[int, int], Fraction] = {}
        for (h0, c0), value in product.items():
            for h in range(min(size, leaked - h0) + 1):
                for c in range(min(h, targets - c0) + 1):
                    key = (h0 + h, c0 + c)
                    grown[key] = grown.get(key, Fraction(0)) + value * comb(size, h) / factorial(c)
        product = grown
    people = sum(sizes)
    falling = prod(people - i for i in range(targets))
    return product.get((leaked, targets), Fraction(0)) * factorial(targets) / falling / comb(people, leaked)


def by_partitions(people: int, k: int, leaked: int, targets: int) -> Fraction:
    """Classes of one size, any number of them, in whole numbers: a sum over how the targets fall into classes."""
    classes, total = people // k, 0
    choose = cache(comb)
    for shape in _shapes(targets, k):
        touched = sum(shape.values())
        if touched > classes:
            continue
        ways = prod(range(classes, classes - touched, -1)) * factorial(targets)
        leaks = [1]
        for c, times in shape.items():
            ways //= factorial(times) * factorial(c) ** times  # without a remainder: they count arrangements
            for _ in range(times):
                leaks = _times(leaks, [comb(k, h) if h >= c else 0 for h in range(k + 1)])
        rest = people - k * touched
        total += ways * sum(
            count * choose(rest, leaked - h) for h, count in enumerate(leaks) if 0 <= leaked - h <= rest
        )
    falling = prod(people - i for i in range(targets))
    return Fraction(total, falling * comb(people, leaked))


def _shapes(total: int, largest: int) -> list[dict[int, int]]:
    """Partitions of a number into parts up to `largest`, as part -> how often."""
    largest = min(largest, total)
    if total == 0:
        return [{}]
    if largest == 0:
        return []
    return [
        {**rest, **({largest: times} if times else {})}
        for times in range(total // largest + 1)
        for rest in _shapes(total - times * largest, largest - 1)
    ]


def _times(left: list[int], right: list[int]) -> list[int]:
    result = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return result


def by_more_digits(sizes: ClassSizes, leaked: int, targets: int) -> mpmath.mpf:
    """The contour integral in w alone, at 30 digits, with power series in z: another road to the same number."""
    with mpmath.workdps(30):
        people = sizes.people
        rho = mpmath.mpf(leaked) / (people - leaked)
        spread = mpmath.sqrt(people * rho) / (1 + rho)
        nodes = int(12 * spread) + 60
        total = mpmath.mpf(0)
        for j in range(int(nodes * 12 / (2 * mpmath.pi * spread)) + 2):
            w = rho * mpmath.expjpi(mpmath.mpf(2) * j / nodes)
            series = _series(sizes, w, targets)
            value = (series / (1 + rho) ** people / mpmath.expjpi(mpmath.mpf(2) * j * leaked / nodes)).real
            total += value if j == 0 else 2 * value
        log_scale = people * mpmath.log(1 + rho) - leaked * mpmath.log(rho)
        falling = mpmath.fprod(mpmath.mpf(people - i) / (i + 1) for i in range(targets))
        return total / nodes * mpmath.exp(log_scale - mpmath.log(mpmath.binomial(people, leaked))) / falling


def _series(sizes: ClassSizes, w: mpmath.mpc, targets: int) -> mpmath.mpc:
    """[z^n] of the product at one w, from the logarithmic derivatives of the classes."""
    slope = [mpmath.mpc(0)] * (targets + 1)  # z · d/dz log Π
    constant = mpmath.mpc(1)
    for size, count in sizes.histogram().items():
        terms = [comb(size, h) * w**h for h in range(size + 1)]
        poly = [sum(terms[c:]) / mpmath.factorial(c) for c in range(targets + 1)]
        own = [mpmath.mpc(0)] * (targets + 1)
        for c in range(1, targets + 1):
            own[c] = (c * poly[c] - sum(own[i] * poly[c - i] for i in range(1, c))) / poly[0]
            slope[c] += count * own[c]
        constant *= poly[0] ** count
    result = [constant]
    for c in range(1, targets + 1):
        result.append(sum(slope[i] * result[c - i] for i in range(1, c + 1)) / c)
    return result[targets]
