"""`incrowd protect`: protect a table, check the written file, and show what it cost."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd._support.addresses import masked
from incrowd._support.progress import Progress, part
from incrowd.assessment.question import DECIDING, Question
from incrowd.cli import command_files, options, protect_modes, terminal
from incrowd.cli.declared_options import PROTECT, question_from, read_protect_options, with_options
from incrowd.cli.hints import flag
from incrowd.cli.open_tables import opens_table
from incrowd.cli.prompts import note_missing_codes
from incrowd.cli.protect_text import WrittenRelease, show, to_json
from incrowd.cli.question_file import note_how_to_judge, read_answers
from incrowd.errors import InputError
from incrowd.protection.method_options import OPTIONS as METHOD_OPTIONS

if TYPE_CHECKING:
    from incrowd.assessment import Verdict
    from incrowd.assessment.solution import Trial
    from incrowd.assessment.verdict import Action
    from incrowd.protection import Protected
    from incrowd.tables import Table


_OWN = ("recipient", "highest", "rows_are_people")  # options of the verdict with words of their own here
_VERDICT = tuple(option for option in DECIDING if option.flag not in {option.flag for option in PROTECT})
_OF_THE_VERDICT = tuple(option.name for option in _VERDICT)
_ADVICE_SECONDS = 300.0  # after which the search for a protection with a yes stops


@opens_table
@with_options((option for option in _VERDICT if option.name not in _OWN), after=_OWN)
@with_options(PROTECT, after=("table", "out"))
def protect_table(
    table: options.TablePath,
    out: Annotated[
        str, Option(help="File to write: .parquet, .csv, .csv.gz, .sav, .dta, …"), command_files.STORED_TABLE
    ],
    question: Annotated[
        Path | None,
        Option(help="File of the question, as assess and judge write it: what the columns are, and for whom."),
        command_files.Input(address=False),
    ] = None,
    household: Annotated[
        str | None, Option(help="Column of households, which are kept together: classes of whole households.")
    ] = None,
    kept_rows: Annotated[
        str | None,
        Option(help="Write which row each released one was made from, to a .txt file; attacks need it. Secret."),
        command_files.Output("list of rows", (".txt",)),
    ] = None,
    codebook: Annotated[
        str | None,
        Option(help="Write what was done to each column: .json or .md."),
        command_files.Output("codebook", (".json", ".md")),
    ] = None,
    item: Annotated[str | None, Option(help="Instead: sets of items of a person (--person), k^m-anonymity.")] = None,
    known: Annotated[
        int | None, Option(help="With --item or --time: how many items or points of a person an attacker knows.")
    ] = None,
    time: Annotated[str | None, Option(help="Instead: points of a person (--person) in time and place.")] = None,
    place: Annotated[list[str] | None, Option(help="With --time: two coordinates, or a column of regions.")] = None,
    amount: Annotated[str | None, Option(help="With --time: a column of amounts.")] = None,
    append: Annotated[
        str | None,
        Option(help="A release whose rows the new ones join, in classes of their own, in --out."),
        command_files.Input(address=False),
    ] = None,
    delay: Annotated[int | None, Option(help="With --append: batches that a record may wait for. Default 3.")] = None,
    recipient: Annotated[
        str | None,
        Option("--recipient", "--to", help="For whom: the least protection that assess says yes to; exit 1 if none."),
    ] = None,
    highest: Annotated[
        float | None,
        options.share_option(
            "--highest",
            "The least protection with nobody at a higher risk: 0.05 or 5%; exit 1 if none.",
            "--max-risk",
        ),
    ] = None,
    rows_are_people: Annotated[
        bool, Option("--rows-are-people", help="With --recipient: every row is another person, whatever it looks like.")
    ] = False,
    force: options.Force = False,
    json: options.Json = False,
    **declared_elsewhere: Any,
) -> None:
    """Protect a table, check the written file, and show what it cost.

    Options of the verdict (--secret, --certain, --tolerate, --weight and others) need --recipient or --highest.
    """
    typed = {name: value for name, value in locals().items() if name != "declared_elsewhere"} | declared_elsewhere
    saved = read_answers(table, question)
    verdict = question_from({name: typed[name] for name in _OF_THE_VERDICT}, table.columns, _only_verdict(saved))
    of_sets = item is not None or time is not None
    if append is not None or of_sets:
        taken = protect_modes.OF_APPENDING if append is not None else protect_modes.OF_SETS
        protect_modes.refuse_other_options(typed, inspect.signature(protect_table).parameters, taken)
    asked = read_protect_options({option.name: typed[option.name] for option in PROTECT}, table.columns)
    asked = _with_saved(asked, saved, verdict)
    if append is not None:
        protect_modes.append(table, append, out, delay, asked, _judged(verdict), force=force, json=json)
        return
    if delay is not None:
        raise InputError("--delay is for records that join a release; add --append")
    if of_sets:
        places = options.parse_names(place, table.columns) or None
        columns = {"item": item, "time": time, "place": places, "amount": amount}
        protect_modes.protect_sets(table, out, columns, known, asked, force=force, json=json)
        return
    if known is not None or place or amount is not None:
        raise InputError("--known, --place and --amount are for sets of items and points; add --item or --time")
    if codebook or kept_rows:
        table.backend.require_local("writing a codebook or the kept rows", "leave out --codebook and --kept-rows")
    _settle_columns(table, asked, typed)
    about_release = _read_question(asked, verdict)
    if "k_map" not in asked:
        asked.pop("population", None)  # without k-map only the verdict uses it
    release = _protect_and_write(table, about_release, asked, out, codebook, kept_rows, force=force)
    if json:
        terminal.print_json(to_json(release, masked(out)))
    else:
        show(release, masked(out))
    _note_dialect(table, release.safe, out)
    if release.verdict is not None and release.verdict.decision != "within":
        raise typer.Exit(1)


def _only_verdict(saved: Question) -> Question:
    """What a question file says for the verdict besides what the columns are."""
    return Question(**{name: getattr(saved, name) for name in _OF_THE_VERDICT})


def _with_saved(asked: dict[str, Any], saved: Question, verdict: Question) -> dict[str, Any]:
    """The options of `protect` with the answers of a question file, for columns that were not typed."""
    fields = {"quasi_identifiers": saved.quasi_identifiers, "sensitive": saved.sensitive, "other": saved.other}
    fields["leave_out"] = (*saved.drop, *saved.identifiers)  # further ones are recognised besides
    typed = {name for field in (*fields, "identifiers") for name in asked.get(field) or ()} | {asked.get("person")}
    together = dict(asked)
    for field, names in fields.items():
        if further := [name for name in names or () if name not in typed]:
            together[field] = [*(asked.get(field) or ()), *further]
    if saved.person is not None and saved.person not in typed:
        together.setdefault("person", saved.person)
    if verdict.recipient is not None and saved.population is not None:
        together.setdefault("population", saved.population)
    return together


def _settle_columns(table: Table, asked: dict[str, Any], typed: Mapping[str, Any]) -> None:
    """Settle the person column, and refuse to protect without quasi-identifiers."""
    if typed["household"] is not None:
        if "person" in asked:
            raise InputError("a class is made of whole households or of whole histories; give --household or --person")
        asked["person"] = typed["household"]
    if "quasi_identifiers" not in asked:
        note_how_to_judge(table)
        raise InputError(
            "say what others may know about a person (--qi), and what the other columns are, or name the file of the "
            "answers (--question)"
        )
    asked["quasi_identifiers"] = table.require(asked["quasi_identifiers"], "quasi-identifiers")
    note_missing_codes(table, [*asked["quasi_identifiers"], *asked.get("sensitive", ())])


def _note_dialect(table: Table, safe: Protected, out: str) -> None:
    """Print the dialect of a written text file, if the original has a dialect of its own."""
    import pyarrow as pa

    from incrowd.tables.write import describe_text

    if isinstance(safe.table, pa.Table) and (dialect := describe_text(safe.table, Path(out), table.codebook)):
        terminal.note(f"{masked(out)} has {dialect}")


def _judged(verdict: Question) -> Question | None:
    """The question of the options for the verdict; None without a recipient and a limit.

    Raises:
        InputError: an option for the verdict is given without them, or one makes no sense.
    """
    if verdict.recipient is None and verdict.highest is None:
        unused = [option.name for option, _ in verdict.given_options()]
        if unused:
            raise InputError(f"{flag(unused[0])} is for the verdict on the release; add --recipient")
        return None
    _ = verdict.limits, verdict.tolerated, verdict.certain_from  # refused before any work
    return verdict


def _read_question(arguments: Mapping[str, Any], verdict: Question) -> Question | None:
    """The question of `assess` about the release; None without a recipient and a limit."""
    population = arguments.get("population")
    judged = _judged(verdict)
    if judged is None:
        if population is not None and "k_map" not in arguments:
            raise InputError(
                "--population says how many people the table was drawn from, for the verdict or for k-map; add "
                "--recipient or --k-map"
            )
        return None
    question = replace(
        judged,
        quasi_identifiers=arguments["quasi_identifiers"],
        sensitive=arguments.get("sensitive", ()),
        person=arguments.get("person"),
        other=arguments.get("other", ()),
        population=population,
    )
    _ = question.named_secrets  # refuses a secret of a column that is not sensitive
    return question


def _protect_and_write(
    table: Table,
    question: Question | None,
    arguments: dict[str, Any],
    out: str,
    codebook: str | None,
    kept_rows: str | None,
    *,
    force: bool,
) -> WrittenRelease:
    """Protect the table, for a recipient with the least loss that passes; write and judge the result."""
    from incrowd.protection import make_codebook, protect, write_kept_rows, write_protected
    from incrowd.protection.original_facts import attack_perturbed

    target, rows_are_remote = command_files.place_of(out), not table.backend.rows_are_local
    with terminal.show_progress("protecting", lines=rows_are_remote) as progress:
        trials: Sequence[Trial] = ()
        if question is not None and "k" not in arguments and not rows_are_remote:
            from incrowd.assessment import METHODS_TO_TRY, find_release  # loads every section of an assessment

            methods = () if arguments.keys() & {"method", *METHOD_OPTIONS} else METHODS_TO_TRY
            solution = find_release(table, question, methods=methods, progress=progress, **arguments)
            safe, trials = solution.protected, solution.trials
        else:
            folder: dict[str, Any] = {"out": target, "force": force} if rows_are_remote else {}
            safe = protect(table, progress=progress, **arguments, **folder)
        cost = linkage = None
        if not rows_are_remote:
            progress("measuring what it cost", 0.9)
            cost = safe.evaluate()
            linkage = attack_perturbed(safe, part(progress, 0.9, 0.95))
            write_protected(safe, out, force=force, progress=progress)
            if codebook is not None:
                make_codebook(safe).write(codebook, force=force)
            if kept_rows is not None:
                write_kept_rows(safe, kept_rows, force=force)
        verdict = None if question is None else _judge(safe, out, question)
        if question is not None and verdict is not None and verdict.decision != "within" and not rows_are_remote:
            advising = part(progress, 0.95, 1.0)
            advising("looking for a way to a yes", 0.0)
            verdict = replace(verdict, actions=_next_actions(table, question, arguments, safe, trials, advising))
        return WrittenRelease(safe, cost, linkage, trials, verdict)


def _judge(safe: Protected, out: str, question: Question) -> Verdict:
    """The verdict of `assess` on the written table, with the roles of this command."""
    from incrowd.assessment import judge_protected
    from incrowd.tables import read_table

    return judge_protected(safe, question, read_table(safe.table if "://" in out else out))


def _next_actions(
    table: Table,
    question: Question,
    arguments: Mapping[str, Any],
    safe: Protected,
    trials: Sequence[Trial],
    progress: Progress,
) -> tuple[Action, ...]:
    """The actions that `assess` advises for the original, by the roles of this command and the removed identifiers."""
    from incrowd.assessment import advise

    left_out = arguments.get("leave_out", ())
    by_search = {name for trial in trials for name in trial.left_out if trial.chosen}
    named = [name for name in safe.removed if name not in {*left_out, *by_search}]
    secret = question.sensitive or ()
    asked = replace(question, identifiers=tuple(named), drop=tuple(name for name in left_out if name not in secret))
    return advise(table, asked, seconds=_ADVICE_SECONDS, progress=progress).actions
