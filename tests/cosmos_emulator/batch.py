"""Transactional batches: all operations of one partition key, or none."""

from __future__ import annotations

from typing import Any

from tests.cosmos_emulator import charges
from tests.cosmos_emulator.refused import Refused, bad_request
from tests.cosmos_emulator.store import Container
from tests.cosmos_emulator.transaction import Condition, Outcome, Transaction

MAX_OPERATIONS = 100
MAX_BYTES = 2 * 1024 * 1024
FAILED_DEPENDENCY = 424


def run(
    container: Container, key: str, operations: Any, size: int
) -> tuple[int, list[dict[str, Any]], float]:
    """The status of the whole (200, or 207 with nothing done), each operation's result,
    and the charge.
    """
    if not isinstance(operations, list) or not operations:
        raise bad_request("A batch needs at least one operation")
    if len(operations) > MAX_OPERATIONS:
        raise bad_request(
            f"Batch request has more operations than what is supported: {len(operations)} of "
            f"{MAX_OPERATIONS}"
        )
    if size > MAX_BYTES:
        raise Refused(
            413,
            f"Request size is too large: a batch may have {MAX_BYTES} bytes, this one has {size}",
        )
    transaction = Transaction(container, key)
    results: list[dict[str, Any]] = []
    for number, operation in enumerate(operations):
        try:
            results.append(_result(_do(transaction, operation)))
        except Refused as refused:
            return 207, _failed(len(operations), number, refused), charges.REFUSED * len(operations)
    transaction.commit()
    return 200, results, round(sum(result["requestCharge"] for result in results), 2)


def _do(transaction: Transaction, operation: dict[str, Any]) -> Outcome:
    kind, id_, body = (
        operation.get("operationType"),
        operation.get("id", ""),
        operation.get("resourceBody", {}),
    )
    condition = Condition(operation.get("ifMatch"), operation.get("ifNoneMatch"))
    match kind:
        case "Create":
            return transaction.create(body)
        case "Upsert":
            return transaction.upsert(body, condition)
        case "Replace":
            return transaction.replace(id_, body, condition)
        case "Patch":
            return transaction.patch(id_, body, condition)
        case "Delete":
            return transaction.delete(id_, condition)
        case "Read":
            return transaction.read(id_, condition)
    raise bad_request(f"Unknown operation {kind!r} in a batch")


def _result(outcome: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"statusCode": outcome.status, "requestCharge": outcome.charge}
    if outcome.item is not None:
        result |= {"eTag": outcome.item.etag, "resourceBody": outcome.item.body}
    return result


def _failed(count: int, culprit: int, refused: Refused) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = [
        {"statusCode": FAILED_DEPENDENCY, "requestCharge": 0.0} for _ in range(count)
    ]
    results[culprit] = {
        "statusCode": refused.status,
        "subStatusCode": refused.substatus,
        "requestCharge": charges.REFUSED,
        "message": refused.message,
    }
    return results
