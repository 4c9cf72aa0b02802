"""By which words a stretch of talk should be found: keywords, tags and queries.

Keywords are the phrases between the function words, weighed as RAKE does it (Rose et al. 2010: a word by the company it keeps,
divided by how often it occurs) and by how often they are said. Note: tags are broader, themes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt

from memory_core.adapters.offline.fitting import fitted
from memory_core.adapters.offline.threads import checkpoint
from memory_core.domain.agent_schemas import MAX_TERM, RetrievalHints, SaidFact
from memory_core.domain.scene_assignment import themes
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup
from memory_core.domain.text.spelling import WEEKDAYS

MAX_TAGS, MAX_KEYWORDS, MAX_QUERIES, LONGEST_PHRASE = 8, 10, 4, 3
LONGEST_WORD = 26
"""Characters: three of them and their spaces are a term of 80; what is longer is a blob, or many words at once."""
THEME_FLOOR = 2.0
"""Words of a theme that make it one of the talk's."""
_FILLERS = """
    longer exciting move moved moving
    hi hello hey thanks thank please yes yeah no ok okay well oh wow great good nice sure right really actually maybe also still now
    today tomorrow yesterday lot lots bit thing things something anything everything way get got getting go going gone went come came
    make made makes take took want wanted need needed know think thought feel say said tell told see saw look looking like love let us
    one two much many more most new old first last next time day week month year im dont doesnt its ive thats sounds cool glad happy
    sorry help try trying tried keep put start started use used using always never often sometimes ever even already yet again back
    around since until because though while by way anyway every quite pretty super absolutely definitely probably course welcome kind
    idea user assistant work worked works found find give gave enough better best bad big small little long few next another else
    without within only down up out off away here wonderful congratulations means goes prefer usually exactly wrong near instead write
    check whole part nice lovely idea best ich du er sie wir ihr und oder aber der die das den dem ein eine einen mein meine ist bin
    sind war habe hat nicht auch noch schon sehr mit für auf von zu im am letzte nächste woche heute je tu il elle nous vous et ou
    mais le la les un une des du de est suis sont pas avec pour dans sur au mon ma mes très aussi que qui ce yo tú él y o pero el los
    las una es soy son no con para en mi mis muy que del al lo se me 私 僕 俺 彼 彼女 今 人 何 方 事 時
"""
_TIMES = """
    weekend weekday morning afternoon evening night hour hours minute minutes second seconds daily weekly
    stay live half percent about once twice euros dollars
"""
_SMALL = FUNCTION_WORDS | QUERY_WORDS | frozenset(_FILLERS.split())
_OFF_TOPIC = _SMALL | frozenset((*_TIMES.split(), *WEEKDAYS))
"""Words that do not tell what a talk is about, although some are fine keywords."""
_PIECE = re.compile(r"(?:[^.,;:!?…()\[\]{}\"“”„«»\n。、！？|/<>*_`~=]|(?<=\d)[.,:](?=\d))+")
_WORD = re.compile(r"\d+(?:[.,:]\d+)+(?!\w)|[^\W_](?:[\w'’.+#&-]*[\w+#])?")
_KANA = re.compile(r"[\u3041-\u309f]+")
"""Hiragana: the text between the words of Japanese that say something."""
_STEM = re.compile(r"[\u4e00-\u9fff](?=[っりきくんるいえめべみけせぎげねれびうつむぬぶぐ][\u3041-\u309f]*+(?![\u4e00-\u9fff]))")
"""The stem of a Japanese verb or adjective, which is no word without its ending."""
_DENSE = re.compile(
    r"[\u4e00-\u9fff]{1,4}[いりべみきけえ][\u4e00-\u9fff]{1,3}|[\u4e00-\u9fff\u3400-\u4dbf\u3005]{2,6}|[\u30a1-\u30ff]{2,12}"
    r"|[\uac00-\ud7af]{2,8}|[\u0e00-\u0e7f]{3,12}"
)


def retrieval_hints(texts: Sequence[str], facts: Sequence[SaidFact], actors: Iterable[str]) -> RetrievalHints:
    """Tags, keywords and queries of what was said. actors: who spoke; their names are no keywords, everything is of them."""
    keywords = keywords_of(texts, actors)
    terms = [term for text in texts for term in tokens(text)]
    ranked = sorted(themes(terms).items(), key=lambda item: (-item[1], item[0]))
    topics = [theme for theme, weight in ranked if weight >= THEME_FLOOR][:3]
    tags = fuzzy_dedup([*topics, *(keyword for keyword in keywords if len(keyword.split()) <= 2)])[:MAX_TAGS]
    return fitted(RetrievalHints, tags=tags, keywords=keywords, queries=_queries(facts, keywords))


def keywords_of(texts: Sequence[str], actors: Iterable[str] = ()) -> list[str]:
    """Up to `MAX_KEYWORDS` phrases, the most telling first, in the spelling that was used first."""
    named = frozenset(word for actor in actors for word in words(actor))
    phrases = []
    for text in texts:
        checkpoint()
        phrases += _phrases(text, named)
    frequency: Counter[str] = Counter()
    company: Counter[str] = Counter()
    for phrase in phrases:
        for term in phrase[1]:
            frequency[term] += 1
            company[term] += len(phrase[1])
    said: dict[tuple[str, ...], str] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for spelling, terms in phrases:
        said.setdefault(terms, spelling)
        times[terms] += 1

    def weight(terms: tuple[str, ...]) -> float:
        rake = sum(company[term] / frequency[term] for term in terms)
        repeated = sum(frequency[term] for term in terms) / len(terms)
        return rake * repeated * sqrt(times[terms])

    order = {terms: place for place, terms in enumerate(said)}
    ranked = sorted(said, key=lambda terms: (-weight(terms), order[terms]))
    return fuzzy_dedup(said[terms] for terms in _without_parts(ranked))[:MAX_KEYWORDS]


def content_terms(text: str) -> list[str]:
    """The terms of the words that say something, in order, repetitions included: neither function words nor fillers."""
    return terms_of(word for word in words(text) if word not in _OFF_TOPIC and (len(word) > 2 or not word.isascii()))


def _phrases(text: str, named: frozenset[str]) -> list[tuple[str, tuple[str, ...]]]:
    """(spelling, terms) of each run of words that say something, cut to `LONGEST_PHRASE` words."""
    found: list[tuple[str, tuple[str, ...]]] = []
    text = _STEM.sub(".", text)
    for dense in _DENSE.findall(text):
        found.append((dense, (dense.casefold(),)))
    for piece in _PIECE.findall(_KANA.sub(".", _DENSE.sub(".", text))):
        run: list[str] = []
        for word in [*_WORD.findall(piece), ""]:
            plain = word.casefold().replace("’", "'").removesuffix("'s")
            if word and _tells(plain) and plain not in named and not (run and word[0].isdigit()):
                run.append(word)
                continue
            if run:
                kept = run[-LONGEST_PHRASE:]
                spelling = " ".join(kept)
                if len(spelling) <= MAX_TERM and (terms := tuple(terms_of(one for part in kept for one in words(part)))):
                    found.append((spelling, terms))
            run = [word] if word[:1].isdigit() and _tells(plain) else []
    return found


def _tells(word: str) -> bool:
    if len(word) > LONGEST_WORD:
        return False
    if word in _SMALL or word.replace("'", "") in _SMALL or word.split("'")[0] in QUERY_WORDS or (word.endswith("ly") and len(word) > 5):
        return False
    return len(word) > 2 or not word.isascii() or any(character in "+#" for character in word) or (len(word) == 2 and word.isalpha())


def _without_parts(ranked: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Without those whose words all stand in a better phrase."""
    kept: list[tuple[str, ...]] = []
    for terms in ranked:
        if len(kept) >= 2 * MAX_KEYWORDS:
            break
        if not any(set(terms) <= set(better) for better in kept):
            kept.append(terms)
    return kept


def _queries(facts: Sequence[SaidFact], keywords: Sequence[str]) -> list[str]:
    """Questions that this answers: for the slots that were filled, then for the topics."""
    asked = [
        f"What is {fact.subject}'s {fact.attribute}?" if fact.value != "yes" else f"What is known of {fact.subject}'s {fact.attribute}?"
        for fact in facts
        if fact.subject is not None and fact.attribute is not None
    ]
    asked += [f"What was said about {keyword}?" for keyword in keywords]
    return list(dict.fromkeys(asked))[:MAX_QUERIES]
