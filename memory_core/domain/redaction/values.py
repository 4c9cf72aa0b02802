"""Checks of values whose form alone does not tell their kind.

They compute check digits, and recognise words that are no password.
"""

from __future__ import annotations

import re
from typing import Final

_PLACEHOLDER: Final = re.compile(
    r"^(?:x{3,}|\*{3,}|\.{3,}|•{3,}|#{3,}|-{3,}|_{3,}|0{4,})"
    r"|\b(?:your|insert|enter|replace|change|example|sample|dummy|placeholder|fake|todo|redacted"
    r"|hidden|masked|foo|bar)\b|^(?:my|the|an?|some)[ _-]|your[_-]?|example|placeholder"
    r"|change[_-]?me|^[a-z_-]*(?:password|passwort|secret|token|key)$|^test$|^null$|^none$|^true$"
    r"|^false$|^undefined$|\.\.\.$|…$",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"^(?:\$[({]|\$[A-Za-z_]+$|%[A-Za-z_]+%?$|@[A-Za-z_]+$|process\.env|os\.|env\.|getenv|self\."
    r"|this\.|args\.|config\.|settings\.|options\.|request\.|req\.|body\.|data\.|form\.|user\.|str$"
    r"|string$)|^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$"
    r"|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[A-Za-z][a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:_[a-z]+)+$"
    r"|^![A-Za-z]+$|^/[a-z0-9_./-]*$|^/(?:home|Users)/|^\.{1,2}/|^https?://|^0x[0-9A-Fa-f]{40}$"
)
"""Names, and code that reads a secret from its store."""
_DIGIT: Final = re.compile(r"[0-9]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_SYMBOL: Final = re.compile(r"[!#$%&*+=?@^~|]")
_INNER_CAPITAL: Final = re.compile(r"[a-z][A-Z]")
_ORDINARY: Final = frozenset({
    "incorrect", "invalid", "wrong", "required", "missing", "expired", "correct", "weak", "strong",
    "empty", "secret", "encrypted", "hashed", "stored", "saved", "changed", "reset", "right",
    "fine", "easy", "hard", "okay", "protected", "needed", "optional", "valid", "unknown",
    "private", "public", "secure", "insecure", "compromised", "leaked", "forgotten", "lost", "gone",
    "there", "here", "same", "different", "unique", "correctly", "again", "today", "always",
    "never", "hidden", "visible", "blank", "short", "long", "simple", "complicated", "complex",
    "important", "mandatory", "ready", "safe", "unsafe", "good", "bad", "great", "not", "only",
    "also", "still", "very", "really", "being", "automatically", "too", "so", "already", "probably",
    "simply", "recover", "remember", "forget", "change", "access", "login", "enter", "protect",
    "share", "update", "store", "type", "guess", "verify", "confirm", "string", "number", "text",
    "field", "value", "input", "variable", "falsch", "richtig", "korrekt", "abgelaufen", "sicher",
    "unsicher", "nötig", "erforderlich", "leer", "gespeichert", "geheim", "vergessen", "geändert",
    "zurückgesetzt", "verschlüsselt", "ungültig", "gültig", "notwendig", "einfach", "schwach",
    "stark", "unbekannt", "weg", "neu", "alt", "kurz", "lang", "bekannt", "geschützt", "passwort",
    "kennwort", "incorrecte", "incorrecta", "correcta", "obligatoire", "requis", "oublié", "perdue",
    "perdido", "segura", "fuerte", "débil", "password", "obligatoria", "opcional", "requerida",
    "obbligatoria", "obbligatorio", "sbagliata", "scaduta", "corretta", "sicura", "necessaria",
    "richiesta", "errata", "debole", "expirada", "incorreta",
    "necesaria", "correcto", "incorrecto", "caducada", "expirée", "invalide", "facultatif",
})  # fmt: skip
"""Words that are said of passwords.

A word that ends a sentence after "the password is" may be a password if it is not among them.
"""
_SHORT_CODE: Final = re.compile(r"\bpin\b|geheimzahl|code\b|暗証番号|パスコード", re.IGNORECASE)
_NUMBER_ONLY: Final = re.compile(r"\bpin\b|geheimzahl|暗証番号", re.IGNORECASE)
_COUNTED: Final = re.compile(r"[0-9]{1,9}(?:st|nd|rd|th|-?[a-z]{3,12})|[0-9]{1,3}[-–][0-9]{1,3}")
_MEASURE: Final = re.compile(r"[0-9.,]{1,12}[A-Za-z%]{0,12}")
_RUN: Final = re.compile(r"[0-9]+|[a-z]+|[A-Z]+")
LEAST_RUNS: Final = 6
LEAST_RUNS_OF_A_PASSWORD: Final = 4
_SIGN: Final = re.compile(r"[!#$%&*@^~]")
_EMAIL: Final = re.compile(r"@[\w-]{1,63}\.[A-Za-z]")
_OF_A_PIN: Final = re.compile(r"pin\b", re.IGNORECASE)
_OF_A_PASS: Final = re.compile(r"pass(?![a-z])", re.IGNORECASE)
_MOST_LOOKED_AT: Final = 100


def is_secret_value(
    value: str, *, quoted: bool = False, assigned: bool = True, chosen: bool = False
) -> bool:
    """Whether a value beside a name such as `api_key` may be a secret.

    Placeholders, code that reads a secret, and plain words are none.

    Args:
        value: The value without quotes.
        quoted: Whether it was in quotes.
        assigned: Whether it came after "=", not after ":", which prose has too.
        chosen: Whether people choose such values, so that it may be a word.

    """
    value = value[:_MOST_LOOKED_AT]
    if _PLACEHOLDER.search(value) or _CODE.search(value):
        return False
    digits, letters, symbols = _DIGIT.search(value), _LETTER.search(value), _SYMBOL.search(value)
    if not quoted and not assigned:
        return len(value) >= 6 and letters is not None and (digits or symbols) is not None
    mixed = digits is not None and (letters is not None or len(value) >= 6)
    return (
        mixed
        or symbols is not None
        or (chosen and quoted and assigned and " " not in value and len(value) >= 6)
    )


def is_measure(value: str) -> bool:
    """Whether it is a number, with or without a unit: 12, 98.5%, 100px."""
    return _MEASURE.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Whether a value that a sentence calls a key may be a key.

    A key's digits, small and capital letters change often.
    """
    runs = _RUN.findall(value[:_MOST_LOOKED_AT])
    return len(runs) >= LEAST_RUNS and _DIGIT.search(value) is not None and is_secret_value(value)


def is_open_password(value: str) -> bool:
    """Whether a value that directly follows the word "password" may be a password.

    Its letters and digits change often, or a sign is among them.
    """
    if _PLACEHOLDER.search(value) or _CODE.search(value) or _EMAIL.search(value):
        return False
    if _DIGIT.search(value) is None or _LETTER.search(value) is None or _COUNTED.fullmatch(value):
        return False
    return len(_RUN.findall(value)) >= LEAST_RUNS_OF_A_PASSWORD or _SIGN.search(value) is not None


def is_password(value: str, after: str, *, quoted: bool, noun: str) -> bool:
    """Whether the words after "the password is" are a password.

    Words about a password are none.

    Args:
        value: The value without quotes.
        after: The next characters of the text.
        quoted: Whether it was in quotes.
        noun: The words before the value, which tell the kind of password.

    """
    word = value.rstrip(".,!?:;…。、です").casefold()
    if (
        len(word) < 3
        or value.startswith(("[", "{", "<", "http://", "https://", "${", "$("))
        or "(" in value
        or after.startswith("(")
        or word.partition("|")[0] in _ORDINARY
        or (quoted and " " in value and noun.endswith(f"`{value}`"))
    ):
        return False
    if _OF_A_PASS.match(noun):
        return len(word) >= 6 and is_open_password(value.rstrip(".,!?"))
    if _OF_A_PIN.match(noun) and not word[0].isdecimal():
        return False
    if _PLACEHOLDER.search(word) or (not quoted and _CODE.search(value.rstrip(".,!?"))):
        return False
    if word.isdecimal():
        return len(word) >= 6 or (_SHORT_CODE.search(noun) is not None and len(word) >= 4)
    if _DIGIT.search(word):
        return _COUNTED.fullmatch(word) is None
    if quoted:
        return word not in _ORDINARY and len(word.split()) <= 6
    if _SYMBOL.search(value.rstrip("!?.")) or _INNER_CAPITAL.search(value):
        return True
    return _NUMBER_ONLY.search(noun) is None and _may_be_chosen(word) and _ends(value, after)


def _may_be_chosen(word: str) -> bool:
    """Whether a plain word may be a password.

    Most words that are said of passwords have the endings that are excluded here.
    """
    plain = len(word) >= 6 and word.isascii() and word.isalpha()
    return plain and word not in _ORDINARY and not word.endswith(("ing", "ed", "able", "ly"))


def _ends(value: str, after: str) -> bool:
    return (
        value.endswith((".", "!"))
        or not after.strip()
        or after.lstrip(" ").startswith((".", "\n", "!"))
    )


_MAESTRO: Final = frozenset({5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763})


def is_payment_card(text: str) -> bool:
    """Whether digits are the number of a payment card.

    They have an issuer's length and first digits, and the check digit of ISO/IEC 7812.
    """
    digits = [int(character) for character in text if character.isdecimal()]
    number = "".join(map(str, digits))
    first_four, count = int(number[:4]), len(digits)
    known = (
        (number[0] == "4" and count in (16, 19))
        or (
            count == 16
            and (
                51 <= int(number[:2]) <= 55
                or 2221 <= first_four <= 2720
                or 3528 <= first_four <= 3589
                or first_four in _MAESTRO
            )
        )
        or (
            count == 16
            and (
                first_four == 6011
                or number[:2] in ("65", "62", "60", "81")
                or 644 <= int(number[:3]) <= 649
            )
        )
        or (count == 15 and number[:2] in ("34", "37"))
        or (count == 14 and (number[:2] in ("36", "38", "39") or 300 <= int(number[:3]) <= 305))
    )
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return known and len(set(digits)) > 1 and (doubled + sum(digits[-1::-2])) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether it is an IBAN (ISO 13616).

    It has 15 to 34 characters, and its remainder by 97 is 1.
    """
    plain = "".join(text.split())
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


_CALLED: Final = re.compile(
    r"\b(?:phone|tel|telephone|call|mobile|cell|text|whatsapp|number|nummer|telefon|handy|mobil"
    r"|anrufen|fax|ring)\b|電話|携帯|番号",
    re.IGNORECASE,
)
_PHONE_GROUPS: Final = re.compile(
    r"\(?[0-9]{3}\)?[ .-]{1,2}[0-9]{3}[ .-][0-9]{4}|\(?0[0-9]{1,5}\)?[ /-][0-9 -]{5,12}"
    r"|0[0-9]{1,3}-[0-9]{2,4}-[0-9]{4}"
)
_DATE: Final = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}")


def is_phone(text: str, before: str) -> bool:
    """Whether digits are a telephone number.

    They have a country's code or usual groups, or the text calls them a telephone number.

    Args:
        text: Digits and the characters between them.
        before: The text before them.

    """
    digits = sum(character.isdecimal() for character in text)
    if not 7 <= digits <= 15 or text.count("(") > 1 or _DATE.match(text):
        return False
    if text.startswith(("+", "00")):
        return digits >= 8
    return _PHONE_GROUPS.fullmatch(text) is not None or _CALLED.search(before) is not None


def is_email_host(host: str) -> bool:
    """Whether a host may be that of a person's address; hosts of documentation are not."""
    return host.casefold() not in ("example.com", "example.org", "example.net")
