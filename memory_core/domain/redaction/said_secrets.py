"""Secrets that are said in a sentence: "my password is …"."""

from __future__ import annotations

import re
from typing import Final

from memory_core.domain.redaction.named_secrets import is_of_a_secret
from memory_core.domain.redaction.rule import Rule, any_case
from memory_core.domain.redaction.values import is_open_password, is_password, is_random

_MOST_AFTER: Final = 100


def text_after(match: re.Match[str]) -> str:
    """The next characters after a match.

    A copy of the whole rest for every match of a long text would cost too much.
    """
    return match.string[match.end() : match.end() + _MOST_AFTER]


_NOUNS: Final = any_case(
    r"pass(?:word|phrase|code|wor[td]e?|(?<=\bpass)(?=\s(?:is|was)\s)|e(?<=mot de passe))",
    r"pin(?:(?<=\b(?-i:PIN))(?> code|)|(?<=\bpin) code|(?<=\bmy pin)"
    r"|(?<=\b(?:his|her|our|sim) pin)"
    r"|(?<=\b(?:your|bank|card|door) pin)|(?<=\bphone pin)"
    r"|(?<=\bpin)(?: number)?(?=\s(?:is|was)\s[0-9]{4,8}\b(?! ?(?:feet|ft|[ck]?m|mm|yards)\b)))",
    r"pw(?<=\bpw)", r"parola", r"kennw(?:ort|örter)",
)  # fmt: skip
_KEY_NOUNS: Final = any_case("key", "token", "secret", "schlüssel")
_RARE_NOUNS: Final = any_case(
    r"log[ -]?in[ -]code", r"zugangscode", r"geheimzahl", r"contraseña",
    r"clave de acceso", r"senha",
    r"wachtwoord", r"hasło", r"lösenord", r"wi-?fi key", r"пароль", r"şifre",
    r"كلمة (?:المرور|السر)",
)  # fmt: skip
_NO_COMPOUND: Final = (
    r"(?![ -](?:managers?|resets?|polic(?:y|ies)|hints?|fields?|box|pages?|prompts?|strength|length"
    r"|protection|requirements?|generators?|vaults?|apps?|area|stores?|files?|rules?|change|check|safe"
    r"|liste|speicher))"
)
"""Excludes compounds such as "password manager", which are no password."""
_SAID: Final = (
    rf"(?:s|es|er)?\b{_NO_COMPOUND}(?:[ \t][\w'’äöüß.-]{{1,24}}){{0,6}}?"
    r"(?:\*{0,2}\s{0,2}[:=]\*{0,2}|\s{1,2}(?:is|was|are|be|to|ist|war|lautet|lautete|heißt|auf"
    r"|c['’]est|est|es|é|è|jest|är))"
    r"(?:\s{1,2}(?:now|still|simply|just|set to|changed to|jetzt|nun|einfach|weiterhin"
    r"|maintenant|ahora))?\s{0,2}[:：]?\s{0,2}"
    r"(?:[\"“„«'‘`](?!\[redacted)([^\"“”„«»'’`\n]{3,128})[\"”“»'’`]"
    r"|(?!\[redacted)([^\s\"'“”„«»「」『』`,;()\[\]<>]{3,127}[^\s\"'“”„«»「」『』`,;()\[\]<>.:?]))"
)
SECRETS_IN_SENTENCES: Final = (
    # The wifi password is …, my PIN for the card was …, das Passwort fürs WLAN lautet …
    *(
        Rule(
            "password",
            hints,
            re.compile(f"(?:{nouns})(?i:{_SAID})"),
            1,
            lambda match: is_password(
                match[1] or match[2], text_after(match), quoted=match[1] is not None, noun=match[0]
            ),
        )
        for nouns, hints in (
            (
                _NOUNS,
                ("pass", "pin", "pw", "kennw", "parola"),
            ),
            (
                _RARE_NOUNS,
                ("in code", "in-code", "zugangscode", "geheimzahl", "contraseña", "clave",
                    "senha", "wachtwoord", "hasło", "lösenord", "fi key", "пароль", "şifre",
                    "كلمة"),
            ),
        )
    ),
    # user ana, password …; the password's …; Password - …
    Rule(
        "password",
        ("pass", "pwd ", "пароль ", "पासवर्ड "),
        re.compile(
            r"(?:pass(?:word|wd|wort|code|phrase)|\bpwd|пароль|पासवर्ड)"
            rf"{_NO_COMPOUND}(?:['’]s)?[ \t]{{1,2}}(?:[-–—→][ \t])?[\"'`“«]?"
            r"([^\s\"'`“”«»,;()\[\]<>{}|]{7,127}[^\s\"'`“”«»,;()\[\]<>{}|.:?])(?![(=])",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_open_password(match[1]),
        least=8,
    ),
    # use … as the password
    Rule(
        "password",
        ("as ",),
        re.compile(
            r"\b(?:use|using|enter|type|put|set|take)\s[\"'`“]?([^\s\"'`“”<>]{6,128})[\"'`”]?\s{1,2}"
            r"as (?:\w{1,5} ){0,2}pass(?:word|phrase|code)\b"
            r"(?! (?:hash|manager|tool|store|vault|field))",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_password(match[1], "…", quoted=False, noun="password"),
        least=6,
        also="passw",
    ),
    # PIN 4821, your OTP is 482113
    Rule(
        "password",
        ("otp", "pin "),
        re.compile(
            r"\b(?:OTP(?: code)?(?: is| was)?\s{0,2}:?\s{0,2}([0-9]{4,8})|PIN ([0-9]{4}))"
            r"(?![\w.,-]?[0-9A-Za-z])"
        ),
        1,
    ),
    # app password: abcd efgh ijkl mnop; my seed phrase is …
    Rule(
        "password",
        ("app password",),
        re.compile(
            r"app password(?: is|:)\s{1,2}([a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4})(?![ a-z])",
            re.IGNORECASE,
        ),
        1,
    ),
    Rule(
        "seed phrase",
        ("seed phrase", "recovery phrase", "mnemonic"),
        re.compile(
            r"(?:seed phrase|recovery phrase|mnemonic)(?: is| was)?\s{0,2}:?\s{0,2}[\"'`“]?"
            r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z])",
            re.IGNORECASE,
        ),
        1,
    ),
    # The API key for the shop is …, unser Token lautet …
    Rule(
        "key",
        ("key", "token", "secret", "schlüssel"),
        re.compile(
            rf"(?:{_KEY_NOUNS})\b"
            r"(?i:(?:[ \t][\w'’äöüß.-]{1,24}){0,6}?\s{1,2}(?:is|was|to|ist|lautet|auf|est|es)"
            r"\s{1,2}"
            r"|[ \t](?:→[ \t])?(?=[\"“`]?[^\s\"]{16}))"
            r"[\"“„«'‘`]?([A-Za-z0-9_+/=.~-]{11,499}[A-Za-z0-9_+/=~-])"
        ),
        1,
        is_of_a_secret,
    ),
    Rule(
        "key",
        ("キー", "トークン"),
        re.compile(r"(?:キー|トークン)[^。\n「『\"：:!-~]{0,16}?(?:は|が|を|：|:|＝|="
            r"|に)\s{0,2}[「『\"“`]?([A-Za-z0-9_+/=.~-]{12,500})"),
        1,
        lambda match: is_random(match[1]),
    ),
    Rule(
        "password",
        ("パスワード", "暗証番号", "パスコード", "パスフレーズ", "合言葉",
            "密码", "密碼", "비밀번호"),
        re.compile(
            r"(?:パスワード|暗証番号|パスコード|パスフレーズ|合言葉|密[码碼]|비밀번호)"
            r"[^。\n「『\"：:!-~]{0,16}?(?:は|が|を|も|：|:|＝|=|に|是|为|為|는|은|가)\s{0,2}"
            r"[「『\"“`]?\s{0,1}(?!\[redacted)([!-Z\\^-~]{4,128})"
        ),
        1,
        lambda match: is_password(match[1], text_after(match), quoted=False, noun=match[0]),
    ),
)  # fmt: skip
