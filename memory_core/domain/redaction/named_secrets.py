"""Secrets after a name: in settings, fields, tags and options of commands."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from memory_core.domain.redaction.issued_keys import LEAST_OF_A_TOKEN
from memory_core.domain.redaction.rule import Rule, any_case
from memory_core.domain.redaction.values import (
    is_measure,
    is_open_password,
    is_random,
    is_secret_value,
)

LEAST_OF_A_NUMBER: Final = 6
"""Digits of a password that is a number."""


OF_PAGES: Final = "".join(
    f"(?<!{word}token)(?<!{word}[_-]token)" for word in ("page", "next", "sync", "continuation")
)
"""Excludes a token for the next page of a list."""
_KINDS_OF_NAMES: Final = (
    (
        "password",
        any_case(
            r"pass(?:word|wd|wort|phrase|code|(?<![A-Za-z]pass)|(?<=dbpass)|(?<=[a-z](?-i:P)ass))",
            r"pwd", r"pw(?<![A-Za-z]pw)", r"psk", r"kennwort", r"wi-?fi[ _-]?key",
        ),
        "pass pwd kennwort psk pw fi_key fikey fi-key",
    ),
    (
        "token",
        any_case(rf"token(?:{OF_PAGES}|(?<=fb_page_token)|(?<=facebook_page_token))"),
        "token",
    ),
    (
        "key",
        any_case(
            r"secret(?:[ _-]?(?:access[ _-]?)?key)?", r"api[ _-]?(?:key|secret)", r"credentials?",
            *(
                rf"{owner}[ _-]?(?:key|signature)"
                for owner in (
                    "access", "account", "shared[ _-]?access", "pre-?shared", "private",
                    "encryption", "signing", "master", "auth",
                )
            ),
        ),
        "secret key credential signature",
    ),
)  # fmt: skip
_SUFFIX: Final = (
    r"(?:[_-]?(?:[0-9]{1,4}|prod|production|dev|test|staging|live|new|old|value|base64|b64|hash"
    r"|base)| value)?"
)
_BETWEEN: Final = (
    # name = value; **name:** value; name: | and the value in the next line
    r"(?:\\?[\"'`]?\]?[*_]{0,2}\s{0,3}(?:=>|:=|={1,2}|:|：|→)(?:\*\*|__)?\s{0,3}(?:[|>][+-]?\n\s{0,20})?"
    # "name": {"value": "…"}, "names": ["…"]
    r"|s?\\?[\"']?\s{0,3}:\s{0,3}[{\[]\s{0,3}(?:\\?[\"']value\\?[\"']\s{0,3}:\s{0,3})?(?=\\?[\"'])"
    # "name": "DB_PASSWORD", "value": "…", as in JSON, YAML and XML
    r"|\\?[\"']?(?:[,\s]|\\n){1,40}\\?[\"']?value\\?[\"']?\s{0,3}[:=]\s{0,3})"
)
_VALUE: Final = (
    _BETWEEN + r"(?:\\?[\"'`](?!\[redacted)([^\"'`\\\n]{4,500})\\?[\"'`]"
    r"|(?!\[redacted)([^\s\"'`\\,;&<>(){}\[\]|「」。、]{4,500}))"
)
WEAK_NAME: Final = re.compile(r"(?:db)?p(?:ass|w)(?![a-z])", re.IGNORECASE)
"""Names that do not only mean passwords.

Their values have a digit or a sign, and no blank.
"""


def _is_assigned(match: re.Match[str], kind: str) -> bool:
    quoted = match[1] is not None
    value, text = match[1] or match[2], match[0]
    before = text[: match.start(1 if quoted else 2) - match.start()]
    has_blank, is_weak = " " in value, WEAK_NAME.match(text) is not None
    if kind == "token" and len(value) < LEAST_OF_A_TOKEN and any(sign in before for sign in "[{"):
        return False  # the words of a text
    if has_blank and (is_weak or before.endswith("`") or any(sign in before for sign in "[{")):
        return False
    if is_weak and is_measure(value):
        return False
    if value.isdecimal() and not quoted and kind == "password" and before.rstrip(" :")[-1] in "\"'":
        return len(value) >= LEAST_OF_A_NUMBER
    return is_secret_value(
        value, quoted=quoted, assigned="=" in before, chosen=kind == "password" and not is_weak
    )


def is_given(match: re.Match[str]) -> bool:
    """Whether a matched value is a secret: no number, and random enough."""
    return not match[1].isdecimal() and is_secret_value(match[1])


def is_chosen(match: re.Match[str]) -> bool:
    """Whether the argument that a command takes for a password may be a password.

    It may be a word, too.
    """
    value = next(group for group in match.groups() if group is not None)
    return not value.isdecimal() and is_secret_value(value, quoted=True, chosen=True)


_NO_SECRETS: Final = frozenset({
    "anon", "blob", "cache", "composite", "dedup", "file", "foreign", "group", "host",
    "idempotency", "index", "join", "lookup", "message", "object", "order", "partition", "primary",
    "public", "publishable", "row", "s3", "shard", "site", "sort", "storage", "translation",
    "unique",
})  # fmt: skip
"""Purposes of keys that are public."""
_LAST_WORD: Final = re.compile(r"[A-Za-z0-9]{1,20}\Z")


def is_of_a_secret(match: re.Match[str]) -> bool:
    """Whether a random value belongs to a name that may be a secret's.

    Public keys and UUIDs do not.
    """
    before = match.string[max(0, match.start() - 20) : match.start()].rstrip(" _-")
    word = _LAST_WORD.search(before)
    return (
        (word is None or word[0].casefold() not in _NO_SECRETS)
        and _UUID.fullmatch(match[1]) is None
        and not _is_words(match[1])
        and is_random(match[1])
    )


_SEPARATOR: Final = re.compile(r"[-_./~+=]")
_WORD: Final = re.compile(r"[A-Z]?[a-z]{0,40}|v?[0-9]{1,20}")


def _is_words(value: str) -> bool:
    """Whether it consists of words and numbers with signs between them."""
    return all(map(_WORD.fullmatch, _SEPARATOR.split(value)))


_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


# password = "…", "api_key": "…", CLIENT_SECRET=…, AccountKey=…; with quotes around the value,
# or without.
ASSIGNED_SECRETS: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(f"(?:{names})(?i:{_SUFFIX}{_VALUE})"),
        1,
        partial(_is_assigned, kind=kind),
    )
    for kind, names, hints in _KINDS_OF_NAMES
)
_ANY_NAME: Final = "|".join(names for _, names, _ in _KINDS_OF_NAMES)
NAMED_SECRETS: Final = (
    # STRIPE_KEY=…, DD_APP_KEY: …, aeg-sas-key: …: keys of any name, where the value is random
    Rule(
        "key",
        ("_key", "-key"),
        re.compile(
            r"[_-]key[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9+/_-]{20,500}={0,2})", re.IGNORECASE
        ),
        1,
        is_of_a_secret,
        least=20,
    ),
    # AUTH=…, _auth=…, "auth": "…"
    Rule(
        "credentials",
        ("auth=", "auth =", "auth:", 'auth"'),
        re.compile(
            r"(?<![A-Za-z0-9])_?auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9+/_-]{16,500}={0,2})",
            re.IGNORECASE,
        ),
        1,
        is_of_a_secret,
        also="auth",
        least=16,
    ),
    # ENV DB_PASSWORD …, setx API_KEY …, aws configure set aws_secret_access_key …
    Rule(
        "password",
        ("_password ", "_passwd ", "_pass ", "_pwd "),
        re.compile(
            r"[A-Za-z0-9]_(?:password|passwd|pass|pwd)[ \t]{1,3}[\"']?"
            r"([^\s\"'<>(){},;|`]{6,500})(?![(=])",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_open_password(match[1]),
        also="_p",
    ),
    Rule(
        "key",
        ("_key ", "_token ", "_secret "),
        re.compile(
            r"[A-Za-z0-9]_(?:key|token|secret)[ \t]{1,3}[\"']?([A-Za-z0-9+/_-]{20,500}={0,2})",
            re.IGNORECASE,
        ),
        1,
        is_of_a_secret,
        also="_",
        least=20,
    ),
    # {"pin": 4821}, {"cvv": "123"}, CVC 123
    Rule(
        "password",
        ('pin"', "pin'", 'otp"', "otp'"),
        re.compile(
            r"[\"'](?:\w{1,20}_)?(?:pin|otp)\\?[\"']\s{0,3}:\s{0,3}\\?[\"']?([0-9]{4,8})(?![\w.])",
            re.IGNORECASE,
        ),
        1,
    ),
    Rule(
        "card code",
        ("cvv", "cvc"),
        re.compile(
            r"(?<![A-Za-z])cv[vc]2?(?: (?:code|number))?"
            r"(?: (?:is|was)|\\?[\"']?\s{0,2}[:=]|(?<=cvv))"
            r"\s{0,2}\\?[\"']?([0-9]{3,4})(?![A-Za-z0-9_]|\.[0-9])",
            re.IGNORECASE,
        ),
        1,
    ),
    # define('DB_PASSWORD', '…')
    Rule(
        "password",
        ("define(", "setenv(", "setproperty(", "setdefault("),
        re.compile(
            rf"(?:define|setenv|setproperty|setdefault)\(\s{{0,3}}[\"'][\w.-]{{0,40}}?(?:{_ANY_NAME})"
            r"[\"']\s{0,3},\s{0,3}[\"']([^\"'\n]{4,500})[\"']",
            re.IGNORECASE,
        ),
        1,
        is_chosen,
        also="(",
    ),
    # setPassword("…"), .password("…"), auth=("ana", "…")
    Rule(
        "password",
        ("setpassword(", "set_password(", ".password("),
        re.compile(
            r"(?:set_?|\.)password\(\s{0,3}(?:\"([^\"\n]{4,128})\"|'([^'\n]{4,128})')",
            re.IGNORECASE,
        ),
        1,
        is_chosen,
        also="password(",
    ),
    Rule(
        "password",
        ("auth=(", "auth = (", "auth("),
        re.compile(
            r"(?:(?<![A-Za-z])auth\s?=\s?|basic_?auth)\(\s{0,3}[\"'][^\"'\n]{1,64}[\"']\s{0,3},"
            r"\s{0,3}[\"']([^\"'\n]{4,128})[\"']\s{0,3}[,)]",
            re.IGNORECASE,
        ),
        1,
        is_chosen,
        also="(",
    ),
    # CREATE USER … PASSWORD '…', IDENTIFIED BY '…'
    Rule(
        "password",
        ("password '", 'password "', "identified "),
        re.compile(
            r"(?:(?:(?-i:PASSWORD)|with (?:encrypted )?password)\s{1,3}\"([^\"\s]{4,128})\""
            r"|(?:(?-i:PASSWORD)|with (?:encrypted )?password|identified (?:with \w{1,40} )?by)"
            r"\s{1,3}'([^'\s]{4,128})')",
            re.IGNORECASE,
        ),
        1,
        is_chosen,
    ),
)

# <password>…</password>, <string name="password">…</string>, --api-token …, curl -u name:…


def _is_in_tag(match: re.Match[str]) -> bool:
    """Whether a tag's name, or its attribute `name`, names the tag's value.

    A label does not: it is about another tag.
    """
    before = match.string[max(0, match.start() - MOST_OF_A_TAG) : match.start()]
    is_attribute = '">' in match[0] or "'>" in match[0]
    return is_given(match) and (not is_attribute or _NAME_IN_TAG.search(before) is not None)


MOST_OF_A_TAG: Final = 60
_NAME_IN_TAG: Final = re.compile(r"\b(?:name|key)=[\"'][\w.-]{0,40}\Z")
_TAG_ENDS: Final = r"(?:>|[\"']>|</(?:key|name)>\s{0,20}<(?:string|value)>)"
SECRETS_IN_TAGS: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(rf"(?:{names})(?i:{_SUFFIX}{_TAG_ENDS})\s{{0,3}}([^\s<>]{{4,500}})\s{{0,3}}</"),
        1,
        _is_in_tag,
        also="</",
    )
    for kind, names, hints in _KINDS_OF_NAMES
)


def _is_of_a_client(match: re.Match[str]) -> bool:
    """Whether an option belongs to `curl` or a similar program."""
    before = match.string[max(0, match.start() - 200) : match.start()]
    command = re.split(r"[\n;|&]", before)[-1]
    return "curl" in command or "http" in command


SECRETS_IN_OPTIONS: Final = (
    *(
        Rule(
            kind,
            tuple(hints.split()),
            re.compile(
                rf"(?<![\w-])--(?:[a-z0-9]{{1,20}}-){{0,3}}(?:{names})\s{{1,3}}[\"']?([^\s\"'<>]{{4,500}})"
            ),
            1,
            is_given,
            also="--",
        )
        for kind, names, hints in _KINDS_OF_NAMES
    ),
    Rule(
        "password",
        ("-u", "--user", "http -a"),
        re.compile(
            r"(?<![\w-])(?:-u|--user|(?<=http )-a)[ =]?[\"']?[^\s:\"'/]{1,64}:([^\s:\"'/]{4,256})"
        ),
        1,
        lambda match: is_given(match) or (is_chosen(match) and _is_of_a_client(match)),
    ),
    Rule(
        "password",
        ("mysql", "mariadb", "7z"),
        re.compile(
            r"\b(?:mysql(?:dump|admin|import)?|mariadb|7z)\b[^\n|;]{0,100}? -p"
            r"[\"']?([^\s\"'-][^\s\"']{3,127})"
        ),
        1,
        is_given,
        also=" -p",
    ),
    Rule(
        "password",
        ("sshpass", "login", "redis-cli", "twine"),
        re.compile(
            r"\b(?:(?:sshpass|(?:docker|az|helm registry|podman) login|twine upload)"
            r"\b[^\n|;]{0,100}? -p"
            r"|redis-cli\b[^\n|;]{0,100}? -a)[ =]?"
            r"(?:'([^'\n]{4,500})'|\"([^\"\n]{4,500})\"|([^\s\"'<>-][^\s\"'<>]{3,499}))"
        ),
        1,
        is_chosen,
        also=" -",
    ),
    Rule(
        "password",
        ("-storepass ", "-keypass "),
        re.compile(r"-(?:store|key)pass [\"']?([^\s\"'<>]{4,500})"),
        1,
        is_given,
    ),
)

NAMES: Final = (
    *((kind, re.compile(rf"(?:{names})(?i:{_SUFFIX})\Z")) for kind, names, _ in _KINDS_OF_NAMES),
    ("key", re.compile(r"authorization\Z", re.IGNORECASE)),
)
"""The kind of a secret, and the end of a field's name that indicates it."""
NAMES_OF_NUMBERS: Final = (
    ("password", re.compile(r"(?<![A-Za-z])(?:pin|otp)\Z", re.IGNORECASE), 4, 8),
    ("card code", re.compile(r"(?<![A-Za-z])cv[vc]2?\Z", re.IGNORECASE), 3, 4),
)
"""The same for numbers: kind, name, least and greatest number of digits."""
