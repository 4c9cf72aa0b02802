"""The words that tell which thing a statement is about: "flat 2", "the blue one"."""

from __future__ import annotations

import re

from memory_core.domain.statements.change_clauses import telling
from memory_core.domain.statements.said_words import TELLS_APART
from memory_core.domain.text.analyzer import has_japanese, words

_LABEL = re.compile(
    r"(?P<head>[^\W\d_]{2,20}) (?P<label>\d{1,4}|(?-i:[A-HJ-Z]))\b(?![.,:]?\d)"
    r"|\b(?P<letters>[A-Za-z]{1,4})-?(?P<digits>\d{1,5})\b"
    r"|(?P<of>\d{1,4})(?=号)"
)
IS_LABEL = "#"
"""Ends a label, and parts it from the word before it: "flat#2#"."""
_SIZE_WORDS = """
    big small little large bigger smaller groß klein obere untere vordere hintere
"""
_SIZES = frozenset(_SIZE_WORDS.split())
_ADJECTIVE_END = re.compile(r"(?<=\w{4})e[nrms]?\Z")
_NOUN_IN_JAPANESE = re.compile(r"[\u30a1-\u30ff\u4e00-\u9fffA-Za-z0-9]+")


def naming_words(text: str, language: str) -> frozenset[str]:
    """The words of a text that may tell which thing is meant.

    Args:
        text: The text.
        language: The language by which its words are stemmed.

    """
    tokens = words(text)
    labels = (
        (match["head"] or match["letters"] or "", match["label"] or match["digits"] or match["of"])
        for match in _LABEL.finditer(text)
    )
    apart = ((word, _ADJECTIVE_END.sub("", word)) for word in tokens)
    return telling(tokens, language).union(
        (f"{head}{IS_LABEL}{label}{IS_LABEL}".casefold() for head, label in labels),
        (f"{form}{IS_LABEL}" for word, form in apart if word in TELLS_APART or form in _SIZES),
        _NOUN_IN_JAPANESE.findall(text) if has_japanese(text) else (),
    )
