"""The words of remarks on a statement that a later one changes or contradicts.

Contexts, the tools of a model and the command line use the same words.
"""

from __future__ import annotations


def replaced(day: str, by: str, statement: str = "") -> str:
    """Say that a later statement replaces a statement.

    Args:
        day: The day on which it was replaced.
        by: The words of the later statement.
        statement: The words that hold no more, where they are not beside the remark.

    """
    quote = f'"{statement}" ' if statement else ""
    return f"{quote}replaced on {day}: {by}"


def withdrawn(instruction: str, text: str) -> str:
    """Say that an instruction was withdrawn.

    Args:
        instruction: Its words.
        text: The words beside the remark, which may say more.

    """
    return "withdrawn" if text.strip() == instruction.strip() else f'"{instruction}" withdrawn'


def in_conflict(day: str, other: str) -> str:
    """Name the other side of an open conflict.

    Args:
        day: The day on which it was said.
        other: Its words.

    """
    return f"in conflict with what was said on {day}: {other}"


def disputed(day: str, by: str) -> str:
    """Name the statement that disputes a fact of the profile.

    Args:
        day: The day on which it was said.
        by: Its words.

    """
    return f"disputed on {day}: {by}"


def no_longer_true(fact: str, current: str | None) -> str:
    """Name a superseded fact, with the present truth in its place.

    Args:
        fact: Its words.
        current: The words of the present truth; None where there is none.

    """
    return f"no longer true: {fact}" + (f"; now: {current}" if current else "")
