"""Facts that people state of themselves and other people, with the proving words.

There are two kinds: facts of the table (`fact_patterns`), which may fill a slot, and plain
statements in the third person, which never do. The messages are read here: which of their sentences
count, what these leave out, and what corrects or takes back the sentence before. The facts of each
sentence are made in `sentence_facts`.

Note: a fact is made only of a user's own assertion. Questions, suppositions, quotations, pasted or
recalled text, and words of systems, tools and nameless assistants make no facts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from memory_core.adapters.offline import japanese_facts
from memory_core.adapters.offline.casual import sentences_of_chat
from memory_core.adapters.offline.fact_matches import (
    FoundFact,
    denied,
    fact_of_match,
    facts_of_table,
)
from memory_core.adapters.offline.labels import is_said_of_another, label_of_value, under_label
from memory_core.adapters.offline.omissions import (
    MOST_AFTER,
    MOST_BEFORE,
    PersonInFocus,
    completed,
    is_about_the_same_person,
)
from memory_core.adapters.offline.retractions import PatternMatch, says_wrong
from memory_core.adapters.offline.running_rules import checkpoint
from memory_core.adapters.offline.sentence_facts import (
    SentenceFacts,
    SourceSentence,
    answers_for_another,
    prepare_sentence,
    read_answer,
    read_sentence,
    said_fact,
)
from memory_core.adapters.offline.taken_back import facts_taken_back
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.corrected import (
    TAKES_BACK,
    is_bare_time,
    may_answer,
    with_correction,
)
from memory_core.domain.statements.empty_facts import says_nothing
from memory_core.domain.statements.filled_forms import answers_of_form
from memory_core.domain.statements.own_words import may_tell, name_of_speaker
from memory_core.domain.statements.provenance import Proofs
from memory_core.domain.statements.short_answers import short_answer
from memory_core.domain.statements.slot_facts import last_word_wins, without_other_holders
from memory_core.domain.text.dictation import CUE, continues
from memory_core.domain.text.sentences import Sentence, breaks_off, goes_on, without_dots

MAX_FACTS = 40
MOST_OF_JOKE = 20
"""Characters of a sentence that only says that the one before was a joke."""


def said_facts(messages: Sequence[Message]) -> list[SaidFact]:
    """Extract at most `MAX_FACTS` facts in the order they were said, without repeats.

    Facts of the table have priority over plain statements.
    """
    reading = _Reading()
    for number, message in enumerate(messages):
        if may_tell(message):
            asked = _asked(messages[number - 1 : number])
            reading.read(message, number, _answers(messages, number, asked), asked)
        else:
            reading.before = message.content[-MOST_BEFORE:]
    # A sentence may run over a block of recalled memories, and then its quote is no
    # person's own words.
    proofs = Proofs(messages)
    facts = [*islice((fact for fact in reading.facts if _is_supported(fact, proofs)), MAX_FACTS)]
    return last_word_wins(without_other_holders(sorted(facts, key=lambda fact: fact.message)))


def _answers(messages: Sequence[Message], number: int, asked: str) -> dict[int, str]:
    """What a message's short answers mean, by their places in it."""
    if (answer := short_answer(messages, number)) is not None:
        return {answer.sentence.start: answer.meant}
    return answers_of_form(messages[number].content, asked)


def _asked(before: Sequence[Message]) -> str:
    """What an assistant asked in the message before, or ""."""
    return next(
        (
            message.content
            for message in before
            if message.role != "user" and message.content.rstrip().endswith(("?", "？"))
        ),
        "",
    )


class _LastSentence(NamedTuple):
    """A sentence and the keys of its facts."""

    text: str
    certain: list[str]
    plain: list[str]


@dataclass(slots=True)
class _Turn:
    """A message while its sentences are read.

    Attributes:
        message: The message.
        name: Name of the speaker.
        answers: What its short answers mean, by their places.
        asked: What the assistant asked right before, or "".
        begun: The end of the speaker's message before, which this message continues, or "".
        before_it: The last sentence that was read, or "".
        was_wrong: Whether the last sentence said that the one before it was wrong.
        label: The last label of a value, with its end, which holds for its paragraph.
        focus: The person whom its sentences are about.

    """

    message: Message
    name: str
    answers: Mapping[int, str]
    asked: str
    begun: str
    before_it: str = ""
    was_wrong: bool = False
    label: tuple[str, int] = ("", 0)
    focus: PersonInFocus = field(default_factory=PersonInFocus)

    def under_label(self, sentence: Sentence) -> Sentence:
        """A sentence behind the label that holds for it."""
        label, end = self.label
        if "\n\n" not in self.message.content[end : sentence.start]:
            sentence = replace(sentence, text=under_label(sentence.text, label))
        if own := label_of_value(sentence.text):
            self.label = (own, sentence.end)
        return sentence


@dataclass(slots=True)
class _Reading:
    """The facts of messages that are read in order.

    Attributes:
        certain: Facts of the table, by their texts.
        plain: Plain statements, by their texts.
        matches: By speaker, the table's matches in the last sentence, for a sentence that corrects
            it.
        broken_off: By speaker, the last sentence if it breaks off ("I moved to…").
        before: The end of the talk that was read.
        last: By speaker, the last sentence with its facts, for a sentence that corrects it.
        short: The speaker, the number and the text of the last message.

    """

    certain: dict[str, SaidFact] = field(default_factory=dict)
    plain: dict[str, SaidFact] = field(default_factory=dict)
    matches: dict[str, Sequence[PatternMatch]] = field(default_factory=dict)
    broken_off: dict[str, str] = field(default_factory=dict)
    before: str = ""
    last: dict[str, _LastSentence] = field(default_factory=dict)
    short: tuple[str, int, str] = ("", -1, "")

    @property
    def facts(self) -> list[SaidFact]:
        """Facts of the table before plain statements, each in the order they were said."""
        return [*self.certain.values(), *self.plain.values()]

    def read(self, message: Message, number: int, answers: Mapping[int, str], asked: str) -> None:
        """Read a message, sentence after sentence.

        Not read as statements are, in this order: what is pasted, not meant or about another
        person; what takes the last sentence back; a short answer that fills a slot by what it
        means; and a bare time that answers a question.

        Args:
            message: The message.
            number: Its place among the messages.
            answers: What its short answers mean, by their places.
            asked: What the assistant asked right before, or "".

        """
        name = name_of_speaker(message)
        begun = self.broken_off.pop(name, "") if goes_on(message.content) else ""
        turn = _Turn(message, name, answers, asked, begun)
        part = self._part_of_message(name, number, message.content)
        for sentence in sentences_of_chat(message.content):
            checkpoint()
            source = SourceSentence(name, number, message.content[sentence.start : sentence.end])
            if part is not None:
                sentence = replace(sentence, text=part)
            if _SCRATCH_THAT.match(sentence.text):
                self._drop_last(name)
                continue
            if sentence.start not in answers:
                whole = turn.focus.complete(sentence.text)
                if whole is None:
                    continue
                sentence = replace(sentence, text=whole)
            if self._is_passed_over(sentence, turn):
                continue
            sentence = prepare_sentence(turn.under_label(sentence), opens=not turn.before_it)
            if self._takes_back(sentence.text, turn, source):
                continue
            takes_back, turn.was_wrong = "Sorry, " if turn.was_wrong else "", False
            sentence = self._continued(sentence, turn)
            if self._is_read_as_answer(sentence, turn, source):
                continue
            self.broken_off[name] = without_dots(sentence.text) if breaks_off(sentence.text) else ""
            if asked and not turn.before_it and may_answer(sentence.text, asked, self._last(name)):
                if is_bare_time(sentence.text):
                    continue
            else:
                is_taken_back = bool(turn.before_it) and (
                    TAKES_BACK.match(sentence.text) is not None
                )
                if is_taken_back:
                    takes_back = takes_back or "Sorry, "
                sentence = self._corrected(sentence, name, takes_back, is_taken_back=is_taken_back)
            self._read_statement(sentence, takes_back, turn, source)

    def _part_of_message(self, name: str, number: int, content: str) -> str | None:
        """The text of a message behind those that it goes on with.

        "at ikea" goes on after "got a new job". A starred word keeps its mark, which sentences
        lose. None for any other message.
        """
        text = content.strip()
        before, self.short = self.short, (name, number, text)
        if text.startswith(("*", "＊")) and " " not in text:
            return text
        speaker, last, begun = before
        if speaker != name or last != number - 1 or not continues(begun, text):
            return None
        joined = f"{begun.rstrip('!')} {text}"
        self.short = (name, number, joined)
        self._drop_last(name)
        return joined

    def _is_passed_over(self, sentence: Sentence, turn: _Turn) -> bool:
        """Whether a sentence is pasted, is not meant, or is about another person.

        A short sentence that only says that the last was a joke drops its facts.
        """
        text = sentence.text
        if _PLAYS.match(text) or (_LABELLED.match(text) and sentence.start not in turn.answers):
            return True
        if _JOKES.search(text):
            if len(text) <= MOST_OF_JOKE or _TAKES_JOKE_BACK.match(text):
                self._drop_last(turn.name)
            return True
        return (
            _IRONY.match(text) is not None
            or is_said_of_another(text)
            or (
                japanese_facts.is_age_of_another(text, f"{self._last(turn.name)} {turn.asked}")
                and not answers_for_another(turn.answers.get(sentence.start, ""))
            )
            or is_about_the_same_person(text, turn.before_it)
        )

    def _takes_back(self, text: str, turn: _Turn, source: SourceSentence) -> bool:
        """Whether a sentence says that the last was wrong; what it names is denied."""
        slip = says_wrong(text)
        if slip is None:
            return False
        turn.was_wrong = True
        if slip:
            self._deny(slip, source)
        return True

    def _continued(self, sentence: Sentence, turn: _Turn) -> Sentence:
        """The sentence behind what the speaker's message before began, if that broke off."""
        begun, turn.begun = turn.begun, ""
        if not begun:
            return sentence
        for dots in ("…", "..."):
            self.plain.pop(_key(third_person(f"{begun}{dots}", turn.name) or "", None), None)
        return replace(sentence, text=f"{begun} {without_dots(sentence.text)}")

    def _read_statement(
        self, sentence: Sentence, takes_back: str, turn: _Turn, source: SourceSentence
    ) -> None:
        """Read the facts of a sentence that states something.

        Args:
            sentence: The sentence, written out.
            takes_back: A word that takes the last sentence back, or "".
            turn: The message.
            source: Where the sentence was said.

        """
        after = turn.message.content[sentence.end : sentence.end + MOST_AFTER]
        with_topic = japanese_facts.with_topic(sentence.text, turn.before_it, after)
        ended = (
            []
            if sentence.asks
            else [*facts_taken_back(sentence.text, turn.before_it, after, turn.name)]
        )
        turn.before_it = sentence.text
        whole = takes_back + completed(with_topic, self.before[-MOST_BEFORE:], after)
        counts = len(self.certain), len(self.plain)
        before = self.matches.get(turn.name, ())
        self._take(read_sentence(sentence, whole, with_topic, turn.name, before), source)
        for fact in ended:
            key = _key(fact.text, f"{fact.subject} {fact.attribute}")
            self.certain.setdefault(key, said_fact(fact, source))
        self.before = f"{self.before[-MOST_BEFORE:]} {sentence.text}"
        if _TO_KEEP.match(sentence.text):
            return
        self.last[turn.name] = _LastSentence(
            sentence.text,
            *(
                [*islice(reversed(facts), max(0, len(facts) - count))]
                for facts, count in zip((self.certain, self.plain), counts, strict=True)
            ),
        )

    def _last(self, name: str) -> str:
        """A speaker's last sentence, or ""."""
        return self.last[name].text if name in self.last else ""

    def _keep(self, fact: FoundFact, source: SourceSentence, *, plain: bool = False) -> None:
        """Keep a fact of the table, or a plain statement, unless it was said before."""
        (self.plain if plain else self.certain).setdefault(
            _key(fact.text, fact.attribute), said_fact(fact, source)
        )

    def _take(self, facts: SentenceFacts, source: SourceSentence) -> None:
        """Keep the facts of a sentence; a slip that it puts right is dropped."""
        self.matches[source.name] = facts.matches
        if (slip := facts.slip) is not None:
            self.certain.pop(_key(slip.text, slip.attribute), None)
        for fact, words in facts.certain:
            has_words = words in source.quote
            self._keep(fact, source._replace(quote=words) if words and has_words else source)
        for fact in facts.plain:
            self._keep(fact, source, plain=True)

    def _is_read_as_answer(self, sentence: Sentence, turn: _Turn, source: SourceSentence) -> bool:
        """Keep the facts of a short answer that fills slots; whether it is one."""
        meant = turn.answers.get(sentence.start)
        if meant is None:
            return False
        facts = read_answer(meant, turn.name, self.matches.get(turn.name, ()))
        self._take(facts, source)
        return bool(facts.certain)

    def _deny(self, slip: str, source: SourceSentence) -> None:
        """Deny what a speaker takes back, which the next sentence may put right."""
        self.matches[source.name] = list(facts_of_table(slip))
        for match in filter(None, map(denied, self.matches[source.name])):
            self._keep(fact_of_match(match, source.name), source)

    def _corrected(
        self, sentence: Sentence, name: str, takes_back: str, *, is_taken_back: bool
    ) -> Sentence:
        """The last sentence with a correction put into it.

        The facts of the slip are dropped. A sentence that has facts of its own stays as it is.
        takes_back: A word that takes the slip back, if the sentence before said that it is one.
        is_taken_back: Whether it surely corrects the last sentence, even if it is not clear how.
        """
        last = self.last.get(name)
        if last is None:
            return sentence
        if of_table := [*facts_of_table(sentence.text)]:
            cue = _CUES.match(sentence.text)
            filled = {match.row.attribute for match in self.matches.get(name, ())} - {None}
            if cue is None or filled.isdisjoint(match.row.attribute for match in of_table):
                return sentence
            text: str | None = sentence.text[cue.end() :]
        else:
            text = with_correction(last.text, takes_back + sentence.text)
            if text is None and not is_taken_back:
                return sentence
        self._drop_last(name)
        return sentence if text is None else replace(sentence, text=text)

    def _drop_last(self, name: str) -> None:
        """Drop the facts of a speaker's last sentence."""
        last = self.last.get(name)
        if last is not None:
            for facts, keys in ((self.certain, last.certain), (self.plain, last.plain)):
                for key in keys:
                    facts.pop(key, None)


_CUES = re.compile(rf"(?:(?:oh|uh|um|ah|äh),? )?(?:{CUE},? |no,? actually,? )+", re.IGNORECASE)
"""Opens a whole statement that takes the place of the one before it."""
_LABELLED = re.compile(r"\A(?:A|Answer|Antwort|答え?)[:：]\s")
"""Opens an answer of pasted questions and answers: "Q: Where do you live? A: I live in Ohio."."""
_PLAYS = re.compile(
    r"(?:(?:and|then|ok|okay|hey|please|pls|now) ){0,3}(?:play|sing|put on) "
    r"(?:that|some|the|me|i['’]?m|i|a song|something|music)\b",
    re.IGNORECASE,
)
"""Asks for a piece of music, whose words are no statement."""
_JOKES = re.compile(
    r"(?<!not )(?<!no )\b(?:(?:just|only|I'm|I was) (?:kidding|joking)(?! aside)"
    r"|nur (?:ein )?(?:Spaß|Scherz)|kleiner Scherz)\b"
    r"|\A(?:(?:lol|haha|no),? )?(?:kidding|jk)\b(?! aside)"
    r"|冗談(?:です|だよ|だ)",
    re.IGNORECASE,
)
_SCRATCH_THAT = re.compile(
    r"(?:(?:no|oh|wait|sorry|actually),? ){0,2}(?:scratch|strike) that[.! ]*\Z", re.IGNORECASE
)
"""Takes back the sentence before."""
_TAKES_JOKE_BACK = re.compile(
    r"(?:(?:lol|haha),? )?(?:jk|(?:just )?kidding),? (?:I|we) (?:do not|don['’]?t|am not|never)\b",
    re.IGNORECASE,
)
"""Denies at once what was a joke: "jk I don't have a sister"."""
_TO_KEEP = re.compile(
    r"(?:please |bitte )?(?:(?:remember|note) (?:that|this|it)|merke? (?:dir )?das)"
    r"[ .!\w]{0,20}\Z|(?:覚えて|メモして)[^、。]{0,10}[。！]?\Z",
    re.IGNORECASE,
)
"""A sentence that only asks to keep the one before it."""
_IRONY = re.compile(
    r"(?:oh )?(?:yeah,? right|ja,? klar|ja,? genau),? (?:and |und )?(?:I['’]?m|I am|ich bin) "
    r"|(?:oh )?(?:sure|yeah,? sure),? and (?:I['’]?m|I am) the "
    r"|(?:and |und )?(?:I['’]?m|I am|ich bin) (?:(?:the|der|die)"
    r" (?:(?:king|queen|emperor|kaiser(?:in)?|könig(?:in)?) (?:of|von)|pope|papst"
    r"|walrus)|batman)\b",
    re.IGNORECASE,
)
"""Statements that are not meant: "yeah right, and I'm Batman"."""


def _key(text: str, attribute: str | None) -> str:
    """The same for facts that say the same."""
    return f"{text.casefold()} {attribute}"


def _is_supported(fact: SaidFact, proofs: Proofs) -> bool:
    return not says_nothing(fact) and proofs.prove(fact.quote, fact.message)
