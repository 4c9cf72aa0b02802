"""Whether words that an agent gives as proof were really said: what keeps an invented fact, or a prompt's example, out.

Compared without regard to case, white space and the shape of quotation marks; not word by word, since a proof that is nearly right
proves something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.conversation import Message
from memory_core.domain.normal_form import normal_form
from memory_core.domain.own_words import without_recalled

_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": "-", "…": "..."})


def occurs(quote: str, text: str) -> bool:
    """Whether the quote occurs in the text; one without a letter or digit proves nothing."""
    return _occurs(quote, _folded(text))


def may_tell(message: Message) -> bool:
    """Whether facts may be taken from a message: what the person says, or anybody who is named; never the system or a tool.

    An assistant without a name repeats and guesses; what it says is no fact about the person.
    """
    return message.role == "user" or (message.role == "assistant" and bool(message.actor))


def proven(quote: str, number: int, messages: Sequence[Message]) -> bool:
    """Whether message `number` exists, may tell facts, and says the quote outside of recalled memories."""
    return Proofs(messages).prove(quote, number)


class Proofs:
    """What messages say outside of recalled memories. Each is read once, however many quotes are looked for in it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._read: dict[int, str] = {}

    def prove(self, quote: str, number: int) -> bool:
        """Whether message `number` exists, may tell facts, and says the quote."""
        if not 0 <= number < len(self._messages) or not may_tell(self._messages[number]):
            return False
        if number not in self._read:
            self._read[number] = _folded(without_recalled(self._messages[number].content))
        return _occurs(quote, self._read[number])


def folded_quote(quote: str) -> str:
    """Words as they are compared here, without the marks around them."""
    return _folded(quote).strip(" .,;:!\"'")


def _occurs(quote: str, folded: str) -> bool:
    wanted = folded_quote(quote)
    return any(character.isalnum() for character in wanted) and wanted in folded


def _folded(text: str) -> str:
    return " ".join(normal_form("NFKC", text).translate(_MARKS).casefold().split())
