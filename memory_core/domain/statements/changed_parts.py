"""The part of a sentence about several things that a later sentence changes.

    "I own a Trek, a Canyon and a Peugeot" … "Sold the Peugeot"         "a Peugeot"
    "The basil is inside, the thyme outside" … "The basil died"         "The basil is inside"
    "I take my coffee with milk and sugar" … "I've given up coffee"     the whole sentence

The parts of a sentence are the items of a list, or clauses in which each has its own subject. Only
a word that is in a single part tells which one is meant. What holds for all items, as the coffee,
is before the first one; where that begins is read from the form of the second item.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.naming_words import naming_words
from memory_core.domain.statements.said_things import SELF
from memory_core.domain.statements.said_words import MY, SELVES, THE, THEIR, is_verb
from memory_core.domain.statements.same_thing import shared_names
from memory_core.domain.text.analyzer import has_japanese, words

MOST_PARTS = 24
"""Parts of a sentence that are read."""
_COMMA = re.compile(r"[,;](?=\s)|、")
_COLON = re.compile(r":(?=\s)|：")
_AND = re.compile(
    r"\s(?:and|und|sowie)(?=\s)"
    r"|(?<=[\u30a1-\u30ff\u4e00-\u9fffA-Za-z0-9])[とや](?=[\u30a1-\u30ff\u4e00-\u9fffA-Za-z0-9])"
)
_LEADS = re.compile(
    r"\A\W{0,9}(?:(?:and|und|but|aber|sowie|while|während|whereas)\s+)?", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"\A\W{0,9}(?:so|because|since|which|who|whom|whose|that|when|if|as|where|though|although|then|weil"
    r"|denn|dass|damit|wenn|als|obwohl|sodass|deshalb|also|dann|welche\w*)\b",
    re.IGNORECASE,
)
"""Words that join a clause to the clause before."""
_GOES_ON_IN_JAPANESE = re.compile(r"(?:ので|から|けど|けれど|ため|たら|れば|なら)\Z")
_BACK = re.compile(
    r"\A(?:it|they|he|she|er|sie|es|both|beide)\b"
    r"|(?<!ist )\b(?:it|them|es|ihn|sie|damit|dafür|davon|dazu)\b(?!'s| is)",
    re.IGNORECASE,
)
"""Words for a thing of the part before."""
_LINK = r"(?:at|in|on|to|from|for|with|of|bei|im|auf|an|am|nach|von|mit|für|zu)"
_ONE = re.compile(
    rf"\A\W{{0,9}}(?:and |und )?(?:eins|eine[rs]?|the one|one|das|der|die) {_LINK}\b", re.IGNORECASE
)
"""A word for another thing of the kind of the first item: "an account at X and one at Y"."""
_BEFORE_LINK = re.compile(rf" {_LINK} ", re.IGNORECASE)
_NUMBER = re.compile(r"\W{0,9}\d[\d.,:]{0,12}(?: ?[^\W\d_]{1,15}|%)?\W{0,9}")
_PREDICATE_WORDS = "is are was were has had will would ist sind war hat wird"
_PREDICATES = frozenset(_PREDICATE_WORDS.split())
_ARTICLES = THE | MY | THEIR
_NOUN_IN_JAPANESE = re.compile(r"[\u30a1-\u30ff\u4e00-\u9fffA-Za-z0-9]+")


class _Part(NamedTuple):
    """A part of a sentence, by its places in it.

    Attributes:
        start: Where it begins.
        end: Where it ends.

    """

    start: int
    end: int


class PartOfSentence(NamedTuple):
    """A part of a sentence about several things.

    Attributes:
        text: Its words.
        item: The words that only it has; not those of what is said of all items.
        sentence: The part as a sentence of its own.

    """

    text: str
    item: str
    sentence: SaidSentence


def parts_of(sentence: SaidSentence) -> list[PartOfSentence]:
    """The parts of a sentence; none of a sentence about a single thing.

    Args:
        sentence: The sentence.

    """
    text, doer = sentence.text, sentence.named.subject(0)
    parts = _parts(text, of_self=doer.person in ("", SELF) and not doer.is_thing)
    if len(parts) == 1:
        return []
    items = [*_items(text, parts)]
    first = text[parts[0].start : parts[0].end]
    opening = first.removesuffix(items[0])
    return [
        PartOfSentence(
            _LEADS.sub("", text[part.start : part.end], 1).strip(" .!。"),
            item,
            SaidSentence(
                f"{opening}{_LEADS.sub('', item, 1)}" if place else first, sentence.ends_asking
            ),
        )
        for place, (part, item) in enumerate(zip(parts, items, strict=True))
    ]


def changed_part(before: SaidSentence, now: SaidSentence) -> str | None:
    """The part of an earlier sentence that a later one changes; None for all.

    Args:
        before: The earlier sentence.
        now: The later sentence, which changes it.

    """
    parts = parts_of(before)
    named = [naming_words(part.item, before.language) for part in parts]
    if any(_ONE.match(part.item) for part in parts):
        head = naming_words(_BEFORE_LINK.split(parts[0].item, maxsplit=1)[0], before.language)
        named = [words_of_part | head for words_of_part in named]
    in_parts = Counter(word for of_part in named for word in of_part)
    changed = [
        part.text
        for part, of_part in zip(parts, named, strict=True)
        if shared_names(
            frozenset(word for word in of_part if in_parts[word] == 1), now.naming_changed
        )
    ]
    return " … ".join(changed) if 0 < len(changed) < len(parts) else None


def _parts(text: str, *, of_self: bool) -> list[_Part]:
    """The parts of a sentence; one for a sentence about a single thing."""
    colon = _COLON.search(text)
    begin = 0 if colon is None else colon.end()
    parts = _joined(text, _split(text, _COMMA, begin, len(text)), of_self=of_self)
    if not any(_AND.search(text, part.start, part.end) for part in parts[:-1]):
        last = parts.pop()
        parts += _joined(text, _split(text, _AND, last.start, last.end), of_self=of_self)
    return parts[:MOST_PARTS]


def _split(text: str, mark: re.Pattern[str], start: int, end: int) -> list[_Part]:
    marks = [match.span() for match in mark.finditer(text, start, end)]
    bounds = [(start, start), *marks, (end, end)]
    return [_Part(left[1], right[0]) for left, right in pairwise(bounds) if left[1] < right[0]]


def _joined(text: str, parts: Sequence[_Part], *, of_self: bool) -> list[_Part]:
    """The parts, each with what goes on about the same thing."""
    joined: list[_Part] = []
    for part in parts:
        whole = text[part.start : part.end]
        opened = _LEADS.sub("", whole, 1)
        first = next(iter(words(opened)), "")
        before = text[joined[-1].start : joined[-1].end] if joined else ""
        if joined and first in _PREDICATES and text[joined[-1].end] == ",":
            joined = [_Part(joined[0].start, part.end)]  # my dentist, Dr Bloom, is on holiday
        elif joined and (
            _GOES_ON.match(whole) is not None
            or _BACK.search(opened) is not None
            or _GOES_ON_IN_JAPANESE.search(before) is not None
            or (is_verb(first) and not first[:1].isdigit() and not of_self)
            or not _names(opened)
        ):
            joined[-1] = _Part(joined[-1].start, part.end)
        else:
            joined.append(part)
    return joined


def _names(text: str) -> bool:
    """Whether a text has a naming word, and is no mere number: "4 percent"."""
    return bool(naming_words(text, "english")) and _NUMBER.fullmatch(text) is None


def _items(text: str, parts: Sequence[_Part]) -> Iterator[str]:
    """The parts without what is said of all of them."""
    first, second = (text[part.start : part.end] for part in parts[:2])
    yield _first_item(first, _LEADS.sub("", second, 1))
    for place, part in enumerate(parts[1:], 1):
        item = text[part.start : part.end]
        noun = _NOUN_IN_JAPANESE.match(item)
        is_listed = noun is not None and text[parts[place - 1].end] in "とや"
        yield noun.group() if noun is not None and is_listed else item


def _first_item(part: str, second: str) -> str:
    """The first item of a list, which begins as the second item does.

    They are laid side by side by the first word that both have, where all articles are one word.
    """
    if has_japanese(part):
        return part
    ours, theirs = ([_form(word) for word in text.split()] for text in (part, second))
    place = next((place for place, word in enumerate(theirs) if word in ours), None)
    if place is None:
        start = len(ours) - len(theirs)
    else:
        starts = [at - place for at, word in enumerate(ours) if word == theirs[place]]
        start = min(starts, key=lambda start: abs(len(ours) - start - len(theirs)))
    if start <= 1 and ours[0] not in SELVES:
        return part
    return " ".join(part.split()[max(0, start) :])


def _form(word: str) -> str:
    lower = word.casefold().strip("\"'“”„().!")
    return "·" if lower in _ARTICLES else lower
