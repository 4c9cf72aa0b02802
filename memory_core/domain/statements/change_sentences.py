"""A sentence of a message as `changes` reads it: its clauses, what it tells of,
what it says to be over, new or otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from memory_core.domain.statements.change_clauses import (
    ChangeClause,
    clause_of,
    ended_terms,
    keys_of,
    telling,
)
from memory_core.domain.statements.change_phrases import (
    AGAIN,
    ANY_MORE,
    BEGINS,
    BY_HOW_MUCH,
    CHANGED_WHAT,
    CORRECTS,
    ENDS_IN_GERMAN,
    ENDS_IN_JAPANESE,
    ENDS_OF_OBJECT,
    ENDS_OF_SUBJECT,
    FROM_OLD,
    GERMAN,
    MOVES,
    NAMED_OLD,
    NEW,
    NEW_IN_ITS_PLACE,
    NOT_SO,
    NOW,
    NOW_INDEED,
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
from memory_core.domain.statements.change_topics import KINDS, KINDS_IN_JAPANESE
from memory_core.domain.statements.said_things import SELF, Thing, ThingsSaid, read_things
from memory_core.domain.statements.values_said import NO_VALUES, Values, values_in
from memory_core.domain.text.analyzer import has_japanese, words

MOST_OF_SHORT = 8
"""Telling terms of a short sentence: it is about each name and number in it, and not about much
else besides.
"""
BESIDE_CHANGE = 60
"""Characters beside a word for a change in which a long sentence tells what changed, to what."""
_CLAUSE = re.compile(
    r"[,;:!?。、…（）()]+|\.{2,}|\s[-–—]+\s|\s(?:and(?! (?:i|me)\b)|but|so|because|und(?! ich\b)"
    r"|aber|weil|denn|sondern)\s",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\W{0,9}(?:(?:so|and|but|now|then|ok|okay|well)\W{1,3})?(?:what|how|why|when|where|which|who"
    r"|is|are|do|does|did|can|could|would|will|should"
    r"|any|have you|was|wie|wer|wo|wann|warum|welche\w*|kannst|könntest|kann|gibt es|hast|soll"
    r"|sollte|kennst|weißt)\b",
    re.IGNORECASE,
)
_CUT_WORD = re.compile(r"^\w+\b|\b\w+$")
_NAME = re.compile(r"(?<=[\w,] )(?!I\b|I')[A-ZÀ-Þ][^\W\d_]{2,30}")
_SIGNS_OF_DATE = re.compile(r"\d{1,2}月(?:\d{1,2}日)?の?|\d{1,2}日の?")
_TOPIC_IN_JAPANESE = re.compile(r"[はが]")
_STAGE = {word: place for place, stage in enumerate(STAGES) for word in stage.split()}
_CUES = (
    ENDS_OF_OBJECT,
    ENDS_OF_SUBJECT,
    ENDS_IN_GERMAN,
    ENDS_IN_JAPANESE,
    SWITCH,
    MOVES,
    NOW,
    SPLIT_END,
    CORRECTS,
    CHANGED_WHAT,
    AGAIN,
    NEW_IN_ITS_PLACE,
)
_PART_OF_PATTERN = re.compile(r"\\.|\(\?P<\w+>|.", re.DOTALL)


def _for_lower_case(cue: re.Pattern[str]) -> re.Pattern[str]:
    """What finds in a text's lower case what the cue finds in the text, in a quarter of the time;
    not where case counts in the cue.
    """
    lower = (
        part if len(part) > 1 else part.lower() for part in _PART_OF_PATTERN.findall(cue.pattern)
    )
    return re.compile("".join(lower), cue.flags & ~re.IGNORECASE)


_CASED_CUES = tuple(cue for cue in _CUES if "(?-i:" in cue.pattern or not cue.flags & re.IGNORECASE)
_LOWER_CUES = tuple(_for_lower_case(cue) for cue in _CUES if cue not in _CASED_CUES)


@dataclass(frozen=True)
class SaidSentence:
    """A sentence of a message; what is in it is looked for when it is asked for. ends_asking:
    whether it ends as a question.
    """

    text: str
    ends_asking: bool

    @cached_property
    def language(self) -> str:
        """By which its words are stemmed."""
        return "german" if GERMAN.search(self.text) else "english"

    @cached_property
    def clauses(self) -> tuple[ChangeClause, ...]:
        """Its parts. Of one that ends as a question what comes before the part that
        asks is stated.
        """
        parts = [part for part in _CLAUSE.split(self.text) if part.strip()]
        last = len(parts) - 1
        asks = (
            _ASKS.match(part) is not None or (self.ends_asking and place == last)
            for place, part in enumerate(parts)
        )
        return tuple(
            clause_of(part, self.language, asks=asking)
            for part, asking in zip(parts, asks, strict=True)
        )

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
    def named(self) -> ThingsSaid:
        """The things that it names, and who does what it says."""
        return read_things(self.text, self.language, self._terms_of)

    def _terms_of(self, word: str) -> frozenset[str]:
        return clause_of(word, self.language, asks=False).terms

    @cached_property
    def keys(self) -> frozenset[str]:
        """Of its words; two sentences without one in common share no term."""
        return keys_of(self.terms)

    @cached_property
    def changes(self) -> bool:
        """Whether it has a word for a change."""
        lower = self.text.lower()
        return any(cue.search(lower) is not None for cue in _LOWER_CUES) or any(
            cue.search(self.text) is not None for cue in _CASED_CUES
        )

    @cached_property
    def holds(self) -> bool:
        """Whether it tells how something of the speaker's is, and could be over since."""
        own = OWN.search(self.text) is not None and TO_LISTENER.search(self.text) is None
        return (
            own
            and not self.asks
            and (PAST.search(self.text) is None or PRESENT.search(self.text) is not None)
        )

    @cached_property
    def supposed(self) -> bool:
        """Whether it tells what might be."""
        return SUPPOSED.search(self.text) is not None

    @cached_property
    def ended(self) -> tuple[frozenset[str], ...]:
        """By clause, the terms of which it says that they are over. In Japanese what is over may
        stand in the clause before.
        """
        over: list[frozenset[str]] = []
        for place, clause in enumerate(self.clauses):
            ended = (
                frozenset[str]()
                if clause.asks or SUPPOSED.search(clause.text)
                else ended_terms(clause, self.language)
            )
            if (
                ended
                and place
                and has_japanese(clause.text)
                and _TOPIC_IN_JAPANESE.search(self.clauses[place - 1].text)
            ):
                ended |= self.clauses[place - 1].terms
            over.append(ended)
        return tuple(over)

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
        """What it says to have switched to, as terms where that follows; None where it says nothing
        of the kind.
        """
        match = SWITCH.search(self.text)
        if match is None:
            return None
        return (
            frozenset()
            if has_japanese(self.text)
            else telling(words(self.text[match.end() :])[:4], self.language)
        )

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
        return (
            values_in(BY_HOW_MUCH.sub(" ", NAMED_OLD.sub(" ", self.text)))
            if self.moves
            else self.values
        ) or (NO_VALUES if BY_HOW_MUCH.search(self.text) else self.values)

    @cached_property
    def valued_parts(self) -> tuple[SaidSentence, ...]:
        """Itself, or, where it is long, those of its clauses that tell a time or a number."""
        if len(self.terms) <= MOST_OF_SHORT:
            return (self,)
        parts = (SaidSentence(clause.text, self.ends_asking) for clause in self.clauses)
        return tuple(part for part in parts if part.values)

    @cached_property
    def change_told(self) -> SaidSentence:
        """The part around its word for a change, where it is long: else it tells too much."""
        match = MOVES.search(self.text) or NOW.search(self.text)
        if len(self.terms) <= MOST_OF_SHORT or match is None or has_japanese(self.text):
            return self
        start, end = max(0, match.start() - BESIDE_CHANGE), match.end() + BESIDE_CHANGE
        return SaidSentence(_CUT_WORD.sub("", self.text[start:end]), self.ends_asking)

    @cached_property
    def old_values(self) -> Values:
        """The times and numbers that it names as what was so before."""
        return values_in(" ; ".join(match.group() for match in FROM_OLD.finditer(self.text)))

    @cached_property
    def corrected_values(self) -> Values:
        """The times that it says were told wrong: "not Friday"."""
        return (
            values_in(
                " ; ".join(match["old"] for match in NAMED_OLD.finditer(self.text) if match["old"])
            )
            if self.corrects
            else NO_VALUES
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
    def changed_thing(self) -> Thing | None:
        """The thing that it says is another one now, or was named wrongly."""
        match = CHANGED_WHAT.search(self.text) if self.changes_what else None
        thing = None if match is None else self.named.thing_at(match.start("what"))
        return thing if thing is not None and thing.words & self.terms else None

    @cached_property
    def has_new(self) -> str | None:
        """The word for the thing that the speaker says to have a new one of."""
        match = None if self.supposed else NEW_IN_ITS_PLACE.search(self.text)
        if (
            match is None
            or self.named.subject(match.start()).person not in ("", SELF)
            or self.only_mentions(match)
        ):
            return None
        return match["what"].casefold()

    def only_mentions(self, match: re.Match[str]) -> bool:
        """Whether it asks about what is found in it, or names it in what is yet to be done:
        "I need to write to my new boss".
        """
        asked = any(clause.asks and match.group() in clause.text for clause in self.clauses)
        return asked or (
            NEW.match(match.group()) is not None
            and TO_BE_DONE.search(self.text[: match.start()]) is not None
        )

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
    def again(self) -> bool:
        """Whether it states that something is so again; "what was it again" asks."""
        return any(
            not clause.asks and AGAIN.search(clause.text) is not None for clause in self.clauses
        )

    @cached_property
    def begins_again(self) -> bool:
        """Whether it says that what had ended is so again since lately."""
        return (
            self.again and (self.new or BEGINS.search(self.text) is not None) and not self.supposed
        )

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
        return frozenset(
            _STAGE[word]
            for clause in self.clauses
            for word in (*clause.words, *clause.terms)
            if word in _STAGE
        )

    @cached_property
    def present_clauses(self) -> tuple[ChangeClause, ...]:
        """The clauses that say how something is now, without the word that says so."""
        stated = (
            clause
            for clause in self.clauses
            if not clause.asks and (NOW_INDEED.search(clause.text) or CORRECTS.search(clause.text))
        )
        texts = ((NOW_INDEED.sub(" ", clause.text).strip(), clause.terms) for clause in stated)
        return tuple(
            ChangeClause(text, tuple(words(text)), terms, asks=False) for text, terms in texts
        )
