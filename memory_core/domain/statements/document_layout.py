"""Documents that a message contains, known by their layout.

    "Is this a fit for me? I hate nights."      the lead, in the speaker's own words
    ""
    "HEAD BAKER – Full time"                    from this title on, the document
    "You always put the customer first."

People write to an assistant in sentences. A document has marks that such sentences lack
(`document_marks`): a strong mark is enough, weak marks have to be three, and four where no own
words come before. Words that point at a text without naming it count as marks, too: "turn this
into bullets". Own words come back behind a document where it surely ended, or where its style
breaks off. In doubt words are the document's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from memory_core.domain.statements.document_marks import (
    ENOUGH,
    FEWEST_ROWS,
    TO_READER,
    Block,
    count_marks,
    ends_with_stamp,
    is_in_other_style,
    is_signature,
    is_table,
    is_title_alone,
    is_titled,
    opens_document,
    split_into_blocks,
)
from memory_core.domain.text.text_cache import keep_texts

ENOUGH_ALONE = ENOUGH + 1
"""The marks of a document that opens the message."""
LEAST_BODY = 400
"""Characters that are many for own words below a question."""
MOST_OF_LEAD = 400
MOST_OF_TAIL = 400
MOST_OF_QUOTE = 4_000

TEXTS = (
    r"(?:e-?mails?|mails?|texts?|letters?|messages?|msg|paragraphs?|passages?|articles?|web ?pages?"
    r"|pages?|posts?|tweets?|reviews?|bio|essay|transcript|chat|conversation|report|speech"
    r"|statement|sentences?|abstract|contract|draft|listing|job ad|excerpt|quote|document|file"
    r"|logs?|log ?files?|stack ?traces?|traceback|outputs?|diffs?|snippets?|tickets?|prompts?"
    r"|comments?|threads?|notes|minutes|profile|cv|r[eé]sum[eé]|ad|advert|code|query|script"
    r"|answers?|(?:home|course)?work|(?:work)?sheet|cards?|recipe|translation|candidates?"
    r"|newsletter|press release|blog|grammar|grammatik|spelling|typos|wording"
    r"|nachricht|brief|absatz|abschnitt|satz|sätze|artikel|seite|beitrag|rezension|anschreiben"
    r"|lebenslauf|protokoll|rechtschreibung|entwurf|anzeige|zitat|dokument|datei)"
)
"""Nouns for texts to hand over."""
_HANDED = re.compile(
    r"(?:(?:\A|[.!?,;] )(?:(?:and|ok|so|now|hey|hi|hello|just)\b,? ){0,2}"
    r"|\b(?:please|pls|plz|can you|could you|would you|can u|help me(?: to)?) )"
    r"(?P<verb>(?!(?:with|about|on|in|to|for|at|from|of|like|and|by)\b)[a-z]{3,12})(?: (?:me|us))?"
    r"(?: (?:up|out|down|over|through))? (?:this|these)"
    rf"(?:(?= (?:into|in|to|out|up|sound|more|less|a|for|as)\b|[.,;:!?]|\Z)"
    rf"|(?: [\w'’-]{{1,20}}){{0,2}} {TEXTS}\b)(?![^\n]{{0,120}}[:：][ \t]*[^\s\n])"
    r"|\b(?:found|got|received|sent|wrote|saw|posted|gave|left|made|came across) (?:me |us )?"
    r"(?:this|these)(?= (?:from|on|in|at|to|today|yesterday|this|last|by|through|via|back|for|and"
    r"|when)\b|[.,:;!?)]|\Z)"
    r"|\b(?:says|reads|states|said|wrote) (?:the following|as follows)\b"
    r"|\b(?:das|dies) (?:kam|stand|steht)\b"
    r"|\bhat (?:mir |uns )?(?:das|dies) (?:heute |gestern )?(?:geschrieben|geschickt|gepostet)\b"
    r"|(?:これ|この(?:文|手紙|メール|記事|文章|ページ)[^\s、。?？]{0,6})(?:を|に)[^。?？\n]{0,20}"
    r"(?:て|ください|お願い)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words that hand a text over: "turn this into bullets", "my gran wrote this"."""
_PRESENTS = re.compile(
    r"\b(?:this|these|here['’]s|here (?:is|are)|hier (?:ist|sind|kommt)|dies\w{0,2})\b"
    r"|この|これ|次の|以下"
    r"|\b(?:the|my|his|her|their|our|that|der|die|das|den|dem|mein\w{0,2}|sein\w{0,2}|ihr\w{0,2})"
    rf" (?:[\w'’-]{{1,20}} ){{0,2}}{TEXTS}\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:it|that|the|below|following|here|attached|das|die|den|der|es|hier|folgend\w{1,2})\b|下の",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？]|\b(?:please|pls|plz|can you|could you|help|bitte|kannst du|können sie|hilf)\b"
    r"|(?:\A|[.!,;] )(?:and |ok |so |hi,? )?[a-zäöü]{3,12} (?:this|these|it|the|my|an?|das"
    r"|dies\w{0,2}|die|den|mir|mal)\b"
    r"|(?:て|ください|下さい|お願い(?:します)?|ほしい|頼む)(?:[。!！]|\Z)",
    re.IGNORECASE,
)
_KEEPS = (
    r"remember|note|keep|save|store|tell|told|merken?|merke?|notiere?|beachte?|speichere?|halte"
    r"|wissen|weißt"
)
_TO_KEEP = re.compile(rf"\b(?:{_KEEPS})\b|覚え|メモ|記録|記憶|守って", re.IGNORECASE)
"""Work of an assistant on the speaker's own words: "remember this:"."""
_NOT_ON_TEXTS = re.compile(
    rf"\b(?:{_KEEPS}|file|know|follow|apply|use|consider|do|respect|add|explain|fix|solve|handle"
    r"|manage|sort|book|plan|arrange|imagine|try|want|need|folge)\b|覚え|メモ|記録|記憶|守って",
    re.IGNORECASE,
)
"""Work on own words or affairs, and seldom on a text: "fix this"."""
_HANDS_OVER = re.compile(
    r"\b(?:this|these|it|that|below|following|das|dies\w{0,2}|es|folgend\w{1,2}|den|die"
    r"|part (?:one|two|\d))\b"
    r"[^\n.!?:：]{0,60}[:：][ \t]*\Z"
    r"|(?:この|これ|次|以下)[^\n。:：]{0,30}[:：][ \t]*\Z",
    re.IGNORECASE,
)
"""The end of a request that points at a text below it: "make it funnier:"."""
_OF_ANOTHER = re.compile(
    r"\b(?:(?:this|that|here)(?:['’]s| is)|das ist|hier ist) (?:what|how|was|wie) "
    r"(?!(?:i|we|ich|wir)\b)[^\n.!?:：]{1,60}[:：][ \t]*\Z",
    re.IGNORECASE,
)
"""Words before those of another person: "this is what my brother has so far:"."""
_ON_LINE = re.compile(r"[:：][ \t]*[^\W\d]")
"""A text on the line of the words that present it."""
_LAST_SENTENCE = re.compile(r"[^.!?。！？\n]{1,200}\Z")
_OF_SPEAKER = re.compile(r"\b(?:I|I['’]\w{1,2}|i['’]?m|my|ich|mein\w{0,2})\b|[私僕俺]|うち")
_LONG_QUOTES: Final = tuple(
    (
        re.compile(rf"^[ \t]*(?P<open>{re.escape(opening)})", re.MULTILINE),
        re.compile(rf"[{re.escape(closings)}](?!\w)"),
    )
    for opening, closings in (
        ('"', '"'),
        ("“", "”"),
        ("„", "“”"),
        ("«", "»"),
        ("「", "」"),
        ("『", "』"),
    )
)
"""The marks that open a quotation at the beginning of a line, and close it."""


def hands_over(text: str) -> bool:
    """Whether a message ends with a request for work on the next message."""
    blocks = [*split_into_blocks(text)]
    return bool(blocks) and len(text) <= MOST_OF_LEAD and _hands_over(blocks[-1][-1].text)


@keep_texts(256)
def documents(text: str) -> tuple[tuple[int, int], ...]:
    """The places of documents in a message, in order.

    Args:
        text: The message, in which other words of other people may be blank already.

    """
    quotes = (*_long_quotes(text),)
    return (*quotes, *_below_lead(with_blanks(text, quotes)))


def with_blanks(text: str, places: Iterable[tuple[int, int]]) -> str:
    """The text, of the same length and lines, with blanks at these places.

    Args:
        text: The text.
        places: Where a part begins and ends.

    """
    parts, done = list[str](), 0
    for start, end in sorted(places):
        if end > done:
            start = max(start, done)
            parts += (text[done:start], re.sub(r"[^\n]", " ", text[start:end]))
            done = end
    return "".join((*parts, text[done:]))


def _long_quotes(text: str) -> Iterator[tuple[int, int]]:
    """The places of quotations of several lines, each of which begins a line."""
    for opening, closing in _LONG_QUOTES:
        end = 0
        for match in opening.finditer(text):
            start = match.start("open")
            if start < end:
                continue
            close = closing.search(text, start + 1)
            if close is None:
                break
            end = close.end()
            if end - start <= MOST_OF_QUOTE and "\n" in text[start:end]:
                yield start, end


def _below_lead(text: str) -> Iterator[tuple[int, int]]:
    """The place of the document below own words, or in place of them."""
    blocks = [*split_into_blocks(text)]
    lines = [line for block in blocks for line in block]
    if len(lines) < 2:
        return
    lead = _lead(blocks[0])
    above = "\n".join(line.text for line in lead)
    body = _split_body(blocks, len(lead))
    if not body:
        return
    is_known = bool(lead) and len(text[lead[-1].end : body[0][0].start].strip("\n")) > 2
    is_handed_over = not is_known and _is_handed_over(lead)
    all_lines = [line for block in body for line in block]
    score = (
        ENOUGH * is_handed_over
        + (0 if is_known else _presence(above))
        + count_marks(all_lines, above)
        + (sum(len(line.text) for line in all_lines) >= LEAST_BODY)
        + is_in_other_style(above, body[0])
        + (is_titled(body[0]) or (len(body) > 1 and is_title_alone(body[0])))
    )
    if score < (ENOUGH if lead else ENOUGH_ALONE):
        return
    if not is_handed_over and _OF_SPEAKER.search("\n".join(line.text for line in body[0])):
        body = body[next((n for n, block in enumerate(body) if _is_marked(block, above)), 0) :]
    yield body[0][0].start, _end_before_tail(body, has_lead=bool(lead))


def _presence(above: str) -> int:
    """How surely the words before a text point at it: 0 to 2."""
    if len(above) > MOST_OF_LEAD or not _ASKS.search(above) or _TO_KEEP.search(above):
        return 0
    presents = _PRESENTS.search(above)
    if presents is None:
        return int(_POINTS.search(above) is not None)
    return 0 if _ON_LINE.search(above, presents.end()) else 2


def _lead(block: Block) -> Block:
    """The lines of the first block above a document in it."""
    for number, line in enumerate(block):
        if opens_document(line, block[number + 1 : number + 9], is_first=not number):
            return block[:number]
        if _hands_over(line.text):
            return block[: number + 1]
    return block


def _split_body(blocks: Sequence[Block], lead_lines: int) -> list[Block]:
    rest = blocks[0][lead_lines:]
    return [*([rest] if rest else []), *blocks[1:]]


def _is_handed_over(lead: Block) -> bool:
    """Whether the words before a text hand it over: "find the themes in this:"."""
    above = "\n".join(line.text for line in lead)
    if not lead or len(above) > MOST_OF_LEAD:
        return False
    handed = _HANDED.search(above)
    if handed is not None and _NOT_ON_TEXTS.fullmatch(handed["verb"] or "") is None:
        return True
    return _hands_over(lead[-1].text)


def _hands_over(line: str) -> bool:
    """Whether the last sentence of a line points at a text to work on."""
    last = _LAST_SENTENCE.search(line)
    return (
        last is not None
        and (
            _OF_ANOTHER.search(last.group()) is not None
            or (
                _HANDS_OVER.search(last.group()) is not None
                and _ASKS.search(last.group().strip()) is not None
            )
        )
        and _NOT_ON_TEXTS.search(last.group()) is None
    )


def _end_before_tail(body: Sequence[Block], *, has_lead: bool) -> int:
    """Where a document ends, before own words below it.

    Args:
        body: The blocks of the document, and those below it.
        has_lead: Whether own words come before it.

    """
    for number in range(max(1, len(body) - 2), len(body)):
        tail = body[number:]
        text = "\n".join(line.text for block in tail for line in block)
        if len(text) > MOST_OF_TAIL or any(_is_marked(block, "") for block in tail):
            continue
        before = body[number - 1]
        if (
            ((is_signature(before) or ends_with_stamp(before)) and (not has_lead or "?" in text))
            or (len(before) >= FEWEST_ROWS and is_table(before[-FEWEST_ROWS:]))
            or _breaks_style(text, body[:number])
            or _turns_to_speaker(text, body[:number])
            or (not has_lead and len(tail) == 1 and _ASKS.search(text) is not None)
        ):
            return before[-1].end
    return body[-1][-1].end


def _breaks_style(text: str, before: Sequence[Block]) -> bool:
    """Whether words begin with a small letter below blocks with capitals."""
    return text[:1].islower() and not any(block[0].text.strip()[:1].islower() for block in before)


def _turns_to_speaker(text: str, before: Sequence[Block]) -> bool:
    """Whether a speaker appears below a document for a reader: "You are …"."""
    document = "\n".join(line.text for block in before for line in block)
    return (
        _OF_SPEAKER.search(text) is not None
        and _OF_SPEAKER.search(document) is None
        and TO_READER.search(document) is not None
    )


def _is_marked(block: Block, above: str) -> bool:
    return is_titled(block) or count_marks(block, above) > 0
