"""Facts that people state of themselves and other people, with the proving words.

There are two kinds: facts of the table (`fact_patterns`), which may fill a slot, and plain
statements in the third person, which never do.

Note: a fact is made only of a user's own assertion. Questions, suppositions, quotations, pasted or
recalled text, and words of systems, tools and nameless assistants make no facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from memory_core.adapters.offline import fact_patterns, german_facts, japanese_facts
from memory_core.adapters.offline.animals import is_animal
from memory_core.adapters.offline.casual import sentences_of_chat, with_subject, written_out
from memory_core.adapters.offline.clause_facts import read_clauses
from memory_core.adapters.offline.clauses import asserted_clauses, quotes, without_fillers
from memory_core.adapters.offline.fact_matches import (
    FoundFact,
    fact_of_match,
    facts_of_table,
    is_negated,
    is_pupil,
    matches_of_new_persons,
)
from memory_core.adapters.offline.fact_values import known_job, likes_in_sight
from memory_core.adapters.offline.introductions import with_owner
from memory_core.adapters.offline.lasting_facts import is_of_the_moment, lasting_words
from memory_core.adapters.offline.omissions import (
    MOST_AFTER,
    MOST_BEFORE,
    completed,
    is_about_the_same_person,
)
from memory_core.adapters.offline.relatives import Relative, relatives, without_company
from memory_core.adapters.offline.retractions import PatternMatch, put_right
from memory_core.adapters.offline.running_rules import checkpoint, count_cut, fitted
from memory_core.adapters.offline.voice import third_person, without_shouting
from memory_core.domain.agent_schemas import MAX_TERM, MAX_VALUE, SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.attributes import PET, only_implies_pets
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.statements.corrected import with_correction
from memory_core.domain.statements.empty_facts import says_nothing
from memory_core.domain.statements.provenance import Proofs, may_tell, own_words
from memory_core.domain.statements.short_answers import ShortAnswer, short_answer
from memory_core.domain.statements.slot_facts import last_word_wins
from memory_core.domain.text.analyzer import QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.sentences import Sentence, breaks_off, goes_on, without_dots
from memory_core.domain.text.shortening import beginning

MAX_FACTS = 40
MOST_OF_JOKE = 20
"""Characters of a sentence that only says that the one before was a joke."""
MAX_NAME = 60
"""Characters of a person's name in a fact."""
_HEDGED = re.compile(
    r"\A(?:\w+,\s+)?I\s+(?:just\s+|really\s+|also\s+|do\s+)?(?:think|guess|mean|see|know|hope"
    r"|wonder|suppose|feel like|appreciate|understand|agree|bet"
    r"|swear|promise|wish|would|could|can|might|may|should|am (?:sorry|asking|wondering|sure|good"
    r"|fine|ok|okay|back|here|done|curious)|was wondering|need (?:help|to ask)"
    r"|have (?:a|another|one|some) (?:\w+ )?questions?|said|told|asked|say|repeat|order|command"
    r"|instruct|authori[sz]e)\b",
    re.IGNORECASE,
)
_MARKUP = frozenset("<>{}|\\")
_NO_MORE = re.compile(r"\b(?:no longer|any ?more|stopped|quit|gave up|given up)\b", re.IGNORECASE)


def said_facts(messages: Sequence[Message]) -> list[SaidFact]:
    """Extract at most `MAX_FACTS` facts in the order they were said, without repeats.

    Facts of the table have priority over plain statements.
    """
    reading = _Reading()
    for number, message in enumerate(messages):
        if may_tell(message):
            reading.read(message, number, short_answer(messages, number))
        else:
            reading.before = message.content[-MOST_BEFORE:]
    # A sentence may run over a block of recalled memories, and then its quote is no
    # person's own words.
    proofs = Proofs(messages)
    facts = [*islice((fact for fact in reading.facts if _is_supported(fact, proofs)), MAX_FACTS)]
    return last_word_wins(sorted(facts, key=lambda fact: fact.message))


class _LastSentence(NamedTuple):
    """A sentence and the keys of its facts."""

    text: str
    certain: list[str]
    plain: list[str]


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

    """

    certain: dict[str, SaidFact] = field(default_factory=dict)
    plain: dict[str, SaidFact] = field(default_factory=dict)
    matches: dict[str, list[PatternMatch]] = field(default_factory=dict)
    broken_off: dict[str, str] = field(default_factory=dict)
    before: str = ""
    last: dict[str, _LastSentence] = field(default_factory=dict)

    @property
    def facts(self) -> list[SaidFact]:
        """Facts of the table before plain statements, each in the order they were said."""
        return [*self.certain.values(), *self.plain.values()]

    def read(self, message: Message, number: int, answer: ShortAnswer | None) -> None:
        """Read a message.

        number: Its place among the messages. answer: The short answer with which it begins.
        """
        name = speaker(message)
        begun = self.broken_off.pop(name, "") if goes_on(message.content) else ""
        before_it = ""
        for sentence in sentences_of_chat(own_words(message.content)):
            checkpoint()
            quote = message.content[sentence.start : sentence.end]
            if _LABELLED.match(sentence.text):
                continue
            if _JOKES.search(sentence.text):
                if len(sentence.text) <= MOST_OF_JOKE:
                    self._drop_last(name)
                continue
            if is_about_the_same_person(sentence.text, before_it):
                continue
            text = with_subject(written_out(without_shouting(sentence.text)))
            sentence = replace(sentence, text=text[:1].upper() + text[1:])
            if begun:
                for dots in ("…", "..."):
                    self.plain.pop((third_person(f"{begun}{dots}", name) or "").casefold(), None)
                sentence = replace(sentence, text=f"{begun} {without_dots(sentence.text)}")
            begun = ""
            if (
                answer is not None
                and sentence.start == answer.sentence.start
                and self._read_answer(answer.meant, sentence, name, number, quote)
            ):
                continue
            self.broken_off[name] = without_dots(sentence.text) if breaks_off(sentence.text) else ""
            sentence = self._corrected(sentence, name)
            after = message.content[sentence.end : sentence.end + MOST_AFTER]
            with_topic = japanese_facts.with_topic(sentence.text, before_it, after)
            before_it = sentence.text
            whole = completed(with_topic, self.before[-MOST_BEFORE:], after)
            counts = len(self.certain), len(self.plain)
            self._read_sentence(sentence, whole, with_topic, name, number, quote)
            self.before = f"{self.before[-MOST_BEFORE:]} {sentence.text}"
            self.last[name] = _LastSentence(
                sentence.text,
                *(
                    [*islice(reversed(facts), max(0, len(facts) - count))]
                    for facts, count in zip((self.certain, self.plain), counts, strict=True)
                ),
            )

    def _read_answer(
        self, meant: str, sentence: Sentence, name: str, number: int, quote: str
    ) -> bool:
        """Read the facts of slots in what a short answer means, if any."""
        abroad = list(_abroad(replace(sentence, text=meant), name))
        of_table = [fact_of_match(match, name) for match in self._matches(meant, name, abroad)]
        filling = [fact for fact in (*abroad, *of_table) if fact.attribute is not None]
        for fact in filling:
            self.certain.setdefault(
                f"{fact.text.casefold()} {fact.attribute}", _said_fact(fact, number, quote)
            )
        return bool(filling)

    def _corrected(self, sentence: Sentence, name: str) -> Sentence:
        """The last sentence with a correction put into it.

        The facts of the slip are dropped. A sentence that has facts of its own stays as it is.
        """
        last = self.last.get(name)
        if last is None:
            return sentence
        text = with_correction(last.text, sentence.text)
        if text is None or list(facts_of_table(sentence.text)):
            return sentence
        self._drop_last(name)
        return replace(sentence, text=text)

    def _drop_last(self, name: str) -> None:
        """Drop the facts of a speaker's last sentence."""
        last = self.last.get(name)
        if last is not None:
            for facts, keys in ((self.certain, last.certain), (self.plain, last.plain)):
                for key in keys:
                    facts.pop(key, None)

    def _read_sentence(
        self, sentence: Sentence, whole: str, with_topic: str, name: str, number: int, quote: str
    ) -> None:
        """Read the facts of a sentence.

        whole: The sentence with its topic and what else it leaves out.
        """
        abroad = list(_abroad(replace(sentence, text=whole), name))
        if whole != with_topic:
            own_text = f"{name}: {sentence.text.strip(' .!')}"
            abroad = [replace(fact, text=own_text) for fact in abroad]
        of_table = [fact_of_match(match, name) for match in self._matches(whole, name, abroad)]
        slotted = {fact.text for fact in of_table if fact.attribute}
        of_table = [fact for fact in of_table if fact.attribute or fact.text not in slotted]
        subjects = {fact.subject for fact in of_table}
        names_given = {fact.subject for fact in of_table if fact.attribute == "name"}
        pets = {(fact.attribute or "").casefold() for fact in (*of_table, *abroad)}
        named = list(_relatives(sentence.text, name))
        for relative, fact in named:
            is_pet = (fact.attribute or "").startswith(PET)
            is_told = fact.attribute == "name" and fact.subject in names_given
            if (
                not is_told
                and relative.name not in subjects
                and not (is_pet and fact.attribute in pets)
            ):
                # The rest of the sentence is another statement, which may tell of a change.
                words_of_it = relative.quote if relative.quote in quote else quote
                self.certain.setdefault(
                    f"{fact.text.casefold()} {fact.attribute}",
                    _said_fact(fact, number, words_of_it),
                )
        for fact in abroad:
            (self.certain if fact.attribute else self.plain).setdefault(
                f"{fact.text.casefold()} {fact.attribute}", _said_fact(fact, number, quote)
            )
        for fact in of_table:
            self.certain.setdefault(
                f"{fact.text.casefold()} {fact.attribute}", _said_fact(fact, number, quote)
            )
        stating = [fact for fact in (*of_table, *abroad) if not _only_implies(fact)]
        statement = None if abroad else _statement(sentence, name, [fact.text for fact in of_table])
        if not stating:
            statement = _in_own_words(sentence, name) or statement
            if statement is not None and statement.text in _namings(named, name):
                statement = None
        if statement is not None:
            statement = replace(statement, text=_naming(statement.text))
        stated = [] if statement is None else [statement]
        changed = _changing(sentence, name, [*stating, *stated])
        for plain_fact in (statement, changed):
            if plain_fact is not None:
                self.plain.setdefault(
                    plain_fact.text.casefold(), _said_fact(plain_fact, number, quote)
                )

    def _matches(self, text: str, name: str, abroad: Sequence[FoundFact]) -> list[PatternMatch]:
        """The table's matches in a sentence, which may correct the sentence before."""
        introduced = _HAS_AGE.search(text) is not None and any(
            match.row.attribute == "name" for match in self.matches.get(name, ())
        )
        matches = list(facts_of_table(without_company(text), introduced=introduced))
        if abroad:  # the table knows jobs of other languages: "ich bin Bäcker"
            known = {fact.attribute for fact in abroad} | {None}
            matches = [
                match
                for match in matches
                if match.row.shape is known_job and match.row.attribute not in known
            ]
        slip = put_right(text, self.matches.get(name, []))
        if slip is not None:
            wrong = fact_of_match(slip[0], name)
            self.certain.pop(f"{wrong.text.casefold()} {wrong.attribute}", None)
            matches = [slip[1]]
        self.matches[name] = matches
        likes, elsewhere = likes_in_sight(text), _COUNTED_ELSEWHERE.search(text) is not None
        return [
            *(
                match
                for match in matches
                if not _POINTS.search(match.groups["value"])
                and not (likes and match.row.attribute == fact_patterns.OPINION)
                and not is_pupil(match)
                and not (elsewhere and (match.row.attribute or "").startswith("number of"))
            ),
            *matches_of_new_persons(text),
        ]


_LABELLED = re.compile(r"\A(?:A|Answer|Antwort|答え?)[:：]\s")
"""Opens an answer of pasted questions and answers: "Q: Where do you live? A: I live in Ohio."."""
_JOKES = re.compile(
    r"(?<!not )(?<!no )\b(?:(?:just|only|I'm|I was) (?:kidding|joking)(?! aside)"
    r"|nur (?:ein )?(?:Spaß|Scherz)|kleiner Scherz)\b|\A(?:kidding|jk)\b(?! aside)"
    r"|\A(?:oh )?(?:sure|yeah,? right|yeah,? sure|ja,? klar|ja,? genau),? (?:and|und)"
    r" (?:I['’]?m|I am|ich bin) (?:the|der|die) "
    r"|冗談(?:です|だよ|だ)",
    re.IGNORECASE,
)


def _only_implies(fact: FoundFact) -> bool:
    return only_implies_pets(fact.attribute or "", fact.value or "")


def _is_supported(fact: SaidFact, proofs: Proofs) -> bool:
    return not says_nothing(fact) and proofs.prove(fact.quote, fact.message)


def _abroad(sentence: Sentence, speaker_name: str) -> Iterator[FoundFact]:
    """Facts of a German or Japanese sentence, each in its original words.

    What fills a slot is read without the people who are with the speaker, if there are any.
    """
    text = without_fillers(sentence.text)
    if not _MARKUP.isdisjoint(text):
        return
    alone = without_company(text)
    facts = list(_read_abroad(alone, sentence, speaker_name))
    if alone != text and all(fact.attribute is None for fact in facts):
        facts = list(_read_abroad(text, sentence, speaker_name))
    yield from facts


def _read_abroad(text: str, sentence: Sentence, speaker_name: str) -> Iterator[FoundFact]:
    if japanese_facts.is_japanese(text):
        clauses = japanese_facts.clauses(text, asks=sentence.asks)
        readings = read_clauses(clauses, japanese_facts.JAPANESE)
    elif german_facts.is_german(text):
        clauses = german_facts.clauses(with_owner(text), asks=sentence.asks)
        readings = read_clauses(clauses, german_facts.GERMAN)
    else:
        return
    owner = _owner(speaker_name)
    for reading in readings:
        text_of_fact = f"{speaker_name}: {reading.clause[:1].upper()}{reading.clause[1:]}"
        if (reading.attribute is None and is_of_the_moment(reading.clause)) or _POINTS.search(
            f"{reading.attribute or ''} {reading.value or ''}"
        ):
            continue
        if reading.attribute is None:
            yield FoundFact(text_of_fact, None, None, None, 0.6, lasting=True)
        else:
            yield FoundFact(
                text_of_fact,
                f"{owner}'s {reading.of}" if reading.related else reading.of or owner,
                reading.attribute,
                reading.value,
                0.9,
            )


def _relatives(text: str, speaker_name: str) -> Iterator[tuple[Relative, FoundFact]]:
    """The relatives whom a sentence names in passing, each with the fact about them."""
    if not _MARKUP.isdisjoint(text) or _TAKEN_OUT in text:
        return
    owner = _owner(speaker_name)
    for relative in relatives(text):
        kind, name = relative.kind, relative.name
        if not relative.is_english:
            fact_text = f"{speaker_name}: {kind[:1].upper()}{kind[1:]}{relative.joint}{name}"
        elif relative.is_only:
            fact_text = f"{speaker_name}'s {kind} is called {name}"
        else:
            fact_text = f"{speaker_name} has a {kind} called {name}"
        if relative.is_only:
            fact = FoundFact(fact_text, f"{owner}'s {kind.casefold()}", "name", name, 0.9)
        elif is_animal(kind):
            fact = FoundFact(fact_text, owner, f"{PET}{name}".casefold(), kind, 0.9)
        else:
            fact = FoundFact(fact_text, owner, f"{kind} {name}".casefold(), "yes", 0.9)
        yield relative, fact


def _namings(
    named: Iterable[tuple[Relative, FoundFact]], speaker_name: str
) -> frozenset[str | None]:
    """The statements that only name a relative: "User's wife Laura"."""
    quotes_of_all = {relative.quote for relative, _ in named}
    return frozenset(
        text
        for quote in quotes_of_all
        for text in (
            third_person(quote, speaker_name),
            f"{speaker_name}: {quote[:1].upper()}{quote[1:]}",
        )
    )


_NAMES_ONLY = re.compile(
    r"(?P<whose>[A-Z][\w -]{0,58}'s (?:[a-z-]{1,20} ){1,4})(?P<name>[A-ZÀ-Þ][\w'-]{1,30})"
    r"|(?P<name2>[A-ZÀ-Þ][\w'-]{1,30}), (?P<whose2>[A-Z][\w -]{0,58}'s (?:[a-z-]{1,20} ?){1,4})"
)


def _naming(text: str) -> str:
    """A person who is only named, as a statement: "Kat is User's friend"."""
    match = _NAMES_ONLY.fullmatch(text)
    if match is None:
        return text
    return f"{match['name'] or match['name2']} is {(match['whose'] or match['whose2']).strip()}"


def _owner(speaker_name: str) -> str:
    return speaker_name.lower() if speaker_name == "User" else speaker_name


_POINTS = re.compile(
    r"\b(?:you|your|yours|this|these|code|bugs?|paragraph|question|dein\w*|diese\w?|helden?"
    r"|hauptfigur)\b|\Aopinion of (?:es|das|ihn|sie|dies)\b|主人公|キャラ|それ|これ|あれ|この|その",
    re.IGNORECASE,
)
"""Words that can't be a slot's value: they point at a thing in sight."""


_HAS_AGE = re.compile(r"(?:\A|, )\d{1,3}(?=,|\.?\Z)")
"""An age in a list: "Electrician, 41, divorced"."""
_COUNTED_ELSEWHERE = re.compile(
    r"\b(?:in|at|for|of) (?:my|the|our) (?:class|classroom|office|school|work|nursery|kindergarten"
    r"|team|course|group|shelter|clinic|farm)\b|\bat work\b|\b(?:year|grade) \d\b",
    re.IGNORECASE,
)
"""Places where children and animals are counted that belong to no family.

An example is "30 kids in my class".
"""


def speaker(message: Message) -> str:
    """Name of a message's speaker, as facts have it.

    It is the actor's name if there is any, else that of the role: "User", "Assistant".
    """
    return beginning(" ".join((message.actor or "").split()), MAX_NAME) or message.role.capitalize()


def _said_fact(fact: FoundFact, number: int, quote: str) -> SaidFact:
    slot = _slot(fact)
    return fitted(
        SaidFact,
        text=fact.text,
        message=number,
        quote=quote,
        subject=slot[0],
        attribute=slot[1],
        value=slot[2],
        confidence=fact.confidence,
        lasting=fact.lasting,
    )


def _slot(fact: FoundFact) -> tuple[str, str, str] | tuple[None, None, None]:
    """Subject, attribute and value of a fact.

    All are None if a part is missing or too long, because a cut name or value would be another name
    or value.
    """
    if fact.subject is None or fact.attribute is None or fact.value is None:
        return None, None, None
    for name, text, limit in (
        ("subject", fact.subject, MAX_TERM),
        ("attribute", fact.attribute, MAX_TERM),
        ("value", fact.value, MAX_VALUE),
    ):
        if len(text) > limit:
            count_cut(name)
            return None, None, None
    return fact.subject, fact.attribute, fact.value


def _statement(
    sentence: Sentence, speaker_name: str, fact_texts: Iterable[str]
) -> FoundFact | None:
    """A plain statement in the third person.

    None if the facts of the table say as much, or if the sentence states no fact.
    """
    text = without_fillers(sentence.text)
    if (
        sentence.asks
        or not _MARKUP.isdisjoint(text)
        or _HEDGED.match(re.sub(r"^i\b", "I", text))
        or not (clauses := asserted_clauses(text))
        or quotes(clauses[-1])
        or not 4 <= len(text.split()) <= 40
    ):
        return None
    if is_negated(text.replace("n't", " not").replace("n’t", " not")) and not _NO_MORE.search(text):
        return None
    rewritten = third_person(text, speaker_name)
    if rewritten is None:
        return None
    terms, known = (
        set(terms_of(word for word in words(text) if word not in QUERY_WORDS)),
        {term for fact_text in fact_texts for term in tokens(fact_text)},
    )
    new = terms - known - _THIN
    return (
        FoundFact(rewritten, None, None, None, 0.5)
        if len(new) >= (1 if known else 2) and len(terms - _THIN) >= 2
        else None
    )


def _in_own_words(sentence: Sentence, speaker_name: str) -> FoundFact | None:
    """The lasting part of a sentence, in the words in which it was said.

    None if the sentence supposes, quotes, or is no talk.
    """
    text = without_fillers(sentence.text).strip()
    if not _MARKUP.isdisjoint(text) or _TAKEN_OUT in text or likes_in_sight(text):
        return None
    lasting = lasting_words(text, asks=sentence.asks)
    if lasting is None:
        return None
    fact_text = (
        third_person(lasting, speaker_name) or f"{speaker_name}: {lasting[:1].upper()}{lasting[1:]}"
    )
    return FoundFact(fact_text, None, None, None, 0.6, lasting=True)


def _changing(
    sentence: Sentence, speaker_name: str, facts: Sequence[FoundFact]
) -> FoundFact | None:
    """A sentence that may say that an earlier statement is over or has changed.

    None if a fact of the sentence says so already.
    """
    text = without_fillers(sentence.text).strip()
    if not _MARKUP.isdisjoint(text) or _TAKEN_OUT in text:
        return None
    if not tells_change(text, is_own=True) and tells_change(sentence.text, is_own=True):
        text = sentence.text.strip()  # a "no" that corrects is no filler
    if (
        not tells_change(text, is_own=True)
        or any(tells_change(fact.text) for fact in facts)
        or not _MARKUP.isdisjoint(text)
        or _TAKEN_OUT in text
    ):
        return None
    rewritten = (
        None
        if japanese_facts.is_japanese(text) or german_facts.is_german(text)
        else third_person(text, speaker_name)
    )
    if rewritten is not None and not tells_change(rewritten):
        rewritten = None  # "I meant" corrects, "Ben meant" does not
    return FoundFact(
        rewritten or f"{speaker_name}: {text[:1].upper()}{text[1:]}", None, None, None, 0.5
    )


_TAKEN_OUT = "   "
"""Placeholder for words of other people."""
_THIN = frozenset(
    tokens(
        "favorite favourite"
        " just also really live living today well work love like hate dislike enjoy adore name "
        "called had have been im now very way btw course obviously honestly unfortunately "
        "sadly guess"
    )
)
"""Terms that make no statement worth keeping by themselves."""
