"""An agent of the OpenAI Agents SDK that remembers its user beyond a session.

`memory-core serve` or `make run` in another terminal, then this file, after
`pip install './memory_core_client[openai-agents]'`. The model is a script; leave `model` out,
or name one, to ask a real one.
"""

import os

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message

from memory_core_client import MemoryCore
from memory_core_client.openai_agents import MemoryCoreSession, memory_tools, recalling


def scripted(call: ModelCall) -> ModelStep:
    """Answer as a model would: a question by what the instructions tell."""
    is_known = call.input[-1]["content"].endswith("?") and "peanuts" in (
        call.system_instructions or ""
    )
    return ModelStep(output=[assistant_message("No peanuts." if is_known else "I see.")])


set_tracing_disabled(True)
model = ScriptedModel([ModelStep.respond(scripted), ModelStep.respond(scripted)])

# The agent.
service = MemoryCore(os.environ.get("HOST_URL", "http://127.0.0.1:7071"))


def ask(user_id: str, thread: str, text: str) -> str:
    """One turn of a user's thread."""
    user = service.user(user_id)
    instructions = recalling(user, "You are a helpful assistant.", session_id=thread)
    agent = Agent(
        name="assistant", instructions=instructions, tools=[*memory_tools(user)], model=model
    )
    return Runner.run_sync(
        agent, text, session=MemoryCoreSession(user, thread, form=True)
    ).final_output


# Two threads of one user.
print(ask("nora", "monday", "I am allergic to peanuts."))
print(ask("nora", "tuesday", "What am I allergic to?"))
service.close()
