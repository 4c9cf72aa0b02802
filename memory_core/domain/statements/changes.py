"""Find a later message that says that an earlier statement is over or different now.

This is read from the words, without a model, on four grounds:

    ends      The later message says that a thing named in both is over:
              "I drive a Golf" … "sold the Golf!"
    value     A thing named in both has another time or number:
              "the flight is on the 14th" … "they moved my flight to the 15th"
    switch    The user of a thing says that they switched:
              "all my coding in Vim" … "moved over to VS Code, but the Vim keys …"
    matter    In this matter only a single statement holds, and it is another now:
              "I live in Mainz" … "we've moved to Kassel"

Note: two statements that differ are mostly both true. So the later message has to say that there
is a change, in the sentence that has the shared word. Any person other than the speaker has to be
named in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from memory_core.domain.statements.announced import ANNOUNCES, time_ahead
from memory_core.domain.statements.change_clauses import clause_of, telling
from memory_core.domain.statements.change_grounds import (
    LEAST_SHARED,
    Ground,
    change_ground,
    is_another_of,
)
from memory_core.domain.statements.change_messages import SpeakerMessage, read, says_changed
from memory_core.domain.statements.change_phrases import (
    AGAIN,
    ANNOUNCED,
    DENIED,
    NEW,
    OWN,
    SOME_TIME,
    THIS_ONCE,
    TO_NUMBER,
)
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.change_topics import HOME, MATTERS, is_about_home
from memory_core.domain.statements.changed_parts import changed_part, parts_of
from memory_core.domain.statements.corrected import correction, may_answer, with_correction
from memory_core.domain.statements.rescheduled import Appointment, rescheduling
from memory_core.domain.statements.said_things import SELF, adds, is_same
from memory_core.domain.statements.same_thing import (
    names_another,
    same_subject,
    same_thing,
    shared_names,
    shared_terms,
    tells_of_another,
)
from memory_core.domain.statements.values_said import AskedKind, Values, values_in
from memory_core.domain.text.analyzer import has_japanese, words

_OWN_FIRST = re.compile(r"(?:my|our|mein\w{0,2}|unser\w{0,2})\b", re.IGNORECASE)
_NAMED_FIRST = re.compile(r"(?!(?:My|Our|Her|His|The|Their|Your)\b)[A-ZÀ-Þ][a-zà-ÿ]{1,20} ")
"""The name of a newborn, whom a change names itself: "Ada was born on Monday"."""
_OPENS = re.compile(r"\W{0,9}also\b", re.IGNORECASE)
"""A word that adds a sentence to the talk: "Also I moved the tests over to pytest"."""
_DIGIT = re.compile(r"\d")
_OF_A_THING = "-"
AT_ONCE = timedelta(minutes=10)
"""The time after a message in which its speaker puts a slip right by a word or two."""
Moments = tuple[datetime, datetime]
"""When an earlier and a later message were said, in the speaker's time zone."""
_CHILD = "wife girlfriend partner daughter son baby tochter sohn 妻 娘 息子"
_OF_PARENTS = frozenset(_CHILD.split())
"""Subjects of sentences about a new child of the speaker: the partner or the child."""


@dataclass(frozen=True, slots=True)
class LaterChange:
    """The effect of a later message on an earlier message.

    Attributes:
        ground: The kind of change.
        statement: The sentence of the later message that says so.
        replaced: The sentence of the earlier message that is no longer true, or the part of it.
        is_part: Whether the sentence tells of other things, too, which the change leaves alone.

    """

    ground: Ground
    statement: str
    replaced: str
    is_part: bool = False


def change(earlier: str, later: str, moments: Moments | None = None) -> LaterChange | None:
    """The change that the later of two messages of a person makes to the earlier.

    Args:
        earlier: The text of the earlier message.
        later: The text of the later message.
        moments: When both were said; without it no appointment is moved or called off.

    Returns:
        None where both can be true, or where the words don't decide it.

    """
    return change_between(read(earlier), read(later), moments)


def change_between(
    earlier: SpeakerMessage, later: SpeakerMessage, moments: Moments | None, asked: str = ""
) -> LaterChange | None:
    """The change between two messages that are read already, as `change`.

    Args:
        earlier: The earlier message.
        later: The later message, of the same person.
        moments: As for `change`.
        asked: What an assistant asked right before the later message, which may answer it.

    Returns:
        None where both can be true, or where the words don't decide it.

    """
    if not later.tells_change or earlier.text == later.text:
        return None
    slip = None if moments is None else _slip_put_right(earlier, later, moments, asked)
    if slip is not None:
        return slip
    named = None if later.keys.isdisjoint(earlier.keys) else _by_name(earlier, later, moments)
    return named or _by_kind(earlier, later) or _by_matter(earlier, later)


def _by_name(
    earlier: SpeakerMessage, later: SpeakerMessage, moments: Moments | None
) -> LaterChange | None:
    """A change by a message that names the changed thing.

    Of several sentences that it may be about, it is about the one that it names with most words.
    """
    closest: LaterChange | None = None
    most = -1
    for now, before in product(later.changing, earlier.sentences):
        if before.keys.isdisjoint(now.keys) or now.text == before.text:
            continue
        ground = change_ground(before, now, earlier, later) or (
            None if moments is None else _rescheduled(before, now, *moments)
        )
        if ground is not None and (shared := len(shared_names(before.naming, now.naming))) > most:
            closest, most = _changed(before, now, ground), shared
        for part in parts_of(before) if ground is None else ():
            ground = change_ground(part.sentence, now, earlier, later)
            shared = len(shared_names(part.sentence.naming, now.naming))
            if ground is not None and shared > most:
                closest, most = LaterChange(ground, now.text, part.text, is_part=True), shared
    return closest


def _changed(before: SaidSentence, now: SaidSentence, ground: Ground) -> LaterChange:
    """A change of a sentence, or of the part that the later one names."""
    part = changed_part(before, now)
    return LaterChange(ground, now.text, part or before.text, is_part=part is not None)


def _slip_put_right(
    earlier: SpeakerMessage, later: SpeakerMessage, moments: Moments, asked: str
) -> LaterChange | None:
    """The change by a message that opens with a correction of the last sentence."""
    told_at, said_at = moments
    if not (earlier.sentences and later.sentences and said_at - AT_ONCE <= told_at <= said_at):
        return None
    before, now = earlier.sentences[-1].text, later.sentences[0]
    if asked and may_answer(now.text, asked, before):
        return None
    if not now.corrects or with_correction(before, now.text) is None:
        return None
    return LaterChange("value", now.text, before)


@dataclass(frozen=True, slots=True)
class Line:
    """A line "name: value".

    Attributes:
        name: As written.
        value: As written.
        named: The words of the name.
        values: The times and numbers of the value.

    """

    name: str
    value: str
    named: frozenset[str]
    values: Values

    @classmethod
    def of(cls, name: str, value: str) -> Line:
        """Read the words of a line's name, and the times and numbers of its value.

        Args:
            name: As written.
            value: As written.

        """
        return cls(name, value, frozenset(words(name)), values_in(value))


def change_of_line(line: Line, later: SpeakerMessage) -> LaterChange | None:
    """The change that a message makes to a line "name: value".

    The message has to tell another time or number, and has to have all words of the line's name.
    These include words that many things share ("team meeting"), because the words of a name are not
    there by chance.

    Args:
        line: The line.
        later: A message of the person that the line is about.

    Returns:
        None where the message does not change the value.

    """
    if not line.named or not line.values:
        return None
    for now in later.changing:
        if (
            now.asks
            or now.supposed
            or THIS_ONCE.search(now.text)
            or not OWN.search(now.text)
            or now.named.subject().person not in ("", SELF)
        ):
            continue
        if line.named <= now.words and line.values.differ(now.new_values, loosely=False):
            return LaterChange("value", now.text, f"{line.name}: {line.value}")
    return None


def _rescheduled(
    before: SaidSentence, now: SaidSentence, told_at: datetime, said_at: datetime
) -> Ground | None:
    """The ground on which a later sentence changes an appointment; None for none."""
    if not before.values.whens and SOME_TIME.search(before.text) is None:
        return None
    ahead = time_ahead(before.text, told_at) if before.holds else None
    if ahead is None:
        return None
    appointment = Appointment(before, ahead.start, ahead.end)
    change = rescheduling(appointment, now, said_at, follows=False)
    return None if change is None else "ends" if change.effect == "called off" else "value"


def _by_kind(earlier: SpeakerMessage, later: SpeakerMessage) -> LaterChange | None:
    """A change by a message that need not name the changed thing.

    It is about another thing of the same kind, or corrects a date or a name.
    """
    for now, before in product(
        (sentence for sentence in later.changing if _may_replace_unnamed(sentence)),
        earlier.sentences,
    ):
        if is_another_of(before, now):
            return _changed(before, now, "matter")
        if _another_of_kind(before, now):
            return _changed(before, now, "switch")
        if _renamed(before, now):
            return _changed(before, now, "matter")
        if _put_right(before, now):
            return _changed(before, now, "value")
    return None


def _may_replace_unnamed(now: SaidSentence) -> bool:
    """Whether a sentence may change a thing that it does not name.

    It states another thing of a kind, a correction, or an end.
    """
    only_opens = now.switched is not None and _OPENS.match(now.text) is not None
    states = (not now.asks or now.corrects) and (only_opens or not now.named.adds)
    return states and (
        now.changed_thing is not None or now.switched is not None or now.moves or any(now.ended)
    )


def _another_of_kind(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker switched to another thing of the kind that was used before."""
    if now.switched is None or now.supposed or not before.holds or names_another(before, now):
        return False
    another = any(
        not now.kinds[kind] & before.kinds[kind] for kind in now.kinds.keys() & before.kinds.keys()
    )
    return another and same_subject(before, now)


def _renamed(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a correction says that a name of the earlier sentence was told wrongly.

    It gives another name, and is not about another person: "I meant Bosch, not Siemens".
    """
    wrong = now.wrongly_named
    return (
        bool(wrong)
        and (same_subject(before, now) or (not now.named_subject and _is_named(before, wrong)))
        and before.holds
        and wrong <= before.terms
        and not now.supposed
        and not (now.terms - wrong) <= before.terms
    )


def _is_named(before: SaidSentence, names: frozenset[str]) -> bool:
    """Whether a sentence gives one of these names: "my boss is Jon"."""
    return any(
        clause_of(match["name"], before.language, asks=False).terms & names
        for match in _GIVES_NAME.finditer(before.text)
    )


_GIVES_NAME = re.compile(
    r"(?:\b(?:is|called|named|ist|heißt)|'s) (?:called |named )?(?P<name>[^\W\d_][\w-]{1,30})"
)


def _put_right(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a correction that names only a time changes the time of the earlier sentence.

    It gives another day of the same month, or another time beside the time told before.
    """
    theirs, ours = before.values.whens, now.values.whens
    corrected = now.corrected_values.whens
    if any(
        corrected[kind] & theirs[kind]
        and now.new_values.whens.get(kind, frozenset()) - theirs[kind]
        for kind in corrected.keys() & theirs.keys()
    ):
        return True
    if (now.moves or any(now.ended)) and not now.supposed and not now.asks:
        clocks = ours.get("time", frozenset()), theirs.get("time", frozenset())
        precise = {clock for clock in clocks[0] & clocks[1] if ":" in clock}
        if precise and clocks[0] - clocks[1]:
            return True
    if not now.corrects or not {"date", "month"} <= theirs.keys() & ours.keys():
        return False
    is_another = theirs["month"] & ours["month"] and theirs["date"].isdisjoint(ours["date"])
    corrects = correction(before, now) if is_another else None
    return corrects is not None and corrects.of == "time"


def update_closeness(earlier: SpeakerMessage, later: SpeakerMessage, asked: AskedKind) -> int:
    """How closely a later message updates the values of an earlier message.

    An update has another number or time of the kind that a question asks for, in the same matter;
    or a short message says that something changed. It is weaker than a change: both messages can be
    true, and the later is the better answer.

    Args:
        earlier: The earlier message.
        later: The later message, of the same person.
        asked: The kind of values that the question asks for.

    Returns:
        The number of the question's terms that both sentences say beside their values, plus the
        number of all its terms where both count the same thing; 0 where there is no update.

    """
    asked_for = [
        (before, values) for before in earlier.valued if (values := before.values.of_kind(asked))
    ]
    most = max((len(before.terms & asked.terms) for before, _ in asked_for), default=0)
    closeness = max(
        (
            _closeness(before, theirs, now, values, asked)
            for now in (later.valued if asked_for else ())
            if (values := now.new_values.of_kind(asked))
            for before, theirs in asked_for
            if len(before.terms & asked.terms) == most
        ),
        default=0,
    )
    return closeness or _closeness_of_change(earlier, later, asked)


LEAST_ANSWERED = 0.4
"""Of what a value's sentence has of a question, more than this part is in that of its update."""
LEAST_OF_CHANGE = 3
"""The least terms of a question that tell what it is about, whatever else both sentences name.

"The new April 25 deadline" of a draft for peers updates the April 20 deadline, though the peers of
the earlier sentence review the draft and those of the later one give feedback.
"""


def _closeness(
    before: SaidSentence, theirs: Values, now: SaidSentence, values: Values, asked: AskedKind
) -> int:
    loosely = now.moves or TO_NUMBER.search(now.text) is not None
    if not theirs.differ(values, loosely=loosely):
        return 0
    shared = shared_terms(before.terms, now.terms)
    if len(shared) < LEAST_SHARED or shared.isdisjoint(asked.terms):
        return 0
    counts_same = bool(theirs.numbers.keys() & values.numbers.keys() - {""})
    # a counted thing is a word of both, which terms may lack
    answered = len(shared & asked.terms) + counts_same
    if answered <= LEAST_ANSWERED * (len(before.terms & asked.terms) + counts_same):
        return 0
    same = same_thing(before, now, shared)
    is_of_asked = not same.isdisjoint(asked.terms)
    tells_it = is_of_asked and answered >= LEAST_OF_CHANGE and says_changed(now)
    if not tells_it and names_another(before, now):
        return 0
    if not (is_of_asked or same_subject(before, now)):
        return 0
    return len(shared & asked.terms) + (len(asked.terms) if counts_same else 0)


SHORT = 160
"""The most characters of a message that updates whatever it says has changed. A longer one has
words of most questions."""


def _closeness_of_change(earlier: SpeakerMessage, later: SpeakerMessage, asked: AskedKind) -> int:
    """How closely a short message that says that something changed updates an earlier one.

    Returns:
        The number of the question's terms where it has one and changes the earlier message. Else
        the number of terms in its changed value's sentence that are the question's and the earlier
        one's; 0 where they are less than a third of those in the sentence of the earlier value.

    """
    if len(later.text) > SHORT or all(
        asked.terms.isdisjoint(sentence.terms) for sentence in later.sentences
    ):
        return 0
    if change_between(earlier, later, None) is not None:
        return len(asked.terms)
    return max(
        (
            len(shared)
            for now in later.changing
            if now.values and says_changed(now)
            for before in earlier.valued
            if not before.asks
            and _are_of_one_kind(before.values, now.new_values)
            and not names_another(before, now)
            and (shared := shared_terms(before.terms, now.terms) & asked.terms)
            and 3 * len(shared) >= len(before.terms & asked.terms)
        ),
        default=0,
    )


def _are_of_one_kind(theirs: Values, ours: Values) -> bool:
    """Whether values can replace each other: numbers numbers, and times times of their kind."""
    return bool(theirs.numbers and ours.numbers) or not theirs.whens.keys().isdisjoint(ours.whens)


def _by_matter(earlier: SpeakerMessage, later: SpeakerMessage) -> LaterChange | None:
    """A change in a matter with a single state at a time, in any words."""
    # of nearly all messages; what the earlier one tells of is looked for in no other case
    if not later.changed:
        return None
    for matter in (MATTERS[place] for place in sorted(later.changed & earlier.matters)):
        before = next(
            (sentence for sentence in earlier.sentences if matter.holds.search(sentence.text)), None
        )
        stated = [
            sentence
            for sentence in later.of_today
            if not sentence.asks and matter.changes.search(sentence.text)
        ]
        # "I got the job! I start at Globex in May" changes nothing before May
        now = next(
            (sentence for sentence in stated if ANNOUNCES.search(sentence.text)),
            stated[0] if stated else None,
        )
        if (
            before is None
            or now is None
            or now.supposed
            or tells_of_another(before, now)
            or _is_announced_or_mentioned(before, now, matter.changes)
            or not _states(now, matter.changes)
            or (matter is MATTERS[HOME] and not is_about_home(now.text, before.text))
            or not is_same(
                _doer(before, matter.holds, of_kin=matter.of_kin, is_change=False) or SELF,
                _doer(now, matter.changes, of_kin=matter.of_kin, is_change=True) or _OF_A_THING,
            )
            or _says_same(before, now, matter.changes)
        ):
            continue
        return _changed(before, now, "matter")
    return None


def _doer(
    sentence: SaidSentence, expression: re.Pattern[str], *, of_kin: bool, is_change: bool
) -> str:
    """The person that an expression in a sentence is about.

    It is the speaker where the expression names no subject, and empty where the subject is a thing.
    """
    match = expression.search(sentence.text)
    assert match is not None
    if _OWN_FIRST.match(match.group()):
        return SELF
    if not sentence.named.subjects:
        before = [thing for thing in sentence.named.things if thing.start < match.start()]
        # "repacked the suitcase, down to 22 kg"
        is_of_thing = values_in(match.group()) and any(not thing.acts for thing in before)
        return "" if is_of_thing else SELF
    subject = sentence.named.subject(match.end() - 1)
    if (
        subject.is_thing
        and is_change
        and subject.start < match.start()
        and _DIGIT.search(match.group())
    ):
        return ""  # "my dog is down to 28 kg"
    if subject.is_thing and is_change and subject.person != SELF:
        return SELF if match.start() <= subject.start else ""
    is_newborn = is_change and _NAMED_FIRST.match(match.group()) is not None
    return SELF if of_kin and (is_newborn or subject.person in _OF_PARENTS) else subject.person


def _is_announced_or_mentioned(
    before: SaidSentence, now: SaidSentence, changes: re.Pattern[str]
) -> bool:
    """Whether a new person was announced in the earlier sentence, or is only mentioned now.

    A mention is in a question or in an errand.
    """
    match = changes.search(now.text)
    if match is None:
        return False
    return now.only_mentions(match) or (
        NEW.match(match.group()) is not None and ANNOUNCED.search(before.text) is not None
    )


def _states(sentence: SaidSentence, changes: re.Pattern[str]) -> bool:
    """Whether a change is stated: not denied, and not added to the earlier state."""
    match = changes.search(sentence.text)
    assert match is not None
    texts = [clause.text for clause in sentence.clauses if match.group() in clause.text]
    if any(map(adds, texts or [sentence.text])):
        return False
    before = sentence.text[: match.start()]
    return not (DENIED.search(before) or " not " in f" {match.group().casefold()} ")


def _says_same(before: SaidSentence, now: SaidSentence, changes: re.Pattern[str]) -> bool:
    """Whether the value that the later sentence names is in the earlier sentence already."""
    match = changes.search(now.text)
    assert match is not None
    near = (
        words(now.text[: match.start()])[-8:]
        if has_japanese(now.text)
        else words(now.text[match.end() :])[:3]
    )
    if AGAIN.search(match.group()):  # "bus again" names what came back itself
        near = words(match.group())
    named = telling(near, now.language)
    return bool(named) and named <= before.terms
