"""Requests about one document, a batch or a whole partition key."""

from __future__ import annotations

from tests.cosmos_emulator import batch, charges
from tests.cosmos_emulator.exchange import KEY, Answer, Asked, answer
from tests.cosmos_emulator.items import dumps
from tests.cosmos_emulator.reading import copy_for, range_of, reads_of, session_token
from tests.cosmos_emulator.refused import KEY_MISMATCH, Refused, bad_request
from tests.cosmos_emulator.store import Account, Container
from tests.cosmos_emulator.transaction import Condition, Outcome, Transaction


def read(asked: Asked, account: Account, container: Container) -> Answer:
    """A point read."""
    key = _key(asked, container)
    copy = copy_for(asked, account, container)
    item = copy.get(key, asked.path[5])
    if item is None:
        raise Refused(
            404,
            "Entity with the specified id does not exist in the system",
            headers=_session(account, container, key, copy.lsn),
        )
    seen = asked.headers.get("if-none-match")
    unchanged = seen is not None and seen in ("*", item.etag)
    made = Answer(
        304 if unchanged else 200,
        b"" if unchanged else dumps(item.body),
        charge=charges.read(0 if unchanged else item.size) * reads_of(asked, account),
    )
    made.headers = {"etag": item.etag, **_session(account, container, key, copy.lsn)}
    return made


def write(asked: Asked, account: Account, container: Container) -> Answer:
    """A create, upsert, replace, patch or delete."""
    key = _key(asked, container)
    transaction = Transaction(container, key)
    condition = Condition(asked.headers.get("if-match"), asked.headers.get("if-none-match"))
    try:
        outcome = _do(asked, transaction, condition)
    except Refused as refused:
        refused.headers |= _session(account, container, key, container.lsn)
        raise
    transaction.commit()
    made = _written(asked, outcome)
    made.headers |= _session(account, container, key, container.lsn)
    return made


def run_batch(asked: Asked, account: Account, container: Container) -> Answer:
    """A transactional batch."""
    key = _key(asked, container)
    status, results, charge = batch.run(container, key, asked.json(), len(asked.body))
    made = answer(status, results, charge)
    made.headers = _session(account, container, key, container.lsn)
    return made


def delete_partition(asked: Asked, account: Account, container: Container) -> Answer:
    """The end of every document of one key; done at once, where the service takes its time in
    the background.
    """
    key = _key(asked, container)
    gone = [
        item for partition in container.current().of_key(key) for item in partition.items.values()
    ]
    container.apply([(key, item.id, None) for item in gone])
    return Answer(200, b"", _session(account, container, key, container.lsn), charges.write(0))


def _do(asked: Asked, transaction: Transaction, condition: Condition) -> Outcome:
    operation = asked.operation
    if operation == "delete":
        return transaction.delete(asked.path[5], condition)
    body = asked.json()
    if not isinstance(body, dict):
        raise bad_request("A document is a JSON object")
    match operation:
        case "upsert":
            return transaction.upsert(body, condition)
        case "replace":
            return transaction.replace(asked.path[5], body, condition)
        case "patch":
            return transaction.patch(asked.path[5], body, condition)
    return transaction.create(body)


def _written(asked: Asked, outcome: Outcome) -> Answer:
    if outcome.item is None:
        return Answer(outcome.status, charge=outcome.charge)
    silent = asked.headers.get("prefer") == "return=minimal"
    return Answer(
        outcome.status,
        b"" if silent else dumps(outcome.item.body),
        {"etag": outcome.item.etag},
        outcome.charge,
    )


def _key(asked: Asked, container: Container) -> str:
    if KEY not in asked.headers:
        raise bad_request("PartitionKey value must be supplied for this operation", KEY_MISMATCH)
    return container.policies.key.parse(asked.headers[KEY])


def _session(account: Account, container: Container, key: str, lsn: int) -> dict[str, str]:
    range_id = range_of(account, container, key)
    return {
        "x-ms-session-token": session_token(account, range_id, lsn),
        "x-ms-documentdb-partitionkeyrangeid": range_id,
        "lsn": str(lsn),
    }
