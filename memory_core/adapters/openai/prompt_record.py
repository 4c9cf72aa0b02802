"""Format texts of users as data of a request, and detect answers that repeat it.

Every heading, the beginning and the end carry a mark. The mark is derived from the whole record and
occurs nowhere in it. Therefore a text can neither close the record nor open an entry ("[message 4 |
user]") of its own. Note: the mark is no secret. It need only be new to the text, and deriving it
keeps equal requests equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memory_core.domain.conversation import Message
from memory_core.domain.text.fence import mark_for, visible
from memory_core.ports import DecisionItem, SceneItem
from memory_core.prompts import Prompt

MAX_CHARACTERS = 60_000
"""Characters of all texts of a record, about 15,000 tokens.

Longer texts lose their middles, the longest first.
"""
_MAX_HEADING = 120
_SHORT_LINE = 40
"""Characters of a line that is repeated rather than named."""
_OMITTED = " [… {} characters left out …] "


@dataclass(frozen=True, slots=True)
class RecordedText:
    """A text under its heading; the heading's parts may come from users too."""

    heading: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """The text of a request, and the mark that fences the entries in it."""

    mark: str
    text: str


def message_entries(messages: Sequence[Message]) -> list[RecordedText]:
    """Format messages, numbered from 0, with role, actor and time.

    The weekday is included since "next Friday" needs it.
    """
    return [
        RecordedText(
            (
                f"message {number}",
                message.role,
                *([message.actor] if message.actor else []),
                f"{message.timestamp:%A} {message.timestamp.isoformat()}",
            ),
            message.content,
        )
        for number, message in enumerate(messages)
    ]


def item_entries(name: str, items: Sequence[DecisionItem]) -> list[RecordedText]:
    """Format memories as `<name> <number>`, with category, time, slot, and the actor if known.

    Args:
        name: Word for the memories, such as `note`.
        items: The memories.

    """
    return [
        RecordedText(
            (
                f"{name} {item.number}",
                *([item.category] if item.category else []),
                f"said {item.said_at.isoformat()}",
                *([f"slot {item.slot[0]} / {item.slot[1]}"] if item.slot else []),
                *([f"by {item.actor}"] if item.actor else []),
            ),
            item.text,
        )
        for item in items
    ]


def scene_entries(
    scenes: Sequence[SceneItem], episodes: Sequence[DecisionItem] = ()
) -> list[RecordedText]:
    """Format scenes as `scene <number>`, with a line for each episode and its observations.

    Args:
        scenes: The scenes.
        episodes: Episodes that the same record shows as `episode <number>`. A line that begins such
            an episode becomes `= episode <number>`.

    Returns:
        An entry for each scene.

    """
    names = _Names([(" ".join(episode.text.split()), episode.number) for episode in episodes])
    return [
        RecordedText(
            (f"scene {scene.number}", scene.theme, f"began {scene.began_at.isoformat()}"),
            "\n".join(_episodes(scene, names)),
        )
        for scene in scenes
    ]


def _episodes(scene: SceneItem, names: _Names) -> Iterator[str]:
    return (
        " ".join((names.instead_of(line), *(f"({habit})" for habit in habits)))
        for line, habits in zip(scene.lines, scene.shows, strict=True)
    )


@dataclass(slots=True)
class _Names:
    """Episodes whose texts are in the same record; each is named once.

    Attributes:
        left: Text and number of the episodes that are not named yet.

    """

    left: list[tuple[str, int]]

    def instead_of(self, line: str) -> str:
        """The name of an episode that begins with the line, else the line.

        The line never looks like a name.
        """
        line = line.lstrip("= ")
        start = line.removesuffix("…")
        if len(line) > _SHORT_LINE:
            for place, (text, number) in enumerate(self.left):
                if text.startswith(start):
                    del self.left[place]
                    return f"= episode {number}"
        return line


def fenced(entries: Sequence[RecordedText], max_characters: int = MAX_CHARACTERS) -> Record:
    """Format entries as a record between marks.

    Args:
        entries: The texts with their headings.
        max_characters: Characters of all texts together.

    """
    texts = _within(
        [(_heading(entry.heading), visible(entry.text)) for entry in entries], max_characters
    )
    mark = mark_for("\n".join(f"{heading}\n{text}" for heading, text in texts))
    lines = [f"BEGIN {mark}"]
    for heading, text in texts:
        lines += [f"[{mark} | {heading}]", text]
    lines += [f"END {mark}", "", "The record ends here. Answer with the JSON object."]
    return Record(mark, "\n".join(lines))


def _heading(parts: Sequence[str]) -> str:
    return " | ".join(
        " ".join(visible(part).replace("|", " ").split())[:_MAX_HEADING] for part in parts
    )


def _within(texts: list[tuple[str, str]], limit: int) -> list[tuple[str, str]]:
    """Cut the longest texts to an equal share, so that together they keep the limit."""
    share, left = limit, limit
    for place, size in enumerate(sorted(len(text) for _, text in texts)):
        share = left // (len(texts) - place)
        if size > share:
            break
        left -= size
    else:
        return texts
    return [(heading, _shortened(text, share)) for heading, text in texts]


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return text[:head] + _OMITTED.format(len(text) - limit) + (text[-tail:] if tail else "")


# Whether an answer repeats its prompt: an example's content, the instructions, or the record's
# mark.
#
# Models repeat the prompt when there is little to say, or when a text asked them to. It would
# become a user's memory. A few equal words prove nothing, so only texts of several words are
# compared: with an example's text as a whole, and with each sentence of the instructions.


_FEWEST_WORDS = 3
_SHORTEST_SENTENCE = 50
_MADE_UP = re.compile(r"<example>.*?(?:</example>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Echoes:
    """Texts of a request that must not come back.

    Attributes:
        texts: Texts of the examples.
        sentences: Sentences of the instructions.
        mark: The mark of the record that was sent; "" for none.

    """

    texts: frozenset[str]
    sentences: tuple[str, ...]
    mark: str = ""

    @classmethod
    def of(cls, prompt: Prompt[Any]) -> Echoes:
        """All texts of a prompt that are long enough to be recognized.

        They are from its examples and its instructions.
        """
        texts = {_folded(text) for example in prompt.examples for text in _texts(example)}
        rules = re.split(r"(?<=[.:;!?])\s+|\n+", _MADE_UP.sub("", prompt.text))
        return cls(
            frozenset(text for text in texts if len(text.split()) >= _FEWEST_WORDS),
            tuple(
                dict.fromkeys(
                    sentence
                    for rule in rules
                    if len(sentence := _folded(rule)) >= _SHORTEST_SENTENCE
                )
            ),
        )

    def without(self, value: dict[str, Any]) -> tuple[dict[str, Any] | None, int]:
        """Drop the list items that repeat the prompt, and return how many these were.

        The answer is None if a field of its own repeats the prompt.
        """
        dropped = 0

        def without_secrets(inner: Any) -> Any:
            nonlocal dropped
            if isinstance(inner, list):
                good = [
                    item for item in inner if not any(self._repeats(text) for text in _texts(item))
                ]
                dropped += len(inner) - len(good)
                return good
            if isinstance(inner, dict):
                return {name: without_secrets(field_value) for name, field_value in inner.items()}
            return inner

        cleaned: dict[str, Any] = without_secrets(value)
        return (None if any(self._repeats(text) for text in _texts(cleaned)) else cleaned), dropped

    def _repeats(self, text: str) -> bool:
        folded = _folded(text)
        if folded in self.texts or (self.mark and self.mark in folded):
            return True
        return len(folded) >= _SHORTEST_SENTENCE and any(
            sentence in folded for sentence in self.sentences
        )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _folded(text: str) -> str:
    return " ".join(re.sub(r"[`*\"'_]", " ", text).casefold().split()).rstrip(" .,:;!")
