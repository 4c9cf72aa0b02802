"""Whether one of two Japanese statements denies the other, by its last predicate's ending.

The okurigana behind the last character that is no hiragana tell polarity, politeness and tense. The text before them has to be the same,
particles aside, which change in a denial: 車を持っている, 車は持っていません.
"""

from __future__ import annotations

import re

HIRAGANA = "".join(map(chr, range(0x3041, 0x30A0)))
_PARTICLES = str.maketrans("", "", "はがを、。 　")
_NEGATION = re.compile(r"ません|ない|なかった|なく(?!て)|ず(?:に(?:いる|います)?)?\Z")
_NO_NEGATION = (
    "なければ", "なくては", "なくちゃ", "かもしれ", "しかな", "だけでな", "わけでは", "わけじゃ", "とは限", "つまらな",
    "くだらな", "もったいな", "たまらな", "たくな", "たくあり", "ませんか", "ないと", "いけな", "ないで", "すくな", "あぶな",
    "きたな",
)  # fmt: skip
_ADJECTIVES_IN_NAI = ("少", "危", "幼", "切", "情", "汚", "儚")
"""Characters of adjectives that end in ない: 少ない is no denial."""
_EXISTING = frozenset(
    ["ある", "あります", "あった", "ありました", "ない", "ないです", "なかった", "なかったです", "ありません", "ありませんでした"]
)
_FUNCTIONS = (
    ("でき", "can"),
    ("いる", "stay"),
    ("いま", "stay"),
    ("いな", "stay"),
    ("では", "be"),
    ("じゃ", "be"),
    ("です", "be"),
    ("だ", "be"),
)
_ADDED = re.compile(r"[\u30a0-\u9fff]も(?![のう])")


def denies(first: str, second: str) -> bool:
    """Whether the two say the same of the same, one with a negative ending. Symmetric."""
    ours, theirs = _predicate(first), _predicate(second)
    return ours is not None and theirs is not None and ours[:2] == theirs[:2] and ours[2] != theirs[2]


def _predicate(text: str) -> tuple[str, str, bool] | None:
    """The text before the last okurigana, the kind of predicate, and whether it is denied."""
    said = text.rstrip("。.!！ 　").rstrip("ねよわ")
    head = said.rstrip(HIRAGANA)
    ending = said[len(head) :]
    if not head or any(word in ending for word in _NO_NEGATION) or _ADDED.search(said):
        return None
    if head.endswith(_ADJECTIVES_IN_NAI) and ending.startswith("ない"):
        return head.translate(_PARTICLES), "quality", len(_NEGATION.findall(ending)) == 2
    negated = len(_NEGATION.findall(ending)) % 2 == 1
    return head.translate(_PARTICLES), _kind(ending), negated


def _kind(ending: str) -> str:
    bare = ending.lstrip("はがを")
    if bare in _EXISTING:
        return "exist"
    for start, kind in _FUNCTIONS:
        if bare.startswith(start):
            return kind
    if not ending:
        return "be"
    return bare[:2] if bare != ending else "verb"
