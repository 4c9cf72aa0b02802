"""Verify access tokens of Entra ID, and map their claims to callers.

A token is verified with RS256 and a key of the configured tenant, whatever the token itself says of
algorithms, addresses or keys.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import importlib
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from memory_core.adapters.issuer_keys import IssuerKeys
from memory_core.domain.errors import Forbidden, Unauthenticated
from memory_core.domain.scope import check_app_id, check_name
from memory_core.functions.callers import Caller, Right
from memory_core.setting_types import grants

if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.ports import Clock, SigningKeys


LEEWAY_S = 60
"""Seconds that the issuer's clock and ours may differ."""
MAX_TOKEN = 16 * 1024
MAX_KEY_ID = 256
LEAST_KEY_BITS = 2048
PRINCIPAL_HEADER = "x-ms-client-principal"
_ALGORITHM = "RS256"
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_V1_ISSUERS = {
    "login.microsoftonline.com": "https://sts.windows.net",
    "login.microsoftonline.us": "https://sts.windows.net",
    "login.partner.microsoftonline.cn": "https://sts.chinacloudapi.cn",
}
"""Host of an authority → beginning of the issuer in its tokens of version 1.0.

Listed where that is another host.
"""
_LONG_NAMES = {
    "http://schemas.microsoft.com/identity/claims/objectidentifier": "oid",
    "http://schemas.microsoft.com/identity/claims/scope": "scp",
    "http://schemas.microsoft.com/identity/claims/tenantid": "tid",
    "http://schemas.microsoft.com/ws/2008/06/identity/claims/role": "roles",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier": "sub",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn": "upn",
}
"""Names of claims in App Service's header → their names in tokens."""


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """Rules that map the claims of a token to a caller.

    Attributes:
        tenant_id: The only tenant, in lower case.
        audiences: Audiences that a token may name.
        app: An app's name, or `claim:NAME`.
        user: `claim:NAME`.
        rights: Rights by role or scope.

    """

    tenant_id: str
    audiences: Set[str]
    app: str
    user: str
    rights: Mapping[str, frozenset[Right]]

    def caller(self, claims: Mapping[str, Any]) -> Caller:
        """Map verified claims to a caller.

        An application that acts for itself is bound to no user, and its roles count. Any other
        token belongs to a person, and names no other user. If such a token has scopes, only these
        count, since a client may not do all that its user may. Raises Forbidden for claims without
        a right, an app or a user here.
        """
        scopes = _words(claims.get("scp"))
        is_application = not scopes and _is_of_application(claims)
        names = scopes or _texts(claims.get("roles"))
        rights = frozenset(right for name in names for right in self.rights.get(name, ()))
        if not rights:
            raise Forbidden("The token has no role and no scope that gives a right here")
        client = claims.get("azp") or claims.get("appid")
        actor = (
            f"entra:{client.lower()}"
            if isinstance(client, str) and _GUID.fullmatch(client)
            else "entra"
        )
        return Caller(
            self._app(claims),
            actor,
            rights,
            None if is_application else self._user(claims),
            "token",
        )

    def _app(self, claims: Mapping[str, Any]) -> str:
        if not self.app.startswith("claim:"):
            return self.app
        try:
            return check_app_id(_claim(claims, self.app))
        except ValueError:
            raise Forbidden(
                "The token has no usable claim that says its app (MEMORY_ENTRA_APP)"
            ) from None

    def _user(self, claims: Mapping[str, Any]) -> str:
        try:
            return check_name(_claim(claims, self.user))
        except ValueError:
            raise Forbidden(
                "The token has no usable claim that says its user (MEMORY_ENTRA_USER)"
            ) from None


class EntraGate:
    """Lets callers in by a token, or by the principal that App Service authenticated."""

    def __init__(
        self,
        rules: ClaimRules,
        issuers: Set[str],
        keys: SigningKeys,
        clock: Clock,
        *,
        trusts_header: bool,
    ) -> None:
        self._rules = rules
        self._issuers = issuers
        self._keys = keys
        self._clock = clock
        self._trusts_header = trusts_header
        self._jwt: Any = None

    @classmethod
    def of(cls, settings: Settings, clock: Clock) -> EntraGate:
        """Build the gate from settings that have a tenant, an audience and an app.

        Args:
            settings: The settings of Entra ID.
            clock: The clock of the process.

        """
        tenant_id, app, authority = (
            settings.entra_tenant_id or "",
            settings.entra_app or "",
            settings.entra_authority,
        )
        rules = ClaimRules(
            tenant_id,
            audiences(settings.entra_audience),
            app,
            settings.entra_user,
            grants(settings.entra_rights),
        )
        issuer = f"{authority}/{tenant_id}/v2.0"
        first = _V1_ISSUERS.get(urlsplit(authority).hostname or "", authority)
        keys = IssuerKeys(issuer, clock)
        return cls(
            rules,
            {issuer, f"{first}/{tenant_id}/"},
            keys,
            clock,
            trusts_header=settings.trust_principal_header == "on",
        )

    async def token_caller(self, token: str) -> Caller:
        """Verify a bearer token and return its caller.

        Raises Unauthenticated for a text that is no valid token. Raises Forbidden for a token that
        grants no right here. Raises Unavailable while the issuer's keys can't be fetched.
        """
        claims = await self._verified(token)
        if not (claims.get("azp") or claims.get("appid")):
            raise Unauthenticated("The token is not an access token")
        return self._rules.caller(claims)

    def principal(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller that App Service's header names.

        None if the header is not trusted or missing, or if a key or a token is sent too.
        """
        text = headers.get(PRINCIPAL_HEADER)
        if (
            not self._trusts_header
            or not text
            or headers.get("x-api-key")
            or headers.get("authorization")
        ):
            return None
        claims = principal_claims(text)
        if str(claims.get("tid", "")).lower() != self._rules.tenant_id:
            raise Unauthenticated("The principal is of another tenant")
        if "aud" in claims and claims["aud"] not in self._rules.audiences:
            raise Unauthenticated("The principal signed in to another application")
        return self._rules.caller(claims)

    async def close(self) -> None:
        """End the work under way."""
        await self._keys.close()

    async def _verified(self, token: str) -> Mapping[str, Any]:
        """Claims of a token whose signature, issuer, tenant, audience and times are right."""
        if len(token) > MAX_TOKEN or token.count(".") != 2:
            raise Unauthenticated("The bearer token is neither an API key nor an access token")
        if self._jwt is None:
            # It brings a library of cryptography: not at a start, and not while everybody else
            # waits for this event loop.
            self._jwt = await asyncio.to_thread(importlib.import_module, "jwt")
        jwt = self._jwt
        try:
            head = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, RecursionError, UnicodeError):
            raise Unauthenticated("The token can't be read") from None
        key_id = head.get("kid")
        if head.get("alg") != _ALGORITHM:
            raise Unauthenticated(f"The token is not signed with {_ALGORITHM}")
        if not isinstance(key_id, str) or not 0 < len(key_id) <= MAX_KEY_ID:
            raise Unauthenticated("The token does not say which key it is signed with")
        jwk = await self._keys.find(key_id)
        if jwk is None:
            raise Unauthenticated("The token is signed with a key that its issuer does not have")
        claims = _decode(jwt, token, jwk, self._issuers, self._rules.audiences)
        if str(claims.get("tid", "")).lower() != self._rules.tenant_id:
            raise Unauthenticated("The token is of another tenant")
        _check_times(claims, self._clock.now().timestamp())
        return claims


def audiences(names: tuple[str, ...]) -> frozenset[str]:
    """Add to each client id its `api://` URI, and to each URI its id.

    Tokens of version 2.0 have the id, tokens of version 1.0 either.
    """
    ids = [
        name.removeprefix("api://")
        for name in names
        if _GUID.fullmatch(name.removeprefix("api://"))
    ]
    return frozenset([*names, *ids, *(f"api://{client_id}" for client_id in ids)])


def principal_claims(text: str) -> dict[str, Any]:
    """Parse the claims in App Service's header, by their names in tokens.

    Roles are a list. Raises Unauthenticated for any other text.
    """
    try:
        principal = orjson.loads(base64.b64decode(text[:MAX_TOKEN], validate=True))
        if principal["auth_typ"] != "aad":
            raise Unauthenticated("The principal did not sign in with Entra ID")
        role_type = principal.get("role_typ")
        claims: dict[str, Any] = {}
        for entry in principal["claims"]:
            name, value = str(entry["typ"]), str(entry["val"])
            name = "roles" if name == role_type else _LONG_NAMES.get(name, name)
            if name == "roles":
                claims.setdefault(name, []).append(value)
            else:
                claims[name] = value
    except (binascii.Error, ValueError, KeyError, TypeError, AttributeError):
        raise Unauthenticated("X-MS-CLIENT-PRINCIPAL can't be read") from None
    return claims


def _decode(
    jwt: Any, token: str, jwk: Mapping[str, Any], issuers: Set[str], audiences: Set[str]
) -> dict[str, Any]:
    """Decode the claims if the signature, the issuer and the audience are right.

    Times are checked separately, by an injected clock.
    """
    options = {
        "require": ["exp", "iss", "aud"],
        **{f"verify_{name}": False for name in ("exp", "nbf", "iat", "sub", "jti")},
    }
    try:
        key = jwt.algorithms.RSAAlgorithm.from_jwk({name: jwk[name] for name in ("kty", "n", "e")})
        if key.key_size < LEAST_KEY_BITS:
            raise Unauthenticated("The token is signed with a key that is too short")
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[_ALGORITHM],
            audience=list(audiences),
            issuer=list(issuers),
            options=options,
        )
    except jwt.InvalidIssuerError:
        raise Unauthenticated("The token is of another issuer") from None
    except jwt.InvalidAudienceError:
        raise Unauthenticated("The token is meant for another audience") from None
    except jwt.MissingRequiredClaimError:
        raise Unauthenticated("The token lacks one of the claims iss, aud and exp") from None
    except (jwt.PyJWTError, ValueError, KeyError):
        raise Unauthenticated("The token's signature is wrong") from None
    return claims


def _check_times(claims: Mapping[str, Any], now_s: float) -> None:
    """Raise Unauthenticated for a token before or after its time.

    `exp` is required, `nbf` is not (RFC 7519, 4.1).
    """
    ends_s, begins_s = claims.get("exp"), claims.get("nbf", 0)
    if type(ends_s) is not int or type(begins_s) is not int:
        raise Unauthenticated("The token's times can't be read")
    if now_s >= ends_s + LEEWAY_S:
        raise Unauthenticated("The token has expired")
    if now_s < begins_s - LEEWAY_S:
        raise Unauthenticated("The token is not valid yet")


def _is_of_application(claims: Mapping[str, Any]) -> bool:
    """Whether an application got this token for itself.

    The token says so, or its subject is the application, as a person's never is.
    """
    kind = claims.get("idtyp")
    return (
        kind == "app"
        if kind is not None
        else claims.get("sub") is not None and claims.get("sub") == claims.get("oid")
    )


def _claim(claims: Mapping[str, Any], rule: str) -> str:
    """The value of the claim that `claim:NAME` names. Raises ValueError unless it is a text."""
    value = claims.get(rule.removeprefix("claim:"))
    if not isinstance(value, str):
        raise ValueError("the claim is not a text")
    return value


def _words(value: Any) -> list[str]:
    return value.split() if isinstance(value, str) else []


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
