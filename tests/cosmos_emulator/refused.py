"""How a request is refused: the status, the sub-status that the SDK branches on, and the words."""

from __future__ import annotations

CODES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    408: "RequestTimeout",
    409: "Conflict",
    410: "Gone",
    412: "PreconditionFailed",
    413: "RequestEntityTooLarge",
    424: "FailedDependency",
    429: "TooManyRequests",
    449: "RetryWith",
    500: "InternalServerError",
    503: "ServiceUnavailable",
}

KEY_MISMATCH = 1001
RANGE_GONE = 1002
CONTAINER_MISSING = 1003
NEEDS_A_PLAN = 1004
RECREATED = 1024


class Refused(Exception):
    """An answer that is not a success. `headers` go out with it."""

    def __init__(
        self, status: int, message: str, substatus: int = 0, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.substatus = substatus
        self.headers = headers or {}

    @property
    def body(self) -> dict[str, str]:
        """As the service words it."""
        return {"code": CODES.get(self.status, str(self.status)), "message": self.message}


def bad_request(message: str, substatus: int = 0) -> Refused:
    """A 400."""
    return Refused(400, message, substatus)
