"""Guards beside the vectors: whether two statements that are near say the same.

A sentence vector hardly shows the words that turn a statement into another. With MiniLM the cosine
of "I prefer tea over coffee" to "I prefer coffee over tea" is 0.993, of 10:30 to 11:30 in a
sentence 0.95, while honest paraphrases lie at 0.92-0.99. So statements whose similarity reached the
duplicate threshold are the same only when no guard here tells them apart. The guards lean to one
side: a statement that is kept twice costs a row, but a new statement that is taken for an old one
is lost. They accept the same words in the same order, with differences in endings, articles,
auxiliaries, spellings of numbers and case.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from memory_core.domain.text.polarity import JAPANESE_ENDINGS, NEGATIONS, opposed
from memory_core.domain.text.spelling import numbers_in, plain_digits
from memory_core.domain.text.unicode_forms import normal_form

_TRAILING = " .!…。、,;:"
_DENSE = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # noqa: E501
# One character a token where a script writes no spaces; elsewhere runs that may hold . _ - / @ :
# inside (names of files and code).
_WORD = re.compile(rf"[{_DENSE}]|[^\W{_DENSE}]++(?:(?:[._/@:\\'-]|::)[^\W{_DENSE}]++)*(?:\+\+|#)?")
_IDENTIFIER = re.compile(
    r"\A(?=.*[^\W\d_]).*(?:[_/@\\]|\w\.\w|:\w|[^\W\d_]\d|\d[^\W\d_]|\+\+$|#$|[a-z][A-Z]).*"
)
_TRAILED = re.compile(r"(?<=\w)-(?![\w-])")
"""A minus after a word, as in the blood type A-."""
_SENTENCE_END = frozenset('.!?。！？:\n"“„«(')
_KEYED = re.compile(
    r"^[ \t]*([^\W\d][\w .-]{0,60}?)[ \t]*(?:=|[:：][ \t])[ \t]*(\S+(?:[ \t]+\S+){0,3})[ \t]*$",
    re.MULTILINE,
)
_FUNCTION_WORDS = frozenset(
    {
        "a", "an", "the", "this", "that", "these", "those", "there", "it", "its", "is", "am", "are",
        "was", "were", "be", "been", "being", "has", "have", "had", "having", "do", "does", "did",
        "to", "of", "at", "in", "on", "and", "as", "so", "very", "really", "just", "too", "also",
        "i", "i'm", "i've", "it's", "that's", "my", "me", "our", "der", "das", "ein", "eine",
        "einen", "le", "la", "les", "un", "une", "el", "los", "las", "的", "は", "が", "を", "の",
    }
)  # fmt: skip
"""Words that may be added or left out without a change of meaning. Pairs of them that exclude each
other (in, out; my, your) are compared by another guard.

Not among them: will, would and 了, which tell a plan from a fact; by, which turns the doer of an
action into its object.
"""
_BEING = frozenset({"is", "am", "are", "was", "were", "be", "been", "i'm", "it's", "that's"})
_I, _ME = frozenset({"i", "i'm", "i've"}), frozenset({"me", "my"})
_ROLES = _FUNCTION_WORDS - {"が", "を"}
"""Function words that may be anywhere in the order: が marks the doer of an action, を the
object.
"""
_SEEN_ELSEWHERE = _FUNCTION_WORDS | NEGATIONS


def normalised(text: str) -> str:
    """The form in which texts are compared for equality. Idempotent.

    NFKC, case-folded, white space collapsed, no punctuation at the end but `?`. A question is not
    the statement it asks about, so its mark stays.
    """
    folded = normal_form("NFKC", normal_form("NFKC", text).casefold())
    collapsed = " ".join(folded.split())
    return collapsed.rstrip(_TRAILING) or collapsed


def differences(first: str, second: str) -> frozenset[str]:
    """The kinds of differences between two statements, in either order.

    Args:
        first: A statement.
        second: Another statement.

    Returns:
        Empty when both are equal once `normalised`, or differ in no kind of these:

        - numbers: the multisets of numbers differ (1,000 = 1000, 3.10 ≠ 3.1).
        - symbols: the multisets of currencies, signs and emoji differ.
        - negation: another count of negations, or the same about another word ("tea but not
          coffee", "coffee but not tea").
        - names: a capitalised word within a sentence, a file name or an identifier is missing on
          the other side. Also when their sentences start with words that the other does not have
          at all ("William", "Williams").
        - values: a line "key: value" or "key = value" has another value.
        - opposites: a statement says before, left, he where the other says after, right, she.
        - order: the shared words are in another order ("tea over coffee", "coffee over tea").
        - words: a statement has a content word that the other neither has nor inflects ("blue",
          "green", "with milk"); or a person has another role ("is a doctor", "has a doctor";
          "was robbed", "robbed").
        - question: only one statement asks.

    """
    if normalised(first) == normalised(second):
        return frozenset()
    ours, theirs = _read(first), _read(second)
    only_ours, only_theirs = ours.counts - theirs.counts, theirs.counts - ours.counts
    told_apart = {
        "numbers": ours.numbers != theirs.numbers,
        "symbols": ours.symbols != theirs.symbols,
        "negation": ours.negated != theirs.negated,
        "names": _names_differ(ours, theirs),
        "values": any(theirs.values.get(key, value) != value for key, value in ours.values.items()),
        "opposites": opposed(only_ours, only_theirs),
        "order": _shared(ours, theirs) != _shared(theirs, ours),
        "words": _has_unlike(ours, theirs)
        or _has_unlike(theirs, ours)
        or _parts_differ(ours, theirs),
        "question": ours.asks != theirs.asks,
    }
    return frozenset(name for name, differs in told_apart.items() if differs)


def names_in(text: str) -> frozenset[str]:
    """The names in a text, case-folded.

    These are capitalised words that do not begin a sentence, file names, and identifiers.
    """
    return frozenset(_read(text).names)


def words_in(text: str) -> frozenset[str]:
    """The words of a text, case-folded, as the guards here see them."""
    return frozenset(_read(text).counts)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The parts of a text that the guards compare, read once; words case-folded, in order."""

    words: tuple[str, ...]
    counts: Counter[str]
    numbers: Counter[str]
    symbols: Counter[str]
    negated: Counter[str]
    names: Counter[str]
    starts: frozenset[str]
    values: dict[str, str]
    asks: bool
    is_so: bool | None


def _read(text: str) -> _Reading:
    plain = plain_digits(normal_form("NFKC", text).replace("’", "'"))
    names: Counter[str] = Counter()
    starts: set[str] = set()
    words: list[str] = []
    for match in _WORD.finditer(plain):
        written = match.group().removesuffix("'s")
        folded = written.casefold()
        capital = written[0].isupper() and folded not in _FUNCTION_WORDS
        if _IDENTIFIER.fullmatch(written) or (
            capital and not _begins_sentence(plain, match.start())
        ):
            names[folded] += 1
        elif capital:
            starts.add(folded)
        words.extend(_in_full(folded))
    return _Reading(
        words=tuple(words),
        counts=Counter(words),
        numbers=numbers_in(text),
        symbols=Counter([*filter(_is_symbol, plain), *_TRAILED.findall(plain)]),
        negated=_negated(words, plain),
        names=names,
        starts=frozenset(starts),
        values={normalised(key): normalised(value) for key, value in _KEYED.findall(plain)},
        asks=plain.rstrip().endswith("?"),
        is_so=_is_so(words, plain),
    )


def _in_full(word: str) -> tuple[str, ...]:
    if word == "cannot":
        return "can", "not"
    if word.endswith("'ll") and len(word) > 3:
        return word[:-3], "will"
    if word.endswith("n't") and len(word) > 3:
        return {"can't": "can", "won't": "will", "shan't": "shall"}.get(word, word[:-3]), "not"
    return (word,)


def _begins_sentence(text: str, start: int) -> bool:
    while start and text[start - 1] in " \t\r":
        start -= 1
    return start == 0 or text[start - 1] in _SENTENCE_END


def _is_symbol(character: str) -> bool:
    return character in "%‰" or unicodedata.category(character) in ("Sc", "Sm", "So")


def _negated(words: list[str], plain: str) -> Counter[str]:
    """The objects of negations: the first letters of the next content word.

    "" for a negation at the end of the text.
    """
    subjects: Counter[str] = Counter()
    about = ""
    for word in reversed(words):
        if word in NEGATIONS:
            subjects[about[:4]] += 1
        elif word not in _FUNCTION_WORDS:
            about = word
    for ending in JAPANESE_ENDINGS:
        subjects[ending] = plain.count(ending)
    return +subjects


def _names_differ(ours: _Reading, theirs: _Reading) -> bool:
    starts = ours.starts - theirs.counts.keys() and theirs.starts - ours.counts.keys()
    return bool(starts or ours.names - theirs.counts or theirs.names - ours.counts)


def _shared(reading: _Reading, other: _Reading) -> list[str]:
    """The words that both use equally often, in the order of `reading`."""
    return [
        word
        for word in reading.words
        if word not in _ROLES and reading.counts[word] == other.counts[word]
    ]


def _is_so(words: list[str], plain: str) -> bool | None:
    """Whether a form of "be" tells what a person is, or suffers.

    In "is living" no form does. None: a "'s" may be such a form, or not.
    """
    if any(
        word in _BEING and (after == "being" or not after.endswith("ing"))
        for word, after in pairwise([*words, ""])
    ):
        return True
    return None if "'s" in plain else False


def _parts_differ(ours: _Reading, theirs: _Reading) -> bool:
    """Whether a person has another role in the two statements.

    A person is something in a statement and has or does it in the other. Or the person is the
    speaker in a statement, and its object in the other.
    """
    if None not in (ours.is_so, theirs.is_so) and ours.is_so != theirs.is_so:
        return True
    speaks = [
        (not _I.isdisjoint(each.counts), not _ME.isdisjoint(each.counts)) for each in (ours, theirs)
    ]
    return speaks in ([(True, False), (False, True)], [(False, True), (True, False)])


def _has_unlike(reading: _Reading, other: _Reading) -> bool:
    """Whether `reading` has a content word that the other neither has nor inflects.

    Numbers and negations have their own guards.
    """
    own = [
        word
        for word in reading.counts
        if word not in other.counts and word not in _SEEN_ELSEWHERE and _has_letter(word)
    ]
    if not own:
        return False
    known = frozenset(stem for word in other.counts for stem in _stems(word))
    return any(known.isdisjoint(_stems(word)) for word in own)


def _has_letter(word: str) -> bool:
    return any(character.isalpha() for character in word)


def _stems(word: str) -> list[str]:
    """The word, and the words that it may be an inflection of: lives → live.

    English only, as the endings are, and without -ed: a person that lived in Oslo may have moved. A
    word of another language that is inflected only counts as another word.
    """
    stems = [word]
    if word.endswith("s"):
        stems += [word[:-1], word.removesuffix("es"), word.removesuffix("ies") + "y"]
    if word.endswith("ing"):
        stems += [word[:-3], word[:-3] + "e"]
    return [stem for stem in stems if len(stem) > 2] or [word]
