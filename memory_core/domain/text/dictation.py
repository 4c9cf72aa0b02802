"""Find the statements of a message that is dictated, or typed in a hurry.

"so um my daughter lena just turned five and we live in leeds" has no marks of sentences. It is
taken apart where a subject and its verb begin, but only behind a whole statement, and not if any
word of it reports, supposes or denies. A correction within a breath is a sentence of its own, too:
"on monday no wait tuesday".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.domain.text.given_names import is_given_name
from memory_core.domain.text.sentences import Sentence, sentences
from memory_core.domain.text.spelling import (
    ANY_GERMAN_WEEKDAY,
    ANY_MONTH,
    ANY_WEEKDAY,
    GERMAN_NUMBER_WORDS,
    NUMBER_WORDS,
)
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.text.towns import is_town

LEAST_WORDS = 7
"""Words of a text that may have several statements without marks between them."""
_MARKS = re.compile(r"(?<!\d)[.!?;:,](?=\s|\Z)|[。、！？\n]")
_CAPITALS = re.compile(
    r"(?<!\w)(?!(?:I|NOW|NOT|NEVER|ALWAYS|PLEASE|REALLY|SO|VERY)\b)\w{0,20}?[A-ZÄÖÜ]"
)
FILLER = r"u{1,9}h{1,9}m{0,9}|u{1,9}m{1,9}|erm{1,9}|h{1,9}m{1,9}|ä{1,9}h{1,9}m{0,9}|by the way|btw"
"""Words that say nothing wherever they are."""
OPENING = (
    rf"{FILLER}|you know|anyways?|oh|omg|yo|ugh|wow|well|naja|halt|übrigens|also|hey|basically|tbh"
)
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
    r"|(?P<asks>(?:please|pls)(?= [a-z])"
    r"|just (?:give|tell|keep|use|call|make|show|send|remember)"
    r"|(?:(?<=\bsecret )|(?<=\bprivate ))(?:forget|delete)))\b(?! and\b)"
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
_ASIDE = re.compile(
    r" (?=(?:thx|thanks|ty|yay|ok(?:ay)?)(?: \w+)?\Z"
    r"|(?<!i'm )(?<!im )(?<!am )(?<!no )(?<!so )sorry\b(?! i mean))",
    re.IGNORECASE,
)
"""What says nothing more about the statement before it: "thx", "sorry caps lock"."""

# A statement is whole if it opens with a subject and has a verb with something behind it.

_OPENED = re.compile(
    rf"\A(?:(?:{OPENING}|{_JOINS}|ok|okay|hi|hello|yeah|yes|no|lol|actually|now|jetzt|wait) )*"
    r"(?:(?:i|we|you)(?:['’]?(?:m|ve|re))?|s?he(?:['’]?s)?|they(?:['’]?re)?|it(?:['’]?s)?"
    r"|th(?:ere|at)(?:['’]?s)?|my|our|his|her|their|the|ich|wir|er|sie|es|mein\w*|unser\w*|bin|hab|wohn\w*"
    r"|quit|sold|got|moved|gave|switched|dropped|stopped|started|(?P<name>[a-zà-ÿ]{3,14}))\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"(?:\b(?:i['’]?m|i['’]?ve|s?he['’]?s|they['’]?re|we['’]re|it['’]?s|thats|am|is|are|was|were|have|has"
    r"|had|got|live|lives|work|works|moved|quit|sold|bought|like|likes|love|loves|hate|hates|need"
    r"|needs|want|wants|can|can['’]?t|cannot|don['’]?t|doesn['’]?t|turned|called|named|eat|eats"
    r"|drink|speak|speaks|play|plays|study|studies|take|takes|started|stopped|gave|lost|broke"
    r"|died|left|married|born|gave|switched|dropped|bin|ist|habe?|hat|hei(?:ß|ss)[et]|wohnt?e?|wohnen|arbeite[tn]?"
    r"|mag|esse|war|sind|haben|trinke|vertrage?|names?)\b|['’]s\b) \S"
    r"|\b(?:i|we) (?:just |finally )?(?:moved|quit|retired)\Z|\A[\w'’]+ (?:left|died|quit)\Z",
    re.IGNORECASE,
)
_GOVERNS = re.compile(
    r"\b(?:if|when|whenever|unless|until|whether|in case|once (?!a\b|in\b)|who|whose|whom|which"
    r"|while|before|after|(?:since|(?<!secret forget )(?<!private forget )that) (?:i|we|he|she"
    r"|they|my)|what|how|why|where|than"
    r"|suppos\w*|imagin\w*|pretend\w*"
    r"|dream\w*|hypothe\w*|claim\w*|belie\w+|insist\w*|swears?|swore|assum\w+|says?|said|saying"
    r"|tells?|told|telling|wrote|writ\w+|texted|asks?|asked|asking|think|thinks|thought|guess"
    r"|knows?|knew|hop(?:e|es|ed|ing)|wish\w*|would|could|might|may|maybe|perhaps|jok\w+|kidding"
    r"|lyrics?|goes like|quote\w*|shout\w*|yell\w*|begg?\w*|whisper\w*|announc\w*|promis\w*"
    r"|ruled out|den(?:y|ied|ies)|doubt\w*|lie[sd]?|lying|translate|spell|google"
    r"|(?:text|email|message|call|send|write) (?:my|him|her|them|to|an?|the)"
    r"|(?:play|sing|put on) (?:that|some|the|me|i['’]?m)"
    r"|in (?:the|an?|my|this) (?:\w+ )?(?:film|movie|novel|book|song|game|story|dream|play)"
    r"|wenn|falls|ob|sobald|bevor|dass|weil|sagt\w*|sagen|gesagt|mein(?:st|ten?)|glaub\w*|denk\w*"
    r"|dachte\w*|stell dir|angenommen|hätten?|wären?|würden?|könnten?|träum\w*|geträumt|behaupt\w*"
    r"|erzähl\w*|schreib\w*|schrieb\w*)\b",
    re.IGNORECASE,
)
"""Words that report, suppose, deny or describe; what they govern is not told by the order."""
RELATIVE = (
    r"wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad"
    r"|sister|brother|son|daughter|kid|child|baby|grandma|grandpa|aunt|uncle"
    r"|cousin|niece|nephew|friend|roommate|flatmate|colleague|coworker|neighbou?r|boss|manager"
    r"|doctor|dentist|therapist|teacher|dog|cat|puppy|kitten|horse|rabbit|hamster|parrot"
    r"|frau|mann|tochter|sohn|schwester|bruder|freund(?:in)?|mutter|vater|hund|katze|chef(?:in)?"
    r"|oma|opa|onkel|tante|nachbar(?:in)?|kolleg(?:e|in)"
)
"""Relatives and others of a person, whose name may come right after."""
_TITLE = re.compile(
    rf"(?:{RELATIVE}|bf|gf|hubby|bro|sis|dr|mrs?|ms|miss|nurse|saint|st)\Z", re.IGNORECASE
)
"""Words before a name that belongs to them."""
_IS_MY = re.compile(r"\bis (?:my|our) [a-z]{2,12}\Z", re.IGNORECASE)
_IT_IS_NUMBER = re.compile(r"it(?:['’]?s| is) \d")
_NO_ENDINGS = """
    a about all am an and any are as at be because before but by can every for from her his in into
    is just like me my no nor not of on or our please pls so than that the their them then to was we
    were will with without you your still also never always really
    aber als am an auf bei da damit das dem den denn der des die dort ein eine einem einen einer für
    hier im in ist jetzt mit nach nicht noch so und von war zu
"""
_NO_END = frozenset(_NO_ENDINGS.split())
"""Words that do not end a statement."""
_LAST_WORD = re.compile(r"(?<![\w'’])[\w'’]{1,40}\Z")
_REPEATS = re.compile(r"s?he['’]?s\b", re.IGNORECASE)
_HE_IS = re.compile(r"\b(?:my|our|his|her)(?: [\w-]+){1,3}\Z", re.IGNORECASE)
"""A person whom "he" or "she" repeats: "my husband rob hes a teacher"."""
_RELATIVE = re.compile(
    r"\b(?:the|those|these|every|all|any) (?:[\w'’-]+ )?[\w'’-]+\Z", re.IGNORECASE
)
"""What the words after it may describe: "the flat" before "i live in"."""

# Corrections within a breath.

_ANY_COUNT = "|".join((*NUMBER_WORDS[2:], *GERMAN_NUMBER_WORDS[2:], "twenty", "thirty", "forty"))
_COUNT = rf"(?:\d+|{_ANY_COUNT})"
CUE = (
    r"(?:no,? (?:wait|sorry|warte)|wait,? no|scratch that|sorry,? i (?:mean|meant)"
    r"|(?:nein|nee),? (?:wait|sorry|warte|moment|quatsch)|ach (?:nein|nee?))"
)
"""Words with which a person surely corrects what they just said."""
_CORRECTS = re.compile(
    rf" (?=(?:(?:oh|ah|uh|um|äh) )?{CUE} (?!time|list|staff|room|and\b|und\b)\w"
    rf"|i mean (?:{ANY_WEEKDAY}|{ANY_MONTH}|{_COUNT}|at|on|not)\b|i mean [a-z]+\Z"
    rf"|(?:no|nein) {_COUNT}\b(?! (?:way|one|idea)))",
    re.IGNORECASE,
)
_CORRECTS_IN_WRITING = re.compile(
    rf", (?=(?:(?:oh|ah|uh|um|äh),? )?{CUE},? (?!time|list|staff|room|and\b|und\b)\w)",
    re.IGNORECASE,
)
_DAY = rf"(?:{ANY_WEEKDAY}|{ANY_MONTH}|{ANY_GERMAN_WEEKDAY})"
_DAY_ENDS = (
    r"(?=\W*\Z|[,.;!?]| (?:(?:the )?\d|(?:at(?! all\b)|in|from|until|around|before|after|next|this"
    r"|morning|afternoon|evening|night|instead|um|ab|gegen|vor|nach|bis|früh|vormittag|mittag"
    r"|nachmittag|abend)\b))"
)
_OTHER_DAY = re.compile(
    rf"\b(?P<led>(?:on|in|am|im) )?{_DAY}(?: (?:oh|uh|um|ah|äh))?"
    rf" (?:{CUE}|i mean|ich mein(?:e|te)|no|nein|nee|quatsch)"
    rf" (?=(?P<leads>(?:on|in|am|im) )?{_DAY}\b{_DAY_ENDS})",
    re.IGNORECASE,
)
"""Of two days the first; "monday no tuesday is a holiday" has a second clause instead."""
_OTHER_TOWN = re.compile(
    r"\b(?P<led>in|nach|to|from|aus) (?P<old>[a-zà-ÿ-]{3,20})"
    rf" (?:{CUE}|i mean) (?:(?P=led) )?(?P<new>[a-zà-ÿ-]{{3,20}})\b",
    re.IGNORECASE,
)
_OPENS_CORRECTION = re.compile(
    r"\A\W{0,5}(?:no|nee?|wait|sorry|oops|nein|oh|ach|scratch|moment|warte|quatsch)\b",
    re.IGNORECASE,
)
_IN_A_CORRECTION = re.compile(
    r"\A\W*(?:(?:no|wait|sorry|actually|oh|uh|um|scratch that|nein|warte|moment|quatsch|ach)"
    r"\b\W*)+\Z",
    re.IGNORECASE,
)
_IS_CORRECTED = re.compile(r"i meant?\b", re.IGNORECASE)
MOST_OF_CORRECTION = 5
"""Words of a correction before it says what is right: "no sorry not eggs i mean nuts"."""
_JAPANESE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
_JAPANESE_END = re.compile(
    r"(?:[てで]い|ん[でだ])て(?=[^いるまたも、。])"
    r"|(?:です|ます|だ|ました)(?:よね?|けど|ね)(?=あと|それと|それから|でも)"
    r"|(?:名前|出身|職業|仕事|趣味|誕生日|年収|給料|家賃)は[^はがでを、。]{1,8}で"
    r"(?=[^すもはしき、。]{1,12}(?:に住んで(?:い?ます|い?て|い?るん|い?るよ|い?る\Z)|で働|に勤|が好|が嫌))"
)
_OF_ANOTHER_IN_JAPANESE = re.compile(
    r"(?:[妹弟兄姉父母娘夫妻彼]|息子|友達|友人|上司|同僚|先生|旦那|さん|くん|ちゃん)[はがのも]|もし|たら|なら|れば"
)
MOST_JAPANESE = 200
"""Characters of a Japanese sentence that is taken apart."""


def is_in_small_letters(text: str) -> bool:
    """Whether a text has no capital but "I", as no written sentence is."""
    return _CAPITALS.search(text) is None


def with_last_day(text: str) -> str:
    """A text in small letters with the right day in the place of a correction.

    "on tuesday no wait wednesday at three" → "on wednesday at three".
    """
    text = _OTHER_TOWN.sub(_last_town, text)
    return _OTHER_DAY.sub(lambda day: "" if day["leads"] else day["led"] or "", text)


def _last_town(match: re.Match[str]) -> str:
    """The last of two towns: "in leeds no wait york" → "in york"."""
    both = is_town(match["old"]) and is_town(match["new"])
    return f"{match['led']} {match['new']}" if both else match.group()


MOST_OF_SHORT = 5
"""Words of a short message that another one may continue."""
_HAS_SUBJECT = re.compile(
    r"\b(?:i|im|i['’]m|ive|id|ill|my|our|his|her|we|were|you|youre|he|hes|she|shes|its?|they|theyre"
    r"|theres?|th(?:is|ese|at|ats)|ich|wir|er|sie|es|mein\w*|lol|ok|no|yes|haha|nein|ja)\b"
)
_ASKS = re.compile(r"(?:what|who|how|where|when|why|which|can|could|do|does|is|are|was)\w*\b")
_IS_OPEN = re.compile(
    r"\b(?:at|in|to|from|with|my|the|a|an|called|named|bei|nach|mit|mein|meine"
    r"|my (?:name|birthday|number))\Z"
)
_LACKS_PLACE = re.compile(
    r"\b(?:(?:a|new) job(?: at \w+)?|(?:i|we|s?he)(?: (?:just|now|still))*"
    r" (?:works?|lives?|moved|study|studies)"
    r"|ich (?:arbeite|wohne|lebe)|(?:neuen|einen) job|neue stelle)\Z"
)
_IS_PLACE = re.compile(r"(?:at|in|to|for|with|starting|bei|nach|seit|ab|als|as) (?!least\b)\S")
_IS_NAMED = re.compile(r"(?:is|are|was) (?!(?:there|the|your?|u)\b)\S|(?:called|named) \S")
_IS_SAID_OF = re.compile(r"\bmy (?:[a-z]+ ){0,2}[a-z]+\Z")


def continues(begun: str, text: str) -> bool:
    """Whether a short message goes on with the unfinished statement before it.

    "at ikea" does after "got a new job", "is jonas" after "my name". A message with a subject of
    its own never does: "im a teacher".

    Args:
        begun: The message before, of the same speaker.
        text: The message.

    """
    begun = begun.rstrip("! ")
    if not all(map(is_in_small_letters, (begun, text))) or not begun or not text:
        return False
    is_short = text.count(" ") < MOST_OF_SHORT and begun.count(" ") < 2 * MOST_OF_SHORT
    if not is_short or _MARKS.search(begun) or text.endswith(("?", "!")):
        return False
    if _HAS_SUBJECT.search(text) or _ASKS.match(begun):
        return False
    if _IS_SAID_OF.fullmatch(begun) and _IS_NAMED.match(text):
        return True
    if _LACKS_PLACE.search(begun):
        return _IS_PLACE.match(text) is not None
    return _IS_OPEN.search(begun) is not None


def spoken_sentences(text: str, *, corrections: bool = True) -> Iterator[Sentence]:
    """The sentences of a message, and the statements of a dictated one.

    Args:
        text: The message.
        corrections: Whether a correction within a sentence is a sentence of its own.

    """
    for sentence in sentences(text):
        plain = _without_shouting(sentence.text)
        breaks = (_breaks if corrections else _breaks_of_statements)(plain)
        if not breaks:
            yield sentence
            continue
        start = 0
        for end, begin in (*breaks, (len(plain), 0)):
            part = sentence.text[start:end]
            if words := part.strip():
                begins = sentence.start + start + part.index(words)
                yield Sentence(words, begins, begins + len(words))
            start = begin


def _without_shouting(text: str) -> str:
    """The text in small letters if it has no other ones than capitals."""
    return text.lower() if text.isascii() and text.isupper() else text


@keep_texts(256)
def _breaks(text: str) -> tuple[tuple[int, int], ...]:
    return (*_read_breaks(text, corrections=True),)


@keep_texts(256)
def _breaks_of_statements(text: str) -> tuple[tuple[int, int], ...]:
    return (*_read_breaks(text, corrections=False),)


def _read_breaks(text: str, *, corrections: bool) -> Iterator[tuple[int, int]]:
    """Where a statement of a sentence ends, and where the next one begins."""
    if text.endswith(("?", "？")):
        return
    if _JAPANESE.search(text) is not None:
        is_spoken = len(text) <= MOST_JAPANESE and "、" not in text
        if is_spoken and _OF_ANOTHER_IN_JAPANESE.search(text) is None:
            yield from ((end.end(), end.end()) for end in _JAPANESE_END.finditer(text))
        return
    is_hurried = is_in_small_letters(text)
    candidates = list[re.Match[str]]()
    if corrections:
        days = [day.span() for day in _OTHER_DAY.finditer(text)] if is_hurried else []
        if is_hurried:
            days += [
                town.span() for town in _OTHER_TOWN.finditer(text) if _last_town(town) != town[0]
            ]
        candidates += (
            match
            for match in (_CORRECTS if is_hurried else _CORRECTS_IN_WRITING).finditer(text)
            if not any(start < match.start() < end for start, end in days)
        )
    if (
        is_hurried
        and text.count(" ") + 1 >= LEAST_WORDS
        and _MARKS.search(text) is None
        and _GOVERNS.search(text) is None
    ):
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
            ends = not opens and (place.re is not _ASIDE or _is_whole(before))
        if ends:
            yield place.span()
            start = place.end()


def _ends(before: str, place: re.Match[str]) -> bool:
    """Whether a whole statement ends before a subject.

    Args:
        before: The words before it.
        place: Where the subject begins, with the words that join it.

    """
    last = _LAST_WORD.search(before)
    if last is None or last.group().lower() in _NO_END or not _is_whole(before):
        return False
    joins, name = place["joins"], place["name"]
    if joins and place["asks"] is not None:
        return False
    if not joins and (place["thing"] is not None or _RELATIVE.search(before) is not None):
        return False
    if name is not None and (
        not is_given_name(name) or (_TITLE.match(last.group()) and not _IS_MY.search(before))
    ):
        return False
    if _IT_IS_NUMBER.match(place.string, place.end()):
        return False
    repeats = _REPEATS.match(place.string, place.end()) is not None and _HE_IS.search(before[-40:])
    return not repeats and _IN_A_CORRECTION.match(before) is None


def _is_whole(words: str) -> bool:
    """Whether words are a statement: a subject, its verb, and something behind it."""
    opening = _OPENED.match(words)
    if opening is None or (opening["name"] is not None and not is_given_name(opening["name"])):
        return False
    return _STATES.search(words) is not None
