"""`incrowd curve`: how many people are named correctly, by the size of the gallery."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._support.option import Option
from incrowd.cli import options, terminal
from incrowd.cli.command_files import Output, save_figure
from incrowd.cli.declared_options import with_options
from incrowd.cli.open_tables import opens_table
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.curves import Curve, StudyAccuracy
    from incrowd.tables import Table

_SOURCE = {
    "item": Option("columns", "Sparse matching: columns that make a point. Commas or repeats."),
    "known": Option("whole", "Sparse matching: points of a person an attacker knows."),
    "draws": Option("whole", "Sparse matching: draws of known points for each person. Default: 5."),
    "probes": Option("file", "Robust matching: .npy or table of vectors to identify."),
    "gallery": Option("file", "Robust matching: vectors of the same people, in order."),
    "metric": Option("text", "Robust matching: cosine (the default), euclidean or dot."),
    "ranks": Option("text", "A study: the column with the rank of each probe's true match, 1 is best."),
}
with_source_options = with_options((option.named(name) for name, option in _SOURCE.items()), after=("person",))
"""Adds to a verb with `**` the options that say what a curve is measured from, besides the columns of a table."""


@opens_table
@with_source_options
def measure_curve(
    table: options.TablePath = None,
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    group: Annotated[
        str | None, typer.Option(help="With --ranks: the column of groups, for the accuracy of each.")
    ] = None,
    confidence: Annotated[
        str | None, typer.Option(help="With --ranks: how sure the attacker is of each probe.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the curve as CSV: n,correctness."), Output("curve")] = None,
    plot: options.Plot = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    json: options.Json = False,
    **source: Any,
) -> None:
    """Measure the correctness of an identification technique at every size of gallery, without sampling noise."""
    with terminal.show_progress("measuring the curve") as progress:
        study = CurveSource(table, qi, person, **source)
        curve = study.curve(seed, progress)
        split = _split_study(study, group, confidence)
    for text in curve.notes:
        terminal.note(text)
    if out is not None:
        curve.write(out, force=force)
        terminal.note(f"curve written to {out}")
    if plot is not None:
        from incrowd.figures import curve_plot

        save_figure(curve_plot(curve), plot, force=force)
    if json:
        terminal.print_json(curve.to_dict() | ({"study": split.to_dict()} if split else {}))
    else:
        terminal.result(curve)
        if split:
            terminal.result(split)


@dataclass(frozen=True, slots=True)
class CurveSource:
    """The options that say what a curve is measured from."""

    table: Table | None
    qi: list[str] | None
    person: str | None
    item: list[str] | None
    known: int | None
    draws: int | None
    probes: str | None
    gallery: str | None
    metric: str | None
    ranks: str | None

    @property
    def robust(self) -> bool:
        """True for robust matching, of vectors."""
        return self.probes is not None or self.gallery is not None

    def refuse_mixed(self) -> None:
        """Refuse options that this kind of matching does not use."""
        exact, sparse = bool(options.parse_names(self.qi)), bool(options.parse_names(self.item))
        if self.robust and (exact or self.person or sparse or self.known is not None):
            raise InputError(
                "robust matching takes --probes and --gallery; leave out --qi, --person, --item and --known"
            )
        if sparse and exact:
            raise InputError("--qi is for exact matching, --item for sparse matching; give one of them")
        if not sparse and (self.known is not None or self.draws is not None):
            raise InputError("--known and --draws are for sparse matching: name the columns of a point with --item")
        if self.ranks is not None and (exact or sparse or self.robust or self.person or self.table is None):
            raise InputError(
                "--ranks is a study's own result: name its table, and no --qi, --person, --item or --probes"
            )
        if not self.robust and self.metric is not None:
            raise InputError("--metric is for robust matching: name --probes and --gallery")
        if self.person is not None and not sparse and not exact:
            raise InputError("--person goes with --qi, or with --item and --known")

    def curve(self, seed: int, progress: Progress) -> Curve:
        """Measure the curve that the options describe."""
        self.refuse_mixed()
        from incrowd.classes import ClassSizes
        from incrowd.curves import correctness_curve, robust_curve, robust_curve_from_ranks, sparse_curve

        if self.robust:
            if self.probes is None or self.gallery is None or self.table is not None:
                raise InputError("robust matching takes --probes and --gallery, and no table")
            metric: Any = "cosine" if self.metric is None else self.metric
            return robust_curve(self.probes, self.gallery, metric=metric, progress=progress)
        if self.table is None:
            raise InputError("name a table, or --probes and --gallery")
        if self.ranks is not None:
            return robust_curve_from_ranks(self.table.filled_values(self.ranks))
        if item := options.parse_names(self.item):
            if self.person is None or self.known is None:
                raise InputError("sparse matching takes --person, --item and --known")
            draws = 5 if self.draws is None else self.draws
            points: dict[str, Any] = {"item": item, "known": self.known, "draws": draws}
            return sparse_curve(self.table, person=self.person, **points, seed=seed, progress=progress)
        columns = options.parse_names(self.qi, self.table.columns)
        if not columns:
            raise InputError(
                "say what an attacker knows: --qi columns, or --person, --item and --known for sets of points; the "
                f"table has: {', '.join(self.table.columns[:30])}"
            )
        return correctness_curve(ClassSizes.from_table(self.table, quasi_identifiers=columns, person=self.person))


def _split_study(source: CurveSource, group: str | None, confidence: str | None) -> StudyAccuracy | None:
    """The accuracy of a study by group and confidence, if these columns are named."""
    if group is None and confidence is None:
        return None
    from incrowd.curves import study_accuracy

    if source.table is None or source.ranks is None:
        raise InputError("--group and --confidence are columns of a study: add --ranks")
    first = [rank == 1 for rank in source.table.filled_values(source.ranks)]
    groups = None if group is None else source.table.filled_values(group)
    confidences = None if confidence is None else source.table.filled_values(confidence)
    return study_accuracy(first, groups=groups, confidence=confidences)
