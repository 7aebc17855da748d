"""Checks of the law, sets of items, masked values, curves and techniques as commands and Python scripts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from incrowd.assessment.command_line import is_typable, to_words
from incrowd.web import curve_models, models
from incrowd.web import script_writer as scripts
from incrowd.web.session_table import OpenTable, TableSource
from incrowd.web.tasks.curve_tasks import exact_columns, sparse_options

_SCRIPT_ONLY = "# use the Python script"


def check(table: OpenTable, question: curve_models.CheckQuestion) -> models.Equivalent:
    """`rank_size_check` of the law that is fitted to the table."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    lines = [
        scripts.sizes_line(known, person),
        scripts.call_of("found", "rank_size_check", question.model_dump(), of="fit_class_sizes(sizes)"),
        "print(found.inside)",
    ]
    same = question.draws == curve_models.CheckQuestion().draws  # as many as the command draws, which shows both kinds
    asked = {"qi": known, "person": person, "predictive_check": True, "seed": question.seed or None}
    return _script(table, lines, ["forecast", *to_words(asked)] if same else None)


def masked(table: OpenTable, question: curve_models.MaskedQuestion) -> models.Equivalent:
    """`incrowd measure --fit`."""
    known = exact_columns(table, question)
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
    """`correctness_curve`, and the forecast of it by the law alone."""
    known, person = exact_columns(table, question), table.one_with_role("person")
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
    found = scripts.command_and_script(table.source, "protect", typed, lines)
    return scripts.without_command(found, not is_typable(question.place, ","))


def sparse_curve(table: OpenTable, question: curve_models.SparseQuestion) -> models.Equivalent:
    """`sparse_curve`, and the forecast of it."""
    made = scripts.call_of("curve", "sparse_curve", sparse_options(question))
    typed = {"person": question.person, "item": question.item, "known": question.known, "draws": question.draws}
    return _curve(table, question, [made], to_words(typed))


def ranks_curve(table: OpenTable, question: curve_models.RanksQuestion) -> models.Equivalent:
    """`robust_curve_from_ranks`, and the forecast of it; the accuracy by group and confidence too."""
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
    """Ranks that were pasted, which a file holds."""
    file = "\n".join(["rank", *map(str, ranks)])
    command = shlex.join(["incrowd", "forecast", "ranks.csv", "--ranks", "rank", *scripts.forecast_arguments(question)])
    curve = f"curve = robust_curve_from_ranks({ranks!r}, gallery={question.gallery!r})"
    python = scripts.script_of([curve, *scripts.forecast_lines(question, "fit_curve(curve)")])
    cli = f"cat > ranks.csv <<'END'\n{file}\nEND\n{command}" if question.gallery is None else _SCRIPT_ONLY
    return models.Equivalent(cli=cli, python=python)


def robust_curve(table: OpenTable, question: curve_models.RobustQuestion, gallery: TableSource) -> models.Equivalent:
    """`robust_curve` with the gallery in a file of its own, and the forecast of it."""
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
    """`incrowd forecast` of several files; the points of each in one of its own."""
    files, made, fits = [], [], []
    for number, one in enumerate(question.techniques, 1):
        if one.job is not None:
            made.append(f"{made_by[one.name].python}\nfit_{number} = fit_curve(curve)")
        else:
            points = one.points or []
            files.append(f"cat > technique-{number}.csv <<'END'\n{scripts.points_file(points)}\nEND")
            made.append(f"fit_{number} = {scripts.fit_call(points, one.people)}")
        fits.append(f"    {one.name!r}: forecast(fit_{number}, at={question.at!r}, seed={question.seed}),")
    names = [f"technique-{number}.csv" for number in range(1, len(question.techniques) + 1)]
    command = shlex.join(["incrowd", "forecast", *names, *scripts.forecast_arguments(question)])
    told = ["answers = {", *fits, "}", 'print("\\n".join(name_leaders(answers)))']
    typable = len(files) == len(names) and not any(one.people for one in question.techniques)
    return models.Equivalent(
        cli="\n".join([*files, command]) if typable else _SCRIPT_ONLY,
        python=scripts.script_of([*made, *told]),
    )


def _curve(
    table: OpenTable,
    question: models.CurveQuestion,
    made: Sequence[str],
    typed: Sequence[str] | None = None,
    more: Sequence[str] = (),
) -> models.Equivalent:
    """A script that makes a curve and forecasts it; the same as a command where there are words for it."""
    words = None if typed is None else ["forecast", *typed, *scripts.forecast_arguments(question)]
    return _script(table, [*made, *scripts.forecast_lines(question, "fit_curve(curve)"), *more], words)


def _script(table: OpenTable, lines: Sequence[str], words: Sequence[str] | None) -> models.Equivalent:
    """A script, and the command of these words where there are some."""
    verb, *arguments = words or ["measure"]
    found = scripts.command_and_script(table.source, verb, arguments, lines)
    return found if words else models.Equivalent(cli=_SCRIPT_ONLY, python=found.python)
