"""The textbook formulas with as many digits as it takes. Slow, and right."""

import mpmath as mp


def inverse_digamma(y):
    y = mp.mpf(y)
    x = mp.e**y + mp.mpf(1) / 2 if y > -2.22 else -1 / (y - mp.psi(0, 1))
    for _ in range(60):
        step = (mp.psi(0, x) - y) / mp.psi(1, x)
        x -= step
        if abs(step) < abs(x) * mp.mpf(10) ** (20 - mp.mp.dps):
            break
    return x


def parameters(h, gamma):
    """(d, α) of (h, γ)."""
    heavy = mp.mpf(h) * mp.mpf(gamma)
    d = 1 - inverse_digamma(mp.psi(0, 1) - heavy) if gamma else mp.mpf(0)
    return d, inverse_digamma(mp.psi(0, 1) + mp.mpf(h) - heavy) - 1


def correctness(d, alpha, n):
    n = mp.mpf(n)
    if d == 0:
        return alpha / n * (mp.psi(0, n + alpha) - mp.psi(0, alpha))
    ratio = mp.loggamma(1 + alpha) - mp.loggamma(d + alpha) + mp.loggamma(n + d + alpha) - mp.loggamma(n + alpha)
    return (mp.exp(ratio) - alpha) / (n * d)


def uniqueness(d, alpha, n):
    n = mp.mpf(n)
    ratio = mp.loggamma(1 + alpha) - mp.loggamma(d + alpha) + mp.loggamma(n + d + alpha - 1) - mp.loggamma(n + alpha)
    return mp.exp(ratio)


def class_size_pmf(d, alpha, n, j):
    n, j = mp.mpf(n), mp.mpf(j)

    def log_beta(x, y):
        return mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y)

    choose = mp.loggamma(n) - mp.loggamma(j) - mp.loggamma(n - j + 1)
    return mp.exp(choose + log_beta(j - d, n - j + alpha + d) - log_beta(1 - d, alpha + d))


def new_classes(d, alpha, people, classes, population):
    d, alpha = mp.mpf(d), mp.mpf(alpha)
    if d == 0:
        return alpha * (mp.psi(0, alpha + population) - mp.psi(0, alpha + people))
    log_growth = (
        mp.loggamma(alpha + population + d)
        - mp.loggamma(alpha + people + d)
        - mp.loggamma(alpha + population)
        + mp.loggamma(alpha + people)
    )
    return (classes + alpha / d) * (mp.exp(log_growth) - 1)


def expected_inverse_size(d, alpha, people, population, seen):
    """E[1/F | f] by adding up every size."""
    first, second = seen - mp.mpf(d), people + mp.mpf(alpha) - seen + mp.mpf(d)
    more = population - people
    chance = mp.exp(
        mp.loggamma(second + more)
        + mp.loggamma(first + second)
        - mp.loggamma(second)
        - mp.loggamma(first + second + more)
    )
    total = mp.mpf(0)
    for x in range(more + 1):
        total += chance / (seen + x)
        if x < more:
            chance *= mp.mpf(more - x) / (x + 1) * (first + x) / (second + more - x - 1)
    return total


def partitions(n):
    """Every way to put n people into classes, as lists of sizes."""
    if n == 0:
        yield []
        return
    for rest in partitions(n - 1):
        yield [*rest, 1]
        for i in range(len(rest)):
            yield [*rest[:i], rest[i] + 1, *rest[i + 1 :]]
