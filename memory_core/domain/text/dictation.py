"""Find the statements of a message that is dictated, or typed in a hurry.

"so um my daughter lena just turned five and we live in leeds" has no marks of sentences. A
statement begins with a subject and its verb, but not where a word before it governs them ("i think
i know", "the flat i live in"). A correction within a breath is a sentence of its own, too: "on
monday no wait tuesday".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.domain.text.given_names import is_given_name
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.domain.text.spelling import (
    ANY_MONTH,
    ANY_WEEKDAY,
    GERMAN_NUMBER_WORDS,
    NUMBER_WORDS,
)

LEAST_WORDS = 7
"""Words of a text that may have several statements without marks between them."""
_MARKS = re.compile(r"(?<!\d)[.!?;:,](?=\s|\Z)|[。、！？\n]")
_CAPITALS = re.compile(r"(?!I\b)[A-ZÄÖÜ]")
FILLER = r"u+h+m*|u+m+|e+r+m*|h+m+|ä+h+m*|you know|by the way|btw"
"""Words that say nothing wherever they are."""
OPENING = rf"{FILLER}|anyways?|oh|omg|yo|ugh|wow|well|naja|halt|übrigens|also|hey"
"""Words that say nothing before a statement."""
_JOINS = r"and|but|so|plus|then|because|cause|cos|cuz|und|aber|dann|außerdem"
_VERB = (
    r"is|are|was|were|has|have|had|lives?|works?|just|called|wants?|likes?|loves?|hates?|got"
    r"|turned|started|moved|passed|will|can|goes|comes|needs?|plays?|studies|leaves|begins|starts"
    r"|died|left|broke|lost"
)
_SUBJECT = (
    r"(?:i(?:['’]?m|['’]?ve|['’](?:ll|d))?|(?:we|they)(?:['’](?:ve|re|ll|d))?"
    r"|s?he(?:['’]?s|['’](?:ll|d))?|it(?:['’]?s| is| was| has| tastes| smells| makes| hurts)"
    r"|(?P<please>please|pls)(?= [a-z])"
    r"|just (?:give|tell|keep|use|call|make|show|send|remember))\b(?! and\b)"
    rf"|(?:my|our|his|her|their) (?!own\b)[\w'’-]+(?: [\w'’-]+){{0,2}}? (?:{_VERB}|s?he['’]?s)\b"
    r"|(?:die|der|er|sie) (?:ist|hat|heißt|heisst|wohnt|arbeitet|war|wird|mag)\b"
    r"|(?:ich|wir) [a-zäöüß]{2,}(?:e|en|t|n|s|b)\b"
    r"|(?:mein|unser)(?:e[rmns]?)? [a-zäöüß]+(?: [a-zäöüß]+)?"
    r" (?:ist|heißt|heisst|hat|wohnt|arbeitet|war|wird|kommt|geht|mag)\b"
)
_NAME = rf"(?P<name>[a-zà-ÿ]{{3,14}}) (?!have\b|are\b|were\b)(?:{_VERB})\b"
_THING = r"(?P<thing>(?:the|der|die|das) (?:[\w'’-]+ ){1,4}(?:is|was|are|ist|war|sind)\b)"
_BEGINS = re.compile(
    rf"(?<=\S) (?P<joins>(?:(?:{OPENING}|{_JOINS}) ){{0,4}})"
    rf"(?=(?:(?:now|jetzt|today|heute|yesterday|gestern) )?(?:{_SUBJECT}|{_NAME}|{_THING}))",
    re.IGNORECASE,
)
_COUNT = (
    rf"(?:\d+|{'|'.join((*NUMBER_WORDS[2:], *GERMAN_NUMBER_WORDS[2:]))}|twenty|thirty|forty|fifty)"
)
_CORRECTS = re.compile(
    r",? (?=(?:(?:oh|ah|uh|um|äh) )?(?:no,? (?:wait|sorry|i mean|actually)|wait,? no|scratch that"
    r"|sorry,? i (?:mean|meant)|i meant|make that|nein,? (?:warte|moment|quatsch|doch|halt)|quatsch"
    r"|ach (?:nein|nee?)|ich mein(?:e|te)"
    rf"|i mean(?= (?:{ANY_WEEKDAY}|{ANY_MONTH}|{_COUNT}|at|on|not)\b"
    r"| [a-z]+\Z))\b,? \w)"
    rf"| (?=(?:no|nein) {_COUNT}\b)",
    re.IGNORECASE,
)
_IN_A_CORRECTION = re.compile(
    r"\A\W*(?:(?:no|wait|sorry|actually|oh|uh|um|scratch that|nein|warte|moment|quatsch|ach)"
    r"\b\W*)+\Z",
    re.IGNORECASE,
)
_OPENS_CORRECTION = re.compile(
    r"\A\W{0,5}(?:no|nee?|wait|sorry|oops|nein|oh|ach|scratch|moment|warte|quatsch)\b",
    re.IGNORECASE,
)
_IS_CORRECTED = re.compile(r"i meant?\b", re.IGNORECASE)
_ASIDE = re.compile(
    r" (?=(?:thx|thanks|ty|yay|ok(?:ay)?\Z)\b"
    r"|(?<!i'm )(?<!im )(?<!am )(?<!no )(?<!so )sorry\b(?! i mean))",
    re.IGNORECASE,
)
"""What says nothing more about the statement before it: "thx", "sorry caps lock"."""
_AND = re.compile(r"\b(?:and|but|und|aber)\b", re.IGNORECASE)
_LAST_WORD = re.compile(r"(?<![\w'’])[\w'’]{1,40}\Z")
_GOVERNS = """
    a about after all am an and any are as at be because been before but by can could did do does
    every everything feel felt find for forget from guess had has have hear heard her his hope how
    if in into is just know like may maybe me mean might must my no nor not of on or our remember
    said say says shall should since so than that the their them these thing things think thought
    though time to told unless until was way we were what when where whether which while who whom
    whose why will wish with without would you u your please pls let let's lets day place stuff only
    first last once don't dont didn't didnt can't cant won't wont
    dass ob weil wenn als wie was wo wer und oder aber denn da damit bevor nachdem seit bis sobald
    der die das den dem des ein eine einen einem einer mit von bei zu nach für in im am an auf
    play sing spell translate google search write text type send titled song message email tell
    glaube denke weiß hoffe sag sage dann so jetzt heute gestern morgen hier dort daher
"""
_GOVERNING = frozenset(_GOVERNS.split())
"""Words before a subject that govern its clause."""
_TITLED = """
    wife husband partner girlfriend boyfriend mother mom mum father dad sister brother son daughter
    aunt uncle cousin friend boss dog cat bf gf hubby bro sis baby kid kitten puppy partner fiance
    doctor dr mr mrs ms miss dentist teacher colleague neighbor neighbour boss nurse saint st
    frau mann tochter sohn schwester bruder freund freundin mutter vater hund katze
"""
_TITLES = frozenset(_TITLED.split())
"""Words before a name that belongs to them."""
_REPEATS = re.compile(r"s?he['’]?s\b", re.IGNORECASE)
_HE_IS = re.compile(r"\b(?:my|our|his|her)(?: [\w-]+){1,3}\Z", re.IGNORECASE)
"""A person whom "he" or "she" repeats: "my husband rob hes a teacher"."""
_RELATIVE = re.compile(
    r"\b(?:the|that|those|these|every|all|any|which|what) (?:[\w'’-]+ )?[\w'’-]+\Z", re.IGNORECASE
)
"""What the words after it may describe: "the flat" before "i live in"."""
_JAPANESE_END = re.compile(
    r"(?:[てで]い|ん[でだ])て(?=[^いるまたも、。])"
    r"|(?:です|ます|だ|ました)(?:よね?|けど|ね)(?=あと|それと|それから|でも)"
    r"|(?:名前|出身|職業|仕事|趣味|誕生日|年収|給料|家賃)は[^はがでを、。]{1,8}で"
    r"(?=[^すもはしき、。]{1,12}(?:に住|で働|に勤|が好|が嫌)"
    r"|(?:今年|今|もうすぐ)?[\d一二三四五六七八九十]{1,3}歳)"
)
MOST_OF_CORRECTION = 5
"""Words of a correction before it says what is right: "no sorry not eggs i mean nuts"."""
MOST_JAPANESE = 200
"""Characters of a Japanese sentence that is taken apart."""


def is_in_small_letters(text: str) -> bool:
    """Whether a text has no capital but "I" and its first letter."""
    return _CAPITALS.search(text, 1) is None


def spoken_sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a message, and the statements of a dictated one."""
    for sentence in sentences(text):
        start = 0
        for end, begin in (*_breaks(_without_shouting(sentence.text)), (len(sentence.text), 0)):
            part = sentence.text[start:end]
            if words := part.strip():
                begins = sentence.start + start + part.index(words)
                yield Sentence(words, begins, begins + len(words))
            start = begin


def _without_shouting(text: str) -> str:
    """The text in small letters if it has no other ones than capitals."""
    return text.lower() if text.isascii() and text.isupper() else text


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Where a statement of a sentence ends, and where the next one begins."""
    if text.endswith(("?", "？")):
        return
    if not text.isascii() and len(text) <= MOST_JAPANESE and "、" not in text:
        yield from ((end.end(), end.end()) for end in _JAPANESE_END.finditer(text))
    is_dictated = (
        text.count(" ") + 1 >= LEAST_WORDS
        and is_in_small_letters(text)
        and _MARKS.search(text) is None
    )
    candidates = [*_CORRECTS.finditer(text)]
    if is_dictated:
        candidates += [*_BEGINS.finditer(text), *_ASIDE.finditer(text)]
    start = 0
    for place in sorted(candidates, key=re.Match.span):
        if place.start() <= start:
            continue
        before = text[start : place.start()]
        opens = (
            _OPENS_CORRECTION.match(before) is not None and before.count(" ") < MOST_OF_CORRECTION
        )
        if place.re is _BEGINS:
            ends = _ends(before, place) and not (opens and _IS_CORRECTED.match(text, place.end()))
        else:
            ends = place.re is _ASIDE or not opens
        if ends:
            yield place.span()
            start = place.end()


def _ends(before: str, place: re.Match[str]) -> bool:
    """Whether a statement ends before a subject.

    Args:
        before: The words before it.
        place: Where the subject begins, with the words that join it.

    """
    last = _LAST_WORD.search(before)
    if last is None or before.count(" ") < 1 or last.group().lower() in _GOVERNING:
        return False
    if place["please"] is not None and place["joins"]:
        return False
    if place["thing"] is not None and _AND.search(place["joins"]) is None:
        return False
    if not place["joins"] and _RELATIVE.search(before) is not None:
        return False
    name = place["name"]
    if name is not None and (not is_given_name(name) or last.group().lower() in _TITLES):
        return False
    repeats = _REPEATS.match(place.string, place.end()) is not None and _HE_IS.search(before[-40:])
    return not repeats and _IN_A_CORRECTION.match(before) is None
