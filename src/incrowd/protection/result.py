"""The result of protecting a table: the table, its guarantee, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd._support.services import provided
from incrowd.attacks.learned_result import LearnedAttack
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.protection.guarantee import Guarantee
from incrowd.protection.problem import Demand
from incrowd.results import DataTable, Result, Statement
from incrowd.tables import Table
from incrowd.wording import percent

if TYPE_CHECKING:
    from incrowd.protection.hierarchies import Hierarchy


@dataclass(frozen=True, slots=True, eq=False)
class Protected(Result):
    """A protected table in the caller's kind of frame, with its guarantee and what changed.

    - `classes` are counted on the table.
    - `changed_cells`: by quasi-identifier, the number of cells that differ from the original.
    - `kept_rows`: the original row of every released row (None: all rows, in their order).
    - `removed` and `pseudonymised` are columns. `keyed`: pseudonyms come from a key and are not random.
    - `kept_column_warnings` are the notes on kept columns that undo the protection.
    - `learned` is what an attacker learns from kept columns (None: not attacked).
    - `outputs`: by column, its output form in place of ranges and sets; `released_quasi_identifiers` are the columns of
      these forms.
    - `generalised` is the table with ranges and sets, by which detail and loss are measured (None: it is `table`).
    - `counted` is `table` as a `Table` whose columns are encoded already (None: read `table`).
    - `shuffled`: rows are in random order. `row_order` are columns of the original that the row order follows.
    - `left_out_secrets` are the removed columns that are sensitive, `known_secrets` the quasi-identifiers that are.
    - `perturbed` are columns of any role in which a record may have another record's value or a random one.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset(
        {
            *("table", "demand", "original", "kept_rows", "sensitive", "person", "hierarchies", "kept_column_warnings"),
            *("outputs", "released_quasi_identifiers", "generalised", "method_help", "learned", "counted"),
            *("_attacks", "left_out_secrets", "known_secrets"),
        }
    )
    _derived: ClassVar[tuple[str, ...]] = ("share_changed",)

    table: Any
    method: str
    quasi_identifiers: tuple[str, ...]
    demand: Demand
    guarantee: Guarantee
    classes: ClassSizes
    changed_cells: dict[str, int]
    rows: int
    suppressed_rows: int
    removed: tuple[str, ...] = ()
    pseudonymised: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    original: Table | None = None
    kept_rows: NDArray[np.int64] | None = None
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    hierarchies: Mapping[str, Hierarchy] | None = None
    kept_column_warnings: tuple[str, ...] = ()
    learned: LearnedAttack | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    released_quasi_identifiers: tuple[str, ...] = ()
    generalised: Any = None
    counted: Table | None = None
    method_help: str = ""
    perturbed: tuple[str, ...] = ()
    keyed: bool = False
    shuffled: bool = False
    row_order: tuple[str, ...] = ()
    left_out_secrets: tuple[str, ...] = ()
    known_secrets: tuple[str, ...] = ()
    _attacks: dict[tuple[int, int], Any] = field(default_factory=dict, init=False)  # cache, by targets and seed

    @property
    def share_changed(self) -> float:
        """The share of quasi-identifier cells in released rows that differ from the original."""
        cells = self.rows * len(self.quasi_identifiers)
        return sum(self.changed_cells.get(name, 0) for name in self.quasi_identifiers) / cells if cells else 0.0

    @property
    def diverse(self) -> tuple[str, ...]:
        """The sensitive columns that l, t, beta and delta hold for."""
        return tuple(one.column for one in self.guarantee.sensitive) or self.sensitive

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns that are released unchanged."""
        touched = {*self.quasi_identifiers, *self.removed, *self.pseudonymised, *self.changed_cells}
        columns = self.original.columns if self.original else self.table.columns  # in a cluster: Spark's frame
        return tuple(name for name in columns if name not in touched)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The risk that classes leave; nothing where values were changed by chance, which classes do not show."""
        if self.guarantee.perturbed:
            return ()
        k, risk = self.guarantee.k, self.classes.correctness
        return (
            Statement("risk", "smallest class (k)", k, f"{k:,}", "Records with the same values."),
            Statement("risk", "average risk (κ)", risk, percent(risk), "Chance that a guess is right."),
        )

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The share of changed cells by column."""
        changed = tuple((name, percent(cells / self.rows)) for name, cells in self.changed_cells.items())
        return (DataTable("What was changed", ("column", "cells changed"), changed),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The guarantee, what it is counted by, and the columns that are passed on unchanged."""
        unchanged = (f"Passed on unchanged: {', '.join(self.unchanged)}.",) if self.unchanged else ()
        return (f"{self.guarantee.sentence}.", *unchanged)

    def evaluate(
        self,
        *,
        sensitive: Sequence[str] | None = None,
        secret: Any = None,
        utility: bool = False,
        outcome: str | None = None,
        progress: Progress = silent,
    ) -> Any:
        """Evaluate the protected table against the original.

        Args:
            sensitive: the sensitive columns. None: those that were given to `protect`.
            secret: a value of the sensitive column or a range, as in `incrowd.evaluate`.
            utility: also measure the utility for analysts: marginals and propensity.
            outcome: a column for regressions on the quasi-identifiers, as in `incrowd.evaluate`; implies `utility`.
            progress: called with what is done and how far it is.

        Returns:
            An `Evaluation`: risk, loss, disclosure.

        Raises:
            UnsupportedError: the table was protected in a cluster.
        """
        if self.original is None:
            raise UnsupportedError(
                "what protection cost is measured row by row, and a cluster keeps no order of rows; "
                "protect and evaluate a sample here"
            )
        sensitive_columns = self.sensitive if sensitive is None else sensitive
        return provided("evaluation")(
            self, sensitive=sensitive_columns, secret=secret, utility=utility, outcome=outcome, progress=progress
        )

    def attack(self, *, targets: int = 2000, seed: int = 0, progress: Progress = silent) -> Any:
        """Measure how often somebody who knows a person's quasi-identifiers finds that person's record.

        This is the risk of a perturbed table, which its classes do not show. The attacker knows how much noise was
        added. The result is cached.

        Args:
            targets: how many people are attacked.
            seed: the seed that chooses these people.
            progress: called with what is done and how far it is.

        Returns:
            The `AttackRisk` of a linkage attack.

        Raises:
            UnsupportedError: the table was protected in a cluster, or has too few rows.
        """
        if self.original is None:
            raise UnsupportedError(
                "an attack compares rows, and a cluster keeps no order of them; attack a sample here"
            )
        if (targets, seed) not in self._attacks:
            risk = provided("linkage")(self, targets=targets, seed=seed, progress=progress)
            self._attacks[targets, seed] = risk
        return self._attacks[targets, seed]

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types, without the table; the warnings of kept columns are called `undone`."""
        return {**Result.to_dict(self), "undone": list(self.kept_column_warnings)}
