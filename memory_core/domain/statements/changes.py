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
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from memory_core.domain.statements.change_clauses import ChangeClause, clause_of, telling
from memory_core.domain.statements.change_messages import SpeakerMessage, read
from memory_core.domain.statements.change_phrases import (
    AGAIN,
    ANNOUNCED,
    CALLED_OFF,
    DENIED,
    DIED,
    FAVOURITE,
    FROM_NOW,
    HAS_NOT,
    INSTEAD,
    LIKES_BEST,
    MOVED,
    NAMED_AS,
    NEW,
    NOT_SO,
    NOW_INDEED,
    OWN,
    OWNED,
    SOME_TIME,
    STAGES,
    THIS_ONCE,
    TO_NUMBER,
    USES_NOW,
    USING,
)
from memory_core.domain.statements.change_sentences import MOST_OF_SHORT, SaidSentence
from memory_core.domain.statements.change_topics import MATTERS
from memory_core.domain.statements.said_things import SELF, UNKNOWN, adds, is_same
from memory_core.domain.statements.same_thing import (
    LEAST_COVERED,
    LEAST_COVERED_BY_SUBJECT,
    are_of_one_thing,
    same_subject,
    same_thing,
    shared_terms,
)
from memory_core.domain.statements.things_in_common import in_common
from memory_core.domain.statements.values_said import AskedKind, Values, values_in
from memory_core.domain.text.analyzer import has_japanese, words

Ground = Literal["ends", "value", "switch", "matter"]
LEAST_SHARED = 2
"""Telling words that two sentences share if their numbers are about the same thing."""
LEAST_FRAME = 3
"""Words at the beginning of two clauses that are equal if both clauses are about the same thing."""
_OWN_FIRST = re.compile(r"(?:my|our|mein\w{0,2}|unser\w{0,2})\b", re.IGNORECASE)
_OPENS = re.compile(r"\W{0,9}also\b", re.IGNORECASE)
"""A word that adds a sentence to the talk: "Also I moved the tests over to pytest"."""
_OF_A_THING = "-"
_CHILD = "wife girlfriend partner daughter son baby tochter sohn 妻 娘 息子"
_OF_PARENTS = frozenset(_CHILD.split())
"""Subjects of sentences about a new child of the speaker: the partner or the child."""
_FROM_SELF = re.compile(r"\b(?:from me|in my place|von mir)\b", re.IGNORECASE)
_OF_SELF = SaidSentence("I", ends_asking=False)
_STAGE_WORDS = frozenset(" ".join(STAGES).split())


@dataclass(frozen=True, slots=True)
class LaterChange:
    """The effect of a later message on an earlier message.

    Attributes:
        ground: The kind of change.
        statement: The sentence of the later message that says so.
        replaced: The sentence of the earlier message that is no longer true.

    """

    ground: Ground
    statement: str
    replaced: str


def change(earlier: str, later: str) -> LaterChange | None:
    """The change that the later of two messages of a person makes to the earlier.

    Args:
        earlier: The text of the earlier message.
        later: The text of the later message.

    Returns:
        None where both can be true, or where the words don't decide it.

    """
    return change_between(read(earlier), read(later))


def change_between(earlier: SpeakerMessage, later: SpeakerMessage) -> LaterChange | None:
    """The change between two messages that are read already, as `change`.

    Args:
        earlier: The earlier message.
        later: The later message, of the same person.

    Returns:
        None where both can be true, or where the words don't decide it.

    """
    if not later.tells_change or earlier.text == later.text:
        return None
    if not later.keys.isdisjoint(earlier.keys):
        for now, before in product(later.changing, earlier.sentences):
            if before.keys.isdisjoint(now.keys) or now.text == before.text:
                continue
            if (ground := _ground(before, now, earlier, later)) is not None:
                return LaterChange(ground, now.text, before.text)
    return _by_kind(earlier, later) or _by_matter(earlier, later)


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


def _by_kind(earlier: SpeakerMessage, later: SpeakerMessage) -> LaterChange | None:
    """A change by a message that need not name the changed thing.

    It is about another thing of the same kind, or corrects a date or a name.
    """
    for now, before in product(
        (sentence for sentence in later.changing if _may_replace_unnamed(sentence)),
        earlier.sentences,
    ):
        if _another_of(before, now):
            return LaterChange("matter", now.text, before.text)
        if _another_of_kind(before, now):
            return LaterChange("switch", now.text, before.text)
        if _renamed(before, now):
            return LaterChange("matter", now.text, before.text)
        if _put_right(before, now):
            return LaterChange("value", now.text, before.text)
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
    if now.switched is None or now.supposed or not before.holds:
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
    if not now.corrects or now.besides_correcting:
        return False
    same_month = bool(theirs.get("month", frozenset()) & ours.get("month", frozenset()))
    return (
        same_month
        and theirs.get("date", frozenset()).isdisjoint(ours.get("date", frozenset()))
        and "date" in ours
        and "date" in theirs
    )


def update_closeness(earlier: SpeakerMessage, later: SpeakerMessage, asked: AskedKind) -> int:
    """How closely a later message updates the values of an earlier message.

    An update has another number or time of the kind that a question asks for, in the same matter.
    It is weaker than a change: the later message need not say that there is a change. Both messages
    can be true, and the later is the better answer.

    Args:
        earlier: The earlier message.
        later: The later message, of the same person.
        asked: The kind of values that the question asks for.

    Returns:
        The number of the question's terms that both sentences say beside their values, plus the
        number of all its terms where both count the same thing; 0 where there is no update.

    """
    asked_for = [(before, before.values.of_kind(asked)) for before in asked_values(earlier, asked)]
    return max(
        (
            _closeness(before, theirs, now, values, asked)
            for now in (later.valued if asked_for else ())
            if (values := now.new_values.of_kind(asked))
            for before, theirs in asked_for
        ),
        default=0,
    )


def _closeness(
    before: SaidSentence, theirs: Values, now: SaidSentence, values: Values, asked: AskedKind
) -> int:
    loosely = now.moves or TO_NUMBER.search(now.text) is not None
    if not theirs.differ(values, loosely=loosely):
        return 0
    shared = shared_terms(before.terms, now.terms)
    if len(shared) < LEAST_SHARED or shared.isdisjoint(asked.terms):
        return 0
    same = same_thing(before, now, shared)
    if not (same_subject(before, now) or not same.isdisjoint(asked.terms)):
        return 0
    counts_same = theirs.numbers.keys() & values.numbers.keys() - {""}
    return len(shared & asked.terms) + (len(asked.terms) if counts_same else 0)


def asked_values(message: SpeakerMessage, asked: AskedKind) -> list[SaidSentence]:
    """The sentences of a message with a number or time that a question asks for.

    Args:
        message: The message.
        asked: The kind of values that the question asks for.

    """
    return [sentence for sentence in message.valued if sentence.values.of_kind(asked)]


def _ground(
    before: SaidSentence, now: SaidSentence, earlier: SpeakerMessage, later: SpeakerMessage
) -> Ground | None:
    if now.asks and not now.corrects:
        return None
    of_one_thing = are_of_one_thing(before, now) and not _is_called_off_once(now)
    if (of_one_thing and _over(before, now)) or _died(before, now):
        return "ends"
    if now.named.adds:
        return None
    if of_one_thing and _valued(before, now, earlier):
        return "value"
    if (
        (of_one_thing and (_so_again(before, now) or _from_now(before, now)))
        or _otherwise_now(before, now)
        or _held_by_another(before, now)
        or _taken_over(before, now)
        or (of_one_thing and (_has_by_now(before, now) or _likes_best_now(before, now)))
        or _new_in_its_place(before, now)
        or _prefers_other(before, now)
        or _grown(before, now)
    ):
        return "matter"
    if of_one_thing and _transferred(before, now):
        return "switch"
    return "switch" if _switched(before, now, later) else None


def _died(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the person whose state the earlier sentence tells has died."""
    person = now.named.subject().person
    return (
        person not in ("", SELF, UNKNOWN)
        and before.holds
        and not now.supposed
        and before.named.subject().person == person
        and DIED.search(now.text) is not None
        and DIED.search(before.text) is None
    )


def _held_by_another(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether another is named as the new holder of a role.

    For example "our new goalkeeper is Tim".
    """
    if now.new_holder is None or not before.holds or ANNOUNCED.search(before.text):
        return False
    named = {
        next(filter(None, match.groups())).casefold() for match in NAMED_AS.finditer(before.text)
    }
    return now.new_holder in named and same_subject(before, now)


def _has_by_now(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a person got what the earlier sentence says they don't have."""
    if not now.gets or not before.holds or HAS_NOT.search(before.text) is None:
        return False
    return same_subject(before, now) and bool(
        same_thing(before, now, shared_terms(before.terms, now.terms))
    )


def _likes_best_now(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether another thing than the favourite of the earlier sentence is liked best now."""
    return (
        NOW_INDEED.search(now.text) is not None
        and LIKES_BEST.search(now.text) is not None
        and FAVOURITE.search(before.text) is not None
        and before.holds
        and not now.supposed
        and same_subject(before, now)
        and bool(now.terms - before.terms)
    )


def _taken_over(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether another person took over what the earlier sentence tells."""
    if not now.takes_over or not before.holds or now.named.subject().person == UNKNOWN:
        return False
    shared = shared_terms(before.terms, now.terms)
    if has_japanese(now.text):
        return bool(same_thing(before, now, shared)) and bool(now.terms - before.terms)
    from_self = _FROM_SELF.search(now.text) is not None and same_subject(before, _OF_SELF)
    return bool(now.terms - before.terms) and (
        len(shared) >= LEAST_SHARED or (bool(shared) and from_self)
    )


def _transferred(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a thing of the earlier sentence was switched to something else."""
    if now.switched is None or now.supposed or not before.holds:
        return False
    most = MOST_OF_SHORT * (2 if has_japanese(now.text) else 1)
    if max(len(before.terms), len(now.terms)) > most:
        return False
    doers = {subject.person for subject in now.named.subjects if not subject.is_thing}
    if not has_japanese(now.text) and SELF not in doers:
        return False
    shared = same_thing(before, now, shared_terms(before.terms, now.terms))
    to = now.switched or now.terms
    return bool(shared) and bool(to - before.terms) and bool(before.terms - shared)


def _is_called_off_once(now: SaidSentence) -> bool:
    """Whether a sentence says that an event does not take place this once.

    For example "no volleyball this Thursday, the gym is closed".
    """
    return CALLED_OFF.search(now.text) is not None and THIS_ONCE.search(now.text) is not None


def _over(before: SaidSentence, now: SaidSentence) -> frozenset[str]:
    """The terms of a sentence that another sentence says are over."""
    ends = [ended for ended in now.ended if ended]
    if _FLIES_THINGS.search(before.text) and _FLIES_THINGS.search(now.text) is None:
        return frozenset()
    if not ends or not before.holds or (_is_moved(now) and not _tells_when(before)):
        return frozenset()
    terms: set[str] = set()
    for ended in ends:
        shared = same_thing(before, now, shared_terms(ended, before.terms))
        if ended.isdisjoint(before.terms) and _leads_elsewhere(before, now):
            continue
        if not any(over & shared for over in before.ended):
            terms |= shared
    return frozenset(terms)


_FLIES_THINGS = re.compile(
    r"\b(?:fly|flies|flying|fliegen?|fliegt) (?:(?:an?|my|our|small|einen?|meinen?) )?"
    r"(?:drones?|kites?|(?:model )?(?:air)?planes?|gliders?|helicopters?|drohnen?|drachen"
    r"|segelflugzeuge?|hubschrauber)\b",
    re.IGNORECASE,
)
"""Flying as a pastime or trade, which no cancelled flight ends."""


def _leads_elsewhere(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a later thing leads to a place that the earlier sentence does not name.

    For example "the flight to Porto" after "I'm flying to Lisbon".
    """
    to = {word for thing in now.named.things for kind, word in thing.which if kind == "to"}
    return bool(to) and to.isdisjoint(before.terms)


def _is_moved(now: SaidSentence) -> bool:
    """Whether a sentence says that an event takes place at another time."""
    return MOVED.search(now.text) is not None


def _tells_when(before: SaidSentence) -> bool:
    """Whether a sentence tells a time, which is over when its event is moved.

    "I play the violin" tells no time.
    """
    return bool(before.values.whens) or any(
        cue.search(before.text) is not None for cue in (SOME_TIME, THIS_ONCE)
    )


def _valued(before: SaidSentence, now: SaidSentence, earlier: SpeakerMessage) -> bool:
    """Whether the later sentence gives another time or number for the same thing."""
    if not (before.values and now.values) or now.supposed:
        return False
    if not (now.moves or (before.holds and now.new)):
        return False
    if now.moves and not _names_what_was(before, now):
        return False
    new, ours = now.change_told.new_values, now.change_told.terms
    loosely = (now.moves or NOW_INDEED.search(now.text) is not None) and (
        TO_NUMBER.search(now.text) is not None
    )
    around = earlier.before(before) if "money" in before.values.numbers else frozenset()
    return any(
        part.values.differ(new, loosely=loosely)
        and bool(same_thing(before, now, shared_terms(part.terms | around, ours)))
        for part in before.valued_parts
    )


def _names_what_was(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the old value that a sentence names is the value of the earlier sentence.

    "from 65 % to 82 %" names an old value. Also true for a sentence that names no old value.
    """
    old = now.old_values
    return not old or not before.values.differ(old, loosely=True)


def _switched(before: SaidSentence, now: SaidSentence, later: SpeakerMessage) -> bool:
    """Whether the speaker says that they switched away from a thing used before."""
    if now.switched is None or now.supposed or not (before.holds and USING.search(before.text)):
        return False
    shared = shared_terms(before.terms, later.around(now))
    to_another = not now.switched <= before.terms or (
        not now.switched and not USES_NOW.search(now.text)
    )
    return (
        to_another
        and len(shared) >= LEAST_COVERED * len(before.terms)
        and same_subject(before, now)
    )


def _another_of(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker has replaced a thing of the earlier sentence: "I switched dentists".

    Also true if the speaker says that the thing was named wrongly.
    """
    thing = now.changed_thing
    if thing is None or not before.holds or not thing.pre <= before.terms:
        return False
    return bool(
        in_common(before.named, [thing], shared_terms(thing.words, before.terms), shared_terms)
    )


def _from_now(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker says how a matter is from now on.

    Both sentences have to share at least two words that name the same thing; one word is enough
    where the later sentence says that it is so instead.
    """
    if not before.holds or now.supposed:
        return False
    if INSTEAD.search(now.text) is not None:
        return bool(same_thing(before, now, shared_terms(before.terms, now.terms)))
    if FROM_NOW.search(now.text) is None:
        return False
    shared = same_thing(before, now, before.terms & now.terms)
    return len(shared) >= LEAST_SHARED and shared < now.terms


def _so_again(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker does again an action that the earlier sentence denies."""
    if now.supposed or not now.again or not NOT_SO.search(before.text) or NOT_SO.search(now.text):
        return False
    if not before.holds or not same_subject(before, now):
        return False
    denied = [clause.terms for clause in before.clauses if NOT_SO.search(clause.text)]
    again = [clause.terms for clause in now.clauses if AGAIN.search(clause.text)]
    return any(
        terms and len(shared_terms(terms, again_terms)) > LEAST_COVERED_BY_SUBJECT * len(terms)
        for terms, again_terms in product(denied, again)
    )


def _otherwise_now(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a clause repeats the beginning of an earlier clause with another end now."""
    clauses = product(before.clauses, now.present_clauses)
    same_frame = _same_frame_in_japanese if has_japanese(now.text) else _same_frame
    return any(same_frame(*pair) for pair in clauses) and same_subject(before, now)


def _same_frame_in_japanese(before: ChangeClause, now: ChangeClause) -> bool:
    """Whether two clauses begin and end with the same signs around different nouns.

    For example "(今は)電車で通勤しています" and "バスで通勤しています".
    """
    ours, theirs = (clause.text.strip(" 。!！") for clause in (before, now))
    start = _alike(ours, theirs)
    ours, theirs, begun = ours[start:], theirs[start:], ours[:start]
    end = _alike(ours[::-1], theirs[::-1])
    same = ours[len(ours) - end :]
    nouns = ours[: len(ours) - end], theirs[: len(theirs) - end]
    if not all(_NOUN_IN_JAPANESE.fullmatch(noun) for noun in nouns):
        return False
    if same.startswith("です") or "さんです" in same:
        return begun.endswith(("は", "が"))
    return len(same) >= LEAST_FRAME + 1 and _WITH_PARTICLE.search(same) is not None


def _alike(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """How many words or signs two sequences begin with that are equal."""
    return next(
        (place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )


_NOUN_IN_JAPANESE = re.compile(r"[^\s、。はがをにで]{1,12}")
_WITH_PARTICLE = re.compile(r"[でにをが][^、。]{0,20}(?:ます|です|る|だ)\Z")


def _same_frame(before: ChangeClause, now: ChangeClause) -> bool:
    """Whether two clauses begin with the same words and end differently.

    Some of the same words have to be telling: "I take my coffee black".
    """
    ours, theirs = before.words, now.words
    same = _alike(ours, theirs)
    if same < LEAST_FRAME or same in (len(ours), len(theirs)):
        return False
    rest = theirs[same:]
    says = bool(telling(rest, "english")) or any(word[0].isdigit() for word in rest)
    return says and bool(telling(ours[:same], "english")) and not {*ours[same:]} & {*rest}


def _new_in_its_place(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker has a new thing that takes the place of the old."""
    thing = now.has_new
    if thing is None or not before.holds or ANNOUNCED.search(before.text):
        return False
    return any(
        shared_terms([match["what"].casefold()], [thing]) for match in OWNED.finditer(before.text)
    )


def _prefers_other(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker now prefers the thing that they liked less before."""
    return now.prefers is not None and now.prefers == before.likes_less


def _grown(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a person of both sentences is now at a later stage of life.

    Classes of a school are stages, too.
    """
    if not (
        (before.terms & now.terms) - _STAGE_WORDS
        or (before.named.subject().person == now.named.subject().person not in ("", SELF))
    ):
        return False
    return (
        (NOW_INDEED.search(now.text) is not None or now.switched is not None)
        and len(before.stages) == len(now.stages) == 1
        and min(before.stages) < min(now.stages)
    )


def _by_matter(earlier: SpeakerMessage, later: SpeakerMessage) -> LaterChange | None:
    """A change in a matter with a single state at a time, in any words."""
    # of nearly all messages; what the earlier one tells of is looked for in no other case
    if not later.changed:
        return None
    for matter in (MATTERS[place] for place in sorted(later.changed & earlier.matters)):
        before = next(
            (sentence for sentence in earlier.sentences if matter.holds.search(sentence.text)), None
        )
        now = next(
            (
                sentence
                for sentence in later.sentences
                if not sentence.asks and matter.changes.search(sentence.text)
            ),
            None,
        )
        if (
            before is None
            or now is None
            or now.supposed
            or _is_announced_or_mentioned(before, now, matter.changes)
            or not _states(now, matter.changes)
            or not is_same(
                _doer(before, matter.holds, of_kin=matter.of_kin, is_change=False) or SELF,
                _doer(now, matter.changes, of_kin=matter.of_kin, is_change=True) or _OF_A_THING,
            )
            or _says_same(before, now, matter.changes)
        ):
            continue
        return LaterChange("matter", now.text, before.text)
    return None


def _doer(
    sentence: SaidSentence, expression: re.Pattern[str], *, of_kin: bool, is_change: bool
) -> str:
    """The person that an expression in a sentence is about.

    It is the speaker where the expression names no subject, and empty where the subject is a thing.
    """
    match = expression.search(sentence.text)
    assert match is not None
    if _OWN_FIRST.match(match.group()) or not sentence.named.subjects:
        return SELF
    subject = sentence.named.subject(match.end() - 1)
    if subject.is_thing and is_change and subject.person != SELF:
        return SELF if match.start() <= subject.start else ""
    return SELF if of_kin and subject.person in _OF_PARENTS else subject.person


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
    named = telling(near, now.language)
    return bool(named) and named <= before.terms
