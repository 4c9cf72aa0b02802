"""Texts in the first person, and facts that are put back into it.

"User keeps their savings" becomes "I keep my savings".

People state changes in the first person, and the rules for changes read the first person. Facts are
stored in the third person, with other verbs and pronouns. Facts are turned in English only.
"""

from __future__ import annotations

import re

from memory_core.domain.statements.denied_states import TIME_FIRST
from memory_core.domain.text.text_cache import keep_texts

_ADVERBS = (
    r"(?:(?:always|never|just|also|still|often|sometimes|already|now|even|only|then|both"
    r"|no longer|usually|rather|seldom|\w{3,20}ly) ){0,3}"
)
_SUBJECT = re.compile(
    r"(?:\A|(?<=[,;:] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bbecause )|(?<=\bthat )"
    r"|(?<=\bsince )|(?<=\bwhile )|(?<=\bwhen ))User"
    rf"(?P<verb> (?P<adverbs>{_ADVERBS})(?P<stem>[a-z]+))?(?![\w'])"
)
_IRREGULAR = {"has": "have", "does": "do", "goes": "go", "was": "was", "this": "this"}
_SPOKEN = (
    (re.compile(r"\bUser's\b"), "my"),
    (re.compile(r"\bUser\b"), "me"),
    (re.compile(r"\bthemself\b"), "myself"),
    (re.compile(r"\b([Ii])t is\b"), r"\1t's"),
    (re.compile(r"\b(do|does|did|ca|could|wo|is|are|was) ?not\b"), r"\1n't"),
)


_THEIRS = re.compile(r"\btheir(?P<mine>s)?\b")


_SPEAKERS = re.compile(
    r"(?i:\b(?:my|me|mine|myself|we|us|ours?|ich|mi[cr]h?|mein\w{0,2}|wir|uns|unser\w{0,2}|je|moi"
    r"|mon|ma|mes|nous|yo|mi|nosotros)\b)|\bI\b|[\u79c1\u50d5\u4ffa]"
)
"""Words by which speakers name themselves.

Questions about a person are mostly answered by that person's own words, in the first person.
"""
_OF_SPEAKERS = frozenset(
    {
        "i", "my", "me", "mine", "myself", "we", "us", "our", "ours", "ich", "mic", "mir", "mich",
        "mirh", "wir", "uns", "je", "moi", "mon", "ma", "mes", "nous", "yo", "mi", "nosotros",
    }
)  # fmt: skip
"""The words of `_SPEAKERS` in ASCII, but for those that begin with `mein` and `unser`."""


def names_speaker(text: str, known_words: frozenset[str] | None) -> bool:
    """Whether a text names its speaker.

    Args:
        text: The text.
        known_words: Its `ascii_words`.

    """
    if known_words is not None and _OF_SPEAKERS.isdisjoint(known_words):
        lower = text.lower()
        if "mein" not in lower and "unser" not in lower:
            return False
    return _SPEAKERS.search(text) is not None


@keep_texts(2_048)
def in_first_person(fact: str) -> str:
    """The text of a fact about "User" as its speaker would say it.

    A text that names no user stays as it is.
    """
    if "User" not in fact or fact.startswith("User: "):
        return fact
    time = TIME_FIRST.match(fact)
    start = 0 if time is None else time.end() + 1
    first, fact = fact[:start], fact[start:]
    is_subject = _SUBJECT.match(fact) is not None
    spoken = _SUBJECT.sub(_spoken_subject, fact)
    if is_subject:  # else it may be theirs: "User's parents stopped their subscription"
        spoken = _THEIRS.sub(lambda match: "mine" if match["mine"] else "my", spoken)
    for expression, words in _SPOKEN:
        spoken = expression.sub(words, spoken)
    return first + (spoken if first else spoken[:1].upper() + spoken[1:])


def _spoken_subject(match: re.Match[str]) -> str:
    verb = match["stem"]
    if match["verb"] is None:
        return "I"
    if verb == "is":
        return f"I'm {match['adverbs']}".rstrip()
    return f"I {match['adverbs']}{_spoken_verb(verb)}"


def _spoken_verb(verb: str) -> str:
    """The verb in the first person: "carries" → "carry"."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies") and len(verb) > len("dies"):
        return f"{verb[:-3]}y"
    if verb.endswith(("shes", "ches", "xes", "zes", "sses")):
        return verb[:-2]
    return verb.removesuffix("s") if not verb.endswith("ss") else verb
