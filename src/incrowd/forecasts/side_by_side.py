"""Comparison of several identification techniques: which names the most people, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.errors import InputError
from incrowd.forecasts.result import Forecast
from incrowd.wording import population


def name_leaders(answers: Mapping[str, Forecast]) -> list[str]:
    """For each population, a sentence that names the technique with the most people named, and how certain that is.

    Args:
        answers: the forecast of every technique, by its name, all for the same populations.

    Raises:
        InputError: there are fewer than two techniques.

    >>> from incrowd import fit_curve, forecast
    >>> curves = {"faces": [0.99, 0.97, 0.93], "voices": [0.7, 0.5, 0.3]}
    >>> sizes = [10, 100, 1_000]
    >>> answers = {
    ...     name: forecast(fit_curve(sizes, correctness=shares), at=[10_000]) for name, shares in curves.items()
    ... }
    >>> name_leaders(answers)
    ['10,000: faces names the most, its interval lies above that of voices.']
    """
    if len(answers) < 2:
        raise InputError(f"{len(answers)} techniques; give two or more to compare")
    first = next(iter(answers.values()))
    sentences = []
    for place, (name, size) in enumerate(zip(first.names, first.at, strict=True)):
        order = sorted(answers, key=lambda one: -float(answers[one].correctness.value[place]))
        best, other = (answers[one].correctness for one in order[:2])
        sure = float(best.low[place]) > float(other.high[place])
        sentences.append(
            f"{population(name, float(size))}: {order[0]} names the most, {'' if sure else 'though '}its interval "
            f"{'lies above' if sure else 'overlaps'} that of {order[1]}."
        )
    return sentences
