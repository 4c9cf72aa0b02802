"""Signs of a wish in a sentence: its words by what they do, how these stand to each other, and what rules a wish out.

A sentence becomes marks, one for each known phrase, punctuation mark or run of other words. The features of the linear model
(`linear_models`) are kinds of marks, pairs of kinds, and signs of the order of the marks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memory_core.domain.statements.wish_lexicon import PHRASES
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.spelling import NUMBER_WORDS

OTHER_WORDS = "_"
"""The kind of a run of words that are in no list."""
BREAK = ","
"""The kind of a mark of punctuation."""
MAX_PHRASE_WORDS = 5
MAX_MARKS = 45
"""Of a sentence; a longer one tells a story."""
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[,;:.!?…–—、。！？]")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}+\"|“[^“”\n]{1,400}+”|„[^„“”\n]{1,400}+[“”]|«[^«»\n]{1,400}+»|「[^「」\n]{1,400}+」|『[^『』\n]{1,400}+』"
)
_CAPITAL = re.compile(r"(?<=\s)[A-ZÄÖÜ][^\W\d_]+")
_JA_BREAKS = frozenset("、,。；;:：")
_CLAUSE_WORDS = frozenset({"so", "but", "aber", "ので", "から", "also"})
_REMOVES = frozenset({"FORGET", "DELETE", "DROP", "VERGESSEN"})
_ACTS = frozenset({"ANSWERV", "DO_ANSWER", "SUGGEST", "ADDRESS_ME", "MENTION", "ANSWER", "REPLY", "MANNER", "LIMITS"})
_BEFORE_IMPERATIVE = frozenset({"PLEASE", "LEAD", "FUNC", "EARLIER", "WISH", "YOU", "STAND", "AGAIN_OK", "MUST"})
_BESIDE_VERB = frozenset({"to", "ever", "just", "even", "zu", "mal", "ma", "bitte", "einfach"})
_ARTICLES = frozenset(
    {"the", "a", "an", "my", "our", "this", "that", "der", "dem", "den", "des", "meinem", "meiner", "unserem", "unserer", "diesem"}
)
_TELL = frozenset({"explain", "describe", "tell me", "give me", "list", "name", "show me"})
_TELL_IN_GERMAN = frozenset({"erklär mir", "erkläre mir", "nenn", "gib mir", "zeig mir"})
_OF_ONE = _ARTICLES | {*NUMBER_WORDS[2:], "ein", "eine", "einen", "das", "die"}
"""The first word of what is a single thing, or a number of things."""
_LASTS = frozenset({"STAND", "NOT", "STOP", "AGAIN", "AGAIN_OK", "NO_NEED", "MUST", "WISH", "RULE", "REPLY", "ADDRESS_ME", "MENTION"})
"""Kinds of words with which a request is not for one answer."""
_FOR_A_WHILE = frozenset({"for a second", "for a moment", "for now", "mal kurz", "一旦"})
_NEVER = frozenset({"never", "nie", "niemals"})
_INFINITIVES = frozenset({"löschen", "vergessen", "entfernen", "streichen"})
_TAKE_BACK = frozenset({"take back", "taking back", "retract", "nehme zurück", "nehm zurück"})
_SECOND_PERSON = frozenset({"löschst", "entfernst", "vergisst", "streichst"})
_JA_KEEPS = (
    "のを忘れて",
    "忘れて困",
    "忘れてばかり",
    "忘れてきて",
    "忘れて来",
    "忘れて帰",
    "忘れないで",
    "消さない",
    "削除しない",
    "忘れず",
    "消去しない",
    "忘れないよう",
)
_JA_PROPOSES = re.compile(r"(?<!りがと)(?:[おこごそとのぼろよ]う|飲もう|休もう|楽しもう|ましょう)[よねぜか。!！]{0,3}\Z")
"""The end of what people propose to do together."""
_TOLD_OTHERS = re.compile(r", (?:i|he|she|they|we) (?:told|asked|said|says|tells|begged)(?! you)(?: [\w']{1,20}){0,3}[.!]?\Z")
"""Where words are another person's, or were said to another: "…, I told my son"."""
_TAKEN_OUT = re.compile(
    r"\b(?:take|get|cut|pull|kick|leave|keep|have|want|like) (?:[^\W_][\w'-]{0,30} ){1,6}(?:out|off)"
    r"(?= (?:please|pls|again|of there|of your|of it|your|for me)\b|[,.;:!?]|\Z)"
)
"""A verb with its object before "out": "take my address out"."""
_ALL_KNOWN = re.compile(r"forget (?:all|everything) you know about [^,;.!?]{1,60}, ")
"""Common knowledge that a new matter is contrasted with."""
_OF_THINGS = frozenset({"DONT_KEEP", "PLEASE", "FUNC", "NOT", "LEAD", "STAND", "THING", "LIMITS", OTHER_WORDS, BREAK})
_JA_FORBIDS = re.compile(r"ないで|なしで|のはやめて|禁止|NG|タブー|やめて")
_JA_ASKS = re.compile(
    r"[てで](?:ください|下さい|ほしい|欲しい|くれ|ね|よ|もらえ|いただけ)?[^ぁ-ん]{0,8}\Z"
    r"|(?:お願い|ください|ほしい)[^ぁ-ん]{0,8}(?:です|ます|な|ね)?。?\Z"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One phrase: its part in the sentence, its words, its place in the folded text."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Reading:
    """A sentence with its marks. text: the sentence, case-folded, with plain apostrophes. capitals: words with one, but the first."""

    text: str
    marks: tuple[Mark, ...]
    capitals: frozenset[str] = frozenset()

    @property
    def japanese(self) -> bool:
        """Whether it is written in Japanese."""
        return has_japanese(self.text)

    @property
    def asks(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip(" \"'”)").endswith(("?", "？"))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its marks in order."""
        return tuple(mark.kind for mark in self.marks)

    @cached_property
    def kind_set(self) -> frozenset[str]:
        """The kinds of its marks."""
        return frozenset(self.kinds)

    @cached_property
    def signs(self) -> frozenset[str]:
        """Signs of the order of its marks."""
        signs = frozenset((*_signs_of_verbs(self), *_signs_of_words(self), *_signs_of_clauses(self), *_japanese_signs(self)))
        return signs | frozenset(_signs_of_requests(self, signs))


def read(sentence: str) -> Reading:
    """The reading of a sentence; what it quotes is left blank."""
    text = _QUOTED.sub(lambda match: " " * len(match.group()), sentence.casefold().replace("’", "'"))
    if has_japanese(text):
        return Reading(text, tuple(_japanese_marks(text)))
    return Reading(text, tuple(_word_marks(text)), frozenset(word.casefold() for word in _CAPITAL.findall(sentence)))


def features(reading: Reading, before: Reading | None) -> frozenset[str]:
    """The features of a sentence. before: the sentence before it in its message."""
    kinds = [kind for kind in reading.kinds if kind not in ("FUNC", "LEAD", BREAK)]
    kinds = [kind for place, kind in enumerate(kinds) if kind != "HOW" or place == 0 or reading.japanese]
    end = "?" if reading.asks else "."
    features = {f"s:{sign}" for sign in reading.signs} | {f"u:{kind}" for kind in kinds}
    features |= {f"e:{end}", "g:yes" if _may_instruct(reading) else "g:no", f"n:{_length(len(kinds))}"}
    framed = ["^", *kinds, end]
    features |= {f"b:{first}>{second}" for first, second in pairwise(framed) if _tells(first, second)}
    known = sorted(set(kinds) - {OTHER_WORDS})
    features |= {f"q:{first}+{second}" for place, first in enumerate(known) for second in known[place + 1 :]}
    features |= {f"x:{kind}{end}" for kind in known}
    features |= {f"i:{sign}+{kind}" for sign in reading.signs & {"imp", "late", "jask", "jforbid"} for kind in known}
    if before is not None:
        told_kinds = before.kind_set & {"TOLD", "REGRET", "MEMORY", "KEEP", "KNOW", "LAST"}
        features |= {f"c:{kind}" for kind in told_kinds}
        if told_kinds & {"TOLD", "REGRET", "KNOW", "KEEP"}:
            features.add("c:any")
        features |= {f"c:{kind}" for kind in before.kind_set & {"THING", "YOU"}}
        if before.kind_set & {"PERSONAL", "MY"} and "THING" not in before.kind_set:
            features.add("c:life")
    return frozenset(features)


def is_no_request(reading: Reading) -> bool:
    """Whether a sentence can't ask to forget something, whatever its other words."""
    kinds, signs = reading.kind_set, reading.signs
    if not _removes(reading) or len(reading.kinds) > MAX_MARKS:
        return True
    if signs & {"neg", "says", "email", "subj", "thingonly", "elsewhere"}:
        return True
    if any(mark.text in _FOR_A_WHILE for mark in reading.marks):
        return True
    if not reading.japanese and not reading.capitals and _is_of_the_world(reading):
        return True
    return ("how0" in signs and "PLEASE" not in kinds) or ("lets" in signs and "FORGET" in kinds)


def _is_of_the_world(reading: Reading) -> bool:
    """Whether nothing of the speaker's is meant: "don't store the eggs in the door", "forget all you know about tea, this is new"."""
    kinds = reading.kind_set
    if _ALL_KNOWN.match(reading.text) and not kinds & {"ME", "MY", "PLEASE"}:
        return True
    return "DONT_KEEP" in kinds and kinds <= _OF_THINGS


def _removes(reading: Reading) -> bool:
    """Whether anything in a sentence may ask that something be forgotten, or not be kept."""
    kinds = reading.kind_set
    if kinds & {"FORGET", "DELETE", "VERGESSEN", "PRETEND", "NEVER_TOLD", "DONT_KEEP"}:
        return True
    if "takeout" in reading.signs:
        return True
    if "DROP" in kinds and kinds & {"TOLD", "MEMORY", "KNOW", "PRON", "ABOUT_JA", "PLEASE", "GONE"}:
        return True
    first = next((kind for kind in reading.kinds if kind not in ("LEAD", BREAK, "FUNC", "PLEASE")), "")
    tells = first in ("ME", "OTHER", "HABIT", "PASTI")
    if "GONE" in kinds and (
        kinds & {"TOLD", "MEMORY", "KNOW", "MUST", "WISH", "PLEASE", "ABOUT_JA", "PRON"} or ("PERSONAL" in kinds and not tells)
    ):
        return True
    keeps_not = kinds & {"KEEP", "MEMORY", "KNOW"} and kinds & {"NOT", "STOP", "NO_NEED"}
    return bool(keeps_not and kinds & {"PLEASE", "WISH", "MUST", "STOP", "NO_NEED", "ABOUT_JA"} and not tells)


def is_no_instruction(reading: Reading) -> bool:
    """Whether a sentence can neither instruct nor lift an instruction."""
    kinds, signs = reading.kind_set, reading.signs
    if signs & {"email", "how0"} or len(reading.kinds) > MAX_MARKS:
        return True
    asked = _until_act(reading)
    if "SAYS" in asked or ("ONEOFF" in asked and "STAND" not in kinds):
        return True
    if "HELP" in kinds and not kinds & {"STAND", "LIMITS", "STOP"}:
        return True
    if _wants_to_do(reading) or _asks_for_one_answer(reading):
        return True
    first = next((kind for kind in reading.kinds if kind not in ("LEAD", BREAK, "FUNC", "EARLIER")), "")
    tells = first in ("ME", "OTHER", "HABIT", "MY", "PRON", "HELP", OTHER_WORDS, "PASTI")
    asks = kinds & {"PLEASE", "LIMITS", "AGAIN_OK", "NO_NEED", "ABOUT_JA", "RULE", "MUST", "AGAIN"} or signs & {"jask", "jforbid"}
    of_answers = kinds & {"REPLY", "ANSWER", "MANNER", "ANSWERV", "SUGGEST", "MENTION"}
    orders = of_answers and ("WISH" in kinds or (first == OTHER_WORDS and kinds & {"STAND", "NOT"}))
    return tells and not asks and not orders and not _acts(reading)


def _until_act(reading: Reading) -> frozenset[str]:
    """The kinds of a sentence up to the end of the clause that says what to do, or to leave; of all of it where none does."""
    body_kinds: set[str] = set()
    for clause in _clauses(reading):
        body_kinds |= {mark.kind for mark in clause}
        body = [mark.kind for mark in clause if mark.kind not in ("LEAD", "PLEASE", "FUNC", "STAND")]
        starts = bool(body) and (body[0] in _ACTS or (len(body) > 1 and body[0] in ("NOT", "STOP") and body[1] in _ACTS))
        if starts or (reading.japanese and not _ACTS.isdisjoint(body)):
            return frozenset(body_kinds)
    return frozenset(body_kinds)


def _wants_to_do(reading: Reading) -> bool:
    """Whether the speaker wants to do something: "I want to add more tests"."""
    for wish, to, verb in zip(reading.marks, reading.marks[1:], reading.marks[2:], strict=False):
        if wish.kind == "WISH" and to.text == "to" and verb.kind not in ("MENTION", "ADDRESS_ME", "STAND", "NOT", "LIMITS"):
            return not reading.kind_set & {"STAND", "LIMITS", "STOP", "NOT", "ADDRESS_ME"}
    return False


def _asks_for_one_answer(reading: Reading) -> bool:
    """Whether a single thing is asked for, and then the form of the answer: "explain the difference between these in two sentences"."""
    if not reading.kind_set.isdisjoint(_LASTS):
        return False
    body = [mark for mark in reading.marks if mark.kind not in ("LEAD", "PLEASE", "YOU", BREAK)]
    form = next((place for place, mark in enumerate(body) if place > 1 and mark.text in ("in", "as")), 0)
    if not form or body[0].text not in _TELL | _TELL_IN_GERMAN:
        return False
    named = [mark for mark in body[1:form] if mark.start > body[0].start]
    words = [word for mark in named for word in mark.text.split()]
    names = reading.capitals if body[0].text in _TELL else frozenset[str]()
    single = words[:1] != [] and (words[0] in _OF_ONE or not names.isdisjoint(words))
    return single and any(mark.kind in (OTHER_WORDS, "MANNER") for mark in named)


_PIECE_OF_WORK = re.compile(
    r"(?:(?:please|hi|hey|hello|ok|okay|so|now|thanks|and|then|also|great|perfect)\b[\s,.!]{1,3}){0,3}"
    r"(?:(?:(?:can|could|would|will) you|help me|i(?:'d| would) like you to|i (?:need|want) you to|let's) (?:please |to |just ){0,2})?"
    r"(?:(?:write|draft|create|compose|generate|make|build|design|prepare|produce|code|implement|refactor|rewrite|rephrase|proofread|edit"
    r"|fix|debug|translate|summari[sz]e|outline|give|plan|convert|explain|turn)(?: me| us)?(?: up| out)?"
    r"|i need|i'm looking for)"
    r" (?:an?|the|this|these|that|my|our|some|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\b(?! (?:bit|little|lot)\b)"
    r"|(?:bitte |kannst du (?:mir )?(?:bitte )?){0,2}(?:schreibe?|erstelle?|entwirf|entwerfe|übersetze?|formuliere?|mache?|gib"
    r"|baue?|generiere?|plane?|fasse?|schreiben)(?: mir| uns)? (?:ein|eine|einen|den|die|das|diesen?|dieses|drei|zwei|\d{1,3})\b"
)
"""How a message asks for one thing to be made."""
_MADE_FOR_ONESELF = re.compile(
    r"(?:please |(?:can|could|would|will) you (?:please )?){0,2}"
    r"(?:(?:write|draft|create|compose|generate|make|build|design|prepare|code|find) (?:me|us) (?:up )?an? "
    r"|(?:suggest|recommend) (?:(?:me|us) )?(?:an?|some|two|three|four|five|ten|\d{1,3}) )"
)
"""The same, so surely that the sentence itself says nothing of other times."""
_OF_ALL_WORK = re.compile(
    r"\b(?:(?:when|whenever|if) (?:you|i)|(?:your|all) (?:answers|replies|responses|messages|code|explanations|emails|texts)"
    r"|(?<!the )(?:answers|replies|responses)|i(?:'m| am)|i have|i (?:always |really |generally |usually )?prefer|generally|usually"
    r"|normally|wenn (?:du|ich)|ich bin|ich habe|deine (?:antworten|texte))\b"
)
"""Words with which a request beside one piece of work is for others too, or tells of the speaker."""


def asks_for_one_piece(reading: Reading) -> bool:
    """Whether a sentence asks for one piece of work: "write me a function that reverses a list"."""
    return "STAND" not in reading.kind_set and _PIECE_OF_WORK.match(reading.text.lstrip()) is not None


def only_asks_for_one_piece(reading: Reading) -> bool:
    """Whether all that a sentence wants is one piece of work: "write me a function that reverses a list, please add type hints"."""
    return _MADE_FOR_ONESELF.match(reading.text.lstrip()) is not None and is_of_one_piece(reading)


def is_of_one_piece(reading: Reading) -> bool:
    """Whether a request beside one for a piece of work says nothing of other times: "please add type hints"."""
    lasting = {"STAND", "AGAIN", "AGAIN_OK", "NO_NEED", "RULE", "ADDRESS_ME", "STOP"}
    return reading.kind_set.isdisjoint(lasting) and _OF_ALL_WORK.search(reading.text) is None


def _phrases() -> tuple[dict[tuple[str, ...], list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """Kinds by the words of a phrase, by the beginning of a word, and by a Japanese phrase."""
    of_words: dict[tuple[str, ...], list[str]] = defaultdict(list)
    of_beginnings: dict[str, list[str]] = defaultdict(list)
    of_letters: dict[str, list[str]] = defaultdict(list)
    for kind, listed in PHRASES.items():
        for phrase in dict.fromkeys(" ".join(written.split()).casefold() for written in listed.split(",")):
            if not phrase:
                continue
            if has_japanese(phrase) or phrase == "ng":
                of_letters[phrase].append(kind)
            elif phrase.endswith("*"):
                of_beginnings[phrase[:-1]].append(kind)
            else:
                of_words[tuple(_WORD.findall(phrase))].append(kind)
    return dict(of_words), dict(of_beginnings), dict(of_letters)


_OF_WORDS, _OF_BEGINNINGS, _OF_LETTERS = _phrases()
_MAX_LETTERS = max(map(len, _OF_LETTERS))


def _word_marks(text: str) -> list[Mark]:
    words = list(_WORD.finditer(text))
    marks: list[Mark] = []
    place = 0
    while place < len(words):
        kinds, count = _kinds_at(words, place)
        start, end = words[place].start(), words[place + count - 1].end()
        if not kinds and not words[place].group()[0].isalnum():
            if place < len(words) - 1:
                marks.append(Mark(BREAK, words[place].group(), start, end))
        elif kinds:
            marks += [Mark(kind, text[start:end], start, end) for kind in kinds]
        else:
            _go_on(marks, text, start, end)
        place += count
    return marks


def _kinds_at(words: Sequence[re.Match[str]], place: int) -> tuple[Sequence[str], int]:
    """The kinds of the longest phrase at a place, and of how many words it is."""
    for count in range(min(MAX_PHRASE_WORDS, len(words) - place), 0, -1):
        kinds = _OF_WORDS.get(tuple(word.group() for word in words[place : place + count]))
        if kinds:
            return kinds, count
    word = words[place].group()
    if word.endswith("'s") and "PERSONAL" in (kinds := _OF_WORDS.get((word[:-2],), [])):
        return kinds, 1
    return next((kinds for size in range(min(len(word), 16), 2, -1) if (kinds := _OF_BEGINNINGS.get(word[:size]))), ()), 1


def _japanese_marks(text: str) -> list[Mark]:
    marks: list[Mark] = []
    place = 0
    while place < len(text):
        size = next((size for size in range(min(_MAX_LETTERS, len(text) - place), 0, -1) if text[place : place + size] in _OF_LETTERS), 0)
        phrase = text[place : place + size]
        if size:
            marks += [Mark(kind, phrase, place, place + size) for kind in _OF_LETTERS[phrase]]
        elif text[place] in _JA_BREAKS:
            marks.append(Mark(BREAK, text[place], place, place + 1))
        elif text[place].isalnum():
            _go_on(marks, text, place, place + 1)
        place += size or 1
    return marks


def _go_on(marks: list[Mark], text: str, start: int, end: int) -> None:
    """Add words that are in no list, to the run of such words that they go on."""
    if marks and marks[-1].kind == OTHER_WORDS:
        start = marks.pop().start
    marks.append(Mark(OTHER_WORDS, text[start:end], start, end))


def _tells(first: str, second: str) -> bool:
    """Whether a pair of neighbours says something: words of no list only after what calls for words."""
    calls = first in ("^", "NOT", "STAND", "STOP", "PLEASE", "AGAIN_OK", "NO_NEED", "WISH")
    return OTHER_WORDS not in (first, second) or calls


def _length(count: int) -> str:
    return "short" if count <= 3 else "mid" if count <= 8 else "long" if count <= 14 else "verylong"


def _signs_of_verbs(reading: Reading) -> Iterator[str]:
    """Whether each verb that removes is negated, has a subject, or is an imperative."""
    kinds, marks = reading.kinds, reading.marks
    for place, kind in enumerate(kinds):
        if kind == "GONE" and marks[place].text == "out of" and _is_elsewhere(marks[place:]):
            yield "elsewhere"
        if kind not in _REMOVES:
            continue
        at = place - 1
        while at >= 0 and (kinds[at] == "PLEASE" or marks[at].text in _BESIDE_VERB):
            at -= 1
        if at >= 0 and (kinds[at] in ("NOT", "NO_NEED") or marks[at].text in _NEVER):
            yield "neg"
        if not reading.japanese:
            if _is_negated_behind(marks[place + 1 :]):
                yield "neg"
            yield from _signs_of_subject(reading, place)
        if _is_elsewhere(marks[place + 1 :]):
            yield "elsewhere"
        clause = kinds[:place][::-1]
        clause = clause[: clause.index(BREAK)] if BREAK in clause else clause
        yield "imp" if all(before in _BEFORE_IMPERATIVE for before in clause) else "late"


def _is_negated_behind(marks: Sequence[Mark]) -> bool:
    """Whether "nicht" follows the verb, at once or where the clause ends: "vergiss die Frist nicht"."""
    end = next((place for place, mark in enumerate(marks) if mark.kind == BREAK), len(marks))
    clause = [mark for mark in marks[:end] if mark.kind not in ("PLEASE", "LEAD", "EARLIER")]
    return bool(clause) and any(mark.kind == "NOT" and mark.text in ("nicht", "nie") for mark in (clause[0], clause[-1]))


def _is_elsewhere(marks: Sequence[Mark]) -> bool:
    """Whether something is to be taken from a place that is no memory: "from the guest list", "aus dem Wiki"."""
    for place, mark in enumerate(marks):
        if mark.text in ("from", "out of", "aus"):
            behind = next((other.kind for other in marks[place + 1 :] if other.text not in _ARTICLES), "")
            if behind in (OTHER_WORDS, "THING"):
                return True
    return False


def _signs_of_subject(reading: Reading, place: int) -> Iterator[str]:
    verb, before = reading.marks[place].text, reading.marks[place - 1] if place else None
    if before is None or verb in _INFINITIVES or (verb in _TAKE_BACK and "DONT_KEEP" in reading.kind_set):
        return
    if before.kind in ("ME", "OTHER", "HABIT") and verb not in _SECOND_PERSON:
        yield "subj"
    elif before.kind == OTHER_WORDS:
        yield "subj_"
    if before.text == "let's":
        yield "lets"


def _signs_of_words(reading: Reading) -> Iterator[str]:
    kinds = reading.kind_set
    first = next((kind for kind in reading.kinds if kind not in ("LEAD", BREAK)), "")
    if first in ("HOW", "ASKS_BACK"):
        yield "how0"
    if _is_reported(reading) or _TOLD_OTHERS.search(reading.text):
        yield "says"
    if kinds & {"MY", "PRON", "MEMORY"} and _TAKEN_OUT.search(reading.text):
        yield "takeout"
    if "EMAIL" in kinds:
        yield "email"
    if "THING" in kinds:
        yield "thing"
        if not kinds & {"MEMORY", "TOLD", "KNOW", "KEEP", "REGRET"}:
            yield "thingonly"


def _is_reported(reading: Reading) -> bool:
    """Whether other people are said to want something, up to the end of the clause of the last verb that removes."""
    kinds = reading.kinds
    if "SAYS" not in kinds:
        return False
    last = max((place for place, kind in enumerate(kinds) if kind in _REMOVES), default=len(kinds))
    end = next((place for place in range(last, len(kinds)) if kinds[place] == BREAK), len(kinds))
    return "SAYS" in kinds[:end]


def _signs_of_clauses(reading: Reading) -> Iterator[str]:
    """How clauses begin: with what an assistant does, with a prohibition of that, or with a subject."""
    for clause in _clauses(reading):
        body = [mark.kind for mark in clause if mark.kind not in ("LEAD", "PLEASE", "FUNC", "STAND")]
        if body and body[0] in _ACTS:
            yield f"do0:{body[0]}"
        if len(body) > 1 and body[0] in ("NOT", "STOP") and body[1] in _ACTS:
            yield f"no0:{body[1]}"
        if body and body[0] in ("ME", "OTHER", "HABIT"):
            yield "subj0"
        for first, second in pairwise(clause):
            if first.kind == "STAND" and second.kind in _ACTS:
                yield f"st0:{second.kind}"


def _signs_of_requests(reading: Reading, signs: frozenset[str]) -> Iterator[str]:
    """Whether a verb that removes is asked for, and has what was told, is known or is personal for its object."""
    kinds = reading.kind_set
    if "PRETEND" in kinds and "NEVER_TOLD" in kinds:
        yield "pretend"
    known_kinds = kinds & {"TOLD", "KNOW", "MEMORY", "PERSONAL", "ABOUT_JA", "MY"}
    modal = kinds & {"MUST", "WISH", "PLEASE"} or any(mark.text in ("be", "could", "can") for mark in reading.marks)
    if "GONE" in kinds and modal and not signs & {"thingonly", "neg", "says"}:
        yield from (f"gone:{about}" for about in known_kinds)
    if "DONT_KEEP" in kinds and "subj0" not in signs and "thingonly" not in signs:
        yield from (f"keepnot:{about}" for about in known_kinds or {"else"})
    removes = kinds & {"FORGET", "DELETE", "VERGESSEN", "DROP"}
    if not removes or signs & {"thingonly", "neg"}:
        return
    asked = "imp" in signs or "PLEASE" in kinds
    strong = "DROP" not in removes or len(removes) > 1
    for about in ("TOLD", "KNOW", "MEMORY", "PERSONAL", "ABOUT_JA", "MY"):
        if asked and about in kinds:
            yield f"ask:{about}" if strong else f"perhaps:{about}"
    marks = reading.marks
    if asked and any(mark.kind == OTHER_WORDS and mark.text.split()[0] in reading.capitals for mark in marks):
        yield "ask:NAME" if strong else "perhaps:NAME"
    for place, mark in enumerate(marks[:-1]):
        if mark.kind == "FORGET" and asked:
            after = marks[place + 1 : place + 3]
            if len(after) == 2 and after[0].text in ("that", "where", "who") and after[1].kind in ("ME", "MY"):
                yield "clause"


def _clauses(reading: Reading) -> list[list[Mark]]:
    clauses: list[list[Mark]] = [[]]
    for mark in reading.marks:
        ends = mark.kind == BREAK or (mark.text in _CLAUSE_WORDS and clauses[-1])
        if ends and not (mark.text == "also" and reading.japanese):
            clauses.append([])
        else:
            clauses[-1].append(mark)
    return clauses


def _japanese_signs(reading: Reading) -> Iterator[str]:
    if not reading.japanese:
        return
    if any(keeps in reading.text for keeps in _JA_KEEPS):
        yield "neg"
    if _JA_FORBIDS.search(reading.text):
        yield "jforbid"
    if _JA_ASKS.search(reading.text):
        yield "jask"
    if _JA_PROPOSES.search(reading.text):
        yield "neg"


def _acts(reading: Reading) -> bool:
    return any(sign.startswith(("do0:", "no0:", "st0:")) for sign in reading.signs)


def _may_instruct(reading: Reading) -> bool:
    """Whether the kinds of a sentence are those of an instruction, or of the end of one."""
    kinds = reading.kind_set
    if "how0" in reading.signs:
        return False
    about = {"MENTION", "SUGGEST", "ANSWERV", "ANSWER", "REPLY", "MANNER", "DO_ANSWER", "ADDRESS_ME", "RULE", "STAND", "PERSONAL"}
    if kinds & {"AGAIN", "AGAIN_OK", "NO_NEED", "RULE"}:
        return bool(kinds & {*about, "LIMITS", "ABOUT_JA"})
    if kinds & {"LIMITS", "ADDRESS_ME"}:
        return True
    if "STAND" in kinds and kinds & {"NOT", "STOP", "WISH"}:
        return True
    forbids = bool(kinds & {"NOT", "STOP", "STAND"})
    if "MENTION" in kinds and forbids:
        return True
    if "SUGGEST" in kinds and (forbids or "PLEASE" in kinds or _acts(reading)):
        return True
    wants = {"STAND", "PLEASE", "MUST", "WISH", "NOT", "STOP"} | ({OTHER_WORDS} if _acts(reading) else set())
    if kinds & {"ANSWER", "REPLY", "MANNER"} and kinds & wants:
        return True
    return _acts(reading) and bool(kinds & {"STAND", "NOT", "STOP", "PLEASE"})
