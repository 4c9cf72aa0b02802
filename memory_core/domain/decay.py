"""How importance and recency fade: functions of a base value and of two timestamps, and of nothing else.

The faded value is never stored and never fed back in. Writing it back would let it fade again from there: an hourly job
over ten idle days would leave 0.4 % of an importance that should have kept 79 %.

Times are aware datetimes in the scalar function and epoch seconds (UTC) in the others. A moment in the future, or one
that is not known (NaN), has age zero.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

HOUR_S = 3600.0
DAY_S = 86_400.0
LEAST_RECENCY = 0.01


def importance_at(base: float, since: datetime, now: datetime, half_life_days: float = 30.0) -> float:
    """`base · 2^(-days since / half-life)`: the whole base at age zero, half of it after one half-life.

    since: when the memory was last accessed, else created.
    """
    days = max(0.0, (now - since) / timedelta(days=1))
    return float(base * 2.0 ** (-days / half_life_days))


def importances_at(base: Floats, since_s: Floats, now_s: float, half_life_days: float = 30.0) -> Floats:
    """`importance_at` for arrays of the same length."""
    return base * _halvings(since_s, now_s, half_life_days)


def recency_half_life(touched_s: Floats, at_s: float, half_life_days: float = 30.0) -> Floats:
    """LTM Engine's recency in [0, 1]: `2^(-age in days / half-life)`."""
    return _halvings(touched_s, at_s, half_life_days)


def recency_secmsa(touched_s: Floats, at_s: float, max_age_hours: float = 43_800.0, half_life_factor: float = 4.0) -> Floats:
    """SECMSA's recency in [0.01, 1]: `exp(-age in hours · factor / max age)`, by default `exp(-age / 10 950 h)`.

    SECMSA calls 10 950 hours a half-life; by the formula it is the age at which 1/e = 37 % is left.
    """
    hours = _age_s(touched_s, at_s) / HOUR_S
    return np.maximum(LEAST_RECENCY, np.exp(-hours * half_life_factor / max_age_hours))


def _halvings(since_s: Floats, now_s: float, half_life_days: float) -> Floats:
    return np.exp2(-_age_s(since_s, now_s) / (DAY_S * half_life_days))


def _age_s(since_s: Floats, now_s: float) -> Floats:
    # fmax, unlike maximum, takes the zero where the other is NaN.
    return np.fmax(0.0, now_s - since_s)
