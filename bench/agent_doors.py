"""One agent by three integrations, and how often what its model sees holds the answer:
`PYTHONPATH=memory_core_client/src python -m bench.agent_doors`.

Nine days of Nora's life (`tests.life`) are told turn by turn, a talk a thread, by the two calls of
docs/agents.md, by LangGraph's nodes and by the OpenAI Agents SDK's session and instructions; a
script says what the assistant said. Then 30 questions, each within a message of `bench/frames.json`
and in a thread of its own, are asked without being remembered. Each door has a user of its own
on one host.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from bench.host import ROOT, Host
from bench.tables import show
from memory_core_client import MemoryCore
from memory_core_client.langgraph import MemoryNodes, MemoryState
from memory_core_client.openai_agents import MemoryCoreSession, recalling
from tests.life.script import BEGINS, Talk, life

DAYS = timedelta(days=9)
WAIT_S = 0.2
ASKED = (
    ("Where do I live?", "berlin"),
    ("What is my cat called?", "miso"),
    ("What do I grow on the balcony?", "tomato"),
    ("Which company do I work for?", "fabrikam"),
    ("What do I translate?", "manual"),
    ("What is my sister called?", "hannah"),
    ("When do I call my sister?", "sunday"),
    ("When is our mother's birthday?", "june"),
    ("What do I think of coriander?", "hate coriander"),
    ("What did I put into the stew beside cumin?", "lemon"),
    ("How many pages does the manual have?", "ninety"),
    ("How many words are there for valve?", "five words"),
    ("Which way does my balcony face?", "south"),
    ("On which day do I run before breakfast?", "tuesday"),
    ("What race do I want to run one day?", "half marathon"),
    ("Which language am I learning?", "portuguese"),
    ("On which day is my lesson with a real teacher?", "wednesday"),
    ("What is my teacher called?", "teresa"),
    ("Which numbers do I mix up?", "sixteen"),
    ("Am I vegetarian or vegan?", "vegan"),
    ("What did I cook with coconut milk?", "tofu"),
    ("What did my boss think of the glossary?", "liked the glossary"),
    ("What colour are my new running shoes?", "blue"),
    ("What did the shop see when it filmed my stride?", "roll inward"),
    ("Which machine is the next manual for?", "dishwasher"),
    ("What hangs above my desk?", "map of lisbon"),
    ("Where did I find the cat's toys?", "sofa"),
    ("Who came for dinner and had three plates of chili?", "olga"),
    ("What did I put into the chili?", "chocolate"),
    ("Where did I run when my knee did not hurt?", "tiergarten"),
)
"""Questions, and what a context has to say, in lower case."""


class Door(ABC):
    """An agent with a memory, for one user."""

    def __init__(self, service: MemoryCore, user: str) -> None:
        self.service, self.user = service, user

    @abstractmethod
    def turn(self, thread: str, text: str, answer: str) -> None:
        """What the person says, and what the script answers."""

    @abstractmethod
    def known(self, thread: str, text: str) -> str:
        """What the model would see of the memory, besides the message."""


class Calls(Door):
    """The two calls of docs/agents.md."""

    def __init__(self, service: MemoryCore, user: str) -> None:
        super().__init__(service, user)
        self._threads: dict[str, list[dict[str, str]]] = {}

    def turn(self, thread: str, text: str, answer: str) -> None:  # noqa: D102
        messages = self._threads.setdefault(thread, [])
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        self.service.user(self.user).tell(messages[-200:], session_id=thread)

    def known(self, thread: str, text: str) -> str:  # noqa: D102
        messages = [{"role": "user", "content": text}]
        return (
            self.service.user(self.user)
            .context(messages=messages, session_id=thread, exclude_session_id=thread)
            .context
        )


class Graph(Door):
    """LangGraph's nodes."""

    def __init__(self, service: MemoryCore, user: str) -> None:
        super().__init__(service, user)
        self._answer = ""
        self._nodes = MemoryNodes(service)
        steps: list[Any] = [
            ("recall", self._nodes.recall),
            ("answer", self._say),
            ("remember", self._nodes.remember),
        ]
        self._graph = (
            StateGraph(MemoryState)
            .add_sequence(steps)
            .add_edge(START, "recall")
            .compile(checkpointer=InMemorySaver())
        )

    def _say(self, _: MemoryState) -> dict[str, list[AIMessage]]:
        return {"messages": [AIMessage(self._answer)]}

    def turn(self, thread: str, text: str, answer: str) -> None:  # noqa: D102
        self._answer = answer
        state: Any = {"messages": [HumanMessage(text)]}
        self._graph.invoke(state, self._config(thread))

    def known(self, thread: str, text: str) -> str:  # noqa: D102
        context: str = self._nodes.recall({"messages": [HumanMessage(text)]}, self._config(thread))[
            "context"
        ]
        return context

    def _config(self, thread: str) -> Any:
        return {"configurable": {"user_id": self.user, "thread_id": thread}}


class Session(Door):
    """The OpenAI Agents SDK's session, and instructions that recall."""

    def turn(self, thread: str, text: str, answer: str) -> None:  # noqa: D102
        self._run(
            thread, text, answer, MemoryCoreSession(self.service.user(self.user), thread, form=True)
        )

    def known(self, thread: str, text: str) -> str:  # noqa: D102
        return self._run(thread, text, "", None)

    def _run(self, thread: str, text: str, answer: str, session: MemoryCoreSession | None) -> str:
        seen: list[str] = []

        def scripted(call: ModelCall) -> ModelStep:
            seen.append(call.system_instructions or "")
            return ModelStep(output=[assistant_message(answer)])

        instructions = recalling(
            self.service.user(self.user), "You are a helpful assistant.", session_id=thread
        )
        agent = Agent(
            name="assistant",
            instructions=instructions,
            model=ScriptedModel([ModelStep.respond(scripted)]),
        )
        Runner.run_sync(agent, text, session=session)
        return seen[0]


DOORS: dict[str, type[Door]] = {
    "the two calls": Calls,
    "LangGraph's nodes": Graph,
    "the Agents SDK's session": Session,
}


def pairs(talk: Talk) -> list[tuple[str, str]]:
    """What the person says in a talk, each with the assistant's answer."""
    lines = [line if isinstance(line, str) else line[1] for line in talk.lines]
    return list(zip(lines[::2], lines[1::2], strict=True))


def tell(door: Door, talks: Sequence[Talk]) -> int:
    """Tell the talks and wait until all is formed; how many turns they had."""
    turns = 0
    for number, talk in enumerate(talks):
        for text, answer in pairs(talk):
            door.turn(f"{talk.session} {number}", text, answer)
            turns += 1
    for status in ("accepted", "running"):
        while door.service.request(
            "GET", "/api/v1/tasks", query={"user_id": door.user, "status": status}
        ).json()["tasks"]:
            time.sleep(WAIT_S)
    return turns


def main(arguments: Sequence[str]) -> None:
    """Measure and print what each door found, and what one found and another did not."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.agent_doors", description="One agent by three doors."
    )
    parser.add_argument("--embedder", choices=("minilm", "hash"), default="minilm")
    asked = parser.parse_args(arguments)
    set_tracing_disabled(True)
    frames = orjson.loads((ROOT / "bench" / "frames.json").read_bytes())
    talks = [talk for talk in life() if talk.at < BEGINS + DAYS]
    answered: dict[str, set[str]] = {}
    lengths: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        host = Host(Path(folder), asked.embedder)
        try:
            with MemoryCore(f"http://127.0.0.1:{host.port}") as service:
                for name, kind in DOORS.items():
                    door = kind(service, name.replace(" ", "-"))
                    turns = tell(door, talks)
                    contexts = {}
                    for number, (question, _) in enumerate(ASKED):
                        before, after = frames[number % len(frames)]
                        contexts[question] = door.known(
                            f"question {number}", f"{before}{question}{after}"
                        )
                    answered[name] = {
                        question
                        for question, answer in ASKED
                        if answer in contexts[question].lower()
                    }
                    lengths[name] = sum(
                        len(context.split()) for context in contexts.values()
                    ) // len(ASKED)
        finally:
            host.stop()
    rows = [
        [name, str(turns), f"{len(some)} of {len(ASKED)}", str(lengths[name])]
        for name, some in answered.items()
    ]
    show("What answers stands in the context", ["door", "turns", "questions", "words"], rows)
    for question, _ in ASKED:
        if missed := [name for name, some in answered.items() if question not in some]:
            print(f"not by {', '.join(missed)}: {question}")


if __name__ == "__main__":
    main(sys.argv[1:])
