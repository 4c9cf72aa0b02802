"""What a message states of its speaker, durably, beside its facts.

    "I'm Nora, I teach chemistry."   formed: "User is called Nora"
    beside this fact                 "I teach chemistry."

A message without a fact is kept whole. A clause that tells a fact is left out, whether the fact
still holds or not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from memory_core.domain.conversation import Message
from memory_core.domain.memory import Memory
from memory_core.domain.statements.durability import durability
from memory_core.domain.statements.first_person import names_speaker
from memory_core.domain.statements.own_words import own_sentences
from memory_core.domain.statements.pasted_text import is_text_to_work_on
from memory_core.domain.statements.wishes import said_wishes
from memory_core.domain.text.analyzer import has_japanese, tokens
from memory_core.domain.text.prefilter import ascii_words
from memory_core.domain.text.sentences import sentences

MOST_CHARACTERS = 260
"""Characters of a message that states something by itself, at most."""
SURELY_DURABLE = 0.8
"""The probability that a sentence of a message must have.

Of sentences of authors whose own the model has not seen, 62 to 100 % that reach it are durable.
"""
TELLS_FACT = 0.5
"""The share of its words that a clause has of a fact that it tells, or the fact of the clause."""
_CLAUSES = re.compile(
    r"[,;、，]\s?(?:(?:and|but|und|aber)\s)?|\s(?:and|but|und|aber)\s", re.IGNORECASE
)
_USER = frozenset(tokens("User's"))
_SUPPOSES = re.compile(
    r"\b(?:if|suppose|imagine|wenn|falls)\b[^.!?]{0,200}?"
    r"(?:['’]d|\b(?:would|could|might|würden?|wär\w{0,2}|hätten?|könnten?))\b|もし",
    re.IGNORECASE,
)
"""What is said of another world: "If I lived in Tokyo I'd …", not "If I eat nuts my throat …"."""
_OBJECT = re.compile(r"(?:mein|unser)e[mnr]\b", re.IGNORECASE)
"""The beginning of a clause that is the end of another: "… und unseren Kindern in Kassel"."""


def states_something_durable(message: Memory) -> bool:
    """Whether a message of a user is about the user, and surely durable.

    Not so a message that asks, wishes, supposes or has a text to work on, nor one of a day or an
    hour; words that it quotes do not count. A Japanese sentence about its speaker need not name
    them.
    """
    content, lexical = message.content, message.lexical
    return (
        len(content) <= MOST_CHARACTERS
        and not (lexical.asks or lexical.tells_time)
        and (bool(lexical.says_i) or has_japanese(content))
        and not is_text_to_work_on(content)
        and any(map(_is_durable, (sentence.text for sentence in own_sentences(content))))
        and all(
            wish.surety == "perhaps"
            for wish in said_wishes(
                [Message(role="user", content=content, timestamp=message.event_timestamp)]
            )
        )
    )


def stated_beside_facts(messages: Iterable[Memory], cells: Mapping[str, Memory]) -> list[Memory]:
    """Messages with only what they state beside their facts; none that states nothing.

    Args:
        messages: Messages that state something durable.
        cells: The cells of the messages, by id. Their `atomic_facts` name the facts of a message;
            what another message says in the same words was formed of the first.

    """
    stated = list[Memory]()
    for message in messages:
        cell = cells.get(message.cell_id or "")
        number, words = message.metadata.get("message"), frozenset(tokens(message.content))
        facts = [
            fact_words
            for fact in (() if cell is None else cell.atomic_facts)
            if (fact_words := frozenset(tokens(fact.text)) - _USER)
            and fact.fact_id is not None
            and (fact.message == number or fact_words <= words)
        ]
        if text := _beside(message.content, facts):
            stated.append(message.changed(content=text))
    return stated


def _beside(content: str, facts: Collection[frozenset[str]]) -> str:
    """The durable clauses of a message about its speaker that tell none of its facts.

    Args:
        content: Of the message. It is returned whole if there is no fact.
        facts: The words of each fact.

    """
    if not facts:
        return content
    rest = list[str]()
    for sentence in sentences(content):
        clauses = [clause for clause in _CLAUSES.split(sentence.text) if clause.strip(" .!")]
        left = [clause for clause in clauses if not _tells(clause, facts)]
        rest += [sentence.text] if len(left) == len(clauses) else left
    return " ".join(
        part[:1].upper() + part[1:]
        for part in rest
        if _is_durable(part) and (names_speaker(part, ascii_words(part)) or has_japanese(part))
    )


def _is_durable(part: str) -> bool:
    """Whether a sentence or clause surely states something durable, and supposes nothing."""
    return (
        durability(part) >= SURELY_DURABLE
        and _SUPPOSES.search(part) is None
        and _OBJECT.match(part) is None
    )


def _tells(clause: str, facts: Iterable[frozenset[str]]) -> bool:
    """Whether a clause tells one of these facts, or has no word of its own."""
    words = frozenset(tokens(clause))
    return not words or any(
        len(words & fact) >= TELLS_FACT * min(len(words), len(fact)) for fact in facts if fact
    )
