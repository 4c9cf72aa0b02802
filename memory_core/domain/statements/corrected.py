"""Read a sentence that says nothing but a correction of the sentence before it.

"My dentist appointment is on Monday at 9", "No, I meant Tuesday" is "My dentist appointment is on
Tuesday at 9". The correction must say nothing but another time or name, or that it is off, and the
sentence before it must have a time of the same kind, or a name, in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from memory_core.domain.statements.appointment_words import (
    CANCELLED,
    CORRECTING_WORDS,
    CORRECTS_IN_JAPANESE,
    DENIED_AFTER,
    DENIED_WITHIN,
    EXCUSES,
    IN_GENERAL,
    MISTAKES,
    PUT_ELSEWHERE,
    PUT_OFF,
)
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.change_phrases import DENIED, NAMED_OLD
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.values_said import DATE, TIME
from memory_core.domain.text.analyzer import has_japanese, words
from memory_core.domain.text.dictation import CUE
from memory_core.domain.text.spelling import (
    ANY_GERMAN_WEEKDAY,
    ANY_WEEKDAY,
    GERMAN_MONTHS,
    GERMAN_WEEKDAYS,
    MONTHS,
    NUMBER_WORDS,
    SONNABEND,
    WEEKDAYS,
)

_PARTS_OF_TIME = """
    uhr am pm o'clock half past quarter noon midnight mittag mittags halb tomorrow today tonight
    morning afternoon evening morgen heute übermorgen abend nachmittag vormittag früh week woche
    next nächste nächsten nächster kommende kommenden st nd rd th
"""
TIME_WORDS = frozenset(
    (*WEEKDAYS, *GERMAN_WEEKDAYS, SONNABEND, *MONTHS, *GERMAN_MONTHS, *_PARTS_OF_TIME.split())
)
_LITTLE_WORDS = """
    the this that it s its is are was were has been be being got will i we he she my our on at in to
    of from for and so but mean meant said should one then there back forward up starts start
    begins begin takes place happens leaves just only by with until further notice
    der die das den dem ist sind war wird wurde worden er sie es ich wir mein meine unser unsere um
    am im auf zum und meinte gemeint sagen wollte sollte heißen findet statt beginnt erst nämlich ja
    mit bis weiteres moment
    oh ah ach argh ugh uh um äh ähm hm haha hoppla ups mist damn ok okay bad sry same time
    euro euros dollar dollars pound pounds
"""
_EXCUSES = frozenset(EXCUSES.split("|"))
_ADDS_NOTHING = CORRECTING_WORDS.union(_LITTLE_WORDS.split())
_LITTLE_IN_JAPANESE = re.compile(
    r"[12]?\d月|[123]?\d日|[月火水木金土日]曜日?|\d{1,2}時(?:半|\d{1,2}分)?|明日|明後日|今日|午前|午後"
    r"|今週|来週|です|でした|だった|(?:になり)?ました|になった|から|まで|その|(?<![^、\s])(?:あ|ああ|えっと|あれ)(?=、)"
    r"|[のにはがをもだ、。,.!！…*＊\s]"
)
_QUANTITY_IN_JAPANESE = re.compile(
    r"\d[\d,.]{0,9}(?:万(?:\d千?)?|千)?(?P<unit>円|歳|人|匹|台|本|個|回|分|時間|枚|冊|階|キロ|kg|%)"
)
_RUN_IN_JAPANESE = re.compile(r"[\u30a1-\u30fc\u4e00-\u9fff]{2,}")
_NAME = re.compile(
    r"(?<=[\w,] )(?!I\b|I')[A-ZÀ-Þ][^\W\d_]{2,30}"
    r"|[\u30a1-\u30fc\u4e00-\u9fff]{1,6}(?:さん|ちゃん|くん|君)"
)
_NUMBER = re.compile(r"(?<![\w.:,/-])\d{1,7}(?:[.,]\d{1,3})?(?![\w:/-]|[.,]\d)")
_STARRED = re.compile(r"\A(?:[*＊]{1,2}[^*＊\n]{1,40}|[^*＊\n]{1,40}[*＊]{1,2})\Z")
"""A correction as chats mark it: "*Tuesday"."""
MOST_OF_NAME = 2
"""Words of a name that a correction gives."""
_WEEKDAY = re.compile(
    rf"\b(?:{ANY_WEEKDAY}|{ANY_GERMAN_WEEKDAY})\b|[月火水木金土日]曜日?", re.IGNORECASE
)
_LED_BY = re.compile(
    r"\b(?P<by>with|at|in|for|from|to|by|mit|bei|in|für|aus|nach) \Z", re.IGNORECASE
)
_OF_A_THING = re.compile(
    r"\b(?:mein\w{0,2}|unser\w{0,2}|der|die|das|dem|den|ein\w{0,2}|als) \Z", re.IGNORECASE
)
"""Words before a German noun that is no name."""
_DAY_ALONE = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_DAY_NUMBER = re.compile(r"\d{1,2}(?:st|nd|rd|th)?", re.IGNORECASE)
Fate = Literal["called off", "put off"]
"""What becomes of something expected."""
MOST_CHARACTERS = 120
"""Characters of a correction; a longer sentence tells more."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The effect of a sentence that says nothing but a correction.

    Attributes:
        of: What it corrects.
        words: The sentence.

    """

    of: Fate | Literal["time", "name"]
    words: str

    def put_into(self, before: str) -> str | None:
        """The sentence before with the corrected time or name; None if its place is unclear."""
        put_in = {"time": _with_time, "name": _with_name}.get(self.of)
        return None if put_in is None else put_in(before, self.words)


def correction(before: SaidSentence, now: SaidSentence) -> Correction | None:
    """Read how a sentence corrects the sentence before it.

    Args:
        before: The sentence just before, of the same speaker.
        now: The sentence that may correct it.

    Returns:
        None where the sentence says more than a correction.

    """
    if not _is_cued(now.text):
        return None
    if rest := besides_times(now.text, before):
        return Correction("name", now.text) if _names_another(rest, before, now) else None
    fate = fate_in(now.text)
    if fate == "put off" and now.values.whens:
        fate = None
    return Correction(fate or "time", now.text)


def fate_in(text: str) -> Fate | None:
    """What a text says to become of something expected, whatever new time it has.

    Args:
        text: A sentence or a part of it.

    Returns:
        None where it takes place, as far as the text says.

    """
    return "called off" if _says(CANCELLED, text) else "put off" if _says(PUT_OFF, text) else None


def _says(cue: re.Pattern[str], text: str) -> bool:
    """Whether a text says something, and of this one time."""
    match = cue.search(text)
    return (
        match is not None
        and DENIED.search(text, 0, match.start()) is None
        and DENIED_WITHIN.search(match.group()) is None
        and DENIED_AFTER.match(text, match.end()) is None
        and IN_GENERAL.search(text) is None
    )


def with_correction(before: str, now: str) -> str | None:
    """The earlier sentence with what the next sentence of the speaker corrects.

    Args:
        before: The sentence just before.
        now: The sentence that may correct it.

    Returns:
        None where the sentence says more than a correction, or where its place is unclear.

    """
    if not before or len(now) > MOST_CHARACTERS or not _is_cued(now):
        return None
    now = _in_digits(now)
    named = _NOT_BUT.search(now)
    if named is not None and before.casefold().count(old := named["old"].casefold()) == 1:
        place = before.casefold().index(old)
        return f"{before[:place]}{named['new']}{before[place + len(old) :]}"
    more = _MORE.search(now)
    if more is not None and (short := with_correction(before, now[: more.start()])) is not None:
        return f"{short.rstrip(' .!')}{more.group()}"
    earlier, later = read(before).sentences, read(now).sentences
    if len(earlier) != 1 or len(later) != 1 or earlier[0].asks:
        return None
    corrected = correction(earlier[0], later[0])
    put_in = None if corrected is None else corrected.put_into(before)
    return put_in or _with_starred_word(before, now)


def _is_cued(text: str) -> bool:
    """Whether a text has a word that corrects, calls off or puts to another time."""
    return (
        MISTAKES.search(text) is not None
        or CANCELLED.search(text) is not None
        or PUT_ELSEWHERE.search(text) is not None
        or CORRECTS_IN_JAPANESE.search(text) is not None
        or _STARRED.match(text.strip()) is not None
        or not CORRECTING_WORDS.isdisjoint(words(text))
    )


def may_answer(text: str, asked: str, before: str) -> bool:
    """Whether a text may deny what it was asked, not correct what was said before.

    "No, sunday" may; "sorry, I meant 340" corrects. "No wait, friday" answers a question that names
    another day than the statement before it.

    Args:
        text: The text.
        asked: The question right before it.
        before: What its speaker stated before the question.

    """
    opening = _DENIES.match(text)
    if opening is not None and not _is_cued(text[opening.end() :]):
        return True
    if MISTAKES.search(_DENIES_IN_JAPANESE.sub("", text)) or _names_any_of(before, text):
        return False
    return any(
        not {*kind.findall(asked.casefold())} <= {*kind.findall(before.casefold())}
        for kind in (_WEEKDAY, DATE, TIME)
    )


def _names_any_of(before: str, text: str) -> bool:
    """Whether a text has a word of an earlier statement, besides times."""
    if has_japanese(text):
        return any(
            run in text
            for run in _RUN_IN_JAPANESE.findall(before)
            if _WEEKDAY.fullmatch(run) is None
        )
    return any(word in words(text) for word in set(words(before)) - _ADDS_NOTHING - TIME_WORDS)


def is_bare_time(text: str) -> bool:
    """Whether a text says only a time or number, with a denial: "no, saturday"."""
    each = words(_DENIES.sub("", text, count=1))
    return bool(each) and all(word[0].isdigit() or word in _BARE for word in each)


_HOUR = re.compile(r" (?:at|um) \d{1,2}(?::\d\d)?(?: ?[ap]m\b| uhr\b)?(?![\d:])", re.IGNORECASE)
_SURELY_WRONG = re.compile(
    rf"\A\W{{0,5}}(?:sorry,? )?(?:{CUE}|(?:no|nein|nee),? actually)\b", re.IGNORECASE
)
_NOT_BUT = re.compile(
    r"\b(?:not|nicht) (?P<old>[^\W\d_]{3,30}),? (?:i mean|but|sondern|ich mein\w*),? "
    r"(?P<new>[^\W\d_]{3,30})[\s.!]*\Z",
    re.IGNORECASE,
)
"""A slip and what is right: "not eggs, I mean nuts"."""
_MORE = re.compile(
    r"(?<=\w),? (?:with|for|about|mit|bei) (?:my |(?i:doctor|dr\.?) )?[A-Za-zÀ-ÿ]+[.!]*\Z"
)
"""What a correction of a time adds: "wednesday at three with doctor patel"."""
_ANY_NUMBER = "|".join(NUMBER_WORDS[2:])
_NUMBER_WORD = re.compile(rf"\b(?:{_ANY_NUMBER})\b", re.IGNORECASE)
TAKES_BACK = re.compile(
    rf"{CUE}\b,? |(?:no|nope|nein|nee),? (?=(?:warte|moment|quatsch)\b|\d|not\b|nicht\b"
    rf"|(?:{_ANY_NUMBER})\b|[A-ZÀ-Þ]\w+[.!]?\Z)",
    re.IGNORECASE,
)
"""Opens a sentence that surely corrects the one before it in the same message."""
_BARE = TIME_WORDS | CORRECTING_WORDS
_DENIES = re.compile(
    r"\W{0,9}(?:no|nope|nah|sorry|nein|nee?|いや|いえ|いいえ)\b\W{0,9}", re.IGNORECASE
)
_DENIES_IN_JAPANESE = re.compile(r"(?<!間)違(?:います|う)")


def besides_times(text: str, before: SaidSentence) -> list[str]:
    """What a text adds to a time, a correction, and the earlier sentence.

    Args:
        text: The text.
        before: The earlier sentence.

    """
    rest = CANCELLED.sub(" ", PUT_ELSEWHERE.sub(" ", text))
    if has_japanese(text):
        rest = _QUANTITY_IN_JAPANESE.sub(" ", CORRECTS_IN_JAPANESE.sub(" ", rest))
        for run in _RUN_IN_JAPANESE.findall(before.text):
            rest = rest.replace(run, "")
        return _LITTLE_IN_JAPANESE.sub(" ", rest).split()
    known = _ADDS_NOTHING | TIME_WORDS | before.words
    return [word for word in words(rest) if not word[0].isdigit() and word not in known]


def _with_starred_word(before: str, now: str) -> str | None:
    """The earlier sentence with a word that a chat marks as its correction: "leeds*".

    It takes the place of the word that it resembles, or of the last one after a preposition.
    """
    starred = _STARRED_WORD.fullmatch(now.strip())
    if starred is None:
        return None
    word = starred["word"] or starred["word2"]
    alike = [
        match
        for match in _ANY_WORD.finditer(before)
        if match.group().casefold() != word.casefold()
        and SequenceMatcher(None, match.group().casefold(), word.casefold()).ratio() >= LEAST_ALIKE
    ]
    if not alike and (last := _LAST_AFTER.search(before)) is not None:
        alike = [last]
    if len(alike) != 1:
        return None
    place = alike[0]
    return f"{before[: place.start()]}{word}{before[place.end() :]}"


def is_starred_word(text: str) -> bool:
    """Whether a text is a single word with the mark of a correction: "leeds*"."""
    return _STARRED_WORD.fullmatch(text) is not None


LEAST_ALIKE = 0.75
"""The share of letters that a mistyped word has in common with the right one."""
_STARRED_WORD = re.compile(r"[*＊](?P<word>[^\W\d_]{3,20})|(?P<word2>[^\W\d_]{3,20})[*＊]")
_ANY_WORD = re.compile(r"[^\W\d_]{3,20}")
_LAST_AFTER = re.compile(
    r"(?:(?<=\bto )|(?<=\bin )|(?<=\bat )|(?<=\bis ))(?!(?:the|not|all|it)\b)[^\W\d_]{3,20}"
    r"(?=[.!]?\Z)"
)


def _names_another(rest: list[str], before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the rest of a correction is a name in the place of another.

    "Sorry, I meant with Sandra" is, after "a meeting with Sarah".
    """
    names = {name.casefold() for name in _NAME.findall(now.text)}
    return (
        not now.values
        and len(rest) <= MOST_OF_NAME
        and names.issuperset(rest)
        and _NAME.search(before.text) is not None
    )


def _with_time(before: str, now: str) -> str | None:
    text, meant, is_timed = before, NAMED_OLD.sub(" ", now), False
    for kind in (_WEEKDAY, DATE, TIME):
        new, old = [*kind.finditer(meant)], [*kind.finditer(text)]
        if len(new) != 1 or (is_timed and kind is TIME):
            continue
        if _STARRED.match(now.strip()) and not has_japanese(now):  # the last of several
            old = old[-1:]
        if len(old) != 1 or "-" in old[0].group():  # no part of an ISO date is replaced
            return None
        time = new[0].group().strip()
        hour = _HOUR.match(meant, new[0].end())
        if hour is not None and _HOUR.search(text) is None:
            time, is_timed = time + hour.group(), True
        if _DAY_ALONE.fullmatch(time):
            before_day, after_day = _DAY_NUMBER.split(old[0].group(), maxsplit=1)
            time = f"{before_day}{time}{after_day}"
        text = f"{text[: old[0].start()]}{time}{text[old[0].end() :]}"
    return text if text != before else _with_number(before, now)


def _with_number(before: str, now: str) -> str | None:
    """The earlier sentence with another number, if the later takes it back."""
    if has_japanese(now):
        return _with_quantity(before, now)
    slips = {match["old"] or match["alt"] for match in NAMED_OLD.finditer(now)}
    before = _in_digits(before)
    old, new = _NUMBER.findall(before), _NUMBER.findall(NAMED_OLD.sub(" ", now))
    if len(old) != 1 or len(new) != 1:
        return None
    if slips != set(old) and not (_takes_back(now) and len(old[0]) == len(new[0])):
        return None
    return _NUMBER.sub(lambda _: new[0], before)


def _in_digits(text: str) -> str:
    return _NUMBER_WORD.sub(lambda word: str(NUMBER_WORDS.index(word.group().lower())), text)


def _with_quantity(before: str, now: str) -> str | None:
    """The earlier Japanese sentence with another quantity of the same unit."""
    olds, news = ([*_QUANTITY_IN_JAPANESE.finditer(text)] for text in (before, now))
    if len(olds) != 1 or len(news) != 1 or olds[0]["unit"] != news[0]["unit"]:
        return None
    if not (_takes_back(now) or "ごめん" in now or "すみません" in now):
        return None
    return f"{before[: olds[0].start()]}{news[0].group()}{before[olds[0].end() :]}"


def _takes_back(text: str) -> bool:
    """Whether a text names a slip; a "no" alone may be an answer."""
    return (
        MISTAKES.search(text) is not None
        or _STARRED.match(text.strip()) is not None
        or not _EXCUSES.isdisjoint(words(text))
    )


def _with_name(before: str, now: str) -> str | None:
    """The earlier sentence with another name, after the same preposition if there is any."""
    without_slip = _SURELY_WRONG.sub(" ", NAMED_OLD.sub(" ", now).removeprefix("Sorry, "))
    new = _NAME.search(without_slip)
    if new is None:
        return None
    led = _LED_BY.search(without_slip[: new.start()])
    slips = {(match["old"] or match["alt"]).casefold() for match in NAMED_OLD.finditer(now)}
    if led is None and not slips and not (MISTAKES.search(now) or _SURELY_WRONG.match(now)):
        return None
    names = [
        match
        for match in _NAME.finditer(before)
        if match.group().casefold().removesuffix("s") not in TIME_WORDS
        and (not slips or match.group().casefold() in slips)
        and (
            _OF_A_THING.search(before[: match.start()]) is None
            if led is None
            else before[: match.start()].casefold().endswith(f" {led['by'].casefold()} ")
        )
    ]
    if len(names) != 1:
        return None
    return f"{before[: names[0].start()]}{new.group()}{before[names[0].end() :]}"
