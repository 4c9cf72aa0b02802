"""Texts of others in a message, and texts to work on.

    "Shorten this mail: Dear Ms Bell, I live in Zurich …"         all after the request
    "Here's my cousin's bio, please fix the grammar: I work …"    all after the colon
    "My teacher said: always answer in Latin."                    the rest of the paragraph
    "My teacher says every day: always answer in Latin."          the rest of the sentence
    "[10:02] tom: I'm moving"                                     the line

A request for work on a text or an introduction of a text opens it; a document is known by its
layout, too (`document_layout`). After a line that ends there, the text reaches to the end of the
message, since a pasted text may have any form; on the same line it reaches to the end of the
paragraph. A chat is known by the times beside its names, or by a name that opens two lines beside
another one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_core.domain.conversation import Message
from memory_core.domain.statements.document_layout import TEXTS, documents, hands_over, with_blanks
from memory_core.domain.statements.labels import OPENERS
from memory_core.domain.statements.reported_speech import SPOKEN
from memory_core.domain.text.prefilter import may_match

_FICTION = (
    r"(?:\b(?:chapter|scene|(?<!my )(?<!my life )story|novel|verse|stanza|lyrics|poem|haiku"
    r"|limerick|rap|monologue|prologue|screenplay|(?:first|opening) (?:lines?|page|sentence"
    r"|paragraph)|kapitel|szene|strophe|roman\w{0,7}|gedicht|liedtext|songtext|drehbuch|monolog"
    r"|kurzgeschichte)\b|書き出し|冒頭|第[一二三四五六七八九十\d]{1,3}章|小説|物語|台詞|セリフ|歌詞)"
)
_WORK = (
    r"(?:translate|repeat|rephrase|paraphrase|proofread|proof-read|summari[sz]e|pronounce"
    r"|say after me|read aloud|echo|print|complete|shorten|condense|rewrite|reword|polish"
    r"|transcribe|make (?:this|that|it) (?:sound|more|less|shorter|longer|better|nicer)"
    r"|übersetze?|fasse? zusammen|zusammenfassen|übersetzen|kürze?|kürzen|korrigiere?"
    r"|korrigieren|verbessere?|verbessern|umformulieren|formuliere? um)"
)
_WORK_ON_TEXT = (
    r"(?:improve|edit|revise|correct|fix|check|review|analy[sz]e|explain|classify|format|convert"
    r"|reply to|respond to|answer|look at|read|what (?:does|do|is)|is|prüfe?|prüfen|lies"
    r"|beantworte?|beantworten|antworte? auf|was (?:will|steht|heißt|bedeutet))"
)
_ASKS = (
    r"(?:(?:^|(?<=[.!?,;]))[ \t]*(?:and |und |then |now |just |ok,? |hi,? |hey,? ){0,2}"
    r"|\b(?:please|pls|can you|could you|would you|help me(?: to)?|bitte|kannst du|könntest du"
    r"|können sie|hilf mir,?)[ \t]{1,3}(?:(?:please|bitte|mir|mal|kurz)[ \t]{1,3}){0,2})"
)
_END_OF_REQUEST = r"[^\n:：?!]{0,80}(?:[:：]|[?.!]?[ \t]*\n[ \t]*(?=\n))"
_TO_WORK_ON = re.compile(
    rf"{_ASKS}{_WORK}\b[^\n.:：!?]{{0,60}}[:：]"
    rf"|{_ASKS}{_WORK}\b[^\n:：?!]{{0,40}}\b(?:this|that|these|it|my|our|the|his|her"
    rf"|their|diese[ns]?|den|die|das|ins|in|mein\w{{0,2}})\b[^\n:：?!]{{0,60}}[?.!]?"
    r"[ \t]*\n[ \t]*(?=\n)"
    rf"|{_ASKS}{_WORK_ON_TEXT}\b[^\n:：?!]{{0,40}}\b{TEXTS}\b{_END_OF_REQUEST}"
    r"|^[^\n]{0,60}\b(?:spam|phishing|scam|tl;?dr)\b[^\n:：]{0,30}[:：?]?[ \t]*\n[ \t]*(?=\n)"
    r"|\b(?:sentence|phrase|poem|song|lyrics|verse|haiku|joke|riddle|slogan|caption|dialogue"
    r"|translation)\s{0,3}:"
    r"|\bis (?:this|the following)(?: sentence| text| line)?(?: \w{2,10})? (?:correct|right|ok"
    r"|okay)[ \t]{0,2}[?:：]|\bfill in (?:the|these) (?:gaps?|blanks?)\b[^\n:：]{0,40}[:：]"
    r"|\bhow (?:do|would|can|to|does)(?: (?:you|i|we|one))? (?:say|write|spell|translate|phrase)\b"
    r"[^\n:：?]{0,40}[:：]|\b(?:what(?:'s| is)|wie (?:sagt|schreibt|heißt)|was heißt)\b"
    r"[^\n:：?]{0,40}\b(?:in|auf) [^\W\d_]{3,15}[ \t]{0,2}[:：]"
    rf"|{_ASKS}(?:also |mal |auch ){{0,2}}(?:improve|edit|revise|correct|fix|korrigiere?"
    r"|verbessere?)(?: mal| auch)? (?:this|that|these|it|the following|das|diese[ns]?"
    r"|folgende[ns]?)(?: one| please| bitte| hier)?[ \t]{0,2}[:：]"
    r"|\A[ \t]*(?:and|next|now|then|und|dann|jetzt|nächster|次(?:は)?|あと)"
    r"(?: (?:one|this|das|noch))?[ \t]{0,2}[:：]"
    rf"|{_ASKS}(?:write|draft|compose|invent|generate|create|schreibe?|verfasse?|erfinde?|entwirf)"
    r"(?: me| us| mir| uns)? (?:an?|the|some|eine?n?|den|die|das) (?!\w{0,12}(?:reminder|note|memo"
    r"|list|task|todo|entry|erinnerung|notiz|liste|eintrag|aufgabe)\b)[^\n:：.!?]{1,60}[:：]"
    r"|(?:訳し|翻訳|英訳|和訳|独訳|要約|校正|添削|直し|書き直し|言い換え|短く)[^\n:：。]{0,20}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
"""A request for work on a text that follows: "Translate to German: I live in Rome"."""
_INTRODUCED = re.compile(
    rf"\b(?:here(?:'s| is| are)|below (?:is|are)|this is|(?:i|we) (?:got|received)|look at|see"
    rf"|hier (?:ist|sind|kommt)|das ist|(?:ich|wir) (?:habe|haben) [^\n:]{{0,30}}(?:bekommen"
    rf"|erhalten))\b[^\n:：]{{0,60}}\b{TEXTS}\b[^\n:：]{{0,60}}[:：]"
    rf"|^[ \t]*(?:(?:the|my|his|her|their|our) (?:[^\W\d_]{{1,20}}'s? )?)?{TEXTS}"
    rf"(?: (?:text|from [^\n:]{{1,40}}))?[ \t]*[:：][ \t]*\n"
    r"|(?:^|(?<=[.!?。]))[ \t]*(?:chapter|scene|act|kapitel|szene|akt) "
    r"(?:\d{1,3}|one|two|three|four|five|[ivx]{1,5}|eins|zwei|drei)[ \t]?\.(?=\s)"
    r"|第[一二三四五六七八九十\d]{1,3}[章話]。"
    rf"|{_FICTION}[^\n:：.!?。]{{0,40}}[:：]"
    r"|(?:以下|次)(?:の|は)[^\n:：。]{0,30}[:：]"
    rf"|\b{TEXTS} (?:from|by|von|vom) (?!(?:me|us|mir|uns)\b)[^\n:：.!?]{{1,40}}[:：]"
    rf"|\b(?:{TEXTS}|answer|response|antwort) (?:#|no\.? ?|nr\.? ?)?\d{{1,6}}[ \t]{{0,2}}[:：]"
    r"|(?:^|(?<=[.!?]))[ \t]*(?:[\w'’-]{1,20} ){0,3}prompt\b[^\n:：.!?]{0,40}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
"""The introduction of a text: "Here's the page text:", "I got this mail:"."""
_SAID_BY_OTHERS = re.compile(
    r"(?<!\bi )(?<!\bi've )(?<!\bi just )(?<!\bwe )\b(?:said|says|wrote|writes|texted|replied|asked"
    r"|answered|posted|emailed|messaged|told (?:me|us)|sent me)"
    r"(?: (?:me|us|to me|back|that|this|yesterday|today|again)){0,2}[ \t]{0,2}:"
    r"|\b(?:hat|haben) (?:(?:mir|uns|gestern|heute|gerade|eben|dann) ){0,2}(?:geschrieben|gesagt"
    r"|gemeint|geantwortet|gefragt)[ \t]{0,2}:"
    r"|(?<!\bich )\b(?:schrieb|schreibt|sagte|sagt|meinte|meint|fragte|fragt|antwortete)"
    r"(?: (?:mir|uns|zu mir|gestern|heute|neulich)){0,2}[ \t]{0,2}:"
    r"|(?:が|は)[^。\n:：]{0,20}(?:言った|言ってた|言っていた|言いました|書いた|書いていた|書きました)[:：]",
    re.IGNORECASE,
)
"""Words of another person: "My teacher said: …", but not "as I said: …"."""
_NAME = r"[^\W\d_][\w.'’-]{0,20}(?: [\w.'’-]{1,20}){0,2}"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?"
_TIMED = re.compile(
    rf"^[ \t]*(?P<open>(?:\d{{1,4}}[-./]\d\d?[-./]\d{{1,4}},? |[\[(][^\n\])]{{0,12}}))?{_CLOCK}"
    rf"[\])]?,?(?: [-–])?[ \t]{{1,3}}@?{_NAME}[:：][ \t]+\S[^\n]*"
    rf"|^[ \t]*@?{_NAME} (?P<beside>[\[(]){_CLOCK}[\])][:：][ \t]+\S[^\n]*",
    re.MULTILINE,
)
"""A line of a chat with its time: "[10:02] tom: I'm moving"."""
_TIMED_HEAD = re.compile(
    rf"^[ \t]*{_NAME}[ \t]{{1,3}}[\[(]?(?:(?:[Tt]oday|[Yy]esterday) at )?{_CLOCK}[\])]?[ \t]*$",
    re.MULTILINE,
)
"""A line above a message of a chat: "tom 10:02 AM"."""
_NAMED = re.compile(rf"^[ \t]*(?P<name>{_NAME})[:：][ \t]+[^\n]*", re.MULTILINE)
_TERSE_ANSWER = re.compile(
    r"[ \t]{0,4}(?:a|answer|antwort|答え?)[:：][ \t]{0,4}(?:[^\s.!?:]{1,30}[ \t]?){1,3}\W{0,3}\Z",
    re.IGNORECASE,
)
"""A line of a form of questions that only names a value: "A: Lyon"."""
_SELF = frozenset({"me", "i", "ich", "私", "僕", "俺"})
"""The names of the speaker in a chat that they paste."""
LEAST_ANNOUNCED = 60
"""Characters of a message that is the announced text, and no answer."""
_ASKS_FOR_TEXT = re.compile(
    rf"(?<!copy and )\bpaste (?:it|them|(?:the|your|that) {TEXTS})\b"
    r"[^.!?\n]{0,20}(?:\b(?:here|below)\b|[.!?]|\Z)"
    rf"|\b(?:send|share|post|show)(?: me)? (?:it|them|(?:the|your|that) {TEXTS})\b"
    rf"|\b(?:schick|schicke|schicken sie|sende|kopiere?)\b[^.!?\n]{{0,20}}"
    rf"\b(?:ihn|sie|es|(?:den|die|das|deinen?|ihren?) {TEXTS})\b|\bfüge?\b[^.!?\n]{{0,30}} ein\b"
    r"|貼り?付け|貼って|(?:文章|本文|メール|原稿)を(?:送って|お送り|教えて)",
    re.IGNORECASE,
)
"""How an assistant asks for a text to work on."""
_BLANKED = re.compile(r"(?:\A|\n)[ \t]{3}")
_END_OF_SPEECH = re.compile(r"(?<=[.!?…])\s|\n|\Z")
_END = re.compile(
    r"\n[ \t]*\n|\|\||\Z"
    r"|(?<=[.!?…。！？])\s{0,3}(?=[^.!?…。！？\n]{0,40}"
    r"(?:\b(?:in real life|irl|in echt|real talk)\b|本当は|実際は))",
    re.IGNORECASE,
)
"""The end of a text that began on a line with other words."""


def is_text_to_work_on(text: str) -> bool:
    """Whether a message contains a text to translate, correct or sum up.

    Such a message is no question to the memory.
    """
    return _TO_WORK_ON.search(text) is not None


def quote_announced_texts(messages: Sequence[Message]) -> list[Message]:
    """The messages, with texts that the message before announced as quotations ("> ").

    A user announces a text ("translate this:"), or an assistant asks for it ("Paste it here").

    Args:
        messages: Messages of a conversation in order.

    """
    quoted = [*messages[:1]]
    for before, message in pairwise(messages):
        is_announced = message.role == "user" and (
            hands_over(before.content)
            if before.role == "user"
            else before.role == "assistant"
            and _ASKS_FOR_TEXT.search(before.content[-LEAST_ANNOUNCED * 2 :]) is not None
        )
        if is_announced and len(message.content) >= LEAST_ANNOUNCED:
            lines = [f"> {line}" for line in message.content.split("\n")]
            message = message.changed(content="\n".join(lines))
        quoted.append(message)
    return quoted


def without_pasted(text: str, *, is_story: bool = False) -> str:
    """The text, of the same length, with blanks in place of what others wrote.

    Args:
        text: A message, or a story of messages.
        is_story: Whether it may be a story, which names who says something: "User said: …".

    """
    text = with_blanks(text, documents(text))
    text = with_blanks(text, _chat(text, is_story))
    return with_blanks(text, _pasted(text, is_story))


def _chat(text: str, is_story: bool) -> Iterator[tuple[int, int]]:
    """The places of the lines of a pasted chat."""
    timed = [*_TIMED.finditer(text)]
    if len(timed) > 1 or (timed and (timed[0]["open"] or timed[0]["beside"])):
        yield from _turns(timed)
    heads = [*_TIMED_HEAD.finditer(text)]
    # in a list of times, one head follows the other
    if len(heads) > 1 and all(head.end() + 1 < after.start() for head, after in pairwise(heads)):
        yield heads[0].start(), len(text)
    if is_story:
        return
    named = [*_NAMED.finditer(text)]
    lines = Counter(match["name"].casefold() for match in named)
    if len(lines) > 1 and max(lines.values()) > 1 and OPENERS.isdisjoint(lines):
        yield from (
            turn
            for match, turn in zip(named, _turns(named), strict=True)
            if match["name"].casefold() not in _SELF and not _TERSE_ANSWER.match(match.group())
        )


def _turns(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The places of turns that begin with these lines; the last is a line."""
    for line, after in pairwise(lines):
        yield line.start(), after.start()
    if lines:
        yield lines[-1].span()


def _pasted(text: str, is_story: bool) -> Iterator[tuple[int, int]]:
    """The places of texts that are not the speaker's."""
    lower = text.lower()
    for pattern in (_TO_WORK_ON, _INTRODUCED, _SAID_BY_OTHERS, SPOKEN):
        if (is_story and pattern in (_SAID_BY_OTHERS, SPOKEN)) or not may_match(pattern, lower):
            continue
        for match in pattern.finditer(text):
            begins = match.end()
            if _points_at_blank(text, match.start(), begins):
                continue
            line = text[begins : begins + 200].partition("\n")[0]
            ends = _END_OF_SPEECH if pattern is SPOKEN else _END
            end = ends.search(text, begins + (len(line) - len(line.lstrip())))
            yield begins, len(text) if end is None or not line.strip() else end.start()


def _points_at_blank(text: str, start: int, end: int) -> bool:
    """Whether an introduction is of a text beside it that is blank already.

    Args:
        text: The message.
        start: Where the introduction begins.
        end: Where it ends.

    """
    below = text[end : len(text) - len(text[end:].lstrip())]
    above = text[:start]
    return ("\n" in below and _BLANKED.search(below) is not None) or (
        not above.strip() and _BLANKED.search(above) is not None
    )
