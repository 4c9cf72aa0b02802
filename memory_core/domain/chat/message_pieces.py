"""What one message says, piece by piece, as far as it has room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from memory_core.domain.conversation import Role
from memory_core.domain.memory import MAX_CONTENT_BYTES
from memory_core.domain.text.fence import without_contexts

MAX_PACK_CHARACTERS = 8_000
"""Characters of the tools' calls and results of a message that are kept together.

They are four calls or results at their longest, which fit into a content in any script.
"""
LEAST_OF_DOCUMENT = 100
"""Bytes below which no part of a document is kept."""


@dataclass(slots=True)
class MessagePieces:
    """The texts of a message.

    Attributes:
        words: The author's words.
        doings: Calls and results of tools.
        instructions: What the system says within a message of another author.
        unnamed: A tool's result without the tool's name.
        documents: Places of documents' texts among the words.
        tools_first: Whether a tool's text came before any word.

    """

    words: list[str] = field(default_factory=list)
    doings: list[str] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    documents: list[int] = field(default_factory=list)
    tools_first: bool = False

    def add(self, text: str, role: Role | None = None, *, from_document: bool = False) -> None:
        """Add a text, unless it is blank.

        Args:
            text: Of a part of the message.
            role: Whose words it is; None for the message's author.
            from_document: Whether it is the text of a document.

        """
        text = without_contexts(text)
        if not text.strip():
            return
        if role == "system":
            self.instructions.append(text)
        elif role == "tool":
            self.tools_first = self.tools_first or not self.words
            self.doings.append(text)
        else:
            if from_document:
                self.documents.append(len(self.words))
            self.words.append(text)

    def cut_documents(self) -> None:
        """Cut the texts of documents if the words are too long together.

        All other words are kept, and the documents get equal parts of the room that is left.
        """
        room = MAX_CONTENT_BYTES - sum(
            len(text.encode("utf-8", "replace")) + 1 for text in self.words
        )
        if room >= 0 or not self.documents:
            return
        room += sum(len(self.words[place].encode("utf-8", "replace")) for place in self.documents)
        by_length = sorted(
            self.documents, key=lambda place: len(self.words[place].encode("utf-8", "replace"))
        )
        for left, place in zip(range(len(by_length), 0, -1), by_length, strict=True):
            self.words[place] = _beginning(self.words[place], max(room // left, 0))
            room -= len(self.words[place].encode("utf-8", "replace"))
        self.words[:] = filter(None, self.words)

    def packs(self) -> Iterator[list[str]]:
        """The calls and results of tools, in groups that fit into a message."""
        pack: list[str] = []
        size = 0
        for doing in self.doings:
            if pack and size + len(doing) > MAX_PACK_CHARACTERS:
                yield pack
                pack, size = [], 0
            pack.append(doing)
            size += len(doing) + 1
        if pack:
            yield pack


def _beginning(text: str, most: int) -> str:
    """The text, or its beginning and "…" in at most `most` bytes."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= most:
        return text
    return (
        encoded[: max(0, most - len("…".encode()))].decode("utf-8", "ignore").rstrip() + "…"
        if most >= LEAST_OF_DOCUMENT
        else ""
    )
