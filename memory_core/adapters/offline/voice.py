"""First person into third: "I moved to Lisbon" becomes "User moved to Lisbon".

Only where that is simple; `third_person` gives None rather than a guess, and the caller then quotes. Note:
the words are never improved, only pronouns and the verb after "I" change, so nothing is told that was not said. English.
"""

from __future__ import annotations

import re

from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS

_CONTRACTIONS = (
    (re.compile(r"\b(I)['’]m\b", re.I), r"\1 am"),
    (re.compile(r"\b(you|we|they)['’]re\b", re.I), r"\1 are"),
    (re.compile(r"\b(I|you|we|they)['’]ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(I|you|he|she|it|we|they)['’]ll\b", re.I), r"\1 will"),
    (re.compile(r"\b(I|you|he|she|we|they)['’]d\b", re.I), r"\1 would"),
    (re.compile(r"\b(he|she|it|that|there|what|who|name|birthday|favou?rite \w+)['’]s\b(?=\s)", re.I), r"\1 is"),
    (re.compile(r"\bcan['’]?t\b|\bcannot\b", re.I), "can not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"\b(\w+)n['’]t\b", re.I), r"\1 not"),
    (re.compile(r"\b(do|does|did)nt\b", re.I), r"\1 not"),
    (re.compile(r"\bim\b(?=\s+(?:an?|the|not|from|in|allergic|vegan|vegetarian|married|living|working)\b)", re.I), "I am"),
)
_FOREIGN = """
    ich du er sie wir ihr und der das ein eine nicht ist mit für auf dem den bin habe je tu il elle nous vous et le la les une des est
    pas avec pour dans suis mais yo él ella nosotros y el los las una con para soy pero io lui lei noi gli della sono miei non che di
    del eu ele ela nós uma não com são
"""
_OTHER_TONGUES = frozenset(_FOREIGN.split())
_ENGLISH = FUNCTION_WORDS | QUERY_WORDS
_ADVERBS = (
    r"(?:(?:always|never|just|also|still|often|sometimes|already|once|now|even|only|then|both|almost|no longer|first|next|last|again|soon"
    r"|usually|rather|seldom|actually|\w{3,}ly)\s++)*"
)
_FIRST_PERSON = re.compile(rf"\bI\s+(?P<adverbs>{_ADVERBS})(?P<verb>[A-Za-z]+)")
_WITH_OTHERS = re.compile(
    r"(?:\A|[,;:] |\b(?:and|but|now|so|that|when) )(?!I\b)(?:[A-Z]\w{1,30}|[Mm]y (?:\w{1,30} ){0,2}?\w{1,30})"
    r"(?:, [A-Z]\w{1,30}){0,3},? and I (?=[a-z])"
)
"""Another person beside the speaker: the verb after both is in the plural."""
_OF_SEVERAL = {"am": "are", "was": "were"}
_LISTENER = re.compile(r"\b(?:you|your|yours|we|us|our|ours|let's)\b", re.IGNORECASE)
_SPEAKER = re.compile(r"\b(?:I|[Mm]y|me|mine|myself)\b")
_BESIDE_ME = frozenset(["hey", "hi", "hello", "ok", "it", "is", "only", "just", "again", "here"])
_SPEAKER_MARK = "\0"
"""Stands for the speaker's name until the sentence is rewritten, so that no rule rewrites the name. No text of a user has it."""
_PASTS = """
    will would can could should may might must shall had did was used ought became began bent bet blew bought broke brought built
    burnt caught chose came cost cut dealt dreamt drew drank drove ate fell fed felt fought found flew forgot forgave froze got gave
    went grew hung heard hid hit held hurt kept knew laid led learnt left lent let lay lit lost made meant met paid put quit rode rang
    rose ran said saw sought sold sent set sewed shook shot showed shut sang sat slept slid spoke spent spilt stood stole stuck struck
    swore swept swam took taught tore told thought threw understood woke wore won wrote read thrown
"""
_UNCHANGED = frozenset(_PASTS.split())
_IRREGULAR = {"am": "is", "have": "has", "do": "does", "go": "goes", "are": "is", "were": "was"}
_JOINED_VERBS = (
    r"live|work|love|like|hate|have|want|need|go|play|run|study|speak|own|drive|prefer|enjoy|eat|drink|cook|read|write|plan|feel|know"
    r"|think|teach|learn|train|sleep|swim|cycle|hike|paint|sing|dance|travel|use|do|am|spend|visit|walk|watch|stay|keep|make|take|call|help|sell|buy"
)
_JOINED = re.compile(rf"(,|\band|\bbut)\s+({_JOINED_VERBS})\b(?!\s+I\b)")


def expanded(sentence: str) -> str:
    """The sentence with contractions written out ("I'm" → "I am", "don't" → "do not") and plain apostrophes."""
    plain = sentence.replace("’", "'")
    if "'" in plain or "nt" in plain or "im " in plain or "cannot" in plain:
        for pattern, written in _CONTRACTIONS:
            plain = pattern.sub(written, plain)
    return plain


def is_english(sentence: str) -> bool:
    """Whether its small words are English ones, rather than those of a few other languages."""
    found = re.findall(r"[^\W\d_]+", sentence.casefold().replace("’", "'"))
    return sum(word in _OTHER_TONGUES for word in found) < sum(word in _ENGLISH for word in found)


def third_person(sentence: str, who: str) -> str | None:
    """The sentence as told of `who`; None when it speaks to or of others as well, is not English, or is not about the speaker.

    A name is never read as a pattern, a template or words of the sentence, whatever characters it has.
    """
    plain = re.sub(r"\bi\b", "I", expanded(sentence))
    if not _SPEAKER.search(plain) or _LISTENER.search(plain) or not is_english(plain) or _only_greets(plain):
        return None
    several = {match.end() - 2 for match in _WITH_OTHERS.finditer(plain)}

    def told_of_who(match: re.Match[str]) -> str:
        verb = match["verb"]
        return f"{_SPEAKER_MARK} {match['adverbs']}{_OF_SEVERAL.get(verb, verb) if match.start() in several else _of_third(verb)}"

    told = _FIRST_PERSON.sub(told_of_who, plain)
    if told != plain and not several:
        told = _JOINED.sub(lambda match: f"{match[1]} {_of_third(match[2])}", told) if _in_present(plain) else told
    told = re.sub(r"\bI\b", _SPEAKER_MARK, told)
    return _capitalised(_without_my(told, who).replace(_SPEAKER_MARK, who))


def _only_greets(sentence: str) -> bool:
    """Whether it says no more than "it's me again"."""
    return len(sentence) < 60 and set(re.findall(r"\w+", sentence.casefold())) - _BESIDE_ME == {"me"}


def told_of(words: str, who: str) -> str:
    """A few words with the speaker's pronouns turned: "my dog" → "their dog"."""
    return _without_my(re.sub(r"\bI\b", _SPEAKER_MARK, words), who, named=True).replace(_SPEAKER_MARK, who)


def conjugated(verb_phrase: str) -> str:
    """A verb phrase put from the first person into the third: "live" → "lives"."""
    match = re.match(rf"(?P<adverbs>{_ADVERBS})(?P<verb>[A-Za-z]+)", verb_phrase)
    if match is None:
        return verb_phrase
    return match["adverbs"] + _of_third(match["verb"]) + verb_phrase[match.end() :]


def _in_present(sentence: str) -> bool:
    match = _FIRST_PERSON.search(sentence)
    return match is not None and _of_third(match["verb"]) != match["verb"]


def _without_my(text: str, who: str, *, named: bool = False) -> str:
    def possessive(match: re.Match[str]) -> str:
        before = text[: match.start()]
        return "their" if named or _SPEAKER_MARK in before or re.search(rf"\b{re.escape(who)}\b", before) else f"{_SPEAKER_MARK}'s"

    text = re.sub(r"\b[Mm]y\b", possessive, text)
    text = re.sub(r"\bmyself\b", "themself", text)
    text = re.sub(r"\bmine\b", "theirs", text)
    return re.sub(r"\bme\b", "them" if named else _SPEAKER_MARK, text)


def _of_third(verb: str) -> str:
    lower = verb.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if is_past(lower):
        return verb
    if lower.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def is_past(verb: str) -> bool:
    """Whether a verb in the first person tells of the past (or is a modal)."""
    lower = verb.lower()
    return lower in _UNCHANGED or (lower.endswith("ed") and lower not in ("need", "feed", "speed", "succeed", "proceed"))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
