"""A message taken apart for `changes`: its sentences and clauses in the speaker's own words, what they tell of, what they say is over.

Read once and kept: the same messages are laid beside each other again and again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, starmap

from memory_core.domain.statements.change_phrases import (
    AFTER_NOUN,
    AGAIN,
    ALTERED,
    ANY_MORE,
    BEGINS,
    CHANGED_WHAT,
    CORRECTS,
    DENIED,
    ENDS_IN_GERMAN,
    ENDS_IN_JAPANESE,
    ENDS_OF_OBJECT,
    ENDS_OF_SUBJECT,
    EVENTS,
    FROM_OLD,
    FURTHER_NOUN,
    GERMAN,
    GRADE,
    GRADES,
    IN_PART,
    LEFT,
    MOVES,
    NAMED_OLD,
    NEW,
    NEW_IN_ITS_PLACE,
    NOT_SO,
    NOW,
    NOW_INDEED,
    OF_OTHERS,
    ONLY_WITH_ANY_MORE,
    OWN,
    PAST,
    PREFERS,
    PREFERS_NOW,
    PRESENT,
    SPLIT_END,
    STAGES,
    SUPPOSED,
    SWITCH,
    TO_BE_DONE,
    TO_LISTENER,
)
from memory_core.domain.statements.change_topics import (
    ALIKE,
    KIN,
    KIN_IN_JAPANESE,
    KINDS,
    KINDS_IN_JAPANESE,
    MATTERS,
    WEAK,
    WEAK_IN_JAPANESE,
)
from memory_core.domain.statements.provenance import own_words
from memory_core.domain.statements.values_said import NO_VALUES, Values, values_in
from memory_core.domain.text.analyzer import has_japanese, terms_of, words
from memory_core.domain.text.kept import keep_texts
from memory_core.domain.text.prefilter import may_match
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.spelling import normal_form, plain_digits

MOST_CHARACTERS = 4_000
"""Of a message that is read."""
MOST_SENTENCES = 24
MOST_OF_SHORT = 8
"""Telling terms of a short sentence: it is about each name and number in it, and not about much else besides."""
NEAREST = 5
"""Words beside a verb of ending that may name what is over."""
NEAREST_KIN = 3
"""The same, for a relative."""
LEAST_COMPOUND = 4
"""Letters of a word with which a compound of the same matter may begin: Chor, Chorprobe."""
MOST_NOUNS = 4
"""Nouns of a compound."""
SUBJECT_WORDS = 6
"""Words at the beginning of a sentence that may name its subject."""
_CLAUSE = re.compile(
    r"[,;:!?。、…（）()]+|\.{2,}|\s[-–—]+\s|\s(?:and(?! (?:i|me)\b)|but|so|because|und(?! ich\b)|aber|weil|denn|sondern)\s", re.IGNORECASE
)
_ASKS = re.compile(
    r"\W{0,9}(?:(?:so|and|but|now|then|ok|okay|well)\W{1,3})?(?:what|how|why|when|where|which|who|is|are|do|does|did|can|could"
    r"|would|will|should"
    r"|any|have you|was|wie|wer|wo|wann|warum|welche\w*|kannst|könntest|kann|gibt es|hast|soll|sollte|kennst|weißt)\b",
    re.IGNORECASE,
)
_AFTER_NUMBER = re.compile(r"(?<=\d\.)\s(?=(?:should|what|how|is|are|can|could|do|does|any|i|we|it|my|our|the|please)\b)", re.IGNORECASE)
_NAME_IN_JAPANESE = re.compile(r"(?:^|[、。「はのが])([ぁ-んー]{2,5}?)(?=が|は|も|を|、)")
_THING_IN_JAPANESE = re.compile(r"(?:(?<=匹)|(?<![一-龯]))[猫犬車薬傘鍵膝腕庭歯](?![一-龯])")
_NAME = re.compile(r"(?<=[\w,] )(?!I\b|I')[A-ZÀ-Þ][^\W\d_]{2,30}")
_SIGNS_OF_DATE = re.compile(r"\d{1,2}月(?:\d{1,2}日)?の?|\d{1,2}日の?")
_TOLD_BY = "User: "
"""How a fact begins that is kept in the words in which it was said."""
_TOPIC_IN_JAPANESE = re.compile(r"[はが]")
_PREPOSITION = re.compile(
    r"(?<=\w)\s(?:of|in|on|at|around|near|under|behind|from|for|with|beside|to|between|inside|outside)\s", re.IGNORECASE
)
_UNTIL_PREPOSITION = re.compile(r"(?<=\w)\s(?:in|on|to|for|with|because|after|since|as)\s", re.IGNORECASE)
_STAGE = {word: place for place, stage in enumerate(STAGES) for word in stage.split()}
_CUES = (
    ENDS_OF_OBJECT,
    ENDS_OF_SUBJECT,
    ENDS_IN_GERMAN,
    ENDS_IN_JAPANESE,
    SWITCH,
    MOVES,
    NOW,
    GRADE,
    SPLIT_END,
    CORRECTS,
    CHANGED_WHAT,
    AGAIN,
)
_PART_OF_PATTERN = re.compile(r"\\.|\(\?P<\w+>|.", re.DOTALL)


def _for_lower_case(cue: re.Pattern[str]) -> re.Pattern[str]:
    """What finds in a text's lower case what the cue finds in the text, in a quarter of the time; not where case counts in the cue."""
    lower = (part if len(part) > 1 else part.lower() for part in _PART_OF_PATTERN.findall(cue.pattern))
    return re.compile("".join(lower), cue.flags & ~re.IGNORECASE)


_CASED_CUES = tuple(cue for cue in _CUES if "(?-i:" in cue.pattern or not cue.flags & re.IGNORECASE)
_LOWER_CUES = tuple(_for_lower_case(cue) for cue in _CUES if cue not in _CASED_CUES)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence. terms: telling ones. words: case-folded, in order. asks: whether it asks or requests."""

    text: str
    words: tuple[str, ...]
    terms: frozenset[str]
    asks: bool


@dataclass(frozen=True)
class Said:
    """A sentence of a message; what is in it is looked for when it is asked for. ends_asking: whether it ends as a question."""

    text: str
    ends_asking: bool

    @cached_property
    def language(self) -> str:
        """By which its words are stemmed."""
        return "german" if GERMAN.search(self.text) else "english"

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Its parts. Of one that ends as a question what comes before the part that asks is stated."""
        parts = [part for part in _CLAUSE.split(self.text) if part.strip()]
        last = len(parts) - 1
        asks = (_ASKS.match(part) is not None or (self.ends_asking and place == last) for place, part in enumerate(parts))
        return tuple(_clause(part, self.language, asks=asking) for part, asking in zip(parts, asks, strict=True))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its clauses."""
        return frozenset(word for clause in self.clauses for word in clause.words)

    @cached_property
    def asks(self) -> bool:
        """Whether all of it asks."""
        return all(clause.asks for clause in self.clauses)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its telling terms."""
        return frozenset(term for clause in self.clauses for term in clause.terms)

    @cached_property
    def values(self) -> Values:
        """The times and numbers in it."""
        return values_in(self.text)

    @cached_property
    def terms_with_values(self) -> frozenset[str]:
        """The telling terms of its clauses that tell a time or a number; of a short sentence all."""
        if len(self.terms) <= MOST_OF_SHORT:
            return self.terms
        return frozenset(term for clause in self.clauses if values_in(clause.text) for term in clause.terms)

    @cached_property
    def about(self) -> frozenset[str]:
        """The relatives of whom it tells, in the place of the subject."""
        first = self.clauses[0].words[:SUBJECT_WORDS] if self.clauses else ()
        return frozenset(word for word in first if word in KIN) | frozenset(KIN_IN_JAPANESE.findall(self.text[:20]))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Of its words; two sentences without one in common share no term."""
        return _keys(self.terms)

    @cached_property
    def changes(self) -> bool:
        """Whether it has a word for a change."""
        lower = self.text.lower()
        return any(cue.search(lower) is not None for cue in _LOWER_CUES) or any(cue.search(self.text) is not None for cue in _CASED_CUES)

    @cached_property
    def holds(self) -> bool:
        """Whether it tells how something of the speaker's is, and could be over since."""
        own = OWN.search(self.text) is not None and TO_LISTENER.search(self.text) is None
        return own and not self.asks and (PAST.search(self.text) is None or PRESENT.search(self.text) is not None)

    @cached_property
    def of_others(self) -> bool:
        """Whether a pronoun makes another person its subject."""
        return self.language != "german" and OF_OTHERS.search(self.text) is not None

    @cached_property
    def supposed(self) -> bool:
        """Whether it tells what might be."""
        return SUPPOSED.search(self.text) is not None

    @cached_property
    def ended(self) -> tuple[frozenset[str], ...]:
        """By clause, the terms of which it says that they are over. In Japanese what is over may stand in the clause before."""
        over: list[frozenset[str]] = []
        for place, clause in enumerate(self.clauses):
            ended = frozenset[str]() if clause.asks or SUPPOSED.search(clause.text) else _ended(clause, self.language)
            if ended and place and has_japanese(clause.text) and _TOPIC_IN_JAPANESE.search(self.clauses[place - 1].text):
                ended |= self.clauses[place - 1].terms
            over.append(ended)
        return tuple(over)

    @cached_property
    def ended_by_kin(self) -> tuple[frozenset[str], ...]:
        """By clause, what is over for the relative that it is about."""
        stated = (clause for clause in self.clauses if not clause.asks and SUPPOSED.search(clause.text) is None)
        return tuple(_ended(clause, self.language, by_kin=True) for clause in stated)

    @cached_property
    def moves(self) -> bool:
        """Whether it says that a time or a number is moved, or was told wrong."""
        return self.corrects or self.ceases or MOVES.search(self.text) is not None

    @cached_property
    def new(self) -> bool:
        """Whether it says that something is so now."""
        return NOW.search(self.text) is not None

    @cached_property
    def corrects(self) -> bool:
        """Whether it says that what was said before was a mistake."""
        return CORRECTS.search(self.text) is not None

    @cached_property
    def switched(self) -> frozenset[str] | None:
        """What it says to have switched to, as terms where that follows; None where it says nothing of the kind."""
        match = SWITCH.search(self.text)
        if match is None:
            return None
        return frozenset() if has_japanese(self.text) else telling(words(self.text[match.end() :])[:4], self.language)

    @cached_property
    def kinds(self) -> Mapping[int, frozenset[str]]:
        """The names in it of which people mostly use one, by their kind."""
        by_kind: dict[int, set[str]] = {}
        for clause in self.clauses:
            for word in clause.words:
                if word in KINDS:
                    by_kind.setdefault(KINDS[word], set()).add(word)
        for word in KINDS_IN_JAPANESE:
            if word in self.text:
                by_kind.setdefault(KINDS[word], set()).add(word)
        return {kind: frozenset(names) for kind, names in by_kind.items()}

    @cached_property
    def new_values(self) -> Values:
        """Its times and numbers without those that it names as what was so before."""
        return (values_in(NAMED_OLD.sub(" ", self.text)) if self.moves else self.values) or self.values

    @cached_property
    def old_values(self) -> Values:
        """The times and numbers that it names as what was so before."""
        return values_in(" ; ".join(match.group() for match in FROM_OLD.finditer(self.text)))

    @cached_property
    def corrected_values(self) -> Values:
        """The times that it says were told wrong: "not Friday"."""
        return (
            values_in(" ; ".join(match["old"] for match in NAMED_OLD.finditer(self.text) if match["old"])) if self.corrects else NO_VALUES
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Its telling terms that are written as names are, within the sentence."""
        return telling((word.casefold() for word in _NAME.findall(self.text)), self.language)

    @cached_property
    def first(self) -> frozenset[str]:
        """The term of its first word."""
        return telling(words(self.text)[:1], self.language)

    @cached_property
    def changes_what(self) -> bool:
        """Whether it says which thing is another one now."""
        return not self.supposed and CHANGED_WHAT.search(self.text) is not None

    @cached_property
    def changed_what(self) -> str | None:
        """The word for the thing that it says is another one now, or was named wrongly; of a compound its last noun."""
        match = CHANGED_WHAT.search(self.text) if self.changes_what else None
        thing = _compound(match["what"], self.text, match.end())[-1] if match is not None else ""
        return thing if thing and telling([thing], self.language) else None

    @cached_property
    def changed_part_of(self) -> frozenset[str]:
        """The nouns before the last one of a compound that it says is another one now: the studio, in "changed the studio code"."""
        match = CHANGED_WHAT.search(self.text) if self.changes_what else None
        return frozenset() if match is None else frozenset(_compound(match["what"], self.text, match.end())[:-1])

    @cached_property
    def has_new(self) -> str | None:
        """The word for the thing that the speaker says to have a new one of."""
        match = None if self.supposed else NEW_IN_ITS_PLACE.search(self.text)
        if match is None or OF_OTHERS.search(self.text[: match.start()]) or self.only_mentions(match):
            return None
        return match["what"].casefold()

    def only_mentions(self, match: re.Match[str]) -> bool:
        """Whether it asks about what is found in it, or names it in what is yet to be done: "I need to write to my new boss"."""
        asked = any(clause.asks and match.group() in clause.text for clause in self.clauses)
        return asked or (NEW.match(match.group()) is not None and TO_BE_DONE.search(self.text[: match.start()]) is not None)

    @cached_property
    def prefers(self) -> str | None:
        """The name of what it says to be liked better now."""
        match = PREFERS_NOW.search(self.text)
        return None if match is None else match["liked"].casefold().rstrip(".-'")

    @cached_property
    def likes_less(self) -> str | None:
        """The name of what it says to be liked less than something else."""
        match = PREFERS.search(self.text)
        return None if match is None else match["other"].casefold().rstrip(".-'")

    @cached_property
    def replaces_unnamed(self) -> bool:
        """Whether it may replace what it shares no term with: by its frame, as new or liked better, as grown, or by a switch."""
        frames = self.present_clauses or self.has_new or self.prefers or self.grade or self.stages
        return bool(frames) or self.switched is not None

    @cached_property
    def again(self) -> bool:
        """Whether it states that something is so again; "what was it again" asks."""
        return any(not clause.asks and AGAIN.search(clause.text) is not None for clause in self.clauses)

    @cached_property
    def begins_again(self) -> bool:
        """Whether it says that what had ended is so again since lately."""
        return self.again and (self.new or BEGINS.search(self.text) is not None) and not self.supposed

    @cached_property
    def ceases(self) -> bool:
        """Whether it says that something is not so any more."""
        return ANY_MORE.search(self.text) is not None and NOT_SO.search(self.text) is not None

    @cached_property
    def besides_correcting(self) -> frozenset[str]:
        """Its telling terms without the words that correct, and without the signs around a date."""
        return telling(words(_SIGNS_OF_DATE.sub(" ", CORRECTS.sub(" ", self.text))), self.language)

    @cached_property
    def stages(self) -> frozenset[int]:
        """The stages of life that it names."""
        return frozenset(_STAGE[word] for clause in self.clauses for word in (*clause.words, *clause.terms) if word in _STAGE)

    @cached_property
    def grade(self) -> int:
        """The class at school that it names; 0 where it names none."""
        match = GRADE.search(self.text)
        if match is None:
            return 0
        digits = match["after"] or match["before"] or match["ja"]
        return int(digits) if digits else GRADES[match["word"].casefold()]

    @cached_property
    def present_clauses(self) -> tuple[Clause, ...]:
        """The clauses that say how something is now, without the word that says so."""
        stated = (clause for clause in self.clauses if not clause.asks and (NOW_INDEED.search(clause.text) or CORRECTS.search(clause.text)))
        texts = ((NOW_INDEED.sub(" ", clause.text).strip(), clause.terms) for clause in stated)
        return tuple(Clause(text, tuple(words(text)), terms, asks=False) for text, terms in texts)

    def beside(self, kin: str) -> frozenset[str]:
        """The terms that stand beside a relative's word: a name, mostly."""
        terms: set[str] = set()
        for clause in self.clauses:
            for place, word in enumerate(clause.words):
                if word == kin:
                    terms |= telling(clause.words[max(0, place - 2) : place + (10 if has_japanese(kin) else 4)], self.language)
        return frozenset(terms)


@dataclass(frozen=True)
class Message:
    """A message as its speaker's own words tell it."""

    text: str
    sentences: tuple[Said, ...]

    @cached_property
    def changing(self) -> tuple[Said, ...]:
        """The sentences with a word for a change."""
        return tuple(sentence for sentence in self.sentences if sentence.changes)

    @cached_property
    def tells_change(self) -> bool:
        """Whether anything in it might change what was told before."""
        return bool(self.changing or self.changed)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Of its words; two messages without one in common are about two things."""
        return _keys(frozenset(term for sentence in self.sentences for term in sentence.terms))

    @cached_property
    def matters(self) -> frozenset[int]:
        """The places in `MATTERS` of which it tells."""
        text = " ".join(sentence.text for sentence in self.sentences)
        lower = text.lower()
        return frozenset(
            place for place, matter in enumerate(MATTERS) if may_match(matter.holds, lower) and matter.holds.search(text) is not None
        )

    @cached_property
    def changed(self) -> frozenset[int]:
        """The places in `MATTERS` of which it tells a change."""
        text = " ".join(sentence.text for sentence in self.sentences)
        lower = text.lower()
        places = [
            place for place, matter in enumerate(MATTERS) if may_match(matter.changes, lower) and matter.changes.search(text) is not None
        ]
        if not places:
            return frozenset()
        stated = " ".join(sentence.text for sentence in self.sentences if not sentence.asks)
        return frozenset(place for place in places if MATTERS[place].changes.search(stated))

    @cached_property
    def valued(self) -> tuple[Said, ...]:
        """The sentences with a time or a number."""
        return tuple(sentence for sentence in self.sentences if sentence.values)

    @property
    def numbered(self) -> bool:
        """Whether it tells any time or number."""
        return bool(self.valued)

    def before(self, sentence: Said) -> frozenset[str]:
        """The terms of the sentence before."""
        place = self.sentences.index(sentence)
        return self.sentences[place - 1].terms if place else frozenset()

    def around(self, sentence: Said) -> frozenset[str]:
        """The terms of a sentence and of the one after it."""
        place = self.sentences.index(sentence)
        return frozenset(term for sentence in self.sentences[place : place + 2] for term in sentence.terms)


def tells_change(text: str, *, is_own: bool = False) -> bool:
    """Whether a message says by itself that something is over, moved, or otherwise than it was; a mere "now" does not.

    is_own: whether what is not the speaker's own is left out of it already.
    """
    message = read(text, is_own=is_own)
    return any(sentence.changes and _says_changed(sentence) for sentence in message.sentences) or bool(message.changed)


def _says_changed(sentence: Said) -> bool:
    if sentence.asks and not sentence.corrects:
        return False
    valued = bool(sentence.values) and (sentence.moves or sentence.new)
    return (
        any(sentence.ended)
        or valued
        or sentence.switched is not None
        or sentence.corrects
        or bool(sentence.grade)
        or bool(sentence.present_clauses)
        or sentence.changes_what
        or sentence.begins_again
        or sentence.ceases
    )


@keep_texts(2_048)
def read(text: str, *, is_own: bool = False) -> Message:
    """A message taken apart. is_own: as in `tells_change`."""
    read_text = text[:MOST_CHARACTERS].removeprefix(_TOLD_BY)  # else it looks like a pasted conversation
    plain = normal_form("NFKC", plain_digits(read_text if is_own else own_words(read_text))).replace("’", "'")
    return Message(" ".join(plain.casefold().split()), tuple(starmap(_said, islice(_sentences(plain), MOST_SENTENCES))))


@keep_texts(8_192)
def _said(text: str, ends_asking: bool) -> Said:
    """A sentence. It is in a message and in its excerpts, which are others for each question, and is read once for all of them."""
    return Said(text, ends_asking)


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Its sentences, each with whether it asks. A number at the end of one looks like that of a day or of a list's item."""
    for sentence in sentences(text):
        *before, last = _AFTER_NUMBER.split(sentence.text)
        yield from ((part, False) for part in before)
        yield last, sentence.asks


def _clause(text: str, language: str, *, asks: bool) -> Clause:
    tokens = tuple(words(text))
    return Clause(
        text, tokens, telling(tokens, language) | frozenset((*_NAME_IN_JAPANESE.findall(text), *_THING_IN_JAPANESE.findall(text))), asks
    )


def _compound(first: str, text: str, end: int) -> list[str]:
    """The nouns of a compound in small letters, from the first one, which ends at a place: studio and code."""
    nouns = [first.casefold()]
    while len(nouns) < MOST_NOUNS and (match := FURTHER_NOUN.match(text, end)) is not None and match["noun"] not in AFTER_NOUN:
        nouns.append(match["noun"])
        end = match.end()
    return nouns


def telling(tokens: Iterable[str], language: str) -> frozenset[str]:
    """The terms of words by which two messages may be about one thing."""
    terms: set[str] = set()
    for word in tokens:
        if has_japanese(word):
            if word not in WEAK_IN_JAPANESE and not all("\u3041" <= sign <= "\u309f" for sign in word) and len(word) > 1:
                terms.add(word)
        elif word not in WEAK and not word[0].isdigit():
            terms.update(term for term in terms_of([word], language) if term not in WEAK)
    return frozenset(terms)


def _keys(terms: frozenset[str]) -> frozenset[str]:
    begun = (f"{term[:LEAST_COMPOUND]}…" for term in terms if len(term) >= LEAST_COMPOUND and term[:LEAST_COMPOUND].isalpha())
    alike = (f"{ALIKE[term]}…" for term in terms if term in ALIKE)
    return frozenset([*terms, *begun, *alike])


def _ended(clause: Clause, language: str, *, by_kin: bool = False) -> frozenset[str]:
    """The terms of a clause of which it says that they are over."""
    text = clause.text
    if has_japanese(text):
        return clause.terms if ENDS_IN_JAPANESE.search(text) else frozenset()
    if language == "german":
        return clause.terms if ENDS_IN_GERMAN.search(text) else frozenset()
    if OF_OTHERS.search(text) or IN_PART.search(text):
        return frozenset()
    ended: set[str] = set()
    of_kin = not by_kin and any(word in KIN for word in clause.words[:NEAREST_KIN])
    for match in ENDS_OF_OBJECT.finditer(text):
        if not of_kin and match.group().casefold() in ONLY_WITH_ANY_MORE and _does_end(match, text):
            ended |= clause.terms
        elif not of_kin and ALTERED.search(match.group()) is not None and _does_end(match, text):
            phrase = words(_head(_UNTIL_PREPOSITION.split(text[match.end() :])[0]))
            ended |= telling(phrase[-1:], language)
        elif not of_kin and _does_end(match, text):
            ended |= telling(words(_UNTIL_PREPOSITION.split(text[match.end() :])[0])[:NEAREST], language)
    for match in SPLIT_END.finditer(text):
        if not of_kin and DENIED.search(text, 0, match.start()) is None:
            ended |= telling(words(_head(match[match.lastgroup or 0])), language)
    for match in ENDS_OF_SUBJECT.finditer(text):
        before, verb = words(text[: match.start()]), match.group().casefold()
        if verb in _OFF and not (before and before[-1] in EVENTS):
            continue
        if DENIED.search(text, 0, match.start()) is None:
            ended |= _subject(before, language)
            if match.group().casefold().endswith("up"):  # both sides of it name whom it ends for
                ended |= clause.terms
    return frozenset(ended)


_OFF = frozenset({"is off", "are off", "'s off", "is all off"})
"""What only events are when they are over."""


def _does_end(match: re.Match[str], text: str) -> bool:
    verb = match.group().casefold()
    if verb in ONLY_WITH_ANY_MORE:
        return ANY_MORE.search(text) is not None
    if verb == "left" and LEFT.match(text, match.end()) is None:
        return False
    return DENIED.search(text, 0, match.start()) is None


def _head(phrase: str) -> str:
    """A phrase without what a preposition adds: of "the fence around the house" the fence."""
    return _PREPOSITION.split(phrase, maxsplit=1)[0]


def _subject(before: Sequence[str], language: str) -> frozenset[str]:
    head = tuple(_head(" ".join(before[-NEAREST:])).split())
    near = telling(head, language)
    return near - (KIN - frozenset(before[-NEAREST_KIN:]))
