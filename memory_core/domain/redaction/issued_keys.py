"""Formats of issued keys, which say themselves whose they are.

Beside them secrets in addresses and in headers of requests, whose place says that they are secrets.
"""

from __future__ import annotations

import re
from typing import Final

from memory_core.domain.redaction.rule import Rule
from memory_core.domain.redaction.values import is_random, is_secret_value

BEFORE: Final = r"(?<![A-Za-z0-9])"


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
"""Kind, hints with blanks between them, and the form of the key.

The character before a key is no letter or digit.
"""
_LEASTS: Final = {"discord token": 58, "twilio key": 34, "azure key": 42, "airtable token": 82}
"""Least lengths for kinds whose hints are in many words."""
TOKENS: Final = tuple(
    Rule(
        kind,
        tuple(hints.split()),
        re.compile(BEFORE + expression),
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
"""Prefixes of keys that go on with many letters and digits, without signs between them."""
PREFIXED: Final = (
    Rule(
        "token",
        tuple(prefix.lower() for prefix in _PREFIXES),
        re.compile(
            rf"{BEFORE}(?:{'|'.join(map(re.escape, _PREFIXES))})(?=[A-Za-z_-]{{0,60}}[0-9])[A-Za-z0-9_.=+/-]{{16,400}}"  # noqa: E501
        ),
        least=LEAST_OF_A_TOKEN,
    ),
    Rule(
        "token",
        _SHORT_PREFIXES,
        re.compile(
            rf"{BEFORE}(?:{'|'.join(_SHORT_PREFIXES)})(?=[A-Za-z]{{0,60}}[0-9])[A-Za-z0-9]{{8,40}}_?[A-Za-z0-9]{{16,80}}(?![A-Za-z0-9_-])"
        ),
        least=LEAST_OF_A_TOKEN,
    ),
)

BLOCKS: Final = (
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

PASSWORD_IN_ADDRESS: Final = (
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
SECRETS_IN_ADDRESSES: Final = (
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

HEADERS: Final = (
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
