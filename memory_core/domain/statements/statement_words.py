"""The words of two statements side by side, and where the statements part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.domain.statements.contradiction_words import ARTICLES, EMPTY, LIGHT, PREPOSITIONS
from memory_core.domain.text.polarity import NEGATIONS, is_form_of, opposites_of

MOST_LONGER = 3
"""Words by which a statement may be longer that says the same in the same order."""
_CJK = "\u3005\u3041-\u30ff\u4e00-\u9fff"
JAPANESE = re.compile(rf"[{_CJK}]")
_DENIED = re.compile(r"ませんでした|ません|なくなった|なかった|ない(?:です)?(?![\u3041-\u309f])")
_DENIED_BEING = re.compile(r"(?:では|じゃ)(?:ありません|ない)(?:です)?")
TOKEN = re.compile(
    r"[\u3041-\u309f]++|[\u30a0-\u30ff]++|[一二三四五六七八九十百千万]++|[\u3005\u4e00-\u9fff]"
    rf"|\d++(?:[.,:/]\d++)*+|(?:(?![{_CJK}])[^\W\d_])++(?:['’.-](?:(?![{_CJK}])\w)++)*+[+#]*+"
    r"|[%€$£¥=:]"
)
_WITHOUT_NOT = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall", "n't": "do"}


@dataclass(frozen=True, slots=True)
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


def weighty_tokens(statement: StatementWords) -> list[str]:
    """The compared words without articles and light verbs."""
    return [word for word in statement.compared if word not in LIGHT and word not in ARTICLES]


def one_spelled(numbers: Sequence[str]) -> list[str]:
    """The numbers that are written in digits, in order."""
    return sorted(word for word in numbers if word[0].isdigit())


def has_alike(word: str, others: Sequence[str]) -> bool:
    """Whether the same word is in a list; such words share the first letter.

    Args:
        word: In lower case.
        others: Words to compare it with.

    """
    first = word[:1]
    return any(other[:1] == first and is_alike(word, other) for other in others)


def is_alike(word: str, other: str) -> bool:
    """Whether two words differ only in an ending: rent and rental, Mia and Mias.

    Args:
        word: In lower case.
        other: In lower case.

    """
    shorter, longer = (word, other) if len(word) <= len(other) else (other, word)
    if shorter == longer or (
        longer.endswith("ing")
        and len(longer) > LEAST_STEM + 3
        and longer[:-3] == shorter.removesuffix("e")
    ):
        return True
    ending = longer.removeprefix(shorter)
    return (
        len(shorter) >= LEAST_STEM
        and longer.startswith(shorter)
        and ending in _ENDINGS
        and shorter.isalpha()
    )


_ENDINGS = frozenset(["s", "'s", "al", "in", "n", "e", "en", "es"])
LEAST_STEM, LEAST_COMMON = 3, 2
"""Letters of a word that may have an ending; words that two statements must share if only a
negation or an opposite word tells them apart.
"""


def statement_words(tokens: Sequence[str], others: Sequence[str]) -> StatementWords:
    """The words of a statement, beside the words of another statement.

    Args:
        tokens: Of the statement.
        others: Of the other statement, whose opposites are looked for.

    """
    opposites = opposites_of(others)
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
        if not is_form_of(word, opposites):
            negated = negated != (word in NEGATIONS)
            if word in NEGATIONS or word in EMPTY:
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
