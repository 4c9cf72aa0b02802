"""The title and text of a scene, made only of its cells' own first words.

Note: a line is kept with each cell, so a cell that leaves takes its words along; the others need not be read again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from memory_core.domain.models import Memory
from memory_core.domain.note import BEHAVIOUR, parts_of
from memory_core.domain.scene import MAX_LINE, Scene, SceneMember
from memory_core.domain.sentences import sentences
from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text import words

MAX_SUMMARY = 1_200
"""Characters of a summary by rule."""
READ = 1_000
"""Characters of a cell that are looked at for its line."""
TITLE_WORDS = 3
_LINES_KEPT = 2_048
"""Lines whose words are remembered.

A scene that grows has its title made again in each chunk of a run, of the same lines and a few more.
"""
_ASIDE = re.compile(r"(?<!\s)\s*+\([^()\d]*+\d[^()]*+\)")
"""What differs each time: "writes short messages (11 words on average)" is one trait, however many words they were."""
_STYLE = re.compile(r"^User's style:\s*")
"""Begins a note's account of how a person writes; the next sentence names the person."""
_FILLER = """
    user assistant said says say asked asks told tells called calls call name names named like likes liked love loves today yesterday
    tomorrow day days week weeks month months year years time times morning afternoon evening night every always never again still now
    soon already even ever yet back away here much many more most few little lot new old good great nice fine well sure right first
    last next one two three thing things something nothing everything comes come came goes went gone going gets get got getting makes
    make made takes take took gives give gave given wants want wanted needs need let lets put keep really maybe please thanks thank
    hello yes course without live lives lived show shows showed look looks looked
"""
_SAYS_NOTHING = FUNCTION_WORDS | QUERY_WORDS | frozenset(_FILLER.split())
"""Leaves a title to what things, places and people are called."""


def line_of(content: str) -> str:
    """The first sentences of a text, as many as fit a line; the first words of a longer one."""
    line = ""
    for sentence in sentences(content[:READ]):
        longer = f"{line} {' '.join(sentence.text.split())}".strip()
        if len(longer) > MAX_LINE:
            break
        line = longer
    if line:
        return line
    told = " ".join(content[:READ].split())
    return told if len(told) <= MAX_LINE and len(content) <= READ else told[: MAX_LINE - 1].rstrip() + "…"


def shown_in(note: Memory | None) -> list[str]:
    """The sentences of a note that tell how the person behaves, without the numbers of that one time."""
    told = "" if note is None else parts_of(note.content).get(BEHAVIOUR, "")
    return [_STYLE.sub("", _ASIDE.sub("", " ".join(one.text.split())))[:300] for one in sentences(told)][:4]


def with_members(scene: Scene, given: Sequence[SceneMember]) -> Scene:
    """The scene with these members in order, and all that they say of it but the words: those are made once, when all have come."""
    members = sorted(given, key=lambda one: (one.at, one.cell_id))
    return scene.model_copy(
        update={
            "members": members,
            "cell_ids": [one.cell_id for one in members],
            "session_ids": list(dict.fromkeys(one.session_id for one in members if one.session_id is not None)),
            "count": len(members),
            "started_at": members[0].at if members else scene.started_at,
            "ended_at": members[-1].at if members else scene.ended_at,
        }
    )


def with_words(scene: Scene) -> Scene:
    """The scene with title and summary by rule, and all else that its members say."""
    told = with_members(scene, scene.members)
    return told.model_copy(update={"title": _title(told.theme, told.members), "summary": _summary([one.line for one in told.members])})


def _title(theme: str, members: Sequence[SceneMember]) -> str:
    """The theme, and the words that most of the cells have, names with their capitals."""
    counted: Counter[str] = Counter()
    for one in members:
        counted.update(word for word in _telling(one.line) if word != theme)
    common = [_written(word, members) for word in sorted(counted, key=lambda word: -counted[word])[:TITLE_WORDS]]
    return f"{theme.capitalize()}: {', '.join(common)}"[:200] if common else theme.capitalize()


@lru_cache(maxsize=_LINES_KEPT)
def _telling(line: str) -> tuple[str, ...]:
    """The words of a line that a title may be made of, each once."""
    return tuple(dict.fromkeys(word for word in words(line) if len(word) > 2 and word not in _SAYS_NOTHING and not word.isdigit()))


def _written(word: str, members: Sequence[SceneMember]) -> str:
    """The word as it is first written within a sentence, where only names have capitals.

    In small letters where it only begins sentences.
    """
    within = re.compile(rf"(?<=[^\W_]\s){re.escape(word)}\b", re.IGNORECASE)
    return next((found[0] for one in members if (found := within.search(one.line))), word)


def _summary(lines: Sequence[str]) -> str:
    """How it began, and the latest of what came after that: as much as there is room for, in order."""
    if not lines:
        return ""
    first, room = lines[0], MAX_SUMMARY - len(lines[0])
    rest: list[str] = []
    for line in reversed(lines[1:]):
        if line in (first, *rest):
            continue
        if (room := room - len(line) - 3) < 0:
            return " ".join([first, "…", *reversed(rest)])
        rest.append(line)
    return " ".join([first, *reversed(rest)])
