"""`POST /send/{body}` sends; the functions write down what they are called with.
The body says how a call ends.
"""

import asyncio
import os
from pathlib import Path

import azure.functions as func

from memory_core.functions import runtime
from memory_core.functions.http_system import blueprint

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
app.register_functions(blueprint)


@app.route(route="send/{body}", methods=["POST"])
async def send(req: func.HttpRequest) -> func.HttpResponse:
    here = await runtime.current()
    await here.core.queue.send("formation", req.route_params["body"])
    return func.HttpResponse(status_code=202)


@app.queue_trigger(arg_name="msg", queue_name="formation", connection="AzureWebJobsStorage")
async def work(msg: func.QueueMessage) -> None:
    body = msg.get_body().decode()
    _write(f"{body} {msg.dequeue_count}")
    if body.startswith("fail"):
        raise RuntimeError("as asked")
    while body.startswith("wait") and not _folder().joinpath("go").exists():
        await asyncio.sleep(0.02)
    _write(f"{body} done")


@app.queue_trigger(arg_name="msg", queue_name="%POISON_QUEUE%", connection="AzureWebJobsStorage")
async def give_up(msg: func.QueueMessage) -> None:
    _write(f"{msg.get_body().decode()} poisoned")


def _folder() -> Path:
    return Path(os.environ["CALLS"])


def _write(line: str) -> None:
    with _folder().joinpath("calls.txt").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
