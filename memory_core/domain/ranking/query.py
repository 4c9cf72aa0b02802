"""What a query asks for: terms, dates, dates counted from events, everything about the caller.

The terms are those of memories, less the question words: the share of them that a memory covers is the heart of relevance,
so every word that means nothing would count as not covered. An unknown term stays in on purpose, it tells an unrelated query.
A time told from now ("yesterday") or from an event ("the day after the wedding") is words, too, which no memory of that day says: a
memory that lies in that time need not say them (`Dated`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone, tzinfo

import numpy as np

from memory_core.domain.chat.messages import ReadMessage
from memory_core.domain.fields import local
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.statements.change_topics import KIN_IN_JAPANESE
from memory_core.domain.statements.worth import SMALL_TALK, is_small_talk
from memory_core.domain.text.analyzer import ENGLISH, FUNCTION_WORDS, QUERY_WORDS, asked_for, language_of, terms_of, tokens, words
from memory_core.domain.text.dates import AMOUNT, Window, asks_time, beside, date_windows, named_dates, whole_day
from memory_core.domain.text.fence import visible
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import sentences

# Times that a query tells from an event: "two weeks before her birthday" names a date only together with a memory that dates the birthday.
#
#     read the query              → an Anchor: how long, before or after, the words of the event
#     of the candidates           → those whose own words tell most of the event (`tellers`)
#     of their texts              → the day of the event, and the window so long before or after it (`dated`)
#
# Note: nothing is searched for again. Who tells of the event is found by the query itself, since it has the event's words.
# English, with an amount ("two weeks", "the day") before "before" or "after"; a bare "after the wedding" is anything since.


MOST_ANCHORS = 2
"""Of one query."""
MOST_TELLERS = 5
"""Memories of one event that are read for its day."""
LEAST_TOLD = 0.6
"""The share of the event's information that a memory's own words must have, to be a telling of it."""
YEARS_BACK = 2
"""How far a day of every year is looked for before the moment asked about: a window that runs over New Year begins in the year before."""

_FROM_AN_EVENT = re.compile(
    rf"\b(?:the|{AMOUNT})\s+(?P<unit>day|night|week|fortnight|month|year)s?\s+(?P<side>before|after)\s+(?P<event>[^?!.,;:\n]{{2,80}})",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(r"\s(?:what|who|whom|where|which|how|did|does|do)\s.*", re.IGNORECASE | re.DOTALL)
_EVERY_YEAR = frozenset(tokens("birthday anniversary"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time told from an event. said: all of it; number, unit, side: as `beside` takes them; event: its terms, in order."""

    said: str
    number: str | None
    unit: str
    side: str
    event: tuple[str, ...]


def anchors(query: str, now: datetime) -> list[Anchor]:
    """The times that a query tells from an event, at most `MOST_ANCHORS`. One that is told from a date is `date_windows`' own."""
    found_anchors: list[Anchor] = []
    for match in _FROM_AN_EVENT.finditer(query):
        event = _NEXT_CLAUSE.sub("", match["event"])
        terms = tuple(dict.fromkeys(terms_of(asked_for(words(event), ENGLISH, QUERY_WORDS))))
        if terms and not date_windows(event, now):
            said = match.group()[: match.start("event") - match.start() + len(event)]
            found_anchors.append(Anchor(said, match["number"], match["unit"], match["side"], terms))
    return found_anchors[:MOST_ANCHORS]


def tellers(anchor: Anchor, terms: Sequence[str], candidates: CandidateSet, worth: Floats) -> list[int]:
    """The rows of the candidates that tell of the event, best first, at most `MOST_TELLERS`; of those that tell as much the nearest first.

    terms: of the query, the columns of the candidates; worth: what each is worth.
    """
    columns = [place for place, term in enumerate(terms) if term in anchor.event]
    if not columns or not len(candidates):
        return []
    shares = candidates.own[:, columns] @ worth[columns] / worth[columns].sum()
    order = np.lexsort((-np.nan_to_num(candidates.cosine), -shares))
    return [row for row in order[:MOST_TELLERS].tolist() if shares[row] >= LEAST_TOLD]


def dated(anchor: Anchor, memories: Sequence[Memory], moment: datetime) -> tuple[Window, str] | None:
    """The window that an anchor names, and the id of the memory that dates it; None where none does.

    told: who tells of the event, best first. The first that says when it is counts; else the first that is itself an event: what is told
    without a date is mostly told on the day. A day of every year is the last whose window has begun at `moment`.
    """
    for memory in memories:
        stated = _stated_window(anchor, memory, moment)
        if stated is not None:
            return _window_beside(anchor, stated, moment), memory.id
    for memory in memories:
        if memory.type is MemoryType.EPISODIC:
            day = whole_day(_in_zone_of(memory.event_timestamp, moment).date())
            return beside(day, anchor.number, anchor.unit, anchor.side), memory.id
    return None


def _in_zone_of(moment: datetime, other: datetime) -> datetime:
    return moment if other.tzinfo is None else local(moment, other.tzinfo)


def _stated_window(anchor: Anchor, memory: Memory, moment: datetime) -> Window | None:
    """When the event is, as the sentence that tells most of it says; measured from when that was said."""
    wanted = set(anchor.event)
    counted_sentences = [(len(wanted & set(tokens(sentence.text))), sentence.text) for sentence in sentences(memory.content)]
    for count, text in sorted(counted_sentences, key=lambda pair: -pair[0]):
        windows = date_windows(text, _in_zone_of(memory.event_timestamp, moment)) if count else []
        if windows:
            return min(windows, key=lambda window: (window.end - window.start, window.start))
    return None


def _window_beside(anchor: Anchor, event: Window, moment: datetime) -> Window:
    """The window so long before or after the event; of one that comes every year, the last that has begun."""
    if not event.yearly and not _EVERY_YEAR.isdisjoint(anchor.event):
        event = Window(event.start, event.end, yearly=True)
    window = beside(event, anchor.number, anchor.unit, anchor.side)
    if not event.yearly or not YEARS_BACK < moment.year < date.max.year - 1:
        return window
    years = range(moment.year + 1, moment.year - YEARS_BACK, -1)
    begun = (beside(event.of_year(year), anchor.number, anchor.unit, anchor.side) for year in years)
    return next((window for window in begun if window.start <= moment.date()), window)


MAX_TERMS = 30
"""As many as a full-text query of the database may name."""


OPEN_TERMS = frozenset(
    tokens("happen talk speak spoke discuss chat tell told say said mention go went event thing anything something everything new")
)
"""What asks for whatever there is. Beside a time it says nothing of its own: "what happened yesterday" wants all of yesterday."""
_FOR_A_LIVING = re.compile(r"\bfor (?:a|his|her|their|my|your) living\b|\bberuflich\b", re.IGNORECASE)
"""Asks for a job: "living" is no word of who works as a carpenter, but of all who live somewhere."""
_ASKS_FOR_DEEDS = frozenset({"do", "did", "does", "done", "doing"})
_ASKS_HOW = "how"


@dataclass(frozen=True, slots=True)
class Dated:
    """A time that the query tells from now, or from an event that the memory `by` dates. terms: those of the query that tell it.

    A memory in the window need not say them: it was there.
    """

    window: Window
    terms: tuple[str, ...]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A query, taken apart. words: all its words, case-folded. terms: unique, in order of appearance, at most `MAX_TERMS`.

    windows: of all dates that it names; dated: those among them whose words a memory of that time need not say. anchors: times told from
    events, whose dates only memories know: `with_dates` takes them in. zone: whose days the windows are.
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
        """Whether it matters to the query when a day begins."""
        return bool(self.windows or self.anchors)


def analyse_query(text: str, now: datetime) -> QueryAnalysis:
    """Take a query apart. `now` is what "yesterday" and "last May" are measured from, in the zone whose days are meant.

    A query of question words alone ("what about you?") keeps them as terms; one of stop words alone, or of signs, has none.
    """
    query_words = words(_FOR_A_LIVING.sub(" job ", text))
    dates = named_dates(text, now)
    # "may" is an auxiliary, unless the query names a date: then it is most likely the month.
    empty = QUERY_WORDS - {"may"} if dates else QUERY_WORDS
    language = language_of(query_words)
    terms = terms_of(asked_for(query_words, language, empty), language) or terms_of(query_words, language)
    analysis = QueryAnalysis(
        text,
        frozenset(query_words),
        longest(tuple(dict.fromkeys(terms))),
        asks_time(text),
        tuple(date.window for date in dates),
        anchors=tuple(anchors(text, now)),
        zone=now.tzinfo or timezone.utc,
    )
    return with_dates(analysis, [(date.window, date.said, None) for date in dates if date.from_now])


def with_dates(analysis: QueryAnalysis, times: Sequence[tuple[Window, str, str | None]]) -> QueryAnalysis:
    """The query with dates that its words told: of each its window, these words, and the id of the memory that dates them if one does.

    A query of nothing else is one for everything then, if it asks what was done or said; "how are you doing today" is not.
    """
    asks_for_deeds = not _ASKS_FOR_DEEDS.isdisjoint(analysis.words) and _ASKS_HOW not in analysis.words
    with_terms = list(analysis.dated)
    for window, time_words, by in times:
        of_it = set(tokens(time_words))
        terms = {term for term in analysis.terms if term in of_it}
        left = set(analysis.terms) - terms - OPEN_TERMS
        if left or asks_for_deeds or not OPEN_TERMS.isdisjoint(analysis.terms):
            terms |= OPEN_TERMS.intersection(analysis.terms)
            with_terms.append(Dated(window, tuple(term for term in analysis.terms if term in terms), by))
    windows = dict.fromkeys((*analysis.windows, *(window for window, _, _ in times)))
    return replace(analysis, windows=tuple(windows), dated=tuple(with_terms))


def longest(terms: Sequence[str], limit: int = MAX_TERMS) -> tuple[str, ...]:
    """At most `limit` terms, the longest (they say most, and no count is needed to know), still in order of appearance."""
    if len(terms) <= limit:
        return tuple(terms)
    longest_places = sorted(range(len(terms)), key=lambda place: (-len(terms[place]), place))[:limit]
    return tuple(terms[place] for place in sorted(longest_places))


# Questions for all that is known of a person, in English, German and Japanese.
#
# For example "What do you know about me?". Such questions share no word with any memory, so no relevance finds anything; what answers
# them are the facts, whatever these say.


_MOST_CHARACTERS = 300
"""Of a query that is looked at: a longer message asks for something else besides."""
_KNOW = r"(?:know|remember|recall|remembered|learned|learnt|stored|saved|noted|kept|memorized|memorised|gathered)"
_ENGLISH = (
    rf"what (?:all )?(?:do|did|have|can|else do) you (?:already |actually |still )?(?:have )?(?:tell me )?{_KNOW}(?: so far)?"
    r"(?: (?:about|of) me)?(?: so far| by now| now)?",
    r"(?:please )?(?:can you |could you )?(?:tell|show|give|list|summari[sz]e)(?: me)?(?: about)? (?:everything|all|what|all that|anything)"
    rf"(?: that)? you(?:'ve| have)? {_KNOW}(?: so far)?(?: (?:about|of) me)?(?: so far)?",
    rf"(?:everything|all)(?: that)? you {_KNOW}(?: about me)?",
    r"(?:what|which) (?:facts|information|memories|things|data) do you (?:have|keep|know|hold)(?: stored)?(?: about me| of me| on me)?",
    r"do you (?:know|remember) (?:anything|something) about me",
    r"(?:so )?who am i",
    r"(?:what can you )?tell me about (?:me|myself)",
    r"what do you have on me",
)
_GERMAN = (
    r"was (?:weißt|weisst) du (?:schon |alles |noch |eigentlich |denn )*über mich(?: schon| alles)?",
    r"was hast du (?:dir )?(?:alles |bisher |schon )*(?:über mich |von mir )?(?:gemerkt|gespeichert|behalten|gelernt)",
    r"(?:bitte )?(?:erzähl|erzähle|sag|sage|zeig|zeige|nenn|nenne) mir (?:bitte )?(?:alles|was)(?:,? (?:was|woran) du (?:dich )?|"
    r",? du |,? was du |\s+du )(?:noch |schon |alles )*(?:über mich |von mir )?(?:weißt|weisst|erinnerst|gemerkt hast)",
    r"(?:woran|an was) erinnerst du dich(?: noch)?(?: bei mir)?",
    r"wer bin ich",
)
_JAPANESE = (
    r"(?:私|僕|俺|わたし)(?:について|のこと(?:を|で)?|に関して)(?:は)?(?:何|なに|どんなこと|どれくらい|どこまで|全部)?(?:を|が|か)?(?:知って|覚えて)"
    r"(?:いますか|いる|る|ますか|いる?の|いることを?(?:全部|すべて)?(?:教えて(?:ください)?|話して(?:ください)?))",
    r"(?:私|僕|わたし)について(?:知って|覚えて)いることを?(?:全部|すべて)?(?:教えて|話して)(?:ください)?",
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
        _ALL.fullmatch(sentence.text.replace("’", "'").strip(" \t?!.。？！,;:").casefold()) is not None for sentence in sentences(text)
    )


MOST_SENTENCES = 2
"""Of a longer message the best sentence comes near to something by chance."""
QUESTION = re.compile(
    r"\W{0,9}(?:what|when|where|which|who|whom|whose|why|how|do|did|is|am|are|was|wann|wo|welche[rsnm]?|wer|wen|wem|warum|wie)\b",
    re.IGNORECASE,
)
"""How a question begins that is typed without its mark."""
_ASKS_IN_JAPANESE = re.compile(r"(?:っけ|かな|ですか|ますか|のか|何|どこ|いつ|誰|いくら|どんな|どう)")
_ONESELF = re.compile(
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2})\b|[\u79c1\u50d5\u4ffa]|わたし|うちの|自分の",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\b(?:find|get|give|help|let|make|send|show|teach|tell|write) me\b|\b(?:should|could|can|may|shall) (?:i|we)\b", re.IGNORECASE
)
"""Speaks of the one who asks, and asks nothing about that one."""


def asks_of_oneself(text: str) -> bool:
    """Whether a message of a sentence or two asks something about its speaker."""
    message_sentences = sentences(text)
    return 0 < len(message_sentences) <= MOST_SENTENCES and any(
        (sentence.asks or QUESTION.match(sentence.text) is not None or _ASKS_IN_JAPANESE.search(sentence.text) is not None)
        and (
            _ONESELF.search(_TO_DO.sub("", sentence.text.replace("’", "'"))) is not None
            or KIN_IN_JAPANESE.search(sentence.text) is not None
        )
        for sentence in message_sentences
    )


# What is asked in the last messages of a chat, and what they say.
#
# Note: the last message of the user is not always the question by itself ("and hers?"), so a short one, or one that
# points back, brings the one before it along.


FEW_WORDS = 2
"""A message with fewer words that say something is not understood without the one before it."""
LEAST_TELLING = 3
"""Words that say something, without which a message that asks nothing is a remark."""
SHORT = 12
"""Words of a message that may point back to what was said before it; a longer one says itself what it is about."""
MOST_CHARACTERS = 10_000
"""Of a query; a question comes at the end of a long message."""
_POINTING = frozenset(
    {
        "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs", "that", "this", "those", "these", "there",
        "er", "ihn", "ihm", "sein", "seine", "sie", "ihr", "ihre", "es", "das", "dort", "davon", "il", "elle", "lui", "leur", "ça", "cela",
        "él", "ella", "su", "sus", "eso", "esto", "lei", "suo", "sua",
    }
)  # fmt: skip


def query_in(messages: Sequence[ReadMessage]) -> str | None:
    """What the user last asked, with the message before it where that is needed to understand it; None where the user says nothing.

    Thanks and goodbyes stand alone: they don't ask again what was asked before.
    """
    texts = [text for message in messages if message.role == "user" and (text := visible(message.content).strip())]
    if not texts:
        return None
    last = texts[-1]
    query = f"{texts[-2]}\n{last}" if len(texts) > 1 and points_back(last) and not is_small_talk(last) else last
    return query[-MOST_CHARACTERS:].strip() or None


def is_remark(query: str) -> bool:
    """Whether it asks nothing, and has hardly a word that says something: "Noted!", "ok, thanks for telling me"."""
    asks = any(sentence.asks for sentence in sentences(query))
    telling = [word for word in _telling_words(words(query)) if word not in SMALL_TALK]
    return is_small_talk(query) or (len(telling) < LEAST_TELLING and not asks)


def points_back(text: str) -> bool:
    """Whether a message needs the one before it: it has few words that say something, or it is short and says "her" or "that"."""
    text_words = words(text)
    return len(_telling_words(text_words)) < FEW_WORDS or (len(text_words) <= SHORT and not _POINTING.isdisjoint(text_words))


def _telling_words(text_words: Sequence[str]) -> list[str]:
    return [word for word in text_words if word not in FUNCTION_WORDS and word not in QUERY_WORDS]


def texts_said(messages: Iterable[ReadMessage]) -> frozenset[str]:
    """The texts of the messages, `normalised`: each as kept, and each of its parts."""
    return frozenset(normalised(text) for message in messages for text in (message.content, *message.parts))
