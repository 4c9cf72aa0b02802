"""Tags and keywords without near-duplicates, by SECMSA's fuzzy deduplication.

It is made safe for every script. A near-duplicate that stays costs a few bytes, but two different
tags that are merged are lost for good. So letters of any script, symbols and emoji count ("C",
"C++" and "C#" are three tags), and a high ratio alone is not enough. Numbers must be the same, and
so must short words, and words whose characters carry too much meaning for a ratio.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from memory_core.domain.text.spelling import numbers_in, plain_digits
from memory_core.domain.text.unicode_forms import normal_form

DEFAULT_THRESHOLD = 75.0
SHORT_WORD = 4
"""Words of up to this many characters must be equal: a changed letter of four is a ratio of 75
("java", "lava").
"""
FEW_WORDS = 4
"""Items of up to this many words are names and are compared word by word; longer items are
sentences and are compared as a whole.
"""

_KEPT_PUNCTUATION = frozenset("#%&@*")
# joins and tags of emoji are not among them
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200e\u200f\u2060\ufe0e\ufe0f\ufeff")


def fuzzy_dedup(items: Iterable[str], threshold: float = DEFAULT_THRESHOLD) -> list[str]:
    """The items in order, without near-duplicates and blanks. Idempotent.

    Of a group of near-duplicates the first spelling stays. Two items are near-duplicates when their
    normal forms are equal but for spaces. They also are when RapidFuzz's `token_sort_ratio` of them
    reaches the threshold and no part that must be equal differs (`_may_merge`).

    Args:
        items: Tags or keywords.
        threshold: The ratio from 0 to 100.

    """
    from rapidfuzz import fuzz, process

    distinct: list[str] = []
    forms: list[str] = []
    numbers: list[Counter[str]] = []
    exact: set[tuple[str, frozenset[tuple[str, int]]]] = set()
    for item in items:
        form, own_numbers = normalise_token(item), numbers_in(item)
        key = form.replace(" ", ""), frozenset(own_numbers.items())
        if not form or key in exact:
            continue
        # limit=None: RapidFuzz stops at five matches by default, and the sixth may be the one
        # without an objection.
        near = process.extract(
            form, forms, scorer=fuzz.token_sort_ratio, score_cutoff=threshold, limit=None
        )
        if any(
            numbers[place] == own_numbers and _may_merge(form, other, threshold)
            for other, _, place in near
        ):
            continue
        distinct.append(item)
        forms.append(form)
        numbers.append(own_numbers)
        exact.add(key)
    return distinct


def normalise_token(token: str) -> str:
    """The form in which tokens are compared.

    NFKC and case-folded, with hyphens and underscores as spaces, and without punctuation. Letters,
    marks, digits and symbols of every script stay, and so do `# % & @ *` and a dot that begins a
    word or a decimal (".net", "3.5"). A token of punctuation alone stays as it is; a blank token
    becomes empty.
    """
    folded = plain_digits(normal_form("NFKC", normal_form("NFKC", token).casefold()))
    spaced = re.sub(r"[-_‐-―\s]+", " ", folded)
    letters = "".join(
        character for place, character in enumerate(spaced) if _stays(spaced, place, character)
    )
    return " ".join(letters.split()) or folded.strip()


def _stays(text: str, place: int, character: str) -> bool:
    if character in _INVISIBLE:
        return False
    if character in _KEPT_PUNCTUATION:
        return True
    if character == ".":
        return text[place + 1 : place + 2].isalnum()
    return not unicodedata.category(character).startswith("P")


def _may_merge(first: str, second: str, threshold: float) -> bool:
    """Whether two normal forms with a high ratio may be merged."""
    ours, theirs = sorted(first.split()), sorted(second.split())
    if [word for word in ours if not _is_spelt(word)] != [
        word for word in theirs if not _is_spelt(word)
    ]:
        return False
    if max(len(ours), len(theirs)) > FEW_WORDS:
        return True
    return len(ours) == len(theirs) and all(
        _spelling_of_the_same(a, b, threshold) for a, b in zip(ours, theirs, strict=True)
    )


def _spelling_of_the_same(first: str, second: str, threshold: float) -> bool:
    """Whether two words are spellings of the same word.

    They are if they are equal, or long enough with the same first letter and a high ratio. A typing
    error or an ending does not change the first letter; "female" and "male", "increase" and
    "decrease" differ in it.
    """
    from rapidfuzz import fuzz

    if first == second:
        return True
    long_enough = min(len(first), len(second)) > SHORT_WORD
    return long_enough and first[0] == second[0] and fuzz.ratio(first, second) >= threshold


def _is_spelt(word: str) -> bool:
    """Whether a word has only letters and dots.

    It has no number, symbol or emoji, and no script in which a character is a word.
    """
    return all(
        character == "."
        or (unicodedata.category(character)[0] in "LM" and not _is_dense(character))
        for character in word
    )


def _is_dense(character: str) -> bool:
    point = ord(character)
    return (
        0x2E80 <= point <= 0x9FFF
        or 0xAC00 <= point <= 0xD7AF
        or 0xF900 <= point <= 0xFAFF
        or 0x1B000 <= point <= 0x1B16F
        or point >= 0x20000
    )
