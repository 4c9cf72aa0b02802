"""One function of each trigger, so that the driver is proven for triggers before Memory
Core has them.

They fail on demand and keep what they were given; `seen` shows that.
"""

import json
from typing import Any

import azure.functions as func

app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)
records: list[dict[str, Any]] = []


@app.queue_trigger(arg_name="message", queue_name="orders", connection="AzureWebJobsStorage")
async def take(message: func.QueueMessage) -> None:
    """Keep a message; one that says "broken" fails."""
    text = message.get_body().decode()
    print("taking", text)  # noqa: T201 - stands for a library that prints
    if text == "broken":
        raise ValueError(f"can't take this, try {message.dequeue_count}")
    inserted = message.insertion_time.isoformat() if message.insertion_time else None
    records.append(
        {
            "id": message.id,
            "text": text,
            "dequeue_count": message.dequeue_count,
            "inserted": inserted,
        }
    )


@app.timer_trigger(arg_name="timer", schedule="%SWEEP%", run_on_startup=False)
@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:05")
async def sweep(timer: func.TimerRequest) -> None:
    """Keep that it was time; a tick that is past due fails."""
    if timer.past_due:
        raise RuntimeError("too late")
    records.append({"last": timer.schedule_status["Last"]})


@app.route(route="seen", methods=["GET"])
async def seen(req: func.HttpRequest) -> func.HttpResponse:
    """What was kept."""
    return func.HttpResponse(json.dumps(records), mimetype="application/json")


@app.route(route="nothing", methods=["GET"])
async def nothing(req: func.HttpRequest) -> func.HttpResponse:
    """Return no answer, which indexing can't see."""
    return None  # type: ignore[return-value]
