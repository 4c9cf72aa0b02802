"""Messages split into sentences for `changes`, with the signs of a change.

A message is read once and kept, since the same messages are compared again and again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, starmap

from memory_core.domain.statements.appointment_words import OWN_MISTAKE
from memory_core.domain.statements.change_clauses import keys_of
from memory_core.domain.statements.change_phrases import OF_STORY
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.change_topics import MATTERS
from memory_core.domain.statements.own_words import own_words
from memory_core.domain.statements.said_things import SELF
from memory_core.domain.text.prefilter import may_match
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.spelling import plain_digits
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.text.unicode_forms import normal_form

MOST_CHARACTERS = 4_000
"""Characters of a message that are read."""
MOST_SENTENCES = 24
_AFTER_NUMBER = re.compile(
    r"(?<=\d\.)\s(?=(?:should|what|how|is|are|can|could|do|does|any|i|we|it|my|our|the|please)\b)",
    re.IGNORECASE,
)
_SPEAKER = "User"
"""The name of speakers without a name in memories that are formed of their words."""
_TOLD_BY = f"{_SPEAKER}: "
"""The beginning of a fact that is kept in the words in which it was said."""


@dataclass(frozen=True)
class SpeakerMessage:
    """A message, reduced to its speaker's own words.

    Attributes:
        text: Case-folded, with single spaces.
        sentences: At most `MOST_SENTENCES`.

    """

    text: str
    sentences: tuple[SaidSentence, ...]

    @cached_property
    def changing(self) -> tuple[SaidSentence, ...]:
        """The sentences with a word for a change."""
        return tuple(sentence for sentence in self.of_today if sentence.changes)

    @cached_property
    def of_today(self) -> tuple[SaidSentence, ...]:
        """The sentences that retell no film and no former time.

        After a sentence that does so, these are the sentences without a term of it; after a film
        they name the speaker, too: in "I watched a film. Rex died" it may be the film's dog.
        """
        retold, after_story = set[str](), False
        present = []
        for sentence in self.sentences:
            after_story = after_story or OF_STORY.search(sentence.text) is not None
            if not sentence.is_of_today:
                retold |= sentence.terms
            elif sentence.terms.isdisjoint(retold) and not (
                after_story and not _names_self(sentence)
            ):
                present.append(sentence)
        return tuple(present)

    @cached_property
    def tells_change(self) -> bool:
        """Whether any part of it might change an earlier statement."""
        return bool(self.changing or self.changed)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words.

        Two messages without a key in common are about different things.
        """
        return keys_of(frozenset(term for sentence in self.sentences for term in sentence.terms))

    @cached_property
    def matters(self) -> frozenset[int]:
        """The places in `MATTERS` that it is about."""
        text = " ".join(sentence.text for sentence in self.sentences)
        lower = text.lower()
        return frozenset(
            place
            for place, matter in enumerate(MATTERS)
            if may_match(matter.holds, lower) and matter.holds.search(text) is not None
        )

    @cached_property
    def changed(self) -> frozenset[int]:
        """The places in `MATTERS` in which it tells a change."""
        text = " ".join(sentence.text for sentence in self.of_today)
        lower = text.lower()
        places = [
            place
            for place, matter in enumerate(MATTERS)
            if may_match(matter.changes, lower) and matter.changes.search(text) is not None
        ]
        if not places:
            return frozenset()
        stated = " ".join(sentence.text for sentence in self.of_today if not sentence.asks)
        return frozenset(place for place in places if MATTERS[place].changes.search(stated))

    @cached_property
    def valued(self) -> tuple[SaidSentence, ...]:
        """The sentences with a time or a number."""
        return tuple(sentence for sentence in self.sentences if sentence.values)

    @property
    def numbered(self) -> bool:
        """Whether it tells any time or number."""
        return bool(self.valued)

    def before(self, sentence: SaidSentence) -> frozenset[str]:
        """The terms of the sentence before."""
        place = self.sentences.index(sentence)
        return self.sentences[place - 1].terms if place else frozenset()

    def around(self, sentence: SaidSentence) -> frozenset[str]:
        """The terms of a sentence and of the sentence after it."""
        place = self.sentences.index(sentence)
        return frozenset(
            term for sentence in self.sentences[place : place + 2] for term in sentence.terms
        )


def _names_self(sentence: SaidSentence) -> bool:
    """Whether a sentence tells of its speaker, or of a thing of theirs."""
    named = sentence.named
    return any(subject.person == SELF for subject in named.subjects) or any(
        thing.owner == SELF for thing in named.things
    )


def tells_change(text: str, *, is_own: bool = False) -> bool:
    """Whether a message says by itself that something is over, moved, or different.

    The word "now" alone is not enough.

    Args:
        text: The message.
        is_own: Whether the text contains the speaker's own words only.

    """
    message = read(text, is_own=is_own)
    return any(says_changed(sentence) for sentence in message.changing) or bool(message.changed)


def says_changed(sentence: SaidSentence) -> bool:
    """Whether a sentence with a word for a change says that something changed."""
    if sentence.asks and not sentence.corrects:
        return False
    valued = bool(sentence.values) and (sentence.moves or sentence.new)
    return (
        any(sentence.ended)
        or valued
        or sentence.switched is not None
        or sentence.corrects
        or bool(sentence.present_clauses)
        or sentence.changes_what
        or sentence.begins_again
        or sentence.ceases
        or sentence.new_holder is not None
        or sentence.takes_over
        or sentence.gets
    )


def is_about(text: str, name: str) -> bool:
    """Whether a text begins with this name, as memories of a named speaker's words do.

    Args:
        text: The text.
        name: The name; case does not count.

    """
    end = len(name)
    return (
        bool(name)
        and text[:end].casefold() == name.casefold()
        and not text[end : end + 1].isalnum()
    )


def as_users(text: str, name: str) -> str:
    """The text about a named speaker as it is of a speaker without a name.

    "Tom has a car" becomes "User has a car", which is read as about the speaker.

    Args:
        text: The text.
        name: The speaker's name as the text has it, "" for none.

    """
    return text.replace(name, _SPEAKER, 1) if name else text


def as_named(text: str, name: str) -> str:
    """The text as it was before `as_users`.

    Args:
        text: The text, or a sentence of it.
        name: The speaker's name, "" for none.

    """
    return text.replace(_SPEAKER, name, 1) if name else text


@keep_texts(2_048)
def read(text: str, *, is_own: bool = False) -> SpeakerMessage:
    """Split a message into sentences and read them.

    Args:
        text: The message.
        is_own: Whether the text contains the speaker's own words only.

    """
    # else it looks like a pasted conversation
    read_text = text[:MOST_CHARACTERS].removeprefix(_TOLD_BY)
    plain = normal_form(
        "NFKC", plain_digits(read_text if is_own else own_words(read_text, is_story=True))
    ).replace("’", "'")
    return SpeakerMessage(
        " ".join(plain.casefold().split()),
        tuple(
            starmap(_read_sentence, _with_their_things(islice(_sentences(plain), MOST_SENTENCES)))
        ),
    )


@keep_texts(8_192)
def _read_sentence(text: str, ends_asking: bool, after_mistake: bool) -> SaidSentence:
    """Read a sentence once.

    The same sentence is in a message and in the message's excerpts, which differ for each question.
    """
    return SaidSentence(text, ends_asking, after_mistake)


_OF_THING_BEFORE = re.compile(
    r"\W{0,9}(?:(?:now|already|only|jetzt|schon|nur noch) )?"
    r"(?:down|up|runter|rauf|hoch) (?:to|auf) \d"
    r"|\W{0,9}(?:it|they|she|he|er|sie|es)(?:'s|'re)? (?:\w{1,12} ){0,3}\d",
    re.IGNORECASE,
)
"""A sentence that tells no thing of its number: "Repacked the suitcase. It's 22 kg now"."""


def _with_their_things(parts: Iterable[tuple[str, bool, bool]]) -> list[tuple[str, bool, bool]]:
    """Sentences, of which one without a thing goes with the sentence before."""
    joined: list[tuple[str, bool, bool]] = []
    for text, asks, after_mistake in parts:
        if joined and _OF_THING_BEFORE.match(text) is not None:
            before, _, after_mistake = joined.pop()
            joined.append((f"{before} {text}", asks, after_mistake))
        else:
            joined.append((text, asks, after_mistake))
    return joined


def _sentences(text: str) -> Iterator[tuple[str, bool, bool]]:
    """The sentences of a text, with whether each asks, and follows an admitted mistake.

    A sentence is also cut after a number at its end, which looks like a day's or a list item's
    number.
    """
    after_mistake = False
    for sentence in sentences(text):
        *before, last = _AFTER_NUMBER.split(sentence.text)
        yield from ((part, False, after_mistake) for part in before)
        yield last, sentence.asks, after_mistake
        after_mistake = OWN_MISTAKE.match(sentence.text) is not None
