"""One Azure Functions app inside the official runtime, told what to do by one JSON line each on its
standard input.

Runs in the runtime's environment and knows nothing of Memory Core. It takes the place of the host's
gRPC channel: typed data come in and go out as on that channel, and everything between is
Microsoft's (indexing, converters, invocation).

    {"ask": "index"}                                           → {"failure": null | text, "functions": {name: …}}
    {"ask": "invoke", "id": …, "inputs": {name: data}, "metadata": {name: data}}
                                                               → {"ok": …, "returned": data | null, "error": text | null}
    data: {"string": text} | {"json": text} | {"bytes": base64} | {"http": {…}}, the cases of the protocol's TypedData
"""  # noqa: E501

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import sys
import uuid
from types import SimpleNamespace
from typing import Any

from azure_functions_runtime import (
    functions_metadata_request,
    start_threadpool_executor,
    worker_init_request,
)
from azure_functions_runtime.bindings.datumdef import Datum
from azure_functions_runtime.native_invocation import invocation_request_native


class Message(SimpleNamespace):
    """Any message of the worker's protocol: what is put in can be read out. The constants are the
    protocol's own.
    """

    Success, Failure = "success", "failure"
    undefined = 0
    out, inout = 1, 2


class Protos:
    """Stands for the generated protobuf module, which a proxy hands to the library."""

    def __getattr__(self, name: str) -> type[Message]:
        return Message


async def index(app: str) -> dict[str, Any]:
    """Let the library import the app and describe its functions."""
    init = Message(worker_init_request=Message(capabilities={}, function_app_directory=app))
    begun = await worker_init_request(
        Message(request=init, properties={"host": "127.0.0.1", "protos": Protos()})
    )
    if begun.result.status != Message.Success:
        return {
            "failure": f"{begun.result.exception.message}\n{begun.result.exception.stack_trace}",
            "functions": {},
        }
    described = await functions_metadata_request(None)
    functions = {}
    for result in described.function_metadata_results or ():
        retry = (
            None
            if result.retry_options is None
            else {name: str(value) for name, value in vars(result.retry_options).items()}
        )
        bindings = [json.loads(binding) for binding in result.raw_bindings]
        functions[result.name] = {
            "id": result.function_id,
            "script": result.script_file,
            "bindings": bindings,
            "retry": retry,
        }
    return {"failure": None, "functions": functions}


async def invoke(asked: dict[str, Any]) -> dict[str, Any]:
    """Run one function as one invocation."""
    inputs = [(name, to_datum(data)) for name, data in asked["inputs"].items()]
    metadata = {name: to_datum(data) for name, data in asked["metadata"].items()}
    ok, returned, outputs, error, trace = await invocation_request_native(
        uuid.uuid4().hex, asked["id"], inputs, metadata
    )
    if outputs:
        raise RuntimeError("a function with output bindings, which this driver does not carry")
    return {
        "ok": ok,
        "returned": from_datum(returned),
        "error": None if ok else f"{error}\n{trace}",
    }


def to_datum(data: dict[str, Any]) -> Datum:
    """Data of the protocol as the library's own type."""
    ((kind, value),) = data.items()
    if kind == "http":
        texts = {name: Datum(value[name], "string") for name in ("method", "url")}
        tables = {
            name: {key: Datum(text, "string") for key, text in value[name].items()}
            for name in ("headers", "params", "query")
        }
        return Datum(
            {**texts, **tables, "body": Datum(base64.b64decode(value["body"]), "bytes")}, "http"
        )
    return Datum(base64.b64decode(value) if kind == "bytes" else value, kind)


def from_datum(datum: Any) -> dict[str, Any] | None:
    """The library's own type as data of the protocol; None where the function has no answer."""
    if datum is None or datum.type is None:
        return None
    if datum.type == "http":
        headers = {name: value.value for name, value in datum.value["headers"].items()}
        body = base64.b64encode(datum.value["body"].value).decode("ascii")
        return {
            "http": {"status": datum.value["status_code"].value, "headers": headers, "body": body}
        }
    return {
        datum.type: base64.b64encode(datum.value).decode("ascii")
        if datum.type == "bytes"
        else datum.value
    }


async def serve(app: str, answers: Any) -> None:
    """Answer until the input ends. All invocations share one event loop, as in the real worker."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        asked = json.loads(line)
        answer = await index(app) if asked["ask"] == "index" else await invoke(asked)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    """Serve the app in the folder that the first argument names."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the app prints must not end up between the answers
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    app = sys.argv[1]
    sys.path.insert(0, app)
    start_threadpool_executor()
    asyncio.run(serve(app, answers))
    os._exit(0)  # the real worker gives an app no chance to close anything either


if __name__ == "__main__":
    main()
