"""The things that a sentence names, with their owners, and its subject.

    "my mother-in-law moved"            the mother-in-law, not the speaker
    "the hotel in Rome costs …"         the hotel, of Rome
    "the kitchen budget"                the budget, of the kitchen
    "I also work at …"                  a further thing that replaces no other

The order of words and a few function words are read; there is no parser. Two sentences are about
the same thing only where some thing of both has the same name and the same owner, and no word tells
the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from memory_core.domain.statements.said_words import (
    ADVERBS,
    ALTERS,
    COUNTS,
    FOREIGN,
    FRESH,
    LINKS,
    MY,
    OBJECTS,
    OTHERS,
    PART,
    PERSON_IN_JAPANESE,
    PLACES,
    SELVES,
    SELVES_IN_JAPANESE,
    TELLS_APART,
    THE,
    THEIR,
    THEY,
    is_little,
    is_verb,
    person_of,
)
from memory_core.domain.text.analyzer import has_japanese

SELF = "i"
"""The speaker, as an owner and as a subject."""
UNKNOWN = "?"
"""An owner that only a pronoun names."""
PERSON = "person"
"""The kind of a word that names a person: the mother is not the mother-in-law."""
KIND = "kind"
"""The kind of a word that tells the owner of a thing from other owners of its kind: the balance of
the current account, that of the savings account.
"""
MOST_THING_WORDS = 4
"""Words of a thing's name; of a longer name the last words."""
_SUBJECT_IN_JAPANESE = re.compile(
    rf"(?P<person>{PERSON_IN_JAPANESE})(?:の[^\s、。はがをも]{{1,12}})?(?=は|が|も|って)"
)
_BACK_IN_JAPANESE = re.compile(r"(?:から|ので|けど)、(?=今は)")
"""After a reason or a contrast, "now" leads back to the speaker."""
_PERSON_IN_JAPANESE = re.compile(PERSON_IN_JAPANESE)
_NAME_IN_JAPANESE = re.compile(
    r"[一-龯ァ-ヶー]{1,8}(?=さん|ちゃん|くん|君)"
    r"|(?<=は)(?!.{0,7}[一二三四五六七八九十円時分])[一-龯ァ-ヶー]{1,8}(?=です)"
)
_PAIR_IN_JAPANESE = re.compile(
    r"(?P<which>[^\s、。はがをにでとのもへや]{1,12})の(?P<head>[^\s、。はがをにでとのもへや]{1,12})"
)
_TELLS_NOT_WHICH = re.compile(r"[\d年月週日曜今昨来先毎最朝晩夜時分]|[あこそ]\Z")
"""Words before の that tell no thing apart: a time, or this and that."""
_ADDS = re.compile(
    r"\b(?:also|as well|in addition|additionally|besides|on top of (?:that|it)|another|additional"
    r"|extra|(?:a|my|our) (?:second|third|further)(?!-)|auch|ebenfalls|außerdem|zusätzlich"
    r"|ein(?:e[nrms]?)? (?:zweite|weitere)[nrsm]?)\b"
    r"|(?<!\bme )(?<!\byou )\btoo\b(?=\W*$|[,;.!?])"
    r"|[\u30a0-\u30ff\u4e00-\u9fff]も(?![うしっの])|もう一つ|二台目|二匹目|二つ目",
    re.IGNORECASE,
)
"""A statement with these words is true beside earlier statements."""
_WORD = re.compile(r"[^\W_][\w-]*(?:['’](?!s\b)\w+)?(?P<of>['’]s\b|(?<=s)['’](?=\s))?")
_GENITIVE_IN_GERMAN = re.compile(r"[A-ZÄÖÜ][a-zäöü]{2,30}s")


@dataclass(slots=True)
class Thing:
    """A thing that a sentence names, or something that is done.

    Attributes:
        owner: Its owner, or the person that acts: `SELF`, a person or a name, `UNKNOWN`; empty
            where the sentence does not say it.
        words: The terms of its name.
        start: Its place in the sentence.
        pre: The terms before the last term of its name: the kitchen of "kitchen budget".
        parts: Terms of `pre` that name a whole of which it is a part: the flat of "the flat's
            roof".
        which: Terms that tell it from other things of its name, with the kind of each.
        does: Whether it is the subject of the action.
        acts: Whether it is the action.

    """

    owner: str
    words: frozenset[str]
    start: int = 0
    pre: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    which: frozenset[tuple[str, str]] = frozenset()
    does: bool = False
    acts: bool = False


class Subject(NamedTuple):
    """The subject from a place on.

    Attributes:
        start: The place in the sentence.
        person: `SELF`, another person, or `UNKNOWN`; empty where the sentence does not say it.
        is_thing: Whether the subject is a thing of that person.

    """

    start: int
    person: str
    is_thing: bool = False


@dataclass(frozen=True, slots=True)
class ThingsSaid:
    """The things and subjects of a sentence.

    Attributes:
        things: In the order of reading.
        subjects: In the order of the sentence.
        adds: Whether the sentence is true beside earlier statements (`adds`).

    """

    things: tuple[Thing, ...]
    subjects: tuple[Subject, ...]
    adds: bool

    def subject(self, upto: int | None = None) -> Subject:
        """The subject at a place, or at the end."""
        begun = [subject for subject in self.subjects if upto is None or subject.start <= upto]
        return (begun or self.subjects[:1] or [Subject(0, "")])[-1]

    def thing_at(self, place: int) -> Thing | None:
        """The thing that is named at a place."""
        return next((thing for thing in reversed(self.things) if thing.start <= place), None)


def is_same(person: str, other: str) -> bool:
    """Whether two keys may be the same person: Maren, and my sister Maren.

    Args:
        person: The words for a person, separated by spaces.
        other: The words for another.

    """
    ours, theirs = set(person.split()), set(other.split())
    return UNKNOWN not in ours | theirs and (ours <= theirs or theirs <= ours)


def adds(text: str) -> bool:
    """Whether a text says that it is true beside earlier statements.

    Words for this are "also", "a second", "as well".
    """
    return _ADDS.search(text) is not None


def read_things(text: str, language: str, terms: Callable[[str], frozenset[str]]) -> ThingsSaid:
    """Read the things and subjects of a sentence.

    Args:
        text: The sentence.
        language: The language by which its words are stemmed.
        terms: Returns the informative terms of a word.

    """
    if has_japanese(text):
        return ThingsSaid(*_in_japanese(text, terms), adds(text))
    reader = _Reader(terms, language == "german")
    end = 0
    matches = [*_WORD.finditer(text)]
    for match, following in zip_longest(matches, matches[1:]):
        gap, next_word = text[end : match.start()], following.group() if following else ""
        reader.read(match, gap, next_word)
        end = match.end()
    reader.close()
    things = (thing for thing in reader.things if thing.words or thing.which)
    return ThingsSaid(tuple(things), tuple(reader.subjects), adds(text))


def _in_japanese(
    text: str, terms: Callable[[str], frozenset[str]]
) -> tuple[tuple[Thing, ...], tuple[Subject, ...]]:
    """The things and subjects of a Japanese sentence; the speaker if no subject is named."""
    named = [
        Subject(match.start(), match["person"]) for match in _SUBJECT_IN_JAPANESE.finditer(text)
    ]
    back = [Subject(match.end(), SELF) for match in _BACK_IN_JAPANESE.finditer(text) if named]
    subjects = tuple(sorted((*named, *back))) or (Subject(0, SELF),)
    subject = subjects[0].person
    things = [Thing("", terms(match.group())) for match in _NAME_IN_JAPANESE.finditer(text)]
    rest, marks = _PERSON_IN_JAPANESE.sub("、", text), frozenset[tuple[str, str]]()
    for match in _PAIR_IN_JAPANESE.finditer(text):
        which, head = match["which"], terms(match["head"])
        if which in SELVES_IN_JAPANESE:
            things.append(Thing(SELF, head, does=True))
        elif _PERSON_IN_JAPANESE.fullmatch(which):
            things.append(Thing(which, head))
        elif _TELLS_NOT_WHICH.search(which) is None:
            marks |= {(PART, which)}
            owner = "" if subject == SELF else subject
            things.append(Thing(owner, head, pre=terms(which), which=frozenset({(PART, which)})))
        else:
            continue
        rest = rest.replace(match["head"], "、")
    return (*things, Thing(subject, terms(rest), which=marks)), subjects


@dataclass(slots=True)
class _Named:
    """A thing while it is read.

    Attributes:
        owner: Its owner; None where the sentence does not say it.
        is_definite: Whether an article or a possessive is before it.
        link: The kind of the word that leads to it.
        words: As written.
        start: Its place in the sentence; -1 before its first word.
        owning: How many of its words own the words after them.

    """

    owner: str | None = None
    is_definite: bool = False
    link: str = ""
    words: list[str] = field(default_factory=list)
    start: int = -1
    owning: int = 0


@dataclass(slots=True)
class _Reader:
    """Reads words in their order.

    Attributes:
        terms: Returns the informative terms of a word.
        is_german: Whether the sentence is in German.
        things: The things that were read.
        subjects: The subjects that were read.
        is_fresh: Whether the next thing is a subject.
        named: The thing that is being read.
        last: The thing that the next words may tell more of.
        doer: The thing that is the subject, where no person is.
        action: The subject's action, where that was the last word.
        place: Of the word that is read.
        alters: Whether the subject, who is unknown, alters the thing that follows.
        is_after_pronoun: Whether a subject's pronoun was the last word.
        skips: Whether the next word is ignored.

    """

    terms: Callable[[str], frozenset[str]]
    is_german: bool
    things: list[Thing] = field(default_factory=list)
    subjects: list[Subject] = field(default_factory=list)
    is_fresh: bool = True
    named: _Named = field(default_factory=_Named)
    last: Thing | None = None
    doer: Thing | None = None
    action: Thing | None = None
    place: int = 0
    alters: bool = False
    is_after_pronoun: bool = False
    skips: bool = False

    @property
    def person(self) -> str:
        """The person of the last subject."""
        return self.subjects[-1].person if self.subjects else ""

    def read(self, match: re.Match[str], gap: str, following: str) -> None:
        """Read the next word.

        Args:
            match: The word.
            gap: The signs before it.
            following: The word after it; empty at the end.

        """
        of = match["of"] or ""
        word = match.group().removesuffix(of)
        lower = word.casefold()
        if of and lower == "user":  # as facts name the speaker
            word, lower, of = match.group(), match.group().casefold(), ""
        self.place = match.start()
        if gap.strip(" '’\"“”*"):
            self._close_part()
        if self.skips:
            self.skips = False
        elif word == "A" and self.named.words:  # dataset A
            self._names(word, of, following)
        elif self._reads_pronoun(lower) or self._reads_link(lower):
            pass
        elif self.is_fresh and lower in COUNTS and following in ("of", "von"):
            self.skips = True
        elif self._is_verb(word) or self.is_after_pronoun:
            self._says(lower)
        else:
            self._names(word, of, following)

    def _close_part(self) -> None:
        """End a part of the sentence: another subject may follow."""
        self.close()
        self.last, self.is_fresh = None, True

    def _reads_pronoun(self, lower: str) -> bool:
        """Read a pronoun. Returns whether the word is a pronoun."""
        is_self = lower in SELVES and not (self.is_german and lower in LINKS)  # im Zug
        if not is_self and lower not in OTHERS and lower not in THEY:
            return False
        self.close()
        self.last = self.doer = None
        if lower in THEY:
            person = self._other_person() if self.is_german and lower != "es" else UNKNOWN
            if person != UNKNOWN:
                self.subjects.append(Subject(self.place, person))
            elif self.is_fresh or lower.startswith("they"):
                self.subjects.append(Subject(self.place, "", is_thing=True))
        elif is_self:
            self.subjects.append(Subject(self.place, SELF))
        else:
            self.subjects.append(Subject(self.place, self._other_person()))
        self.is_fresh = False
        self.is_after_pronoun = (is_self and lower not in OBJECTS) or (
            lower in OTHERS and not self.is_german
        )
        return True

    def _other_person(self) -> str:
        """The person named before who is not the speaker."""
        named = (subject.person for subject in reversed(self.subjects))
        return next((person for person in named if person not in ("", SELF)), UNKNOWN)

    def _reads_link(self, lower: str) -> bool:
        """Read an article, or a word between two things. Returns whether it was read."""
        if lower in MY or lower in THEIR or lower in THE:
            link = "" if self.named.words else self.named.link
            self.close()
            self.named = _Named(is_definite=True, link=link)
            if lower in MY:
                self.named.owner = SELF
            elif lower in THEIR:
                of_thing = bool(self.subjects) and self.subjects[-1].is_thing
                self.named.owner = (of_thing and self.person) or self._other_person()
        elif lower in LINKS:
            if self.named.link and not self.named.words:  # traded in for
                self.last = None
            self.close()
            self.named.link = LINKS[lower]
        elif lower in FRESH:
            self._close_part()
        else:
            return False
        self.is_after_pronoun = False
        return True

    def _is_verb(self, word: str) -> bool:
        lower, named = word.casefold(), self.named
        is_first = named.is_definite and not named.words
        if is_first and (lower.endswith("ed") or lower in TELLS_APART):
            return False
        if self.is_german and word[0].islower() and not is_first and not person_of(word):
            return True
        return is_verb(lower)

    def _says(self, lower: str) -> None:
        """Read a word that names no thing: the subject's action."""
        self.close()
        self.is_after_pronoun, self.action = False, None
        if words := self.terms(lower):
            which = frozenset[tuple[str, str]]()
            if self.doer is not None:
                which = self.doer.which | {("does", term) for term in self.doer.words}
            self.action = Thing(self.person, words, self.place, which=which, acts=True)
            self.alters = lower in ALTERS and self.person == UNKNOWN
            self.things.append(self.action)
        if lower == "back" and self.last is not None:
            self.last.which |= {("to", "back")}
        elif not lower[0].isdigit():
            self.last = None
        self.is_fresh = self.is_fresh and (self.is_german or lower in ADVERBS)

    def _names(self, word: str, of: str, following: str) -> None:
        """Read a word of a thing's name, or of its owner's name."""
        named = self.named
        named.start = self.place if named.start < 0 else named.start
        named.words.append(word)
        if of and (not following or is_little(following.casefold())):
            self.close()
        elif of and not (word[:1].isupper() or any(map(person_of, named.words))):
            named.owning = len(named.words)
        elif of:
            self._owns()
        elif (
            self.is_german
            and following[:1].isupper()
            and len(named.words) == 1
            and not named.is_definite
            and not person_of(word)
            and _GENITIVE_IN_GERMAN.fullmatch(word)
        ):
            named.words[-1] = word[:-1]
            self._owns()

    def _owns(self) -> None:
        """Take the words read so far as the owner of the thing that follows."""
        named = self.named
        self.named = _Named(_key_of(named.words), True, named.link, start=named.start)

    def close(self) -> None:
        """Complete the thing that is being read."""
        named, self.named = self.named, _Named()
        if not named.words:
            return
        words = named.words[-MOST_THING_WORDS:]
        is_person = any(map(person_of, words))
        is_known = is_person or self._is_name(named, words)
        does = self.is_fresh and not named.link
        thing = self._thing(named, words, is_known=is_known, is_free=does or is_person)
        self.things.append(thing)
        if does:
            self.doer, self.is_fresh = None if is_known else thing, False
            person = _key_of(words) if is_known else named.owner or ""
            self.subjects.append(Subject(named.start, person, is_thing=not is_known))
            thing.does = True
        elif self.is_german and is_person and not named.link and not self.subjects:
            self.subjects.append(Subject(named.start, _key_of(words)))
        # die Miete meiner Schwester
        is_genitive = self.is_german and named.is_definite and is_person
        if self.last is not None and (named.link or is_genitive):
            self._tells_which(self.last, thing, named, _key_of(words) if is_person else "")
        if self.action is not None and is_known and not does and not named.link:
            self.action.which |= {("object", term) for term in thing.words}  # I owe Mia
        self.action, self.alters = None, False
        if not named.link or self.last is None or not self.last.does:
            self.last = thing

    def _is_name(self, named: _Named, words: list[str]) -> bool:
        """Whether words are written as a name is.

        A plural-like first word of a sentence is no name.
        """
        return (
            not (self.is_german or named.is_definite)
            and all(word[:1].isupper() for word in words)
            and any(map(self.terms, words))
            and not (named.start == 0 and words[0].endswith("s"))
        )

    def _thing(self, named: _Named, words: list[str], *, is_known: bool, is_free: bool) -> Thing:
        is_free = is_free or self.alters
        owner = named.owner if named.owner is not None else "" if is_free else self.person
        if owner != SELF and any(word.casefold() in FOREIGN for word in words):
            owner = UNKNOWN
        whole = [self.terms(word) for word in words]
        persons = frozenset((PERSON, person) for word in words if (person := person_of(word)))
        is_brand = not self.is_german and all(word[0].isupper() for word in words)
        if is_known or (is_brand and len(words) > 1):
            return Thing(owner, frozenset[str]().union(*whole), named.start, which=persons)
        pre = frozenset[str]().union(*whole[:-1])
        apart = {word.casefold() for word in words[:-1]} & TELLS_APART
        parts = map(self.terms, named.words[: named.owning])
        return Thing(
            owner,
            whole[-1] or frozenset([words[-1].casefold()]),
            named.start,
            pre,
            frozenset[str]().union(*parts) & pre,
            frozenset((kind, term) for kind in (PART, "pre") for term in apart)
            | frozenset((PART, term) for term in pre),
        )

    def _tells_which(self, last: Thing, thing: Thing, named: _Named, person: str) -> None:
        """Use the thing just read to specify the thing before it, or its owner."""
        subject = self.subjects[-1] if self.subjects else Subject(0, "")
        if thing.owner == UNKNOWN or (person and named.link in ("", PART)):
            last.owner = person or UNKNOWN
            if last.does:
                self.subjects[-1] = subject._replace(person=last.owner)
            return
        terms = thing.words | thing.pre
        if named.words[-1].casefold() in PLACES:
            terms = frozenset([named.words[-1].casefold()])
        if last.does or named.link in (PART, "to", "from"):
            last.which |= {(named.link, term) for term in terms}
            apart = {term for kind, term in thing.which if kind == "pre"}
            last.which |= {(KIND, term) for term in thing.pre | apart}
        if last.does and self.doer is None:  # my grandmother in Lyon
            person = " ".join((subject.person, *sorted(terms)))
            self.subjects[-1] = subject._replace(person=person)


def _key_of(words: list[str]) -> str:
    """The key of an owner: a person with the names beside it, or a name."""
    names = [word.casefold() for word in words if word[:1].isupper()]
    for word in words:
        if person := person_of(word):
            apart = [word.casefold() for word in words if word.casefold() in TELLS_APART]
            return " ".join((person, *apart, *(name for name in names if name != word.casefold())))
    return names[-1] if names else words[-1].casefold()
