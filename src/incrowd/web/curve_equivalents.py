"""Checks of the law, sets of items, masked values, curves and techniques as commands and Python scripts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from incrowd.assessment.command_line import is_typable, to_words
from incrowd.web import curve_models, models
from incrowd.web import script_writer as scripts
from incrowd.web.session_table import OpenTable, TableSource
from incrowd.web.tasks.curve_tasks import columns_asked_about, sparse_options

_SCRIPT_ONLY = "# use the Python script"


def check(table: OpenTable, question: curve_models.CheckQuestion) -> models.Equivalent:
    """`rank_size_check` of the law that is fitted to the table."""
    known, person = table.known_and_person
    lines = [
        scripts.sizes_line(known, person),
        scripts.call_of("found", "rank_size_check", question.model_dump(), of="fit_class_sizes(sizes)"),
        "print(found.inside)",
    ]
    typable = question.draws == curve_models.CheckQuestion().draws  # the command has no option for the draws
    asked = {"qi": known, "person": person, "predictive_check": True, "seed": question.seed or None}
    return _script(table, lines, ["forecast", *to_words(asked)] if typable else None)


def masked(table: OpenTable, question: curve_models.MaskedQuestion) -> models.Equivalent:
    """`incrowd measure --fit`."""
    known = columns_asked_about(table, question)
    lines = [f"found = count_fitting_uniques(table, quasi_identifiers={known!r})", "print(found.unique)"]
    return scripts.command_and_script(table.source, "measure", to_words({"qi": known, "fit": True}), lines)


def regeneration(
    table: OpenTable, question: curve_models.RegenerationQuestion, counts: TableSource
) -> models.Equivalent:
    """`incrowd regenerate`."""
    lines = [
        f"filled = regenerate(table, read_counts({counts.file!r}), seed={question.seed})",
        'write_table(filled, "filled.csv")',
    ]
    arguments = to_words({"counts": counts.file, "out": "filled.csv", "seed": question.seed or None})
    return scripts.command_and_script(table.source, "regenerate", arguments, lines)


def exact_curve(table: OpenTable, question: curve_models.ExactQuestion) -> models.Equivalent:
    """`correctness_curve`, and its forecast by the law alone."""
    known, person = columns_asked_about(table, question), table.one_with_role("person")
    lines = [
        scripts.sizes_line(known, person),
        "curve = correctness_curve(sizes)",
        *scripts.forecast_lines(question, "fit_class_sizes(sizes, method='ml')"),
    ]
    arguments = [*to_words({"qi": known, "person": person, "ml": True}), *scripts.forecast_arguments(question)]
    return scripts.command_and_script(table.source, "forecast", arguments, lines)


def itemsets(table: OpenTable, question: curve_models.ItemsQuestion) -> models.Equivalent:
    """`incrowd measure` of items."""
    lines = [scripts.call_of("found", "itemset_anonymity", question.model_dump()), "print(found)"]
    return scripts.command_and_script(table.source, "measure", to_words(question.model_dump()), lines)


def protected_sets(table: OpenTable, question: curve_models.SetsQuestion) -> models.Equivalent:
    """`incrowd protect` of items or points."""
    given = question.given()
    verb = "protect_items" if "item" in given else "protect_trajectories"
    lines = [scripts.call_of("safe", verb, given), 'write_table(safe.table, "protected.csv")']
    typed = to_words({**given, "out": "protected.csv"})
    both = scripts.command_and_script(table.source, "protect", typed, lines)
    return both if is_typable(question.place, ",") else scripts.script_only(both)


def sparse_curve(table: OpenTable, question: curve_models.SparseQuestion) -> models.Equivalent:
    """`sparse_curve`, and its forecast."""
    call = scripts.call_of("curve", "sparse_curve", sparse_options(question))
    typed = {"person": question.person, "item": question.item, "known": question.known, "draws": question.draws}
    return _curve(table, question, [call], to_words(typed))


def ranks_curve(table: OpenTable, question: curve_models.RanksQuestion) -> models.Equivalent:
    """`robust_curve_from_ranks`, its forecast, and the accuracy by group and confidence."""
    if isinstance(question.ranks, list):
        return _pasted_ranks(question, question.ranks)
    ties = f", ties=columns[{question.ties!r}].to_pylist()" if question.ties else ""
    lines = [
        "columns = table.to_arrow()",
        f"ranks = columns[{question.ranks!r}].to_pylist()",
        f"curve = robust_curve_from_ranks(ranks, gallery={question.gallery!r}{ties})",
    ]
    plain = question.ties is None and question.gallery is None
    typed = ["--ranks", question.ranks] if plain else None
    if question.group is None and question.confidence is None:
        return _curve(table, question, lines, typed)
    split = {"groups": question.group, "confidence": question.confidence}
    parts = "".join(f", {name}=columns[{column!r}].to_pylist()" for name, column in split.items() if column)
    by_group = f"print(study_accuracy([rank == 1 for rank in ranks]{parts}))"
    found = _curve(table, question, lines, typed, [by_group])
    asked = {"ranks": question.ranks, "group": question.group, "confidence": question.confidence}
    curve = scripts.command_and_script(table.source, "curve", to_words(asked), []).cli
    cli = f"{found.cli}\n{curve.splitlines()[-1]}" if plain else found.cli
    return models.Equivalent(cli=cli, python=found.python)


def _pasted_ranks(question: curve_models.RanksQuestion, ranks: Sequence[int]) -> models.Equivalent:
    """Commands that write pasted ranks to a file and forecast from it."""
    file = "\n".join(["rank", *map(str, ranks)])
    command = shlex.join(["incrowd", "forecast", "ranks.csv", "--ranks", "rank", *scripts.forecast_arguments(question)])
    curve = f"curve = robust_curve_from_ranks({ranks!r}, gallery={question.gallery!r})"
    python = scripts.script_of([curve, *scripts.forecast_lines(question, "fit_curve(curve)")])
    cli = f"cat > ranks.csv <<'END'\n{file}\nEND\n{command}" if question.gallery is None else _SCRIPT_ONLY
    return models.Equivalent(cli=cli, python=python)


def robust_curve(table: OpenTable, question: curve_models.RobustQuestion, gallery: TableSource) -> models.Equivalent:
    """`robust_curve` with the gallery in a second file, and its forecast."""
    lines = [
        f"gallery = read_table({gallery.file!r})",
        f"probes, known = (one.to_arrow({question.columns!r}) for one in (table, gallery))",
        f"curve = robust_curve(probes, known, metric={question.metric!r})",
    ]
    found = _curve(table, question, lines)
    if question.columns is not None or gallery.how or table.source.how:
        return found
    sides = ["--probes", table.source.file, "--gallery", gallery.file, "--metric", question.metric]
    command = shlex.join(["incrowd", "forecast", *sides, *scripts.forecast_arguments(question)])
    return models.Equivalent(cli=command, python=found.python)


def techniques(
    question: curve_models.TechniquesQuestion, made_by: Mapping[str, models.Equivalent]
) -> models.Equivalent:
    """`incrowd forecast` of several files, one with the points of each technique."""
    files, fits, forecasts = [], [], []
    for number, one in enumerate(question.techniques, 1):
        if one.job is not None:
            fits.append(f"{made_by[one.name].python}\nfit_{number} = fit_curve(curve)")
        else:
            points = one.points or []
            files.append(f"cat > technique-{number}.csv <<'END'\n{scripts.points_file(points)}\nEND")
            fits.append(f"fit_{number} = {scripts.fit_call(points, one.people)}")
        forecasts.append(f"    {one.name!r}: forecast(fit_{number}, at={question.at!r}, seed={question.seed}),")
    names = [f"technique-{number}.csv" for number in range(1, len(question.techniques) + 1)]
    command = shlex.join(["incrowd", "forecast", *names, *scripts.forecast_arguments(question)])
    lines = [*fits, "answers = {", *forecasts, "}", 'print("\\n".join(name_leaders(answers)))']
    typable = len(files) == len(names) and not any(one.people for one in question.techniques)
    return models.Equivalent(
        cli="\n".join([*files, command]) if typable else _SCRIPT_ONLY,
        python=scripts.script_of(lines),
    )


def _curve(
    table: OpenTable,
    question: models.CurveQuestion,
    lines: Sequence[str],
    typed: Sequence[str] | None = None,
    more: Sequence[str] = (),
) -> models.Equivalent:
    """A script whose `lines` make a curve, which it then forecasts; and the command with the words `typed`, if any."""
    words = None if typed is None else ["forecast", *typed, *scripts.forecast_arguments(question)]
    return _script(table, [*lines, *scripts.forecast_lines(question, "fit_curve(curve)"), *more], words)


def _script(table: OpenTable, lines: Sequence[str], words: Sequence[str] | None) -> models.Equivalent:
    """A script, and the command of these words; without words only the script."""
    verb, *arguments = words or ["measure"]
    both = scripts.command_and_script(table.source, verb, arguments, lines)
    return both if words else models.Equivalent(cli=_SCRIPT_ONLY, python=both.python)
