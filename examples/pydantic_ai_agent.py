"""An agent of Pydantic AI that keeps and looks up by tools.

`memory-core serve` or `make run` in another terminal, then this file, after
`pip install ./memory_core_client pydantic-ai`. The model is a script; name one, such as
"openai:…", to ask a real one.
"""

import os

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memory_core_client import MemoryCore
from memory_core_client.tools import memory_functions


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Keep what is said, look up what is asked, and answer by what the tool says."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(
            [TextPart("No peanuts." if "peanuts" in str(last.content) else "I see.")]
        )
    text = str(last.content)
    call = (
        ToolCallPart("recall", {"query": text})
        if text.endswith("?")
        else ToolCallPart("remember", {"fact": text})
    )
    return ModelResponse([call])


model = FunctionModel(scripted)

# The agent.
service = MemoryCore(os.environ.get("HOST_URL", "http://127.0.0.1:7071"))
agent = Agent(
    model, instructions="You are a helpful assistant.", tools=memory_functions(service.user("olga"))
)

# Two threads of one user.
print(agent.run_sync("Olga is allergic to peanuts.").output)
print(agent.run_sync("What is Olga allergic to?").output)
service.close()
