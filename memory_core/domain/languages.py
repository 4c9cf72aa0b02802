"""The likely language of a text in Latin letters; what a question loses.

The language is read from the little words that the text uses. Other scripts need no vote: `text` stems them by script. The vote is of the
text alone, so that the same text has the same terms for every reader at any time. Note: English wins every tie. A wrong guess makes stems
that no query has, while English stems of a short foreign text are mostly the word itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from types import MappingProxyType
from typing import Final

import regex

ENGLISH = "english"
LEAST_VOTES = 2
"""Words that must speak for another language; one does where the text has not a single English one and at most `SHORT` words."""
SHORT = 6

_LITTLE_WORDS: Final = {
    ENGLISH: "the a an and or of to in is are was were be been it that this with for on at by from as have has had not but he she they"
    " we you my his her their our your i me what which who when where how do does did will would can so if there about"
    # What English knows too, or takes from others in names (Las Vegas, El Paso), speaks for no one: a tie is English.
    " am die war hat bin man des son on pour par chat sin con sous las los la el le del de tu un du es"
    " no ton plus era hay al sur sa mir",
    "german": "der die das den dem des ein eine einen einem einer eines und oder aber nicht ist sind war waren wird werden wurde hat"
    " haben hatte ich du er sie es wir ihr mein meine dein deine sein seine seinen ihre ihren unser mit von zu zum zur bei im am auf für"
    " aus nach über um wie wer wen wem wo wann warum was welche welcher welches wohin woher auch noch schon sehr als dass gibt"
    " kein keine sich mich mir dich dir uns beim vom seid bist habe hast habt euch euer eure jede jeden jeder jedes alle",
    "french": "le la les un une des du de et ou mais ne pas est sont était être a ont avait je tu il elle nous vous ils elles on mon ma"
    " mes ton ta tes son sa ses notre votre leur leurs ce cet cette ces qui que quoi quel quelle quels quelles où quand comment"
    " pourquoi combien avec pour dans sur chez par au aux en se me te y plus très aussi depuis qu êtes suis"
    " sommes avez avons vos chaque toute tous toutes",
    "spanish": "el la los las un una unos unas y pero no es son era fue ser está están ha han había yo tú él ella nosotros ellos mi mis"
    " tu tus su sus nuestro que quién quien qué cuál dónde donde cuándo cuando cómo como por porque para con en de del al se me te lo"
    " le les más muy también desde hay eres somos hemos cada toda todos todas",
}
_VOTES = {language: frozenset(words.split()) for language, words in _LITTLE_WORDS.items()}
_VOTING = frozenset().union(*_VOTES.values())
LANGUAGES = tuple(_VOTES)

_QUESTION_WORDS: Final = {
    "russian": "в во на и с со у к о об от до из за по не ли же бы был была было были есть он она они оно мы вы я ты его её ее их мой моя"
    " твой что кто где когда как какой какая какие какое каком куда откуда почему зачем сколько чей чья это этот эта",
    "arabic": "في من إلى على عن مع هل ما ماذا من متى أين كيف لماذا كم أي هو هي هم كان كانت أن التي الذي هذا هذه ذلك و",
    "hindi": "का की के को से में पर है हैं था थी थे और या क्या कौन कब कहाँ कहां कैसे क्यों कितना कितने कितनी किस किसने किसको कौनसा वह यह वे ने"
    " रहता रहती रहते भी तो ही",
    "chinese": "什么 什麼 甚麼 哪裡 哪里 哪儿 在哪 谁 怎么 为什么 多少 几 何时 时候 吗 呢 的 了 是 吧",
    "japanese": "何 誰 どこ いつ なぜ どう どんな いくつ どの ですか ますか",
}
QUESTION_WORDS: Final = MappingProxyType(
    {name: frozenset(words.split()) for name, words in _QUESTION_WORDS.items()}
    | {language: words for language, words in _VOTES.items() if language != ENGLISH}
)
"""Words that a question has and its answer does not, by language; English ones are in `stopwords`."""

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
# What a pair of Japanese characters must not be to be a term: hiragana alone, the end of one word with the beginning of the next (of
# which お and ご are the exception, being prefixes), a noun with its particle.
_JAPANESE_GRAMMAR = regex.compile(
    r"\p{Hiragana}+|\p{Hiragana}\p{Katakana}|[\p{Hiragana}--[おご]]\p{Han}|[\p{Katakana}ー]\p{Hiragana}|\p{Han}[はがをにのとでもへや]|何\p{Hiragana}",
    regex.V1,
)
_ASKING = "谁誰"
_CHINESE_PARTICLES = "吗嗎呢吧了的"
_OTHER_SCRIPTS = frozenset().union(*(QUESTION_WORDS[name] for name in ("russian", "arabic", "hindi", "chinese", "japanese")))


def has_japanese(text: str) -> bool:
    """Whether a text has letters of Japanese, kana or Chinese characters."""
    return _JAPANESE.search(text) is not None


def language_of(folded_words: Sequence[str]) -> str:
    """One of `LANGUAGES`, for case-folded words; English when nothing speaks for another one."""
    # Most words vote for nothing: a third of the time of asking each language for each.
    voting = [*filter(_VOTING.__contains__, folded_words)]
    votes = {language: sum(map(little.__contains__, voting)) for language, little in _VOTES.items()}
    best = max(LANGUAGES, key=lambda language: votes[language])  # the first of equals, which English is
    enough = LEAST_VOTES if votes[ENGLISH] or len(folded_words) > SHORT else 1
    return best if votes[best] >= enough else ENGLISH


def votes_for(language: str, folded_words: Sequence[str]) -> int:
    """How many of these case-folded words are little words of a language of `LANGUAGES`."""
    return sum(map(_VOTES[language].__contains__, folded_words))


def asked_for(folded_words: Sequence[str], language: str, always: Collection[str] = ()) -> list[str]:
    """The words of a query that a memory could answer: without its language's question words, nor pairs that are grammar alone.

    Unspaced scripts come as pairs of characters: what holds, or overlaps, a question word says nothing of its own. always: words that go
    in any case.
    """
    dropped = QUESTION_WORDS.get(language, frozenset())
    japanese = any(not word.isascii() and _KANA.search(word) for word in folded_words)
    return [
        word
        for place, word in enumerate(folded_words)
        if word not in always
        and word not in dropped
        and (word.isascii() or not (_is_grammar(word, japanese=japanese) or _overlaps_a_question_word(folded_words, place)))
    ]


def _is_grammar(word: str, *, japanese: bool) -> bool:
    if word in _OTHER_SCRIPTS or any(one in word for one in _ASKING):
        return True
    # What is a particle in Chinese is a part of words in Japanese (終了, 目的).
    return _JAPANESE_GRAMMAR.fullmatch(word) is not None if japanese else any(one in word for one in _CHINESE_PARTICLES)


def _overlaps_a_question_word(folded_words: Sequence[str], place: int) -> bool:
    """Whether the pair before or after is a Chinese question word that shares a character with this one: 么搬 of 什么搬到."""
    word = folded_words[place]
    before = folded_words[place - 1] if place else ""
    after = folded_words[place + 1] if place + 1 < len(folded_words) else ""
    chinese = QUESTION_WORDS["chinese"]
    return (before in chinese and before[-1:] == word[0]) or (after in chinese and after[:1] == word[-1])
