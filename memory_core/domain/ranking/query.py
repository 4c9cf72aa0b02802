"""Analyse a query: terms, dates, times relative to events, whether it asks for everything.

Terms are made as those of memories, without question words. Relevance is the share of them that a
memory covers, so a word without meaning would count as not covered. A term that no memory has
stays: it shows that the query is unrelated. A relative time ("yesterday", "the day after the
wedding") consists of words, too, which no memory of that day says: a memory in that time need not
say them (`Dated`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone, tzinfo
from typing import Self

import numpy as np

from memory_core.domain.chat.messages import ReadMessage
from memory_core.domain.fields import ZONE_FIELD, local
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.ranking.candidates import CandidateSet, Floats, Related
from memory_core.domain.ranking.index_terms import told_at
from memory_core.domain.statements.said_words import KIN_IN_JAPANESE
from memory_core.domain.statements.worth import SMALL_TALK, is_small_talk
from memory_core.domain.text.analyzer import (
    ENGLISH,
    FUNCTION_WORDS,
    QUERY_WORDS,
    QUESTION_WORDS,
    asked_for,
    language_of,
    terms_of,
    tokens,
    words,
)
from memory_core.domain.text.dates import (
    AMOUNT,
    Window,
    asks_time,
    beside,
    date_windows,
    named_dates,
    whole_day,
)
from memory_core.domain.text.fence import visible
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import Sentence, sentences

# Times relative to an event: "two weeks before her birthday" is a date only together with a memory
# that dates the birthday.
#
#     `anchors`: the query        → an Anchor: how long, before or after, the terms of the event
#     `tellers`: the candidates   → those that have most of the event's terms
#     `dated`: their texts        → the day of the event, and the window so long before or after it
#
# Note: there is no second search. The query has the event's words, so memories of the event are
# among its candidates. English only, with an amount ("two weeks", "the day") before "before" or
# "after"; "after the wedding" alone could be any time since.


MOST_ANCHORS = 2
"""Anchors of one query."""
MOST_TELLERS = 5
"""Memories of one event whose texts are read for its day."""
LEAST_TOLD = 0.6
"""The share of the worth of an event's terms that a memory must say itself,
to be about the event.
"""
YEARS_BACK = 2
"""Years before the moment of the query in which a yearly day is looked for: a window over New Year
begins in the year before.
"""

_FROM_AN_EVENT = re.compile(
    rf"\b(?:the|{AMOUNT})\s+(?P<unit>day|night|week|fortnight|month|year)s?\s+(?P<side>before"
    rf"|after)\s+(?P<event>[^?!.,;:\n]{{2,80}})",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(
    r"\s(?:what|who|whom|where|which|how|did|does|do)\s.*", re.IGNORECASE | re.DOTALL
)
_EVERY_YEAR = frozenset(tokens("birthday anniversary"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time relative to an event: "two weeks before her birthday".

    words: all of it, as in the query. number, unit, side: as `beside` takes them. event:
    the event's terms, in order.
    """

    words: str
    number: str | None
    unit: str
    side: str
    event: tuple[str, ...]


def anchors(query: str, now: datetime) -> list[Anchor]:
    """The times of a query that are relative to an event, at most `MOST_ANCHORS`.

    A time relative to a date ("the week before May 3") is left to `date_windows`.
    """
    query_anchors: list[Anchor] = []
    for match in _FROM_AN_EVENT.finditer(query):
        event = _NEXT_CLAUSE.sub("", match["event"])
        terms = tuple(dict.fromkeys(terms_of(asked_for(words(event), ENGLISH, QUERY_WORDS))))
        if terms and not date_windows(event, now):
            time_words = match.group()[: match.start("event") - match.start() + len(event)]
            query_anchors.append(
                Anchor(time_words, match["number"], match["unit"], match["side"], terms)
            )
    return query_anchors[:MOST_ANCHORS]


def tellers(
    anchor: Anchor, terms: Sequence[str], candidates: CandidateSet, worth: Floats
) -> list[int]:
    """The rows of the candidates that are about the event, at most `MOST_TELLERS`.

    Those with the greatest share of the event's terms come first, of equals the one with the
    highest cosine.

    Args:
        anchor: Of the query.
        terms: Of the query: the columns of the candidates.
        candidates: Of the query.
        worth: Of each term.

    """
    columns = [place for place, term in enumerate(terms) if term in anchor.event]
    if not columns or not len(candidates):
        return []
    shares = candidates.own[:, columns] @ worth[columns] / worth[columns].sum()
    order = np.lexsort((-np.nan_to_num(candidates.cosine), -shares))
    return [row for row in order[:MOST_TELLERS].tolist() if shares[row] >= LEAST_TOLD]


def dated(
    anchor: Anchor, memories: Sequence[Memory], moment: datetime
) -> tuple[Window, str] | None:
    """The window of an anchor, and the id of the memory that dates its event.

    The first memory that says when the event is dates it. Where none does, the first episodic one
    dates it by its own day: an event without a date is mostly spoken of on its day. Of a yearly
    event, it is the last whose window has begun at `moment`.

    Args:
        anchor: Of the query.
        memories: About the event, best first (`tellers`).
        moment: Of the query.

    Returns:
        None where no memory dates the event.

    """
    for memory in memories:
        stated = _stated_window(anchor, memory, moment)
        if stated is not None:
            return _window_beside(anchor, stated, moment), memory.id
    for memory in memories:
        if memory.type is MemoryType.EPISODIC:
            day = whole_day(_told_at(memory, moment).date())
            return beside(day, anchor.number, anchor.unit, anchor.side), memory.id
    return None


def _told_at(memory: Memory, moment: datetime) -> datetime:
    """The event time by the speaker's clock, else by the asker's, which is that of `moment`."""
    if ZONE_FIELD in memory.metadata or moment.tzinfo is None:
        return told_at(memory)
    return local(memory.event_timestamp, moment.tzinfo)


def _stated_window(anchor: Anchor, memory: Memory, moment: datetime) -> Window | None:
    """The date of the event, from the sentence that has most of its terms."""
    wanted = set(anchor.event)
    counted_sentences = [
        (len(wanted & set(tokens(sentence.text))), sentence.text)
        for sentence in sentences(memory.content)
    ]
    for count, text in sorted(counted_sentences, key=lambda pair: -pair[0]):
        windows = date_windows(text, _told_at(memory, moment)) if count else []
        if windows:
            return min(windows, key=lambda window: (window.end - window.start, window.start))
    return None


def _window_beside(anchor: Anchor, event: Window, moment: datetime) -> Window:
    """The window relative to an event; of a yearly event the last that has begun."""
    if not event.yearly and not _EVERY_YEAR.isdisjoint(anchor.event):
        event = Window(event.start, event.end, yearly=True)
    window = beside(event, anchor.number, anchor.unit, anchor.side)
    if not event.yearly or not YEARS_BACK < moment.year < date.max.year - 1:
        return window
    years = range(moment.year + 1, moment.year - YEARS_BACK, -1)
    begun = (beside(event.of_year(year), anchor.number, anchor.unit, anchor.side) for year in years)
    return next((window for window in begun if window.start <= moment.date()), window)


MAX_TERMS = 30
"""Terms of a query: as many as a full-text query of the database may have."""


OPEN_TERMS = frozenset(
    tokens(
        "happen talk speak spoke discuss chat tell told say said mention go went event thing "
        "anything something everything new"
    )
)
"""Terms that ask for anything. Beside a time they have no meaning of their own: "what happened
yesterday" asks for all of yesterday.
"""
_FOR_A_LIVING = re.compile(
    r"\bfor (?:a|his|her|their|my|your) living\b|\bberuflich\b", re.IGNORECASE
)
"""Asks for a job. "living" is not in the words of a person who works as a carpenter,
but of everyone who lives somewhere.
"""
_ASKS_FOR_DEEDS = frozenset({"do", "did", "does", "done", "doing"})
_ASKS_HOW = "how"


@dataclass(frozen=True, slots=True)
class Dated:
    """A time of the query that is relative to now, or to an event.

    by: the memory that dates the event. terms: those of the query that name the time. A memory
    whose event time is in the window need not say them.
    """

    window: Window
    terms: tuple[str, ...]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """What is known of a query from its text.

    Attributes:
        text: The query.
        words: All its words, case-folded.
        terms: Unique, in order of appearance, at most `MAX_TERMS`.
        asks_time: Whether it asks when something is.
        windows: Of all dates that it names.
        dated: Those of them whose words a memory of that time need not say.
        anchors: Times relative to events, which only memories date; `with_dates` adds
            their windows.
        zone: The time zone of the windows' days.

    """

    text: str
    words: frozenset[str]
    terms: tuple[str, ...]
    asks_time: bool = False
    windows: tuple[Window, ...] = ()
    dated: tuple[Dated, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    zone: tzinfo = timezone.utc

    @property
    def names_a_time(self) -> bool:
        """Whether the query depends on when a day begins."""
        return bool(self.windows or self.anchors)


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A sentence of a query, two neighbouring ones, or all of them.

    places: the columns of its terms among the query's. sentences: which of the query's
    sentences it is made of. weight: what its score counts. asks: whether it is a
    sentence that asks.
    """

    analysis: QueryAnalysis
    places: tuple[int, ...]
    sentences: tuple[int, ...]
    weight: float = 1.0
    asks: bool = False

    @classmethod
    def whole(cls, analysis: QueryAnalysis) -> Self:
        """The only part of a query of one sentence."""
        return cls(analysis, tuple(range(len(analysis.terms))), (0,))


def analyse_query(text: str, now: datetime) -> QueryAnalysis:
    """Analyse a query.

    `now` is what "yesterday" and "last May" are relative to, in the time zone of the caller. A
    query of question words alone ("what about you?") keeps them as terms; one of stop words alone,
    or of punctuation, has none.
    """
    query_words = words(_FOR_A_LIVING.sub(" job ", text))
    dates = named_dates(text, now)
    # "may" is an auxiliary, unless the query names a date: then it is most likely the month.
    empty = QUERY_WORDS - {"may"} if dates else QUERY_WORDS
    language = language_of(query_words)
    terms = terms_of(asked_for(query_words, language, empty), language) or terms_of(
        query_words, language
    )
    analysis = QueryAnalysis(
        text,
        frozenset(query_words),
        longest(tuple(dict.fromkeys(terms))),
        asks_time(text),
        tuple(named_date.window for named_date in dates),
        anchors=tuple(anchors(text, now)),
        zone=now.tzinfo or timezone.utc,
    )
    return with_dates(
        analysis,
        [(named_date.window, named_date.text, None) for named_date in dates if named_date.from_now],
    )


def with_dates(
    analysis: QueryAnalysis, times: Sequence[tuple[Window, str, str | None]]
) -> QueryAnalysis:
    """Add relative times to a query.

    A query that has no terms besides asks for everything of that time, if it asks what was done or
    said; "how are you doing today" doesn't.

    Args:
        analysis: The query.
        times: Of each time its window, its words in the query, and the id of the memory that dates
            them, None for none.

    """
    asks_for_deeds = (
        not _ASKS_FOR_DEEDS.isdisjoint(analysis.words) and _ASKS_HOW not in analysis.words
    )
    with_terms = list(analysis.dated)
    for window, time_words, by in times:
        of_it = set(tokens(time_words))
        terms = {term for term in analysis.terms if term in of_it}
        left = set(analysis.terms) - terms - OPEN_TERMS
        if left or asks_for_deeds or not OPEN_TERMS.isdisjoint(analysis.terms):
            terms |= OPEN_TERMS.intersection(analysis.terms)
            with_terms.append(
                Dated(window, tuple(term for term in analysis.terms if term in terms), by)
            )
    windows = dict.fromkeys((*analysis.windows, *(window for window, _, _ in times)))
    return replace(analysis, windows=tuple(windows), dated=tuple(with_terms))


def longest(terms: Sequence[str], limit: int = MAX_TERMS) -> tuple[str, ...]:
    """The longest terms, at most `limit`, in order of appearance: long words say most."""
    if len(terms) <= limit:
        return tuple(terms)
    longest_places = sorted(range(len(terms)), key=lambda place: (-len(terms[place]), place))[
        :limit
    ]
    return tuple(terms[place] for place in sorted(longest_places))


# Compounds, which German writes as one word: a memory that says "Zahnarzt" answers a question
# about the "Zahnarzttermin".


LEAST_OF_COMPOUND, LONGEST_COMPOUND = 4, 40
"""Letters of each of a compound's words, and of all of it."""
LIKE_COMPOUND = 0.6
"""How near in meaning the words of a compound are taken to be to it."""


def compound_words(text: str, terms: Sequence[str]) -> tuple[Related, ...]:
    """The beginnings and ends of a German query's terms that may be words which these are
    compounds of.

    Args:
        text: The query.
        terms: Of it, whose columns they are near to.

    """
    if language_of(words(text)) != "german":
        return ()
    return tuple(
        Related(part, of, LIKE_COMPOUND)
        for of, term in enumerate(terms)
        if term.isalpha() and len(term) <= LONGEST_COMPOUND
        for end in range(LEAST_OF_COMPOUND, len(term) - LEAST_OF_COMPOUND + 1)
        for part in (term[:end], term[end:])
        if part not in QUESTION_WORDS["german"]
    )


# Questions for everything that is known of a person, in English, German and Japanese.
#
# For example "What do you know about me?". Such a question shares no word with any memory, so none
# is relevant; facts answer it, whatever they say.


_MOST_CHARACTERS = 300
"""Of a query that may ask for everything: a longer message asks for something else besides."""
_KNOW = (
    r"(?:know|remember|recall|remembered|learned|learnt|stored|saved|noted|kept|memorized|memorised"
    r"|gathered)"
)
_ENGLISH = (
    (
        r"what (?:all )?(?:do|did|have|can|else do) you (?:already |actually "
        rf"|still )?(?:have )?(?:tell me )?{_KNOW}(?: so far)?"
        r"(?: (?:about|of) me)?(?: so far| by now| now)?"
    ),
    (
        r"(?:please )?(?:can you |could you )?(?:tell|show|give|list"
        r"|summari[sz]e)(?: me)?(?: about)? (?:everything|all|what|all that|anything)"
        rf"(?: that)? you(?:'ve| have)? {_KNOW}(?: so far)?(?: (?:about|of) me)?(?: so far)?"
    ),
    rf"(?:everything|all)(?: that)? you {_KNOW}(?: about me)?",
    (
        r"(?:what|which) (?:facts|information|memories|things|data) do you (?:have|keep|know"
        r"|hold)(?: stored)?(?: about me| of me| on me)?"
    ),
    r"do you (?:know|remember) (?:anything|something) about me",
    r"(?:so )?who am i",
    r"(?:what can you )?tell me about (?:me|myself)",
    r"what do you have on me",
)
_GERMAN = (
    (
        r"was (?:weißt|weisst) du (?:schon |alles |noch |eigentlich |denn )*über mich(?: schon"
        r"| alles)?"
    ),
    (
        r"was hast du (?:dir )?(?:alles |bisher |schon )*(?:über mich |von mir )?(?:gemerkt"
        r"|gespeichert|behalten|gelernt)"
    ),
    (
        r"(?:bitte )?(?:erzähl|erzähle|sag|sage|zeig|zeige|nenn|nenne) mir (?:bitte )?(?:alles"
        r"|was)(?:,? (?:was|woran) du (?:dich )?|"
        r",? du |,? was du |\s+du )(?:noch |schon |alles )*(?:über mich |von mir )?(?:weißt|weisst"
        r"|erinnerst|gemerkt hast)"
    ),
    r"(?:woran|an was) erinnerst du dich(?: noch)?(?: bei mir)?",
    r"wer bin ich",
)
_JAPANESE = (
    (
        r"(?:私|僕|俺|わたし)(?:について|のこと(?:を|で)?|に関して)(?:は)?、?(?:何|なに|どんなこと"
        r"|どれくらい|どこまで|全部)?(?:を|が|か)?(?:知って|覚えて)"
        r"(?:いますか|いる|る|ますか|いる?の|いることを?(?:全部|すべて)?(?:教えて(?:ください)?"
        r"|話して(?:ください)?))"
    ),
    (
        r"(?:私|僕|わたし)について(?:知って|覚えて)いることを?(?:全部|すべて)?(?:教えて"
        r"|話して)(?:ください)?"
    ),
    r"(?:何|なに)を覚えて(?:いますか|いる|る)",
    r"覚えていることを?(?:全部|すべて)?(?:教えて|話して)(?:ください)?",
    r"(?:私|僕)は(?:誰|だれ)(?:です)?か?",
)
_ALL = re.compile("|".join((*_ENGLISH, *_GERMAN, *_JAPANESE)), re.IGNORECASE)


def asks_for_everything(text: str) -> bool:
    """Whether a sentence of a query asks for all that is known of the caller."""
    if len(text) > _MOST_CHARACTERS:
        return False
    return any(
        _ALL.fullmatch(sentence.text.replace("’", "'").strip(" \t?!.。？！,;:").casefold())
        is not None
        for sentence in sentences(text)
    )


MOST_SENTENCES = 2
"""Of a message that may ask about its speaker: a sentence of a longer one matches by chance."""
QUESTION = re.compile(
    r"\W{0,9}(?:what|when|where|which|who|whom|whose|why|how|do|did|is|am|are|was|wann|wo"
    r"|welche[rsnm]?|wer|wen|wem|warum|wie)\b",
    re.IGNORECASE,
)
"""The beginning of a question that is typed without its mark."""
_ASKS_IN_JAPANESE = re.compile(
    r"(?:っけ|かな|ですか|ますか|のか|何|どこ|いつ|誰|いくら|どんな|どう)"
)
_ONESELF = re.compile(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2})\b"
    r"|[\u79c1\u50d5\u4ffa]|わたし|うちの|自分の",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\b(?:find|get|give|help|let|make|send|show|teach|tell|write) me\b"
    r"|\b(?:should|could|can|may|shall) (?:i|we)\b",
    re.IGNORECASE,
)
"""Mentions the speaker, but asks nothing about the speaker."""


_SAID_PAST = (
    "recommended|suggested|advised|proposed|told|explained|described|gave|given|said|mentioned"
    "|outlined|provided"
)
_OF_THE_ASSISTANT = re.compile(
    r"\b(?:did|have|had) you (?:ever |already |just )?"
    r"(?:recommend|suggest|advise|propose|tell|told|explain|describe|give|say|said|mention|outline"
    rf"|provide)(?:ed|d|n)?\b|\b(?:what|which|how)\b[^.?!\n]{{0,80}}(?<!like )(?<!as )\byou (?:had "
    rf"|have )?(?:{_SAID_PAST})\b|\bwh(?:at|ich) (?:was|were|is|are) your (?:advice|suggestions?"
    r"|recommendations?|explanations?|proposals?)\b|\bhast du\b[^.?!\n]{0,80}\b(?:empfohlen"
    r"|vorgeschlagen|geraten|gesagt|erklärt|beschrieben|erwähnt|genannt)\b",
    re.IGNORECASE,
)
"""Asks what the one who is asked has said: "What did you recommend?", not "How do I start,
as you said?".
"""


def asks_of_assistant(text: str) -> bool:
    """Whether a question of a message asks what the assistant has said."""
    plain = text.replace("’", "'").replace("you've", "you have")
    if _OF_THE_ASSISTANT.search(plain) is None:
        return False
    return any(
        _OF_THE_ASSISTANT.search(sentence.text) is not None
        and (sentence.asks or QUESTION.match(sentence.text) is not None)
        for sentence in sentences(plain)
    )


def asks_directly(text: str) -> bool:
    """Whether a message of a sentence or two is a question, and no talk around one."""
    message_sentences = sentences(text)
    return 0 < len(message_sentences) <= MOST_SENTENCES and any(map(_asks, message_sentences))


def asks_of_oneself(text: str) -> bool:
    """Whether a message of a sentence or two asks something about its speaker."""
    return asks_directly(text) and any(
        _asks(sentence)
        and (
            _ONESELF.search(_TO_DO.sub("", sentence.text.replace("’", "'"))) is not None
            or KIN_IN_JAPANESE.search(sentence.text) is not None
        )
        for sentence in sentences(text)
    )


def _asks(sentence: Sentence) -> bool:
    """Whether a sentence asks, by its mark or by how it begins."""
    return (
        sentence.asks
        or QUESTION.match(sentence.text) is not None
        or _ASKS_IN_JAPANESE.search(sentence.text) is not None
    )


# The query in the last messages of a chat.
#
# Note: the user's last message is not always a question by itself ("and hers?"), so the query of a
# short one, or of one that points back, includes the message before it.


FEW_WORDS = 2
"""Content words below which a message is not understood without the one before it."""
LEAST_TELLING = 3
"""Content words below which a message that asks nothing is a remark."""
SHORT = 12
"""Words of a message that may point back to the one before it; a longer one is
understood by itself.
"""
MOST_CHARACTERS = 10_000
"""Of a query, its last ones: a question comes at the end of a long message."""
_POINTING = frozenset(
    {
        "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs",
        "that", "this", "those", "these", "there", "er", "ihn", "ihm", "sein", "seine", "sie",
        "ihr", "ihre", "es", "das", "dort", "davon", "il", "elle", "lui", "leur", "ça", "cela",
        "él", "ella", "su", "sus", "eso", "esto", "lei", "suo", "sua",
    }
)  # fmt: skip


def query_in(messages: Sequence[ReadMessage]) -> str | None:
    """The query of a chat: the user's last message.

    The message before it is included where it is needed to understand the last. Thanks and goodbyes
    need none: they don't repeat a question. None where the user has said nothing.
    """
    texts = [
        text
        for message in messages
        if message.role == "user" and (text := visible(message.content).strip())
    ]
    if not texts:
        return None
    last = texts[-1]
    query = (
        f"{texts[-2]}\n{last}"
        if len(texts) > 1 and points_back(last) and not is_small_talk(last)
        else last
    )
    return query[-MOST_CHARACTERS:].strip() or None


def is_remark(query: str) -> bool:
    """Whether a query asks nothing and has hardly a content word: "ok, thanks!"."""
    asks = any(sentence.asks for sentence in sentences(query))
    telling = [word for word in _content_words(words(query)) if word not in SMALL_TALK]
    return is_small_talk(query) or (len(telling) < LEAST_TELLING and not asks)


def points_back(text: str) -> bool:
    """Whether a message needs the one before it.

    It does with few content words, or when it is short and says "her" or "that".
    """
    text_words = words(text)
    return len(_content_words(text_words)) < FEW_WORDS or (
        len(text_words) <= SHORT and not _POINTING.isdisjoint(text_words)
    )


def _content_words(text_words: Sequence[str]) -> list[str]:
    """Without function words and words of questions."""
    return [word for word in text_words if word not in FUNCTION_WORDS and word not in QUERY_WORDS]


def texts_said(messages: Iterable[ReadMessage]) -> frozenset[str]:
    """The texts of messages and of their parts, `normalised`."""
    return frozenset(
        normalised(text)
        for message in messages
        for text in (message.content, *message.parts, *message.unnamed)
    )
