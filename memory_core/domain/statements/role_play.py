"""Words that a user says in the role of another person.

"Let's play: you're a tavern keeper and I'm captain Redbeard."      the play begins
"I have three ships and a parrot."                                  is no fact of the user
"That was fun. In real life I'm a baker."                           the play is over
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_core.domain.conversation import Message

_PLAYS = re.compile(
    r"\b(?:let'?s|lets|can we|could we|i(?:'d| would)? (?:want|like) to|wanna|want to)\s"
    r"(?:\w{1,12}\s){0,2}(?:play|rp|pretend|act|improvise|practi[sc]e|rehearse)\b"
    r"|\bpretend\b|\bplay (?:along|a game)\b"
    r"|\b(?:lass|lasst) uns\b[^.!?\n]{0,40}\b(?:spielen|üben|proben|tun)\b|\brollenspiel\b"
    r"|\bwir (?:spielen|üben|proben)\b|\bstell dir vor\b|\btun wir so\b"
    r"|ロールプレイ|なりきっ|ごっこ|演じ|役をやって|練習(?:しよう|したい|させて)",
    re.IGNORECASE,
)
"""Words that may open a play or an exercise."""
_ROLE_PLAY = re.compile(
    r"\brole-?\s?play|\b(?:interview|sales|conversation|job) practice\b|\bd&d\b|\brollenspiel\b"
    r"|\b(?:let'?s (?:all )?)?(?:pretend|imagine|suppose)(?: that)? (?:i(?:'m|m| am| was| were)"
    r"|we(?:'re|re| are))\b|\bstell dir vor,? (?:ich|wir)\b|\btun wir so,? als wäre"
    r"|\bdu bist jetzt\b|ロールプレイ|なりきり",
    re.IGNORECASE,
)
_TAKES_PART = re.compile(
    r"\bwe(?:'re|re| are)\b|\bich wäre\b"
    r"|\b(?:i(?:'m| was| were|m| am|'ll be| will be|'ll play| play)|ich (?:bin|spiele))\b"
    r"|[私僕俺](?:は|が)",
    re.IGNORECASE,
)
_TAKES_A_ROLE = re.compile(
    r"\b(?:you(?:'re|r| are|'ll be| will be| play)?|du (?:bist|spielst)|sie (?:sind|spielen))\b"
    r"[^.!?\n]{1,80}\b(?:i(?:'m|m| am|'ll be| will be| play)|me(?:,| as)|ich (?:bin|spiele|wäre))\b"
    r"|\b(?:i(?:'m|m| am|'ll be| will be| play)|ich (?:bin|spiele))\b[^.!?\n]{1,80}"
    r"\b(?:and|,|und)\s{0,2}(?:you(?:'re|r| are|'ll be| play)?|du (?:bist|spielst))\b"
    r"|\b(?:i(?:'ll)? play|ich spiele) (?:the|a|an|den|die|das|einen|eine|ein)\b"
    r"|(?:私|僕|俺)(?:は|が)[^。\n]{1,20}(?:役|を演じ)",
    re.IGNORECASE,
)
"""Words by which the user becomes another person in it."""
_OVER = re.compile(
    r"\A\W*(?:ok(?:ay)?\W{1,3})?stop\b|\bthanks\W{1,3}that helped\b"
    r"|\b(?:in )?real life\b|\birl\b|\bout of character\b|\booc\b|\b(?:end|stop|quit|pause)(?:ing)?"
    r" (?:of )?(?:the |this |our )?(?:scene|game|play(?:ing)?|role-?\s?play)\b"
    r"|\bthat was (?:fun|great|good|awesome|helpful)\b"
    r"|\b(?:ok(?:ay)?|alright),? (?:enough|done|back)"
    r"|\bin echt\b|\bim (?:echten|wirklichen|richtigen) leben\b|\bdas reicht\b"
    r"|\bspiel(?:e)?s? (?:ist )?(?:vorbei|aus)\b"
    r"|\bgenug (?:gespielt|geübt)\b|現実(?:では|の)|本当は|実際は|ここまで"
    r"|終わり(?:にし|！|。)|演技終",
    re.IGNORECASE,
)
"""Words that end a play."""


def quote_role_play(messages: Sequence[Message]) -> list[Message]:
    """The messages, with what the user says in a role as quotations ("> ").

    A play begins with a message of the user that opens one and takes a role. It ends with words
    that say so, or with the messages. Quoted lines are no statements of the user.

    Args:
        messages: Messages of a conversation in order.

    """
    quoted, plays = list[Message](), False
    for message in messages:
        if message.role == "user":
            plays = plays or _opens(message.content)
            if plays:
                over = _OVER.search(message.content)
                message = _with_quoted(message, None if over is None else over.start())
                plays = over is None
        quoted.append(message)
    return quoted


def _opens(text: str) -> bool:
    if _ROLE_PLAY.search(text) is not None:
        return _TAKES_PART.search(text) is not None
    return _PLAYS.search(text) is not None and _TAKES_A_ROLE.search(text) is not None


def _with_quoted(message: Message, end: int | None) -> Message:
    """The message with its text up to `end` quoted; None for all of it."""
    played, rest = message.content[:end], "" if end is None else message.content[end:]
    lines = [f"> {line}" for line in played.strip().split("\n") if line.strip()]
    return message.changed(content="\n".join([*lines, *filter(None, [rest])]))
