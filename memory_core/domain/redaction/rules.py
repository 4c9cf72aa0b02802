"""The formats of secrets and of personal data: the words that must stand in a text, and the
expression that finds the rest.

Formats are those that the issuers document. No rule is by entropy alone: hashes, ids and encoded
files look as random as keys do. Every expression is linear on any text, and is tried only where the
text holds one of its hints. Note: to compile them all takes some 50 ms, so this module is imported
by the first text and not with the program.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from memory_core.domain.redaction.values import (
    is_email_host,
    is_iban,
    is_password,
    is_payment_card,
    is_phone,
    is_random,
    is_secret_value,
)

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One format.

    kind: what the mark calls it. hints: the text holds one of them, in lower case, if the
    expression can match; none: it is always tried. group: the part of the match that is replaced;
    the first group that matched, where it is 1. check: decides what no expression can. least:
    characters without a blank between them that a match has at least. also: what the text holds
    beside a hint.
    """

    kind: str
    hints: tuple[str, ...]
    expression: re.Pattern[str]
    group: int = 0
    check: Check | None = None
    least: int = 0
    also: str = ""


_BEFORE: Final = r"(?<![A-Za-z0-9])"


# Keys that say themselves whose they are.
LEAST_OF_A_TOKEN: Final = 15
_CUT: Final = "…"


_FORMATS: Final = (
    ("aws access key", "akia asia abia acca",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("aws bedrock key", "absk bedrock-api-key-",
        r"(?:ABSK[A-Za-z0-9+/]{60,400}|bedrock-api-key-[A-Za-z0-9+/=]{20,2000})={0,2}"),
    ("azure key", "==", r"(?<![+/])(?<!sha512-)[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])"),
    ("azure key", "jqqj9", r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?![A-Za-z0-9])"),
    (
        "azure key",
        "azca acdb azse azfu aiot +ast",
        (
            r"(?<![+/])[A-Za-z0-9+/]{33,76}(?:AzCa|ACDb|\+ASt|AzSe|AzFu"
            r"|AIoT)[A-Za-z0-9+/]{5,8}={0,2}(?![A-Za-z0-9+/=])"
        ),
    ),
    ("azure devops token", "azdo", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    ("azure client secret", "q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("google api key", "aiza", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("google client secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{20,64}"),
    ("google access token", "ya29.", r"ya29\.[A-Za-z0-9_.-]{20,2048}"),
    ("google refresh token", "1//0", r"1//0[A-Za-z0-9_-]{40,256}"),
    ("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{40,255}"),
    ("gitlab token", (
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- "
        "gloas- glffct- glwt-"
    ),
           r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_.-]{19,300}"),
    (
        "slack token",
        "xoxa xoxb xoxe xoxo xoxp xoxr xoxs xoxc xoxd",
        r"xox[a-eo-s](?:\.xox[bp])?-(?=[A-Za-z%-]{0,40}[0-9])[A-Za-z0-9%-]{10,400}",
    ),
    ("slack token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{20,400}"),
    ("slack webhook", "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,200}"),
    ("discord webhook", "/api/webhooks/",
        r"(?:discord|discordapp)\.com/api/webhooks/[0-9]{5,25}/[A-Za-z0-9_-]{30,120}"),
    ("discord token", ".",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,42}(?![A-Za-z0-9_-])"),
    ("teams webhook", "webhook.office.com",
        r"webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{40,300}"),
    ("telegram token", ":aa", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9_-])"),
    ("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    ("anthropic key", "sk-ant-", r"sk-ant-[a-z]{2,8}[0-9]{2}-[A-Za-z0-9_-]{20,255}"),
    ("openai key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-[A-Za-z0-9_-]{20,255}"),
    ("openrouter key", "sk-or-", r"sk-or-v1-[0-9a-f]{40,80}"),
    ("api key", "sk-", r"sk-(?:[a-z]{2,6}-)?[A-Za-z0-9]{24,128}(?![A-Za-z0-9-])"),
    ("twilio key", "sk", r"SK[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("sendgrid key", "sg.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    ("mailgun key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("mailchimp key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
    ("npm token", "npm_", r"npm_[A-Za-z0-9]{30,64}"),
    ("pypi token", "pypi-", r"pypi-AgE[A-Za-z0-9_-]{40,400}"),
    ("rubygems key", "rubygems_", r"rubygems_[0-9a-f]{40,64}"),
    ("docker token", "dckr_pat_ dckr_oat_", r"dckr_[op]at_[A-Za-z0-9_-]{20,64}"),
    ("hugging face token", "hf_", r"hf_[A-Za-z0-9]{30,64}"),
    ("groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}"),
    ("xai key", "xai-", r"xai-[A-Za-z0-9_-]{60,128}"),
    ("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    ("replicate token", "r8_", r"r8_[A-Za-z0-9]{32,48}"),
    ("langsmith key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-fA-F]{32}_[0-9a-fA-F]{10}"),
    ("pinecone key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,100}"),
    ("digitalocean token", "do_v1_ dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    ("heroku key", "hrku-", r"HRKU-[A-Za-z0-9_-]{36,80}"),
    ("vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    ("terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,80}"),
    ("databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    ("doppler token", "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("grafana token", "glsa_ glc_",
        r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{32,400})"),
    ("new relic key", "nrak-", r"NRAK-[A-Z0-9]{27}"),
    ("sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,400}"),
    ("supabase key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-z_-]{40}|sb_secret_[A-Za-z0-9_-]{20,64})"),
    ("planetscale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,80}"),
    ("pulumi token", "pul-", r"pul-[0-9a-f]{40}(?![A-Za-z0-9])"),
    ("shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("square token", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}"),
    ("linear key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,48}"),
    ("notion token", "ntn_ secret_",
        r"(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))"),
    ("figma token", "figd_", r"figd_[A-Za-z0-9_-]{36,64}"),
    ("airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian token", "atatt3 atctt3", r"AT[AC]TT3[A-Za-z0-9_=-]{60,400}"),
    ("postman key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("salesforce token", "!", r"00D[A-Za-z0-9]{12}![A-Za-z0-9._-]{60,260}"),
    ("twitter token", "aaaaaaaaaaaaaaaaaaaa", r"A{20,24}[A-Za-z0-9%]{60,120}(?![A-Za-z0-9%])"),
    ("elevenlabs key", "sk_", r"sk_[0-9a-f]{48}(?![A-Za-z0-9])"),
    ("1password key", "a3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    ("artifactory token", "akcp cmvmd",
        r"(?:AKCp[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{59})(?![A-Za-z0-9])"),
    ("alibaba access key", "ltai", r"LTAI[A-Za-z0-9]{16,22}(?![A-Za-z0-9])"),
    ("age key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("memory core key", "mc_",
        r"mc_[A-Za-z0-9][A-Za-z0-9._-]{0,63}_[A-Za-z0-9]{1,64}_[A-Za-z0-9-]{16,256}"),
    # A tool's output is kept cut at its end; what is left of a key there is no use to anybody,
    # and is taken out all the same.
    (
        "token",
        _CUT,
        (
        r"(?:gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z]-|sk-|[sr]k_(?:live|test)_|AKIA|AIza|eyJ"
        r"|hf_|npm_|pypi-|SG\.|dop_v1_|hvs\.|mc_)"
        r"[A-Za-z0-9_.-]{3,400}(?=…)"
    ),
    ),
    (
        "jwt",
        "eyj",
        r"(?<![_-])eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{0,8000}\.[A-Za-z0-9_-]{10,8000}"
        r"(?:\.[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{10,400})?",
    ),
)  # fmt: skip
"""Kind, hints with blanks between, and what the key looks like behind a character that is no
letter or digit.
"""
_TOKENS: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(_BEFORE + expression),
        least=0 if hints == _CUT else LEAST_OF_A_TOKEN,
    )
    for kind, hints, expression in _FORMATS
)

_PREFIXES: Final = (
    "AIK_CI_", "AIK_SECRET_", "api_live.", "api_sandbox.", "apify_api_", "BBDC-", "bkua_", "CCDB1_",
    "CCIPAT_", "CCIPRJ_", "cfat_", "CFPAT-", "cfut_", "CLOJARS_", "cnvca", "csa_", "duffel_live_",
    "duffel_test_", "EAAA", "eyJrIjoi", "FLWSECK-", "FLWSECK_TEST-", "fm2_", "fo1_", "GR1348941",
    "jina_", "lin_oauth_", "mdb_sa_sk_", "mercury_production_", "mergify_application_key_", "mlsn.",
    "napi_", "nfp_", "nvapi-", "ops_eyJ", "pdl_live_", "pdl_sdbx_", "persona_production_",
    "persona_sandbox_", "phx_", "pina_", "pnu_", "polar_at_", "polar_oat_", "polar_pat_",
    "ramp_sec_", "rdme_", "rootly_", "rpa_", "rzp_live_", "rzp_test_", "samsara_api_", "sgp_",
    "sha256~", "shippo_live_", "shippo_test_", "sk-helicone-", "sk-let-", "sk-lf-", "sm_aat_",
    "sm_pat_", "sm_sat_", "tfp_", "tgp_v1_", "tk-us-", "tskey-", "tvly-", "ucat_", "unkey_", "vca_",
    "vci_", "vck_", "vcp_", "vcr_", "vtwn_", "waka_", "wandb_v1_", "xkeysib-", "xnd_production_",
    "xsmtpsib-", "zpka_",
)  # fmt: skip
_SHORT_PREFIXES: Final = (
    "api_org_", "csk-", "e2b_", "fc-", "fw_", "ico-", "ion_", "lip_", "llx-", "m0-", "nyk_", "re_",
    "rnd_", "sqa_", "sqp_", "squ_",
)  # fmt: skip
"""Behind these, only many letters and digits without anything between are a key."""
_PREFIXED: Final = (
    Rule(
        "token",
        tuple(prefix.lower() for prefix in _PREFIXES),
        re.compile(
            rf"{_BEFORE}(?:{'|'.join(map(re.escape, _PREFIXES))})(?=[A-Za-z_-]{{0,60}}[0-9])[A-Za-z0-9_.=+/-]{{16,400}}"  # noqa: E501
        ),
        least=LEAST_OF_A_TOKEN,
    ),
    Rule(
        "token",
        _SHORT_PREFIXES,
        re.compile(
            rf"{_BEFORE}(?:{'|'.join(_SHORT_PREFIXES)})(?=[A-Za-z]{{0,60}}[0-9])[A-Za-z0-9]{{8,40}}_?[A-Za-z0-9]{{16,80}}(?![A-Za-z0-9_-])"
        ),
        least=LEAST_OF_A_TOKEN,
    ),
)

_BLOCKS: Final = (
    Rule(
        "private key",
        ("private key",),
        # Without its end, the rest of the text: it may be cut off.
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"  # noqa: E501
            r"|\Z)", re.DOTALL
        ),
    ),
    Rule(
        "private key",
        ("putty-user-key-file",),
        re.compile(r"PuTTY-User-Key-File-[0-9]: .*?(?:Private-MAC: [0-9a-f]{40,64}|\Z)", re.DOTALL),
    ),
)  # fmt: skip

_PASSWORD_IN_ADDRESS: Final = (
    # scheme://user:password@host. The user's name and the host stay, so that the memory still says
    # what it is about.
    Rule(
        "password",
        ("://",),
        re.compile(
            r"""://[^\s/?#:@"'<>]{0,128}:(?!\[redacted|\*\*\*@)([^\s/"'<>]{1,256})@(?=[^\s@"'<>])"""
        ),
        1,
    ),
)
_IN_ADDRESSES: Final = (
    Rule("signature", ("sig=",), re.compile(r"[?&;]sig=([A-Za-z0-9%+/_-]{20,200}={0,2})"), 1),
    Rule(
        "signature",
        ("x-amz-signature", "x-goog-signature"),
        re.compile(r"X-(?:Amz|Goog)-(?:Signature|Security-Token)=([A-Za-z0-9%+/=_-]{20,2000})",
            re.IGNORECASE),
        1,
    ),
    Rule(
        "token",
        ("token=", "key=", "secret="),
        re.compile(
            r"[?&#](?:(?:access|refresh|id|auth)_token|token|api[_-]?key|key|client_secret"
            r"|secret)=([A-Za-z0-9._~%+/=-]{12,2000})",
            re.IGNORECASE,
        ),
        1,
    ),
)  # fmt: skip

_HEADERS: Final = (
    Rule(
        "bearer token",
        ("bearer ",),
        re.compile(r"(?<![A-Za-z])bearer\s{1,4}([A-Za-z0-9._~+/-]{16,4000}={0,2})", re.IGNORECASE),
        1,
        lambda match: is_secret_value(match[1]),
    ),
    Rule(
        "basic credentials",
        ("basic ",),
        re.compile(
            r"(?<![A-Za-z])authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?basic\s{1,4}([A-Za-z0-9+/]{6,1000}={0,2})",
            re.IGNORECASE,
        ),
        1,
    ),
    Rule(
        "api key",
        (
            "x-api-key",
            "api-key",
            "ocp-apim-subscription-key",
            "x-auth-token",
            "x-functions-key",
            "authorization",
        ),
        re.compile(
            r"(?<![A-Za-z])(?:x-api-key|api-key|ocp-apim-subscription-key|x-auth-token"
            r"|x-functions-key|authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
            r"(?:token\s{1,4}|apikey\s{1,4}|key\s{1,4})?([A-Za-z0-9._~+/=-]{12,2000})",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_secret_value(match[1]),
    ),
)

_OF_PAGES: Final = "".join(
    f"(?<!{word})(?<!{word}[_-])" for word in ("page", "next", "sync", "continuation")
)
"""In front of a token that says where to go on in a list."""
_KINDS_OF_NAMES: Final = (
    ("password", r"pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|psk", "pass pwd kennwort psk"),
    ("token", rf"{_OF_PAGES}token", "token"),
    (
        "key",
        (
            r"secret(?:[ _-]?(?:access[ _-]?)?key)?|api[ _-]?(?:key|secret)|credentials?"
            r"|(?:access|account|shared[ _-]?access|private|encryption|signing|master"
            r"|auth)[ _-]?(?:key|signature)"
        ),
        "secret key credential signature",
    ),
)
_SUFFIX: Final = (
    r"(?:[_-]?(?:[0-9]{1,4}|prod|production|dev|test|staging|live|new|old|value|base64|b64|hash))?"
)
_VALUE: Final = (
    r"\\?[\"'`]?\]?\s{0,3}(?:=>|:=|={1,2}|:|：)\s{0,3}"
    r"(?:\\?[\"'`](?!\[redacted)([^\"'`\\\n]{4,500})\\?[\"'`]"
    r"|(?!\[redacted)([^\s\"'`\\,;&<>(){}\[\]|「」。、]{4,500}))"
)


def _is_assigned(match: re.Match[str], kind: str) -> bool:
    quoted = match[1] is not None
    before = match[0][: match.start(1 if quoted else 2) - match.start()]
    return is_secret_value(
        match[1] or match[2], quoted=quoted, assigned="=" in before, chosen=kind == "password"
    )


def _is_given(match: re.Match[str]) -> bool:
    return not match[1].isdecimal() and is_secret_value(match[1])


# password = "…", "api_key": "…", CLIENT_SECRET=…, AccountKey=…; with quotes around the value,
# or without.
_ASSIGNED: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(f"(?:{names}){_SUFFIX}{_VALUE}", re.IGNORECASE),
        1,
        partial(_is_assigned, kind=kind),
    )
    for kind, names, hints in _KINDS_OF_NAMES
)

# <password>…</password>, --api-token …, curl -u name:…
_IN_TAGS: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(rf"(?:{names}){_SUFFIX}>\s{{0,3}}([^\s<>]{{4,500}})\s{{0,3}}</", re.IGNORECASE),
        1,
        _is_given,
        also="</",
    )
    for kind, names, hints in _KINDS_OF_NAMES
)
_OPTIONS: Final = (
    *(
        Rule(
            kind,
            tuple(hints.split()),
            re.compile(
                rf"(?<![\w-])--(?:[a-z0-9]{{1,20}}-){{0,3}}(?:{names})\s{{1,3}}[\"']?([^\s\"'<>]{{4,500}})"
            ),
            1,
            _is_given,
            also="--",
        )
        for kind, names, hints in _KINDS_OF_NAMES
    ),
    Rule(
        "password",
        ("-u", "--user"),
        re.compile(r"(?<![\w-])(?:-u|--user)[ =]?[\"']?[^\s:\"'/]{1,64}:([^\s:\"'/]{4,256})"),
        1,
        _is_given,
    ),
)

NAMES: Final = tuple(
    (kind, re.compile(rf"(?:{names}){_SUFFIX}\Z", re.IGNORECASE))
    for kind, names, _ in _KINDS_OF_NAMES
)
"""What the name of a field ends with whose value is a secret, and its kind."""

_MOST_AFTER: Final = 100


def _after(match: re.Match[str]) -> str:
    """The next characters after a match; all of the rest would be copied for every match of
    a long text.
    """
    return match.string[match.end() : match.end() + _MOST_AFTER]


_NOUNS: Final = (
    r"pass(?:word|phrase|code)|log[ -]?in code|\b(?-i:PIN)(?: code)?|\bpin code|\bpw"
    r"|\b(?:my|your|his|her|our|bank|card|door|phone|sim) pin"
    r"|passwor[td]e?|kennw(?:ort|örter)|zugangscode|geheimzahl"
    r"|mot de passe|contraseña|clave de acceso|senha|wachtwoord|hasło|lösenord"
)
_NO_COMPOUND: Final = (
    r"(?![ -](?:managers?|resets?|polic(?:y|ies)|hints?|fields?|box|pages?|prompts?|strength|length"
    r"|protection|requirements?|generators?|vaults?|apps?|stores?|files?|rules?|change|check|safe"
    r"|liste|speicher))"
)
"""A password manager is no password."""
_STATEMENTS: Final = (
    # The wifi password is …, my PIN for the card was …, das Passwort fürs WLAN lautet …
    Rule(
        "password",
        ("pass", "pin", "pw", "kennw", "in code", "zugangscode", "geheimzahl", "contraseña",
            "clave", "senha", "wachtwoord", "hasło", "lösenord"),
        re.compile(
            rf"(?:{_NOUNS})(?:s|es|er)?\b{_NO_COMPOUND}(?:[ \t][\w'’äöüß.-]{{1,24}}){{0,6}}?"
            r"(?:\s{0,2}[:=]|\s{1,2}(?:is|was|are|be|to|ist|war|lautet|lautete|heißt|auf|est|es|é"
            r"|jest|är))"
            r"(?:\s{1,2}(?:now|still|simply|just|set to|changed to|jetzt|nun|einfach|weiterhin"
            r"|maintenant|ahora))?\s{0,2}[:：]?\s{0,2}"
            r"(?:[\"“„«'‘`](?!\[redacted)([^\"“”„«»'’`\n]{3,128})[\"”“»'’`]"
            r"|(?!\[redacted)([^\s\"'“”„«»「」『』`,;()\[\]<>]{3,127}[^\s\"'“”„«»「」『』`,;()\[\]<>.:?])"
            r")",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_password(match[1] or match[2], _after(match), quoted=match[1] is not None,
            noun=match[0]),
    ),
    # The API key for the shop is …, unser Token lautet …
    Rule(
        "key",
        ("key", "token", "secret", "schlüssel"),
        re.compile(
            r"(?:key|token|secret|schlüssel)\b(?:[ \t][\w'’äöüß.-]{1,24}){0,6}?\s{1,2}(?:is|was|to"
            r"|ist|lautet|auf|est|es)\s{1,2}"
            r"[\"“„«'‘`]?([A-Za-z0-9_+/=.~-]{11,499}[A-Za-z0-9_+/=~-])",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_random(match[1]),
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
        ("パスワード", "暗証番号", "パスコード", "パスフレーズ", "合言葉"),
        re.compile(
            r"(?:パスワード|暗証番号|パスコード|パスフレーズ|合言葉)[^。\n「『\"：:!-~]{0,16}?(?:は"
            r"|が|を|も|：|:|＝|=|に)\s{0,2}"
            r"[「『\"“`]?\s{0,1}(?!\[redacted)([!-Z\\^-~]{4,128})"
        ),
        1,
        lambda match: is_password(match[1], _after(match), quoted=False, noun=match[0]),
    ),
)  # fmt: skip

_CARDS: Final = (
    Rule(
        "card number",
        (),
        re.compile(
            r"(?<![A-Za-z0-9_.+-])"
            r"(?:[0-9]{4}([ \u00a0-]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?"
            r"|3[47][0-9]{2}([ \u00a0-]?)[0-9]{6}\2[0-9]{5}"
            r"|3(?:0[0-5]|[689][0-9])[0-9]([ \u00a0-]?)[0-9]{6}\3[0-9]{4})"
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
    """Whether it is an address of a person's machine: no version's number, and none that every
    machine has.
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
    *_BLOCKS,
    *_PASSWORD_IN_ADDRESS,
    *_TOKENS,
    *_PREFIXED,
    *_IN_ADDRESSES,
    *_HEADERS,
    *_ASSIGNED,
    *_IN_TAGS,
    *_OPTIONS,
    *_STATEMENTS,
    *_CARDS,
)
"""In the order in which they are tried: what says most about itself first."""
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
