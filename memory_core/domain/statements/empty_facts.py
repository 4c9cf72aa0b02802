"""Facts without content of their own.

Their value only points ("for her", "the same place"), or repeats the subject.
"""

from __future__ import annotations

import re

from memory_core.domain.agent_schemas import SaidFact

_POINTING_WORDS = (
    "he him his she her hers it its they them their theirs this that these those one ones both "
    "here there so same thing place way kind other another ihr ihm ihn ihnen sie er es das dies "
    "dieser diese dieses diesen diesem jener der die da dort hier hier so beide denen dem den"
)
_POINTING = frozenset(_POINTING_WORDS.split())
"""Words without meaning unless an earlier statement is known."""
_BESIDE_WORDS = (
    "for of with to at in on by from as like the a an my our your his her their too also now again "
    "all very much für von mit bei zu an in auf auch jetzt wieder alle sehr genau"
)
_BESIDE = frozenset(_BESIDE_WORDS.split())
"""Words that may come beside them, and don't name a thing either."""
_POINTS_IN_JAPANESE = re.compile(
    r"\A(?:それ|これ|あれ|そこ|ここ|あそこ|どこか|彼女?|彼ら|あの人|この人|その人|こちら"
    r"|そちら)(?:のため|のもの|たち)?\Z"
)
_SAME_IN_JAPANESE = re.compile(
    r"[^、。はがも]{1,8}[はがも](?:前と|いつもと|今までと)?(?:同じ|そのまま)(?:です|だよ?|でした)?[。！]?\Z"
)
"""A statement that only says that a thing is as before."""
_OF_PRONOUNS = frozenset({"pronouns", "pronoun", "pronomen"})
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OF = re.compile(
    r"\b(?:opinion of|allergy to|intolerance to|eats|drinks|likes|speaks) (?P<thing>.+)\Z",
    re.IGNORECASE,
)
_IS = re.compile(
    r"\A(?P<subject>.{1,80}?) (?:is called|are called|is named|is|are|was|heißt|ist"
    r"|sind) (?P<value>.{1,80}?)[.!]*\Z",
    re.IGNORECASE,
)
_AT_END = re.compile(
    r"\A.{1,60} (?:is|are|works?|lives?|belongs?|likes?|loves?|goes|ist|sind|arbeite|arbeitet|wohne"
    r"|wohnt|mag|liebe)"
    r" (?P<value>(?:[^\W\d_]+ ){0,3}[^\W\d_]+)[.!]*\Z",
    re.IGNORECASE,
)
_WITHOUT_PREDICATE = re.compile(
    r"\A(?:[\w'’]{1,20} ){1,4}(?:is|am|are|was|were|do|does|did|can|has|have|will)"
    r"(?: not|n['’]t)?[\s.!]*\Z",
    re.IGNORECASE,
)
"""A statement that leaves out what it states: "I am not"."""
_TOLD_BY = re.compile(r"\A[^:]{1,60}: ")


def says_nothing(fact: SaidFact) -> bool:
    """Whether a fact only points at a thing, or names a thing after itself."""
    if fact.attribute in _OF_PRONOUNS:
        return False
    if fact.attribute is not None:
        thing = _OF.search(fact.attribute)
        return (
            points(thing["thing"])
            if thing is not None
            else _is_of_itself(fact) or points(fact.value or "")
        )
    text = _TOLD_BY.sub("", fact.text)
    if _SAME_IN_JAPANESE.match(text) or _WITHOUT_PREDICATE.match(text):
        return True
    same = _IS.match(text)
    if same is not None and _core(same["subject"]) == _core(same["value"]) != ():
        return True
    end = _AT_END.match(text)
    return end is not None and points(end["value"])


def points(value: str) -> bool:
    """Whether a value names no thing: "for her", "that one", "the same place", "彼"."""
    if _POINTS_IN_JAPANESE.match(value.strip(" 。")):
        return True
    written = _WORD.findall(value)
    if any(word[:1].isupper() for word in written):
        return False  # a name or a title: "It", "The The"
    words = [word.casefold() for word in written]
    return (
        bool(words)
        and any(word in _POINTING for word in words)
        and all(word in _POINTING or word in _BESIDE for word in words)
    )


def _is_of_itself(fact: SaidFact) -> bool:
    """Whether a fact names a person after themselves: "Noah is called Noah"."""
    return fact.attribute == "name" and _core(fact.subject or "") == _core(fact.value or "") != ()


def _core(words: str) -> tuple[str, ...]:
    """The words of a name without the words that may come beside it."""
    return tuple(word.casefold() for word in _WORD.findall(words) if word.casefold() not in _BESIDE)
