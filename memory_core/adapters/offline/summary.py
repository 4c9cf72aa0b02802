"""Keywords and a narrative of a conversation, both from its own words.

The narrative is extractive. It selects the sentences that many other sentences resemble (LexRank,
Erkan & Radev 2004: the stationary weights of a random walk over similarities). The similarity is
the cosine of vectors if an embedder gives them, else of TF-IDF weighted terms. Note: sentences stay
in the order of the conversation, and users' own statements weigh more than explanations of
assistants.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from memory_core.adapters.offline.clauses import without_fillers
from memory_core.adapters.offline.omissions import is_about_the_same_person
from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.agent_schemas import MAX_NARRATIVE, MAX_TERM, RetrievalHints, SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.ranking.acknowledgements import only_acknowledges
from memory_core.domain.scene_assignment import themes
from memory_core.domain.statements.own_words import may_tell, name_of_speaker, own_sentences
from memory_core.domain.statements.wishes import REQUESTED
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup
from memory_core.domain.text.shortening import beginning
from memory_core.domain.text.spelling import WEEKDAYS
from memory_core.domain.text.text_cache import keep_texts

MAX_WORDS = 180
"""Most words of a narrative, including its last sentence.

The prompt for models asks for 150 to 200.
"""
MAX_FIRST_WORDS = 600
"""Characters of a narrative that is only the beginning of a conversation (`first_words`)."""
MAX_CANDIDATES = 200
"""Sentences that are weighed; of more, only every n-th sentence of an assistant is."""
USER_SHARE = 2.5
"""The factor of a user's sentences beside an assistant's: a memory is about the person."""
DAMPING = 0.85
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence that a narrative may quote.

    Attributes:
        message: The number of its message.
        by: The speaker.
        by_person: Whether a person speaks, not an assistant.
        asks: Whether it is a question.

    """

    message: int
    by: str
    text: str
    terms: tuple[str, ...]
    by_person: bool
    asks: bool


def candidates(messages: Sequence[Message]) -> list[QuotableSentence]:
    """The sentences that say something, in order, at most `MAX_CANDIDATES`.

    None of systems and tools; of assistants only as many as persons leave room for. None at all
    where the whole conversation is small talk.
    """
    statements: list[QuotableSentence] = []
    for number, message in enumerate(messages):
        if message.role in ("system", "tool"):
            continue
        checkpoint()
        by, by_person = name_of_speaker(message), may_tell(message)
        statements += (
            QuotableSentence(number, by, text, terms, by_person, asks)
            for text, terms, asks in _meaningful_sentences(message.content)
        )
    if all(only_acknowledges(statement.text) for statement in statements):
        return []
    if len(statements) <= MAX_CANDIDATES:
        return statements
    of_persons = [statement for statement in statements if statement.by_person][:MAX_CANDIDATES]
    others = [statement for statement in statements if not statement.by_person]
    step = max(1, -(-len(others) // max(1, MAX_CANDIDATES - len(of_persons))))
    kept_ids = {id(statement) for statement in [*of_persons, *others[::step]]}
    return [statement for statement in statements if id(statement) in kept_ids][:MAX_CANDIDATES]


@keep_texts(256)
def _meaningful_sentences(content: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """Text and terms of each meaningful sentence of a message, and whether it asks.

    They are cached, since an episode's behaviour and its story are read of the same sentences.
    """
    telling = []
    for sentence in own_sentences(content.replace(REQUESTED, "")):
        terms = tuple(tokens(sentence.text))
        if len(terms) >= 2 or (terms and not sentence.text.isascii()):
            telling.append((" ".join(sentence.text.split()).rstrip(" :："), terms, sentence.asks))
    return tuple(telling)


def narrative(
    messages: Sequence[Message],
    statements: Sequence[QuotableSentence],
    vectors: Sequence[npt.NDArray[np.float32]] | None = None,
) -> str:
    """Narrate a conversation in at most `MAX_WORDS` words and `MAX_NARRATIVE` characters.

    Args:
        messages: The conversation.
        statements: Its sentences, from `candidates`.
        vectors: Of each statement its vector; None = terms alone decide.

    """
    if not statements:
        return _story_without_statements(messages)
    weight = centrality(statements if vectors is None else vectors)
    weight = weight * np.array(
        [
            (USER_SHARE if statement.by_person else 1.0) * (0.7 if statement.asks else 1.0)
            for statement in statements
        ]
    )
    chosen: set[int] = set()
    left, room = MAX_WORDS, MAX_NARRATIVE
    for place in sorted(range(len(statements)), key=lambda place: (-float(weight[place]), place)):
        length = len(statements[place].text.split()) + 3
        if length > left or any(_repeats(statements[place], statements[other]) for other in chosen):
            continue
        # a name in place of each "I" may make a sentence many times as long
        size = len(_story([statements[place]])) + 1
        if size <= room:
            chosen.add(place)
            left, room = left - length, room - size
    if not chosen:  # every sentence is longer than a narrative may be
        heaviest = statements[int(np.argmax(weight))]
        endless = QuotableSentence(
            0,
            heaviest.by,
            " ".join(heaviest.text.split()[:MAX_WORDS]),
            (),
            heaviest.by_person,
            False,
        )
        return beginning(_story([endless]), MAX_NARRATIVE)
    return _story([statements[place] for place in sorted(chosen)])


def first_words(messages: Sequence[Message]) -> str:
    """Quote how a conversation begins: the narrative where no other can be made."""
    text = " ".join(
        f"{name_of_speaker(message)} said:"
        f" {' '.join(message.content.replace(REQUESTED, '').split())}"
        for message in messages
        if message.role not in ("system", "tool")
    )
    return beginning(text or _story_without_statements(messages), MAX_FIRST_WORDS)


def centrality(
    sentences_or_vectors: Sequence[QuotableSentence] | Sequence[npt.NDArray[np.float32]],
) -> Weights:
    """How central each sentence is among all sentences (LexRank): weights that sum to 1."""
    first = sentences_or_vectors[0]
    rows = (
        _tf_idf(sentences_or_vectors)  # type: ignore[arg-type]
        if isinstance(first, QuotableSentence)
        else np.asarray(sentences_or_vectors, dtype=np.float64)
    )
    near = np.clip(rows @ rows.T, 0.0, None)
    np.fill_diagonal(near, 0.0)
    count = len(near)
    totals = near.sum(axis=1, keepdims=True)
    steps = np.divide(near, totals, out=np.full_like(near, 1.0 / count), where=totals > 0)
    weights = np.full(count, 1.0 / count)
    for _ in range(30):  # within 1e-2 of the limit; the order settles long before
        weights = (1 - DAMPING) / count + DAMPING * (weights @ steps)
    return weights


def _tf_idf(statements: Sequence[QuotableSentence]) -> Weights:
    """TF-IDF of statements × terms, each row of length 1."""
    known: dict[str, int] = {}
    frequency = Counter(term for statement in statements for term in set(statement.terms))
    for statement in statements:
        for term in statement.terms:
            known.setdefault(term, len(known))
    table = np.zeros((len(statements), max(1, len(known))))
    for row, statement in enumerate(statements):
        for term, times in Counter(statement.terms).items():
            table[row, known[term]] = times * log(1 + len(statements) / frequency[term])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    scaled: Weights = np.divide(table, lengths, out=table, where=lengths > 0)
    return scaled


def _repeats(statement: QuotableSentence, other: QuotableSentence) -> bool:
    """Whether two statements have nearly the same terms."""
    ours, theirs = set(statement.terms), set(other.terms)
    return len(ours & theirs) > 0.8 * min(len(ours), len(theirs)) and len(ours ^ theirs) <= 1


def _story(statements: Sequence[QuotableSentence]) -> str:
    """Join statements: in the third person where that is simple, else quoted with their speaker."""
    parts: list[str] = []
    quoting: str | None = None
    before = ""
    for statement in statements:
        is_own = not is_about_the_same_person(statement.text, before)
        before = statement.text if is_own else before
        indirect = (
            third_person(without_fillers(statement.text), statement.by)
            if statement.by_person and is_own and not statement.asks
            else None
        )
        if indirect is not None:
            parts.append(_with_full_stop(indirect))
            quoting = None
            continue
        how = f"{statement.by} {'asked' if statement.asks else 'said'}:"
        parts.append(
            _with_full_stop(statement.text)
            if quoting == how
            else f"{how} {_with_full_stop(statement.text)}"
        )
        quoting = how
    return " ".join(parts)


def _with_full_stop(text: str) -> str:
    return text if text[-1] in ".!?…。！？\"'”’»)" else text + "."


def _story_without_statements(messages: Sequence[Message]) -> str:
    """Narrate a conversation without a meaningful sentence: its speakers and a short quotation."""
    spoken = [message for message in messages if message.role not in ("system", "tool")]
    people = list(dict.fromkeys(map(name_of_speaker, spoken or messages)))
    words = " ".join(" ".join(message.content.split()) for message in spoken)
    short = words if 0 < len(words) <= 200 else ""
    if messages and not spoken:
        return f"{' and '.join(people)} gave instructions or results, nobody said anything."
    return f"{' and '.join(people) or 'Nobody'} exchanged a few words" + (
        f": {_with_full_stop(short)}" if short else "."
    )


# Keywords, tags and queries by which an episode is found.
#
# Keywords are the phrases between function words. They are weighted as RAKE does (Rose et al. 2010:
# a word by the length of its phrases, divided by its frequency) and by their frequency. Note: tags
# are broader, themes first.


MAX_TAGS, MAX_KEYWORDS, MAX_QUERIES, LONGEST_PHRASE = 8, 10, 4, 3
LONGEST_WORD = 26
"""Characters of a word.

Three words with their spaces fill a term of 80. A longer word is a blob, or many words at once.
"""
THEME_FLOOR = 2.0
"""The weight, in words, from which a theme belongs to the conversation."""
_FILLERS = """
    longer exciting move moved moving
    hi hello hey thanks thank please yes yeah no ok okay well oh wow great good nice sure right
    really actually maybe also still now today tomorrow yesterday lot lots bit thing things
    something anything everything way get got getting go going gone went come came make made makes
    take took want wanted need needed know think thought feel say said tell told see saw look
    looking like love let us one two much many more most new old first last next time day week month
    year im dont doesnt its ive thats sounds cool glad happy sorry help try trying tried keep put
    start started use used using always never often sometimes ever even already yet again back
    around since until because though while by way anyway every quite pretty super absolutely
    definitely probably course welcome kind idea user assistant work worked works found find give
    gave enough better best bad big small little long few next another else without within only down
    up out off away here wonderful congratulations means goes prefer usually exactly wrong near
    instead write check whole part nice lovely idea best ich du er sie wir ihr und oder aber der die
    das den dem ein eine einen mein meine ist bin sind war habe hat nicht auch noch schon sehr mit
    für auf von zu im am letzte nächste woche heute je tu il elle nous vous et ou mais le la les un
    une des du de est suis sont pas avec pour dans sur au mon ma mes très aussi que qui ce yo tú él
    y o pero el los las una es soy son no con para en mi mis muy que del al lo se me 私 僕 俺 彼
    彼女 今 人 何 方 事 時
"""
_TIMES = """
    weekend weekday morning afternoon evening night hour hours minute minutes second seconds daily
    weekly stay live half percent about once twice euros dollars
"""
_SMALL = FUNCTION_WORDS | QUERY_WORDS | frozenset(_FILLERS.split())
_OFF_TOPIC = _SMALL | frozenset((*_TIMES.split(), *WEEKDAYS))
"""Words that don't show the topic of a conversation, although some are fine keywords."""
_PIECE = re.compile(r"(?:[^.,;:!?…()\[\]{}\"“”„«»\n。、！？|/<>*_`~=]|(?<=\d)[.,:](?=\d))+")
_WORD = re.compile(r"\d+(?:[.,:]\d+)+(?!\w)|[^\W_](?:[\w'’.+#&-]*[\w+#])?")
_KANA = re.compile(r"[\u3041-\u309f]+")
"""Hiragana: the text between the words of Japanese that say something."""
_STEM = re.compile(
    r"[\u4e00-\u9fff](?=[っりきくんるいえめべみけせぎげねれびうつむぬぶぐ][\u3041-\u309f]*+(?![\u4e00-\u9fff]))"
)
"""The stem of a Japanese verb or adjective, which is no word without its ending."""
_DENSE = re.compile(
    r"[\u4e00-\u9fff]{1,4}[いりべみきけえ][\u4e00-\u9fff]{1,3}"
    r"|[\u4e00-\u9fff\u3400-\u4dbf\u3005]{2,6}|[\u30a1-\u30ff]{2,12}|[\uac00-\ud7af]{2,8}"
    r"|[\u0e00-\u0e7f]{3,12}"
)


def retrieval_hints(
    texts: Sequence[str], facts: Sequence[SaidFact], actors: Iterable[str]
) -> RetrievalHints:
    """Tags, keywords and queries of texts.

    Args:
        texts: The texts.
        facts: Facts of the texts, for whose slots there are queries.
        actors: The speakers, whose names are no keywords.

    """
    keywords = keywords_of(texts, actors)
    terms = [term for text in texts for term in tokens(text)]
    ranked = sorted(themes(terms).items(), key=lambda item: (-item[1], item[0]))
    topics = [theme for theme, weight in ranked if weight >= THEME_FLOOR][:3]
    tags = fuzzy_dedup([*topics, *(keyword for keyword in keywords if len(keyword.split()) <= 2)])[
        :MAX_TAGS
    ]
    return fitted(RetrievalHints, tags=tags, keywords=keywords, queries=_queries(facts, keywords))


def keywords_of(texts: Sequence[str], actors: Iterable[str] = ()) -> list[str]:
    """Up to `MAX_KEYWORDS` phrases, the heaviest first, in the spelling that was used first.

    Args:
        texts: The texts.
        actors: The speakers, whose names are no keywords.

    """
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
    spellings: dict[tuple[str, ...], str] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for spelling, terms in phrases:
        spellings.setdefault(terms, spelling)
        times[terms] += 1

    def weight(terms: tuple[str, ...]) -> float:
        rake = sum(company[term] / frequency[term] for term in terms)
        repeated = sum(frequency[term] for term in terms) / len(terms)
        return rake * repeated * sqrt(times[terms])

    order = {terms: place for place, terms in enumerate(spellings)}
    ranked = sorted(spellings, key=lambda terms: (-weight(terms), order[terms]))
    return fuzzy_dedup(spellings[terms] for terms in _without_parts(ranked))[:MAX_KEYWORDS]


def content_terms(text: str) -> list[str]:
    """The terms of all words but function words and fillers, in order, with repetitions."""
    return terms_of(
        word
        for word in words(text)
        if word not in _OFF_TOPIC and (len(word) > 2 or not word.isascii())
    )


def _phrases(text: str, named: frozenset[str]) -> list[tuple[str, tuple[str, ...]]]:
    """(spelling, terms) of phrases: the last `LONGEST_PHRASE` of each run of content words."""
    phrases: list[tuple[str, tuple[str, ...]]] = []
    if not text.isascii():
        text = _STEM.sub(".", text)
        for dense in _DENSE.findall(text):
            phrases.append((dense, (dense.casefold(),)))
        text = _KANA.sub(".", _DENSE.sub(".", text))
    for piece in _PIECE.findall(text):
        run: list[str] = []
        for word in [*_WORD.findall(piece), ""]:
            plain = _content_word(word) if len(word) <= LONGEST_WORD + 2 else ""
            if plain and plain not in named and not (run and word[0].isdigit()):
                run.append(word)
                continue
            if run:
                phrase = run[-LONGEST_PHRASE:]
                spelling = " ".join(phrase)
                if len(spelling) <= MAX_TERM and (
                    terms := tuple(chain.from_iterable(map(_terms_of_word, phrase)))
                ):
                    phrases.append((spelling, terms))
            run = [word] if plain and word[0].isdigit() else []
    return phrases


@keep_texts(8_192)
def _terms_of_word(word: str) -> tuple[str, ...]:
    return tuple(tokens(word))


@keep_texts(8_192)
def _content_word(written: str) -> str:
    """A word for comparison, without the ending of a genitive.

    Empty for a word of little meaning, or a word that is too long.
    """
    word = written.casefold().replace("’", "'").removesuffix("'s")
    return word if _is_content_word(word) else ""


def _is_content_word(word: str) -> bool:
    if len(word) > LONGEST_WORD:
        return False
    if (
        word in _SMALL
        or word.replace("'", "") in _SMALL
        or word.split("'")[0] in QUERY_WORDS
        or (word.endswith("ly") and len(word) > 5)
    ):
        return False
    return (
        len(word) > 2
        or not word.isascii()
        or any(character in "+#" for character in word)
        or (len(word) == 2 and word.isalpha())
    )


def _without_parts(ranked: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leave out phrases whose terms are all in a heavier phrase.

    ranked: The heaviest first.
    """
    phrases: list[tuple[str, ...]] = []
    for terms in ranked:
        if len(phrases) >= 2 * MAX_KEYWORDS:
            break
        if not any(set(terms) <= set(better) for better in phrases):
            phrases.append(terms)
    return phrases


def _queries(facts: Sequence[SaidFact], keywords: Sequence[str]) -> list[str]:
    """Questions that the conversation answers.

    They are for the slots of its facts, then for its keywords.
    """
    asked = [
        f"What is {fact.subject}'s {fact.attribute}?"
        if fact.value != "yes"
        else f"What is known of {fact.subject}'s {fact.attribute}?"
        for fact in facts
        if fact.subject is not None and fact.attribute is not None
    ]
    asked += [f"What was said about {keyword}?" for keyword in keywords]
    return list(dict.fromkeys(asked))[:MAX_QUERIES]
