r"""A name, a place or a value is never read as a pattern or a template.

An actor called `CORP\jdoe` was used as a replacement template: each summary was a 500 ("bad escape
\j"), each task was poisoned, and `CORP\nina` put a line break into what was told.
"""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.adapters.offline.voice import in_third_person, third_person
from memory_core.domain.conversation import Message
from tests.odd_conversations import ACTORS, METACHARACTERS, TEMPLATES
from tests.talk import FRIDAY

NAMES = [*ACTORS, *TEMPLATES, *METACHARACTERS]


def said(content: str, actor: str) -> list[Message]:
    return [Message(role="user", content=content, timestamp=FRIDAY, actor=actor)]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_told_as_it_is(name: str) -> None:
    assert (
        third_person("I love tea and it calms me.", name)
        == f"{name[:1].upper()}{name[1:]} loves tea and it calms {name}."
    )
    assert in_third_person("my dog", name) == "their dog"
    assert in_third_person("I", name) == name


@pytest.mark.parametrize("name", ["me", "my", "mine", "myself", "I", "me and my dog"])
def test_a_name_made_of_pronouns_is_not_rewritten(name: str) -> None:
    assert third_person("Yesterday I met Ben.", name) == f"Yesterday {name} met Ben."


@pytest.mark.parametrize("name", NAMES)
async def test_facts_and_stories_of_a_speaker_with_an_odd_name(name: str) -> None:
    agents = OfflineAgents()
    messages = said(
        "I live in Oslo. My sister Anna hates my tea. I'm on holiday until Friday.", name
    )
    facts = (await agents.extract_facts("app", messages)).value
    shortened = " ".join(name.split())[:60].rstrip()
    assert f"{shortened} lives in Oslo" in [fact.text for fact in facts.facts]
    assert [fact.value for fact in facts.facts if fact.attribute == "home city"] == ["Oslo"]
    assert facts.foresight
    assert "Oslo" in (await agents.summarise("app", messages)).value.narrative


@pytest.mark.parametrize("place", ["\\1", "{0}", "%s", "$1", "\\g<0>", "{who}", "{value}"])
async def test_a_template_as_a_value_stays_what_it_is(place: str) -> None:
    """What users say is in the message as well as in the note of it, letter for letter."""
    agents = OfflineAgents()
    for sentence in (
        f"I work at Acme {place}.",
        f"My goal is {place} soon.",
        f"My favourite sign is {place}!",
        f"I love {place} a lot.",
    ):
        narrative = (
            await agents.summarise("app", said(sentence, "Ana"), fast=True)
        ).value.narrative
        assert place in narrative
        await agents.extract_facts("app", said(sentence, "Ana"))
