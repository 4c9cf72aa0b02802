"""What rules say of an open conflict, without an agent: the two need not contradict, or which of them holds is certain.

Note: nothing here decides for a person. What a person pinned, restored by hand, or took back a decision about, waits for
a person.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memory_core.domain.agent_answers import Decision
from memory_core.domain.conflict import RULE, ConflictRecord
from memory_core.domain.endings import ends, is_ending
from memory_core.domain.models import Memory
from memory_core.domain.sameness import differences
from memory_core.domain.slots import same_value, slot_of
from memory_core.evolution.decision import told_last
from memory_core.evolution.disagreement import opinion

LOOK_AGAIN = timedelta(hours=24)
"""How long a question that a run left open waits for the next look, while neither side changes."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do about two memories, and why: let the one told last hold, keep both, or leave it open.

    disputed: what a model says against the rules; the question is then a person's, and no run's any more.
    """

    what: Literal["last", "both", "open"]
    reason: str
    by: str = RULE
    disputed: str | None = None


def is_due(record: ConflictRecord, touched: Collection[str], at: datetime, *, only_touched: bool) -> bool:
    """Whether a run at `at` is to look at a question: it never did, a side was `touched`, or its last look was a day ago.

    Questions that a person opened, by undoing a decision, are that person's; so are those about which a model and the rules disagree.
    """
    if not record.open or record.new_id is None or record.previous is not None or record.by != RULE:
        return False
    if not {*record.sides}.isdisjoint(touched):
        return True
    return not only_touched and (record.looked_at is None or at - record.looked_at >= LOOK_AGAIN)


def by_rule(old: Memory, new: Memory) -> Verdict | None:
    """The verdict on two active memories where it is certain; None where it takes a reader who understands them."""
    falls = min(old, new, key=told_last)
    if falls.pinned:
        return Verdict("open", "the earlier one is pinned")
    slot = slot_of(old)
    if slot is not None and slot == slot_of(new):
        return _in_one_slot(old, new)
    if not differences(old.content, new.content):
        return Verdict("both", "no difference is left that counts")
    return None


def by_ruling(ruling: Decision | None, by: str, *, sure: bool, one_scene: bool, denied: bool = False) -> Verdict:
    """The verdict that an agent's ruling comes to.

    Args:
        ruling: what it says about the two.
        by: its name.
        sure: code agrees to it.
        one_scene: both were told within one scene. There the later one holds although the agent is not sure that they contradict: a scene
            is one matter within a few days.
        denied: it is a model, and says that the two do not exclude each other, although the rules see a contradiction.

    """
    if ruling is not None and denied:
        return Verdict("open", "the rules and a model disagree", by, opinion(by, ruling))
    if ruling is None:
        return Verdict("open", "nobody could say what one does to the other", by)
    reason = ruling.reasoning.replace("\0", "").strip() or ruling.operation
    if ruling.operation == "DELETE" and (sure or one_scene):
        return Verdict("last", reason if sure else f"{reason}; told in one scene", by)
    if ruling.operation == "DELETE":
        return Verdict("open", f"unsure: {reason}", by)
    return Verdict("both", reason, by) if sure else Verdict("open", f"not borne out: {reason}", by)


def _in_one_slot(old: Memory, new: Memory) -> Verdict:
    if "restored" in (old.status_reason, new.status_reason):
        return Verdict("open", "somebody brought one of them back by hand")
    if is_ending(old) or is_ending(new):
        if ends(old, new) or ends(new, old):
            return Verdict("last", "one says that the other is over")
        return Verdict("both", "what is over is another value than the one that holds")
    if same_value(old, new):
        return Verdict("both", "the same value")
    if not (_begins_before_the_end(old, new) and _begins_before_the_end(new, old)):
        return Verdict("both", "they hold at different times")
    return Verdict("last", "same slot, other value; the one told last holds")


def _begins_before_the_end(first: Memory, second: Memory) -> bool:
    return second.valid_until is None or first.valid_from < second.valid_until
