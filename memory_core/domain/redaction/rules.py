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
    is_measure,
    is_open_password,
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
LEAST_OF_A_NUMBER: Final = 6
"""Digits of a password that is a number."""
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
    ("salesforce token", "00d", r"00D[A-Za-z0-9]{12}![A-Za-z0-9._-]{60,260}"),
    ("twitter token", "aaaaaaaaaaaaaaaaaaaa", r"A{20,24}[A-Za-z0-9%]{60,120}(?![A-Za-z0-9%])"),
    ("elevenlabs key", "sk_", r"sk_[0-9a-f]{48}(?![A-Za-z0-9])"),
    ("1password key", "a3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    ("artifactory token", "akcp cmvmd",
        r"(?:AKCp[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{59})(?![A-Za-z0-9])"),
    ("alibaba access key", "ltai", r"LTAI[A-Za-z0-9]{16,22}(?![A-Za-z0-9])"),
    ("facebook token", "eaa", r"EAA[A-Za-z0-9]{80,400}(?![A-Za-z0-9])"),
    ("braintree token", "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,20}\$[0-9a-f]{32}"),
    ("mapbox token", "sk.eyj", r"sk\.eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{20,40}"),
    ("hubspot token", "pat-", r"pat-(?:na|eu|ap)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("dynatrace token", "dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("bitbucket password", "atbb", r"ATBB[A-Za-z0-9]{24,40}(?![A-Za-z0-9])"),
    ("neon password", "npg_", r"npg_[A-Za-z0-9]{12,40}(?![A-Za-z0-9])"),
    ("adafruit key", "aio_", r"aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])"),
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
_LEASTS: Final = {"discord token": 58, "twilio key": 34, "azure key": 42, "airtable token": 82}
"""Of kinds whose hints are in many words."""
_TOKENS: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(_BEFORE + expression),
        least=0 if hints == _CUT else _LEASTS.get(kind, LEAST_OF_A_TOKEN),
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
            r"""://[^\s/?#:@"'<>]{0,128}:(?!\[redacted|\*\*\*@|\$?\{|\$\(|(?:password|pass|pwd)@)"""
            r"""([^\s/"'<>]{1,256})@(?=[^\s@"'<>])"""
        ),
        1,
    ),
    # https://token@host
    Rule(
        "token",
        ("://",),
        re.compile(r"://([A-Za-z0-9_-]{20,255})@(?![a-z0-9.]{0,40}sentry)[A-Za-z0-9]"),
        1,
        lambda match: is_random(match[1]),
        also="@",
        least=20,
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
    Rule(
        "key",
        ("?code=", "&code="),
        re.compile(r"[?&]code=([A-Za-z0-9_%/+-]{40,200}={0,2})"),
        1,
        lambda match: is_random(match[1]),
        least=40,
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
    Rule(
        "session cookie",
        ("sess", "sid="),
        re.compile(
            r"(?<![A-Za-z0-9])(?:[a-z.]{0,12}[_.-]?sess(?:ion)?[_-]?(?:id|token)?|connect\.sid|sid)"
            r"=([A-Za-z0-9%._~+/-]{16,1000})",
            re.IGNORECASE,
        ),
        1,
        lambda match: is_secret_value(match[1]),
        also="cookie",
        least=16,
    ),
)


def _any_case(*alternatives: str) -> str:
    """The alternatives in capitals or not, each of which begins with a plain letter.

    `re` skips what begins with no letter of a set five times as fast as what is compared in
    any case.
    """
    rests: dict[str, list[str]] = {}
    for alternative in alternatives:
        rests.setdefault(alternative[0], []).append(alternative[1:])
    return "|".join(
        f"{first}(?i:{'|'.join(of_first)})"
        for letter, of_first in rests.items()
        for first in dict.fromkeys((letter, letter.upper()))
    )


_OF_PAGES: Final = "".join(
    f"(?<!{word}token)(?<!{word}[_-]token)" for word in ("page", "next", "sync", "continuation")
)
"""Behind a token that says where to go on in a list."""
_KINDS_OF_NAMES: Final = (
    (
        "password",
        _any_case(
            r"pass(?:word|wd|wort|phrase|code|(?<![A-Za-z]pass)|(?<=dbpass)|(?<=[a-z](?-i:P)ass))",
            r"pwd", r"pw(?<![A-Za-z]pw)", r"psk", r"kennwort", r"wi-?fi[ _-]?key",
        ),
        "pass pwd kennwort psk pw fi_key fikey fi-key",
    ),
    (
        "token",
        _any_case(rf"token(?:{_OF_PAGES}|(?<=fb_page_token)|(?<=facebook_page_token))"),
        "token",
    ),
    (
        "key",
        _any_case(
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
"""Names that mean more than passwords: what they hold has a digit or a sign, and no blank."""


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


def _is_given(match: re.Match[str]) -> bool:
    return not match[1].isdecimal() and is_secret_value(match[1])


def _is_chosen(match: re.Match[str]) -> bool:
    """Whether what a command or a call is given for a password may be one, so a word, too."""
    value = next(group for group in match.groups() if group is not None)
    return not value.isdecimal() and is_secret_value(value, quoted=True, chosen=True)


_NO_SECRETS: Final = frozenset({
    "anon", "blob", "cache", "composite", "dedup", "file", "foreign", "group", "host",
    "idempotency", "index", "join", "lookup", "message", "object", "order", "partition", "primary",
    "public", "publishable", "row", "s3", "shard", "site", "sort", "storage", "translation",
    "unique",
})  # fmt: skip
"""What a key is for that is shown to everybody."""
_LAST_WORD: Final = re.compile(r"[A-Za-z0-9]{1,20}\Z")


def _is_of_a_secret(match: re.Match[str]) -> bool:
    """Whether a random value belongs to a name that may be a secret's: no public key, no UUID."""
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
    """Whether it is of words and numbers with signs between them."""
    return all(map(_WORD.fullmatch, _SEPARATOR.split(value)))


_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


# password = "…", "api_key": "…", CLIENT_SECRET=…, AccountKey=…; with quotes around the value,
# or without.
_ASSIGNED: Final = tuple(
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
_NAMED: Final = (
    # STRIPE_KEY=…, DD_APP_KEY: …, aeg-sas-key: …: keys of any name, where the value is random
    Rule(
        "key",
        ("_key", "-key"),
        re.compile(
            r"[_-]key[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9+/_-]{20,500}={0,2})", re.IGNORECASE
        ),
        1,
        _is_of_a_secret,
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
        _is_of_a_secret,
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
        _is_of_a_secret,
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
        _is_chosen,
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
        _is_chosen,
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
        _is_chosen,
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
        _is_chosen,
    ),
)

# <password>…</password>, <string name="password">…</string>, --api-token …, curl -u name:…


def _is_in_tag(match: re.Match[str]) -> bool:
    """Whether a tag's name, or its attribute `name`, says what the tag holds: a label is about
    another one.
    """
    before = match.string[max(0, match.start() - MOST_OF_A_TAG) : match.start()]
    is_attribute = '">' in match[0] or "'>" in match[0]
    return _is_given(match) and (not is_attribute or _NAME_IN_TAG.search(before) is not None)


MOST_OF_A_TAG: Final = 60
_NAME_IN_TAG: Final = re.compile(r"\b(?:name|key)=[\"'][\w.-]{0,40}\Z")
_TAG_ENDS: Final = r"(?:>|[\"']>|</(?:key|name)>\s{0,20}<(?:string|value)>)"
_IN_TAGS: Final = tuple(
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
    """Whether an option belongs to `curl` or a like program."""
    before = match.string[max(0, match.start() - 200) : match.start()]
    command = re.split(r"[\n;|&]", before)[-1]
    return "curl" in command or "http" in command


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
        ("-u", "--user", "http -a"),
        re.compile(
            r"(?<![\w-])(?:-u|--user|(?<=http )-a)[ =]?[\"']?[^\s:\"'/]{1,64}:([^\s:\"'/]{4,256})"
        ),
        1,
        lambda match: _is_given(match) or (_is_chosen(match) and _is_of_a_client(match)),
    ),
    Rule(
        "password",
        ("mysql", "mariadb", "7z"),
        re.compile(
            r"\b(?:mysql(?:dump|admin|import)?|mariadb|7z)\b[^\n|;]{0,100}? -p"
            r"[\"']?([^\s\"'-][^\s\"']{3,127})"
        ),
        1,
        _is_given,
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
        _is_chosen,
        also=" -",
    ),
    Rule(
        "password",
        ("-storepass ", "-keypass "),
        re.compile(r"-(?:store|key)pass [\"']?([^\s\"'<>]{4,500})"),
        1,
        _is_given,
    ),
)

NAMES: Final = (
    *((kind, re.compile(rf"(?:{names})(?i:{_SUFFIX})\Z")) for kind, names, _ in _KINDS_OF_NAMES),
    ("key", re.compile(r"authorization\Z", re.IGNORECASE)),
)
"""What the name of a field ends with whose value is a secret, and its kind."""
NAMES_OF_NUMBERS: Final = (
    ("password", re.compile(r"(?<![A-Za-z])(?:pin|otp)\Z", re.IGNORECASE), 4, 8),
    ("card code", re.compile(r"(?<![A-Za-z])cv[vc]2?\Z", re.IGNORECASE), 3, 4),
)
"""The same for numbers: kind, name, the fewest and the most digits."""

_MOST_AFTER: Final = 100


def _after(match: re.Match[str]) -> str:
    """The next characters after a match; all of the rest would be copied for every match of
    a long text.
    """
    return match.string[match.end() : match.end() + _MOST_AFTER]


_NOUNS: Final = _any_case(
    r"pass(?:word|phrase|code|wor[td]e?|(?<=\bpass)(?=\s(?:is|was)\s)|e(?<=mot de passe))",
    r"pin(?:(?<=\b(?-i:PIN))(?: code)?+|(?<=\bpin) code|(?<=\bmy pin)"
    r"|(?<=\b(?:his|her|our|sim) pin)"
    r"|(?<=\b(?:your|bank|card|door) pin)|(?<=\bphone pin)"
    r"|(?<=\bpin)(?: number)?(?=\s(?:is|was)\s[0-9]{4,8}\b(?! ?(?:feet|ft|[ck]?m|mm|yards)\b)))",
    r"pw(?<=\bpw)", r"parola", r"kennw(?:ort|örter)",
)  # fmt: skip
_KEY_NOUNS: Final = _any_case("key", "token", "secret", "schlüssel")
_RARE_NOUNS: Final = _any_case(
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
"""A password manager is no password."""
_SAID: Final = (
    rf"(?:s|es|er)?\b{_NO_COMPOUND}(?:[ \t][\w'’äöüß.-]{{1,24}}){{0,6}}?"
    r"(?:\*{0,2}\s{0,2}[:=]\*{0,2}|\s{1,2}(?:is|was|are|be|to|ist|war|lautet|lautete|heißt|auf"
    r"|c['’]est|est|es|é|è|jest|är))"
    r"(?:\s{1,2}(?:now|still|simply|just|set to|changed to|jetzt|nun|einfach|weiterhin"
    r"|maintenant|ahora))?\s{0,2}[:：]?\s{0,2}"
    r"(?:[\"“„«'‘`](?!\[redacted)([^\"“”„«»'’`\n]{3,128})[\"”“»'’`]"
    r"|(?!\[redacted)([^\s\"'“”„«»「」『』`,;()\[\]<>]{3,127}[^\s\"'“”„«»「」『』`,;()\[\]<>.:?]))"
)
_STATEMENTS: Final = (
    # The wifi password is …, my PIN for the card was …, das Passwort fürs WLAN lautet …
    *(
        Rule(
            "password",
            hints,
            re.compile(f"(?:{nouns})(?i:{_SAID})"),
            1,
            lambda match: is_password(
                match[1] or match[2], _after(match), quoted=match[1] is not None, noun=match[0]
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
        _is_of_a_secret,
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
        lambda match: is_password(match[1], _after(match), quoted=False, noun=match[0]),
    ),
)  # fmt: skip

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
    *_NAMED,
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
