"""Names of weekdays and months in their order, in small letters: English, German, Japanese.

The `ANY_…` are alternatives for an expression. English "may" is a verb far more often than a month, hence `PLAIN_MONTHS`.
"""

from __future__ import annotations

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
GERMAN_WEEKDAYS = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
JAPANESE_WEEKDAYS = "月火水木金土日"
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
PLAIN_MONTHS = tuple(month for month in MONTHS if month != "may")
GERMAN_MONTHS = (
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember",
)  # fmt: skip

ANY_WEEKDAY = "|".join(WEEKDAYS)
ANY_GERMAN_WEEKDAY = "|".join(GERMAN_WEEKDAYS)
ANY_MONTH = "|".join(MONTHS)
ANY_GERMAN_MONTH = "|".join(GERMAN_MONTHS)
