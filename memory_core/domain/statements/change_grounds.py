"""Grounds on which a later sentence changes an earlier one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Literal

from memory_core.domain.statements.appointment_words import MISSED
from memory_core.domain.statements.change_clauses import ChangeClause, telling
from memory_core.domain.statements.change_messages import SpeakerMessage
from memory_core.domain.statements.change_phrases import (
    AGAIN,
    ANNOUNCED,
    DENIED,
    DIED,
    FAVOURITE,
    FROM_NOW,
    HAS_NOT,
    INSTEAD,
    LIKES_BEST,
    MOVED,
    NAMED_AS,
    NOT_SO,
    NOW_INDEED,
    OWNED,
    RECURS,
    SINGLE_DAY,
    SOME_TIME,
    STAGES,
    THIS_ONCE,
    TO_NUMBER,
    USES_NOW,
    USING,
)
from memory_core.domain.statements.change_sentences import MOST_OF_SHORT, SaidSentence
from memory_core.domain.statements.denied_states import is_denial, narrowing, narrowing_in_japanese
from memory_core.domain.statements.said_things import SELF, UNKNOWN
from memory_core.domain.statements.said_words import person_of
from memory_core.domain.statements.same_thing import (
    LEAST_COVERED,
    LEAST_COVERED_BY_SUBJECT,
    are_named_apart,
    are_of_one_thing,
    leads_elsewhere,
    names_another,
    same_subject,
    same_thing,
    shared_terms,
    tells_of_another,
)
from memory_core.domain.statements.things_in_common import in_common
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.spelling import ANY_GERMAN_MONTH

Ground = Literal["ends", "value", "switch", "matter"]
LEAST_SHARED = 2
"""Telling words that two sentences share if their numbers are about the same thing."""
LEAST_FRAME = 3
"""Words at the beginning of two clauses that are equal if both clauses are about the same thing."""
LEAST_REPEATED = 2
"""Characters before a number that a sentence repeats."""
_NUMBER = re.compile(r"\d{1,9}+")
_FROM_SELF = re.compile(r"\b(?:from me|in my place|von mir)\b", re.IGNORECASE)
_OF_SELF = SaidSentence("I", ends_asking=False)
_STAGE_WORDS = frozenset(" ".join(STAGES).split())


def change_ground(
    before: SaidSentence, now: SaidSentence, earlier: SpeakerMessage, later: SpeakerMessage
) -> Ground | None:
    """The ground on which a later sentence changes an earlier one; None for none.

    Args:
        before: The earlier sentence.
        now: The later sentence.
        earlier: The message of the earlier sentence.
        later: The message of the later sentence.

    """
    if (now.asks and not now.corrects) or are_named_apart(before, now):
        return None
    of_one_thing = are_of_one_thing(before, now) and not _is_missed_once(before, now)
    if (of_one_thing and _over(before, now)) or _died(before, now):
        return "ends"
    if now.named.adds or tells_of_another(before, now):
        return None
    if (of_one_thing and _valued(before, now, earlier)) or _same_but_number(before, now):
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
    state = before.switched or before.terms  # "from Redis to Postgres" tells of Postgres
    return bool(shared) and bool(to - state) and bool(before.terms - shared)


def _is_missed_once(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a sentence says that an event does not take place this once.

    For example "no volleyball this Thursday, the gym is closed". What takes place again and again
    goes on after a single day on which it did not: "yoga was cancelled on Tuesday".
    """
    if MISSED.search(now.text) is None:
        return False
    return THIS_ONCE.search(now.text) is not None or (
        RECURS.search(before.text) is not None and SINGLE_DAY.search(now.text) is not None
    )


def _over(before: SaidSentence, now: SaidSentence) -> frozenset[str]:
    """The terms of a sentence that another sentence says are over."""
    ends = [
        ended
        for ended, clause in zip(now.ended, now.clauses, strict=True)
        if ended and not _denies_other(before, now, clause)
    ]
    if _FLIES_THINGS.search(before.text) and _FLIES_THINGS.search(now.text) is None:
        return frozenset()
    if not ends or not before.holds or (_is_moved(now) and not _tells_when(before)):
        return frozenset()
    terms: set[str] = set()
    over_before = () if before.is_moved else before.ended
    for ended in ends:
        shared = same_thing(before, now, shared_terms(ended, before.terms))
        if ended.isdisjoint(before.terms) and leads_elsewhere(before, now.named.things):
            continue
        if not any(over & shared for over in over_before):
            terms |= shared
    return frozenset(terms)


def _denies_other(before: SaidSentence, now: SaidSentence, clause: ChangeClause) -> bool:
    """Whether a clause denies another person's state, or the earlier one only in part.

    For example "I no longer drive the Golf to work" after "I drive a Golf".
    """
    if has_japanese(clause.text):
        named = _OBJECTS_IN_JAPANESE.findall(clause.text)
        others = _NAMES_IN_JAPANESE.search(before.text) is not None
        if named and others and not any(name in before.text for name in named):
            return True
        return any(word not in before.text for word in narrowing_in_japanese(clause.text))
    if now.language == "german" and _ends_elsewhere_in_german(before, clause):
        return True
    if not is_denial(clause.text):
        return False
    person = now.named.subject()
    is_another = person.person not in ("", SELF, UNKNOWN) and not person.is_thing
    if is_another and not same_subject(before, now):
        return True
    parts = narrowing(clause.text)
    if not parts:
        return False
    known = before.words | before.terms
    return known.isdisjoint(parts) and not shared_terms(telling(parts, now.language), before.terms)


def _ends_elsewhere_in_german(before: SaidSentence, clause: ChangeClause) -> bool:
    """Whether a German clause tells of another place, or denies what another person does."""
    theirs, ours = (set(_AT_IN_GERMAN.findall(text)) for text in (before.text, clause.text))
    if theirs and ours and theirs.isdisjoint(ours):
        return True
    own = not {"ich", "wir"}.isdisjoint(clause.words) or not is_denial(clause.text)
    people = {person_of(word) for word in clause.words} - {""}
    return not own and bool(people) and people.isdisjoint(map(person_of, before.words))


_AT_IN_GERMAN = re.compile(
    rf"\b(?:bei(?: der| dem)?|beim|im|mit (?:der|dem))"
    rf" (?!(?i:{ANY_GERMAN_MONTH}|frühling|frühjahr|sommer|herbst|winter)\b)([A-ZÄÖÜ][\w-]{{1,40}})"
)
_OBJECTS_IN_JAPANESE = re.compile(r"[ァ-ヶー]{2,20}(?=[をは])")
_NAMES_IN_JAPANESE = re.compile(r"[ァ-ヶー]{2,20}(?=[をはにでの])")
"""Names in katakana, which tell what is over from another thing that is like it."""
_FLIES_THINGS = re.compile(
    r"\b(?:fly|flies|flying|fliegen?|fliegt) (?:(?:an?|my|our|small|einen?|meinen?) )?"
    r"(?:drones?|kites?|(?:model )?(?:air)?planes?|gliders?|helicopters?|drohnen?|drachen"
    r"|segelflugzeuge?|hubschrauber)\b",
    re.IGNORECASE,
)
"""Flying as a pastime or trade, which no cancelled flight ends."""


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
    if names_another(before, now) and not now.corrects:
        return False
    if _denies_number(now):
        return False
    new, ours = now.change_told.new_values, now.change_told.terms & now.naming_changed
    loosely = (now.moves or NOW_INDEED.search(now.text) is not None) and (
        TO_NUMBER.search(now.text) is not None
    )
    around = earlier.before(before) if "money" in before.values.numbers else frozenset()
    return any(
        part.values.differ(new, loosely=loosely)
        and bool(same_thing(before, now, shared_terms(part.terms | around, ours)))
        for part in before.valued_parts
    )


def _denies_number(now: SaidSentence) -> bool:
    """Whether a sentence denies its only number: "I don't have type 1 diabetes"."""
    numbers = [*_NUMBER.finditer(now.text)]
    return (
        len(numbers) == 1
        and not now.corrects
        and DENIED.search(now.text, 0, numbers[0].start()) is not None
    )


def _same_but_number(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a sentence after an admitted mistake repeats words with another number.

    For example 「蓮は8歳です」 after 「息子の蓮は7歳で」.
    """
    new = _NUMBER.search(now.text) if now.after_mistake and not now.asks else None
    if new is None or new.start() < LEAST_REPEATED:
        return False
    repeated, unit = now.text[: new.start()], now.text[new.end() : new.end() + 1]
    return any(
        old.group() != new.group()
        and before.text.endswith(repeated, 0, old.start())
        and before.text.startswith(unit, old.end())
        for old in _NUMBER.finditer(before.text)
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


def is_another_of(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the speaker has replaced a thing of the earlier sentence: "I switched dentists".

    Also true if the speaker says that the thing was named wrongly.

    Args:
        before: The earlier sentence.
        now: The later sentence.

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
    """Whether a clause repeats the beginning of an earlier clause with another end now.

    What is so again ends what the earlier sentence says is so now.
    """
    clauses = (
        *product(before.clauses, now.present_clauses),
        *product(before.present_clauses, now.resumed_clauses),
    )
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
