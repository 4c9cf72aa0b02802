"""How to tell which person a clause is about, and the subject of its slots.

Note: there is one wife, so what is said of her has the subject "user's wife" whatever her name; there may be several sisters,
so "my sister Lena" is Lena.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.clauses import SINGULAR

_ONE_EACH = re.compile(
    rf"my (?:older |younger |little |big |twin )?(?:{SINGULAR}|sister|brother|best friend|grandma|grandmother|grandpa|grandfather)$"
)


def told_and_owner(subject: str, who: str) -> tuple[str, str, bool]:
    """How the subject is told, how its slots name it, and whether it is one of which there is only one."""
    if subject in ("I", "my", "we", "call me", ""):
        return who, who.lower() if who == "User" else who, True
    if subject.startswith("my "):
        kind, name = _of_kind(subject)
        if name:
            return f"{who}'s {kind} {name}", name, True
        return f"{who}'s {subject[3:]}", f"{who.lower() if who == 'User' else who}'s {subject[3:]}", bool(_ONE_EACH.match(subject))
    return subject, subject, True


def _of_kind(subject: str) -> tuple[str, str]:
    """Sister and Lena, of "my sister Lena"; without a name the latter is empty."""
    found = subject.split()[1:]
    first = next((place for place, word in enumerate(found) if word[:1].isupper()), len(found))
    return " ".join(found[:first]), " ".join(found[first:])
