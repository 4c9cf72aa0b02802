"""Put what a statement is for beside the thing whose value it tells.

"Contoso: the deadline is 3 May" and "the deadline is 3 May for Contoso" tell of the deadline for
Contoso. Without that name the deadline would be the same slot as that of any other client.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.casual import is_opening
from memory_core.adapters.offline.clauses import without_fillers
from memory_core.adapters.offline.fact_values import MOMENT, amount
from memory_core.domain.statements.change_phrases import SOME_TIME
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY

_OF_NAME = (
    rf"(?!(?i:{ANY_WEEKDAY}|{ANY_MONTH})\b)[A-ZÀ-Þ][\w&'’.-]{{0,30}}(?: [\w&'’.-]{{1,30}}){{0,3}}"
)
_LABEL = re.compile(
    rf"(?:(?P<leads>[Ff]or|[Ff]ür|[Oo]n|[Bb]ei|[Aa]t) (?:(?:the|our|my|das|den|die) )?)?"
    rf"(?P<name>{_OF_NAME})(?P<sign>[:,]) "
)
_ITS_VALUE = re.compile(
    r"(?P<whose>[Mm]y|[Oo]ur|[Tt]he|(?P<german>(?:[Mm]ein|[Uu]nser)e?|[Dd]er|[Dd]ie|[Dd]as))"
    r" (?P<thing>[\w-]{2,30}(?: [\w-]{2,30}){0,2}?)"
    r" (?P<says>(?:is|was|starts|begins|ist|beträgt|liegt bei)\b(?P<value>.{1,100}))"
)
"""A statement such as "our budget is 80,000 EUR"."""
_FOR_WHAT = re.compile(
    r" for (?P<the>(?:the|my|our) )?(?P<what>[^\W\d_][^.,;:!?]{1,40})[.! ]{0,3}\Z"
)
_NOT_FOR = re.compile(rf"{MOMENT}|\b(?:moment|time|while|free|sure)\b", re.I)
"""Words after "for" that tell how long, or for how much."""
_LABEL_IN_JAPANESE = re.compile(
    r"\A(?P<name>[^：:、。はが]{0,20}(?:[A-Za-z][^：:、。はが]{0,10}|用|向け))(?:[：:]|(?:で)?は、)"
    r"(?:私の|うちの)?(?=[^\s、。はが]{1,12}は)"
)
"""A client or a purpose before the thing: 「Contoso：私の予算は」."""


def with_its_purpose(text: str) -> str:
    """Put the name of what a value is for beside its thing.

    Args:
        text: The sentence: "For Contoso: our budget is 80,000 EUR".

    Returns:
        "Our budget for Contoso is 80,000 EUR"; the sentence itself where nothing is named.

    """
    label = _LABEL_IN_JAPANESE.match(text)
    if label is not None:
        return f"{label['name']}の{text[label.end() :]}"
    label = _LABEL.match(text)
    start = 0 if label is None else label.end()
    stated = _ITS_VALUE.match(text, start)
    if stated is None or not _is_value(stated["value"]):
        return text
    if label is not None:
        if (label["sign"] == "," and label["leads"] not in _FOR) or _only_opens(label["name"]):
            return text
        return _moved(stated, label["name"], stated["says"])
    purpose = _FOR_WHAT.search(stated["says"])
    if purpose is None or any(
        expression.search(purpose["what"]) for expression in (_NOT_FOR, SOME_TIME)
    ):
        return text
    is_named = (
        purpose["the"] or purpose["what"][:1].isupper() or _REACHED_AT.search(stated["value"])
    )
    says = stated["says"][: purpose.start()]
    if not is_named or stated["german"] or not _is_value(says):
        return text
    return _moved(stated, purpose["what"], says)


def _only_opens(label: str) -> bool:
    """Whether a label names no thing: "Update", "FYI"."""
    return is_opening(label) or without_fillers(f"{label}: I") == "I"


_FOR = frozenset({"for", "For", "für", "Für"})
_REACHED_AT = re.compile(r"@|\d{5}|\d \d{3}")
"""A mail address or a telephone number, which is for a purpose: "for support"."""


def _is_value(words: str) -> bool:
    return "@" in words or amount(words.strip(" .!")[:60]) is not None


def _moved(stated: re.Match[str], name: str, says: str) -> str:
    """A statement of a value with a name beside the thing."""
    whose = stated["whose"][:1].upper() + stated["whose"][1:]
    return f"{whose} {stated['thing']} {'für' if stated['german'] else 'for'} {name} {says}"
