"""A speaker's name, own words, and the sentences of these.

"He wrote: 'I live in Oslo'" doesn't tell where the speaker lives, and a memory that was put into a
prompt must not be learnt from it again. Note: the result is as long as the text, character for
character, with blanks in the place of words that are not the speaker's own. So a place found in the
result is a place in the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_core.domain.conversation import Message
from memory_core.domain.note import FOOTER, HEADINGS
from memory_core.domain.statements.document_layout import with_blanks
from memory_core.domain.statements.pasted_text import without_pasted
from memory_core.domain.text.dictation import spoken_sentences
from memory_core.domain.text.prefilter import may_match
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.domain.text.shortening import beginning
from memory_core.domain.text.text_cache import keep_texts

_RECALLED_NAMES = (
    r"(?:relevant|retrieved|recalled|stored|past|long[-_ ]?term)?[-_ ]?(?:memory|memories|context"
    r"|facts)(?:[-_ ]?(?:block|context))?|system(?:[-_ ]?(?:prompt|reminder|message))?"
    r"|instructions?|background|knowledge|documents?|tool[-_ ]?(?:result|output)s?|examples?"
)
_TAGGED = re.compile(
    rf"<(?P<tag>{_RECALLED_NAMES})\b[^<>]*>.*?(?:</(?P=tag)\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_HEADED = re.compile(
    r"^[ \t#*>\[]*(?:(?:relevant|retrieved|recalled|stored|known|previous|past|long[- ]term|saved"
    r"|user'?s?)[ \t]+){1,3}"
    r"(?:memor(?:y|ies)|context|facts|knowledge"
    r"|notes)\b[^\n.]{0,60}[:\]*]*[ \t]*\n(?:[ \t]*\S[^\n]*(?:\n|\Z))+"
    r"|^[^\n]{0,80}\b(?:what (?:you|i) (?:remember|know)|you remember(?: the following)?"
    r"|system prompt)\b[^\n.]{0,40}:[ \t]*\n"
    r"(?:[ \t]*\S[^\n]*(?:\n|\Z))+",
    re.IGNORECASE | re.MULTILINE,
)
_NOTE = re.compile(
    rf"^[ \t]*(?:{'|'.join(map(re.escape, HEADINGS))})[ \t]*(?:\n[ \t]*\S[^\n]*)*"
    rf"|^[ \t]*{re.escape(FOOTER)}[ \t]*\n[ \t]*(?:Tags|Keywords|Content depth"
    r"|Follow-up areas):[^\n]*",
    re.MULTILINE,
)
"""The parts of a note as `note` renders it: a pasted note tells no news."""
_NAMING_IDS = re.compile(r"^[^\n]*\b(?:mem|cnv|evt|scn)_[0-9a-f]{6,}[^\n]*$", re.MULTILINE)
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_SPEAKERS = (
    "system|assistant|human|user|ai|ki|bot|chatbot|chatgpt|gpt|claude|gemini|copilot|アシスタント"
)
_ROLES = (
    r"customer|client|agent|support(?: agent)?|caller|operator|representative|patient|doctor"
    r"|interviewer|interviewee|candidate|applicant|seller|buyer|guest|host|moderator"
    r"|speaker \w{1,10}|kunde|kundin|berater(?:in)?|mitarbeiter(?:in)?|お客様|担当者|質問者|回答者"
)
_OWN_TOPIC = re.compile(
    rf"(?P<role>{_ROLES})[ \t]*: (?:I|we|my|our|ich|wir|mein\w{{0,2}}|unser\w{{0,2}})\b"
    r"[^\n]{1,200}?\b(?P=role)\b[^\n]{0,200}\Z",
    re.IGNORECASE,
)
"""A line that a role opens, but speaks of: "Support: I work in support". No role says its name."""
_LINES = re.compile(
    r"^[ \t]*>[^\n]*"  # quoted mail
    r"|^[ \t]*[{}\[][^\n]*[{}\],:\"][ \t]*$"  # JSON
    r"|^[ \t]*\"[\w $-]+\"[ \t]*:[^\n]*$"
    # a pasted conversation
    rf"|^[ \t]*(?:{_SPEAKERS}|{_ROLES})[ \t]*[:：][^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TURN = re.compile(
    rf"^[ \t]*(?P<role>{_SPEAKERS}|{_ROLES})[ \t]*[:：][^\n]*$", re.IGNORECASE | re.MULTILINE
)
"""A line with which a turn of a pasted conversation begins."""
_TIMED_TURN = re.compile(
    r"^[ \t]*\[?\d\d:\d\d:\d\d\]?[ \t]{1,3}[^\W\d_][\w.'’ -]{1,40}$", re.MULTILINE
)
"""The line above a turn of a transcript: "00:04:10 Ann Field"."""
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|PANIC)\b"
_TIME = (
    r"\[?(?:(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d{4})[T ,]{1,3}"
    r"|[A-Z][a-z]{2} {1,2}\d{1,2} )?"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t:|-]"
)
_LOGGED = re.compile(
    rf"^[ \t]*(?:{_TIME}|\[[ \t]?{_LEVEL}|<{_LEVEL}>|(?:TRACE|DEBUG|WARN|FATAL|SEVERE)[:\]\s]"
    rf"|{_LEVEL}(?!:))[^\n]*"
    rf"|(?<=\n)[ \t]*{_LEVEL}(?!: (?:I|My|Ich|Mein\w{{0,2}})\b)[^\n]*"
    # a stack trace
    r"|^Traceback \(most recent call last\):[^\n]*(?:\n[ \t]+[^\n]*)*"
    r"|^[ \t]*(?:File \"[^\"\n]{1,200}\", line \d|at [\w$.<>]{1,120}\()[^\n]*"
    r"|^(?:Exception in thread |Caused by: |[\w.]{1,80}(?:Error|Exception): )[^\n]*"
    # the prompt of a shell, and what is printed below it
    r"|^[ \t]*(?:[$%] (?=[a-z./~])|>>> |\w{1,32}@[\w.-]{1,60}[: ][^\s$#]{0,80}[$#] "
    r"|PS [A-Z]:[^\n>]{0,80}>|[A-Z]:\\[^\n>]{0,80}>)[^\n]*(?:\n[ \t]*\S[^\n]*)*",
    re.MULTILINE,
)
"""Lines of a log, a stack trace or a shell. A level before a colon may be the speaker's own where
it opens the message, or where the speaker goes on in the first person: "WARNING: I hate nuts".
"""
_CODE = re.compile(
    r"^[ \t]*(?:[+-][ \t]*)?(?:(?:const|let|var|val|public|private|static|final) [^\n=]{1,60}=(?!=)"
    r"|(?:async )?(?:def|function) \w{1,60}\(|class \w{1,60}(?:[({]|:[ \t]*$)|return [^\n;]{1,200};"
    r"|import [\w.{}*, ]{1,80} from |from [\w.]{1,80} import |#include )[^\n]*",
    re.MULTILINE,
)
"""Lines of code, or of a difference between two versions of it."""
_OBJECT = re.compile(r"\{[^{}\n:]*+:[^{}\n]*+\}|`[^`\n]+`")
_EXAMPLE = re.compile(
    r"(?:\b(?:for example|for instance|e\.g\.|zum beispiel|z\.\s?b\.|par exemple|por ejemplo)"
    r"|\b(?:examples?|like this|such as)\s*:)"
    r"[^\n.!?]*",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r'"(?P<straight>[^"\n]{1,600}+)"|“(?P<curly>[^“”\n]{1,600}+)”|„(?P<low>[^„“”\n]{1,600}+)[“”]'
    r"|«(?P<angle>[^«»\n]{1,600}+)»|「(?P<corner>[^「」\n]{1,600}+)」"
    r"|(?<![\w'’])['‘](?P<single>[^'‘’\n]{1,600}+(?:(?<=\w)['’](?=\w)[^'‘’\n]{1,600}+){0,20})['’](?!\w)"
)
_MAY_BE_OTHERS = re.compile(
    r"[<>{}\[\]`~\"“„«「:：_\n]|(?<![\w'’])['‘]|\be\.g\.|\bz\.\s?b\.|\bexamples?\b|\bfor instance\b"
    r"|\b(?:chapter|scene|act|kapitel|szene|akt) (?:\d|[iv]|one|two|eins|zwei)|[章話]。"
    r"|\bis (?:this|the following)\b|\A\s*(?:[$%] |(?:trace|debug|info|notice|warn|error|fatal)\b)"
    rf"|\bbeispiel\b|\bexemple\b|\bejemplo\b|{'|'.join(map(re.escape, HEADINGS))}",
    re.IGNORECASE,
)
"""Signs that a part of a text may not be the speaker's own. Most sentences have none of them."""
_SAYS = re.compile(
    r"\b(?:i|i'm|my|me|we|our|you|ich|mein|je|j'|mon|ma|yo|mi|me llamo)\b", re.IGNORECASE
)
_JAPANESE_SPEECH = re.compile(
    r"[。！？]|[私僕俺]|わたし|ぼく|おれ|(?:です|ます|ました|でした|だよ|だね|だ|てる|った)\Z"
)
MAX_TITLE_WORDS = 5
MAX_SPEECH = 600
"""Characters of a quotation; text between marks that are further apart is no speech."""


def without_recalled(text: str) -> str:
    """The text with blanks in place of memories that were recalled into it.

    These were remembered before. The result has the length of the text.
    """
    return _without(text, (_TAGGED, _HEADED, _NOTE, _NAMING_IDS))


def own_words(text: str, *, is_story: bool = False) -> str:
    """The text, of the same length, with blanks where it is not the speaker's own.

    Blanks replace pasted blocks, code, recalled memories, examples, exercises and quotations. A
    short quotation in which no person speaks stays: it is a title or a name ("my favourite film
    is 'Alien'").

    Args:
        text: A message, or a story of messages.
        is_story: Whether it may be a story, which names who says something: "User said: …".

    """
    return text if _MAY_BE_OTHERS.search(text) is None else _without_others(text, is_story)


@keep_texts(256)
def _without_others(text: str, is_story: bool) -> str:
    """As `own_words`, and kept: several rules read the same messages.

    These are the rules for facts, wishes, behaviour and stories.
    """
    lines = () if _OWN_TOPIC.match(text.strip()) else (_LINES,)
    text = _without_turns(text)
    text = _without(
        text,
        (_FENCED, _TAGGED, _HEADED, _NOTE, _NAMING_IDS, *lines, _LOGGED, _CODE, _OBJECT, _EXAMPLE),
    )
    return _QUOTED.sub(_blank_speech, without_pasted(text, is_story=is_story))


def _without_turns(text: str) -> str:
    """The text with blanks in place of a pasted conversation.

    A turn may go on below its line; the last turn is its line. The result has the length of the
    text.
    """
    timed = [*_TIMED_TURN.finditer(text)]
    if len(timed) > 1 and all(turn.end() + 1 < after.start() for turn, after in pairwise(timed)):
        return with_blanks(text, [(timed[0].start(), len(text))])
    turns = [*_TURN.finditer(text)]
    if len({turn["role"].casefold() for turn in turns}) < 2:
        return text
    return with_blanks(text, [(turns[0].start(), turns[-1].end())])


def _without(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """The text, of the same length, with blanks where a pattern matches.

    The patterns are applied in order, each to the result of the patterns before.
    """
    lower = text.lower()
    for pattern in patterns:
        if may_match(pattern, lower):
            text = pattern.sub(_blank, text)
    return text


def _blank(match: re.Match[str]) -> str:
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def _blank_speech(match: re.Match[str]) -> str:
    inner = match[match.lastgroup or 0]
    if len(inner) > MAX_SPEECH or _is_title(inner):
        return match.group()
    return _blank(match)


def _is_title(words: str) -> bool:
    """Whether quoted words are a title or a name, since no person speaks in them."""
    if _JAPANESE_SPEECH.search(words) is not None:
        return False
    return len(words.split()) <= MAX_TITLE_WORDS and not _SAYS.search(words)


def own_sentences(text: str, *, is_story: bool = False) -> list[Sentence]:
    """The sentences of a text in its speaker's own words.

    Args:
        text: A message, or a story of messages.
        is_story: As of `own_words`.

    """
    return sentences(own_words(text, is_story=is_story))


def own_statements(text: str, *, corrections: bool = True) -> Iterator[Sentence]:
    """As `own_sentences`, with the statements of a dictated sentence apart.

    Args:
        text: The message.
        corrections: Whether a correction within a sentence is a sentence of its own.

    """
    return spoken_sentences(own_words(text), corrections=corrections)


MAX_NAME = 60
"""Characters of a person's name in a fact."""
_NAMES_OF_ASSISTANTS = frozenset(
    {"assistant", "ai", "ai assistant", "bot", "chatbot", "agent", "ai agent", "model"}
)


def may_tell(message: Message) -> bool:
    """Whether facts may be taken from a message.

    They may be taken from messages of the user or of an assistant with a name, never from the
    system or a tool. An assistant without a name, or with a name such as "AI agent", repeats and
    guesses.
    """
    if message.role != "assistant":
        return message.role == "user"
    name = " ".join((message.actor or "").casefold().split())
    return bool(name) and name.removeprefix("the ") not in _NAMES_OF_ASSISTANTS


def name_of_actor(actor: str | None) -> str:
    """An actor's name, as facts have it; "" for none."""
    return beginning(" ".join((actor or "").split()), MAX_NAME)


def name_of_speaker(message: Message) -> str:
    """Name of a message's speaker, as facts have it.

    It is the actor's name if there is any, else that of the role: "User", "Assistant".
    """
    return name_of_actor(message.actor) or message.role.capitalize()
