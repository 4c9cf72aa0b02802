"""The parts of a message's content: kept as their lengths, and split again while these
fit the text.

The texts of the parts are joined by a line break into one content. A redaction, or a long text cut
short, may have changed the content since; then the whole content is one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

SEAM: Final = "\n"
"""What the parts of a content are joined by."""
MAX_PARTS: Final = 200
"""Parts whose lengths are kept; the content of more parts is one text."""


def lengths_of_parts(content: str, parts: Sequence[str]) -> list[int]:
    """The lengths of the parts in characters; none where there is one part, too many, or where the
    content is not these parts joined.
    """
    if not 1 < len(parts) <= MAX_PARTS or SEAM.join(parts) != content:
        return []
    return [len(part) for part in parts]


def split_content(content: str, lengths: Any) -> list[str]:
    """The texts that a content was joined from; the content alone where the lengths don't fit it,
    and none where it says nothing.

    Args:
        content: Of a message.
        lengths: As the message's metadata has them, which anybody may have written.

    """
    if not content:
        return []
    if not isinstance(lengths, list) or not all(
        type(length) is int and length > 0 for length in lengths
    ):
        return [content]
    parts, start = list[str](), 0
    for length in lengths:
        parts.append(content[start : start + length])
        start += length + len(SEAM)
    return parts if SEAM.join(parts) == content else [content]


def text_parts(content: str, lengths: Any) -> list[dict[str, Any]]:
    """The same as content parts of a chat message."""
    return [{"type": "text", "text": text} for text in split_content(content, lengths)]
