"""What a sentence is about, by its label: "Contoso: the deadline is 3 May"."""

from __future__ import annotations

import re

from memory_core.domain.text.analyzer import words

_LABEL = re.compile(
    r"\W{0,3}(?P<leads>(?:[Ff]or|[Ff]ür) (?:(?:the|our|my|das|den|die) )?)?"
    r"(?P<name>[A-ZÀ-Þ][\w&'’.-]{0,30}(?: [\w&'’.-]{1,30}){0,3}): "
)
_OPENERS = """
    edit update correction change changed fix fixed news new note notice reminder info important
    attention heads up also hi hey hello ok okay today now email mail contact address phone last
    one more thing quick small short good bad big question fyi btw p s ps pps nb tldr addendum
    postscript achtung adresse aktuell ergänzung erinnerung frage geändert hallo handynummer
    bug fact idea issue notiz remember rule step task tip todo wish
    agreed answer background confirmed context decided decision final finally oops result sorry
    status summary typo warning entscheidung ergebnis fazit tippfehler zusammenfassung
    heute hinweis kontakt korrektur kurz kurze kurzes mail nachtrag neu neue neuer neues noch
    nochmal stand telefon telefonnummer wichtig zuletzt zur änderung übrigens
"""
OPENERS = frozenset(_OPENERS.split())
"""Words of labels that only open a statement, and name no thing."""


def are_labelled_apart(before: str, now: str) -> bool:
    """Whether the labels of two sentences name different things.

    Neither name is in the other sentence. A label led by "for" tells its sentence apart from one
    without a label, too.

    Args:
        before: The earlier sentence.
        now: The later sentence.

    """
    label, other = _label(now), _label(before)
    if label is None or (other is None and not label["leads"]):
        return False
    return _is_without(before, label) and (other is None or _is_without(now, other))


def _label(text: str) -> re.Match[str] | None:
    """The label before a sentence, unless it only opens the sentence."""
    label = _LABEL.match(text)
    return None if label is None or OPENERS.issuperset(words(label["name"])) else label


def _is_without(text: str, label: re.Match[str]) -> bool:
    return set(words(label["name"])).isdisjoint(words(text))
