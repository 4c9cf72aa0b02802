"""The formats of secrets and of personal data.

A format has hints, which are words that must be in a text, and an expression that finds the rest.
Formats are those that the issuers document. No rule uses entropy alone: hashes, ids and encoded
files look as random as keys do. Every expression is linear on any text, and is tried only where the
text has a hint of it. Note: to compile them all takes some 50 ms, so this module is imported for
the first text and not with the program.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from memory_core.domain.redaction.issued_keys import (
    BLOCKS,
    HEADERS,
    PASSWORD_IN_ADDRESS,
    PREFIXED,
    SECRETS_IN_ADDRESSES,
    TOKENS,
)
from memory_core.domain.redaction.named_secrets import (
    ASSIGNED_SECRETS,
    NAMED_SECRETS,
    SECRETS_IN_OPTIONS,
    SECRETS_IN_TAGS,
)
from memory_core.domain.redaction.rule import Rule
from memory_core.domain.redaction.said_secrets import SECRETS_IN_SENTENCES
from memory_core.domain.redaction.values import is_email_host, is_iban, is_payment_card, is_phone

_CARDS: Final = (
    Rule(
        "card number",
        (),
        re.compile(
            # the first digit before what may not stand before it: `re` skips to a digit at once
            r"[2-68](?<![A-Za-z0-9_.+-].)"
            r"(?:[0-9]{3}(?:[ \u00a0.\u2010-\u2014-]?[0-9]{4}){3}"
            r"(?:[ \u00a0.\u2010-\u2014-]?[0-9]{3})?"
            r"|(?<=3)[47][0-9]{2}([ \u00a0.\u2010-\u2014-]?)[0-9]{6}\1[0-9]{5}"
            r"|(?<=3)(?:0[0-5]|[689][0-9])[0-9]([ \u00a0.\u2010-\u2014-]?)[0-9]{6}\2[0-9]{4})"
            r"(?![A-Za-z0-9_+-]|\.[0-9])"
        ),
        0,
        lambda match: is_payment_card(match[0]),
    ),
)

_PERSONAL: Final = (
    Rule(
        "email",
        ("@",),
        re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@((?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![\w-])"),
        0,
        lambda match: is_email_host(match[1]),
    ),
    Rule(
        "iban",
        (),
        re.compile(
            r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ \u00a0]?[A-Z0-9]{4}){2,7}(?:[ \u00a0]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"  # noqa: E501
        ),
        0,
        lambda match: is_iban(match[0]),
    ),
    Rule(
        "phone number",
        (),
        re.compile(
            r"(?<![A-Za-z0-9_.+-])(?:\+"
            r"|00)?\(?[0-9]{1,5}\)?(?:[ \u00a0./()-]{0,2}[0-9]{1,5}){2,7}(?![A-Za-z0-9_+-]"
            r"|[.,][0-9])"
        ),
        0,
        lambda match: is_phone(match[0], match.string[max(0, match.start() - 40) : match.start()]),
    ),
    Rule(
        "ip address",
        (".",),
        re.compile(r"(?<![A-Za-z0-9_.-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![A-Za-z0-9_-]|\.[0-9])"),
        0,
        lambda match: _is_address(match),
    ),
    Rule(
        "ip address",
        (":",),
        re.compile(
            r"(?<![A-Za-z0-9_:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![A-Za-z0-9_:])"
        ),
        0,
        lambda match: _is_address(match),
    ),
)


def _is_address(match: re.Match[str]) -> bool:
    """Whether it is an address of a person's machine.

    Numbers of versions are not, and neither are addresses that every machine has.
    """
    if (
        match.string[max(0, match.start() - 10) : match.start()]
        .lower()
        .rstrip()
        .endswith(("version", " v", "release"))
    ):
        return False
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return False
    return not (
        address.is_loopback
        or address.is_unspecified
        or address.is_multicast
        or address.is_link_local
    )


SECRETS: Final = (
    *BLOCKS,
    *PASSWORD_IN_ADDRESS,
    *TOKENS,
    *PREFIXED,
    *SECRETS_IN_ADDRESSES,
    *HEADERS,
    *ASSIGNED_SECRETS,
    *NAMED_SECRETS,
    *SECRETS_IN_TAGS,
    *SECRETS_IN_OPTIONS,
    *SECRETS_IN_SENTENCES,
    *_CARDS,
)
"""The rules in the order of trying, the most specific rules first."""
_NAMES_OF_PERSONAL: Final = {
    "email": "email",
    "phone": "phone number",
    "iban": "iban",
    "ip": "ip address",
}
BY_KIND: Final[dict[str, tuple[Rule, ...]]] = {
    "secrets": SECRETS,
    "card": _CARDS,
    **{
        name: tuple(rule for rule in _PERSONAL if rule.kind == kind)
        for name, kind in _NAMES_OF_PERSONAL.items()
    },
}
"""The rules of each kind that the setting names."""
