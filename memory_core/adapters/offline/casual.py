"""Write out what chats leave out: apostrophes, the subject "I", endings of German verbs.

Rules read the sentence that is written out; a fact's quote stays as it was said. Note: "im" is
German, too, and "were", "well", "id" and "ill" are words of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.adapters.offline.second_language import (
    english_put_right,
    german_put_right,
    in_one_language,
)
from memory_core.domain.statements.own_words import own_statements
from memory_core.domain.text.sentences import Sentence
from memory_core.domain.text.spelled_out import spelled_out
from memory_core.domain.text.spoken_numbers import with_counts
from memory_core.domain.text.text_cache import keep_texts

_STATE = (
    "allergic|pregnant|vegan|vegetarian|married|engaged|divorced|single|widowed|retired|unemployed"
    "|self-employed|lactose|gluten|diabetic|left-handed|right-handed|sober|off|on|in|at|from|into"
    "|with|about to|not|an?|the|so|really|just|still|also|now|very|too|pretty|quite|currently"
    "|finally|officially|actually|already|gonna|back|done|sorry|sure|glad|happy|sad|tired|scared"
    "|nervous|excited|worried|sick|ill|broke|free|stuck|turning|getting|good|fine|ok|okay|home"
    "|here|like|trying|never|always|only|almost|down to"
)
_GERMAN_WITH_ING = (
    "training|marketing|camping|shopping|meeting|ranking|coaching|controlling|catering|recycling"
    "|bowling|timing|building|streaming|outing"
)
_I_AM = re.compile(
    r"(?P<before>(?:\A|[,;:.!?(–-] ?|\b(?:and|but|so|because|cause|cuz|since|that|when|while|if|as"
    r"|now|then|ok|okay|also|well|yes|yeah|no|hi|hey|hello|lol|haha|btw|anyway|plus|though|think"
    r"|guess|tbh) ))[Ii]m"
    rf"(?= (?:(?:{_STATE})\b|(?!(?:{_GERMAN_WITH_ING})\b(?! (?:for|to)\b))[a-z]{{2,20}}ing\b"
    r"|\d{1,3}(?=\s?(?:\Z|[,.;!?])| (?:and|years?|weeks?|months?|now|but|so|cm|kg)\b)"
    r"|[A-Za-z]{2,20}, live in [A-Za-z]{3,20} with (?:my|our)\b))"
)
_GERMAN = re.compile(
    r"\b(?:ich|wir|und|der|das|ist|bin|nicht|auf|wird|habe?|eine?[mnrs]?|sich|noch|auch|uns|mir|mich"
    r"|heute|gestern)\b|[äöüß]"
)
"""Words of German that are no words of English: "die", "war" and "hat" are both."""
_VERBS_CUT = (
    "wohn|leb|arbeit|rauch|lern|spiel|fahr|geh|hab|hass|lieb|studier|trink|nehm|ess|heiß|mach|koch"
    "|trag|komm|zieh|fühl|wieg|träum"
)
_I_VERB = re.compile(rf"\b[Ii]ch (?:{_VERBS_CUT})(?= )")
_VERB_I = re.compile(rf"\b(?P<verb>(?i:{_VERBS_CUT}))['’]?(?P<I> ich\b)")
"""Verbs without the ending that chats drop: "ich wohn in Ulm", "klavier lern ich"."""
_NEGATED = "do|does|did|is|was|are|have|has|had|could|should|would"
_WITH = re.compile(r"(?<= )w(?:/ ?| )(?=(?:my|our)\b)")
_APOSTROPHES = (
    (re.compile(rf"\b({_NEGATED})nt\b", re.IGNORECASE), r"\1n't"),
    (re.compile(r"\b(ca|wo)nt\b(?= )", re.IGNORECASE), r"\1n't"),
    (re.compile(r"\b[Ii]ve\b"), "I've"),
    (re.compile(r"\b(they|you)(re|ve)\b", re.IGNORECASE), r"\1'\2"),
    (re.compile(r"\b(we)(ve)\b(?= )", re.IGNORECASE), r"\1'\2"),
    (re.compile(r"\b(that|what|there|here|he|she)s\b(?= )", re.IGNORECASE), r"\1's"),
    (re.compile(r"\bi(?=['’](?:m|ve|ll|d)\b)"), "I"),
)
_SMALL_I = re.compile(r"(?<![\w.'’/-])i(?![\w.'’/-]|\.\w)")
_OTHER_I = re.compile(r"\b(?:gli|sono|della|che|els|les|una|per)\b|[äöüß]|\b(?:ich|und|nicht)\b")


@keep_texts(1_024)
def written_out(text: str) -> str:
    """Restore apostrophes and the capital of "I": "im 12 weeks pregnant" → "I'm …".

    Text of other languages is returned as it is.
    """
    text = with_counts(in_one_language(spelled_out(text)))
    if _GERMAN.search(text.lower()) is not None:
        return german_put_right(_I_VERB.sub(r"\g<0>e", _VERB_I.sub(r"\g<verb>e\g<I>", text)))
    plain = _I_AM.sub(r"\g<before>I'm", _WITH.sub("with ", text))
    for expression, written in _APOSTROPHES:
        plain = expression.sub(written, plain)
    return plain if _OTHER_I.search(plain) else english_put_right(_SMALL_I.sub("I", plain))


_AFTER_MY = r"(?=(?:my|our|an?|the|some|his|her|their|it|him|them)\b|[A-Z0-9])"
_TIME = r"(?:last|today|yesterday|this|in|on|two|three|a|now|again|already|finally|\d+)"
_PASTS = (
    rf"(?:sold|bought|adopted|inherited|hired|rented|leased|ended|renewed|finished|passed|married"
    rf"|divorced|left|rehomed|traded in|sprained|tore|broke|fractured|twisted|changed|dropped"
    rf"|gave away|got rid of|picked up|took up|gave up|quit|cancell?ed|joined"
    rf"|booked|started|stopped|moved|switched|downgraded|upgraded|accepted|turned down) {_AFTER_MY}"
    r"|lost (?=my|our|\d|an?\b)|took (?=(?:my|our|his|her|the|up|a (?:job|new|break|course))\b)"
    r"|(?:started|stopped|quit|gave up|began|finished|took up) (?=[a-z]{2,20}ing\b)"
    r"|gave up (?=[a-z]{3,20}(?:[.!,]|\Z| (?:for|because|last|in|two|this)\b))"
    r"|cancell?ed (?!flights?\b|orders?\b|trains?\b)(?=[a-z]{3,20}(?:[.!,]|\Z| (?:and|last|today"
    r"|yesterday|because|so|this|membership|subscription)\b))"
    r"|(?:signed up|applied|enrolled|switched|moved|went back|got back|dropped out|dropped off"
    r"|tapered off|came off|broke up|split up|got married|got engaged|got divorced|got promoted"
    r"|got fired|got laid off|got accepted|got hired|got diagnosed|graduated|retired|resigned"
    r"|downgraded|upgraded|relocated|moved in|moved out|moved back|enlisted|volunteered)"
    rf" ?(?=(?:for|to|from|in|into|out|with|of|as|at|on|by|off|back|house|home|{_TIME})\b|[.!,]"
    r"|\Z)"
    r"|got (?!an? (?:\w+ )?(?:question|minute|sec|second|idea|problem|error|message|e-?mail|bug"
    r"|call|feeling|task|request|favou?r)\b)(?=(?:my|our|an?|two|three|some)\b)"
    r"|turned (?=\d{1,3}(?:[.!,]|\Z| (?:last|today|yesterday|this|in|on)\b))"
    r"|signed with (?=[A-Z])"
    r"|(?:became|went) (?=(?:an?|vegan|vegetarian|freelance|part-time|full-time|back)\b)"
    r"|(?:caved|decided|managed|learn(?:ed|t)) (?=(?:to|and|on|against)\b)"
    r"|had (?=(?:to|my|our)\b)|met (?=(?:my|an?|some)\b)"
)
_BARE = (
    (re.compile(r"(?=haven't (?!you|we|they|i\b)\w)|(?=can't (?:eat|drink|have|stand)\b)"), "I "),
    (
        re.compile(
            r"(?=been (?!there\b|a while\b|ages\b|a long\b|too\b|so\b)(?:[a-z]{2,20}ing|an?|in|on"
            r"|off|with|to|at|vegan|vegetarian|sober|married|living|single) )"
        ),
        "I've ",
    ),
    (
        re.compile(
            r"(?=(?:off [a-z]{4,20} (?:since|for|now|completely)|allergic to|back (?:home )?from"
            r" (?:the|my|our|an?|[A-Z])|no longer (?:on|at|in|with)|pregnant (?:with|again)"
            r"|smoke[- ]free (?:for|since)|not (?:vegan|vegetarian|pregnant"
            r"|married|single|engaged|[a-z]{3,20}ing"
            r" [^,.]{0,30}) ?any ?more)\b)"
            r"|(?=(?:living|working|studying|training|learning|renting|dating|expecting) (?:in|at"
            r"|as|for|with|to|an?|[A-Za-z]{3,20} (?:now|since|for|these days))"
            r"(?![^,.;]{0,80} (?:is|was|are|were|has|takes?|makes?|can|would|will|means?|needs?"
            r"|helps?|sounds?|feels?)\b))"
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"(?=no longer (?:work|live|smoke|drink|eat|drive|use|own|have|need)\b"
            r"|live in [A-Za-z]{3,20} with (?:my|our)\b)"
        ),
        "I ",
    ),
    (re.compile(f"(?={_PASTS})"), "I "),
    (re.compile(r"(?=name(?:['’]s| is) [A-Z])"), "My "),
)
_OPENING = re.compile(
    r"\A\W{0,3}(?:(?:ok|okay|so|and|but|well|oh|hey|hi|hello|yes|yeah|yep|no(?=,)|btw|by the way"
    r"|anyway|(?:(?:small|short|quick|good|bad|big|kurzes) )?(?:update|news|reminder|note|info"
    r"|correction|question)|small win|guess what|confession|zur info|korrektur|übrigens"
    r"|lol|haha|ugh|omg|wow|yay|sadly|luckily|unfortunately|actually|honestly|then|plus)\b"
    r"[,:.!…]{0,3} ){0,3}",
    re.IGNORECASE,
)
_ADVERBS = re.compile(
    r"(?:(?:just|finally|recently|also|already|officially|now|only|totally) ){0,2}", re.IGNORECASE
)
LEAST_WORDS = 2
"""Words of a sentence that may lack its subject; a single one is an answer: "Retired."."""
_OF_SPEAKER = re.compile(r"\b(?:I|my|me|our|we|mine|myself)\b")
_THEIRS = re.compile(r"\b(?:his|her|their)\b")


def is_opening(words: str) -> bool:
    """Whether some words only open a statement: "Small update"."""
    opening = _OPENING.match(f"{words}: ")
    return opening is not None and opening.end() > len(words)


def with_subject(text: str) -> str:
    """Add the subject "I" to a sentence whose verb shows that it was dropped.

    Args:
        text: The sentence as `written_out` returns it: "sold the car".

    Returns:
        "I sold the car"; the sentence itself where a subject is not missing.

    """
    opening = _OPENING.match(text)
    start = 0 if opening is None else opening.end()
    spoken = text[start : start + 1].lower() + text[start + 1 :]
    adverbs = _ADVERBS.match(spoken)
    beginning = spoken if adverbs is None else spoken[adverbs.end() :]
    if len(beginning.split()) < LEAST_WORDS:
        return text
    for expression, subject in _BARE:
        if expression.match(beginning) is not None:
            if _THEIRS.search(beginning) and not _OF_SPEAKER.search(beginning):
                return text
            return f"{text[:start]}{subject}{spoken}"
    return text


_PICTURE = re.compile(r"[\u2600-\u27bf\u2b50\ufe0f\u200d\U0001f000-\U0001faff]++")
"""A picture, with which chats end a sentence, too."""


def sentences_of_chat(text: str) -> Iterator[Sentence]:
    """The sentences of a message in own words, which also end at a picture."""
    for sentence in own_statements(text):
        start = 0
        for end in _PICTURE.finditer(sentence.text):
            if part := sentence.text[start : end.start()].strip():
                yield _part(sentence, part, start)
            start = end.end()
        if part := sentence.text[start:].strip():
            yield _part(sentence, part, start) if start else sentence


def _part(sentence: Sentence, part: str, start: int) -> Sentence:
    begins = sentence.start + sentence.text.index(part, start)
    return Sentence(part, begins, begins + len(part))
