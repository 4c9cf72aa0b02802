"""Tags and keywords without near-doubles: SECMSA's fuzzy deduplication, made safe for every script.

A near-double that stays costs a few bytes; two different tags made one are lost for good. So
letters of any script, symbols and emoji count ("C", "C++" and "C#" are three things), and a high
ratio alone is not enough: numbers must be the same, and so must short words and words whose
characters carry too much for a ratio over them to mean anything.
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
"""Words of up to this many characters must be equal: one changed letter of four is a ratio of 75
("java", "lava").
"""
FEW_WORDS = 4
"""Items of up to this many words are names, compared word by word; longer ones are sentences,
compared as a whole.
"""

_KEPT_PUNCTUATION = frozenset("#%&@*")
# joins and tags of emoji are not among them
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200e\u200f\u2060\ufe0e\ufe0f\ufeff")


def fuzzy_dedup(items: Iterable[str], threshold: float = DEFAULT_THRESHOLD) -> list[str]:
    """The items in order, each near-double and blank dropped; of a group the first spelling
    stays. Idempotent.

    Two items are near-doubles when their normal forms are equal but for spaces, or when RapidFuzz's
    `token_sort_ratio` of them reaches `threshold` (0-100) and nothing that must be equal differs
    (`_may_merge`).
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
    """The form in which tokens are compared: NFKC, case-folded, hyphens and underscores as spaces,
    punctuation gone.

    Letters, marks, digits and symbols of every script stay, and so do `# % & @ *` and a dot that
    begins a word or a decimal (".net", "3.5"). A token of nothing but punctuation stays as it is;
    a blank one is empty.
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
    """Whether nothing in the two normal forms forbids what their ratio suggests."""
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
    """One word written twice: equal, or long enough, with the same first letter and alike
    enough on its own.

    A slip of the pen and an ending leave the first letter alone; "female" and "male",
    "increase" and "decrease" do not.
    """
    from rapidfuzz import fuzz

    if first == second:
        return True
    long_enough = min(len(first), len(second)) > SHORT_WORD
    return long_enough and first[0] == second[0] and fuzz.ratio(first, second) >= threshold


def _is_spelt(word: str) -> bool:
    """Whether the word is spelt out in letters (and dots): no number, symbol or emoji,
    no script of one character a word.
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
