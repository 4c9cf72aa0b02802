"""The checks that every agent's facts and foresight go through before they become memories.

A fact is kept where a person asserts it in words of their own, and where its text has no content
that people did not say. Note: a fact in words that no speaker used, or in another language, is not
discarded. Its text becomes the words that prove it, and it fills no slot with a value that was not
said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property

from memory_core.domain.agent_schemas import (
    ExtractedFacts,
    SaidFact,
    SaidForesight,
    SaidInstruction,
)
from memory_core.domain.conversation import Message
from memory_core.domain.statements.attributes import canonical_subject
from memory_core.domain.statements.empty_facts import says_nothing
from memory_core.domain.statements.jokes import is_joking_allergy, is_joking_name
from memory_core.domain.statements.own_words import (
    may_tell,
    name_of_actor,
    name_of_speaker,
    own_sentences,
    own_words,
)
from memory_core.domain.statements.patterns import telling
from memory_core.domain.statements.provenance import (
    DAYS,
    OTHER_SCRIPT,
    Proofs,
    folded_quote,
    in_another_language,
    unknown_names,
)
from memory_core.domain.statements.sentence_wishes import may_instruct
from memory_core.domain.statements.short_answers import short_answer
from memory_core.domain.statements.wishes import said_wishes
from memory_core.domain.text.analyzer import ENGLISH, GERMAN, language_of, tokens, votes_for, words
from memory_core.domain.text.polarity import NEGATIONS
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.spelling import GERMAN_NUMBER_WORDS, NUMBER_WORDS, numbers_in
from memory_core.domain.truth.slots import NO_LONGER

LEAST_SAID = 1 / 3
"""The share of a text's informative terms that people said."""
MAX_CHARACTERS = 300
"""Characters of the quoted words that replace a fact's text."""
FEWEST_TERMS = 2
"""Informative terms of such words."""
_ONCE = re.compile(
    r"\b(?:this once|for once|once more|this time|for now|for the moment|today|tonight|right now"
    r"|in (?:this|your next) (?:answer|reply|message)"
    r"|diesmal|dieses mal|heute|vorerst|jetzt gerade|in dieser antwort)\b|今回|今だけ|とりあえず"
    r"|今日",
    re.IGNORECASE,
)
"""Words of an instruction for a single answer."""
MOST_INSTRUCTING = 60
"""Words of a standing instruction."""
LONGEST_AHEAD = timedelta(days=36_525)
_ASKING_WORDS = (
    "do does did is are am was were can could will would should shall may might have has had what "
    "which who whose whom when where why how kann kannst können könnte könntest soll sollte sollen "
    "ist sind war hast hat habe haben bin wird werden willst möchtest was welche welcher welches "
    "wer wen wem wann wo warum wieso wie"
)
_ASKING = frozenset(_ASKING_WORDS.split())
_SUPPOSES = re.compile(
    r"(?:\A|[,;:.!?(–—]\s*|\b(?:and|but|or|that|und|aber|oder|dass)\s+)"
    r"(?:(?:even|only|what|as)\s+)?(?:if|unless|suppose|supposing|imagine|wenn|falls"
    r"|angenommen)\b[^,;:.!?()–—]{0,120}\Z",
    re.IGNORECASE,
)
_JAPANESE_SUPPOSES = re.compile(r"もし[^。、！？]{0,80}\Z")
_PASSES = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:morning|afternoon|evening|minute)|last night|just now"
    r"|right now|at the moment|for now|heute|gestern|vorgestern|heute (?:morgen|abend)|gerade eben"
    r"|eben gerade|vorhin|im moment"
    r"|(?:is|feels|felt|was|ist|fühlt sich|war) (?:(?:so|very|a bit|really|sehr"
    r"|ziemlich) )?(?:tired|hungry|thirsty|bored|busy|stressed|excited|curious|confused|happy|sad"
    r"|glad|angry|annoyed|sorry|müde|hungrig|durstig|gestresst|gelangweilt|neugierig|verwirrt))\b"
    r"|今日|昨日|さっき|今朝|今夜|今晩",
    re.IGNORECASE,
)
"""Words of a statement about the moment."""
_FIRST_PERSON = re.compile(r"(?:I|My|We|Our|Ich|Mein|Meine|Wir|Unser|Unsere)\b")
_THE_USER = re.compile(r"(?:The\s+|the\s+)?(?:user|User|speaker|Speaker)\b(?=['’]s\b|\s|$)")
_NAMING = frozenset(tokens("called named name"))
_CLOSED = frozenset(
    {"yes", "no", "likes", "dislikes", "married", "single", "engaged", "divorced", "widowed"}
)
"""Values that summarise statements in other words."""
_PRONOUN_WORDS = (
    "he she it they we him her them us his hers their our er sie es wir ihn ihm ihr ihnen uns "
    "彼 彼女"
)
_PRONOUNS = frozenset(_PRONOUN_WORDS.split())
_COUNTS = {word: str(number) for named in (NUMBER_WORDS, GERMAN_NUMBER_WORDS) for number,
    word in enumerate(named[:13])} | {
    "eine": "1", "einen": "1", "once": "1", "twice": "2", "both": "2", "couple": "2", "dozen": "12"
}  # fmt: skip
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)[a-zä]*\b|\d[-/.年月]\d"
    r"|月|\d{4}-\d{2}",
    re.IGNORECASE,
)


_KANJI_NUMBER = re.compile(r"[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九]")
"""A number from 1 to 99 in Japanese signs."""


def _value_of_kanji(number: str) -> int:
    tens, ten, units = number.rpartition("十")
    value = sum(int(unicodedata.numeric(sign)) for sign in units)
    return value + 10 * int(unicodedata.numeric(tens or "一")) if ten else value


@dataclass(frozen=True, slots=True)
class AssertedFacts:
    """The facts of an agent's answer that passed the checks.

    Attributes:
        facts: As they are remembered.
        foresight: As it is remembered.
        dropped: How many facts, foresights and instructions were left out.
        instructions: Standing instructions of users.

    """

    facts: list[SaidFact]
    foresight: list[SaidForesight]
    dropped: int
    instructions: list[SaidInstruction] = field(default_factory=list)


def asserted_facts(extracted: ExtractedFacts, messages: Sequence[Message]) -> AssertedFacts:
    """Check an agent's answer, and return its facts as they are remembered.

    Args:
        extracted: The agent's answer.
        messages: The messages that it is about, with the actors by which the agent knew them.

    """
    if not (extracted.facts or extracted.foresight or extracted.instructions):
        return AssertedFacts([], [], 0)
    record = _Record(messages)
    facts = [
        fact
        for said_fact in extracted.facts
        if (fact := record.fact(said_fact)) is not None and not says_nothing(fact)
    ]
    foresight = [
        ahead
        for said_line in extracted.foresight
        if (ahead := record.foresight(said_line)) is not None
    ]
    instructions = [
        instruction
        for said_instruction in extracted.instructions
        if (instruction := record.instruction(said_instruction)) is not None
    ]
    accepted = len(facts) + len(foresight) + len(instructions)
    return AssertedFacts(
        facts,
        foresight,
        len(extracted.facts) + len(extracted.foresight) + len(extracted.instructions) - accepted,
        instructions,
    )


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A sentence with a speaker's own words.

    Attributes:
        written: As it was written, folded.
        own: Without words that are not the speaker's own, folded.
        asks: Whether it is a question.

    """

    written: str
    own: str
    asks: bool


_DENIES = re.compile(r"n['’]t\b|ません|ない")
"""A negation that is no word of its own: a person without pets has 0."""


class _Record:
    """The statements of people in a cell, read once however many facts are checked."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._proofs = Proofs(messages)
        self._own: dict[int, str] = {}
        self._stretches: dict[int, list[_Stretch]] = {}
        self._wishes: dict[int, list[tuple[str, str]]] = {}

    def fact(self, extracted: SaidFact) -> SaidFact | None:
        """The fact as it is remembered; None if no person stated it."""
        fills_slot = bool(extracted.subject and extracted.attribute and extracted.value)
        if not self._is_asserted(extracted.quote, extracted.message, fills_slot=fills_slot):
            return None
        value = re.sub(rf"\A{NO_LONGER}\b", "", extracted.value or "")
        if self._invents(extracted.text) or self._invents_name(value):
            return None
        if self._invents_number(value):
            extracted = extracted.without_slot()
        message = self._messages[extracted.message]
        if is_joking_name(extracted, message):
            return None
        named = self._slotted(extracted, message)
        if is_joking_allergy(extracted, message):
            named = named.without_slot()
        if named.lasting and _PASSES.search(extracted.text):
            named = named.changed(lasting=False)
        text = _of_speaker(
            extracted.text,
            message,
            extracted.subject if extracted.subject and not self._knows(extracted.subject) else None,
        )
        is_said = self._is_said(text, message) or _ends(named)
        if is_said and not in_another_language(extracted.quote, text):
            return named.changed(text=text)
        own = _in_their_words(extracted.quote, message)
        if own is None:
            return None
        lasts = (named.lasting or named.value is not None) and _PASSES.search(
            extracted.quote
        ) is None
        keeps_slot = (
            named.value is None
            or _ends(named)
            or named.value.casefold() in _CLOSED
            or self._is_said(named.value, message)
        )
        checked = named if keeps_slot else named.without_slot()
        return checked.changed(text=own, lasting=lasts)

    def foresight(self, extracted: SaidForesight) -> SaidForesight | None:
        """The foresight as it is remembered.

        None if no person stated it, or it ends before it begins.
        """
        begins, ends = extracted.start_time, extracted.end_time
        if not self._is_asserted(extracted.quote, extracted.message) or (
            ends is not None and ends < begins
        ):
            return None
        message = self._messages[extracted.message]
        if abs(begins - message.timestamp) > LONGEST_AHEAD or self._invents(
            extracted.description, dated=True
        ):
            return None
        text = _of_speaker(extracted.description, message, None)
        if not self._is_said(text, message) or in_another_language(extracted.quote, text):
            own = _in_their_words(extracted.quote, message)
            return None if own is None else extracted.described(own)
        return extracted.described(text)

    def instruction(self, extracted: SaidInstruction) -> SaidInstruction | None:
        """The sentences of a quote that may instruct for longer than a single answer.

        None if no user gives such an instruction. Instructions that the rules read themselves are
        not counted: they are obeyed already.
        """
        if (
            not self._is_asserted(extracted.quote, extracted.message)
            or self._messages[extracted.message].role != "user"
        ):
            return None
        instructing = [
            sentence
            for sentence in sentences(extracted.quote)
            if may_instruct(sentence.text) and _ONCE.search(sentence.text) is None
        ]
        if not instructing:
            return None
        quote = extracted.quote[instructing[0].start : instructing[-1].end].strip()
        return extracted.quoting(quote) if len(quote.split()) <= MOST_INSTRUCTING else None

    def _is_asserted(self, quote: str, number: int, *, fills_slot: bool = False) -> bool:
        """Whether a person asserts the quote in words of their own.

        A quote from a wish about the memory or its answers does not count. fills_slot: whether a
        value is taken from the quote, which an instruction may mention: "I'm vegetarian, so suggest
        no meat".
        """
        if not self._proofs.prove(quote, number):
            return False
        wanted = folded_quote(quote)
        within = [
            stretch
            for stretch in self._sentences(number)
            if wanted in stretch.written or stretch.written in wanted
        ]
        if not any(wanted in stretch.written for stretch in within) and (
            not within or _says_more(wanted, within)
        ):
            # over more than a sentence, or in a part of one
            return wanted in folded_quote(self._own_words(number))
        if all(not _has_own_words(stretch, wanted) for stretch in within) or all(
            _asks(stretch) or _supposes(stretch, wanted) for stretch in within
        ):
            return False
        for kind, wish in self._wishes_in(number):
            whole, part = wish in wanted, wanted in wish
            if (kind == "forget" and (whole or part)) or (whole and not fills_slot):
                return False
        return True

    def _own_words(self, number: int) -> str:
        if number not in self._own:
            self._own[number] = own_words(self._messages[number].content)
        return self._own[number]

    def _sentences(self, number: int) -> list[_Stretch]:
        if number not in self._stretches:
            content = self._messages[number].content
            self._stretches[number] = [
                _Stretch(
                    folded_quote(content[sentence.start : sentence.end]),
                    folded_quote(sentence.text),
                    sentence.asks,
                )
                for sentence in own_sentences(content)
            ]
        return self._stretches[number]

    def _wishes_in(self, number: int) -> list[tuple[str, str]]:
        """The kind and the words of sentences with a wish to the memory.

        A sentence with a preference in a single clause is left out, since it is a fact as well.
        """
        if number not in self._wishes:
            message = self._messages[number]
            wishes = [
                wish
                for wish in said_wishes([message])
                if wish.kind != "withdrawal" and wish.surety == "sure"
            ]
            quoted = [(wish, message.content[wish.start : wish.end]) for wish in wishes]
            self._wishes[number] = [
                (wish.kind, folded_quote(words))
                for wish, words in quoted
                if wish.kind == "forget" or len(wish.text) >= len(words.strip())
            ]
        return self._wishes[number]

    @cached_property
    def _said_by_people(self) -> str:
        """What people said, with what their short answers mean."""
        places = [place for place, message in enumerate(self._messages) if may_tell(message)]
        answers = [short_answer(self._messages, place) for place in places]
        return "\n".join(
            [
                *(self._own_words(place) for place in places),
                *(answer.meant for answer in answers if answer is not None),
            ]
        )

    @cached_property
    def _terms(self) -> frozenset[str]:
        """Terms of people's statements and of the speakers' names."""
        return frozenset(
            tokens(
                " ".join(
                    [self._said_by_people, *(message.actor or "" for message in self._messages)]
                )
            )
        )

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """The numbers that people said, and the years that can be calculated from them."""
        text = self._said_by_people
        counted = {_COUNTS[word.casefold()] for word in words(text) if word.casefold() in _COUNTS}
        kanji = {str(_value_of_kanji(number)) for number in _KANJI_NUMBER.findall(text)}
        denies = _DENIES.search(text) is not None
        none = {"0"} if denies or not NEGATIONS.isdisjoint(words(text)) else set()
        numbers = frozenset(numbers_in(text)) | counted | kanji | {"1"}
        apart = {0} | {int(number) for number in numbers if re.fullmatch(r"[0-9]{1,2}", number)}
        years = {message.timestamp.year for message in self._messages}
        calculated = {
            str(year + sign * count) for year in years for count in apart for sign in (-1, 1)
        }
        return numbers | none | calculated

    @cached_property
    def _is_english(self) -> bool:
        folded = [word.casefold() for word in words(self._said_by_people)]
        german = votes_for(GERMAN, folded)
        return language_of(folded) == ENGLISH and (
            not german or german < votes_for(ENGLISH, folded)
        )

    def _knows(self, subject: str) -> bool:
        """Whether a subject's name, or the words for it, were said."""
        owner = canonical_subject(subject).partition("'s ")[0]
        return owner == "user" or frozenset(tokens(owner)) <= self._terms

    def _invents(self, text: str, *, dated: bool = False) -> bool:
        """Whether a text has a number or a name that was not said.

        Dates may be calculated.
        """
        return self._invents_number(text, dated=dated) or self._invents_name(text)

    def _invents_number(self, text: str, *, dated: bool = False) -> bool:
        return (
            not (dated or _MONTH.search(text)) and not frozenset(numbers_in(text)) <= self._numbers
        )

    def _invents_name(self, text: str) -> bool:
        """Names are checked in English alone, since all nouns of German have capitals."""
        return self._is_english and bool(unknown_names(text, self._terms))

    def _is_said(self, text: str, message: Message) -> bool:
        """Whether people said enough of a text's informative terms; dates may be calculated."""
        reckoned = DAYS | frozenset(
            term for term in telling(text) if term.isdigit() and term not in self._terms
        )
        terms = telling(text) - frozenset(tokens(name_of_speaker(message))) - _NAMING - reckoned
        return len(terms & self._terms) >= LEAST_SAID * len(terms)

    def _slotted(self, extracted: SaidFact, message: Message) -> SaidFact:
        """The fact with a whole slot under its own names, or without a slot."""
        if not (extracted.subject and extracted.attribute and extracted.value):
            return extracted.without_slot()
        subject = canonical_subject(extracted.subject)
        owner, mark, rest = subject.partition("'s ")
        if owner.casefold() in _PRONOUNS:
            return extracted.without_slot().changed(lasting=True)
        if owner == "user" or not self._knows(owner):
            subject = (name_of_actor(message.actor) or "user") + mark + rest
        return extracted.changed(subject=subject)


def _ends(fact: SaidFact) -> bool:
    """Whether a fact says that a slot is empty from now on.

    People say this in many ways.
    """
    return fact.value is not None and fact.value.casefold().startswith(NO_LONGER)


def _of_speaker(text: str, message: Message, unknown: str | None) -> str:
    """A text about its speaker in the third person, by name.

    unknown: a name for the speaker that was not said.
    """
    speaker = name_of_speaker(message)
    if _FIRST_PERSON.match(text):
        return f"{speaker}: {text}"
    if unknown is not None and text.startswith(unknown):
        return speaker + text[len(unknown) :]
    match = _THE_USER.match(text) if message.actor else None
    return text if match is None else speaker + text[match.end() :]


def _in_their_words(quote: str, message: Message) -> str | None:
    """The words that prove a fact, as its text; None where they say too little."""
    text = " ".join(quote.split())
    return (
        f"{name_of_speaker(message)}: {text}"
        if len(text) <= MAX_CHARACTERS and len(telling(text)) >= FEWEST_TERMS
        else None
    )


def _has_own_words(sentence: _Stretch, quote: str) -> bool:
    """Whether the quote has words of a sentence that are the speaker's own.

    A quotation within the sentence, an example or a paste alone is not enough.
    """
    if quote in sentence.own:
        return True
    own = frozenset(sentence.own.split())
    return (
        len(own & frozenset(quote.split())) >= min(3, len(own))
        if sentence.written in quote or sentence.written == quote
        else False
    )


def _says_more(quote: str, sentences_in: Sequence[_Stretch]) -> bool:
    """Whether a quote has words beside the whole sentences in it."""
    for stretch in sentences_in:
        quote = quote.replace(stretch.written, " ")
    return bool(words(quote))


def _asks(sentence: _Stretch) -> bool:
    """Whether a sentence is only a question."""
    if not sentence.asks or any(mark in sentence.own for mark in ",、;:–—!！"):
        return False
    first = next(iter(words(sentence.own)), "").casefold()
    return first in _ASKING or OTHER_SCRIPT.search(sentence.own) is not None


def _supposes(sentence: _Stretch, quote: str) -> bool:
    """Whether the clause in which the quote begins is only a supposition."""
    place = sentence.written.find(quote)
    first = quote.split(maxsplit=1)[0] if quote else ""
    before = sentence.written[: place + len(first)] if place >= 0 else first
    return (
        _SUPPOSES.search(before) is not None
        or _JAPANESE_SUPPOSES.search(sentence.written[: max(place, 0)]) is not None
    )
