"""A LangGraph agent that remembers its user beyond a thread.

`memory-core serve` or `make run` in another terminal, then this file, after
`pip install './memory_core_client[langgraph]'`. The model is a script; put
`init_chat_model("…").invoke` of LangChain in its place to ask a real one.
"""

import os

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from memory_core_client import MemoryCore
from memory_core_client.langgraph import MemoryNodes, MemoryState


def scripted(messages: list[AnyMessage]) -> AIMessage:
    """Answer as a model would that was told of the allergy."""
    return AIMessage("No peanuts." if "peanuts" in messages[0].text else "I see.")


# The agent.
service = MemoryCore(os.environ.get("HOST_URL", "http://127.0.0.1:7071"))
nodes = MemoryNodes(service)


def answer(state: MemoryState) -> dict[str, list[AIMessage]]:
    """Call the model, with what is known of the user."""
    system = SystemMessage(f"You are a helpful assistant.\n\n{state['context']}")
    return {"messages": [scripted([system, *state["messages"]])]}


steps = [("recall", nodes.recall), ("answer", answer), ("remember", nodes.remember)]
builder = StateGraph(MemoryState).add_sequence(steps).add_edge(START, "recall")
graph = builder.compile(checkpointer=InMemorySaver())

# Two threads of one user.
for thread, text in [
    ("monday", "I am allergic to peanuts."),
    ("tuesday", "What am I allergic to?"),
]:
    config = {"configurable": {"user_id": "mona", "thread_id": thread}}
    print(graph.invoke({"messages": [("user", text)]}, config)["messages"][-1].content)
service.close()
