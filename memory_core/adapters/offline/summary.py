"""Keywords and a narrative of a conversation, both from its own words.

Nothing is in it that was not said. Central is what many other sentences resemble (LexRank, Erkan & Radev 2004: the stationary weights of a
walk over similarities). The similarity is the cosine of vectors where they mean something, else of TF-IDF weighted terms. Note: the
sentences stay in the order they were said, and users' own statements come before what assistants explain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from memory_core.adapters.offline.clauses import third_person, without_fillers
from memory_core.adapters.offline.facts import speaker
from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.domain.agent_schemas import MAX_NARRATIVE, MAX_TERM, RetrievalHints, SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.scene_assignment import themes
from memory_core.domain.statements.provenance import may_tell, own_words
from memory_core.domain.statements.wishes import REQUESTED
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.excerpts import beginning
from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.spelling import WEEKDAYS

MAX_WORDS = 180
"""Of a narrative: within the 150 to 200 that are asked for, a last sentence included."""
MAX_FIRST_WORDS = 600
"""Characters of a story that is no more than how a conversation begins."""
MAX_CANDIDATES = 200
"""Sentences that are weighed; of more, every n-th of what an assistant said is left out first."""
USER_SHARE = 2.5
"""How much more a user's sentence weighs than an assistant's: a memory is about the person."""
DAMPING = 0.85
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence that may be told: its message's number, who said it, its words, its terms."""

    message: int
    by: str
    text: str
    terms: tuple[str, ...]
    by_person: bool
    asks: bool


def candidates(messages: Sequence[Message]) -> list[Said]:
    """The sentences that say something, in order; of systems and tools none, of assistants only where others leave room."""
    found: list[Said] = []
    for number, message in enumerate(messages):
        if message.role in ("system", "tool"):
            continue
        checkpoint()
        own = own_words(message.content.replace(REQUESTED, ""))
        for sentence in sentences(own):
            terms = tuple(tokens(sentence.text))
            if len(terms) >= 2 or (terms and not sentence.text.isascii()):
                text = " ".join(sentence.text.split())
                found.append(Said(number, speaker(message), text, terms, may_tell(message), sentence.asks))
    if len(found) <= MAX_CANDIDATES:
        return found
    mine = [one for one in found if one.by_person][:MAX_CANDIDATES]
    others = [one for one in found if not one.by_person]
    step = max(1, -(-len(others) // max(1, MAX_CANDIDATES - len(mine))))
    kept = {id(one) for one in [*mine, *others[::step]]}
    return [one for one in found if id(one) in kept][:MAX_CANDIDATES]


def narrative(messages: Sequence[Message], said: Sequence[Said], vectors: Sequence[npt.NDArray[np.float32]] | None = None) -> str:
    """The story in at most `MAX_WORDS` words and `MAX_NARRATIVE` characters.

    vectors: one a sentence of `said`; None = terms alone decide.
    """
    if not said:
        return _nothing(messages)
    weight = centrality(said if vectors is None else vectors)
    weight = weight * np.array([(USER_SHARE if one.by_person else 1.0) * (0.7 if one.asks else 1.0) for one in said])
    chosen: set[int] = set()
    left, room = MAX_WORDS, MAX_NARRATIVE
    for place in sorted(range(len(said)), key=lambda place: (-float(weight[place]), place)):
        length = len(said[place].text.split()) + 3
        if length > left or any(_doubles(said[place], said[other]) for other in chosen):
            continue
        size = len(_told([said[place]])) + 1  # a name in place of each "I" may make a sentence many times as long
        if size <= room:
            chosen.add(place)
            left, room = left - length, room - size
    if not chosen:  # one endless sentence
        first = int(np.argmax(weight))
        endless = Said(0, said[first].by, " ".join(said[first].text.split()[:MAX_WORDS]), (), said[first].by_person, False)
        return beginning(_told([endless]), MAX_NARRATIVE)
    return _told([said[place] for place in sorted(chosen)])


def first_words(messages: Sequence[Message]) -> str:
    """How the conversation begins, word for word: the story where no other can be told."""
    said = " ".join(
        f"{speaker(one)} said: {' '.join(one.content.replace(REQUESTED, '').split())}"
        for one in messages
        if one.role not in ("system", "tool")
    )
    return beginning(said or _nothing(messages), MAX_FIRST_WORDS)


def centrality(sentences_or_vectors: Sequence[Said] | Sequence[npt.NDArray[np.float32]]) -> Weights:
    """Weights that sum to 1: how central each sentence is among the others."""
    first = sentences_or_vectors[0]
    rows = _tf_idf(sentences_or_vectors) if isinstance(first, Said) else np.asarray(sentences_or_vectors, dtype=np.float64)  # type: ignore[arg-type]
    near = np.clip(rows @ rows.T, 0.0, None)
    np.fill_diagonal(near, 0.0)
    count = len(near)
    totals = near.sum(axis=1, keepdims=True)
    steps = np.divide(near, totals, out=np.full_like(near, 1.0 / count), where=totals > 0)
    weights = np.full(count, 1.0 / count)
    for _ in range(30):  # within 1e-2 of the limit; the order settles long before
        weights = (1 - DAMPING) / count + DAMPING * (weights @ steps)
    return weights


def _tf_idf(said: Sequence[Said]) -> Weights:
    known: dict[str, int] = {}
    frequency = Counter(term for one in said for term in set(one.terms))
    for one in said:
        for term in one.terms:
            known.setdefault(term, len(known))
    table = np.zeros((len(said), max(1, len(known))))
    for row, one in enumerate(said):
        for term, times in Counter(one.terms).items():
            table[row, known[term]] = times * log(1 + len(said) / frequency[term])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    scaled: Weights = np.divide(table, lengths, out=table, where=lengths > 0)
    return scaled


def _doubles(one: Said, other: Said) -> bool:
    ours, theirs = set(one.terms), set(other.terms)
    return len(ours & theirs) > 0.8 * min(len(ours), len(theirs)) and len(ours ^ theirs) <= 1


def _told(said: Sequence[Said]) -> str:
    """The sentences as a story.

    In the third person where that is simple, else quoted with their speaker.
    """
    parts: list[str] = []
    quoting: str | None = None
    for one in said:
        told = third_person(without_fillers(one.text), one.by) if one.by_person and not one.asks else None
        if told is not None:
            parts.append(_ended(told))
            quoting = None
            continue
        how = f"{one.by} {'asked' if one.asks else 'said'}:"
        parts.append(_ended(one.text) if quoting == how else f"{how} {_ended(one.text)}")
        quoting = how
    return " ".join(parts)


def _ended(text: str) -> str:
    return text if text[-1] in ".!?…。！？\"'”’»)" else text + "."


def _nothing(messages: Sequence[Message]) -> str:
    """The story where no sentence says anything: who spoke, and no more."""
    spoken = [one for one in messages if one.role not in ("system", "tool")]
    people = list(dict.fromkeys(map(speaker, spoken or messages)))
    words = " ".join(" ".join(one.content.split()) for one in spoken)
    short = words if 0 < len(words) <= 200 else ""
    if messages and not spoken:
        return f"{' and '.join(people)} gave instructions or results, nobody said anything."
    return f"{' and '.join(people) or 'Nobody'} exchanged a few words" + (f": {_ended(short)}" if short else ".")


# By which words a stretch of talk should be found: keywords, tags and queries.
#
# Keywords are the phrases between the function words, weighed as RAKE does it (Rose et al. 2010: a word by the company it keeps,
# divided by how often it occurs) and by how often they are said. Note: tags are broader, themes first.


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
