"""What Schemathesis checks of each answer beside its own checks. It is imported by Schemathesis,
in that program's environment.

An error's words are compared with all texts that were sent. `instance` is left out:
it is the path of the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import schemathesis

SHORTEST = 6
"""Characters of a text that is looked for in errors; a shorter one may stand there by chance."""
PROBLEM, LINES = "application/problem+json", "application/x-ndjson"
BUSY = ("urn:memory-core:problem:unavailable", "urn:memory-core:problem:busy")
OWN_WORDS = (Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8")


@schemathesis.serializer(LINES)
def lines(context: Any, value: Any) -> bytes:
    """A body of lines is generated as one text."""
    return value.encode(errors="surrogatepass")


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """A body of lines is any bytes until all parts are there: false and 7 are as good as a text
    that is no line.
    """
    return case.media_type != LINES or isinstance(case.body, str)


@schemathesis.check
def fails_only_as_the_contract_says(context: Any, response: Any, case: Any) -> None:
    """The only status of 500 and above is a 503 that says what is down and when to try again."""
    if response.status_code < 500:
        return
    assert response.status_code == 503, f"{response.status_code} {response.text[:500]}"
    assert int(response.headers["retry-after"][0]) > 0
    assert response.json()["type"] in BUSY


@schemathesis.check
def refuses_with_a_problem(context: Any, response: Any, case: Any) -> None:
    """A refusal is a problem that names its status and its request, and shows nothing
    of the inside.
    """
    if response.status_code < 400:
        return
    assert response.headers["content-type"] == [PROBLEM]
    problem = response.json()
    assert problem["status"] == response.status_code
    assert [problem["correlation_id"]] == response.headers["x-correlation-id"]
    assert "Traceback" not in response.text


@schemathesis.check
def repeats_no_words_of_the_request(context: Any, response: Any, case: Any) -> None:
    """No text that was sent is in an error."""
    if response.status_code < 400:
        return
    problem = response.json()
    messages = [
        problem["title"],
        problem["detail"],
        *(error["message"] for error in problem["errors"]),
    ]
    for text in texts([case.body, case.query]):
        if len(text) >= SHORTEST and text not in OWN_WORDS:
            assert not any(text in line for line in messages), f"{text!r} stands in {messages}"


def texts(value: Any) -> Iterator[str]:
    """All texts of a value, without the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
