"""Short answers about another person than the speaker.

"Yes, peanuts." to "Does she have any allergies?", after "My daughter starts school", is about the
daughter. The question is turned into one that is asked of the speaker, and what the answer to that
would mean is said of the other person.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from memory_core.domain.text.analyzer import has_japanese

_WOMEN: Final = (
    "daughter|mother|mum|mom|sister|wife|girlfriend|grandmother|grandma|granny|aunt|niece|girl"
    "|granddaughter|tochter|mutter|mama|schwester|frau|freundin|oma|großmutter|tante|nichte"
    "|enkelin|klientin|patientin|schülerin|kundin"
)
_MEN: Final = (
    "son|father|dad|brother|husband|boyfriend|grandfather|grandpa|uncle|nephew|boy|grandson|sohn"
    "|vater|papa|bruder|mann|freund|opa|großvater|onkel|neffe|neffen|enkel|klient|klienten|patient"
    "|patienten|schüler|kunde|kunden"
)
_OF_WOMEN = re.compile(_WOMEN)
_OF_MEN = re.compile(_MEN)
_EITHER: Final = "client|pupil|patient|student|partner|child|baby|kind"
_PERSON = rf"(?P<kin>{_WOMEN}|{_MEN}|{_EITHER})(?!\w)"
_ADJECTIVE = r"(?:(?:little|big|older|younger|new|old|kleine|große|ältere|jüngere|neue)[nrms]? )?"
_NAMED = re.compile(
    rf"\b(?:(?P<my>my|our) |(?P<mein>mein|unser)(?:e[nrms]?)? ){_ADJECTIVE}{_PERSON}", re.IGNORECASE
)
_IN_QUESTION = re.compile(
    rf"\b(?:(?P<my>your) |(?P<mein>dein|ihr)(?:e[nrms]?)? ){_ADJECTIVE}{_PERSON}", re.IGNORECASE
)
_SPEAKER = re.compile(r"\b(?:you|du|dich|dir)\b|あなた", re.IGNORECASE)
_SHE = re.compile(r"\b(?:she|her|ihre?[mnrs]?|sie)\b", re.IGNORECASE)
_HE = re.compile(r"\b(?:he|his|him|er|sein\w{0,2}|ihm|ihn)\b", re.IGNORECASE)
_KIN: Final = f"(?:{_WOMEN}|{_MEN}|{_EITHER})"
_IT: Final = rf"(?:he|she|they|your {_ADJECTIVE}{_KIN}(?: [A-Z]\w+)?)"
_ER: Final = rf"(?:er|sie|(?:dein|ihr)\w{{0,2}} {_ADJECTIVE}{_KIN})"
_TURNED: Final = tuple(
    (re.compile(expression, re.IGNORECASE), written)
    for expression, written in (
        (rf"\bdoes {_IT}(?= (?:have|live|work|speak|do|eat|drink|come|take|study|smoke|need)\b)",
         "do you"),
        (rf"\bis {_IT}(?=[?,. ]|\Z)", "are you"),
        (rf"\bwas {_IT} born", "were you born"),
        (rf"\bdid {_IT} grow up", "did you grow up"),
        (rf"\byour {_ADJECTIVE}{_KIN}'s ", "your "),
        (r"\b(?:his|her|their)\b", "your"),
        (rf"\bhat {_ER}\b", "hast du"),
        (rf"\b(?P<verb>wohn|leb|arbeite|mach|rauch|komm)t {_ER}\b", r"\g<verb>st du"),
        (rf"\bist {_ER}\b", "bist du"),
        (rf"\bheißt {_ER}\b", "heißt du"),
        (rf"\bspricht {_ER}\b", "sprichst du"),
    )
)  # fmt: skip
_KIN_JA: Final = {
    "お母さん": "母", "お父さん": "父", "娘さん": "娘", "息子さん": "息子", "お子さん": "子ども",
    "奥さん": "妻", "ご主人": "夫", "お兄さん": "兄", "お姉さん": "姉", "妹さん": "妹",
    "弟さん": "弟", "おばあさん": "祖母", "おじいさん": "祖父",
}  # fmt: skip
_IN_QUESTION_JA = re.compile(rf"\A(?P<kin>{'|'.join(_KIN_JA)})(?:の|には?|は|が)、?")
_TOPIC_JA = re.compile(
    r"(?P<kin>母|父|娘|息子|妻|夫|祖母|祖父|兄|姉|弟|妹)の(?:介護|世話|看病|面倒)"
)
_FOR_ANOTHER = re.compile(
    r"\A(?:(?:no|nope|nein),? )?(?:not me|me no|not i|i do not|i don't|ich nicht|ich nein"
    r"|(?:no|nein)),? (?:but |aber |sondern )?"
    rf"(?:(?P<my>my|our) |(?P<mein>mein|unser)(?:e[nrms]?)? ){_ADJECTIVE}{_PERSON}"
    r"(?: (?:yes|ja|does|has|is|schon|hat)\b)?[,:]? (?P<value>[^,].*)\Z",
    re.IGNORECASE,
)


class AskedOfAnother(NamedTuple):
    """A question about another person.

    Attributes:
        question: The same question, as it would be asked of the speaker.
        person: The person: "My daughter"; "" if it is not known who is meant.

    """

    question: str
    person: str


def asked_of_another(question: str, before: str) -> AskedOfAnother | None:
    """The question, if it is about another person.

    Args:
        question: "Does she have any allergies?".
        before: The speaker's message before the question.

    Returns:
        None for a question about the speaker, or about both.

    """
    if _SPEAKER.search(question) is not None:
        return None
    if has_japanese(question):
        kin = _IN_QUESTION_JA.match(question)
        if kin is not None:
            return AskedOfAnother(question[kin.end() :], _KIN_JA[kin["kin"]])
        is_open = _TOPIC_JA.search(before) is not None
        return AskedOfAnother(question, "") if is_open else None
    turned = " ".join(question.split())
    for expression, written in _TURNED:
        turned = expression.sub(written, turned)
    if turned == " ".join(question.split()):
        return None
    asked = _IN_QUESTION.search(question)
    if asked is not None:
        return AskedOfAnother(turned, _name(asked))
    persons = {_name(match): match for match in _NAMED.finditer(before)}
    if len(persons) != 1:
        return AskedOfAnother(turned, "")
    name, match = persons.popitem()
    relation = match["kin"].casefold()
    fits = (_SHE.search(question) is None or _OF_MEN.fullmatch(relation) is None) and (
        _HE.search(question) is None or _OF_WOMEN.fullmatch(relation) is None
    )
    return AskedOfAnother(turned, name if fits else "")


def answered_for_another(answer: str) -> tuple[str, str] | None:
    """The person and the words of "not me, but my son, nuts"."""
    match = _FOR_ANOTHER.match(" ".join(answer.replace("’", "'").split()))
    return None if match is None else (_name(match), match["value"])


def said_of_another(meant: str, person: str) -> str | None:
    """What a sentence of the first person says of another person.

    Args:
        meant: "I am allergic to peanuts.".
        person: "My daughter".

    Returns:
        "My daughter is allergic to peanuts."; None where the sentence has another form.

    """
    if has_japanese(meant):
        return f"{person}は{meant}"
    for expression, written in _SAID:
        match = expression.match(meant)
        if match is not None:
            return f"{person}{written.format(**match.groupdict())}{meant[match.end() :]}"
    return None


_SAID: Final = tuple(
    (re.compile(expression), written)
    for expression, written in (
        (r"I am\b", " is"),
        (r"I have\b", " has"),
        (r"I do not\b", " does not"),
        (r"(?=I (?:grew|was)\b)I", ""),
        (r"My name is\b", " is called"),
        (r"My\b", "'s"),
        (r"I (?P<verb>[a-z]+(?:[^aeious]|[aeiou]e?))(?= )", " {verb}s"),
        (r"Ich bin\b", " ist"),
        (r"Ich habe\b", " hat"),
        (r"Ich heiße\b", " heißt"),
        (r"Ich spreche\b", " spricht"),
        (r"Ich (?P<verb>wohn|komm|arbeite|rauch)e?(?= |\Z)", " {verb}t"),
    )
)


def _name(match: re.Match[str]) -> str:
    """A person as the subject of a sentence: "my daughter", "meinen Vater" → "Mein Vater"."""
    kin = match["kin"]
    if match["my"] is not None:
        return f"My {kin.lower()}"
    noun = kin.capitalize().removesuffix("en" if kin.casefold().endswith("enten") else "\0")
    return f"{'Mein' if _OF_WOMEN.fullmatch(kin.casefold()) is None else 'Meine'} {noun}"
