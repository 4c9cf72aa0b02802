"""The parts of a message's content, kept as their lengths.

The texts of the parts are joined by a line break into a single content. It is split again as long
as the lengths fit it. A redaction, or the cut of a long text, may have changed the content since:
then the whole content is a single part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

SEAM: Final = "\n"
"""The separator of the parts of a content."""
MAX_PARTS: Final = 200
"""Parts whose lengths are kept; the content of more parts is a single text."""


def lengths_of_parts(content: str, parts: Sequence[str]) -> list[int]:
    """The lengths of the parts in characters.

    There are none where there is a single part, where there are too many parts, or where the
    content is not these parts joined.

    Args:
        content: A message's content.
        parts: The texts that it was joined from.

    """
    if not 1 < len(parts) <= MAX_PARTS or SEAM.join(parts) != content:
        return []
    return [len(part) for part in parts]


def split_content(content: str, lengths: Any) -> list[str]:
    """The texts that a content was joined from.

    Args:
        content: A message's content; an empty content has no texts.
        lengths: The lengths in the message's metadata, which any caller may have written. The
            content stays a single text where they don't fit it.

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
    """The texts that a content was joined from, as content parts of a chat message.

    Args:
        content: A message's content; an empty content has no parts.
        lengths: The lengths in the message's metadata, as for `split_content`.

    """
    return [{"type": "text", "text": text} for text in split_content(content, lengths)]
