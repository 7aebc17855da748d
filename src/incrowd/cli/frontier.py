"""`incrowd frontier`: risk against loss for every method and k."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from typer import Option

from incrowd.assessment.command_line import to_command
from incrowd.assessment.question import DECIDING, Question
from incrowd.cli import options, terminal
from incrowd.cli.command_files import Input, save_figure
from incrowd.cli.declared_options import question_from, refuse_without_recipient, with_question_options
from incrowd.cli.open_tables import opens_table
from incrowd.cli.question_file import read_answers
from incrowd.recipients import in_words

if TYPE_CHECKING:
    from incrowd.assessment import Verdict
    from incrowd.evaluation import Frontier
    from incrowd.protection import Protected
    from incrowd.tables import Table

_MEASURED = ("quasi_identifiers", "sensitive", "person", "identifiers", "drop", "other", "secrets", "certain")
_OF_THE_VERDICT = tuple(one.name for one in DECIDING if one.name not in (*_MEASURED, "recipient", "highest"))


@opens_table
@with_question_options(*(option.name for option in DECIDING))
def frontier_of_table(
    table: options.TablePath,
    k: Annotated[str | None, Option(help="Class sizes to try. Default: 2,3,5,11,20, as rows allow.")] = None,
    methods: Annotated[
        list[str] | None, Option("--method", help="Methods to try. Commas or repeats. Default: all that apply.")
    ] = None,
    loss: Annotated[
        str, Option(help="Loss to keep small: granularity (detail that is gone) or pmse (distinguishable records).")
    ] = "granularity",
    question: Annotated[
        Path | None,
        Option(help="File of the question, as assess and judge write it: what the columns are, and for whom."),
        Input(address=False),
    ] = None,
    plot: options.Plot = None,
    force: options.Force = False,
    json: options.Json = False,
    **typed: Any,
) -> None:
    """Protect the table with every method, and show the remaining risk and the loss of each.

    With --recipient or --highest, each result is judged as `incrowd assess` judges it, by all options of the verdict,
    and the least loss with a yes is marked. A yes needs a role for every column.
    """
    from incrowd.evaluation import frontier

    asked = question_from(typed, table.columns, read_answers(table, question))
    is_judged = asked.recipient is not None or asked.highest is not None
    if not is_judged:
        refuse_without_recipient(typed, _OF_THE_VERDICT)
    _ = asked.tolerated  # refused before any work
    gone = _columns_to_remove(table, asked) if is_judged else [*asked.identifiers, *asked.drop]
    verdicts: list[Verdict] = []
    quasi_identifiers = options.quasi_identifiers(typed["quasi_identifiers"], table, asked.quasi_identifiers or ())
    with terminal.show_progress("protecting with every method") as progress:
        compared = frontier(
            table,
            quasi_identifiers=[name for name in quasi_identifiers if name not in gone],
            methods=options.parse_names(methods) or None,  # type: ignore[arg-type]  # checked by frontier
            k=None if k is None else [options.parse_count(one, "k") for one in options.parse_names([k])],
            sensitive=asked.sensitive or None,
            secrets=asked.named_secrets,
            certain_from=asked.certain_from,
            person=asked.person,
            demands={"leave_out": gone} if gone else None,
            recipient=asked.limits if is_judged else None,
            judge_release=_judge(table, asked, verdicts) if is_judged else None,
            loss=loss,  # type: ignore[arg-type]  # checked by frontier
            progress=progress,
        )
    if plot is not None:
        from incrowd.figures.protection_charts import frontier_chart

        save_figure(frontier_chart(compared), plot, force=force)
    if json:
        terminal.print_json(compared.to_dict())
    else:
        terminal.result(compared)
        if is_judged:
            terminal.line(compared.choice_for(in_words(asked.recipient or "public")))
        if verdicts and compared.chosen is None:
            _show_why_not(compared, verdicts, replace(asked, source=table.place, **table.reading))


def _columns_to_remove(table: Table, question: Question) -> list[str]:
    """Columns that every release leaves out: those that name people, as named or recognised, and those to drop."""
    from incrowd.assessment.roles import settle_roles

    roles = settle_roles(table, question)
    return list(dict.fromkeys([*roles.identifiers, *roles.dropped]))


def _judge(table: Table, question: Question, verdicts: list[Verdict]) -> Callable[[Protected], str]:
    """Callback that decides on a protected table as `assess` does, and adds the verdict to `verdicts`."""
    from incrowd.assessment import judge_protected
    from incrowd.tables import describe_rows

    rows = describe_rows(table)

    def judge_release(safe: Protected) -> str:
        verdicts.append(judge_protected(safe, question, rows=rows))
        return verdicts[-1].decision

    return judge_release


def _show_why_not(compared: Frontier, verdicts: Sequence[Verdict], question: Question) -> None:
    """Print why the result that is nearest to a yes is none, and the command that tries more.

    Args:
        compared: the results, none of which is a yes.
        verdicts: the verdict on each of them, in their order.
        question: the question about the table.
    """
    from incrowd.assessment.verdict import Decision

    decisions = get_args(Decision)  # from a yes on

    def distance(at: int) -> tuple[int, float]:
        point = compared.points[at]
        return decisions.index(point.decision), compared.lost(point)

    at = min(range(len(verdicts)), key=distance)
    point, verdict = compared.points[at], verdicts[at]
    reason = verdict.recommendation if verdict.decision == "undecided" else [*verdict.exposures, verdict.sentence][0]
    terminal.line(f"The nearest, {point.method} {point.setting}, is {verdict.decision}: {reason}")
    if command := to_command(question):
        terminal.line("incrowd assess says what is open, and also tries to leave columns out:")
        terminal.command(command)
