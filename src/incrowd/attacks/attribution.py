"""Attribution: the sensitive values of released records with a person's known values (the CAP family).

- CAP, the correct attribution probability of a person: the share of the released records with their known values that
  have their secret; 0 if there are none (Elliot, 2014). Its mean is the success of the attack.
- WEAP, within-class attribution: the same share for a released record among the released ones.
- TCAP: for released records whose class has one secret only (WEAP = 1), the share of the people with these known values
  who have it (Taub and Elliot, 2019).
- DiSCO, disclosive in the release and correct in the original: people whose matching released records all have one
  secret, which is theirs (Raab, Nowok and Dibben, 2024).
- DCAP: CAP minus the share of the secret among all released records, the guess without any known value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.inference import secret_column
from incrowd.attacks.result import AttackRisk
from incrowd.attacks.setting import HOLDOUT, ORIGINAL, RELEASED, Setting
from incrowd.special import Floats


def attack_by_attribution(setting: Setting) -> AttackRisk:
    """CAP of the targets and of the people of the holdout, with the other measures of the family."""
    secret = secret_column(setting)
    matching, agreeing = _counts(setting, RELEASED, ORIGINAL, setting.targets)
    cap = _shares(agreeing, matching)
    control = None
    if setting.has_holdout:
        control_matching, control_agreeing = _counts(setting, RELEASED, HOLDOUT, setting.controls)
        control = _shares(control_agreeing, control_matching)
    margin = _counts(setting, RELEASED, ORIGINAL, setting.targets, known=())[1] / setting.encoded.rows[RELEASED]
    matched = matching > 0
    weap, tcap = _of_released_records(setting)
    return setting.result(
        "attribution",
        cap,
        control,
        chance=float(margin.mean()),
        secret=[secret.name],
        measures={
            "CAP of people with a match": float(cap[matched].mean()) if matched.any() else None,
            "people without a match": float(1.0 - matched.mean()),
            "DCAP": float(cap.mean() - margin.mean()),
            "WEAP": weap,
            "TCAP": tcap,
            "disclosive and correct (DiSCO)": float(np.mean(matched & (agreeing == matching))),
        },
    )


def _of_released_records(setting: Setting) -> tuple[float, float | None]:
    """Mean WEAP of some released records, and TCAP of those whose class has one secret only."""
    rows = setting.encoded.rows[RELEASED]
    some = np.sort(setting.random("attribution").choice(rows, min(setting.targets.size, rows), replace=False))
    matching, agreeing = _counts(setting, RELEASED, RELEASED, some)
    weap = _shares(agreeing, matching)
    certain = some[agreeing == matching]
    matching, agreeing = _counts(setting, ORIGINAL, RELEASED, certain)
    tcap = _shares(agreeing, matching)[matching > 0]
    return float(weap.mean()), float(tcap.mean()) if tcap.size else None


def _counts(
    setting: Setting, side: int, probes_side: int, rows: NDArray[np.int64], known: tuple[str, ...] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each record, count the rows of a table that fit its known values, and those that fit its secret too."""
    columns = setting.known if known is None else known
    counts = []
    for names in (columns, (*columns, str(setting.secret))):
        if not names or not rows.size:
            counts.append(np.zeros(rows.size, dtype=np.int64))
            continue
        probes = setting.probes(names, probes_side, rows)
        counts.append(setting.gallery(names, side, probes_side).count(probes, np.zeros(rows.size))[1])
    return counts[0], counts[1]


def _shares(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)
