"""The words of two statements side by side, and where the statements part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from memory_core.domain.statements.contradiction_words import (
    ARTICLES,
    BEING,
    EMPTY,
    LASTING_PASTS,
    LIGHT,
    PASTS,
    PREPOSITIONS,
)
from memory_core.domain.text.polarity import NEGATIONS, forms_of, is_form_of, opposites_of
from memory_core.domain.text.spelling import one_spelling, plain_digits
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.text.unicode_forms import normal_form

MOST_WORDS = 40
"""Words of a statement; a longer text makes more than a single statement."""
MOST_LONGER = 3
"""Words by which a statement may be longer that says the same in the same order."""
_CJK = "\u3005\u3041-\u30ff\u4e00-\u9fff"
JAPANESE = re.compile(rf"[{_CJK}]")
_DENIED = re.compile(r"ませんでした|ません|なくなった|なかった|ない(?:です)?(?![\u3041-\u309f])")
_DENIED_BEING = re.compile(r"(?:では|じゃ)(?:ありません|ない)(?:です)?")
TOKEN = re.compile(
    r"[\u3041-\u309f]++|[\u30a0-\u30ff]++|[一二三四五六七八九十百千万]++|[\u3005\u4e00-\u9fff]"
    rf"|\d++(?:[.,:/]\d++)*|[^\W\d_{_CJK}]++(?:['’.-][^\W{_CJK}]++)*[+#]*+"
    r"|[%€$£¥=:]"
)
_WITHOUT_NOT = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "n't": "do"}


@dataclass(frozen=True)
class StatementWords:
    """The words of a statement.

    Attributes:
        tokens: Case-folded, in order.
        weighty: The places of tokens that carry meaning.
        compared: The stems of these tokens.
        negated: Whether the number of negations is odd.

    """

    tokens: tuple[str, ...]
    weighty: tuple[int, ...]
    compared: tuple[str, ...]
    negated: bool

    def between(self, start: int, end: int) -> tuple[str, ...]:
        """All tokens from a weighty token up to another.

        Args:
            start: Number of the first among the weighty tokens.
            end: Number of the first weighty token that is left out.

        """
        return self.tokens[self.weighty[start] : self.weighty[end - 1] + 1] if start < end else ()

    @cached_property
    def content(self) -> tuple[str, ...]:
        """The compared words without articles and light verbs."""
        return tuple(word for word in self.compared if word not in LIGHT and word not in ARTICLES)

    @cached_property
    def repeats(self) -> bool:
        """Whether a compared word occurs twice."""
        return len(self._compared) < len(self.compared)

    @cached_property
    def in_japanese(self) -> bool:
        """Whether any token is in Japanese."""
        return any(JAPANESE.search(token) for token in self.tokens)

    @cached_property
    def tells_event(self) -> bool:
        """Whether it tells an action, which may be repeated with another number or name."""
        for before, token in pairwise(["", *self.tokens]):
            if token in PASTS or (
                token.startswith("ge")
                and token.endswith(("t", "en"))
                and len(token) > 6
                and token not in LASTING_PASTS
            ):
                return True
            if (
                token.isascii()
                and token.endswith("ed")
                and len(token) > 4
                and token not in LASTING_PASTS
                and before not in BEING
            ):
                return True
        return False

    def has_alike(self, word: str) -> bool:
        """Whether its content has a word, or one that differs only in an ending.

        Args:
            word: In lower case.

        """
        return word in self._alike or not self._content.isdisjoint(_without_ending(word))

    def has_any_of(self, other: StatementWords) -> bool:
        """Whether it may have a word of another statement, or begins with the same words.

        Args:
            other: The other statement.

        """
        return (
            not self._compared.isdisjoint(other._compared)
            or not self._alike.isdisjoint(other._alike)
            or self._lead == other._lead != ()
        )

    @cached_property
    def _lead(self) -> tuple[str, ...]:
        return self.tokens[: self.weighty[0]] if self.weighty else self.tokens

    @cached_property
    def _compared(self) -> frozenset[str]:
        return frozenset(self.compared)

    @cached_property
    def _content(self) -> frozenset[str]:
        return frozenset(self.content)

    @cached_property
    def _alike(self) -> frozenset[str]:
        """The content, and the words of which it has a form with an ending."""
        return self._content.union(*map(_without_ending, self._content))


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where two statements differ.

    Attributes:
        ours: The tokens of the first statement there.
        theirs: The tokens of the second statement there.
        before: The tokens before it in the first statement.
        after: The tokens after it in the first statement.
        their_before: The tokens before it in the second statement.

    """

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    their_before: tuple[str, ...]

    @property
    def says_it_alike(self) -> bool:
        """Whether each side has words of a single difference, of similar length."""
        return (
            bool(self.ours and self.theirs)
            and not self.says_two
            and abs(len(self.ours) - len(self.theirs)) < MOST_LONGER
        )

    @property
    def says_two(self) -> bool:
        """Whether a preposition within both sides makes it two differences.

        For example "tabs in Go", "spaces in Python".
        """
        return all(not PREPOSITIONS.isdisjoint(each[1:-1]) for each in (self.ours, self.theirs))


def one_spelled(numbers: Sequence[str]) -> list[str]:
    """The numbers that are written in digits, in order."""
    return sorted(word for word in numbers if word[0].isdigit())


def is_alike(word: str, other: str) -> bool:
    """Whether two words differ only in an ending: rent and rental, Mia and Mias.

    Args:
        word: In lower case.
        other: In lower case.

    """
    return word == other or word in _without_ending(other) or other in _without_ending(word)


@keep_texts(8_192)
def _without_ending(word: str) -> frozenset[str]:
    """The shorter words that differ from a word only in an ending."""
    stems = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    shorter = {stem for stem in stems if len(stem) >= LEAST_STEM and stem.isalpha()}
    if word.endswith("ing") and len(word) > LEAST_STEM + 3:
        stem = word.removesuffix("ing")
        shorter |= {f"{stem}e"} if stem.endswith("e") else {stem, f"{stem}e"}
    return frozenset(shorter)


_ENDINGS = frozenset(["s", "'s", "al", "in", "n", "e", "en", "es"])
LEAST_STEM, LEAST_COMMON = 3, 2
"""Letters of a word that may have an ending; words that two statements must share if only a
negation or an opposite word tells them apart.
"""


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A statement that is read once, to be compared with many.

    Attributes:
        text: Case-folded, in a single spelling.
        tokens: Of the text.
        alone: Its words beside a statement that has no opposite of any.
        opposites: The words that exclude any of its tokens.
        unsaid: The forms of its tokens that carry no meaning, or only deny.

    """

    text: str
    tokens: tuple[str, ...]
    alone: StatementWords
    opposites: frozenset[str]
    unsaid: frozenset[str]

    def beside(self, other: ReadStatement) -> StatementWords:
        """Its words beside another statement: "on" has a meaning beside "off".

        Args:
            other: The other statement.

        """
        if self.unsaid.isdisjoint(other.opposites):
            return self.alone
        return _words_beside(self.tokens, other.opposites)


@keep_texts(2_048)
def read_statement(text: str) -> ReadStatement | None:
    """Read a statement, once for all that it is compared with.

    None for a question, and for a text without words or with too many.
    """
    spelled = one_spelling(normal_form("NFKC", text).replace("’", "'").casefold())
    if spelled.rstrip().endswith("?"):
        return None
    tokens = tuple(TOKEN.findall(plain_digits(spelled)[: 20 * MOST_WORDS]))
    if not 0 < len(tokens) <= MOST_WORDS:
        return None
    alone = _words_beside(tokens, frozenset())
    unsaid = forms_of(word for word in alone.tokens if word in NEGATIONS or word in EMPTY)
    return ReadStatement(spelled, tokens, alone, opposites_of(tokens), unsaid)


def _words_beside(tokens: Iterable[str], opposites: frozenset[str]) -> StatementWords:
    """The words of a statement, beside a statement whose words have these opposites."""
    plain: list[str] = []
    weighty: list[int] = []
    compared: list[str] = []
    negated = False
    for token in tokens:
        word = token
        if JAPANESE.match(token):
            word, denied_being = _DENIED_BEING.subn("です", token)
            word, denied = _DENIED.subn("ます", word)
            negated = negated != ((denied + denied_being) % 2 == 1)
        elif token.endswith("n't") or token in _WITHOUT_NOT:
            word = _WITHOUT_NOT.get(token, token.removesuffix("n't"))
            negated = not negated
        plain.append(word)
        if (word in NEGATIONS or word in EMPTY) and not is_form_of(word, opposites):
            negated = negated != (word in NEGATIONS)
            continue
        weighty.append(len(plain) - 1)
        compared.append(_stem(word))
    return StatementWords(tuple(plain), tuple(weighty), tuple(compared), negated)


def _stem(word: str) -> str:
    """The word without the ending of a third person or a plural."""
    if (
        len(word) > 3
        and word.isascii()
        and word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
    ):
        return word[:-3] + "y" if word.endswith("ies") else word[:-1]
    return word


def opcodes(
    ours: StatementWords, theirs: StatementWords
) -> Sequence[tuple[str, int, int, int, int]]:
    """What is equal and what differs in the compared words, in the places of `SequenceMatcher`.

    Most pairs have only a beginning and an end in common. If no word occurs twice, no search is
    needed to know it.

    Args:
        ours: The first statement.
        theirs: The second.

    """
    left, right = ours.compared, theirs.compared
    start, end, their_end = 0, len(left), len(right)
    while start < end and start < their_end and left[start] == right[start]:
        start += 1
    while end > start and their_end > start and left[end - 1] == right[their_end - 1]:
        end, their_end = end - 1, their_end - 1
    if (
        ours.repeats
        or theirs.repeats
        or not set(left[start:end]).isdisjoint(right[start:their_end])
    ):
        return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    codes = (
        ("equal", 0, start, 0, start),
        ("replace", start, end, start, their_end),
        ("equal", end, len(left), their_end, len(right)),
    )
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def parting_of(
    ours: StatementWords,
    theirs: StatementWords,
    start: int,
    end: int,
    their_start: int,
    their_end: int,
) -> Parting:
    """The place where two statements part.

    Args:
        ours: The first statement.
        theirs: The second.
        start: Of the first, the number of the first weighty word that differs.
        end: The number after the last of these.
        their_start: As `start`, of the second.
        their_end: As `end`, of the second.

    """
    first = ours.weighty[start] if start < len(ours.weighty) else len(ours.tokens)
    last = ours.weighty[end - 1] + 1 if end > start else first
    their_first = (
        theirs.weighty[their_start] if their_start < len(theirs.weighty) else len(theirs.tokens)
    )
    return Parting(
        ours.between(start, end),
        theirs.between(their_start, their_end),
        ours.tokens[:first],
        ours.tokens[last:],
        theirs.tokens[:their_first],
    )
