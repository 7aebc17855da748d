"""A generated population of hospital stays, so that nothing has to be downloaded.

The columns are those of Sánchez, Martínez & Domingo-Ferrer, "How to avoid reidentification with proper anonymization"
(arXiv:1511.05957), Table S1. All people are invented. Places, people and stays are drawn so that the marginals are
plausible and the pairwise correlations are near the paper's Table S4. At the paper's size, 3 985 166 records, about
75 % of the records are unique by the nine quasi-identifiers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.seed import require_seed
from incrowd.errors import InputError

FULL_SIZE = 3_985_166
CENSUS = ("age_yrs", "sex", "ethncty", "race", "patzip", "patcnty")
SPATIAL = ("oshpd_id",)
TEMPORAL = ("los", "adm_qtr")
QUASI_IDENTIFIERS = SPATIAL + CENSUS + TEMPORAL
AS_NUMBERS = dict.fromkeys(QUASI_IDENTIFIERS, "numeric")  # scales: the papers treat codes as quantities too
GROUPS = {"census": CENSUS, "spatial": SPATIAL, "temporal": TEMPORAL}

_BLOCK = 500_000  # rows drawn at a time: bounds the memory, and makes a small table the head of a large one
_COUNTIES, _HOSPITALS, _ZIP_CODES, _DIAGNOSES = 58, 420, 1_350, 800
_CHOICES = 8  # hospitals a ZIP code's residents usually go to
_LAND = 20_119  # seed of the map, the same for every table


class _Map(NamedTuple):
    """The places where people live, and the hospitals they go to."""

    zip_code: NDArray[np.int32]
    zip_share: NDArray[np.float64]
    zip_county: NDArray[np.int8]
    zip_north: NDArray[np.float64]
    zip_hospital: NDArray[np.int32]
    hospital: NDArray[np.int32]
    hospital_share: NDArray[np.float64]


def demo_table(rows: int = 100_000, seed: int = 0) -> pa.Table:
    """Generate a table of invented hospital stays.

    Args:
        rows: number of stays; a smaller table is the head of a larger one.
        seed: the same seed gives the same table.

    Returns:
        A pyarrow table with the eleven columns of the published one.

    Raises:
        InputError: fewer than one row, or a negative seed.

    >>> demo_table(3).column_names[:4]
    ['oshpd_id', 'age_yrs', 'sex', 'ethncty']
    """
    if rows < 1:
        raise InputError(f"a demo table of {rows:,} rows; give 1 or more")
    seed = require_seed(seed)
    land = _draw_map()
    codes = pa.array([f"{1 + code:03d}.{code % 10}" for code in range(_DIAGNOSES)])  # notation of ICD-9-CM, ascending
    blocks = []
    for number, start in enumerate(range(0, rows, _BLOCK)):
        generator = np.random.default_rng([seed, number])
        drawn = _draw_block(land, generator)
        keep = min(_BLOCK, rows - start)
        diagnosis = codes.take(pa.array(drawn.pop("diag_p")[:keep]))  # files hold no code that no stay has
        columns = {name: pa.array(values[:keep]) for name, values in drawn.items()}
        blocks.append(pa.table({**columns, "diag_p": diagnosis}))
    return pa.concat_tables(blocks)


def _draw_map() -> _Map:
    """Draw counties, their ZIP codes and hospitals, and the hospitals that people of each county use."""
    generator = np.random.default_rng(_LAND)
    share = 1.0 / (np.arange(_COUNTIES) + 2.2) ** 1.35
    place = generator.permutation(_COUNTIES)
    place[[0, int(np.flatnonzero(place == 18)[0])]] = 18, place[0]  # as in California, the largest county is number 19
    county_share = np.empty(_COUNTIES)
    county_share[place] = share / share.sum()

    zip_county = _apportion(county_share**0.8, _ZIP_CODES)
    south_to_north = generator.normal(size=_COUNTIES)
    order = np.argsort(south_to_north[zip_county], kind="stable")
    zip_code = np.empty(_ZIP_CODES, dtype=np.int32)
    zip_code[order] = 90_001 + np.sort(generator.choice(6_160, _ZIP_CODES, replace=False))
    zip_share = generator.gamma(0.7, size=_ZIP_CODES)
    zip_share *= county_share[zip_county] / np.bincount(zip_county, zip_share, _COUNTIES)[zip_county]

    hospital_county = _apportion(county_share**0.85, _HOSPITALS)
    hospital = (hospital_county + 1).astype(np.int32) * 10_000 + generator.choice(9_999, _HOSPITALS, replace=False)
    hospital_share = generator.gamma(0.6, size=_HOSPITALS)
    hospital_share *= county_share[hospital_county] / np.bincount(hospital_county, hospital_share)[hospital_county]

    zip_hospital = np.empty((_ZIP_CODES, _CHOICES), dtype=np.int32)
    for county in range(_COUNTIES):
        nearby = np.flatnonzero(hospital_county == county)
        zips_of_county = np.flatnonzero(zip_county == county)
        weight = hospital_share[nearby] / hospital_share[nearby].sum()
        zip_hospital[zips_of_county] = generator.choice(nearby, (zips_of_county.size, _CHOICES), p=weight)
    return _Map(
        zip_code,
        np.cumsum(zip_share) / zip_share.sum(),
        (zip_county + 1).astype(np.int8),
        np.argsort(np.argsort(zip_code)) / _ZIP_CODES,
        zip_hospital,
        hospital,
        np.cumsum(hospital_share) / hospital_share.sum(),
    )


def _apportion(share: NDArray[np.float64], things: int) -> NDArray[np.int64]:
    """Give every county one item, and distribute the rest by the shares."""
    quota = 1 + np.floor(share / share.sum() * (things - share.size)).astype(np.int64)
    quota[np.argmax(share)] += things - quota.sum()
    return np.repeat(np.arange(share.size), quota)


def _draw_block(land: _Map, generator: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """One block of stays, column by column."""
    n = _BLOCK
    home = np.searchsorted(land.zip_share, generator.random(n)).astype(np.int32)
    usual = np.minimum(generator.geometric(0.73, n) - 1, _CHOICES - 1)
    elsewhere = np.searchsorted(land.hospital_share, generator.random(n))
    travels = generator.random(n) < 0.16
    hospital = np.where(travels, elsewhere, land.zip_hospital[home, usual])

    age = _draw_age(generator)
    sex = _draw_sex(age, generator)
    ethnicity, race = _draw_origin(age, land.zip_north[home], generator)
    stay = _draw_stay(age, generator)
    return {
        "oshpd_id": land.hospital[hospital],
        "age_yrs": age,
        "sex": sex,
        "ethncty": ethnicity,
        "race": race,
        "patzip": land.zip_code[home],
        "patcnty": land.zip_county[home],
        "los": stay,
        "adm_qtr": generator.integers(1, 5, n, dtype=np.int8),
        "charge": _draw_charge(stay, generator),
        "diag_p": _draw_diagnosis(age, generator),
    }


def _draw_age(generator: np.random.Generator) -> NDArray[np.int8]:
    """Ages: many newborns, few children, many of child-bearing age, and more with every later decade; 85 means 85+."""
    u = generator.random(_BLOCK)
    knots = [0.0, 0.13, 0.175, 0.21, 0.40, 0.60, 0.78, 0.91, 1.0]
    years = [0.0, 1.0, 8.0, 17.0, 36.0, 56.0, 72.0, 85.0, 97.0]
    return np.minimum(np.floor(np.interp(u, knots, years)), 85).astype(np.int8)


def _draw_sex(age: NDArray[np.int8], generator: np.random.Generator) -> NDArray[np.int8]:
    """Sex: 1 male, 2 female, 3 other, 4 unknown; births make the ages from 18 to 42 mostly female."""
    female = np.where((age >= 18) & (age <= 42), 0.72, np.where(age >= 75, 0.56, 0.49))
    u = generator.random(_BLOCK)
    sex = 1 + (u < female).astype(np.int8)
    sex[u > 0.9997] = 4
    return sex


def _draw_origin(
    age: NDArray[np.int8], north: NDArray[np.float64], generator: np.random.Generator
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Ethnicity (1 Hispanic, 2 not, 3 unknown) and race (1 White … 5 other, 6 unknown).

    Younger people and those further south are more often Hispanic. Hispanic people are more often of other race.
    """
    hispanic = generator.random(_BLOCK) < 0.68 - 0.0067 * age - 0.24 * (north - 0.5)
    ethnicity = np.where(hispanic, 1, 2).astype(np.int8)
    ethnicity[generator.random(_BLOCK) < 0.012] = 3
    shares = np.array([[0.56, 0.02, 0.005, 0.01, 0.375, 0.03], [0.775, 0.09, 0.005, 0.09, 0.03, 0.01]])
    young = np.array([[0.47, 0.02, 0.005, 0.01, 0.455, 0.04], [0.63, 0.13, 0.005, 0.145, 0.07, 0.02]])
    cuts = np.cumsum(np.stack([shares, young]), axis=2)
    group = cuts[(age < 45).astype(np.int8), (~hispanic).astype(np.int8), :5]
    race = 1 + (generator.random(_BLOCK)[:, None] > group).sum(axis=1)
    return ethnicity, race.astype(np.int8)


def _draw_stay(age: NDArray[np.int8], generator: np.random.Generator) -> NDArray[np.int16]:
    """Days from admission to discharge: a few for most, months for some, longer with age."""
    days = np.exp(generator.normal(0.6 + 0.009 * age, 0.64))
    long = generator.random(_BLOCK) < 0.012
    days[long] *= np.exp(generator.exponential(1.1, int(long.sum())))
    return np.minimum(days, 999).astype(np.int16)


def _draw_charge(stay: NDArray[np.int16], generator: np.random.Generator) -> NDArray[np.int32]:
    """Dollars: a log-normal level times a power of the length of stay; about one stay in ten costs over 100 000."""
    level = np.exp(generator.normal(9.05, 0.95, _BLOCK))
    charge: NDArray[np.float64] = np.minimum(level * (1.0 + stay) ** 0.85, 2e7)
    return charge.astype(np.int32)


def _draw_diagnosis(age: NDArray[np.int8], generator: np.random.Generator) -> NDArray[np.int16]:
    """Diagnosis codes: a few are common, most are rare, and which ones are common depends on age."""
    rank = np.floor(_DIAGNOSES ** generator.random(_BLOCK)).astype(np.int64) - 1
    return ((rank * 7 + 11 * (age // 18)) % _DIAGNOSES).astype(np.int16)
