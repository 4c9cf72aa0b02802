"""From text to terms: words, languages, function words and stems.

Two texts share a word if they have a term in common. A term is a case-folded word with unified
compatibility forms, stemmed by the language that its script suggests. In Latin letters this is the
language whose function words the text uses (`language_of`). Note: the terms are stored with every
memory, so after a change of this module all memories have to be analysed again.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from types import MappingProxyType
from typing import Any, Final

import regex

from memory_core.domain.text.prefilter import LETTERS_AND_DIGITS, ascii_runs, table_of_runs
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.text.unicode_forms import normal_form

# The likely language of a text in Latin letters; what a question loses.
#
# The language is read from the little words that the text uses. Other scripts need no vote:
# `terms_of` stems them by script. The vote is of the text alone, so that the same text has the same
# terms for every reader at any time. Note: English wins every tie. A wrong guess makes stems that
# no query has, while English stems of a short foreign text are mostly the word itself.


ENGLISH = "english"
GERMAN = "german"
LEAST_VOTES = 2
"""Votes that another language needs. A single vote is enough in a text of at most `SHORT` words
without any English function word.
"""
SHORT = 6

_LITTLE_WORDS: Final = {
    ENGLISH: "the a an and or of to in is are was were be been it that this with for on at by from as have has had not but he she they"  # noqa: E501
    " we you my his her their our your i me what which who when where how do does did will would "
    "can so if there about"
    # What English knows too, or takes from others in names (Las Vegas, El Paso),
    # speaks for no one: a tie is English.
    " am die war hat bin man des son on pour par chat sin con sous las los la el le del de tu un "
    "du es"
    " no ton plus era hay al sur sa mir todo todos",
    "german": (
        "der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war "
        "waren wird werden wurde hat haben hatte ich du er sie es wir ihr mein meine dein deine "
        "sein seine seinen ihre ihren unser mit von zu zum zur bei im am auf für aus nach über um "
        "wie wer wen wem wo wann warum was welche welcher welches wohin woher auch noch schon sehr "
        "als dass gibt kein keine sich mich mir dich dir uns beim vom seid bist habe hast habt "
        "euch euer eure jede jeden jeder jedes alle"
    ),
    "french": (
        "le la les un une des du de et ou mais ne pas est sont était être a ont avait je tu il "
        "elle nous vous ils elles on mon ma mes ton ta tes son sa ses notre votre leur leurs ce "
        "cet cette ces qui que quoi quel quelle quels quelles où quand comment pourquoi combien "
        "avec pour dans sur chez par au aux en se me te y plus très aussi depuis qu êtes suis"
        " sommes avez avons vos chaque toute tous toutes"
    ),
    "spanish": (
        "el la los las un una unos unas y pero no es son era fue ser está están ha han había yo tú "
        "él ella nosotros ellos mi mis tu tus su sus nuestro que quién quien qué cuál dónde donde "
        "cuándo cuando cómo como por porque para con en de del al se me te lo le les más muy "
        "también desde hay eres somos hemos cada toda todos todas"
    ),
}
_VOTES = {language: frozenset(words.split()) for language, words in _LITTLE_WORDS.items()}
_VOTING = frozenset().union(*_VOTES.values())
_OTHERS = frozenset().union(*(words for name, words in _VOTES.items() if name != ENGLISH))
LANGUAGES = tuple(_VOTES)

_QUESTION_WORDS: Final = {
    "russian": (
        "в во на и с со у к о об от до из за по не ли же бы был была было были есть он она они оно "
        "мы вы я ты его её ее их мой моя твой что кто где когда как какой какая какие какое каком "
        "куда откуда почему зачем сколько чей чья это этот эта"
    ),
    "arabic": (
        "في من إلى على عن مع هل ما ماذا من متى أين كيف لماذا كم أي هو هي هم كان كانت أن التي الذي "
        "هذا هذه ذلك و"
    ),
    "hindi": (
        "का की के को से में पर है हैं था थी थे और या क्या कौन कब कहाँ कहां कैसे क्यों कितना कितने कितनी किस किसने "
        "किसको कौनसा वह यह वे ने रहता रहती रहते भी तो ही"
    ),
    "chinese": (
        "什么 什麼 甚麼 哪裡 哪里 哪儿 在哪 谁 怎么 为什么 多少 几 何时 时候 吗 呢 的 了 是 吧"
    ),
    "japanese": "何 誰 どこ いつ なぜ どう どんな いくつ どの ですか ますか",
}
QUESTION_WORDS: Final = MappingProxyType(
    {name: frozenset(words.split()) for name, words in _QUESTION_WORDS.items()}
    | {language: words for language, words in _VOTES.items() if language != ENGLISH}
)
"""Words that a question has and its answer does not, by language; the English words are in
`QUERY_WORDS`.
"""

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
# What a pair of Japanese characters must not be to be a term: hiragana alone, the end of one word
# with the beginning of the next (of which お and ご are the exception, being prefixes),
# a noun with its particle.
_JAPANESE_GRAMMAR = regex.compile(
    r"\p{Hiragana}+|\p{Hiragana}\p{Katakana}|[\p{Hiragana}--[おご]]\p{Han}"
    r"|[\p{Katakana}ー]\p{Hiragana}|\p{Han}[はがをにのとでもへやだ]|何\p{Hiragana}",
    regex.V1,
)
_HAN, _HIRAGANA = regex.compile(r"\p{Han}"), regex.compile(r"\p{Hiragana}")
_JOINS = regex.compile(r"[\P{Hiragana}おご--何]", regex.V1)
"""Characters that, before a character, make it a part of a longer word."""
_ENDS_IN_A_WORD = regex.compile(r"\p{Hiragana}[\p{Han}--[何誰私僕俺方時事物年月日]]", regex.V1)
"""A particle and the character after it, which is a word if nothing follows: の娘 of うちの娘."""
_ASKING = "谁誰"
_NO_WORD_ALONE = frozenset("何誰谁私僕俺")
"""Characters of questions and of pronouns, which no memory need contain."""
_CHINESE_PARTICLES = "吗嗎呢吧了的"
_OTHER_SCRIPTS = frozenset().union(
    *(QUESTION_WORDS[name] for name in ("russian", "arabic", "hindi", "chinese", "japanese"))
)


def has_japanese(text: str) -> bool:
    """Whether a text has letters of Japanese, kana or Chinese characters."""
    return _JAPANESE.search(text) is not None


def language_of(folded_words: Sequence[str]) -> str:
    """The language of case-folded words, a name in `LANGUAGES`.

    English unless another language has enough votes.
    """
    # Most words vote for nothing: a third of the time of asking each language for each.
    voting = [*filter(_VOTING.__contains__, folded_words)]
    if sum(map(_VOTES[ENGLISH].__contains__, voting)) >= sum(map(_OTHERS.__contains__, voting)):
        return ENGLISH  # no other language has more votes
    votes = {language: sum(map(little.__contains__, voting)) for language, little in _VOTES.items()}
    # the first of equals, which English is
    best = max(LANGUAGES, key=lambda language: votes[language])
    enough = LEAST_VOTES if votes[ENGLISH] or len(folded_words) > SHORT else 1
    return best if votes[best] >= enough else ENGLISH


def votes_for(language: str, folded_words: Sequence[str]) -> int:
    """The number of these words that are function words of a language.

    Args:
        language: A name in `LANGUAGES`.
        folded_words: Case-folded words.

    """
    return sum(map(_VOTES[language].__contains__, folded_words))


def asked_for(
    folded_words: Sequence[str], language: str, always: Collection[str] = ()
) -> list[str]:
    """The words of a query that a memory could answer.

    Its language's question words are removed, and pairs of characters that are grammar alone. In
    unspaced scripts, a pair that contains or overlaps a question word has no meaning of its own.

    Args:
        folded_words: The words of the query, case-folded; unspaced scripts as pairs.
        language: Of the query.
        always: Words that are removed in any case.

    """
    dropped = QUESTION_WORDS.get(language, frozenset())
    japanese = any(not word.isascii() and _KANA.search(word) for word in folded_words)
    if japanese:
        folded_words = _japanese_words(folded_words)
    return [
        word
        for place, word in enumerate(folded_words)
        if word not in always
        and word not in dropped
        and (
            word.isascii()
            or not (
                _is_grammar(word, japanese=japanese)
                or _overlaps_a_question_word(folded_words, place)
            )
        )
    ]


def _japanese_words(pairs: Sequence[str]) -> list[str]:
    """The pairs of a Japanese query, and the characters in them that are words.

    For example 母 of 母の, 飲 of 飲ん, 歳 of 何歳. Texts have such characters among their terms.
    Pairs of grammar are left to `_is_grammar`; pairs with a pronoun or with 何 are removed.
    """
    asked: list[str] = []
    for place, pair in enumerate(pairs):
        before = pairs[place - 1] if place else ""
        after = pairs[place + 1] if place + 1 < len(pairs) else ""
        if len(pair) != 2 or _HAN.match(pair) is None:
            asked.append(pair)
            if _ENDS_IN_A_WORD.fullmatch(pair) and after[:1] != pair[1]:
                asked.append(pair[1])
            continue
        if pair[0] in _NO_WORD_ALONE:
            # 何曜日 is asked of 曜日, which is a pair of its own
            asked += [pair[1]] if _HAN.match(pair[1]) and not _HAN.match(after[1:2]) else []
        elif pair[1] == "何":
            continue
        elif before[1:2] == pair[0] and _JOINS.match(before[0]):
            asked.append(pair)
        elif after in QUESTION_WORDS["japanese"] and after[0] == pair[1]:
            asked.append(pair[0])
        elif _HIRAGANA.match(pair[1]):
            asked += [pair, pair[0]]
        else:
            asked.append(pair)
    return asked


def _is_grammar(word: str, *, japanese: bool) -> bool:
    if word in _OTHER_SCRIPTS or any(particle in word for particle in _ASKING):
        return True
    # What is a particle in Chinese is a part of words in Japanese (終了, 目的).
    return (
        _JAPANESE_GRAMMAR.fullmatch(word) is not None
        if japanese
        else any(particle in word for particle in _CHINESE_PARTICLES)
    )


def _overlaps_a_question_word(folded_words: Sequence[str], place: int) -> bool:
    """Whether a pair overlaps a Chinese question word just before or after it.

    For example 么搬 of 什么搬到.
    """
    word = folded_words[place]
    before = folded_words[place - 1] if place else ""
    after = folded_words[place + 1] if place + 1 < len(folded_words) else ""
    chinese = QUESTION_WORDS["chinese"]
    return (before in chinese and before[-1:] == word[0]) or (
        after in chinese and after[:1] == word[-1]
    )


MAX_WORD = 64
"""Characters of a word that count: an encoded blob must not become a term of 30 KB."""
MAX_DISTINCT = 4_000
"""Distinct terms kept of a text; 32 KiB of ordinary prose have about 1,500."""

# Scripts written without spaces (and Hangul, which glues endings on): their runs are cut into pairs
# of characters.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# A word is a run of letters, digits and marks: `_`, `-` and `'` part words, so that the key
# `favourite_colour` is found by "favourite colour". A single letter keeps `++` or `#`: C++ and C#
# are not C. Pictographs are words of their own.
_WORD = regex.compile(
    r"[\w--[_\p{M}]][\w--_]*(?:(?<=\b[a-z])(?:\+\+|\#))?|\p{Extended_Pictographic}", regex.V1
)
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:(?<=\b[a-z])(?:\+\+|#))?")
"""`_WORD` for a folded text of ASCII alone, which is a third of the work."""
_ASCII_RUNS: Final = table_of_runs(LETTERS_AND_DIGITS)
"""Its runs are the words in a text of ASCII without those signs, in half the time."""
_RUN = regex.compile(rf"([{_UNSPACED}][{_UNSPACED}\p{{M}}]*)|([^{_UNSPACED}]+)", regex.V1)
_WORDS_ALONE = regex.compile(r"[\p{Han}\p{Hangul}]")
_CHARACTER = regex.compile(r"\X")
_FIRST_UNSPACED = "\u0e00"  # no unspaced script lies below Thai
_INVISIBLE = regex.compile(r"[\u00ad\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]")
_MARKS = regex.compile(r"\p{M}+")

_STEMMERS = (
    (0x0000, 0x024F, "english"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1E00, 0x1EFF, "english"),
)
_lock = threading.Lock()


def words(text: str) -> list[str]:
    """The words of a text in order: case-folded, NFKC, not stemmed.

    No word is left out. Unspaced scripts are cut into pairs of characters.
    """
    if text.isascii():
        has_signs = "+" in text or "#" in text
        runs = _ASCII_WORD.findall(text.lower()) if has_signs else ascii_runs(text, _ASCII_RUNS)
        return [run[:MAX_WORD] for run in runs]
    pieces: list[str] = []
    for word in _WORD.findall(_folded(text)):
        if word.isascii() or max(word) < _FIRST_UNSPACED:
            pieces.append(word[:MAX_WORD])
        else:
            pieces.extend(_cut(word))
    return pieces


def tokens(text: str) -> list[str]:
    """The terms of a text in order, with repetitions.

    These are its words without stop words and single letters, stemmed.
    """
    return terms_of(words(text))


def terms_of(given: Iterable[str], language: str = ENGLISH) -> list[str]:
    """The terms of words.

    Args:
        given: The result of `words`.
        language: The language of words in Latin letters.

    """
    return [term for word in given if (term := term_of(word, language))]


def counts(text: str) -> dict[str, int]:
    """How often each term occurs, in order of appearance.

    Of a huge text only the first `MAX_DISTINCT` terms are counted.

    After the pairs come their Chinese and Korean characters, each by itself, because many of them
    are words: a query for 猫 has no pair. A query's own terms stay pairs, which are better wherever
    there are any. After the stems of another language come those that English rules make of the
    same words, where they differ: a query of two words ("grünen Tee") does not show its language.
    """
    return counts_and_order(text)[0]


def counts_and_order(text: str) -> tuple[dict[str, int], list[str]]:
    """The result of `counts`, and the terms in the order of the text.

    After the stem of a word in another language comes the English stem, where that is a different
    term. Single characters are only in the counts.
    """
    given = words(text)
    language = language_of(given)
    if language == ENGLISH:
        stems = terms_of(given, language)
        return count(chain(stems, _characters(text))), stems
    each = [(term_of(word, language), term_of(word, ENGLISH)) for word in given]
    stems = [stem for stem, _ in each if stem]
    others = {english for _, english in each if english}.difference(stems)
    order = [
        term
        for stem, english in each
        for term in (stem, english if english in others else "")
        if term
    ]
    return count(chain(stems, sorted(others), _characters(text))), order


def count(terms: Iterable[str]) -> dict[str, int]:
    """Count terms, with the limit of `counts`."""
    table = Counter(terms)
    return dict(table if len(table) <= MAX_DISTINCT else islice(table.items(), MAX_DISTINCT))


def _folded(text: str) -> str:
    # Twice, because folding can leave forms that are not normal, and a term must be the same
    # however it was typed.
    folded = normal_form("NFKC", normal_form("NFKC", text).casefold())
    return str(_INVISIBLE.sub("", folded))


def _cut(word: str) -> list[str]:
    """A word with characters of unspaced scripts, cut into parts.

    These are its spaced parts, and the pairs of each unspaced run.
    """
    parts: list[str] = []
    for run, spaced in _RUN.findall(word):
        characters = _CHARACTER.findall(run)
        if spaced:
            parts.append(spaced[:MAX_WORD])
        elif len(characters) == 1:
            parts.append(run)
        else:
            parts.extend(a + b for a, b in pairwise(characters))
    return parts


def _characters(text: str) -> Iterable[str]:
    """The single characters of unspaced runs that may be words."""
    if text.isascii():
        return ()
    runs = (run for run, _ in _RUN.findall(_folded(text)) if len(run) > 1)
    return chain.from_iterable(_WORDS_ALONE.findall(run) for run in runs)


@keep_texts(32_768)
def term_of(word: str, language: str) -> str:
    """The term of a word; empty for a word without a term.

    English function words are left out in every language, because the language is a guess.

    Args:
        word: From `words`.
        language: The language of a word in Latin letters.

    """
    if word in FUNCTION_WORDS or (len(word) == 1 and word.isalpha() and word < _FIRST_UNSPACED):
        return ""
    if language == ENGLISH and word.isascii():
        with _lock:
            return str(_stemmer(ENGLISH).stemWord(word))
    script = ord(word[0])
    algorithm = next((name for first, last, name in _STEMMERS if first <= script <= last), None)
    if algorithm is None:
        return word
    latin = algorithm == ENGLISH
    with _lock:  # the C stemmers are not safe to share between threads
        if not latin or language != ENGLISH:
            word = str(_stemmer(language if latin else algorithm).stemWord(word))
            if language == GERMAN and latin and _is_of_a_name(word):
                word = word[:-1]
        if latin and not word.isascii():
            # People type "cafe" for "café"; in other scripts a mark makes another letter.
            word = _MARKS.sub("", normal_form("NFD", word)) or word
        return str(_stemmer(ENGLISH).stemWord(word)) if latin and language == ENGLISH else word


_VOWELS = frozenset("aeiouyäöü")


def _is_of_a_name(stem: str) -> bool:
    """Whether a stem is a German genitive that the stemmer leaves: "Lenas"; not "Glas", "Preis"."""
    return (
        stem[-2:] in ("as", "is", "os")
        and stem[-3:-2] not in _VOWELS
        and not _VOWELS.isdisjoint(stem[:-3])
    )


@lru_cache(maxsize=len(_STEMMERS))
def _stemmer(algorithm: str) -> Any:
    import Stemmer  # here, because most starts of a function need no text analysis

    return Stemmer.Stemmer(algorithm, 0)


# English words that tell memories apart too little to be worth looking up.
#
# Two lists on purpose: what a memory says loses only `FUNCTION_WORDS`, while a query also loses
# `QUERY_WORDS`, because "what did she do" asks about none of these words. Without the second list
# recall at 10 is lower by about 0.02, and the share of a query that a memory covers stops
# meaning anything.


_FUNCTION = """
    a an the this that these such and or but if then not no there as at by for in into of on to with
    is are was be will it they their
"""
_QUERY = """
    what when where which who whom whose why how whats whens wheres whos hows wats um uh
    did do does done doing has have had having been being
    can could should would may might must shall am were
    i you he she we me him her us them my your his its our mine yours hers ours
    from about any some than so too very just also over during while after before between both all
    each other own same didn doesn isn aren wasn weren hasn haven hadn couldn wouldn shouldn ve ll
    re
"""

_GREETINGS = (
    "ok okay okey k kk lol lmao rofl haha hahaha hehe hihi hi hello hey heya yo hiya thanks thank "
    "thx ty cheers bye goodbye cya morning welcome cool nice awesome wow hmm hm yay sorry great "
    "perfect super prima hallo moin servus tschüss tschüs ciao danke dankeschön guten gute bonjour "
    "merci salut hola gracias grazie toll"
)
GREETINGS = frozenset(_GREETINGS.split())
"""Words of which every greeting, thanks or remark has at least a single word."""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
"""Words that are removed everywhere."""

QUERY_WORDS = frozenset(_QUERY.split())
"""Words that are removed from queries as well: question words, auxiliaries (with the rests of
contractions), pronouns, fillers.
"""
