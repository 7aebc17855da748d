"""The public tables (Parquet files in the folder that INCROWD_DATA names), and what outsiders know in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import harness


@dataclass(frozen=True, slots=True)
class Public:
    """A public table: columns that outsiders know, and columns that name rows and are left out."""

    name: str
    known: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def read(self, rows: int, seed: int = 0) -> pa.Table:
        """A random sample of the table, in the file's order."""
        table = pq.read_table(harness.DATA / f"{self.name}.parquet")
        if table.num_rows > rows:
            drawn = np.random.default_rng(seed).choice(table.num_rows, rows, replace=False)
            table = table.take(np.sort(drawn))
        return table

    def kept(self, table: pa.Table) -> list[str]:
        """Columns that are neither known nor left out."""
        return [name for name in table.column_names if name not in (*self.known, *self.left_out)]


_ADULT = "age sex race marital_status education native_country workclass occupation"
_HDV = "age sexe nivetud occup qualif freres.soeurs relig"
_ATUS = "state sex age edu race hispanic country_born citizen marital"
_DIABETES = "race gender age admission_type_id discharge_disposition_id time_in_hospital diag_1"
_NHANES = "SurveyYr Gender Age Race1 Education MaritalStatus HHIncome HomeRooms HomeOwn Work"


def _public(name: str, known: str, left_out: str = "") -> Public:
    return Public(name, tuple(known.split()), tuple(left_out.split()))


PUBLIC: tuple[Public, ...] = (
    _public("adult", _ADULT, "split"),
    _public("atus", _ATUS),
    _public("cdc", "age gender height weight genhlth"),
    _public("cpssw8", "gender age region education earnings"),
    _public("creditcard", "SEX EDUCATION MARRIAGE AGE LIMIT_BAL"),
    _public("diabetes130", _DIABETES, "encounter_id patient_nbr"),
    _public("eusilc_population", "region hsize age gender citizenship ecoStat", "hid pid id"),
    _public("fars", "state age sex year modelyr"),
    _public("groceries", "item", "basket"),
    _public("happy", "year age sex marital degree finrela health", "id"),
    _public("hdv2003", _HDV, "id"),
    _public("msweb_visits", "area_id area", "user"),
    _public("nhanes", _NHANES, "ID"),
    _public("sd2011", "sex age placesize region edu marital"),
    _public("sdc_francdat", "Key1 Key2 Key3 Key4"),
    _public("sdc_testdata", "urbrur roof walls water electcon relat sex age", "ori_hid"),
)
"""All public tables; those of baskets and visits have one item a row."""

WITH_SECRETS: tuple[str, ...] = tuple(
    table.name for table in PUBLIC if table.name not in ("cpssw8", "groceries", "msweb_visits", "sdc_francdat")
)
"""The twelve that have people in rows and columns beyond the known ones."""


def chosen(names: list[str] | None, among: tuple[str, ...] | None = None) -> Iterator[Public]:
    """The named tables, or all, as far as their files are there."""
    for table in PUBLIC:
        wanted = table.name in names if names else among is None or table.name in among
        if wanted and (harness.DATA / f"{table.name}.parquet").is_file():
            yield table
