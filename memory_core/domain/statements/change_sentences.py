"""A sentence of a message as `changes` reads it.

It has clauses and things, and says that some of these are over, new or different.
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
    GETS,
    GOES_ON,
    INSTEAD,
    MOVES,
    NAME_OFF,
    NAMED_OLD,
    NEW,
    NEW_HOLDER,
    NEW_IN_ITS_PLACE,
    NOT_SO,
    NOT_YET,
    NOW,
    NOW_INDEED,
    OF_EARLIER_TIME,
    OF_STORY,
    OWN,
    PAST,
    PREFERS,
    PREFERS_NOW,
    PRESENT,
    SEVERAL_TIMES,
    SPLIT_END,
    STAGES,
    STOPPED,
    SUPPOSED,
    SWITCH,
    TAKES_OVER,
    TO_BE_DONE,
    TO_LISTENER,
    WRONGLY_NAMED,
)
from memory_core.domain.statements.change_topics import KINDS, KINDS_IN_JAPANESE
from memory_core.domain.statements.denied_states import TIME_FIRST, denies_since
from memory_core.domain.statements.naming_words import naming_words
from memory_core.domain.statements.said_things import SELF, Thing, ThingsSaid, read_things
from memory_core.domain.statements.values_said import NO_VALUES, Values, values_in
from memory_core.domain.text.analyzer import has_japanese, words

MOST_OF_SHORT = 8
"""Telling terms of a short sentence. Such a sentence is about each name and number in it, and
hardly about anything else.
"""
BESIDE_CHANGE = 60
"""Characters on each side of a word for a change that are read of a long sentence. They tell the
changed thing and its new value.
"""
_CLAUSE = re.compile(
    r"(?:[,;!?。、…（）()]|:(?!\d))+|\.{2,}|\s[-–—]+\s|\s(?:and(?! (?:i|me)\b)|but|so|because"
    r"|und(?! ich\b)|aber|weil|denn|sondern)\s",
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
_VERSIONED = re.compile(r"\b(?P<name>[A-ZÀ-Þ][\w.+#]{1,30}) ?(?:v|version )?\d", re.IGNORECASE)
_STOPS_IN_GERMAN = re.compile(r"\b(?:aufgehört|auf)\W*\Z", re.IGNORECASE)
_TO_DO = re.compile(r"\bzu [a-zäöü]{3,20}n\b")
"""What a person stopped, in the clause after "aufgehört": "bei Otto zu arbeiten"."""
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
    NEW_HOLDER,
    TAKES_OVER,
    GETS,
    INSTEAD,
)
_PART_OF_PATTERN = re.compile(r"\\.|\(\?P<\w+>|.", re.DOTALL)


def _for_lower_case(cue: re.Pattern[str]) -> re.Pattern[str]:
    """The cue for texts in lower case, in which a search is four times faster.

    Only for cues in which case does not count.
    """
    lower = (
        part if len(part) > 1 else part.lower() for part in _PART_OF_PATTERN.findall(cue.pattern)
    )
    return re.compile("".join(lower), cue.flags & ~re.IGNORECASE)


_CASED_CUES = tuple(cue for cue in _CUES if "(?-i:" in cue.pattern or not cue.flags & re.IGNORECASE)
_LOWER_CUES = tuple(_for_lower_case(cue) for cue in _CUES if cue not in _CASED_CUES)


@dataclass(frozen=True)
class SaidSentence:
    """A sentence of a message, whose properties are read when they are used.

    Attributes:
        text: As written.
        ends_asking: Whether it ends as a question.
        after_mistake: Whether the sentence before says that something was told wrongly.

    """

    text: str
    ends_asking: bool
    after_mistake: bool = False

    @cached_property
    def language(self) -> str:
        """The language by which its words are stemmed."""
        return "german" if GERMAN.search(self.text) else "english"

    @cached_property
    def clauses(self) -> tuple[ChangeClause, ...]:
        """Its parts.

        In a sentence that ends as a question, the parts before the part that asks are statements.
        """
        time = TIME_FIRST.match(self.text)
        text = self.text if time is None else time.group().rstrip(",") + self.text[time.end() :]
        parts = [part for part in _CLAUSE.split(text) if part.strip()]
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
    def naming(self) -> frozenset[str]:
        """Its words that may tell which thing it is about."""
        return naming_words(self.text, self.language)

    @cached_property
    def naming_changed(self) -> frozenset[str]:
        """Of these, those in clauses that don't say that something goes on as before."""
        return naming_words(self._changed_text, self.language)

    @cached_property
    def _changed_text(self) -> str:
        """Its clauses that don't say that something goes on as before, if any."""
        if GOES_ON.search(self.text) is None:
            return self.text
        changed = (clause.text for clause in self.clauses if not GOES_ON.search(clause.text))
        return " ; ".join(changed) or self.text

    @cached_property
    def values(self) -> Values:
        """The times and numbers in it."""
        return values_in(self.text)

    @cached_property
    def named(self) -> ThingsSaid:
        """The things that it names, and the subject of its actions."""
        # the places in the text stay
        text = TIME_FIRST.sub(lambda time: " " * len(time.group()), self.text)
        return read_things(text, self.language, self._terms_of)

    def _terms_of(self, word: str) -> frozenset[str]:
        return clause_of(word, self.language, asks=False).terms

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words; two sentences without a key in common share no term."""
        return keys_of(self.terms)

    @cached_property
    def changes(self) -> bool:
        """Whether it has a word for a change."""
        lower = self.text.lower()
        return (
            self.after_mistake
            or any(cue.search(lower) is not None for cue in _LOWER_CUES)
            or any(cue.search(self.text) is not None for cue in _CASED_CUES)
        )

    @cached_property
    def holds(self) -> bool:
        """Whether it tells a state of the speaker's affairs that could be over since."""
        own = OWN.search(self.text) is not None and TO_LISTENER.search(self.text) is None
        return (
            own
            and not self.asks
            and (
                PAST.search(self.text) is None
                or PRESENT.search(self.text) is not None
                or self.is_moved
            )
        )

    @cached_property
    def is_moved(self) -> bool:
        """Whether it tells the new time of an event: "was moved to 8 October"."""
        return bool(self.values.whens) and MOVES.search(self.text) is not None

    @cached_property
    def is_of_today(self) -> bool:
        """Whether it tells of the world and of the time of its speaker.

        It does not if it retells a film, or tells how something was long before.
        """
        if OF_STORY.search(self.text) is not None:
            return False
        return (
            OF_EARLIER_TIME.search(self.text) is None
            or PAST.search(self.text) is None
            or PRESENT.search(self.text) is not None
        )

    @cached_property
    def supposed(self) -> bool:
        """Whether it tells a possibility."""
        return SUPPOSED.search(self.text) is not None

    @cached_property
    def ended(self) -> tuple[frozenset[str], ...]:
        """By clause, the terms that the clause says are over.

        In Japanese, and where nothing is named as the object, the thing that is over may be named
        in the clause before.
        """
        over: list[frozenset[str]] = []
        for place, clause in enumerate(self.clauses):
            ended = (
                frozenset[str]()
                if clause.asks or SUPPOSED.search(clause.text) or SEVERAL_TIMES.search(clause.text)
                else ended_terms(clause, self.language)
            )
            if (
                ended
                and place
                and has_japanese(clause.text)
                and _TOPIC_IN_JAPANESE.search(self.clauses[place - 1].text)
            ):
                ended |= self.clauses[place - 1].terms
            if ended and self.language == "german" and place + 1 < len(self.clauses):
                after = self.clauses[place + 1]
                if _STOPS_IN_GERMAN.search(clause.text) and _TO_DO.search(after.text):
                    ended |= after.terms
            over.append(ended or self._ended_by_context(place))
        return tuple(over)

    def _ended_by_context(self, place: int) -> frozenset[str]:
        """The terms that a clause of English says are over, by the clauses around it."""
        clause = self.clauses[place]
        if clause.asks or self.language != "english" or SUPPOSED.search(clause.text):
            return frozenset()
        if place and STOPPED.search(clause.text) and not self.clauses[place - 1].asks:
            return self.clauses[place - 1].terms
        off = NAME_OFF.search(clause.text)
        if off is None or NOW_INDEED.search(self.text) is None:
            return frozenset()
        return telling([off["name"].casefold()], self.language)

    @cached_property
    def moves(self) -> bool:
        """Whether it says that a time or a number is moved, or was told wrongly."""
        if self.corrects or self.ceases:
            return True
        match = MOVES.search(self.text)
        return match is not None and NOT_YET.search(self.text[: match.start()]) is None

    @cached_property
    def new(self) -> bool:
        """Whether it says that a state is new."""
        return NOW.search(self.text) is not None

    @cached_property
    def corrects(self) -> bool:
        """Whether it says that an earlier statement was a mistake."""
        return self.after_mistake or CORRECTS.search(self.text) is not None

    @cached_property
    def switched(self) -> frozenset[str] | None:
        """The terms of the thing that the speaker says they switched to.

        Empty where that thing does not follow the verb; None without a switch.
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
        """Names of things that people mostly use singly, by their kind."""
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
        """Its times and numbers without those that it names as former."""
        text = self._changed_text
        return (
            values_in(BY_HOW_MUCH.sub(" ", NAMED_OLD.sub(" ", text)))
            if self.moves
            else values_in(text)
        ) or (NO_VALUES if BY_HOW_MUCH.search(text) else self.values)

    @cached_property
    def valued_parts(self) -> tuple[SaidSentence, ...]:
        """A short sentence itself, else its clauses with a time or a number."""
        if len(self.terms) <= MOST_OF_SHORT:
            return (self,)
        parts = (SaidSentence(clause.text, self.ends_asking) for clause in self.clauses)
        return tuple(part for part in parts if part.values)

    @cached_property
    def change_told(self) -> SaidSentence:
        """The part around the word for a change, if the sentence is long.

        The whole of a long sentence would tell too much.
        """
        match = MOVES.search(self.text) or NOW.search(self.text)
        if len(self.terms) <= MOST_OF_SHORT or match is None or has_japanese(self.text):
            return self
        start, end = max(0, match.start() - BESIDE_CHANGE), match.end() + BESIDE_CHANGE
        return SaidSentence(_CUT_WORD.sub("", self.text[start:end]), self.ends_asking)

    @cached_property
    def old_values(self) -> Values:
        """The times and numbers that it names as former."""
        return values_in(" ; ".join(match.group() for match in FROM_OLD.finditer(self.text)))

    @cached_property
    def corrected_values(self) -> Values:
        """The times that it says were told wrongly: "not Friday"."""
        return (
            values_in(
                " ; ".join(match["old"] for match in NAMED_OLD.finditer(self.text) if match["old"])
            )
            if self.corrects
            else NO_VALUES
        )

    @cached_property
    def wrongly_named(self) -> frozenset[str]:
        """The terms of the names that it corrects: "Bosch, not Siemens"."""
        if not self.corrects:
            return frozenset()
        names = (match["name"] or match["alt"] for match in WRONGLY_NAMED.finditer(self.text))
        return telling((name.casefold() for name in names), self.language)

    @cached_property
    def named_subject(self) -> bool:
        """Whether its subject is another person, told by name."""
        return self.named.subject().person in self.names

    @cached_property
    def names(self) -> frozenset[str]:
        """Its telling terms that are capitalised within the sentence, as names are."""
        return telling((word.casefold() for word in _NAME.findall(self.text)), self.language)

    @cached_property
    def versioned(self) -> frozenset[str]:
        """The terms of the names that stand before a number: "React 18"."""
        names = (match["name"].casefold() for match in _VERSIONED.finditer(self.text))
        return telling(names, self.language)

    @cached_property
    def first(self) -> frozenset[str]:
        """The term of its first word."""
        return telling(words(self.text)[:1], self.language)

    @cached_property
    def changes_what(self) -> bool:
        """Whether it says that a thing has been replaced."""
        return not self.supposed and CHANGED_WHAT.search(self.text) is not None

    @cached_property
    def changed_thing(self) -> Thing | None:
        """The thing that it says has been replaced, or was named wrongly."""
        match = CHANGED_WHAT.search(self.text) if self.changes_what else None
        thing = None if match is None else self.named.thing_at(match.start("what"))
        return thing if thing is not None and thing.words & self.terms else None

    @cached_property
    def has_new(self) -> str | None:
        """The word for the thing that the speaker has newly."""
        match = None if self.supposed else NEW_IN_ITS_PLACE.search(self.text)
        if (
            match is None
            or self.named.subject(match.start()).person not in ("", SELF)
            or self.only_mentions(match)
        ):
            return None
        return match["what"].casefold()

    @cached_property
    def new_holder(self) -> str | None:
        """The thing of which it names another as the new one."""
        match = None if self.supposed else NEW_HOLDER.search(self.text)
        if match is None or self.only_mentions(match):
            return None
        return str(next(filter(None, match.groups()))).casefold()

    @cached_property
    def gets(self) -> bool:
        """Whether it says that a person has a thing from now on."""
        return GETS.search(self.text) is not None and not self.supposed

    @cached_property
    def takes_over(self) -> bool:
        """Whether it says that a person took over from another."""
        return TAKES_OVER.search(self.text) is not None and not self.supposed

    def only_mentions(self, match: re.Match[str]) -> bool:
        """Whether a match is only asked about, or named in a task to be done.

        For example "I need to write to my new boss".
        """
        asked = any(clause.asks and match.group() in clause.text for clause in self.clauses)
        return asked or (
            NEW.match(match.group()) is not None
            and TO_BE_DONE.search(self.text[: match.start()]) is not None
        )

    @cached_property
    def prefers(self) -> str | None:
        """The name of the thing that it says is now liked better."""
        match = PREFERS_NOW.search(self.text)
        return None if match is None else match["liked"].casefold().rstrip(".-'")

    @cached_property
    def likes_less(self) -> str | None:
        """The name of the thing that it says is liked less than another."""
        match = PREFERS.search(self.text)
        return None if match is None else match["other"].casefold().rstrip(".-'")

    @cached_property
    def again(self) -> bool:
        """Whether it states that something is true again; "what was it again" asks."""
        return any(
            not clause.asks and AGAIN.search(clause.text) is not None for clause in self.clauses
        )

    @cached_property
    def begins_again(self) -> bool:
        """Whether it says that something that had ended is lately true again."""
        return (
            self.again and (self.new or BEGINS.search(self.text) is not None) and not self.supposed
        )

    @cached_property
    def ceases(self) -> bool:
        """Whether it says that something is no longer true."""
        return (
            ANY_MORE.search(self.text) is not None and NOT_SO.search(self.text) is not None
        ) or denies_since(self.text)

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
        """The clauses that say how something is now, without the word for "now"."""
        return self._without(NOW_INDEED, CORRECTS)

    @cached_property
    def resumed_clauses(self) -> tuple[ChangeClause, ...]:
        """The clauses that say how something is again, without the word for "again"."""
        return () if self.supposed else self._without(AGAIN)

    def _without(self, cue: re.Pattern[str], *others: re.Pattern[str]) -> tuple[ChangeClause, ...]:
        """The stated clauses with one of these cues, without the words of the first."""
        stated = (
            clause
            for clause in self.clauses
            if not clause.asks and any(each.search(clause.text) for each in (cue, *others))
        )
        texts = ((cue.sub(" ", clause.text).strip(), clause.terms) for clause in stated)
        return tuple(
            ChangeClause(text, tuple(words(text)), terms, asks=False) for text, terms in texts
        )
