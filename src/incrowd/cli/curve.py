"""`incrowd curve`: how many people are named correctly, by the size of the gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli import options, show
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.curves import Curve
    from incrowd.progress import Progress
    from incrowd.table import Table

Item = Annotated[
    list[str] | None,
    typer.Option("--item", help="Sparse matching: columns that make a point. Commas or repeats.", show_default=False),
]
Known = Annotated[int | None, typer.Option("--known", help="Sparse matching: points of a person an attacker knows.")]
Draws = Annotated[int, typer.Option("--draws", help="Sparse matching: draws of known points for each person.")]
Probes = Annotated[str | None, typer.Option("--probes", help="Robust matching: .npy or table of vectors to identify.")]
Gallery = Annotated[
    str | None, typer.Option("--gallery", help="Robust matching: vectors of the same people, in order.")
]
Metric = Annotated[str, typer.Option("--metric", help="Robust matching: cosine, euclidean or dot.")]
_SHOWN = 12


@options.opens_table
def measure_curve(
    table: options.TablePath = None,
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    item: Item = None,
    known: Known = None,
    draws: Draws = 5,
    probes: Probes = None,
    gallery: Gallery = None,
    metric: Metric = "cosine",
    out: Annotated[Path | None, typer.Option("--out", help="Write the curve as CSV: n,correctness.")] = None,
    plot: options.Plot = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Measure the correctness of an identification technique at every size of gallery, without sampling noise."""
    with show.working("measuring the curve") as progress:
        curve = curve_of(table, qi, person, item, known, draws, probes, gallery, metric, seed, progress)
    for text in curve.notes:
        show.note(text)
    if out is not None:
        curve.write(out, force=force)
        show.note(f"wrote {out}")
    if plot is not None:
        from incrowd.plots import curve_plot, save

        save(curve_plot(curve), plot, force=force)
        show.note(f"wrote {plot}")
    if json:
        show.as_json(curve.to_dict())
    else:
        _show(curve)


def curve_of(
    table: Table | None,
    qi: list[str] | None,
    person: str | None,
    item: list[str] | None,
    known: int | None,
    draws: int,
    probes: str | None,
    gallery: str | None,
    metric: str,
    seed: int,
    progress: Progress,
) -> Curve:
    """The curve that the options describe."""
    refuse_mixed(table, qi, person, item, known, draws, probes, gallery, metric)
    from incrowd.classes import ClassSizes
    from incrowd.curves import correctness_curve, robust_curve, sparse_curve

    if probes is not None or gallery is not None:
        if probes is None or gallery is None or table is not None:
            raise InputError("robust matching takes --probes and --gallery, and no table")
        return robust_curve(probes, gallery, metric=metric, progress=progress)  # type: ignore[arg-type]
    if table is None:
        raise InputError("name a table, or --probes and --gallery")
    if options.names(item):
        if person is None or known is None:
            raise InputError("sparse matching takes --person, --item and --known")
        return sparse_curve(
            table, person=person, item=options.names(item), known=known, draws=draws, seed=seed, progress=progress
        )
    known_columns = options.names(qi, table.columns)
    if not known_columns:
        raise InputError(
            "say what an attacker knows: --qi columns, or --person, --item and --known for sets of points; the table "
            f"has: {', '.join(table.columns[:30])}"
        )
    return correctness_curve(ClassSizes.from_table(table, quasi_identifiers=known_columns, person=person))


def refuse_mixed(
    table: Table | None,
    qi: list[str] | None,
    person: str | None,
    item: list[str] | None,
    known: int | None,
    draws: int,
    probes: str | None,
    gallery: str | None,
    metric: str,
) -> None:
    """An option that the kind of matching does not use would be ignored in silence."""
    robust, sparse = probes is not None or gallery is not None, bool(options.names(item))
    if robust and (options.names(qi) or person or sparse or known is not None):
        raise InputError("robust matching takes --probes and --gallery; leave out --qi, --person, --item and --known")
    if sparse and options.names(qi):
        raise InputError("--qi is for exact matching, --item for sparse matching; give one of them")
    if not sparse and (known is not None or draws != 5):
        raise InputError("--known and --draws are for sparse matching: name the columns of a point with --item")
    if not robust and metric != "cosine":
        raise InputError("--metric is for robust matching: name --probes and --gallery")
    if person is not None and not sparse and not options.names(qi):
        raise InputError("--person goes with --qi, or with --item and --known")


def _show(curve: Curve) -> None:
    step = max(1, -(-curve.sizes.size // _SHOWN))
    kept = sorted({*range(0, curve.sizes.size, step), curve.sizes.size - 1})
    unique = curve.uniqueness
    columns = ["people in the gallery", "named correctly"] + (["unique"] if unique is not None else [])
    rows = [
        [int(curve.sizes[i]), f"{curve.correctness[i]:.2%}"] + ([f"{unique[i]:.2%}"] if unique is not None else [])
        for i in kept
    ]
    show.heading(f"Correctness by size of gallery, {curve.kind} matching")
    show.table(columns, rows)
    show.line(
        f"In a gallery of {curve.sizes[-1]:,} an attacker names {curve.correctness[-1]:.1%} of people correctly; "
        f"measured from {curve.how}."
    )
