"""Made-up secrets in the formats that their issuers document, planted into texts: sentences,
JSON, env files, code, addresses.

Everything is drawn from a seed, and nothing here knows the expressions that are to find it.
No secret opens anything.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LETTERS, DIGITS, HEX = string.ascii_letters, string.digits, "0123456789abcdef"
ALPHANUMERIC = LETTERS + DIGITS
URL_SAFE = ALPHANUMERIC + "-_"
Chance = random.Random


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with one secret in it. secret: what must not be left of it. carrier:
    what kind of text it is.
    """

    kind: str
    carrier: str
    secret: str
    text: str


def draw(chance: Chance, alphabet: str, length: int) -> str:
    """Characters of an alphabet."""
    return "".join(chance.choices(alphabet, k=length))


def base64_of(chance: Chance, size: int) -> str:
    """That many random bytes as base64."""
    return base64.b64encode(chance.randbytes(size)).decode()


def base64url_of(content: bytes) -> str:
    """Bytes as base64url without padding, as in a JSON Web Token."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def json_web_token(chance: Chance) -> str:
    """A signed token (RFC 7519)."""
    header = base64url_of(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    payload = base64url_of(
        json.dumps(
            {"sub": draw(chance, DIGITS, 10), "iat": chance.randrange(10**9, 2 * 10**9)}
        ).encode()
    )
    return f"{header}.{payload}.{base64url_of(chance.randbytes(32))}"


def private_key(chance: Chance) -> str:
    """A block of RFC 7468 with random content."""
    name = chance.choice(
        [
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "EC PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
        ]
    )
    content = base64_of(chance, chance.randrange(200, 600))
    lines = "\n".join(content[place : place + 64] for place in range(0, len(content), 64))
    return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----"


def card_number(chance: Chance) -> str:
    """A number of a payment card with its check digit, in groups or without."""
    prefix, length = chance.choice(
        [
            ("4", 16),
            ("51", 16),
            ("55", 16),
            ("2221", 16),
            ("37", 15),
            ("34", 15),
            ("6011", 16),
            ("3530", 16),
            ("36", 14),
        ]
    )
    digits = [int(digit) for digit in prefix + draw(chance, DIGITS, length - len(prefix) - 1)]
    total = sum(
        sum(divmod(digit * 2, 10)) if place % 2 == 0 else digit
        for place, digit in enumerate(reversed(digits))
    )
    number = "".join(map(str, digits)) + str(-total % 10)
    separator = chance.choice(["", " ", "-"])
    sizes = {16: (4, 4, 4, 4), 15: (4, 6, 5), 14: (4, 6, 4)}[length]
    groups, begin = [], 0
    for size in sizes:
        groups.append(number[begin : begin + size])
        begin += size
    return separator.join(groups)


def password(chance: Chance) -> str:
    """What people choose: a word with a number and a sign, or random characters."""
    word = chance.choice(
        ["Sommer", "dragon", "Monkey", "sakura", "football", "Berlin", "correcthorse", "Tr0ub4dor"]
    )
    sign, end = chance.choice(["", "-", "_", "#", "!"]), chance.choice(["", "!", "$", "?x"])
    common = f"{word}{sign}{draw(chance, DIGITS, chance.randrange(2, 5))}{end}"
    return chance.choice(
        [common, draw(chance, ALPHANUMERIC + "!#$%*+-_", 14) + draw(chance, DIGITS, 2)]
    )


CAPITALS = string.ascii_uppercase + DIGITS
TOKENS: dict[str, Callable[[Chance], str]] = {
    "aws access key": lambda c: (
        c.choice(["AKIA", "ASIA"]) + draw(c, string.ascii_uppercase + "234567", 16)
    ),
    "azure storage key": lambda c: base64_of(c, 64),
    "azure client secret": lambda c: (
        draw(c, ALPHANUMERIC, 3) + "8Q~" + draw(c, ALPHANUMERIC + "_~.-", 34)
    ),
    "azure ai key": lambda c: (
        draw(c, ALPHANUMERIC, 52) + "JQQJ99" + draw(c, string.ascii_uppercase + DIGITS, 26)
    ),
    "google api key": lambda c: "AIza" + draw(c, URL_SAFE, 34) + draw(c, ALPHANUMERIC, 1),
    "google client secret": lambda c: "GOCSPX-" + draw(c, URL_SAFE, 28),
    "github token": lambda c: (
        c.choice(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]) + draw(c, ALPHANUMERIC, 36)
    ),
    "github fine-grained token": lambda c: (
        f"github_pat_{draw(c, ALPHANUMERIC, 22)}_{draw(c, ALPHANUMERIC, 59)}"
    ),
    "gitlab token": lambda c: (
        c.choice(["glpat-", "gldt-", "glrt-", "glptt-"]) + draw(c, URL_SAFE, 20)
    ),
    "slack token": lambda c: (
        f"xox{c.choice('bpa')}-{draw(c, DIGITS, 12)}-{draw(c, DIGITS, 12)}-{draw(c, ALPHANUMERIC, 24)}"  # noqa: E501
    ),
    "slack webhook": lambda c: (
        f"https://hooks.slack.com/services/T{draw(c, CAPITALS, 10)}/B{draw(c, CAPITALS, 10)}/{draw(c, ALPHANUMERIC, 24)}"  # noqa: E501
    ),
    "stripe key": lambda c: (
        c.choice(["sk_live_", "rk_live_", "sk_test_"]) + draw(c, ALPHANUMERIC, c.choice([24, 99]))
    ),
    "openai key": lambda c: (
        c.choice(["sk-proj-", "sk-svcacct-"])
        + draw(c, URL_SAFE, 74)
        + "T3BlbkFJ"
        + draw(c, URL_SAFE, 74)
    ),
    "openai key, old": lambda c: (
        "sk-" + draw(c, ALPHANUMERIC, 20) + "T3BlbkFJ" + draw(c, ALPHANUMERIC, 20)
    ),
    "anthropic key": lambda c: "sk-ant-api03-" + draw(c, URL_SAFE, 93) + "AA",
    "twilio key": lambda c: "SK" + draw(c, HEX, 32),
    "sendgrid key": lambda c: f"SG.{draw(c, URL_SAFE, 22)}.{draw(c, URL_SAFE, 43)}",
    "npm token": lambda c: "npm_" + draw(c, ALPHANUMERIC, 36),
    "pypi token": lambda c: "pypi-AgEIcHlwaS5vcmc" + draw(c, URL_SAFE, 150),
    "hugging face token": lambda c: "hf_" + draw(c, LETTERS, 34),
    "digitalocean token": lambda c: "dop_v1_" + draw(c, HEX, 64),
    "shopify token": lambda c: "shpat_" + draw(c, HEX, 32),
    "telegram token": lambda c: f"{draw(c, '123456789', 10)}:AA{draw(c, URL_SAFE, 33)}",
    "databricks token": lambda c: "dapi" + draw(c, HEX, 32),
    "vault token": lambda c: "hvs." + draw(c, URL_SAFE, 90),
    "json web token": json_web_token,
    "private key": private_key,
    "card number": card_number,
    "memory core key": lambda c: (
        f"mc_{c.choice(['shop', 'my_app', 'a.b-c'])}_{draw(c, ALPHANUMERIC, 8)}_{draw(c, ALPHANUMERIC, 43)}"  # noqa: E501
    ),
}
"""Kinds that are known by their form, wherever they stand."""
ADDRESSES: dict[str, Callable[[Chance, str], str]] = {
    "postgres address": lambda c, p: (
        f"postgresql://app:{p}@db-{draw(c, DIGITS, 2)}.internal:5432/orders?sslmode=require"
    ),
    "mongo address": lambda c, p: (
        f"mongodb+srv://root:{p}@cluster{draw(c, DIGITS, 1)}.mongodb.net/?retryWrites=true"
    ),
    "redis address": lambda c, p: f"rediss://:{p}@cache.internal:6380/0",
    "amqp address": lambda c, p: f"amqps://worker:{p}@queue.internal/vhost",
    "basic auth address": lambda c, p: (
        f"https://admin:{p}@intranet.test/reports?year=20{draw(c, DIGITS, 2)}"
    ),
}
"""Addresses with a password in them, percent-encoded where it has to be."""
CONNECTIONS: dict[str, Callable[[Chance], tuple[str, str]]] = {
    "azure storage connection": lambda c: _within(
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
        base64_of(c, 64),
    ),
    "azure service bus connection": lambda c: _within(
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}",
        base64_of(c, 32),
    ),
    "sql connection": lambda c: _within(
        "Server=tcp:shop.database.windows.net,1433;Database=orders;User "
        "ID=app;Password={};Encrypt=true;",
        draw(c, ALPHANUMERIC, 12) + "7!",
    ),
    "bearer header": lambda c: _within("Authorization: Bearer {}", draw(c, ALPHANUMERIC, 40)),
    "basic header": lambda c: _within("Authorization: Basic {}", base64_of(c, 18)),
    "api key header": lambda c: _within("X-API-Key: {}", draw(c, HEX, 32)),
    "aws secret key": lambda c: _within(
        "aws_secret_access_key = {}", draw(c, ALPHANUMERIC + "+/", 38) + "a1"
    ),
    "variable for a pass": lambda c: _within("SMTP_PASS={}", draw(c, ALPHANUMERIC, 12) + "7a"),
    "key of any name": lambda c: _within("STRIPE_KEY={}", draw(c, ALPHANUMERIC, 30) + "a1"),
    "variable of a manifest": lambda c: _within(
        "- name: DB_PASSWORD\n  value: {}", draw(c, ALPHANUMERIC, 12) + "7a"
    ),
    "token in an address": lambda c: _within(
        "git clone https://{}@github.com/shop/app.git", draw(c, HEX, 40)
    ),
    "sql user": lambda c: _within(
        "CREATE USER app WITH PASSWORD '{}';", draw(c, ALPHANUMERIC, 12) + "7a"
    ),
    "card's code": lambda c: _within("cvv: {}", draw(c, DIGITS, 4)),
}
"""Lines that say what their value is: the line, and the value."""
CARRIERS: dict[str, str] = {
    "english": "Hi Ana, for the deployment on Friday use {} and tell me when it is done.",
    "english, end": "By the way, the new one is {}",
    "german": "Hallo Jonas, nimm für das Release bitte {}, das alte gilt nicht mehr.",
    "japanese": "明日のデプロイには{}を使ってください。",
    "json": '{{"service": "billing", "retries": 3, "setting": "{}", "note": "rotate in May"}}',
    "env": "# production\nREGION=westeurope\nSERVICE_SETTING={}\nLOG_LEVEL=info\n",
    "code": 'client = Client(region="eu", value="{}")  # TODO: move to the vault\nclient.run()',
    "markdown": "Steps:\n1. open the shell\n2. paste `{}`\n3. press enter",
}
KEYS: dict[str, str] = {
    "english": "Our API key for the map service is {}, it expires in May.",
    "english, colon": "API key: {}",
    "german": "Der Schlüssel für den Kartendienst lautet {}.",
    "japanese": "地図サービスのAPIキーは{}です。",
}
"""Sentences about keys of no known form."""
STATEMENTS: dict[str, str] = {
    "english": "The wifi password is {}, please keep it to yourself.",
    "english, of what": "My password for the bank's web site is {}.",
    "english, colon": "Password: {}",
    "english, changed": "I changed the admin password to {} this morning.",
    "german": "Das Passwort fürs WLAN lautet {}.",
    "german, colon": "Kennwort: {}",
    "german, ist": "Mein neues Passwort ist {}, bitte nicht weitersagen.",
    "japanese": "Wi-Fiのパスワードは{}です。",
    "japanese, quoted": "パスワードは「{}」に変更しました。",
    "json": '{{"user": "ana", "password": "{}"}}',
    "env": "DB_USER=app\nDB_PASSWORD={}\n",
    "code": 'connect(host="db", password="{}")',
    "english, before": "Use {} as the password for the new account.",
    "english, apart": "Log in as ana, password {} as always.",
    "markdown": "**Password:** `{}`",
    "italian": "La password è {}.",
    "russian": "Пароль: {}",
    "chinese": "密码是{}",
    "call": 'auth=("ana", "{}")',
    "yaml": "database:\n  user: app\n  password: {}\n",
}


def _within(line: str, value: str) -> tuple[str, str]:
    return line.format(value), value


def plant(count: int, seed: int) -> Iterator[Planted]:
    """That many texts, the kinds in turn, in carriers that are drawn."""
    chance = random.Random(seed)
    kinds = [
        *TOKENS,
        *ADDRESSES,
        *CONNECTIONS,
        "key in a sentence",
        "password",
        "password",
        "password",
    ]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        if kind == "password":
            carrier, secret = chance.choice(list(STATEMENTS)), password(chance)
            yield Planted(kind, carrier, secret, STATEMENTS[carrier].format(secret))
            continue
        if kind == "key in a sentence":
            carrier, secret = (
                chance.choice(list(KEYS)),
                draw(chance, chance.choice([HEX, ALPHANUMERIC]), 32),
            )
            yield Planted(kind, carrier, secret, KEYS[carrier].format(secret))
            continue
        carrier = chance.choice(list(CARRIERS))
        if kind in TOKENS:
            secret = whole = TOKENS[kind](chance)
        elif kind in ADDRESSES:
            secret = draw(chance, ALPHANUMERIC + "-_.~!$", chance.randrange(6, 20))
            whole = ADDRESSES[kind](chance, secret)
        else:
            whole, secret = CONNECTIONS[kind](chance)
        written = json.dumps(whole)[1:-1] if carrier in ("json", "code") else whole
        kept_secret = json.dumps(secret)[1:-1] if carrier in ("json", "code") else secret
        yield Planted(kind, carrier, kept_secret, CARRIERS[carrier].format(written))
