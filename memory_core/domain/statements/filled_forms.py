"""Write out what people fill into a form: "City: Lyon".

A line of a form is read as the short answer to a question for its label. Note: a form of a thing
or of another person has such lines, too. So a message counts only if it has nothing but lines
that are written out, below a heading of the speaker's own at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.domain.statements.short_answers import MOST_CHARACTERS, written_out
from memory_core.domain.text.analyzer import has_japanese

LEAST_FIELDS = 2
"""Fields of a form without a request for it, if no field tells that it is about a person."""
_FIELD = re.compile(
    r"^[ \t*•-]{0,4}(?P<label>[^\W\d_][^\n:：?]{0,30})[:：][ \t]*"
    rf"(?P<value>[^\n]{{1,{MOST_CHARACTERS}}})$",
    re.MULTILINE,
)
_ANSWER = re.compile(
    r"^[ \t]*(?:Q|Question|Frage|質問|問)[:：][ \t]*(?P<question>[^\n?？]{3,80}[?？])\s{1,3}"
    rf"(?P<answer>(?:A|Answer|Antwort|答え?)[:：][ \t]*(?P<value>[^\n]{{1,{MOST_CHARACTERS}}}))$",
    re.MULTILINE,
)
_OWN_HEADING = re.compile(r"\b(?:me|my|i|mich|mein\w{0,2}|ich)\b|私|自己", re.IGNORECASE)
_ASKS_READER = re.compile(
    r"\b(?:you|your|du|dein\w{0,2}|Sie|Ihr\w{0,2}|dich|dir)\b|あなた|お[^ぁ-ん]"
)
_OF_PERSONS = re.compile(
    r"(?:(?:home ?town|residence|job|occupation|profession|employer|birthday|date of birth)"
    r"|wohnort|beruf|arbeitgeber|geburtstag|お?住まい|居住地|勤め先|ご?職業|ご?出身|誕生日)\Z",
    re.IGNORECASE,
)
"""Labels of what only people have."""
_OF_CONTACTS = re.compile(r"(?:phone|telephone|mobile|e-?mail|telefon|handy|fax)", re.IGNORECASE)
"""Labels by which a form may be the address of anybody."""


def answers_of_form(text: str, asked: str) -> dict[int, str]:
    """The sentences that the lines of a form mean, by the places of the lines.

    Args:
        text: The message.
        asked: What the assistant asked right before, or "".

    Returns:
        For "Name: Jane" and "City: Lyon" below it "My name is Jane." and "I live in Lyon.";
        nothing for a text with other lines.

    """
    if answers := dict(_answers(text)):
        return answers
    if asked and not _ASKS_READER.search(asked):
        return {}
    fields = [*_FIELD.finditer(text)]
    if not fields:
        return {}
    heading = text[: fields[0].start()].strip()
    rest = _FIELD.sub("", text[fields[0].start() :]).strip()
    is_own = bool(asked) or (bool(heading) and _OWN_HEADING.search(heading) is not None)
    if rest or (heading and ("\n" in heading or not _OWN_HEADING.search(heading))):
        return {}
    if not is_own and (
        any(_OF_CONTACTS.search(field["label"]) for field in fields)
        or (
            len(fields) < LEAST_FIELDS
            and not any(_OF_PERSONS.match(field["label"]) for field in fields)
        )
    ):
        return {}
    meant = {field.start("label"): _meant(field["label"], field["value"]) for field in fields}
    return {} if None in meant.values() else {start: text or "" for start, text in meant.items()}


def _answers(text: str) -> Iterator[tuple[int, str]]:
    """The answers of a form of questions and answers that name a value only."""
    for match in _ANSWER.finditer(text):
        if (meant := written_out(match["value"], match["question"])) is not None:
            yield match.start("answer"), meant


def _meant(label: str, value: str) -> str | None:
    """The sentence that a field of a form means."""
    if has_japanese(label):
        return written_out(value, f"{label}は？")
    return written_out(value, f"What is your {label.lower()}?") or written_out(
        value, f"Was ist dein {label}?"
    )
