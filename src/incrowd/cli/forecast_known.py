"""`incrowd forecast` without a fit: for a known distribution, or for the law with a given entropy and tail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.cli import options, terminal
from incrowd.errors import InputError
from incrowd.wording import percent, population

if TYPE_CHECKING:
    from incrowd.curves import KnownDistribution
    from incrowd.pitman_yor import PitmanYor
    from incrowd.tables import Table


def known_model(
    table: Table | None, frequencies: str | None, entropy: str | None, tail: float | None
) -> KnownDistribution | PitmanYor | None:
    """The distribution in a column, or the law of an entropy and a tail; None if neither is given."""
    from incrowd.curves import KnownDistribution
    from incrowd.pitman_yor import PitmanYor

    if frequencies is None and entropy is None and tail is None:
        return None
    if frequencies is not None and (entropy is not None or tail is not None):
        raise InputError("--frequencies is a distribution by itself; leave out --entropy and --tail")
    if frequencies is not None:
        if table is None:
            raise InputError("--frequencies names a column: name its table too")
        values = table.to_arrow(table.require([frequencies]))[frequencies]
        try:
            return KnownDistribution(values.to_numpy())
        except (TypeError, ValueError):
            raise InputError(f"column {frequencies!r} holds no frequencies; give numbers of 0 or more") from None
    if entropy is None or tail is None or table is not None:
        raise InputError("--entropy and --tail describe the law without a table; give both, and no table")
    bits = entropy.lower().removesuffix("bits").strip()
    unit: Any = "bits" if bits != entropy.lower() else "nats"
    h = float(options.parse_decimal(bits, "an entropy of", "41.5 or 40bits"))
    return PitmanYor.from_entropy(h=h, gamma=tail, unit=unit)


def show_known(
    model: KnownDistribution | PitmanYor,
    populations: list[float | str],
    named: dict[str, float],
    ks: list[int],
    json: bool,
) -> None:
    """Print the expected shares in every population; nothing is estimated, so there is no interval."""
    from incrowd.forecasts.population_sizes import settle_populations

    names, sizes = settle_populations(populations, named)
    rows: list[dict[str, Any]] = [
        {
            "population": name,
            "people": size,
            "correctness": model.correctness(size),
            "uniqueness": model.uniqueness(size),
            "violations": {str(k): model.violations(size, k) for k in ks},
        }
        for name, size in zip(names, sizes.tolist(), strict=True)
    ]
    if json:
        terminal.print_json({"expected": rows})
        return
    terminal.heading("Who would be named correctly, expected")
    terminal.table(
        ["population", "named", "unique", *(f"in classes below {k}" for k in ks)],
        [
            [
                population(row["population"], row["people"]),
                percent(row["correctness"]),
                percent(row["uniqueness"], row["people"]),
                *(percent(share, row["people"]) for share in row["violations"].values()),
            ]
            for row in rows
        ],
    )
    terminal.line("These are expectations of a distribution that was given; nothing was measured or fitted.")
