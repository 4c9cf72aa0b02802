"""Spell out what is typed in a hurry: names in capitals, chat words, numbers.

Rules read names by their capitals. In a text of small letters these are restored where a name is
expected: of persons after "my daughter", of towns after "live in", of employers after "work at".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from memory_core.domain.text.dictation import (
    FILLER,
    OPENING,
    RELATIVE,
    is_in_small_letters,
    with_last_day,
)
from memory_core.domain.text.given_names import is_given_name
from memory_core.domain.text.spelling import ANY_GERMAN_MONTH, ANY_MONTH, ANY_WEEKDAY
from memory_core.domain.text.spoken_numbers import with_digits
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.text.towns import is_town

_FILLERS = re.compile(
    rf"(?:(?<=\s)(?:{FILLER})|\A(?:(?:{OPENING}|so|ok|okay) )*(?:{OPENING}))"
    r" (?!(?:as|many|much|that|enough|of|done)\b)"
    r"|\A(?:えっと|え[ーえ]っ?と|あの(?:ー|ね|さ(?!っき))|うーん|そういえば|まあ|なんか|あと|やっぱり?)[ーさね]?"
    r"(?:、|(?=[\u30a1-\u30fa\u4e00-\u9fff]))"
    r"|\Aあの(?![町街家村国辺部寮人])(?=[\u30a1-\u30fa\u4e00-\u9fff]{1,8}(?:に住|で働|出身|の出身))|(?:えっと|え[ーえ]っ?と)ー?、?",
    re.IGNORECASE,
)
_CHAT_WORDS = {
    "bf": "boyfriend",
    "gf": "girlfriend",
    "bday": "birthday",
    "b-day": "birthday",
    "hubby": "husband",
    "bro": "brother",
    "sis": "sister",
    "appt": "appointment",
    "tmrw": "tomorrow",
    "tmr": "tomorrow",
    "tmw": "tomorrow",
    "u": "you",
    "ur": "your",
    "pls": "please",
    "plz": "please",
    "fav": "favourite",
    "fave": "favourite",
    "gotta": "have to",
    "gonna": "going to",
    "wanna": "want to",
    "thx": "thanks",
    "whats": "what's",
    "wats": "what's",
    "whens": "when's",
    "wheres": "where's",
    "thurs": "thursday",
    "tues": "tuesday",
    "weds": "wednesday",
    "doc": "doctor",
}
_CHAT_WORD = re.compile(rf"(?<![\w'’.-])(?:{'|'.join(_CHAT_WORDS)})(?![\w'’.-])", re.IGNORECASE)
_LIKE = re.compile(
    r"\b(for|have|had|got|in|i['’]?m|about|maybe) like"
    r" (?=(?:an?|the|some|two|three|four|five|ten|\d+)\b(?! (?:sister|brother|mother|father)\b))"
    r"|\b(don['’]?t) like (?=(?:live (?:there|here|in|with)|know|think|have|want|need)\b)"
    r"|\b((?:allergic to|i take) [^,.]{2,40} and) like "
    r"|(?<=\w)() like (?=(?:two|three|four|five|six|ten|\d+) (?:week|day|year|month|hour)s?\b)"
    r"|\b() (?:kinda|sorta|kind of|sort of) (?=(?:like|love|hate|want|need)\b)"
    r"|\b(love|hate|eat|want|need) like (?=(?:proper|really|super|very|all|lots|actual)\b)"
    r"|\b(is|costs?|pay|earn|make|weigh) like (?=\d)"
    r"|\b(we|i|they) like (?=(?:live (?:in|near|with)|moved|went|got|just|totally|literally)\b)"
    r"|(?<!feels)(?<!seems)(?<!looks)(?<!sounds)(?<!just)() like (?=every (?:day|morning|night"
    r"|week|month|single)\b)"
)
"""The filler "like" before a noun: "i have like a haircut"."""
_MAIL = re.compile(
    r"(?<![\w+-])([\w+-]{1,40}(?:(?: dot |\.)[\w+-]{1,40}){0,2})"
    r" at ([\w-]{1,40}(?:(?: dot |\.)[\w-]{1,40}){0,2})"
    r" dot (com|org|net|de|uk|io|eu|fr|jp|ch|edu)\b"
)

_MISSPELT = """
    allergic allergy appointment birthday boyfriend brother colleague daughter dentist diabetic
    divorced doctor engaged favourite favorite girlfriend grandma husband married mother peanuts
    pregnant shellfish sister surgery vegetarian diabetes address allergisch haselnüsse vegetarisch
"""
_VOWELS = "aeiou"


def _slips(word: str) -> dict[str, str]:
    """The word by each slip: a letter left out, twice or misplaced, another vowel."""
    places = range(1, len(word) - 1)
    slips = {word[:place] + word[place + 1 :] for place in places}
    slips |= {word[: place + 1] + word[place:] for place in places}
    slips |= {word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in places}
    slips |= {
        word[:place] + vowel + word[place + 1 :]
        for place in places
        if word[place] in _VOWELS
        for vowel in _VOWELS
    }
    return dict.fromkeys(slips - {word}, word)


_REAL_WORDS = "bother mater moter farther marred sifter favorite"
"""Slips that are words."""
_SLIPS: Final = {
    slip: right
    for word in _MISSPELT.split()
    for slip, right in _slips(word).items()
    if slip not in {*_MISSPELT.split(), *_REAL_WORDS.split()}
}
_WORD = re.compile(r"(?<![\w'’])[a-zäöüß]{5,12}(?![\w'’])")

_CONTINUED = (
    (re.compile(r"(?<=[てで])いて\Z"), "います"),
    (
        re.compile(
            r"(?:\A|(?<=は))(?:\d{1,3}|[一二三四五六七八九十]{1,4})歳?、?(?:あ、?違う|あ|いや|じゃなくて)、?"
            r"(?=\d{1,3}歳)"
        ),
        "",
    ),
    (re.compile(r"(?<=ん)でて\Z"), "でいます"),
    (re.compile(r"なん(?:だ|です)(?:よね?|けど|ね)?\Z"), "です"),
    (
        re.compile(
            r"(?<=[はがを])[^はがを、。]{1,10}?"
            r"(?:じゃなくて|ではなくて|、?あ、?違う|、?いや違う|、?違った)、?"
        ),
        "",
    ),
    (re.compile(r"\Aうん、?(?=[\u30a1-\u30fa\u4e00-\u9fff])"), ""),
    (re.compile(r"(?<=は)([^はがでを、。]{1,8}で)\Z"), r"\1す"),
)
"""Japanese: ends of clauses that another one continues, corrections and words of spoken talk."""
_RELATIVES = (
    r"sisters|brothers|sons|daughters|kids|children|boys|girls|dogs|cats|friends"
    r"|töchter|söhne|schwestern|brüder|kinder|katzen|hunde|jungs|mädchen"
)
_CUE = re.compile(
    r"\A(?P<cue>(?:no|nein|sorry|oh) (?:wait|sorry|warte|moment|i meant?)|wait no|scratch that"
    r"|ach (?:nein|nee?)|(?:no|nein)(?= \d)) (?!(?:time|list|staff|room|and|und)\b)",
    re.IGNORECASE,
)
"""Opens a correction; the words after it are read apart."""
_LACKS_APOSTROPHE = re.compile(
    rf"\b(?P<whose>(?:my|our|his|her)(?: (?:older|younger|little|big|best))? (?:{RELATIVE}))s"
    r" (?=(?:name|birthday|called|named|job|number|address|favou?rite|phone|wedding|house|dog|cat"
    r"|car|the|an?|not|gone|dead|sick|ill|pregnant|allergic|turning|getting|coming|moving)\b)"
    r"|\b(?P<what>(?:my|our) (?:name|birthday|appointment|flight|job|rent|salary|wedding|exam"
    r"|interview|meeting|surname|address|phone|number|e-?mail|favou?rite [a-z]{3,12}))s"
    r" (?=(?:the|an?|on|at|in)\b(?![^,.;]{0,80} (?:are|were|have)\b)|\d|[a-z]{3,14}\Z)"
)
_REPEATED = re.compile(
    rf"\b(?P<who>(?:my|our) (?:{RELATIVE})(?: (?P<name>[a-zà-ÿ]{{3,14}}))?) s?he['’]?s\b",
    re.IGNORECASE,
)
_SOLD = re.compile(r"\A(?P<sold>(?:i )?sold (?:my|the|our) [\w-]+) (?=(?:got|bought) an? )")
_ME_AND = re.compile(
    r"\A(?P<opening>(?:so |and )?)me and (?P<who>(?:my )?[a-zà-ÿ]{3,14})\b", re.IGNORECASE
)
_GIVEN = re.compile(
    r"(?:\b(?:is|are|was|were|(?:dog|cat|puppy|kitten|pet|horse|rabbit|hamster|parrot))|['’]s)"
    r" (?:called|named) (?P<name>(?!after\b|for\b)[a-zà-ÿ]{3,14})\b"
    r"|\b(?:(?:his|her|its) name is|hei(?:ß|ss)t|namens) (?P<after>[a-zà-ÿ]{3,14})\b"
    r"(?! (?:the|an?|in|for|by|at|after)\b)",
    re.IGNORECASE,
)
_EXPECTED = re.compile(
    rf"(?:\A|\b(?:{_RELATIVES}|{RELATIVE}|(?P<is>(?:{RELATIVE}) is)|called|named"
    r"|names? (?:are|is)|name['’]?s|call me|hei(?:ß|ss)e?(?: übrigens)?|nenn mich|i am"
    r"|i['’]?m|it['’]?s|this is|ich bin|(?P<beside>with|mit|met|meet|miss|visit|visiting)"
    r"|(?P<after>[a-zà-ÿ]{3,14}) (?:and|und)"
    r"|(?:no|wait|nein|ach) (?:wait|sorry|no|nee?|warte|moment),?) )"
    r"(?=(?P<name>[a-zà-ÿ]{3,14})(?![\w-]))",
    re.IGNORECASE,
)
"""Words before a name."""
_I_AM_NAMED = re.compile(
    rf"\b[iI]m (?=[A-ZÀ-Þ][a-zà-ÿ]+\b)(?!(?i:{ANY_GERMAN_MONTH}|{ANY_MONTH}|jan)\b)"
)
_LISTED = re.compile(rf"\b({_RELATIVES}) (?=[A-ZÀ-Þ][a-zà-ÿ]+ (?:and|und|[A-ZÀ-Þ]))")
_TOWN = re.compile(
    r"\b(?:liv(?:e[sd]?|ing)|mov(?:e[sd]?|ing)|born|grew up|based|relocat\w+|fly(?:ing)?|flew"
    r"|trip|travel\w*|going|am|i['’]?m|we['’]?re|wohn\w*|leb\w*|zieh\w*|gezogen|umzug"
    r"|komme?|flieg\w*|bin|sind)"
    r"(?: (?!(?:in|to|from|nach|aus)\b)[\w'’]+){0,3} (?:in|to|from|nach|aus)"
    r" (?P<name>[a-zà-ÿ-]{3,20}(?: [a-zà-ÿ-]{3,14}){0,2})",
    re.IGNORECASE,
)
_MEANT_TOWN = re.compile(
    r"\b(?:meant?|sorry|wait|no),? (?P<name>[a-zà-ÿ-]{4,20}(?: [a-zà-ÿ-]{3,14})?)\Z", re.IGNORECASE
)
_NO_TOWN = re.compile(
    rf"(?:{ANY_MONTH}|{ANY_WEEKDAY}|reading|bath|ask|manage|media|bed|store|us|college|university"
    r"|bad|halle|best|most|date|deal|nice|mobile|bridge|center|bay|buy|hit|or|time|yoga|turn|post|long)\Z",
    re.IGNORECASE,
)
_EMPLOYER = re.compile(
    r"\b(?:work(?:s|ed|ing)?|job|arbeite[tn]?|angefangen|gearbeitet)(?: \w+)? (?:at|bei)"
    r" (?P<name>[a-zà-ÿ&]{3,20})(?=\s|\Z)|\bnicht mehr bei (?P<left>[a-zà-ÿ&]{3,20})\b"
    r"|(?:\A|\bi )(?:(?:just|finally|have) )?quit (?P<quit>(?!\w+ing\b)[a-zà-ÿ&]{3,20})"
    r"(?=\Z| (?:yesterday|today|last|this|in|on|and|so)\b)"
    r"|\bi['’]?m (?:at|with) (?P<now>[a-zà-ÿ&]{3,20})(?= now\Z)"
    r"|\bich bin (?!(?:immer|wieder|lieber|später|weiter|hier|drin|mittendrin)\b)"
    r"\w{2,20}(?:er|in|ent|ist|mann|frau|kraft|or) bei (?P<bei>[a-zà-ÿ&]{3,20})(?=\s|\Z)",
    re.IGNORECASE,
)
_NO_EMPLOYERS = """
    the our his her their home night day least school work once one two three four five six seven
    eight nine ten noon midnight all any some that this them him you years months weeks days free
    another money fun myself now sea height heights dawn dusk noon lunch dinner breakfast uni church
    court college university hospital weekends times present random speed scale pace full half peak
    ground christmas easter banks shops nights regen nacht tag tageslicht mir dir der die das dem
    den einer einem ihm ihr uns peace rest ease risk sports smoking coffee sugar alcohol drinking
    vaping school meat caffeine soda weed porn cigarettes football facebook instagram twitter
"""
_NO_EMPLOYER = frozenset(_NO_EMPLOYERS.split())
_CHILDREN = re.compile(r"\b(?P<name>töchter|söhne|schwestern|brüder|kinder|katzen|hunde|jungs)\b")
_JOB = re.compile(r"\b(?:arbeite[tn]?|bin|job|stelle)\b[^,.]{0,40} als (?P<name>[a-zäöüß]{4,30})\b")
_MONTH = re.compile(
    rf"(?:\d\. ?|\b(?:im|seit|ab|ende|anfang|mitte) )(?P<name>{ANY_GERMAN_MONTH})\b"
)


def _capital(match: re.Match[str], group: str = "name", count: int = 3) -> str:
    """The match with capitals in a group's first words."""
    start, end = (place - match.start() for place in match.span(group))
    each = match[group].split(" ")
    written = (f"{word[:1].upper()}{word[1:]}" for word in each[:count])
    return match.group()[:start] + " ".join((*written, *each[count:])) + match.group()[end:]


_ALSO_WORDS = """
    april august bill bob chuck dean frank grace jack jan june juni lance mark max nick pat pierce
    rob rose sue wade
"""
_AMBIGUOUS = frozenset(_ALSO_WORDS.split())
"""Names that are verbs or nouns, too; they are names only before what a person does."""
_STATES = """
    angel baker bishop carter christian dean earnest french gay german hunter mason merry noble
    norman rusty sage taylor
"""
_STATE = frozenset(_STATES.split())
"""Names that say what a person is: "my boss is german"."""
_IS_MY, _IS = re.compile(r"\bis (?:my|our) [a-z]{2,12}\Z"), re.compile(r" is\b")
"""Of "sandra is my sister sarah is my boss", the second name begins a clause."""
_IS_NAMED = re.compile(r"\Z| (?:and|he|she|not|now)\b")
_OF_A_PERSON = re.compile(
    r"\Z| (?:is|was|has|and|und|who|works?|lives?|turned|just|got|had|will|ist|hat|wohnt"
    r"|arbeitet)\b(?! honest)"
)
_BESIDE = re.compile(r"\Z| (?:and|und|in|on|at|yesterday|today|tomorrow|last|is|was|has)\b")
"""What may come after a person whom one meets, not after a thing: "with basil"."""


_SHOUTED = re.compile(r"\b[A-Z]{2,8}\b")
_WITH = re.compile(
    r"(?<=[a-z] )w(?:/ ?| )(?=(?:my|our|the|an?|him|her|them|friends|(?P<name>[a-z]{3,14}))\b)"
)


def _with(match: re.Match[str]) -> str:
    """The word "with" before a person: "dinner w sam"."""
    is_company = match["name"] is None or is_given_name(match["name"])
    return "with " if is_company else match.group()


def _once(match: re.Match[str]) -> str:
    """A person with "is", where "he's" says again who it is."""
    is_named = match["name"] is None or is_given_name(match["name"])
    return f"{match['who']} is" if is_named else match.group()


def _with_persons(text: str) -> str:
    """The text with the given names in capitals where names are expected."""
    starts = [match.start("name") for match in _EXPECTED.finditer(text) if _is_person(match)]
    for start in starts:
        text = f"{text[:start]}{text[start].upper()}{text[start + 1 :]}"
    return text


def _is_person(match: re.Match[str]) -> bool:
    name, after = match["name"].lower(), match["after"]
    end = match.end("name")
    if name in _AMBIGUOUS and _OF_A_PERSON.match(match.string, end) is None:
        return False
    if _IS_MY.search(match.string[: match.start("name") - 1]) and _IS.match(match.string, end):
        return False
    if match["is"] is not None and (name in _STATE or _IS_NAMED.match(match.string, end) is None):
        return False
    if match["beside"] is not None and _BESIDE.match(match.string, end) is None:
        return False
    return (after is None or is_given_name(after)) and is_given_name(name)


def _town(match: re.Match[str]) -> str:
    each = match["name"].split(" ")
    for count in range(len(each), 0, -1):
        name = " ".join(each[:count])
        if is_town(name) and _NO_TOWN.match(name) is None:
            return _capital(match, count=count)
    return match.group()


def _employer(match: re.Match[str]) -> str:
    group = match.lastgroup or "name"
    return match.group() if match[group].lower() in _NO_EMPLOYER else _capital(match, group)


_REPAIRS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_I_AM_NAMED, "I'm "),
    (_CUE, r"\g<cue>, "),
    (_LISTED, r"\1, "),
    (_TOWN, _town),
    (_MEANT_TOWN, _town),
    (_EMPLOYER, _employer),
    (_JOB, _capital),
    (_MONTH, _capital),
    (_CHILDREN, _capital),
    *_CONTINUED,
)
"""What is written otherwise, in this order."""


@keep_texts(512)
def spelled_out(text: str) -> str:
    """A statement as it would be written.

    Args:
        text: A statement. If it has capitals, other than "I", it was written out already, and is
            returned as it is.

    """
    if not is_in_small_letters(text):
        return text
    text = _SHOUTED.sub(lambda word: word.group().lower(), text)
    plain = _FILLERS.sub("", with_last_day(with_digits(text)))
    plain = _CHAT_WORD.sub(lambda word: _CHAT_WORDS[word.group().lower()], plain)
    plain = _WITH.sub(_with, plain)
    plain = _LACKS_APOSTROPHE.sub(lambda m: f"{m['whose'] or m['what']}'s ", plain)
    plain = _REPEATED.sub(_once, _LIKE.sub(lambda m: f"{m[m.lastindex or 1]} ", plain))
    plain = _SOLD.sub(r"\g<sold> and ", _ME_AND.sub(r"\g<opening>\g<who> and I", plain))
    plain = _MAIL.sub(
        lambda m: "{}@{}.{}".format(*(p.replace(" dot ", ".") for p in m.groups())), plain
    )
    plain = _WORD.sub(lambda word: _SLIPS.get(word.group(), word.group()), plain)
    plain = _GIVEN.sub(lambda match: _capital(match, "name" if match["name"] else "after"), plain)
    plain = _with_persons(plain)
    for expression, written in _REPAIRS:
        plain = expression.sub(written, plain)
    return plain
