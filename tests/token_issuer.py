"""An issuer of access tokens as Entra ID is one: metadata and keys over HTTP,
and tokens signed with them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

TENANT = "11111111-2222-4333-8444-555555555555"
CLIENT = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
CALLER = "99999999-8888-4777-8666-555555555555"
PERSON = "12345678-1234-4234-8234-123456789012"
METADATA = f"/{TENANT}/v2.0/.well-known/openid-configuration"
KEYS = f"/{TENANT}/discovery/v2.0/keys"


@cache
def private_key(name: str) -> rsa.RSAPrivateKey:
    """A key by its id: the same one for as long as the process lives, since making one
    takes a while.
    """
    return rsa.generate_private_key(65537, 2048)


def public_pem(name: str) -> bytes:
    """The public half of a key."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return private_key(name).public_key().public_bytes(serialization.Encoding.PEM, form)


def jwk(name: str) -> dict[str, Any]:
    """The public half of a key, as a key set lists it."""
    return {
        **json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private_key(name).public_key())),
        "kid": name,
        "use": "sig",
    }


class Issuer:
    """keys: ids of the keys in its key set. requests: paths, in order. answers: by path, (status,
    headers, body) in place of its own.

    was_asked: set by the first request. may_answer: answers wait until it is set.
    """

    def __init__(self) -> None:
        self.keys = ["k1"]
        self.requests: list[str] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.is_down = False
        self.authority = ""
        self.was_asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def issuer(self) -> str:
        """The issuer of tokens of version 2.0."""
        return f"{self.authority}/{TENANT}/v2.0"

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a service that takes its tokens."""
        return {
            "MEMORY_ENTRA_TENANT_ID": TENANT,
            "MEMORY_ENTRA_AUDIENCE": f"api://{CLIENT}",
            "MEMORY_ENTRA_APP": "shop",
            "MEMORY_ENTRA_AUTHORITY": self.authority,
        }

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """What a request gets."""
        self.requests.append(path)
        self.was_asked.set()
        self.may_answer.wait(30)
        if self.is_down:
            return 503, {}, b""
        if path in self.answers:
            return self.answers[path]
        documents = {
            METADATA: {"issuer": self.issuer, "jwks_uri": f"{self.authority}{KEYS}"},
            KEYS: {"keys": [jwk(name) for name in self.keys]},
        }
        return (
            (200, {}, json.dumps(documents[path]).encode()) if path in documents else (404, {}, b"")
        )

    def claims(self, now: datetime, **changed: Any) -> dict[str, Any]:
        """Claims of a person's token; a change to None takes a claim away."""
        at = int(now.timestamp())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "tid": TENANT, "azp": CALLER, "oid": PERSON,
            "sub": "pairwise", "ver": "2.0", "iat": at, "nbf": at, "exp": at + 3600,
            "scp": "Memory.Read Memory.Write", "preferred_username": "ana@shop.example",
        } | changed  # fmt: skip
        return {name: value for name, value in claims.items() if value is not None}

    def application_claims(self, now: datetime, **changed: Any) -> dict[str, Any]:
        """Claims of a token that an application got for itself."""
        return self.claims(
            now,
            **{
                "scp": None,
                "sub": CALLER,
                "oid": CALLER,
                "roles": ["Memory.Read", "Memory.Write"],
                **changed,
            },
        )


def signed(claims: dict[str, Any], key: str = "k1", **head: Any) -> str:
    """A token with these claims; `kid` None leaves the header out."""
    kid = head.pop("kid", key)
    return jwt.encode(
        claims, private_key(key), "RS256", headers={**({} if kid is None else {"kid": kid}), **head}
    )


@contextmanager
def issuing() -> Iterator[Issuer]:
    """An issuer for as long as the block runs."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = issuer.answer(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.authority = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield issuer
        finally:
            issuer.may_answer.set()
            server.shutdown()
            thread.join()
