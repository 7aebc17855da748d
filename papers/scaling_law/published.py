"""Numbers of the scaling-law paper, and points others published, typed in with their source."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WORLD = 7.53e9  # people, as the paper counts them
FRACTIONS = (0.001, 0.005, 0.01, 0.05, 0.1, 1.0)
NAMES = ("PYC", "ENT", "EXP", "POL", "RND")
KINDS = ("exact", "sparse", "robust")

_ROWS = """
0.001 exact 216 0.290 0.370 0.315 0.484 0.347
0.001 sparse 13 0.326 0.484 0.302 0.395 0.345
0.001 robust 30 0.234 0.523 0.340 0.386 0.287
0.005 exact 290 0.153 0.364 0.287 0.355 0.305
0.005 sparse 16 0.191 0.430 0.330 0.369 0.308
0.005 robust 44 0.154 0.479 0.346 0.312 0.287
0.01 exact 316 0.122 0.357 0.262 0.330 0.282
0.01 sparse 16 0.104 0.422 0.253 0.393 0.287
0.01 robust 47 0.183 0.463 0.310 0.433 0.254
0.05 exact 351 0.067 0.310 0.192 0.179 0.230
0.05 sparse 17 0.056 0.373 0.149 0.149 0.233
0.05 robust 58 0.134 0.411 0.224 0.361 0.216
0.1 exact 365 0.051 0.276 0.155 0.146 0.214
0.1 sparse 17 0.036 0.340 0.124 0.092 0.215
0.1 robust 58 0.102 0.379 0.175 0.262 0.191
1.0 exact 400 0.013 0.128 0.037 0.028 0.213
1.0 sparse 18 0.013 0.152 0.051 0.055 0.202
1.0 robust 58 0.060 0.256 0.099 0.155 0.172
"""


def _table_1() -> dict[tuple[str, float], dict[str, float]]:
    found = {}
    for line in _ROWS.split("\n")[1:-1]:
        fraction, kind, count, *errors = line.split()
        cells = dict(zip(NAMES, map(float, errors), strict=True))
        found[kind, float(fraction)] = {"count": float(count), **cells}
    return found


TABLE_1: Mapping[tuple[str, float], Mapping[str, float]] = MappingProxyType(_table_1())
"""Table 1: RMSE of the forecast by kind of matching and share measured; "PYC" is the paper's PYC-MB."""

SPECIFICATION = MappingProxyType(
    {"collections": 400, "rmse": 0.017, "bias": 0.013, "entropy rule": 0.187, "divergence": 4.14}
)
"""The model fitted to class sizes, over all collections (text and Tables S1 and S2); the divergence is in bits."""

FACES_2002 = MappingProxyType({800: 0.85, 1600: 0.83, 37_437: 0.73})
"""Rank-1 rate of the best of ten face recognition systems by gallery size.

P. J. Phillips et al., Face Recognition Vendor Test 2002: evaluation report, NISTIR 6965 (2003), executive summary.
"""
