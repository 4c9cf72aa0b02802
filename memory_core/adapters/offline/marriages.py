"""The rows for the end of a marriage in German."""

from __future__ import annotations

from memory_core.adapters.offline.clause_facts import Row
from memory_core.domain.truth.slots import NO_LONGER

_DIED = (
    r"\b[Mm]eine? (?:Ehemann|Ehefrau|Mann|Frau)(?: [A-ZÄÖÜ]\w+)? ist\b[^,;]{0,40}"
    r" (?:gestorben|verstorben|tot)\b"
)
GERMAN_MARRIAGE_ENDS: tuple[Row, ...] = (
    Row(
        "spouse",
        r"\b(?:ich bin|bin ich) (?:[a-zäöü]{2,12} ){0,3}(?:geschieden|verwitwet)\b",
        filled=NO_LONGER,
    ),
    Row("spouse", _DIED, filled=NO_LONGER),
    Row("marital status", _DIED, filled="verwitwet"),
)
