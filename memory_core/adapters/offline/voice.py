"""Rewrite sentences of the first person in the third.

"I moved to Lisbon" becomes "User moved to Lisbon".

Only where that is simple; elsewhere `third_person` returns None, and its caller quotes the
sentence. Note: only pronouns and the verb after "I" change, so the sentence asserts nothing
new. English.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.casual import with_subject, written_out
from memory_core.adapters.offline.clauses import SINGULAR, expanded
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS

_FOREIGN = """
    ich du er sie wir ihr und der das ein eine nicht ist mit für auf dem den bin habe je tu il elle
    nous vous et le la les une des est pas avec pour dans suis mais yo él ella nosotros y el los las
    una con para soy pero io lui lei noi gli della sono miei non che di del eu ele ela nós uma não
    com são
"""
_OTHER_TONGUES = frozenset(_FOREIGN.split())
_ENGLISH = FUNCTION_WORDS | QUERY_WORDS
_ADVERBS = (
    r"(?:(?:always|never|just|also|still|often|sometimes|already|once|now|even|only|then|both"
    r"|almost|no longer|first|next|last|again|soon|usually|rather|seldom|actually|\w{3,}ly)\s++)*"
)
_FIRST_PERSON = re.compile(rf"\bI\s+(?P<adverbs>{_ADVERBS})(?P<verb>[A-Za-z]+)")
_WITH_OTHERS = re.compile(
    r"(?:\A|[,;:] |\b(?:and|but|now|so|that|when) )(?!I\b)(?:[A-Z]\w{1,30}"
    r"|[Mm]y (?:\w{1,30} ){0,2}?\w{1,30})"
    r"(?:, [A-Z]\w{1,30}){0,3},? and I (?=[a-z])"
)
"""Another person and the speaker: the verb after both is in the plural."""
_PLURAL_VERBS = {"am": "are", "was": "were"}
_LISTENER = re.compile(r"\b(?:you|your|yours|we|us|our|ours|let's)\b", re.IGNORECASE)
_SPEAKER = re.compile(r"\b(?:I|[Mm]y|me|mine|myself)\b")
_BESIDE_ME = frozenset(["hey", "hi", "hello", "ok", "it", "is", "only", "just", "again", "here"])
_SPEAKER_MARK = "\0"
"""Placeholder for the speaker's name until the sentence is rewritten.

With it, no rule rewrites the name. No text of a user contains it.
"""
_PASTS = """
    will would can could should may might must shall had did was used ought became began bent bet
    blew bought broke brought built burnt caught chose came cost cut dealt dreamt drew drank drove
    ate fell fed felt fought found flew forgot forgave froze got gave went grew hung heard hid hit
    held hurt kept knew laid led learnt left lent let lay lit lost made meant met paid put quit rode
    rang rose ran said saw sought sold sent set sewed shook shot showed shut sang sat slept slid
    spoke spent spilt stood stole stuck struck swore swept swam took taught tore told thought threw
    understood woke wore won wrote read thrown
"""
_UNCHANGED = frozenset(_PASTS.split())
_IRREGULAR = {"am": "is", "have": "has", "do": "does", "go": "goes", "are": "is", "were": "was"}
_JOINED_VERBS = (
    r"live|work|love|like|hate|have|want|need|go|play|run|study|speak|own|drive|prefer|enjoy|eat"
    r"|drink|cook|read|write|plan|feel|know|think|teach|learn|train|sleep|swim|cycle|hike|paint"
    r"|sing|dance|travel|use|do|am|spend|visit|walk|watch|stay|keep|make|take|call|help|sell|buy"
)
_JOINED = re.compile(rf"(,|\band|\bbut)\s+({_JOINED_VERBS})\b(?!\s+I\b)")


def is_english(sentence: str) -> bool:
    """Whether more function words of a sentence are English than of other languages."""
    small_words = re.findall(r"[^\W\d_]+", sentence.casefold().replace("’", "'"))
    return sum(word in _OTHER_TONGUES for word in small_words) < sum(
        word in _ENGLISH for word in small_words
    )


def third_person(sentence: str, speaker: str) -> str | None:
    """Rewrite a sentence of the first person in the third, about its speaker.

    The name is never read as a pattern, a template or words of the sentence, whatever characters it
    has.

    Args:
        sentence: The sentence.
        speaker: Name of its speaker.

    Returns:
        None for a sentence that addresses other people or includes them ("we"), is not English, or
        is not about the speaker.

    """
    plain = re.sub(r"\bi\b", "I", expanded(with_subject(written_out(sentence))))
    if (
        not _SPEAKER.search(plain)
        or _LISTENER.search(plain)
        or not is_english(plain)
        or _only_greets(plain)
    ):
        return None
    several = {match.end() - 2 for match in _WITH_OTHERS.finditer(plain)}

    def in_third_person(match: re.Match[str]) -> str:
        verb = match["verb"]
        return (
            f"{_SPEAKER_MARK} "
            f"{match['adverbs']}{_PLURAL_VERBS.get(verb, verb) if match.start() in several else _third_person_verb(verb)}"  # noqa: E501
        )

    rewritten = _FIRST_PERSON.sub(in_third_person, plain)
    if rewritten != plain and not several:
        rewritten = (
            _JOINED.sub(lambda match: f"{match[1]} {_third_person_verb(match[2])}", rewritten)
            if _is_present(plain)
            else rewritten
        )
    rewritten = re.sub(r"\bI\b", _SPEAKER_MARK, rewritten)
    return _capitalised(_replace_possessives(rewritten, speaker).replace(_SPEAKER_MARK, speaker))


def _only_greets(sentence: str) -> bool:
    """Whether a sentence says no more than "it's me again"."""
    return len(sentence) < 60 and set(re.findall(r"\w+", sentence.casefold())) - _BESIDE_ME == {
        "me"
    }


def in_third_person(words: str, speaker: str) -> str:
    """Rewrite a few words in the third person: "my dog" → "their dog".

    Args:
        words: The words.
        speaker: Name of their speaker.

    """
    return _replace_possessives(
        re.sub(r"\bI\b", _SPEAKER_MARK, words), speaker, named=True
    ).replace(_SPEAKER_MARK, speaker)


def conjugated(verb_phrase: str) -> str:
    """Conjugate a verb phrase in the third person: "live" → "lives"."""
    match = re.match(rf"(?P<adverbs>{_ADVERBS})(?P<verb>[A-Za-z]+)", verb_phrase)
    if match is None:
        return verb_phrase
    return match["adverbs"] + _third_person_verb(match["verb"]) + verb_phrase[match.end() :]


def _is_present(sentence: str) -> bool:
    match = _FIRST_PERSON.search(sentence)
    return match is not None and _third_person_verb(match["verb"]) != match["verb"]


def _replace_possessives(text: str, speaker: str, *, named: bool = False) -> str:
    """Replace "my", "mine", "me" and "myself".

    named: Whether the speaker is named before the text.
    """

    def possessive(match: re.Match[str]) -> str:
        before = text[: match.start()]
        return (
            "their"
            if named or _SPEAKER_MARK in before or re.search(rf"\b{re.escape(speaker)}\b", before)
            else f"{_SPEAKER_MARK}'s"
        )

    text = re.sub(r"\b[Mm]y\b", possessive, text)
    text = re.sub(r"\bmyself\b", "themself", text)
    text = re.sub(r"\bmine\b", "theirs", text)
    return re.sub(r"\bme\b", "them" if named else _SPEAKER_MARK, text)


def _third_person_verb(verb: str) -> str:
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


def base_form(verb: str) -> str:
    """The base of a regular form of a verb: "living" → "live", "smoked" → "smoke".

    Args:
        verb: In lower case, with the ending -ing or -ed.

    """
    if verb.endswith("ied"):
        return f"{verb[:-3]}y"
    stem = verb.removesuffix("ing" if verb.endswith("ing") else "ed")
    if stem[-2:-1] == stem[-1:] and stem[-1:] not in "lsfze":
        return stem[:-1]
    return f"{stem}e" if _WITH_E.search(stem) else stem


_WITH_E = re.compile(
    r"[vuzc]\Z"  # leave, argue, organize, dance
    r"|[bcdfgkptz]l\Z"  # cycle
    r"|(?:[^s]|\A)(?<![gh])s\Z|dg\Z|(?:ch|ll|r)ang\Z"  # nurse, judge, change
    r"|\A[^aeiouy]*[aeiouy][^aeiouwxy]\Z"  # live: of a single vowel and consonant
    r"|(?<![aeiou])[aiu][bdgkmnprt]\Z(?<!visit)(?<!edit)(?<!limit)"  # commute
)
"""Stems that lost an "e" before the ending."""


def is_past(verb: str) -> bool:
    """Whether a verb in the first person is in the past tense, or a modal."""
    lower = verb.lower()
    return lower in _UNCHANGED or (
        lower.endswith("ed") and lower not in ("need", "feed", "speed", "succeed", "proceed")
    )


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


# The person that a clause is about, and the subject of its slots.
#
# Note: a person has one wife, so facts about her have the subject "user's wife" whatever her name
# is. There may be several sisters, so the subject of "my sister Lena" is Lena.


_ONE_EACH = re.compile(
    rf"my (?:older |younger |little |big |twin )?(?:{SINGULAR}|sister|brother|best friend|grandma"
    r"|grandmother|grandpa|grandfather)$"
)


def subject_and_owner(subject: str, speaker: str) -> tuple[str, str, bool]:
    """Name the subject of a clause in the third person, and that of its slots.

    Args:
        subject: The subject of the clause.
        speaker: Name of its speaker.

    Returns:
        (subject in the third person, subject of its slots, whether that is unique).

    """
    if subject in ("I", "my", "we", "call me", ""):
        return speaker, speaker.lower() if speaker == "User" else speaker, True
    if subject.startswith("my "):
        kind, name = _split_relation(subject)
        if name:
            return f"{speaker}'s {kind} {name}", name, True
        return (
            f"{speaker}'s {subject[3:]}",
            f"{speaker.lower() if speaker == 'User' else speaker}'s {subject[3:]}",
            bool(_ONE_EACH.match(subject)),
        )
    named = subject.removeprefix("the ")
    return named, named, True


def _split_relation(subject: str) -> tuple[str, str]:
    """("sister", "Lena") of "my sister Lena"; without a name the second is ""."""
    parts = subject.split()[1:]
    first = next((place for place, word in enumerate(parts) if word[:1].isupper()), len(parts))
    return " ".join(parts[:first]), " ".join(parts[first:])


def without_shouting(text: str) -> str:
    """An English sentence in capitals, in the small letters of chats."""
    if not text.isupper() or " " not in text or not is_english(text):
        return text
    return text.lower()
