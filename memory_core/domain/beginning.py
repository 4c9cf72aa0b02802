"""The beginning of a text that has to be short, ended where a reader would end it."""

from __future__ import annotations

import regex

LEAST_SHARE = 0.6
"""Of the characters that are allowed: a sentence or word that ends before this share would waste too much of them."""
_SENTENCE_END = regex.compile(r"[.!?](?=\s)|[。！？]")
_LONGEST_CHARACTER = 64
"""Code points of a character as readers see it; heaps of marks beyond that are cut anywhere."""
_CHARACTER = regex.compile(r"\X")


def beginning(text: str, limit: int) -> str:
    """The first `limit` characters of a text at most: up to the end of a sentence, else of a word, where one is near, else of a character.

    A family of emoji, or a letter with its accents, is one character to a reader and is not taken apart.
    """
    if len(text) <= limit:
        return text
    head, least = text[:limit], int(limit * LEAST_SHARE)
    sentence_ends = [match.end() for match in _SENTENCE_END.finditer(text, least, limit + 1) if match.end() <= limit]
    if sentence_ends:
        return head[: sentence_ends[-1]]
    words = [head] if text[limit].isspace() else head.rsplit(None, 1)[:-1]
    if words and len(words[0].rstrip()) > least:
        return words[0].rstrip()
    start = max(0, limit - _LONGEST_CHARACTER)
    ends = [start + match.end() for match in _CHARACTER.finditer(text[start : limit + _LONGEST_CHARACTER])]
    return text[: max((end for end in ends if end <= limit), default=limit)].rstrip() or head
