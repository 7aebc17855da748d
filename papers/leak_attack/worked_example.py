"""Tables 1 to 4 and the tree of Figure 1, worked through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import Any

from incrowd import protect
from incrowd.classes import ClassSizes
from incrowd.leaks import leak_risk, uniform_sizes
from papers.figures.graphs import graph_figure
from papers.leak_attack.printed_tables import COLUMNS, LEAKED_PATIENTS, QUASI_IDENTIFIERS, TABLE_1, TABLE_3, as_columns
from papers.leak_attack.reference_values import chance_named, enumerate_attacks
from papers.parts import Comparison, Context, Grid, PartResult, Picture, Row, Value
from papers.releases import in_fixed_order

TREE_PEOPLE, TREE_LEAKED, TREE_TARGETS = 10, 4, 3  # the tree has no numbers in the paper


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree: the path of class sizes to it, the classes before it, and its chance."""

    path: tuple[int, ...]
    classes: Mapping[int, int]
    chance: Fraction

    @property
    def label(self) -> str:
        """The paper's name: A, B, C, with the class sizes of the people named so far."""
        return f"{'ABCDEFGH'[len(self.path) - 1]} {'→'.join(map(str, self.path))}"


def recursion_tree(
    classes: Mapping[int, int], leaked: int, people: int, targets: int, path: tuple[int, ...] = ()
) -> Iterator[Node]:
    """Every node of the recursion, parents before their children; a class counts as one, as in eq. 10."""
    if targets == 0:
        return
    for size, count in sorted(classes.items()):
        if not count:
            continue
        chance = Fraction(count, sum(classes.values())) * chance_named(size, leaked, people)
        yield Node((*path, size), dict(classes), chance)
        after = {**classes, size: count - 1}
        if size > 1:
            after[size - 1] = after.get(size - 1, 0) + 1
        yield from recursion_tree(after, leaked - 1, people - 1, targets - 1, (*path, size))


def chance_of_tree(nodes: list[Node]) -> Fraction:
    """Siblings added, their sum multiplied with the parent: the sum over all paths of the product along each."""
    chances = {node.path: node.chance for node in nodes}
    deepest = max(map(len, chances))
    total = Fraction(0)
    for path in chances:
        if len(path) == deepest:
            total += prod(chances[path[: depth + 1]] for depth in range(deepest))
    return total


def reproduce_worked_example(context: Context) -> PartResult:
    """The paper's own small tables through the library, and the tree with numbers in it."""
    nodes = list(recursion_tree({2: TREE_PEOPLE // 2}, TREE_LEAKED, TREE_PEOPLE, TREE_TARGETS))
    protected = _protected()
    return PartResult(
        (_table_3(protected), _claims(protected.classes, nodes), _tree_table(nodes)),
        (
            Picture(
                "fig-1",
                "Figure 1: the tree of the recursion",
                _tree_picture(nodes),
                f"Three people looked for in {TREE_PEOPLE} people in classes of two, of whom {TREE_LEAKED} leak; the "
                "paper's tree has no numbers. A node is the chance of naming that person times the share of classes of "
                "that size; siblings are added, and their sum is multiplied with the parent.",
            ),
        ),
        (
            "Table 3 here is made by `protect` from Table 1 with the postcode's first four characters, k = 3 and whole "
            "histories. It drops the one admission that the other two men of the class have no counterpart of, as the "
            "paper's does, and says so.",
        ),
    )


def _protected() -> Any:
    table = as_columns(TABLE_1)
    table["postcode"] = [str(code)[:4] for code in table["postcode"]]
    return protect(table, quasi_identifiers=QUASI_IDENTIFIERS, k=3, person="patient", sensitive=["diagnosis"])


def _table_3(protected: Any) -> Grid:
    release = in_fixed_order(protected.table, "patient")
    people = {who: number for number, who in enumerate(dict.fromkeys(release["patient"].to_pylist()), start=1)}
    rows = release.to_pylist()
    cells: list[list[Value]] = [[people[row["patient"]], *(str(row[name]) for name in COLUMNS[1:])] for row in rows]
    return Grid("Table 3 from Table 1: 3-anonymous histories", ("person", *COLUMNS[1:]), cells)


def _claims(sizes: ClassSizes, nodes: list[Node]) -> Comparison:
    printed = ClassSizes.from_table(as_columns(TABLE_3), quasi_identifiers=QUASI_IDENTIFIERS, person="patient")
    alike = {patient: tuple(labels) for patient, *labels, _ in TABLE_3 if patient in LEAKED_PATIENTS}
    risks = [Fraction(1, sum(other == mine for other in alike.values())) for mine in alike.values()]
    tree = chance_of_tree(nodes)
    classes = uniform_sizes(TREE_PEOPLE, 2)
    library = leak_risk(classes, TREE_LEAKED, targets=TREE_TARGETS, method="recursion").probability
    exact = enumerate_attacks([2] * (TREE_PEOPLE // 2), TREE_LEAKED, TREE_TARGETS)
    john = Fraction(comb(10, 3) - comb(7, 3), 3 * comb(10, 3))
    return Comparison(
        "The worked example in numbers",
        (
            Row("people and classes of Table 3, by incrowd", _in_words(sizes), "D = 10: C1, C2, C3"),
            Row("the same, of Table 3 as printed", _in_words(printed), "3, 3 and 4 people"),
            Row(
                "risks of the three people of Table 4 (eq. 6)",
                ", ".join(map(str, risks)),
                "two of C1, one of C3",
                f"their mean over all ten people is {float(sum(risks)) / 10:.3g}",
            ),
            Row(
                "one person, three of ten leak",
                leak_risk(printed, len(LEAKED_PATIENTS)).probability,
                None,
                "eq. 7 with classes weighed by their people: (2 (1 − C(7,3)/C(10,3)) + 1 − C(6,3)/C(10,3)) / 10",
            ),
            Row("John Doe of Table 2, everybody leaks", 1 / 3, "1/3 at most", "he is in C1, with two others"),
            Row("John Doe, three of ten leak", float(john), None, "1/3 of the chance that somebody of C1 leaks"),
            Row("Figure 1's tree, added up", float(tree), None, f"the library's recursion: {library:.6g}"),
            Row(
                "the exact chance of the same",
                float(exact),
                None,
                f"every case listed; the tree is {float(tree / exact - 1):+.1%} off",
            ),
        ),
    )


def _in_words(sizes: ClassSizes) -> str:
    return f"{sizes.people} people in classes of {', '.join(map(str, sorted(_listed(sizes))))}"


def _listed(sizes: ClassSizes) -> list[int]:
    return [size for size, count in sizes.histogram().items() for _ in range(count)]


def _tree_table(nodes: list[Node]) -> Grid:
    cells: list[list[Any]] = [
        [node.label, ", ".join(f"{count} of {size}" for size, count in sorted(node.classes.items()) if count),
         str(node.chance), float(node.chance)]
        for node in nodes
    ]  # fmt: skip
    return Grid("Figure 1 in numbers", ("node", "classes before", "chance", "as a decimal"), cells)


def _tree_picture(nodes: list[Node]) -> Any:
    leaves = [node.path for node in nodes if len(node.path) == TREE_TARGETS]
    place = {
        node.path: (
            sum(number for number, leaf in enumerate(leaves) if leaf[: len(node.path)] == node.path)
            / sum(leaf[: len(node.path)] == node.path for leaf in leaves),
            -float(len(node.path)),
        )
        for node in nodes
    }
    return graph_figure(
        {f"{node.label}\n{float(node.chance):.3f}": place[node.path] for node in nodes},
        [(place[path[:-1]], place[path], "") for path in place if len(path) > 1],
        title="The recursion as a tree",
        subtitle="A, B, C: the first, second and third person, with the sizes of their classes",
    )
