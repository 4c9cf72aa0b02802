"""Put what a statement is for beside the thing whose value it tells.

"Contoso: the deadline is 3 May" and "the deadline is 3 May for Contoso" tell of the deadline for
Contoso. Without that name the deadline would be the same slot as that of any other client.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.casual import is_opening
from memory_core.adapters.offline.clauses import without_fillers
from memory_core.adapters.offline.fact_values import MOMENT, amount
from memory_core.adapters.offline.thesaurus import are_plain_words
from memory_core.domain.statements.change_phrases import SOME_TIME
from memory_core.domain.statements.labels import OPENERS
from memory_core.domain.text.analyzer import words
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY

_FURTHER_WORDS = r"[\w&'’.-]{0,30}(?: [\w&'’.-]{1,30}){0,3}"
_LABEL = re.compile(
    rf"(?:(?P<leads>[Ff]or|[Ff]ür) (?:(?:the|our|my|das|den|die) )?(?P<what>\w{_FURTHER_WORDS})"
    rf"|(?:(?:[Oo]n|[Bb]ei|[Aa]t) (?:(?:the|our|my) )?)?(?P<name>[A-ZÀ-Þ]{_FURTHER_WORDS}))"
    r"(?P<sign>[:,]) "
)
_KIND = re.compile(r"(?:Project|Client|Customer|Team|Projekt|Kundin|Kunde) [\w-]")
"""A word that tells what a name names: "Project Atlas"."""
_ITS_VALUE = re.compile(
    r"(?P<whose>[Mm]y|[Oo]ur|[Tt]he|(?P<german>(?:[Mm]ein|[Uu]nser)e?|[Dd]er|[Dd]ie|[Dd]as))"
    r" (?P<thing>[\w-]{2,30}(?: [\w-]{2,30}){0,2}?)"
    r" (?P<says>(?:is|was|(?:moved|slipped|rose|went up|went down) to|starts|begins|ist"
    r"|beträgt|liegt bei)\b(?P<value>.{1,100}))"
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
        if not (_names_thing(label) or _names_client(label, stated)):
            return text
        return _moved(stated, label["what"] or label["name"], stated["says"])
    purpose = _FOR_WHAT.search(stated["says"])
    if purpose is None or _is_no_purpose(purpose["what"]):
        return text
    is_named = (
        purpose["the"] or purpose["what"][:1].isupper() or _REACHED_AT.search(stated["value"])
    )
    says = stated["says"][: purpose.start()]
    if not is_named or stated["german"] or not _is_value(says):
        return text
    return _moved(stated, purpose["what"], says)


_WAS_ANOTHER = re.compile(
    r"\bthat(?: was|['’]s| is) (?:my (?:\w+ )?\w+|[A-Z]\w+),? (?:and )?not me\b"
    r"|\bdas (?:war|ist) (?:mein\w* (?:\w+ )?\w+|[A-ZÄÖÜ]\w+),? (?:und )?nicht ich\b",
    re.IGNORECASE,
)
"""Words that give a statement to another person."""


def label_of_value(text: str) -> str:
    """The label of a sentence that tells a value: "Contoso: "; else ""."""
    label = _LABEL.match(text)
    return "" if label is None or with_its_purpose(text) == text else label[0]


def is_said_of_another(text: str) -> bool:
    """Whether a sentence is told by whom or what its label names.

    "Contoso: we moved to Berlin" says nothing of the speaker.

    A label of plain words only opens a sentence of the speaker's own: "Diet: I'm vegan".
    """
    if _WAS_ANOTHER.search(text) is not None:
        return True
    label = _LABEL.match(text)
    return (
        label is not None
        and not label["leads"]
        and _I_OR_WE.match(text, label.end()) is not None
        and not label_of_value(text)
        and (_names_thing(label) or label["name"].casefold() in _NAMES)
    )


def under_label(text: str, label: str) -> str:
    """Put a label before a sentence that tells a further value of what it names.

    Args:
        text: The sentence: "Its budget is 40k".
        label: The label before it in its paragraph, or "".

    Returns:
        "Contoso: The budget is 40k"; the sentence itself where it tells nothing of the thing.

    """
    further = _FURTHER.match(text) if label else None
    if further is None:
        return text
    labelled = f"{label}{further['whose'] or 'The'} {text[further.end() :]}"
    return labelled if label_of_value(labelled) else text


def _names_thing(label: re.Match[str]) -> bool:
    """Whether a label names what a statement is for; "Last thing" only opens it."""
    name = label["what"] or label["name"]
    if is_opening(name) or without_fillers(f"{name}: I") == "I":
        return False
    if _is_no_purpose(name) or _DAY.match(name):
        return False
    if label["leads"]:
        return _FOR_READER.match(name) is None
    if label["sign"] == ",":
        return False
    further = " ".join(word for word in words(name) if word not in OPENERS)
    return _KIND.match(name) is not None or not are_plain_words(further)


def _names_client(label: re.Match[str], stated: re.Match[str]) -> bool:
    """Whether a plain word names whose value is stated: "Apple: the deadline is 3 May".

    "Work: my deadline is 3 May" is the speaker's, and "Rent: the new rent is 900" names the rent.
    """
    name = label["name"] or ""
    return (
        label["sign"] == ":"
        and name.isalpha()
        and name.casefold() not in OPENERS
        and not is_opening(name)
        and not _is_no_purpose(name)
        and _DAY.match(name) is None
        and _MINE.match(stated["whose"]) is None
        and name.casefold() not in words(stated.group().casefold())
    )


def _is_no_purpose(name: str) -> bool:
    return any(expression.search(name) for expression in (_NOT_FOR, SOME_TIME))


_DAY = re.compile(rf"(?:{ANY_WEEKDAY}|{ANY_MONTH})\b", re.I)
_FOR_READER = re.compile(
    r"(?:(?:your|future) )?(?:reference|record|context|clarity|info|information)\b", re.I
)
"""What a label "for reference" is for."""
_FURTHER = re.compile(r"(?:[Ii]ts|(?P<whose>[Tt]he|[Oo]ur|[Uu]nsere?|[Dd]er|[Dd]ie|[Dd]as)) ")
"""How a sentence begins that goes on with what the label before it names."""
_MINE = re.compile(r"[Mm](?:y|ein)")
_GIVEN_NAMES = """
    adam bill billy bob bobby carol dick doris eugene frank harry heather iris jack jay jean john
    ken lance lee lily maria mark martin max mike nick pat penny peter randy ray rob robin roger
    rose ruby terry tom violet willie
"""
_NAMES = frozenset(_GIVEN_NAMES.split())
"""Given names that are plain words of the thesaurus, too."""
_I_OR_WE = re.compile(r"(?:I|[Ww]e|[Mm]y|[Oo]ur)\b")
_REACHED_AT = re.compile(r"@|\d{5}|\d \d{3}")
"""A mail address or a telephone number, which is for a purpose: "for support"."""


def _is_value(text: str) -> bool:
    return "@" in text or amount(text.strip(" .!")[:60]) is not None


def _moved(stated: re.Match[str], name: str, says: str) -> str:
    """A statement of a value with a name beside the thing."""
    whose = stated["whose"][:1].upper() + stated["whose"][1:]
    return f"{whose} {stated['thing']} {'für' if stated['german'] else 'for'} {name} {says}"
