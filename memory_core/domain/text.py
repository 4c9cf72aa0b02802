"""From text to terms: the one analyser that memories and queries share.

A term is what two texts must have in common to count as sharing a word: case-folded, compatibility forms unified, stemmed
by the language that its script suggests; in Latin letters by the language whose little words the text uses (`languages`).
Note: the terms are stored with every memory, so a change of this module needs all of them analysed again.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import regex

from memory_core.domain.languages import ENGLISH, language_of
from memory_core.domain.normal_form import normal_form
from memory_core.domain.stopwords import FUNCTION_WORDS

MAX_WORD = 64
"""Characters of a word that count: an encoded blob must not become a term of 30 KB."""
MAX_DISTINCT = 4_000
"""Distinct terms kept of one text; 32 KiB of ordinary prose have about 1,500."""

# Scripts written without spaces (and Hangul, which glues endings on): their runs are cut into pairs of characters.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# A word is a run of letters, digits and marks: `_`, `-` and `'` part words, so that the key `favourite_colour` is found by
# "favourite colour". A single letter keeps `++` or `#`: C++ and C# are not C. Pictographs are words of their own.
_WORD = regex.compile(r"[\w--[_\p{M}]][\w--_]*(?:(?<=\b[a-z])(?:\+\+|\#))?|\p{Extended_Pictographic}", regex.V1)
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:(?<=\b[a-z])(?:\+\+|#))?")
"""`_WORD` for a folded text of ASCII alone, which is a third of the work."""
_RUN = regex.compile(rf"([{_UNSPACED}][{_UNSPACED}\p{{M}}]*)|([^{_UNSPACED}]+)", regex.V1)
_WORDS_ALONE = regex.compile(r"[\p{Han}\p{Hangul}]")
_CHARACTER = regex.compile(r"\X")
_FIRST_UNSPACED = "\u0e00"  # no unspaced script lies below Thai
_INVISIBLE = regex.compile(r"[\u00ad\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]")
_MARKS = regex.compile(r"\p{M}+")

_STEMMERS = (
    (0x0000, 0x024F, "english"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1E00, 0x1EFF, "english"),
)
_lock = threading.Lock()


def words(text: str) -> list[str]:
    """The words of a text in order: case-folded, NFKC, none dropped, none stemmed; unspaced scripts as pairs of characters."""
    if text.isascii():
        return [word[:MAX_WORD] for word in _ASCII_WORD.findall(text.lower())]
    found: list[str] = []
    for word in _WORD.findall(_folded(text)):
        if word.isascii() or max(word) < _FIRST_UNSPACED:
            found.append(word[:MAX_WORD])
        else:
            found.extend(_cut(word))
    return found


def tokens(text: str) -> list[str]:
    """The terms of a text in order, repetitions included: its words without stop words and lone letters, stemmed."""
    return terms_of(words(text))


def terms_of(found: Iterable[str], language: str = ENGLISH) -> list[str]:
    """The terms of words that `words` gave. language: of those in Latin letters."""
    return [term for word in found if (term := _term(word, language))]


def counts(text: str) -> dict[str, int]:
    """How often each term occurs, in order of appearance; of a huge text only the first `MAX_DISTINCT` terms.

    After the pairs come their Chinese and Korean characters one by one, because many are words: a query for 猫 has no pair
    to be found by. A query's own terms stay pairs, which are the better ones wherever there are any. After the stems of another
    language come those that English rules make of the same words, where they differ: a query of two words ("grünen Tee") does not
    say which language it is in.
    """
    return counts_and_order(text)[0]


def counts_and_order(text: str) -> tuple[dict[str, int], list[str]]:
    """What `counts` gives, and the terms as they follow each other.

    After the stem of a word in another language comes the English one, where it is a term of its own. Characters are in the counts alone.
    """
    found = words(text)
    language = language_of(found)
    if language == ENGLISH:
        stems = terms_of(found, language)
        return count(chain(stems, _characters(text))), stems
    each = [(_term(word, language), _term(word, ENGLISH)) for word in found]
    stems = [stem for stem, _ in each if stem]
    others = {english for _, english in each if english}.difference(stems)
    order = [term for stem, english in each for term in (stem, english if english in others else "") if term]
    return count(chain(stems, sorted(others), _characters(text))), order


def count(terms: Iterable[str]) -> dict[str, int]:
    """Terms to counts, bounded like `counts`."""
    table: dict[str, int] = {}
    for term in terms:
        if term in table:
            table[term] += 1
        elif len(table) < MAX_DISTINCT:
            table[term] = 1
    return table


def _folded(text: str) -> str:
    # Twice, because folding can leave forms that are not normal, and a term must be the same however it was typed.
    folded = normal_form("NFKC", normal_form("NFKC", text).casefold())
    return str(_INVISIBLE.sub("", folded))


def _cut(word: str) -> list[str]:
    """A word with characters of unspaced scripts, cut into its spaced parts and the pairs of each run."""
    parts: list[str] = []
    for run, spaced in _RUN.findall(word):
        characters = _CHARACTER.findall(run)
        if spaced:
            parts.append(spaced[:MAX_WORD])
        elif len(characters) == 1:
            parts.append(run)
        else:
            parts.extend(a + b for a, b in pairwise(characters))
    return parts


def _characters(text: str) -> Iterable[str]:
    """The characters within pairs that may be words of their own."""
    if text.isascii():
        return ()
    runs = (run for run, _ in _RUN.findall(_folded(text)) if len(run) > 1)
    return chain.from_iterable(_WORDS_ALONE.findall(run) for run in runs)


@lru_cache(maxsize=32_768)
def _term(word: str, language: str) -> str:
    """The term of one word, empty when it has none. What English drops is dropped everywhere: names of languages are guesses."""
    if word in FUNCTION_WORDS or (len(word) == 1 and word.isalpha() and word < _FIRST_UNSPACED):
        return ""
    script = ord(word[0])
    algorithm = next((name for first, last, name in _STEMMERS if first <= script <= last), None)
    if algorithm is None:
        return word
    latin = algorithm == ENGLISH
    with _lock:  # the C stemmers are not safe to share between threads
        if not latin or language != ENGLISH:
            word = str(_stemmer(language if latin else algorithm).stemWord(word))
        if latin and not word.isascii():
            # People type "cafe" for "café"; in other scripts a mark makes another letter.
            word = _MARKS.sub("", normal_form("NFD", word)) or word
        return str(_stemmer(ENGLISH).stemWord(word)) if latin and language == ENGLISH else word


@lru_cache(maxsize=len(_STEMMERS))
def _stemmer(algorithm: str) -> Any:
    import Stemmer  # here, because most starts of a function need no text analysis

    return Stemmer.Stemmer(algorithm, 0)
