"""What of a message its speaker says himself: not what he quotes, pastes, recalls or gives as an example.

"He wrote: 'I live in Oslo'" says nothing about where the speaker lives, and a memory that was put into a prompt must not be
learnt again from it. Note: the result is as long as the text, character for character (what is not
the speaker's own is blank), so a place found in it is a place in the message.
"""

from __future__ import annotations

import re

from memory_core.domain.note import FOOTER, HEADINGS

_RECALLED_NAMES = (
    r"(?:relevant|retrieved|recalled|stored|past|long[-_ ]?term)?[-_ ]?(?:memory|memories|context|facts)(?:[-_ ]?(?:block|context))?"
    r"|system(?:[-_ ]?(?:prompt|reminder|message))?|instructions?|background|knowledge|documents?|tool[-_ ]?(?:result|output)s?|examples?"
)
_TAGGED = re.compile(rf"<(?P<tag>{_RECALLED_NAMES})\b[^<>]*>.*?(?:</(?P=tag)\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_HEADED = re.compile(
    r"^[ \t#*>\[]*(?:(?:relevant|retrieved|recalled|stored|known|previous|past|long[- ]term|saved|user'?s?)[ \t]+){1,3}"
    r"(?:memor(?:y|ies)|context|facts|knowledge|notes)\b[^\n.]{0,60}[:\]*]*[ \t]*\n(?:[ \t]*\S[^\n]*(?:\n|\Z))+"
    r"|^[^\n]{0,80}\b(?:what (?:you|i) (?:remember|know)|you remember(?: the following)?|system prompt)\b[^\n.]{0,40}:[ \t]*\n"
    r"(?:[ \t]*\S[^\n]*(?:\n|\Z))+",
    re.IGNORECASE | re.MULTILINE,
)
_NOTE = re.compile(
    rf"^[ \t]*(?:{'|'.join(map(re.escape, HEADINGS))})[ \t]*(?:\n[ \t]*\S[^\n]*)*"
    rf"|^[ \t]*{re.escape(FOOTER)}[ \t]*\n[ \t]*(?:Tags|Keywords|Content depth|Follow-up areas):[^\n]*",
    re.MULTILINE,
)
"""The parts of a note as `note` renders it: a pasted note tells nothing new."""
_NAMING_IDS = re.compile(r"^[^\n]*\b(?:mem|cnv|evt|scn)_[0-9a-f]{6,}[^\n]*$", re.MULTILINE)
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_LINES = re.compile(
    r"^[ \t]*>[^\n]*"  # quoted mail
    r"|^[ \t]*[{}\[][^\n]*[{}\],:\"][ \t]*$"  # JSON
    r"|^[ \t]*\"[\w $-]+\"[ \t]*:[^\n]*$"
    r"|^[ \t]*(?:system|assistant|human|user)[ \t]*:[^\n]*$",  # a pasted conversation
    re.IGNORECASE | re.MULTILINE,
)
_OBJECT = re.compile(r"\{[^{}\n:]*+:[^{}\n]*+\}|`[^`\n]+`")
_EXAMPLE = re.compile(
    r"(?:\b(?:for example|for instance|e\.g\.|zum beispiel|z\.\s?b\.|par exemple|por ejemplo)|\b(?:examples?|like this|such as)\s*:)"
    r"[^\n.!?]*",
    re.IGNORECASE,
)
_TO_WORK_ON = re.compile(
    r"(?:(?:^|(?<=[.!?]))[ \t]*|\b(?:please|can you|could you)\s+)(?:translate|repeat|rephrase|paraphrase|proofread|summari[sz]e|pronounce"
    r"|say after me|read aloud|echo|print|complete|(?:correct|check) (?:this|the))\b[^\n.:!?]{0,60}:[^\n]*"
    r"|\b(?:sentence|phrase|poem|song|lyrics|verse|haiku|joke|riddle|slogan|caption|dialogue|translation)\s*:[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
"""Text to be translated, repeated or enjoyed: "Translate to German: I live in Rome"."""
_QUOTED = re.compile(
    r'"(?P<straight>[^"\n]{1,600}+)"|“(?P<curly>[^“”\n]{1,600}+)”|„(?P<low>[^„“”\n]{1,600}+)[“”]|«(?P<angle>[^«»\n]{1,600}+)»'
    r"|(?<![\w'’])['‘](?P<single>[^'‘’\n]{1,600}+(?:(?<=\w)['’](?=\w)[^'‘’\n]{1,600}+){0,20}+)['’](?!\w)"
)
_SAYS = re.compile(r"\b(?:i|i'm|my|me|we|our|you|ich|mein|je|j'|mon|ma|yo|mi|me llamo)\b", re.IGNORECASE)
MAX_TITLE_WORDS = 5
MAX_SPEECH = 600
"""Characters of a quotation; text between marks that lie further apart is no speech."""


def without_recalled(text: str) -> str:
    """The text with blanks in place of memories that were recalled into it; of the same length. They were remembered before."""
    for pattern in (_TAGGED, _HEADED, _NOTE, _NAMING_IDS):
        text = pattern.sub(_blank, text)
    return text


def own_words(text: str) -> str:
    """The text, of the same length, with blanks where it is not the speaker's own.

    Blanks replace pasted blocks, code, recalled memories, examples, exercises and quotations.
    A short quotation in which no person speaks stays: it is a title or a name ("my favourite film is 'Alien'").
    """
    text = without_recalled(_FENCED.sub(_blank, text))
    for pattern in (_LINES, _OBJECT, _EXAMPLE, _TO_WORK_ON):
        text = pattern.sub(_blank, text)
    return _QUOTED.sub(_blank_speech, text)


def _blank(match: re.Match[str]) -> str:
    return "\n".join(" " * len(line) for line in match.group().split("\n"))


def _blank_speech(match: re.Match[str]) -> str:
    inner = match[match.lastgroup or 0]
    if len(inner) > MAX_SPEECH or (len(inner.split()) <= MAX_TITLE_WORDS and not _SAYS.search(inner)):
        return match.group()
    return _blank(match)
