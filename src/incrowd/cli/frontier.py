"""`incrowd frontier`: risk against loss for every method and k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from incrowd.cli import options, terminal
from incrowd.cli.command_files import save_figure
from incrowd.cli.evaluate import Secret, read_secret
from incrowd.cli.open_tables import opens_table
from incrowd.recipients import in_words
from incrowd.wording import number, percent

if TYPE_CHECKING:
    from incrowd.evaluation import Frontier


@opens_table
def frontier_of_table(
    table: options.TablePath,
    qi: options.QuasiIdentifiers = None,
    k: Annotated[str | None, Option(help="Class sizes to try. Default: 2,3,5,11,20, as rows allow.")] = None,
    methods: Annotated[
        list[str] | None, Option("--method", help="Methods to try. Commas or repeats. Default: all that apply.")
    ] = None,
    sensitive: options.Sensitive = None,
    secret: Secret = None,
    person: options.Person = None,
    recipient: Annotated[
        str | None,
        Option(
            help="Mark the least loss within this recipient's limits. Kept columns and a population are not judged."
        ),
    ] = None,
    loss: Annotated[
        str, Option(help="Loss to keep small: granularity (detail that is gone) or pmse (distinguishable records).")
    ] = "granularity",
    plot: options.Plot = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Protect the table with every method, and show the remaining risk and the loss of each."""
    from incrowd.evaluation import frontier

    secrets = options.parse_names(sensitive, table.columns)
    secret_value = read_secret(secret, secrets)
    quasi_identifiers = options.quasi_identifiers(qi, table)
    with terminal.show_progress("protecting with every method") as progress:
        compared = frontier(
            table,
            quasi_identifiers=quasi_identifiers,
            methods=options.parse_names(methods) or None,  # type: ignore[arg-type]  # checked by frontier
            k=None if k is None else [options.parse_count(one, "k") for one in options.parse_names([k])],
            sensitive=secrets or None,
            secret=secret_value,
            person=person,
            recipient=recipient,
            loss=loss,  # type: ignore[arg-type]  # checked by frontier
            progress=progress,
        )
    if plot is not None:
        from incrowd.figures.protection_charts import frontier_chart

        save_figure(frontier_chart(compared), plot, force=force)
    if json:
        terminal.print_json(compared.to_dict())
    else:
        _show(compared, recipient)


def _show(compared: Frontier, recipient: str | None) -> None:
    by_pmse = compared.loss == "pmse"
    terminal.heading(f"What protection leaves and costs, {compared.records:,} records")
    terminal.table(
        ("method", "unique", "named", "secret", "detail", "loss", *(["pMSE"] if by_pmse else []), "s"),
        [
            (
                f"{point.method} {point.setting}" + (" ←" if point is compared.chosen else ""),
                percent(point.uniqueness),
                percent(point.correctness),
                None if point.disclosure is None else percent(point.disclosure),
                percent(point.granularity),
                point.information_loss,
                *([point.pmse] if by_pmse else []),
                number(point.seconds, digits=2),
            )
            for point in compared.points
        ],
    )
    terminal.line("unique: still unique; named: guessed right; secret: certain, and news; detail: granularity kept.")
    best = ", ".join(f"{point.method} {point.setting}" for point in compared.best)
    if recipient is not None and compared.chosen is None:
        terminal.line(f"Nothing that was tried is within the limits for {in_words(recipient)}.")
    elif compared.chosen is not None:
        chosen = f"{compared.chosen.method} {compared.chosen.setting}"
        least = "least pMSE" if by_pmse else "most detail"
        terminal.line(f"← the {least} within the limits for {in_words(recipient or '')}: {chosen}.")
    if recipient is not None:
        terminal.line("By class sizes in the table; protect --recipient judges other columns and a population too.")
    terminal.line(f"Not beaten in both risk and {'pMSE' if by_pmse else 'detail'}: {best}.")
