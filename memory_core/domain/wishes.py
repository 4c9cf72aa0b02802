"""What a person asks of the memory itself in a message: a standing instruction, the end of one, or to forget something.

Read from single sentences of a user's own words, in English, German and Japanese. What a reader would get wrong: these words are mostly
said of other things ("I forgot my keys", "delete the temp files", "never mind"). So a request to forget has to say what, and that it was
told or is known; an instruction has to be addressed to the assistant and to say that it stands, or to forbid something in what it answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from memory_core.domain.conversation import Message
from memory_core.domain.own_words import own_words
from memory_core.domain.sentences import sentences
from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.wish_patterns import (
    ABOUT,
    ALL_ABOUT,
    ERASE,
    FORBIDS,
    FORGET,
    FROM_MEMORY,
    GERMAN_MEMORY,
    GERMAN_SAID,
    GERMAN_TOLD,
    GOES_ON,
    GONE,
    HOUSEHOLD,
    IS_TOLD,
    JA_ASKS,
    JA_FORGET,
    JA_INSTRUCTION_VERBS,
    JA_MEMORY,
    JA_NOT,
    JA_ONE_OFF,
    JA_REMOVE,
    JA_STANDING,
    JA_TELLING,
    JA_TOPIC_END,
    JA_TOPIC_LEAD,
    JA_WITHDRAWS,
    LAST,
    MAY_FORGET,
    NAMED,
    NO_MORE,
    NO_VERBS,
    NOT_ASKED,
    NOT_FORGET,
    NOT_KEPT,
    NOTHING,
    OF_LIFE,
    ONE_OFF,
    OPENING,
    PERSONAL,
    POINTS,
    PREFERS,
    PRETEND,
    REMOVE,
    SCRATCHED,
    SOMETHING_OF_MINE,
    STANDING,
    STARTS,
    TELLING,
    THAT_THING,
    THINGS,
    TO_GO,
    TOLD,
    TOPIC_FIRST,
    WANTS,
    WHAT_ABOUT,
    WITHDRAWS,
    WITHOUT,
)
from memory_core.domain.wish_words import GENERAL_WORDS

Kind = Literal["instruction", "withdrawal", "forget"]
Surety = Literal["sure", "asks"]
"""Of a request to forget: it may be acted upon, or it is asked back."""
MAX_SENTENCE = 400
"""Characters of a sentence that is read; a longer one is no wish."""
MAX_WISHES = 20
MAX_POINTING = 40
"""Characters of a Japanese request that only points."""
REQUESTED = "(The memory was asked to forget something.)"
"""Stands in the place of a request to forget, in what is formed of its message."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One wish.

    message: its number. text: the sentence, of a preference the clause, as it was said. about: what is to be forgotten; "" for what was
    said just before. start, end: where it stands. instructs: whether a withdrawal that lifts nothing is an instruction by itself, as "stop
    using emojis" is. surety: how
    surely a request to forget is one.
    """

    kind: Kind
    message: int
    text: str
    start: int
    end: int
    about: str = ""
    instructs: bool = False
    surety: Surety = "sure"


def said_wishes(messages: Sequence[Message]) -> list[Wish]:
    """The wishes in what users themselves say, in order."""
    found: list[Wish] = []
    for number, message in enumerate(messages):
        if message.role != "user":
            continue
        before = ""
        for sentence in sentences(own_words(message.content)):
            text, previous = " ".join(sentence.text.split()), before
            before = text
            if 0 < len(text) <= MAX_SENTENCE and (read := _read(text, previous)) is not None:
                kind, said, about, surety = read
                instructs = kind == "withdrawal" and _instructs(_plain(text))
                found.append(Wish(kind, number, said, sentence.start, sentence.end, about, instructs, surety))
    return found[:MAX_WISHES]


def without_requests(messages: Sequence[Message], wishes: Sequence[Wish]) -> list[Message]:
    """The messages without requests to forget, and without what else in the same message has the words that these name."""
    kept = list(messages)
    for number in {one.message for one in wishes if one.kind == "forget"}:
        asked = [one for one in wishes if one.message == number and one.kind == "forget"]
        named = frozenset(word for one in asked for word in _telling_words(one.about))
        content = messages[number].content
        gone = [(one.start, one.end) for one in asked]
        gone += [(one.start, one.end) for one in sentences(content) if not named.isdisjoint(_telling_words(one.text))]
        for start, end in sorted(set(gone), reverse=True):
            content = content[:start] + REQUESTED + content[end:]
        kept[number] = messages[number].model_copy(update={"content": content})
    return kept


def _telling_words(text: str) -> frozenset[str]:
    """The longer words of a text, and of Japanese its pairs of letters that are no mere endings."""
    plain = text.casefold()
    if _has_japanese(plain):
        return frozenset(pair for pair in map("".join, pairwise(plain)) if re.fullmatch(r"[\u30a0-\u30ff\u4e00-\u9fff]{2}", pair))
    return frozenset(word for word in re.findall(r"[^\W\d_]{4,}", plain) if word not in GENERAL_WORDS | QUERY_WORDS | FUNCTION_WORDS)


def only_requests(message: Message) -> bool:
    """Whether nothing but requests to forget is left of a message, as `without_requests` gives it."""
    return not message.content.replace(REQUESTED, "").strip(" .,;:!?-")


def _read(text: str, before: str = "") -> tuple[Kind, str, str, Surety] | None:
    """What a sentence wishes, in which words of it, what is to be forgotten, and how surely.

    before: the sentence before it in the message.
    """
    plain = _plain(text)
    if (about := _to_forget(plain)) is not None or (about := _pointed_at(plain, _plain(before))) is not None:
        return "forget", text, about, "sure"
    if _ends_instruction(plain):
        return "withdrawal", text, "", "sure"
    if _instructs(plain):
        return "instruction", text, "", "sure"
    if (about := _perhaps_to_forget(plain.casefold(), _plain(before).casefold())) is not None:
        return "forget", text, about, "asks"
    match = PREFERS.search(plain)
    return None if match is None else ("instruction", _cut(match.group()), "", "sure")


def _perhaps_to_forget(said: str, before: str) -> str | None:
    """What a sentence may want forgotten that has the words for it, and speaks of what was told."""
    asks = said.endswith("?") and not _said(said)[0].strip()
    if asks or MAY_FORGET.search(said) is None or NOT_ASKED.search(said) or THINGS.search(said):
        return None
    told = IS_TOLD.search(said) is not None
    if not told and TELLING.search(before) is None:
        return None
    named = WHAT_ABOUT.search(said) or WHAT_ABOUT.search(before)
    return _clean(named["topic"] if named else said if told else before)


def _plain(text: str) -> str:
    return text.replace("’", "'").strip(" \t\"'“”„«»")


def _cut(clause: str) -> str:
    """A preference without what follows from it."""
    return GOES_ON.split(clause, maxsplit=1)[0].strip()


def _said(text: str) -> tuple[str, str]:
    """The words that open a request, and the request itself, lower-case: "please always", "use metric units"."""
    match = OPENING.match(text)
    end = match.end() if match else 0
    return text[:end].casefold(), text[end:].casefold()


def _to_forget(text: str) -> str | None:
    """What is to be forgotten, in the words of the request; "" for what was said just before; None where nothing is."""
    if _has_japanese(text):
        return _to_forget_in_japanese(text)
    if (named := NAMED.search(text)) is not None:
        return named["topic"].casefold()
    opening, said = _said(text)
    said = said.rstrip(" .!?…")
    for pattern in (PRETEND, NOT_KEPT, SCRATCHED, GONE):
        if (match := pattern.match(said)) is not None:
            return _clean(match["topic"])
    if opening.rstrip().endswith(("remember to", "remember", "make sure to", "be sure to", "try to", "you can", "you may", "you should")):
        return None
    if (match := FORGET.match(said)) is not None:
        rest, direct = said[match.end() :], True
    elif POINTS.match(said):
        return None
    elif (match := ERASE.match(said)) is not None and not THINGS.search(said):
        return _topic(said[match.end() :], direct=False) or _erased(said[match.end() :])
    elif (match := REMOVE.match(said)) is not None:
        rest, direct = said[match.end() :], False
    elif opening and (found := re.search(r"(?:löschen|vergessen|entfernen|streichen|vergisst|löschst|entfernst|streichst)\Z", said)):
        rest, direct = said[: found.start()].rstrip(), found.group().startswith("verg")
    else:
        return None
    if NOT_FORGET.match(rest):
        return None
    if LAST.match(rest):
        return ""
    return _topic(rest, direct=direct)


def _pointed_at(text: str, before: str) -> str | None:
    """What a request means that only points: "Can you remove it from your memory?" after a sentence about the address."""
    if _has_japanese(text):
        points = (JA_FORGET.search(text) or JA_REMOVE.search(text)) and not JA_NOT.search(text) and len(text) <= MAX_POINTING
        return before if points and before and (JA_TELLING.search(before) or JA_MEMORY.search(text)) else None
    opening, said = _said(text)
    if (match := TOPIC_FIRST.match(said) or TO_GO.match(said)) is not None:
        return _clean(match["topic"])
    match = POINTS.match(said.rstrip(" .!?…"))
    if match is None:
        return None
    told = before if TELLING.search(before.casefold()) or match["memory"] or (opening.strip() and match["strong"]) else ""
    if not told and TELLING.search(opening):
        told = opening
    named = THAT_THING.search(told.casefold())
    return _clean(named["topic"] if named else told.casefold()) if told else None


def _topic(rest: str, *, direct: bool) -> str | None:
    """What the words after "forget" (direct) or "delete" name; None where they name nothing that was told."""
    if (match := TOLD.match(rest)) is not None:
        about = ABOUT.match(rest[match.end() :])
        named = rest[match.end() + about.end() :] if about else ""
        return _clean(named) if named else None
    if (match := ALL_ABOUT.match(rest)) is not None:
        return None if not direct and THINGS.search(rest) and not FROM_MEMORY.search(rest) else _clean(rest[match.end() :])
    if (match := GERMAN_TOLD.match(rest)) is not None:
        body = GERMAN_SAID.sub("", rest[match.end() :])
        about = ABOUT.match(body) or re.match(r"\A(?:mit|bei) ", body)
        if about:
            return _clean(body[about.end() :])
        if match.group().strip() not in ("das", "was") and not about:
            return None
    in_memory = FROM_MEMORY.search(rest) or GERMAN_MEMORY.search(rest)
    if not direct and in_memory is None:
        return _clean(re.split(r"[,;:]\s", rest, maxsplit=1)[0]) if PERSONAL.match(rest) else None
    if THINGS.search(rest) and in_memory is None:
        return None
    if in_memory is not None:
        rest = (rest[: in_memory.start()] + " " + rest[in_memory.end() :]).strip()
    if direct and in_memory is None and not SOMETHING_OF_MINE.match(rest):
        return None
    return _clean(rest)


def _erased(rest: str) -> str | None:
    """What is to be erased, where that is something of somebody's life: "the debt to Pete", "my salary"."""
    return _clean(rest) if OF_LIFE.match(rest) else None


def _clean(words: str) -> str | None:
    """A topic without the words around it; None where nothing is left of it."""
    plain = re.sub(
        r"\A(?:(?:the fact )?that |about |dass |das mit |die sache mit |the thing about |all of |all )", "", words.strip(" ,.;:!?\"'")
    )
    plain = re.sub(
        r"(?:,? (?:please|bitte|ok(?:ay)?|thanks|thank you|danke|again|wieder|from your memory|aus deinem gedächtnis|completely|entirely"
        r"|for good|i told you(?: about)?|i mentioned|i said|right away|immediately|now|would you|will you)\b){1,4}\Z",
        "",
        plain,
    ).strip(" ,.;:!?\"'")
    return plain if plain and any(word not in NOTHING for word in plain.split()) else None


def _has_japanese(text: str) -> bool:
    return re.search(r"[\u3040-\u30ff]", text) is not None


def _to_forget_in_japanese(text: str) -> str | None:
    if JA_NOT.search(text):
        return None
    match = JA_FORGET.search(text) or JA_REMOVE.search(text)
    if match is None or not JA_MEMORY.search(text[: match.start()]):
        return None
    before = text[: match.start()]
    topic = JA_TOPIC_LEAD.sub("", before)
    end = JA_TOPIC_END.search(topic)
    topic = topic[: end.start()] if end else topic
    return topic.strip("、。 をはも") or ("" if "さっき" in before or "今の" in before else None)


def _instructs(text: str) -> bool:
    """Whether a sentence tells the assistant what to do or to leave from now on."""
    if _has_japanese(text):
        asks = JA_ASKS.search(text) is not None and JA_INSTRUCTION_VERBS.search(text) is not None
        return asks and JA_STANDING.search(text) is not None and JA_ONE_OFF.search(text) is None and "忘れ" not in text
    opening, said = _said(text)
    asks = text.rstrip().endswith("?")
    if (asks and not opening.strip()) or HOUSEHOLD.match(said):
        return False
    first_clause = re.split(r"[,;:–]\s", said, maxsplit=1)[0]
    if ONE_OFF.search(first_clause if len(first_clause.split()) > 2 else said):
        return False
    if NO_MORE.match(said) or WITHOUT.match(text.casefold()):
        return True
    words = said.split(maxsplit=2)
    first = words[0].strip(",.:!") if words else ""
    if first in ("always", "never", "immer", "nie", "niemals") and len(words) > 1:
        second = words[1].strip(",.:!")
        return second in STARTS or (
            first in ("always", "never") and second.isalpha() and not second.endswith(("ing", "ed")) and second not in NO_VERBS
        )
    if FORBIDS.match(said):
        return True
    if first not in STARTS:
        return bool(WANTS.match(text.casefold()))
    return STANDING.search(opening + said) is not None


def _ends_instruction(text: str) -> bool:
    """Whether a sentence may lift an instruction; which one, only those that stand can tell."""
    if _has_japanese(text):
        return JA_WITHDRAWS.search(text) is not None
    return not text.rstrip().endswith("?") and WITHDRAWS.search(text.casefold()) is not None
